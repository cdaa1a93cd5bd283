"""What an operator saw of a cleaner that failed: see tests/vectors/log/cleaner-metrics.json."""

from kafkalearn.log import (
    Append,
    BrokerRestarted,
    CleanerFailed,
    CleanerRound,
    NewBatch,
    Roll,
    Settings,
    cleaner_metrics,
    step,
)
from kafkalearn.log.model import start
from tests.recorded import recorded

(CASE,) = recorded("cleaner-metrics")["cases"]
BACKOFF_MS = 200
NOW_MS = 1000  # of all that happens: no record has to wait
ALONE = ("DeadThreadCount", "uncleanable-partitions-count", "uncleanable-bytes")


def steps_of(log, kind, *rest):
    """What happens to the log; every write but the first closes the segment before."""
    match kind:
        case "write":
            batch = NewBatch(tuple((key, value, NOW_MS) for key, value in rest[0]))
            return [*([Roll(NOW_MS)] if log.records else []), Append((batch,), NOW_MS)]
        case "clean":
            return [CleanerRound(NOW_MS)]
        case "damage":
            return [CleanerFailed()]
        case "restart":
            return [BrokerRestarted()]
    return []


def test_checkpoint_and_metrics_are_those_of_the_broker_after_each_step():
    settings = Settings("compact")
    log = start(settings)
    for told, seen in zip(CASE["steps"], CASE["seen"], strict=True):
        for event in steps_of(log, *told):
            log = step(settings, log, event)
        assert [segment.base_offset for segment in log.segments] == seen["segments"], told
        ours = cleaner_metrics(settings, log, NOW_MS)
        named = (*ALONE, "cleaner-offset-checkpoint", "log end offset")
        assert {name: ours[name] for name in named} == {name: seen[name] for name in named}, told


def test_the_rounds_of_a_cleaner_that_leaves_a_partition_out_go_on():
    assert all(0 <= seen["rounds"] <= 10 * BACKOFF_MS for seen in CASE["seen"])
