"""Reconciling: each member is moved from what it has to its target, in its own time.

First it gives up partitions (UNREVOKED_PARTITIONS); only when it has confirmed that, it gets more. It waits for
partitions that others have not given up yet (UNRELEASED_PARTITIONS). So nothing is ever owned twice, and no member
waits for all others.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from kafkalearn.group.consumer.heartbeats.targets import Aim
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
    target: Aim,
    owned: tuple[TopicPartition, ...] | None,
    is_new_subscription: bool,
) -> Member:
    """The member one step nearer to its target.

    Parameters
    ----------
    settings : Settings
        Whose rules are followed.
    group : Group
        Before this heartbeat: who held what.
    member : Member
        The one whose heartbeat it is.
    target : Aim
        The target, and its epoch.
    owned : tuple of TopicPartition or None
        What the client reports to own; None: it still owns all.
    is_new_subscription : bool
        Whether its subscription changed with this heartbeat.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``CurrentAssignmentBuilder.build`` and ``computeNextAssignment``.
    """
    must_drop = is_new_subscription and settings.rules.drops_unsubscribed
    if member.is_at(target.epoch) and not must_drop:
        return member
    subscribed = group.partition_counts.keys() & set(member.topics)
    if member.state == STABLE and member.epoch == target.epoch:
        after = _dropped(settings, member, subscribed, owned)
    elif member.state == UNREVOKED_PARTITIONS and _still_owns(owned, member.pending_revocation):
        after = _dropped(settings, member, subscribed, owned) if must_drop else member
    else:
        after = _next(settings, group, member, target, subscribed, owned)
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
    target: Aim,
    subscribed: Set[str],
    owned: tuple[TopicPartition, ...] | None,
) -> Member:
    rules = settings.rules
    wanted = {each for each in target.partitions if each.topic in subscribed or not rules.drops_unsubscribed}
    keep = tuple(held for held in member.assigned if held[:2] in wanted)
    revoke = tuple(held for held in member.assigned if held[:2] not in wanted)
    if revoke and _still_owns(owned, revoke):
        has_revoked = member.state == UNREVOKED_PARTITIONS and rules.counts_revocations
        return replace(
            member,
            state=UNREVOKED_PARTITIONS,
            previous_epoch=member.epoch,
            epoch=member.epoch + has_revoked,
            assigned=keep,
            pending_revocation=revoke,
        )
    missing = wanted - set(partitions_of(keep))
    holders = group.holders
    own_pending = set(member.pending_partitions) if rules.may_take_back else set()
    add = {partition for partition in missing if partition not in holders or partition in own_pending}
    added = tuple(Held(topic, partition, target.epoch) for topic, partition in add)
    return replace(
        member,
        state=STABLE if add == missing else UNRELEASED_PARTITIONS,
        previous_epoch=member.epoch,
        epoch=target.epoch,
        assigned=tuple(sorted(keep + added)),
        pending_revocation=(),
    )


def _dropped(
    settings: Settings, member: Member, subscribed: Set[str], owned: tuple[TopicPartition, ...] | None
) -> Member:
    """The member without the topics it no longer subscribes to; no other partition moves.

    References
    ----------
    Apache Kafka 4.2 and 4.3, ``CurrentAssignmentBuilder.updateCurrentAssignment``.
    """
    keep = tuple(held for held in member.assigned if held.topic in subscribed)
    dropped = tuple(held for held in member.assigned if held.topic not in subscribed)
    has_left_all = not member.topics and not member.pending_revocation  # then Kafka does not look whether it had any
    if not dropped and not has_left_all:
        return member
    after = replace(member, previous_epoch=member.epoch) if settings.rules.forgets_previous_epoch else member
    pending = tuple(sorted(member.pending_revocation + dropped))
    if pending and _still_owns(owned, pending):
        return replace(after, state=UNREVOKED_PARTITIONS, assigned=keep, pending_revocation=pending)
    return replace(after, assigned=keep)
