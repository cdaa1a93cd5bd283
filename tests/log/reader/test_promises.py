"""What holds of every log with a reader, and what breaks the hopes that users have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.log import Clean, Retain, Roll, Settings
from kafkalearn.log.reader import PROMISES, Read, broken, check, simulate, start, step
from tests.log.reader.crossings import DAY, OFTEN, SLEEPS, put, reads
from tests.log.schedules import appends, cleans, operations, possible, rolls, small_settings

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
