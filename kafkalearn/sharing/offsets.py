"""Offsets of a share group: described, altered, deleted; the group deleted; topics that come, grow and go.

A leader that has a share-partition in memory does not hear of any of it, until its next write is refused.

Source: `GroupMetadataManager.alterShareGroupOffsets`, `sharePartitionsEligibleForOffsetDeletion`,
`GroupCoordinatorService.computeShareGroupLagAndBuildResponse` of 4.4.0, read; recorded.
"""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.coordinator.share_model import Delete
from kafkalearn.sharing import group as groups
from kafkalearn.sharing import stored
from kafkalearn.sharing.events import (
    AlterShareGroupOffsets,
    Answer,
    CreatePartitions,
    CreateTopic,
    DeleteGroup,
    DeleteShareGroupOffsets,
    DeleteTopic,
    DescribeShareGroupOffsets,
    GroupWritten,
)
from kafkalearn.sharing.model import Group, Log, topic_of
from kafkalearn.sharing.turn import Turn

NOT_HOSTED = "This server does not host this topic-partition."
NOTHING_TO_DELETE = "There is no offset information to delete."


def _other_kind(turn: Turn, group: str) -> Answer | None:
    found = turn.cluster.group(group)
    if found is not None and found.kind != "share":
        return Answer("GROUP_ID_NOT_FOUND", f"Group {group} is not a share group.")
    return None


def lag(turn: Turn, group: str, partition: str) -> int:
    """How many records are to be read and done: from what is stored, which is behind by the last move of the start.

    -1: nobody knows, as before the first write.
    """
    state, log = stored.state_of(turn.settings, turn.cluster, group, partition), turn.cluster.log(partition)
    return -1 if state is None or log is None else state.lag(log.end_offset)


def described(turn: Turn, group: str) -> dict[str, tuple[int, int, int]]:
    """Start offset, leader epoch and lag of each partition of a share group that is initialised."""
    found = turn.cluster.group(group)
    if found is None or found.kind != "share":
        return {}
    return {name: _one(turn, group, name) for name in found.initialized or ()}


def _one(turn: Turn, group: str, name: str) -> tuple[int, int, int]:
    state = stored.state_of(turn.settings, turn.cluster, group, name)
    if state is None:
        return -1, 0, -1
    return state.start_offset, state.leader_epoch, lag(turn, group, name)


def describe(turn: Turn, event: DescribeShareGroupOffsets) -> None:
    """Start offset, leader epoch and lag of partitions; without a lag in version 0."""
    found: dict[str, tuple[int, int, int]] = described(turn, event.group)
    if event.partitions is not None:
        found = {name: found.get(name, (-1, 0, -1)) for name in event.partitions}
    results = tuple((name, each if event.version >= 1 else each[:2]) for name, each in sorted(found.items()))
    turn.effects.append(Answer(results=results))


def alter(turn: Turn, event: AlterShareGroupOffsets) -> None:
    """Set where a group begins; a group that there is none of is made."""
    refused = _other_kind(turn, event.group)
    group = turn.cluster.group(event.group)
    if refused is None and group is not None and group.members:
        refused = Answer("NON_EMPTY_GROUP", "The group is not empty.")
    if refused is not None:
        turn.effects.append(refused)
        return
    group = group or groups.new_group(turn, event.group)
    turn.put_group(group)
    known = {name: start for name, start in event.offsets if turn.cluster.log(name) is not None}
    results = tuple(
        (name, "NONE" if name in known else ("UNKNOWN_TOPIC_OR_PARTITION", NOT_HOSTED)) for name, _ in event.offsets
    )
    if known:
        groups.initialize(turn, group, known)
    turn.effects.append(Answer(results=results))


def delete(turn: Turn, event: DeleteShareGroupOffsets) -> None:
    """Let a group forget topics; it must have no members."""
    group = turn.cluster.group(event.group)
    refused = _other_kind(turn, event.group)
    if refused is None and group is None:
        refused = Answer("GROUP_ID_NOT_FOUND", f"Group {event.group} not found.")
    if refused is None and group is not None and group.members:
        refused = Answer("NON_EMPTY_GROUP", "The group is not empty.")
    if refused is not None or group is None:
        turn.effects.append(refused)
        return
    results: list[tuple[str, object]] = []
    going = [topic for topic in event.topics if any(topic_of(name) == topic for name in group.initialized or ())]
    for topic in event.topics:
        words = NOTHING_TO_DELETE if turn.cluster.indexes(topic) else NOT_HOSTED
        results.append((topic, "NONE" if topic in going else ("UNKNOWN_TOPIC_OR_PARTITION", words)))
    if group.initialized is not None:
        forget_topics(turn, group, tuple(going))
    turn.effects.append(Answer(results=tuple(results)))


