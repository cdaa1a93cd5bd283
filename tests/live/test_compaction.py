"""Scripts of logs on a real broker: what cleaner and retention leave is what we say, to every batch's header."""

import pytest

from conformance.mechanisms.log import AT_ONCE_MS, COMPACTION, LATER_MS, LONG_PAUSE_MS, MUCH_LATER_MS, REMOVAL
from conformance.search import compare
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.live.cluster import CLEANED
from kafkalearn.live.errors import wait_for
from kafkalearn.log import Append, Clean, Log, NewBatch, Roll, Settings, simulate
from tests.live.checked import holds

pytestmark = pytest.mark.live

CLEANING = (
    "the cleaner: what is dirty, what stays, how files are merged", "segments: rolling, indexes, retention",
    "which batches a log takes", "bytes of a record and of a batch", "sequence numbers and the window of five batches",
)  # fmt: skip
ROLL, NOBODY = ["roll"], None
COMMITTED, ABORTED, KEEPS_EPOCH, RAISES_EPOCH = True, False, False, True


def put(*pairs, pause_ms=10, producer=NOBODY, is_transactional=False, codec="none", off_ms=0):
    records = [[key, value, off_ms] for key, value in pairs]
    return ["append", pause_ms, producer, is_transactional, codec, records]


def clean(retention_ms=LATER_MS, protected_pauses=0):
    return ["clean", protected_pauses, retention_ms]


COMPACTED = {
    "tombstones in both passes": [
        put(("a", "1"), ("b", "1")), put(("a", "2"), pause_ms=1200), put(("b", None), ("c", None), off_ms=-5),
        ROLL, clean(MUCH_LATER_MS), put(("c", "3")), ROLL, clean(AT_ONCE_MS), ROLL, clean(), ROLL, clean(),
    ],
    "transactions": [
        put(("a", "1"), producer=0, is_transactional=True),
        put(("a", "x"), ("d", "x"), producer=1, is_transactional=True),
        ["end", 1, ABORTED, KEEPS_EPOCH], put(("b", "1"), producer=0, is_transactional=True), ROLL, clean(),
        ["end", 0, COMMITTED, RAISES_EPOCH], put(("a", "2")), ROLL, clean(), ROLL, clean(), ROLL, clean(),
    ],
    "the last batch of a producer is kept, empty": [
        put(("a", "1"), producer=0), put(("a", "2"), producer=1), ["epoch", 1], put(("b", "1"), producer=1),
        put(("a", "3"), ("b", "3")), ROLL, clean(), put(("c", "1"), producer=0), ROLL, clean(), ROLL, clean(),
    ],
    "compressed batches, and those that are too young": [
        *(put(("a", codec), ("b", None), codec=codec) for codec in ("gzip", "snappy", "lz4", "zstd")),
        put(("a", "late"), pause_ms=LONG_PAUSE_MS), put(("b", "late"), pause_ms=1200), clean(protected_pauses=1),
        put(("a", "later"), codec="gzip"), ROLL, clean(), ROLL, clean(),
    ],
}  # fmt: skip
REMOVED = {
    "age and size": [
        put(("a", "1")), put(("b", "1"), pause_ms=LONG_PAUSE_MS), put((None, "2"), ("c", "2"), pause_ms=LONG_PAUSE_MS),
        ["retain", 2, None], ["retain", 1, None], put(("d", "v" * 90), pause_ms=1200), put(("e", "1"), pause_ms=1200),
        ["offsets", [0, 60_000, 120_400, 5_500_000]], ["retain", None, 200], ["retain", None, 1],
    ],
    "an administrator": [
        put(("a", "1"), ("b", "1"), ("c", "1"), producer=0, is_transactional=True), put(("d", "1"), pause_ms=1200),
        ["delete", 2], ["offsets", [0, 10, 1200]], ["delete", 9], ["end", 0, ABORTED, KEEPS_EPOCH], ["delete", -1],
        ["delete", -2], ["offsets", [0]],
    ],
}  # fmt: skip


def check(kafka, new_name, mechanism, case):
    found = compare(mechanism, kafka.release.line, case, mechanism.ask(kafka, case, new_name))
    assert found is None or found.simulator == found.broker


@holds(*CLEANING)
@pytest.mark.parametrize("name", COMPACTED)
def test_what_a_broker_has_compacted_is_what_we_say(kafka, new_name, name):
    check(kafka, new_name, COMPACTION, {"policy": "compact", "dirty_ratio": 0.0, "events": COMPACTED[name]})


@holds(*CLEANING[:2], "moving the log start", "the offset for a time")
@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
@pytest.mark.parametrize("name", REMOVED)
def test_what_retention_and_administrators_have_removed_is_what_we_say(kafka, new_name, name, policy):
    check(kafka, new_name, REMOVAL, {"policy": policy, "dirty_ratio": 0.5, "events": REMOVED[name]})


@holds(CLEANING[0])
def test_what_becomes_of_an_emptied_batch_at_the_end_of_what_is_cleaned(kafka, new_name):
    """A record without a key goes when its topic is compacted from now on; it is the last below the active segment."""
    place = TopicPartition(new_name("keyless"), 0)
    kafka.create_topic(place.topic, config={"cleanup.policy": "delete", "segment.ms": 1000, "retention.ms": -1})
    for key, at_ms in ((b"a", 0), (None, 10), (b"b", 100_000)):
        kafka.send_records(place.topic, [(key, b"1", 1_700_000_000_000 + at_ms)])
    kafka.alter_topic(place.topic, {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": 0})
    wait_for(lambda: kafka.disk(1).checkpoint(CLEANED).get(place), 2, f"{place} cleaned up to")
    found = [batch.base_offset for each in kafka.disk(1).segments(*place) for batch in each.batches]

    events = [Append((NewBatch(((key, "1", 1),)),)) for key in ("a", None)]
    events += [Roll(), Append((NewBatch((("b", "1", 2),)),)), Clean(5, is_forced=True)]
    log = simulate(Settings("delete", kafka.release.line), events, Log())[-1].state
    assert found == [batch.base_offset for batch in log.batches]
