"""The small files of a log dir with an offset for each partition."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import parse_segment, read_checkpoint, source_rows
from tests.formats.writing import batch


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
        (b"0\n1\n orders 0 5\n", "line 3"),
        (b"0\n2\norders 0 5\n", "announces '2' lines and has 1"),
        (b"\n", "is of version ''"),
        (b"0\n\n", "announces '' lines and has 0"),
        (b"\xff\xfe0\n", "cannot be read"),
    ],
)
def test_a_checkpoint_file_that_is_none_is_named(tmp_path, content, message):
    path = tmp_path / "cleaner-offset-checkpoint"
    path.write_bytes(content)
    with pytest.raises(KafkaLearnError, match=message):
        read_checkpoint(path)


LAST_MS = 253_402_300_799_999  # of the year 9999


def rows_of(*timestamps_ms, **options):
    data = b"".join(batch(at, [(at, timestamp_ms, b"key", b"value")]) for at, timestamp_ms in enumerate(timestamps_ms))
    return list(source_rows([parse_segment(data, "orders", 3)], **options))


def test_the_last_moment_of_a_datetime_is_read_to_the_millisecond():
    assert [row["timestamp"].isoformat() for row in rows_of(LAST_MS, -1)] == [
        "9999-12-31T23:59:59.999000+00:00",
        "1969-12-31T23:59:59.999000+00:00",
    ]


@pytest.mark.parametrize("timestamp_ms", [LAST_MS + 1, 1_763_719_800_000_000, 2**63 - 1, -(2**62)])
def test_a_timestamp_beyond_the_years_of_a_datetime_is_named_with_its_record(timestamp_ms):
    asked = f"the record at offset 1 of orders-3 has the timestamp {timestamp_ms} ms, outside the years 1 to 9999"
    with pytest.raises(KafkaLearnError, match=asked):
        rows_of(0, timestamp_ms)
    assert [row["timestamp"] for row in rows_of(0, timestamp_ms, null_beyond_9999=True)][1] is None
