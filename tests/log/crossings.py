"""Events for a log and a reader that crosses it."""

from hypothesis import strategies as st

from kafkalearn.log import Append, Clean, NewBatch, Roll, Settings
from kafkalearn.log.reader import Read, broken, check, simulate
from tests.log.schedules import appends, cleans, rolls

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
