"""Records as rows: what a timestamp may be, and what a row cannot hold."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import parse_segment, source_rows
from tests.segments.writing import batch

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
