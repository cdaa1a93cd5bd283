"""An offset map that is full: more passes in new releases, a dead thread in old ones."""

from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.log import Clean, Roll, Settings, simulate, step
from kafkalearn.log.model import CleanerStopped
from tests.log.schedules import after, offsets, one_each, plain_schedules

FULL_MAP = {"offset_map_slots": 4, "load_factor": 0.75}
FOUR_KEYS = one_each(*((key, "1", 1) for key in "abcd"))


@given(plain_schedules, st.sampled_from([2, 3, 5]))
def test_a_small_map_needs_more_passes_and_ends_where_a_large_one_does(schedule, slots):
    writes = [event for event in schedule if not isinstance(event, Clean)]
    dirty = after(Settings("compact"), *writes, Roll())
    once = step(Settings("compact"), dirty, Clean(1000, is_forced=True))
    passes = [Clean(1000, is_forced=True)] * (dirty.log_end_offset + 1)
    many = simulate(Settings("compact", offset_map_slots=slots, load_factor=1.0), passes, dirty)[-1].state

    assert many.records == once.records
    assert many.checkpoint == once.checkpoint


def test_a_text_and_its_utf_8_are_one_key():
    writes = one_each(("é", "1", 1), ("é".encode(), "2", 1), (b"\xff", "1", 1), ("é", "3", 1))
    for release in ("4.3", "0.9.0"):
        log = after(Settings("compact", release), writes, Roll(), Clean(5, is_forced=True))
        assert offsets(log) == [2, 3]


def test_a_segment_larger_than_the_map_killed_the_cleaner_before_0_10_0():
    log = after(Settings("compact", "0.9.0", **FULL_MAP), FOUR_KEYS, Roll(), Clean(5, is_forced=True))
    (stopped,) = log.effects
    assert (log.cleaner, offsets(log)) == ("dead", [0, 1, 2, 3])
    assert "4 messages in segment 00000000000000000000.log but offset map can fit only 3" in stopped.reason


def test_before_0_10_0_a_segment_that_no_longer_fits_waits_for_the_next_pass():
    events = (one_each(("a", "1", 1), ("b", "1", 1)), Roll(), one_each(("a", "2", 1), ("c", "1", 1)), Roll())
    settings = Settings("compact", "0.9.0", **FULL_MAP)
    first = after(settings, *events, Clean(5, is_forced=True))
    assert (first.checkpoint, offsets(first)) == (2, [0, 1, 2, 3])
    assert offsets(step(settings, first, Clean(6, is_forced=True))) == [1, 2, 3]


def test_a_record_without_key_killed_the_cleaner_of_0_8():
    log = after(Settings("compact", "0.8.2"), one_each((None, "x", 1)), Roll(), Clean(5, is_forced=True))
    reason = "the message at offset 0 has no key; Kafka 0.8 required one"
    assert (log.cleaner, log.effects) == ("dead", (CleanerStopped(reason),))
