"""The simulator of the consumer protocol: `step` has a rule for each event; and what holds of its states.

The rules of a heartbeat and of a topic that changes have files of their own.

>>> from kafkalearn.groups.consumer.events import join
>>> trace = simulate(Settings(), [join("A", ("orders",)), TimePassed(45_000)])
>>> [frame.state.state for frame in trace]
['Empty', 'Stable', 'Empty']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

from kafkalearn.base.errors import no_event
from kafkalearn.base.promises import Promises, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.consumer.events import (
    CLASSIC_GROUP,
    GROUP_METADATA,
    NONE,
    OFFSET_COMMIT,
    TARGET_METADATA,
    TOPIC_METADATA,
    CommitAnswered,
    ConsumerGroupEvent,
    ConsumerGroupHeartbeat,
    DeleteAnswered,
    Effect,
    FetchAnswered,
    GroupDeleted,
    MemberFenced,
    OffsetCommit,
    OffsetFetch,
    OffsetsExpired,
    PartitionMoved,
    RecordWritten,
    Settings,
    TimePassed,
    TopicChanged,
    tombstone,
)
from kafkalearn.groups.consumer.heartbeats import heartbeat, remove
from kafkalearn.groups.consumer.state import (
    CLASSIC,
    CONSUMER,
    JOIN,
    LEAVE_FOR_A_WHILE,
    UNREVOKED_PARTITIONS,
    Group,
    Member,
    change_topic,
    new_group,
    start,
)
from kafkalearn.groups.defaults import STABLE, known_version

SESSION_TIMEOUT, REBALANCE_TIMEOUT = "session timeout", "rebalance timeout"
NOT_JOINED, NOT_SYNCED = "no JoinGroup in time", "no SyncGroup in time"  # of classic members


def pass_time(settings: Settings, group: Group, event: TimePassed) -> Group:
    """The group after a time, with each timer that ran out on the way.

    A timer runs out when its time has come, not only when it is over.

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataManager.scheduleConsumerGroupSessionTimeout`` and
    ``scheduleConsumerGroupRebalanceTimeout``.
    """
    end_ms = group.now_ms + event.ms
    effects: tuple[Effect, ...] = ()
    while (first := next_timer(group)) is not None and first[0] <= end_ms:
        at_ms, reason, member_id = first
        group, records = remove(settings, group, member_id)
        effects += (MemberFenced(member_id, reason, at_ms), *records)
    return replace(group, now_ms=end_ms, effects=effects)


def next_deadline_ms(group: Group) -> int | None:
    """When the next timer of a group is due; None if none is running."""
    due = next_timer(group)
    return None if due is None else due[0]


def next_timer(group: Group) -> tuple[int, str, str] | None:
    """The timer that runs out next: when, why, and whose; None if no timer runs."""
    first: tuple[int, str, str] | None = None
    for member in group.members:  # after every event of a scenario: no list is made
        ends_at_ms = member.session_ends_at_ms
        if ends_at_ms is not None and (first is None or ends_at_ms < first[0]):
            first = ends_at_ms, SESSION_TIMEOUT, member.member_id
        ends_at_ms = member.revocation_ends_at_ms
        if ends_at_ms is not None and (first is None or ends_at_ms < first[0]):
            first = ends_at_ms, REBALANCE_TIMEOUT, member.member_id
        ends_at_ms = member.join_ends_at_ms
        if ends_at_ms is not None and (first is None or ends_at_ms < first[0]):
            first = ends_at_ms, NOT_JOINED, member.member_id
        ends_at_ms = member.sync_ends_at_ms
        if ends_at_ms is not None and (first is None or ends_at_ms < first[0]):
            first = ends_at_ms, NOT_SYNCED, member.member_id
    return first


# How a group ends, and how it goes on elsewhere.


def delete(settings: Settings, group: Group) -> Group:
    """The group after DeleteGroups: gone with all its offsets, if it has no members.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``GroupCoordinatorShard.deleteGroups``, ``ConsumerGroup.validateDeleteGroup``.
    """
    if group.group_type is None:
        return replace(group, effects=(DeleteAnswered("GROUP_ID_NOT_FOUND"),))
    if group.members:
        return replace(group, effects=(DeleteAnswered("NON_EMPTY_GROUP"),))
    offsets = (tombstone(OFFSET_COMMIT),) * len(group.committed)
    return _forgotten(settings, group, (*offsets, *_tombstones_of(group), DeleteAnswered(NONE)))


def expire(settings: Settings, group: Group) -> Group:
    """The group without its expired offsets; if nothing is left of it, it is gone.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``GroupCoordinatorShard.cleanupExpiredOffsets``, ``OffsetMetadataManager`` of the same.
    """
    if group.group_type is None:
        return replace(group, effects=())
    left = tuple(each for each in group.committed if each.topic in group.subscribed_names)
    offsets = (tombstone(OFFSET_COMMIT),) * (len(group.committed) - len(left))
    if left or group.members:
        return replace(group, committed=left, effects=offsets)
    return _forgotten(settings, group, (*offsets, *_tombstones_of(group)))


def _tombstones_of(group: Group) -> tuple[Effect, ...]:
    """The records that remove an empty group; Kafka writes them all, whether there is something to remove or not."""
    if group.group_type == CLASSIC:
        return (tombstone(CLASSIC_GROUP),)
    return tuple(map(tombstone, (TARGET_METADATA, TOPIC_METADATA, GROUP_METADATA)))


def _forgotten(settings: Settings, group: Group, effects: tuple[Effect, ...]) -> Group:
    return replace(
        new_group(settings, group.topics),
        former_topics=group.former_topics,
        is_deleted=True,
        now_ms=group.now_ms,
        effects=effects,
    )


def move(settings: Settings, group: Group) -> Group:
    """The group as the new coordinator has read it from ``__consumer_offsets``, with all timers begun anew.

    It looks at the topics with the next heartbeat, and matches patterns again as if a topic had been created. A static
    member that is away and had partitions to give up has the time for that again, and is removed when it is over.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``GroupMetadataManager.onLoaded``.
    """
    now_ms = group.now_ms
    members = tuple(
        replace(
            each,
            session_ends_at_ms=now_ms + settings.session_timeout_ms,
            revocation_ends_at_ms=now_ms + each.rebalance_timeout_ms if each.state == UNREVOKED_PARTITIONS else None,
            join_ends_at_ms=None,
            sync_ends_at_ms=None,
        )
        for each in group.members
    )
    return replace(group, members=members, look_at_ms=now_ms, topic_version=group.topic_version + 1, effects=())


# Commits and fetches carry the member epoch: one of another epoch is refused, whole.

FIRST_FOR_GROUPS = 9  # the version of OffsetCommit since which clients know the errors of this protocol
FIRST_WITH_TOPIC_IDS = 10


def commit(settings: Settings, group: Group, event: OffsetCommit) -> Group:
    """The group with what was committed, and the answer among its effects.

    Partitions that do not exist are answered for one by one, before the group is asked. Of the others, all are
    written, or none: the first one that the member may not commit refuses the request.

    References
    ----------
    Apache Kafka 4.3, ``KafkaApis.handleOffsetCommitRequest``, ``OffsetMetadataManager.commitOffset`` and
    ``validateOffsetCommit``, ``ConsumerGroup.validateOffsetCommit`` (KIP-1251).
    """
    known_version(event, event.version, "OffsetCommit", settings.release)
    known = tuple(each for each in event.partitions if each.partition < group.partition_counts.get(each.topic, 0))
    error = _error(settings, group, event, known)
    if known and error == NONE:
        committed = tuple(sorted({*group.committed, *known}))
        group_type = CLASSIC if group.group_type is None else group.group_type
        group = replace(group, committed=committed, group_type=group_type, is_deleted=False)
    errors = tuple(
        (each, error if each in known else _error_of_missing(group, event, each)) for each in event.partitions
    )
    records = tuple(RecordWritten(OFFSET_COMMIT) for _ in known) if error == NONE else ()
    return replace(group, effects=(*records, CommitAnswered(event.member_id, errors)))


def fetch(settings: Settings, group: Group, event: OffsetFetch) -> Group:
    """The group, and among its effects what it has committed; a member of another epoch is refused.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``OffsetMetadataManager.fetchOffsets``, ``ConsumerGroup.validateOffsetFetch``.
    """
    error = NONE
    if group.group_type == CONSUMER and not (event.member_id is None and event.member_epoch < 0):
        member = group.find(event.member_id)
        if member is None:
            error = "UNKNOWN_MEMBER_ID"
        elif member.epoch != event.member_epoch:
            error = _wrong_epoch(member)
    return replace(group, effects=(FetchAnswered(error, group.committed if error == NONE else ()),))


def _error_of_missing(group: Group, event: OffsetCommit, partition: TopicPartition) -> str:
    names_by_id = event.version >= FIRST_WITH_TOPIC_IDS and partition.topic not in group.partition_counts
    return "UNKNOWN_TOPIC_ID" if names_by_id else "UNKNOWN_TOPIC_OR_PARTITION"


def _error(settings: Settings, group: Group, event: OffsetCommit, partitions: tuple[TopicPartition, ...]) -> str:
    """The error that all partitions of the request are answered with.

    The same question stands in ``offsets.store.requests``, which has the list of all four places.
    """
    if event.member_epoch < 0 and not group.members:
        return NONE  # a client without a group may write offsets for one that is empty, or that does not exist
    if group.group_type is None:
        return "GROUP_ID_NOT_FOUND" if event.version >= FIRST_FOR_GROUPS else "ILLEGAL_GENERATION"
    member = group.find(event.member_id)
    if group.group_type != CONSUMER or member is None:
        return "UNKNOWN_MEMBER_ID"
    if member.classic is None and event.version < FIRST_FOR_GROUPS:
        return "UNSUPPORTED_VERSION"
    if event.member_epoch == member.epoch:
        return NONE
    may_be_older = event.member_epoch < member.epoch and settings.rules.accepts_older_commits
    if may_be_older and all(_is_given(member, partition, event.member_epoch) for partition in partitions):
        return NONE
    return _wrong_epoch(member)


def _wrong_epoch(member: Member) -> str:
    """The error for another epoch than the member's: of the classic protocol, whose epoch is a generation, or not."""
    return "STALE_MEMBER_EPOCH" if member.classic is None else "ILLEGAL_GENERATION"


