"""Where a consumer begins to read."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.commits import NoStart, start_offset


@pytest.mark.parametrize("reset", ["earliest", "latest", "none", "by_duration:PT1H"])
@pytest.mark.parametrize("committed", [10, 55, 100])
def test_a_committed_offset_that_is_still_there_or_the_log_end_wins_over_every_reset(committed, reset):
    assert start_offset(committed, 10, 100, reset) == committed


@pytest.mark.parametrize("committed", [None, 9, 101])
def test_without_one_or_out_of_range_the_reset_decides(committed):
    assert start_offset(committed, 10, 100, "earliest") == 10
    assert start_offset(committed, 10, 100, "latest") == 100
    with pytest.raises(NoStart) as caught:
        start_offset(committed, 10, 100, "none")
    no_offset = committed is None
    assert caught.value.exception == ("NoOffsetForPartitionException" if no_offset else "OffsetOutOfRangeException")


def test_by_duration_begins_at_the_first_record_that_is_young_enough():
    times = {"timestamps_ms": [1000, 2000, 3000], "now_ms": 4000}
    assert start_offset(None, 5, 8, "by_duration:PT2S", **times) == 6
    assert start_offset(None, 5, 8, "by_duration:PT1H", **times) == 5
    assert start_offset(None, 5, 8, "by_duration:PT0.5S", **times) == 8


def test_by_duration_is_not_known_to_older_releases_nor_are_misspelt_ones():
    with pytest.raises(KafkaLearnError, match=r"came with Kafka 4\.0"):
        start_offset(None, 0, 1, "by_duration:PT1H", release="3.9")
    with pytest.raises(KafkaLearnError, match="longer than any clock has run"):
        start_offset(None, 0, 1, f"by_duration:PT{'9' * 5000}S")
    for wrong in ("by_duration:", "by_duration:P", "by_duration:1h", "ealiest", 10**5000):
        with pytest.raises(KafkaLearnError, match="unknown auto_offset_reset"):
            start_offset(None, 0, 1, wrong)
