"""Events that no producer sends."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.log import Append, NewBatch


def test_a_batch_without_records_is_refused():
    with pytest.raises(KafkaLearnError, match="a batch has at least one record"):
        NewBatch(())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"codec": "zip"}, "unknown codec 'zip'"),
        ({"codec": "gzip"}, "how well gzip packs these records is not known here: give size_bytes"),
        ({"codec": "gzip", "size_bytes": 61}, "size_bytes must be at least 62, got 61"),
        ({"size_bytes": 68}, "these records take 69 bytes uncompressed, got size_bytes=68"),
    ],
)
def test_a_size_that_no_batch_has_is_refused(wrong, message):
    with pytest.raises(KafkaLearnError, match=message):
        NewBatch((("k", "", 0),), **wrong)


def test_an_append_without_batches_is_refused():
    with pytest.raises(KafkaLearnError, match="an append has at least one batch"):
        Append(())
