"""Reconciling: each member is moved from what it has to its target, in its own time.

First it gives up partitions (UNREVOKED_PARTITIONS); only when it has confirmed that, it gets more. It waits for
partitions that others have not given up yet (UNRELEASED_PARTITIONS). So nothing is ever owned twice, and no member
waits for all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import (
    STABLE,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    Group,
    Held,
    Member,
    partitions_of,
)
from kafkalearn.topic_partition import TopicPartition


def reconcile(
    settings: Settings,
    group: Group,
    member: Member,
    holders: Mapping[TopicPartition, str],
    owned: tuple[TopicPartition, ...] | None,
    has_new_topics: bool,
) -> Member:
    """The member one step nearer to its target.

    Parameters
    ----------
    settings : Settings
        Whose rules are followed.
    group : Group
        With the target.
    member : Member
        The one whose heartbeat it is.
    holders : mapping of TopicPartition to str
        Who held what before this heartbeat.
    owned : tuple of TopicPartition or None
        What the client reports to own; None: it still owns all.
    has_new_topics : bool
        Whether its subscription changed with this heartbeat.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``CurrentAssignmentBuilder.build`` and ``computeNextAssignment``.
    """
    must_drop = has_new_topics and settings.rules.drops_unsubscribed
    if member.is_at(group.assignment_epoch) and not must_drop:
        return member
    if member.state == STABLE and member.epoch == group.assignment_epoch:
        after = _dropped(group, member, owned)
    elif member.state == UNREVOKED_PARTITIONS and _still_owns(owned, member.pending_revocation):
        after = _dropped(group, member, owned) if must_drop else member
    else:
        has_revoked = member.state == UNREVOKED_PARTITIONS and settings.rules.counts_revocations
        after = _next(settings, group, member, holders, owned, member.epoch + has_revoked)
    return member if after == member else _with_timer(group, after)


def _with_timer(group: Group, member: Member) -> Member:
    """The member with the time to give up partitions, which starts again with each new assignment."""
    is_giving_up = member.state == UNREVOKED_PARTITIONS
    ends_at_ms = group.now_ms + member.rebalance_timeout_ms if is_giving_up else None
    return replace(member, revocation_ends_at_ms=ends_at_ms)


def _still_owns(owned: tuple[TopicPartition, ...] | None, pending: tuple[Held, ...]) -> bool:
    return owned is None or not set(owned).isdisjoint(partitions_of(pending))


def _next(
    settings: Settings,
    group: Group,
    member: Member,
    holders: Mapping[TopicPartition, str],
    owned: tuple[TopicPartition, ...] | None,
    epoch: int,
) -> Member:
    target = set(group.target(member.member_id))
    if settings.rules.drops_unsubscribed:
        target = {partition for partition in target if partition.topic in member.topics}
    keep = tuple(held for held in member.assigned if held[:2] in target)
    revoke = tuple(held for held in member.assigned if held[:2] not in target)
    missing = target - set(partitions_of(keep))
    own_pending = set(member.pending_partitions) if settings.rules.may_take_back else set()
    add = {partition for partition in missing if partition not in holders or partition in own_pending}
    if revoke and _still_owns(owned, revoke):
        return replace(
            member,
            state=UNREVOKED_PARTITIONS,
            previous_epoch=member.epoch,
            epoch=epoch,
            assigned=keep,
            pending_revocation=revoke,
        )
    added = tuple(Held(topic, partition, group.assignment_epoch) for topic, partition in add)
    return replace(
        member,
        state=STABLE if add == missing else UNRELEASED_PARTITIONS,
        previous_epoch=member.epoch,
        epoch=group.assignment_epoch,
        assigned=tuple(sorted(keep + added)),
        pending_revocation=(),
    )


def _dropped(group: Group, member: Member, owned: tuple[TopicPartition, ...] | None) -> Member:
    """The member without the topics it no longer subscribes to; no other partition moves.

    References
    ----------
    Apache Kafka 4.2 and 4.3, ``CurrentAssignmentBuilder.updateCurrentAssignment``.
    """
    keep = tuple(held for held in member.assigned if held.topic in member.topics)
    if keep == member.assigned:
        return member
    dropped = tuple(held for held in member.assigned if held.topic not in member.topics)
    pending = tuple(sorted(member.pending_revocation + dropped))
    if _still_owns(owned, pending):
        return replace(
            member,
            state=UNREVOKED_PARTITIONS,
            previous_epoch=member.epoch,
            assigned=keep,
            pending_revocation=pending,
        )
    return replace(member, previous_epoch=member.epoch, assigned=keep)
