"""What holds of the offsets topic in every run, and what a cluster's users hope for."""

from __future__ import annotations

from kafkalearn.operations.offsets_topic.settings import Settings
from kafkalearn.operations.offsets_topic.state import OffsetsTopic
from kafkalearn.promises import judges


def _leaders_live_and_are_in_sync(settings: Settings, state: OffsetsTopic) -> bool:
    return all(
        leader is None or (leader in state.live and leader in isr)
        for leader, isr in zip(state.leaders, state.isr, strict=True)
    )


def _a_live_in_sync_replica_leads(settings: Settings, state: OffsetsTopic) -> bool:
    return all(
        (leader is None) == (not {*isr} & {*state.live}) for leader, isr in zip(state.leaders, state.isr, strict=True)
    )


INVARIANTS = {
    "a leader lives and is in sync": _leaders_live_and_are_in_sync,
    "where an in-sync replica lives, one leads": _a_live_in_sync_replica_leads,
    "the last in-sync replica stays one": lambda settings, state: all(state.isr),
    "in-sync replicas are replicas": lambda settings, state: all(
        {*isr} <= {*replicas} for isr, replicas in zip(state.isr, state.replicas, strict=True)
    ),
    "a partition waits for one reassignment at most": lambda settings, state: (
        len({partition for partition, _ in state.pending}) == len(state.pending)
    ),
    "no replica twice on one broker": lambda settings, state: all(
        len({*replicas}) == len(replicas) for replicas in state.replicas
    ),
}

PROMISES = {
    "every group has a coordinator while a broker lives": lambda settings, state: (
        not state.live or not state.is_created or not state.leaderless
    ),
    "the topic has the replicas that were asked for": lambda settings, state: all(
        len(replicas) >= settings.replication_factor for replicas in state.replicas
    ),
}

check, broken = judges(INVARIANTS, PROMISES)
