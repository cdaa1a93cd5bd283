"""The simulator of a group that may change its protocol: `step` asks the coordinator of its kind; and what holds.

>>> from kafkalearn.groups.consumer import join, leave
>>> trace = simulate(Settings(), [join("n1", ("orders",)), leave("n1")])
>>> [frame.state.state for frame in trace]
['Empty', 'Stable', 'Empty']
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from kafkalearn.base.errors import no_event, refusing_events
from kafkalearn.base.promises import Promises, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.groups.classic import model as classic
from kafkalearn.groups.classic import simulator as classic_simulator
from kafkalearn.groups.classic.members import next_deadline_ms as next_classic_deadline_ms
from kafkalearn.groups.classic.members import without_idle_rounds
from kafkalearn.groups.classic.model import UNKNOWN
from kafkalearn.groups.consumer import events as consumer
from kafkalearn.groups.consumer import simulator as consumer_simulator
from kafkalearn.groups.consumer.events import RecordWritten, tombstone
from kafkalearn.groups.consumer.state import LEAVE, change_topic
from kafkalearn.groups.consumer.state import Group as ConsumerGroup
from kafkalearn.groups.defaults import EMPTY, STABLE
from kafkalearn.groups.mixed import members
from kafkalearn.groups.mixed.model import Effect, Event, Group, ProtocolChanged, Settings, start, with_classic
from kafkalearn.groups.mixed.switching import downgrade, forgotten, may_be_downgraded, new_member

CLASSIC_REQUESTS = (classic.JoinGroup, classic.SyncGroup, classic.Heartbeat, classic.LeaveGroup)


@refusing_events
def step(settings: Settings, group: Group, event: Event) -> Group:
    """The group after `event`; what was answered and written is in its ``effects``.

    Raises
    ------
    IllegalEvent
        If it is not an event of this simulator, or makes no sense now: a topic loses partitions.

    Examples
    --------
    >>> from kafkalearn.groups.consumer import join
    >>> group = step(Settings(), start(Settings()), join("n1", ("orders",)))
    >>> metadata = (("orders",), ())
    >>> group = step(Settings(), group, classic.JoinGroup("c1", protocols=(("range", metadata),), version=3))
    >>> group.group_type, group.member_ids, group.classic_ids
    ('Consumer', ('n1', 'c1-1'), ('c1-1',))

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``GroupMetadataManager`` (KIP-848).
    """
    after = _led_to(settings, group, event)
    return replace(after, left=None) if after.left is not None and any(map(_replaces, after.effects)) else after


def _led_to(settings: Settings, group: Group, event: Event) -> Group:
    match event:
        case classic.JoinGroup() | classic.SyncGroup() | classic.Heartbeat() | classic.LeaveGroup():
            return _classic_request(settings, group, event)
        case consumer.ConsumerGroupHeartbeat():
            return _new_request(settings, group, event)
        case consumer.OffsetCommit():
            return _commit(settings, group, event)
        case consumer.OffsetFetch():
            return _plain(group, consumer_simulator.fetch(settings.consumer, group.consumer, event))
        case consumer.TopicChanged():
            changed = change_topic(settings.consumer, replace(group.consumer, effects=()), event)
            return _plain(group, changed)
        case consumer.TimePassed():
            return _pass_time(settings, group, event.ms)
        case consumer.GroupDeleted():
            return _delete(settings, group)
        case consumer.PartitionMoved():
            return _move(settings, group)
    raise no_event(
        event,
        (*CLASSIC_REQUESTS, consumer.ConsumerGroupHeartbeat, consumer.OffsetCommit, consumer.OffsetFetch,
         consumer.TopicChanged, consumer.TimePassed, consumer.GroupDeleted, consumer.PartitionMoved),
    )  # fmt: skip


def _replaces(effect: Effect) -> bool:
    """Whether it is a record of the group itself: whoever reads the log takes the last one."""
    kinds = (consumer.GROUP_METADATA, f"tombstone:{consumer.GROUP_METADATA}", f"tombstone:{consumer.CLASSIC_GROUP}")
    return isinstance(effect, classic.GroupWritten) or (isinstance(effect, RecordWritten) and effect.kind in kinds)


def _plain(group: Group, after: ConsumerGroup) -> Group:
    """The group after its consumer side has changed and nothing else."""
    return replace(group, consumer=replace(after, effects=()), effects=after.effects)


def _classic_request(settings: Settings, group: Group, event: classic.ClassicRequest) -> Group:
    """A request of the classic protocol: to the classic group, or to a consumer group that has members.

    A consumer group without members is removed by a JoinGroup, and a classic group begins anew. One that brings a
    member id is refused, as there is no such member any more; the group is forgotten, and nothing is written of that:
    who coordinates it next finds it in its records as it was, unless a record of the group itself has come since.
    """
    if not group.is_consumer:
        after = classic_simulator.step(settings.classic, group.classic, event)
        return replace(with_classic(group, after), effects=after.effects)
    match event:
        case classic.JoinGroup() if group.consumer.members:
            return members.join(settings, group, event)
        case classic.JoinGroup():
            kinds = (consumer.TARGET_METADATA, consumer.TOPIC_METADATA, consumer.GROUP_METADATA)
            empty = replace(forgotten(settings, group.consumer), group_type=None)
            after = classic_simulator.step(settings.classic, group.classic, event)
            if after.answers[-1:] and after.answers[-1].error == "INVALID_SESSION_TIMEOUT":
                return replace(group, effects=after.effects)
            is_removed = event.member_id == UNKNOWN
            effects = (*(map(tombstone, kinds) if is_removed else ()), *after.effects)
            left = None if is_removed else group.consumer
            return replace(with_classic(replace(group, consumer=empty, left=left), after), effects=effects)
        case classic.SyncGroup():
            return members.sync(settings, group, event)
        case classic.Heartbeat():
            return members.heartbeat(settings, group, event)
        case classic.LeaveGroup():
            return members.leave(settings, group, event)
    raise no_event(event, CLASSIC_REQUESTS)


def _new_request(settings: Settings, group: Group, event: consumer.ConsumerGroupHeartbeat) -> Group:
    """A request of the newer protocol; the last new member of a mixed group takes the protocol with it."""
    if not group.is_consumer:
        return new_member(settings, group, event)
    after = consumer_simulator.step(settings.consumer, group.consumer, event)
    left = set(group.consumer.member_ids) - set(after.member_ids)
    is_leaving = event.member_epoch == LEAVE and len(left) == 1
    if is_leaving and may_be_downgraded(settings, group.consumer, left):
        after_all = downgrade(settings, group, left, classic.MEMBER_LEFT)
        return replace(after_all, effects=(*after_all.effects, after.effects[-1]))
    return _plain(group, after)


def _commit(settings: Settings, group: Group, event: consumer.OffsetCommit) -> Group:
    """Offsets of a member of either protocol; a classic one sends its generation, which is its member epoch here."""
    if group.is_consumer or not group.classic.is_known:
        after = consumer_simulator.commit(settings.consumer, group.consumer, event)
        group = _plain(group, after)
        is_simple = not group.is_consumer and group.group_type is not None
        return replace(group, classic=replace(group.classic, is_known=True)) if is_simple else group
    known = group.consumer.partition_counts
    there = [each for each in event.partitions if each.partition < known.get(each.topic, 0)]
    error = consumer.NONE
    if there:
        asked = classic.OffsetCommit(
            event.member_id,
            event.member_id,
            max(event.member_epoch, -1),  # below 0 one is as the other to a classic group
            event.instance_id,
            event.version,
        )
        after_classic = classic_simulator.step(settings.classic, group.classic, asked)
        error = after_classic.answers[-1].error
        group = with_classic(group, after_classic)
    alone = replace(group.consumer, members=(), group_type=None)  # one that takes what the classic group has taken
    tried = consumer_simulator.commit(settings.consumer, alone, replace(event, member_epoch=-1))
    answer = next(each for each in tried.effects if isinstance(each, consumer.CommitAnswered))
    errors = tuple((place, error if place in there else other) for place, other in answer.errors)
    effects: tuple[Effect, ...] = (consumer.CommitAnswered(event.member_id, errors),)
    if error == consumer.NONE:
        committed = tuple(sorted({*group.committed, *there}))
        group = replace(group, consumer=replace(group.consumer, committed=committed))
        effects = (*(RecordWritten(consumer.OFFSET_COMMIT) for _ in there), *effects)
    return replace(group, effects=effects)


def _delete(settings: Settings, group: Group) -> Group:
    """DeleteGroups: a group that has members is not deleted, of whichever protocol they are."""
    if not group.is_consumer and group.classic.is_known and group.classic.state != EMPTY:
        return replace(group, effects=(consumer.DeleteAnswered("NON_EMPTY_GROUP"),))
    after = _plain(group, consumer_simulator.delete(settings.consumer, group.consumer))
    if after.group_type is not None:
        return after
    fresh = replace(classic.start(settings.classic), now_ms=group.now_ms, id_count=group.classic.id_count)
    return replace(after, classic=fresh, written=None)


def _move(settings: Settings, group: Group) -> Group:
    """The group as a new coordinator has read it: a classic one as its last record has it, with all timers anew.

    A rebalance that was under way is forgotten: the members of a classic group are Stable in the generation before,
    and new ones that waited are unknown. An empty consumer group that a JoinGroup with a member id made the last
    coordinator forget is there again, with its epoch (recorded: 4.0.2 and 4.4.0).

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``GroupMetadataManager.onLoaded``.
    """
    if group.left is not None:
        there = group.consumer
        back = replace(group.left, committed=there.committed, now_ms=there.now_ms)
        back = replace(back, topics=there.topics, former_topics=there.former_topics)
        fresh = replace(classic.start(settings.classic), now_ms=group.now_ms, id_count=group.classic.id_count)
        group = Group(fresh, back)
    moved = consumer_simulator.move(settings.consumer, group.consumer)
    if group.is_consumer or not group.classic.is_known:
        return replace(group, consumer=moved, effects=())
    now_ms, last = group.now_ms, group.written
    if last is None:  # offsets alone were written
        last = replace(classic.start(settings.classic), is_known=bool(group.committed))
    loaded = replace(
        last,
        state=STABLE if last.members else EMPTY,
        members=tuple(
            each._replace(is_new=False, join_waiter=None, sync_waiter=None, expires_ms=now_ms + each.session_timeout_ms)
            for each in last.members
        ),
        pending=(), unsynced=(), now_ms=now_ms, join_deadline_ms=None, delay_ms=None, sync_deadline_ms=None,
        id_count=group.classic.id_count,
    )  # fmt: skip
    return replace(group, classic=loaded, consumer=moved, effects=())


def next_deadline_ms(group: Group) -> int | None:
    """When the next timer of a group is due; None if none is running."""
    if group.is_consumer:
        return consumer_simulator.next_deadline_ms(group.consumer)
    return next_classic_deadline_ms(group.classic)


def _pass_time(settings: Settings, group: Group, ms: int) -> Group:
    """The group after a time; a timer that removes the last new member changes the protocol at that moment."""
    end_ms = group.now_ms + ms
    effects: tuple[Effect, ...] = ()
    while (due_ms := next_deadline_ms(group)) is not None and due_ms <= end_ms:
        group = _at(group, max(due_ms, group.now_ms))
        if group.is_consumer:
            due = consumer_simulator.next_timer(group.consumer)
            assert due is not None
            _, reason, member_id = due
            fenced = consumer.MemberFenced(member_id, reason, group.now_ms)
            group = members.without(settings, group, (member_id,), classic.MEMBER_EXPIRED)
            effects = (*effects, fenced, *group.effects)
        else:
            after = classic_simulator.step(settings.classic, group.classic, classic.TimePassed(0))
            group = with_classic(group, without_idle_rounds(after, end_ms))
            effects += after.effects
    return replace(_at(group, end_ms), effects=effects)


def _at(group: Group, now_ms: int) -> Group:
    return replace(
        group, classic=replace(group.classic, now_ms=now_ms), consumer=replace(group.consumer, now_ms=now_ms)
    )


# What holds.


def _is_in_order(settings: Settings, group: Group) -> bool:
    """Whether the side that counts keeps its own invariants."""
    if group.is_consumer:
        return _keeps(consumer_simulator.INVARIANTS, settings.consumer, group.consumer)
    return _keeps(classic_simulator.INVARIANTS, settings.classic, group.classic)


def _keeps(rules: Promises, settings: object, group: object) -> bool:
    return all(cast(Any, each)(settings, group) for each in rules.values() if not isinstance(each, Since))


def _keeps_offsets(settings: Settings, before: Group, group: Group) -> bool:
    """Whether all offsets are still there, while the group and its topics are."""
    is_same = group.group_type is not None and before.consumer.topics == group.consumer.topics
    return not is_same or set(before.committed) <= set(group.committed)


def _goes_with_its_last_new_one(settings: Settings, before: Group, group: Group) -> bool:
    """Whether a consumer group that has classic members alone still has the one that was the last new one.

    A new member may become a classic one by a JoinGroup with its id; the group stays a consumer group (recorded: 4.4).
    """
    went = set(before.member_ids) - set(before.classic_ids)
    is_without = group.is_consumer and group.member_ids and set(group.member_ids) == set(group.classic_ids)
    if not (before.is_consumer and went and is_without and settings.may_downgrade):
        return True
    return bool(went & set(group.classic_ids)) or len(group.member_ids) > settings.classic.group_max_size


def _epoch_is_kept(settings: Settings, before: Group, group: Group) -> bool:
    """Whether the epoch is as high as before, or what a new coordinator finds: a join phase ends without a record."""
    if not (before.member_ids and group.member_ids) or group.epoch >= before.epoch:
        return True
    return not before.is_consumer and before.written is not None and group.epoch == before.written.generation


NONE_FENCED = "no member is fenced"
STAYS = "a group with members keeps its protocol"

INVARIANTS: Promises = {
    "the side that counts keeps its invariants": _is_in_order,
    "a partition has one owner": lambda settings, group: all(len(owners) == 1 for owners in group.owners.values()),
    "the last new member that goes takes the protocol with it, unless it may not": Since(_goes_with_its_last_new_one),
    "one time counts for both sides": lambda settings, group: group.classic.now_ms == group.consumer.now_ms,
    "no conversion loses a committed offset": Since(_keeps_offsets),
    "the epoch of a group with members goes back to what was written of it at most": Since(_epoch_is_kept),
}
"""What holds in every state that the simulator reaches."""

PROMISES: Promises = {
    NONE_FENCED: lambda settings, group: not any(isinstance(each, consumer.MemberFenced) for each in group.effects),
    STAYS: lambda settings, group: not any(isinstance(each, ProtocolChanged) for each in group.effects),
}
"""What users hope for: silence breaks the first, a rolling change of the protocol the second, once or twice."""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
