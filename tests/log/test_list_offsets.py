"""The offset for a time: as a real leader answers it, and what must hold for every log."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.errors import KafkaLearnError
from kafkalearn.log import Append, EndTransaction, NewBatch, SetHighWatermark, Settings, simulate
from kafkalearn.log.list_offsets import NOT_FOUND, SPECIAL_TIMES, FoundOffset, list_offset
from tests.every import every_case
from tests.recorded import recorded

RECORDED = recorded("list-offsets")
BATCHES = st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=4), max_size=10)


def log_of(batches, **settings):
    events = [Append((NewBatch(tuple(("k", "v", each) for each in batch)),)) for batch in batches]
    return simulate(Settings(**settings), events)[-1].state


@every_case("case", RECORDED["cases"], ids=range(len(RECORDED["cases"])))
def test_a_leader_of_4_3_answered_the_same(case):
    log = log_of(case["batches"], **({"segment_ms": 2000} if case["has_segments"] else {}))
    assert [["NONE", *list_offset(log, *asked)] for asked in case["asked"]] == case["answers"]


@given(BATCHES, st.integers(0, 55))
def test_in_one_segment_it_is_the_first_record_that_is_as_late(batches, time_ms):
    times = [each for batch in batches for each in batch]
    late = [FoundOffset(offset, each) for offset, each in enumerate(times) if each >= time_ms]
    assert list_offset(log_of(batches), time_ms) == (late[0] if late else FoundOffset(NOT_FOUND))


@given(BATCHES, st.integers(0, 55), st.integers(1, 20))
def test_segments_change_nothing(batches, time_ms, segment_ms):
    assert list_offset(log_of(batches, segment_ms=segment_ms), time_ms) == list_offset(log_of(batches), time_ms)


@given(BATCHES)
def test_the_newest_record_is_the_first_of_those_with_the_largest_timestamp(batches):
    log = log_of(batches, segment_ms=10)
    found = list_offset(log, "max timestamp")
    assert found == (list_offset(log, log.segments and found.timestamp_ms) if batches else FoundOffset(NOT_FOUND))
    assert found.timestamp_ms == max((each for batch in batches for each in batch), default=-1)


def test_what_is_not_replicated_or_not_decided_is_not_found():
    open_one = NewBatch((("k", "v", 20),), producer_id=7, is_transactional=True)
    events = [Append((NewBatch((("k", "v", 10),)), open_one)), SetHighWatermark(1)]
    log = simulate(Settings(), events)[-1].state
    assert list_offset(log, 15) == list_offset(log, "max timestamp") == FoundOffset(NOT_FOUND)
    assert list_offset(log, "latest") == FoundOffset(1)
    log = simulate(Settings(), [*events, SetHighWatermark(2)])[-1].state
    assert list_offset(log, 15) == FoundOffset(1, 20)
    assert list_offset(log, 15, "read_committed") == FoundOffset(NOT_FOUND)
    assert list_offset(log, "latest", "read_committed") == FoundOffset(1)
    ended = [*events, SetHighWatermark(2), EndTransaction(7, True, 30), SetHighWatermark(3)]
    assert list_offset(simulate(Settings(), ended)[-1].state, 25) == FoundOffset(2, 30)  # the marker counts, too


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(KafkaLearnError, match="latest"):
        list_offset(log_of([]), "newest")
    with pytest.raises(KafkaLearnError, match="at least 0"):
        list_offset(log_of([]), -3)
    with pytest.raises(KafkaLearnError, match="isolation level"):
        list_offset(log_of([]), "latest", "committed")
    assert list_offset(log_of([]), "earliest") == FoundOffset(0)
    assert len(SPECIAL_TIMES) == 5
