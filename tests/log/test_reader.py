"""What holds of every log with a reader, and what breaks the hopes that users have."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.trace import extend
from kafkalearn.log import Append, Clean, EndTransaction, NewBatch, Retain, Roll, Settings
from kafkalearn.log.reader import PROMISES, Read, RecordsRead, broken, check, ghosts, simulate, start, step, table_of
from tests.log.schedules import appends, cleans, operations, possible, rolls, small_settings

# Events for a log and a reader that crosses it.
DAY = 86_400_000
OFTEN = Settings("compact", min_cleanable_dirty_ratio=0.0)
ALWAYS_KEPT = ("the log holds the last value of every key", "a reader that reads on is wrong in its ghosts only")
"""What no schedule breaks while the policy is ``compact`` alone."""


def put(key, value, at_ms):
    return Append((NewBatch(((key, value, at_ms),)),))


SLEEPS = [
    put("anna", "1", 0),
    Read(1, now_ms=10),
    put("anna", None, 20),
    Roll(),
    Clean(100),
    put("ben", "1", 200),
    Roll(),
]
reads = st.builds(Read, st.none() | st.integers(1, 3), st.none() | st.integers(0, 1000))
schedules = st.lists(appends | rolls | cleans | reads, max_size=25)


def crossed(settings, events):
    """The last state of a run, every state of which is as it must be."""
    before = None
    for frame in simulate(settings, events):
        check(settings, frame.state, before)
        assert broken(settings, frame.state, before, ALWAYS_KEPT) == ()
        before = frame.state
    return before


HAS_LAST_VALUES, WRONG_IN_GHOSTS_ONLY, NO_GHOST, QUICK = PROMISES
NEW = [put("anna", "1", 0), put("ben", "1", 1), put("anna", None, 2), Roll()]


def ever_broken(settings, events):
    """The promises that some state of a run breaks."""
    states = [frame.state for frame in simulate(settings, events)]
    return {
        name for before, state in zip([None, *states], states, strict=False) for name in broken(settings, state, before)
    }


@given(small_settings, st.lists(appends | rolls | cleans | reads | operations, max_size=25))
def test_the_invariants_hold_whatever_happens(settings, schedule):
    before = None
    for frame in simulate(settings, possible(settings, schedule, start, step)):
        check(settings, frame.state, before)
        before = frame.state


@pytest.mark.parametrize(
    ("settings", "events", "expected"),
    [
        (OFTEN, SLEEPS, set()),
        (OFTEN, [*SLEEPS, Clean(99 + DAY), Read()], set()),
        (OFTEN, [*SLEEPS, Clean(100 + DAY), Read()], {NO_GHOST}),
        (Settings("delete", retention_ms=100), [*NEW, Retain(DAY), Read()], {HAS_LAST_VALUES, WRONG_IN_GHOSTS_ONLY}),
        (
            Settings("compact", min_cleanable_dirty_ratio=0.0, offset_map_slots=2, load_factor=1.0),
            [*NEW, Clean(100), Read(1, now_ms=99 + DAY), Clean(100 + DAY)],
            {NO_GHOST, QUICK},
        ),
    ],
    ids=["it keeps up", "within a day", "later", "retention", "a full map"],
)
def test_what_breaks_a_promise(settings, events, expected):
    assert ever_broken(settings, events) == expected


in_time = st.lists(st.tuples(appends, st.integers(0, 60), st.none() | st.integers(1, 3)), max_size=12)


@given(in_time)
def test_a_clock_that_goes_forward_and_a_roomy_map_keep_the_promise_to_quick_readers(turns):
    """Whatever the reader takes, and however long it sleeps: what it misses, it misses after the retention."""
    settings, now_ms, events = Settings("compact", min_cleanable_dirty_ratio=0.0, delete_retention_ms=100), 1000, []
    for append, wait_ms, count in turns:
        now_ms += wait_ms
        events += [append, Roll(), Read(count, now_ms), Clean(now_ms, is_forced=True)]

    assert QUICK not in ever_broken(settings, events)


@pytest.mark.parametrize(("again_ms", "haunted"), [(99 + DAY, ()), (100 + DAY, ("anna",))])
def test_a_reader_that_sleeps_past_the_horizon_keeps_a_deleted_key(again_ms, haunted):
    state = crossed(OFTEN, [*SLEEPS, Clean(again_ms), Read(now_ms=again_ms)])

    assert ghosts(state) == haunted
    assert state.truth == (("ben", "1"),)


def test_the_horizon_alone_takes_nothing_a_later_pass_does():
    state = crossed(OFTEN, [*SLEEPS[:5], Read(now_ms=100 * DAY)])

    assert ghosts(state) == ()
    assert state.reader.table == ()


def test_a_reader_that_begins_after_the_tombstone_has_gone_has_no_ghost():
    late = [event for event in SLEEPS if not isinstance(event, Read)]
    assert ghosts(crossed(OFTEN, [*late, Clean(100 + DAY), Read(now_ms=100 + DAY)])) == ()


def test_a_deleted_customer_who_comes_back_is_no_ghost():
    state = crossed(OFTEN, [*SLEEPS, Clean(100 + DAY), put("anna", "2", 200 + DAY), Read(now_ms=300 + DAY)])

    assert ghosts(state) == ()
    assert dict(state.reader.table) == {"anna": "2", "ben": "1"}


@given(small_settings, schedules)
def test_whatever_the_reader_misses_only_deleted_keys_are_wrong_in_the_end(settings, schedule):
    state = crossed(settings, [*schedule, Read()])
    haunted = dict.fromkeys(ghosts(state))
    assert {key: value for key, value in state.reader.table if key not in haunted} == dict(state.truth)


turns = st.tuples(appends, st.integers(0, 3), st.floats(0, 1))  # something is written, read, and then comes a pass


def hurried(turns, start_ms, longest_ms):
    """Writes, reads and passes, all within a time; the reader reads the rest before it is over."""
    in_order = sorted(fraction for _, _, fraction in turns)
    for (append, read_count, _), fraction in zip(turns, in_order, strict=True):
        yield from (append, Roll())
        if read_count:
            yield Read(read_count)
        yield Clean(start_ms + int(fraction * longest_ms), is_forced=True)
    yield Read()


@given(small_settings, st.lists(appends | rolls | cleans, max_size=10), st.lists(turns, max_size=8))
def test_a_reader_that_takes_less_than_delete_retention_ms_has_no_ghost(settings, before, turns):
    roomy = replace(settings, offset_map_slots=1000)
    began = simulate(roomy, before)
    start_ms = max(began[-1].state.now_ms, 1000)
    events = hurried(turns, start_ms, roomy.delete_retention_ms - 1)

    assert ghosts(extend(step, roomy, began, events)[-1].state) == ()


@pytest.mark.parametrize(("longest_ms", "haunted"), [(DAY - 1, ()), (3 * DAY, ("a",))])
def test_a_schedule_like_these_leaves_a_ghost_when_it_takes_longer(longest_ms, haunted):
    turns = [(put("a", "1", 0), 1, 0.0), (put("a", None, 0), 0, 0.1), (put("b", "1", 0), 0, 0.9)]
    state = crossed(OFTEN, hurried(turns, 1000, longest_ms))

    assert ghosts(state) == haunted


def test_where_the_map_is_full_even_a_quick_reader_can_miss_a_tombstone():
    """The horizon is set when a segment is copied, though the tombstone lies behind what the map has seen."""
    small = Settings("compact", min_cleanable_dirty_ratio=0.0, offset_map_slots=2, load_factor=1.0)
    events = [
        *(put("anna", "1", 0), put("ben", "1", 1), put("anna", None, 2), Roll()),
        *(Clean(100), Read(1, now_ms=99 + DAY), Clean(100 + DAY), Read(now_ms=101 + DAY)),
    ]
    state = crossed(small, events)

    assert ghosts(state) == ("anna",)


def test_a_table_holds_the_last_value_of_each_key_that_is_not_deleted():
    state = crossed(OFTEN, [put("b", "1", 0), put("a", "1", 1), put("b", None, 2), put("a", "", 3)])
    assert table_of(state.log.records) == (("a", ""),)


def test_keys_may_be_texts_and_bytes_and_a_text_is_its_utf_8():
    state = crossed(OFTEN, [put("b", "1", 0), put(b"a", b"1", 1), put(b"b", None, 2), Read(2), put("é", b"2", 3)])
    assert state.truth == ((b"a", b"1"), ("é", b"2"))
    assert state.reader.table == ((b"a", b"1"), ("b", "1"))
    state = crossed(OFTEN, [put("a", "1", 0), put(b"a", "2", 1), Read(), put("a", None, 2), Read()])
    assert (state.truth, state.reader.table) == ((), ())


def test_a_key_that_is_written_otherwise_is_no_ghost_while_its_tombstone_lies_ahead():
    assert ghosts(crossed(OFTEN, [put("a", "1", 0), Read(), put(b"a", None, 1)])) == ()
    assert ghosts(crossed(OFTEN, [put("a", "1", 0), Read(), put(b"a", "2", 1)])) == ()


def test_a_read_leads_to_its_records_and_any_other_event_to_what_it_does_to_the_log():
    *_, written, read = (frame.state for frame in simulate(OFTEN, [put("a", "1", 0), Read()]))
    assert written.effects == written.log.effects
    assert read.effects == (RecordsRead(written.log.records),)


def test_what_a_reader_cannot_do_is_refused():
    with pytest.raises(IllegalEvent, match="knows no transactions"):
        step(OFTEN, start(OFTEN), EndTransaction(7, True, 0))