def _is_given(member: Member, partition: TopicPartition, epoch: int) -> bool:
    """Whether a member had this partition at an earlier epoch already, and has not confirmed that it gave it up."""
    held = (*member.assigned, *member.pending_revocation)
    return any(each[:2] == partition and each.epoch <= epoch for each in held)


def step(settings: Settings, group: Group, event: ConsumerGroupEvent) -> Group:
    """The group after `event`; what was answered and written is in its ``effects``.

    Raises
    ------
    IllegalEvent
        If it is not an event of this simulator, or makes no sense now: a topic loses partitions. What the coordinator
        refuses is no such case: it is an answer.

    Examples
    --------
    >>> from kafkalearn.groups.consumer.events import join
    >>> settings = Settings()
    >>> group = step(settings, start(settings), join("A", ("orders",)))
    >>> group.state, group.effects[-1].member_epoch, len(group.effects[-1].assignment)
    ('Stable', 2, 6)

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``GroupMetadataManager`` (KIP-848).
    """
    match event:
        case ConsumerGroupHeartbeat():
            return heartbeat(settings, group, event)
        case OffsetCommit():
            return commit(settings, group, event)
        case OffsetFetch():
            return fetch(settings, group, event)
        case TopicChanged():
            return change_topic(settings, group, event)
        case TimePassed():
            return pass_time(settings, group, event)
        case GroupDeleted():
            return delete(settings, group)
        case OffsetsExpired():
            return expire(settings, group)
        case PartitionMoved():
            return move(settings, group)
    raise no_event(event, get_args(ConsumerGroupEvent))


