"""What holds whenever old consumers commit, and what their users hope for.

A group that goes over to the topic without dual commit finds nothing there:

>>> from kafkalearn.zookeeper.commits.events import Produce, Shutdown, Start
>>> from kafkalearn.zookeeper.commits.simulator import simulate
>>> moved = [Start("c1"), Shutdown("c1"), Produce(count=3), Start("c2", "kafka", dual_commit_enabled=False)]
>>> broken(Settings(), simulate(Settings(), moved)[-1].state)
('no record is passed over',)
"""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.promises import Predicate, Since, judges
from kafkalearn.zookeeper.commits.events import ZOOKEEPER
from kafkalearn.zookeeper.commits.settings import Settings
from kafkalearn.zookeeper.commits.state import RUNNING, OldGroup

NONE_SKIPPED = "no record is passed over"
NONE_TWICE = "no record is read twice"
SAME_IN_BOTH = "the two stores do not contradict each other"


def _none_is_passed_over(settings: Settings, state: OldGroup) -> bool:
    """Whether a consumer that runs has before it no record that the group should have read and nobody did."""
    return all(
        all(state.reads[partition][state.first[partition] : offset])
        for consumer in state.consumers
        for partition, offset in consumer.consumed
    )


def _stores_agree(settings: Settings, state: OldGroup) -> bool:
    pairs = zip(state.zookeeper, state.in_topic(settings), strict=True)
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


def _one_owner(settings: Settings, state: OldGroup) -> bool:
    owned = [partition for consumer in state.consumers for partition in consumer.partitions]
    return len(owned) == len(set(owned))


def _consumed_is_there(settings: Settings, state: OldGroup) -> bool:
    return all(
        0 <= offset <= state.log_ends[partition] for each in state.consumers for partition, offset in each.consumed
    )


def _zookeeper_consumers_ask_no_coordinator(settings: Settings, state: OldGroup) -> bool:
    return all(
        each.offsets_storage != ZOOKEEPER or (each.channel is None and each.commit is None) for each in state.consumers
    )


def _who_runs_has_offsets(settings: Settings, state: OldGroup) -> bool:
    return all(each.status != RUNNING or tuple(dict(each.consumed)) == each.partitions for each in state.consumers)


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        "a partition has at most one consumer": _one_owner,
        "what was consumed is in the log": _consumed_is_there,
        "who commits to ZooKeeper needs no coordinator": _zookeeper_consumers_ask_no_coordinator,
        "a consumer that runs has an offset for each of its partitions": _who_runs_has_offsets,
        "the log only grows": Since(
            lambda settings, before, state: all(
                now >= was for now, was in zip(state.log_ends, before.log_ends, strict=True)
            )
        ),
    }
)
"""What holds in every state."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        NONE_SKIPPED: _none_is_passed_over,
        NONE_TWICE: lambda settings, state: all(count < 2 for counts in state.reads for count in counts),
        SAME_IN_BOTH: _stores_agree,
    }
)
"""What a user hopes for. A migration without dual commit breaks the first or the second, by auto.offset.reset."""

check, broken = judges(INVARIANTS, PROMISES)
