"""Events for a log: short ways to write them, and schedules of them to be drawn."""

from itertools import pairwise

from hypothesis import strategies as st

from kafkalearn.log import (
    Append,
    BrokerRestarted,
    Clean,
    Cleaned,
    CleanerFailed,
    CleanerRound,
    EndTransaction,
    MoveLogStart,
    NewBatch,
    ProducerExpired,
    ReplaceCleanerThreads,
    Retain,
    Roll,
    SetHighWatermark,
    Settings,
    check,
    simulate,
    start,
    step,
)
from tests.schedules import sensible_steps

COMPACT = Settings("compact")


def one_each(*records, **batch):
    """Records in batches of their own, as key, value and timestamp."""
    return Append(tuple(NewBatch((record,), **batch) for record in records))


A_TWICE = one_each(("a", "1", 1000), ("a", "2", 1001))


def after(settings, *events):
    """The log after events."""
    return simulate(settings, events)[-1].state


def offsets(log):
    return [record.offset for record in log.records]


def last_effect(log, kind):
    """The last effect of a kind that the event had; None if it had none."""
    return next((effect for effect in reversed(log.effects) if isinstance(effect, kind)), None)


keys, values = st.sampled_from("abc"), st.sampled_from([None, "", "v", "w" * 40])
rows = st.lists(st.tuples(keys, values, st.integers(0, 500)), min_size=1, max_size=4).map(tuple)
appends = st.builds(lambda records: Append((NewBatch(records),)), rows)
rolls, cleans = st.just(Roll()), st.builds(Clean, st.integers(0, 1000), st.booleans())
plain_schedules = st.lists(appends | rolls | cleans, max_size=25)

transactional = st.builds(
    lambda records, producer_id, sequence: Append(
        (NewBatch(records, None, producer_id, 0, sequence, is_transactional=True),)
    ),
    rows,
    st.integers(1, 2),
    st.sampled_from([None, None, None, 0, 1]),  # the next one; or repeated, or with a gap
)
ends = st.builds(EndTransaction, st.integers(1, 2), st.booleans(), st.integers(0, 500))
expiries = st.builds(ProducerExpired, st.integers(1, 2))
mixed_schedules = st.lists(appends | transactional | ends | expiries | rolls | cleans, max_size=25)

offsets_or_none = st.none() | st.integers(0, 20)
operations = (
    st.builds(CleanerRound, st.integers(0, 1000))
    | st.builds(Retain, st.integers(0, 2000))
    | st.builds(SetHighWatermark, offsets_or_none)
    | st.sampled_from([CleanerFailed(), CleanerFailed(is_java_error=True), BrokerRestarted(), ReplaceCleanerThreads()])
)
deletions = st.builds(MoveLogStart, st.integers(0, 20))

small = {
    "segment_bytes": st.sampled_from([300, 1000, 1 << 30]),
    "segment_ms": st.sampled_from([50, 604800000]),
    "index_interval_bytes": st.sampled_from([0, 100, 4096]),
    "min_cleanable_dirty_ratio": st.sampled_from([0.0, 0.5]),
    "min_compaction_lag_ms": st.sampled_from([0, 100]),
    "max_compaction_lag_ms": st.sampled_from([50, 2**63 - 1]),
    "delete_retention_ms": st.sampled_from([1, 100, 86400000]),
    "offset_map_slots": st.sampled_from([2, 3, 100]),
}
small_settings = st.builds(Settings, st.just("compact"), **small)


def possible(settings, events, start=start, step=step):
    """The events that make sense, each after those before it."""
    return [event for _, event, _ in sensible_steps(step, settings, start(settings), events)]


def cleanings(settings, schedule):
    """The logs before and after each event that cleaned; the invariants are checked on the way."""
    for before, after_it in pairwise(simulate(settings, schedule)):
        check(settings, after_it.state, before.state)
        if last_effect(after_it.state, Cleaned):
            yield after_it.event, before.state, after_it.state
