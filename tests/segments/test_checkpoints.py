"""The small files of a log dir with an offset for each partition."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import read_checkpoint


def test_the_offset_of_each_partition_is_read(tmp_path):
    path = tmp_path / "cleaner-offset-checkpoint"
    path.write_text("0\n3\n__consumer_offsets 12 7046\norders 0 0\norders.by-day_1 10 9223372036854775807\n")

    assert read_checkpoint(path) == {
        ("__consumer_offsets", 12): 7046,
        ("orders", 0): 0,
        ("orders.by-day_1", 10): 9223372036854775807,
    }
    assert read_checkpoint(tmp_path / "none") == {}
    path.write_text("0\n0\n")
    assert read_checkpoint(str(path)) == {}
    path.write_bytes(b"")  # as a broker makes it, before its first checkpoint
    assert read_checkpoint(path) == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1\n0\n", "is of version '1'; '0' is known"),
        (b"0\n1\norders 0\n", "line 3 of checkpoint file .* is 'orders 0'; topic, partition and offset are expected"),
        (b"0\n1\norders 0 -5\n", "line 3"),
        (b"0\n2\norders 0 5\n", "announces '2' lines and has 1"),
        (b"\n", "is of version ''"),
        (b"0\n", "announces '' lines and has 0"),
        (b"\xff\xfe0\n", "cannot be read"),
    ],
)
def test_a_checkpoint_file_that_is_none_is_named(tmp_path, content, message):
    path = tmp_path / "cleaner-offset-checkpoint"
    path.write_bytes(content)
    with pytest.raises(KafkaLearnError, match=message):
        read_checkpoint(path)
