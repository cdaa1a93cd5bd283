"""The group coordinator's side of a share group: heartbeats, epochs, who is to read what, and the records of it.

Members come and go without waiting for each other: a member has its target at its own next heartbeat, and a partition
may be with several. A partition is assigned once its state is initialised; so a group's first member gets nothing.

Source: `GroupMetadataManager.shareGroupHeartbeat`, `shareGroupFenceMember`, `maybeUpdateTargetAssignment`,
`initializedAssignmentPending` of 4.4.0, read; 4.2.1, 4.3.1 and 4.4.0, recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.assignors.members import Member as Subscriber
from kafkalearn.assignors.simple_share import assign_shared
from kafkalearn.base.java import timeline_order, timeline_slots
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator.share_model import Initialize
from kafkalearn.releases.lines import at_least
from kafkalearn.sharing import stored
from kafkalearn.sharing.events import GroupWritten, HeartbeatAnswer, ShareGroupHeartbeat
from kafkalearn.sharing.model import Group, Member, index_of, topic_of
from kafkalearn.sharing.turn import Turn

JOIN, LEAVE = 0, -1
LONGEST_MEMBER_ID = 36


def heartbeat(turn: Turn, event: ShareGroupHeartbeat) -> None:
    """A member lives, joins or leaves."""
    refused = _refused(turn, event)
    if refused is not None:
        turn.effects.append(refused)
    elif event.epoch == LEAVE:
        group = turn.cluster.group(event.group)
        assert group is not None
        fence(turn, group, event.member)
        turn.effects.append(HeartbeatAnswer(epoch=LEAVE))
    else:
        _beat(turn, event)


def _refused(turn: Turn, event: ShareGroupHeartbeat) -> HeartbeatAnswer | None:
    """The answer to a heartbeat that cannot be; None: it can."""
    if turn.settings.share_version == 0:
        return HeartbeatAnswer("UNSUPPORTED_VERSION")
    words = _invalid(event)
    if words is not None:
        return HeartbeatAnswer("INVALID_REQUEST", words)
    group = turn.cluster.group(event.group)
    if group is not None and group.kind != "share":
        return HeartbeatAnswer("GROUP_ID_NOT_FOUND", f"Group {event.group} is not a share group.")
    if group is None:
        if event.epoch == JOIN:
            return None
        name = "Group" if event.epoch == LEAVE else "Share group"
        return HeartbeatAnswer("GROUP_ID_NOT_FOUND", f"{name} {event.group} not found.")
    member = group.member(event.member)
    if event.epoch == JOIN:
        if member is None and len(group.members) >= turn.settings.max_group_size:
            words = f"The share group has reached its maximum capacity of {turn.settings.max_group_size} members."
            return HeartbeatAnswer("GROUP_MAX_SIZE_REACHED", words)
        return None
    if member is None:
        return HeartbeatAnswer("UNKNOWN_MEMBER_ID", f"Member {event.member} is not a member of group {event.group}.")
    return _wrong_epoch(event.epoch, member)


def _invalid(event: ShareGroupHeartbeat) -> str | None:
    if not event.member:
        return ""
    if not event.member.strip():
        return "MemberId can't be empty."
    if len(event.member) > LONGEST_MEMBER_ID:
        return ""
    if not event.group.strip():
        return "GroupId can't be empty."
    if event.rack is not None and not event.rack.strip():
        return "RackId can't be empty."
    if event.epoch < LEAVE:
        return "MemberEpoch is invalid."
    if event.epoch == JOIN and not event.topics:
        return "SubscribedTopicNames must be set in first request."
    return None


def _wrong_epoch(epoch: int, member: Member) -> HeartbeatAnswer | None:
    abandon = "The member must abandon all its partitions and rejoin."
    if epoch > member.epoch:
        return HeartbeatAnswer(
            "FENCED_MEMBER_EPOCH",
            f"The share group member has a greater member epoch ({epoch}) than the one known by the group coordinator "
            f"({member.epoch}). {abandon}",
        )
    if LEAVE < epoch < member.epoch and epoch != member.previous_epoch:
        return HeartbeatAnswer(
            "FENCED_MEMBER_EPOCH",
            f"The share group member has a smaller member epoch ({epoch}) than the one known by the group coordinator "
            f"({member.epoch}), and it does not match the previous member epoch ({member.previous_epoch}). {abandon}",
        )
    return None


# A heartbeat that is taken.


def new_group(turn: Turn, group: str) -> Group:
    """A group that nobody has joined yet."""
    epoch = turn.settings.first_group_epoch - 1
    return Group(group, epoch, epoch)


def _beat(turn: Turn, event: ShareGroupHeartbeat) -> None:
    group = turn.cluster.group(event.group) or new_group(turn, event.group)
    before = group.member(event.member)
    known = before or Member(event.member, 0, 0, ())
    topics = known.topics if event.topics is None else tuple(sorted(set(event.topics)))
    member = replace(
        known, topics=topics, rack=known.rack if event.rack is None else event.rack,
        times_out_ms=turn.cluster.now_ms + _session_timeout_ms(turn, event.group),
    )  # fmt: skip
    has_changed = before is None or (known.topics, known.rack) != (member.topics, member.rack)
    if has_changed:
        _write(turn, group, "MemberMetadata", member.id, rackId=member.rack, subscribedTopicNames=member.topics)
    is_bumped = known.topics != member.topics
    if group.assignment_epoch >= group.epoch or not at_least("4.3", turn.settings.release):
        is_bumped |= _has_unassigned(group)
    group = _with_member(group, member, has_changed)
    seen = _topics_seen(turn, group.members)
    is_bumped |= seen != group.topics_seen
    if is_bumped:
        group = replace(group, epoch=group.epoch + 1, topics_seen=seen)
        _write(turn, group, "Metadata", epoch=group.epoch, metadataHash="set" if seen else 0)
    group = _with_target(turn, group)
    group, reconciled = _reconciled(turn, group, member, is_bumped)
    turn.put_group(group)
    is_told = event.epoch == JOIN or event.topics is not None or reconciled.assigned != known.assigned
    turn.effects.append(
        HeartbeatAnswer(
            epoch=reconciled.epoch, interval_ms=_heartbeat_interval_ms(turn, group.id),
            assignment=reconciled.assigned if is_told else None,
        )
    )  # fmt: skip
    _initialize_new(turn, group)


def _with_member(group: Group, member: Member, is_written: bool) -> Group:
    """The group with a member as it is now; each record of one makes room in the map of members."""
    known = group.member(member.id)
    slot_count = timeline_slots(group.slot_count, len(group.members)) if is_written else group.slot_count
    if known is None:
        return replace(group, members=(*group.members, member), slot_count=slot_count)
    members = tuple(member if each.id == member.id else each for each in group.members)
    return replace(group, members=members, slot_count=slot_count)


def _session_timeout_ms(turn: Turn, group: str) -> int:
    return int(turn.configs(group).get("share.session.timeout.ms", turn.settings.session_timeout_ms))


def _heartbeat_interval_ms(turn: Turn, group: str) -> int:
    return int(turn.configs(group).get("share.heartbeat.interval.ms", turn.settings.heartbeat_interval_ms))


def _write(turn: Turn, group: Group, record: str, member: str = "", **value: object) -> None:
    turn.effects.append(GroupWritten(group.id, f"ShareGroup{record}", member, tuple(value.items())))


def _topics_seen(turn: Turn, members: Iterable[Member]) -> tuple[tuple[str, int], ...]:
    """The topics that there are of those subscribed to, and how many partitions each has: what the hash is made of."""
    topics = sorted({topic for each in members for topic in each.topics})
    return tuple((topic, len(turn.cluster.indexes(topic))) for topic in topics if turn.cluster.indexes(topic))


def _has_unassigned(group: Group) -> bool:
    """Whether partitions of subscribed topics are initialised that no member is to have, or the other way round."""
    if not group.members or not group.initialized:
        return False
    subscribed = {topic for each in group.members for topic in each.topics}
    assigned = {name for _, names in group.target for name in names}
    for topic in {topic_of(name) for name in group.initialized} & subscribed:
        wanted = {name for name in group.initialized if topic_of(name) == topic}
        if wanted != {name for name in assigned if topic_of(name) == topic}:
            return True
    return False


def _with_target(turn: Turn, group: Group) -> Group:
    """A new target for all members, if the epoch has moved and the last one is old enough."""
    interval = int(turn.configs(group.id).get("share.assignment.interval.ms", turn.settings.assignment_interval_ms))
    if group.assignment_epoch >= group.epoch or turn.cluster.now_ms < group.assigned_ms + interval:
        return group
    before = dict(group.target)
    target = assigned(turn, group)
    for member, names in target.items():
        if before.get(member) != names:
            _write(turn, group, "TargetAssignmentMember", member, topicPartitions=names)
    _write(turn, group, "TargetAssignmentMetadata", assignmentEpoch=group.epoch)
    return replace(group, target=tuple(target.items()), assignment_epoch=group.epoch, assigned_ms=turn.cluster.now_ms)


def assigned(turn: Turn, group: Group) -> dict[str, tuple[str, ...]]:
    """What each member is to have, by the assignor of share groups."""
    subscribed = {topic for each in group.members for topic in each.topics}
    partitions: dict[str, list[int]] = {}
    for name in group.initialized or ():
        if topic_of(name) in subscribed:
            partitions.setdefault(topic_of(name), []).append(index_of(name))
    before = dict(group.target)
    ids = dict(turn.settings.topic_ids)
    walked = timeline_order([each.id for each in group.members], group.slot_count)
    members = [
        Subscriber(
            each.id,
            [topic for topic in each.topics if topic in partitions],
            [
                TopicPartition(topic_of(name), index_of(name))
                for name in before.get(each.id, ())
                if topic_of(name) in partitions
            ],
        )
        for each in sorted(group.members, key=lambda one: walked.index(one.id))
    ]
    target = assign_shared(partitions, members, topic_ids=ids if set(partitions) <= set(ids) else None)
    return {each.id: tuple(sorted(f"{one.topic}-{one.partition}" for one in target[each.id])) for each in group.members}


def _reconciled(turn: Turn, group: Group, member: Member, is_bumped: bool) -> tuple[Group, Member]:
    """The member gets its target, at once and all of it."""
    if member.epoch != group.assignment_epoch:
        names = dict(group.target).get(member.id, ())
    elif is_bumped:
        names = member.assigned
    else:
        return group, member
    after = replace(
        member, assigned=tuple(name for name in names if topic_of(name) in member.topics),
        previous_epoch=member.epoch, epoch=group.assignment_epoch,
    )  # fmt: skip
    if after != member:
        _write(
            turn, group, "CurrentMemberAssignment", member.id, memberEpoch=after.epoch,
            previousMemberEpoch=after.previous_epoch, state=0, assignedPartitions=after.assigned,
        )  # fmt: skip
    return _with_member(group, after, after != member), after


# What is initialised.


def _initialize_new(turn: Turn, group: Group) -> None:
    """Partitions of subscribed topics that are not initialised are begun at the share coordinator."""
    subscribed = {topic for each in group.members for topic in each.topics}
    known = set(group.initialized or ())
    new = [
        each.name for each in turn.cluster.logs if topic_of(each.name) in subscribed and each.name not in known
    ]  # fmt: skip
    if new:
        known_topics = {topic_of(name) for name in known} if at_least("4.4", turn.settings.release) else set()
        initialize(turn, group, {name: 0 if topic_of(name) in known_topics else -1 for name in sorted(new)})


def initialize(turn: Turn, group: Group, starts: dict[str, int]) -> None:
    """Ask the share coordinator to begin these partitions, and note it before and after."""
    write_partitions(turn, group, initializing=tuple(starts))
    for name, start in starts.items():
        turn.ask(Initialize(stored.whose(turn.settings, group.id, name), group.epoch, start, turn.cluster.now_ms))
    group = replace(group, initialized=tuple(sorted({*(group.initialized or ()), *starts})))
    turn.put_group(group)
    write_partitions(turn, group)


def write_partitions(
    turn: Turn, group: Group, initializing: tuple[str, ...] = (), deleting: tuple[str, ...] = ()
) -> None:
    """Note which partitions are being initialised, are initialised, and which topics are being deleted."""
    _write(
        turn, group, "StatePartitionMetadata", initializingTopics=tuple(sorted(initializing)),
        initializedTopics=tuple(sorted(group.initialized or ())), deletingTopics=tuple(sorted(deleting)),
    )  # fmt: skip


# The end of a member.


def fence(turn: Turn, group: Group, member: str) -> None:
    """A member is gone; the others hear of it at their next heartbeats. What it holds is held on."""
    for record in ("CurrentMemberAssignment", "TargetAssignmentMember", "MemberMetadata"):
        turn.effects.append(GroupWritten(group.id, f"ShareGroup{record}", member, None))
    left = tuple(each for each in group.members if each.id != member)
    seen = _topics_seen(turn, left)
    group = replace(
        group, members=left, target=tuple(each for each in group.target if each[0] != member), epoch=group.epoch + 1,
        topics_seen=seen,
    )  # fmt: skip
    _write(turn, group, "Metadata", epoch=group.epoch, metadataHash="set" if seen else 0)
    if not left and at_least("4.4", turn.settings.release):
        group = replace(group, assignment_epoch=group.epoch, assigned_ms=-(2**31))
        _write(turn, group, "TargetAssignmentMetadata", assignmentEpoch=group.epoch)
    turn.put_group(group)


def time_out(turn: Turn) -> None:
    """Members whose time is over fall out."""
    for group in turn.cluster.groups:
        for member in group.members:
            if member.times_out_ms <= turn.cluster.now_ms:
                now = turn.cluster.group(group.id)
                assert now is not None
                fence(turn, now, member.id)