# What holds in every state. Two more laws hold of runs: no epoch falls while its member stays, and a group whose
# members go on sending heartbeats becomes Stable.

NONE_FENCED = "no member is fenced"
ALL_OWNED = "every partition that the group subscribes to belongs to a member"
STAYS_STABLE = "a group that is Stable stays so"


def _is_once(partitions: Iterable[TopicPartition]) -> bool:
    return all(count == 1 for count in Counter(partitions).values())


def _epochs_are_in_order(settings: Settings, group: Group) -> bool:
    highest = max((member.epoch for member in group.members), default=0)
    return highest <= group.assignment_epoch <= group.group_epoch


def _revoking_has_an_end(settings: Settings, group: Group) -> bool:
    return all(
        (member.state == UNREVOKED_PARTITIONS) == (member.revocation_ends_at_ms is not None)
        for member in group.members
        if member.epoch != LEAVE_FOR_A_WHILE and member.classic is None
    )


def _held_since_a_known_epoch(settings: Settings, group: Group) -> bool:
    """A classic member that takes a static place begins at 0, and first gives up what the place had (recorded: 4.4)."""

    def reached(member: Member) -> int:
        is_back = member.classic is not None and member.epoch == JOIN and member.instance_id is not None
        return group.assignment_epoch if is_back else max(member.epoch, 0)

    return all(
        held.epoch <= reached(member)
        for member in group.members
        for held in (*member.assigned, *member.pending_revocation)
    )


def _all_are_owned(settings: Settings, group: Group) -> bool:
    owned = {partition for member in group.members for partition in member.assigned_partitions}
    return all(
        TopicPartition(topic.name, number) in owned
        for topic in group.subscribed_topics
        for number in range(topic.partition_count)
    )


INVARIANTS: Promises = {
    "a partition is never held by two members": lambda settings, group: _is_once(
        partition for member in group.members for partition in member.assigned_partitions + member.pending_partitions
    ),
    "a partition is in one target at most": lambda settings, group: _is_once(
        partition for _, target in group.targets for partition in target
    ),
    "member epoch <= assignment epoch <= group epoch": _epochs_are_in_order,
    "a member that has to give up partitions has a time to do so": _revoking_has_an_end,
    "what is held was given at an epoch the member has reached": _held_since_a_known_epoch,
}
"""What holds in every state that the simulator reaches."""

PROMISES: Promises = {
    NONE_FENCED: lambda settings, group: not any(isinstance(effect, MemberFenced) for effect in group.effects),
    ALL_OWNED: _all_are_owned,
    STAYS_STABLE: Since(lambda settings, before, group: before.state != STABLE or group.state == STABLE),
}
"""What users hope for. Silence and slow members break the first, a member that joins the others, for a while."""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