def forget_topics(turn: Turn, group: Group, topics: tuple[str, ...]) -> Group:
    """The states of topics go, and the group no longer has them as initialised."""
    gone = [name for name in group.initialized or () if topic_of(name) in topics]
    group = replace(group, initialized=tuple(name for name in group.initialized or () if name not in gone))
    turn.put_group(group)
    groups.write_partitions(turn, group, deleting=topics)
    for name in gone:
        turn.ask(Delete(stored.whose(turn.settings, group.id, name)))
    if topics:
        groups.write_partitions(turn, group)
    return group


def delete_group(turn: Turn, event: DeleteGroup) -> None:
    """An empty group goes, with its states."""
    group = turn.cluster.group(event.group)
    if group is None:
        turn.effects.append(Answer("GROUP_ID_NOT_FOUND"))
        return
    if group.members:
        turn.effects.append(Answer("NON_EMPTY_GROUP"))
        return
    if group.initialized is not None:
        topics = tuple(sorted({topic_of(name) for name in group.initialized}))
        group = replace(group, initialized=())
        groups.write_partitions(turn, group, deleting=topics)
        for log in turn.cluster.logs:
            if topic_of(log.name) in topics:
                turn.ask(Delete(stored.whose(turn.settings, group.id, log.name)))
    for record in ("TargetAssignmentMetadata", "StatePartitionMetadata", "Metadata"):
        turn.effects.append(GroupWritten(group.id, f"ShareGroup{record}", "", None))
    turn.change(groups=tuple(each for each in turn.cluster.groups if each.id != group.id))
    turn.effects.append(Answer())


def create_topic(turn: Turn, event: CreateTopic) -> None:
    """A topic is there, with empty partitions."""
    if turn.cluster.indexes(event.topic):
        turn.effects.append(Answer("TOPIC_ALREADY_EXISTS"))
        return
    _add(turn, event.topic, range(event.partition_count))
    others = tuple(each for each in turn.cluster.topic_configs if each[0] != event.topic)
    turn.change(topic_configs=tuple(sorted((*others, (event.topic, event.configs)))))
    turn.effects.append(Answer())


def create_partitions(turn: Turn, event: CreatePartitions) -> None:
    """A topic has more partitions; groups notice at a heartbeat."""
    have = len(turn.cluster.indexes(event.topic))
    if have == 0 or event.partition_count <= have:
        turn.effects.append(Answer("INVALID_PARTITIONS" if have else "UNKNOWN_TOPIC_OR_PARTITION"))
        return
    _add(turn, event.topic, range(have, event.partition_count))
    turn.effects.append(Answer())


def _add(turn: Turn, topic: str, indexes: range) -> None:
    count = turn.settings.broker_count
    new = tuple(Log(f"{topic}-{index}", leader=1 + index % count) for index in indexes)
    turn.change(logs=(*turn.cluster.logs, *new))


def delete_topic(turn: Turn, event: DeleteTopic) -> None:
    """A topic goes: its states by tombstones, and whatever leaders had in memory of it."""
    if not turn.cluster.indexes(event.topic):
        turn.effects.append(Answer("UNKNOWN_TOPIC_OR_PARTITION"))
        return
    for group in turn.cluster.groups:
        if any(topic_of(name) == event.topic for name in group.initialized or ()):
            kept = tuple(name for name in group.initialized or () if topic_of(name) != event.topic)
            turn.put_group(replace(group, initialized=kept))
            groups.write_partitions(turn, replace(group, initialized=kept))
    for name in [each.name for each in turn.cluster.logs if topic_of(each.name) == event.topic]:
        for kept in turn.cluster.stored:
            wanted = stored.whose(turn.settings, kept.state.share_partition.group_id, name)
            if kept.state.share_partition == wanted:
                turn.ask(Delete(wanted))
    for share in turn.cluster.share_partitions:
        if topic_of(share.key[1]) == event.topic:
            turn.forget(share.key)
    turn.change(logs=tuple(each for each in turn.cluster.logs if topic_of(each.name) != event.topic))
    turn.effects.append(Answer())
