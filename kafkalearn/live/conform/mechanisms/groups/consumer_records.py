"""The records that the events of a KIP-848 group write, worked out from the simulator's states before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kafkalearn.group.consumer import ConsumerGroupHeartbeat, OffsetCommit, Settings
from kafkalearn.group.consumer import effects as kinds
from kafkalearn.group.consumer.effects import CommitAnswered, MemberFenced, RecordWritten
from kafkalearn.group.consumer.events import ConsumerGroupEvent
from kafkalearn.group.consumer.heartbeats.heartbeat import REPLACEMENT
from kafkalearn.group.consumer.state import (
    JOIN,
    STABLE,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    Group,
    Held,
    Member,
)
from kafkalearn.live.conform.mechanisms.groups.consumer_player import COMMIT_WITH_IDS
from kafkalearn.live.conform.mechanisms.groups.written import Written, written
from kafkalearn.live.requests.connection import CLIENT_ID
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import at_least

CLIENT_HOST = "/127.0.0.1"
OFFSET = 1  # that every commit of the scripts has
HAS_TOPIC_IDS = (
    "4.3"  # the broker then looks up the id of a topic that a commit names; before, the commit has to bring it
)
TOMBSTONE = "tombstone:"
NUMBERS = {
    kinds.OFFSET_COMMIT: 1,
    kinds.CLASSIC_GROUP: 2,
    kinds.GROUP_METADATA: 3,
    kinds.TOPIC_METADATA: 4,
    kinds.MEMBER_METADATA: 5,
    kinds.TARGET_METADATA: 6,
    kinds.TARGET_MEMBER: 7,
    kinds.CURRENT_ASSIGNMENT: 8,
}
OF_MEMBERS = (kinds.MEMBER_METADATA, kinds.TARGET_MEMBER, kinds.CURRENT_ASSIGNMENT)
STATES = {STABLE: 0, UNREVOKED_PARTITIONS: 1, UNRELEASED_PARTITIONS: 2}


class ConsumerRecords:
    """Writes the records of one group.

    Parameters
    ----------
    settings : Settings
        Of the simulator.
    group_id : str
        As it stands in the keys.
    """

    def __init__(self, settings: Settings, group_id: str) -> None:
        """Nothing is written yet."""
        self.settings, self.group_id = settings, group_id

    def of(self, before: Group, event: ConsumerGroupEvent, after: Group) -> list[Written]:
        """What an event has written, in order."""
        member_id = event.member_id if isinstance(event, ConsumerGroupHeartbeat) else None
        effects = list(after.effects)
        found: list[Written] = []
        if _replaces(effects):
            old_id = before.static_id(event.instance_id)
            first = next(place for place, each in enumerate(effects) if each == REPLACEMENT[0])
            found += [self.plain(each.kind) for each in effects[:first]]
            found += self._replacement(before, before.member(old_id), event.member_id)
            effects = effects[first + len(REPLACEMENT) :]
        changed = iter(self._changed(before, after))
        committed = iter(_committed(before, event, after))
        epoch = before.group_epoch
        for each in effects:
            if isinstance(each, MemberFenced):
                member_id = each.member_id
            if not isinstance(each, RecordWritten):
                continue
            kind = each.kind.removeprefix(TOMBSTONE)
            is_gone = kind != each.kind
            if kind == kinds.OFFSET_COMMIT:
                found.append(self._offset(next(committed), is_gone, after, event))
            elif is_gone:
                found.append(self.plain(each.kind, member_id if kind in OF_MEMBERS else None))
            elif kind == kinds.GROUP_METADATA:
                epoch += 1
                found.append(self._of_group(kind, {"epoch": epoch}))
            elif kind == kinds.TARGET_MEMBER:
                found.append(self._target(after, next(changed)))
            elif kind == kinds.TARGET_METADATA:
                found.append(self._of_group(kind, {"assignmentEpoch": after.assignment_epoch}))
            elif kind == kinds.TOPIC_METADATA:
                found.append(self._of_group(kind, {"topics": _topics(after)}))
            elif kind == kinds.MEMBER_METADATA:
                found.append(self._metadata(after.member(member_id)))
            else:
                found.append(self._current(after, after.member(member_id)))
        return found

    def plain(self, kind: str, member_id: str | None = None) -> Written:
        """A tombstone."""
        number = NUMBERS[kind.removeprefix(TOMBSTONE)]
        key = {"group" if number == NUMBERS[kinds.CLASSIC_GROUP] else "groupId": self.group_id}
        return written(number, key if member_id is None else {**key, "memberId": member_id}, None)

    def _replacement(self, before: Group, old: Member, new_id: str) -> Iterator[Written]:
        """A static member goes, and another takes its place, with its target and what it had."""
        for each in REPLACEMENT[: len(OF_MEMBERS)]:
            yield self.plain(each.kind, old.member_id)
        yield self._metadata(old, new_id)
        yield self._of_member(kinds.TARGET_MEMBER, new_id, self._places(before, before.target(old.member_id)))
        yield self._current(before, old, new_id)

    def _changed(self, before: Group, after: Group) -> list[str]:
        former = dict(before.targets)
        return [
            member_id
            for member_id, target in after.targets
            if member_id not in former or set(target) != set(former[member_id])
        ]

    def _offset(self, place: TopicPartition, is_gone: bool, group: Group, event: ConsumerGroupEvent) -> Written:
        key = {"group": self.group_id, "topic": place.topic, "partition": place.partition}
        value: dict[str, Any] = {"offset": OFFSET, "metadata": "", "leaderEpoch": -1, "commitTimestamp": 0}
        is_by_id = isinstance(event, OffsetCommit) and event.version >= COMMIT_WITH_IDS
        if is_by_id or at_least(HAS_TOPIC_IDS, self.settings.release):
            value["topicId"] = _ids(group)[place.topic]
        return written(NUMBERS[kinds.OFFSET_COMMIT], key, None if is_gone else value)

    def _target(self, group: Group, member_id: str) -> Written:
        return self._of_member(kinds.TARGET_MEMBER, member_id, self._places(group, group.target(member_id)))

    def _places(self, group: Group, places: tuple[TopicPartition, ...]) -> dict[str, Any]:
        ids = _ids(group)
        by_id: dict[str, list[int]] = {}
        for topic, partition in places:
            by_id.setdefault(ids[topic], []).append(partition)
        return {
            "topicPartitions": [{"topicId": topic_id, "partitions": numbers} for topic_id, numbers in by_id.items()]
        }

    def _metadata(self, member: Member, member_id: str | None = None) -> Written:
        value = {
            "instanceId": member.instance_id,
            "rackId": None,
            "clientId": CLIENT_ID,
            "clientHost": CLIENT_HOST,
            "subscribedTopicNames": list(member.topics),
            "subscribedTopicRegex": "",
            "rebalanceTimeoutMs": member.rebalance_timeout_ms,
            "serverAssignor": member.assignor,
            "classicMemberMetadata": None,
        }
        return self._of_member(kinds.MEMBER_METADATA, member_id or member.member_id, value)

    def _current(self, group: Group, member: Member, new_id: str | None = None) -> Written:
        """What a member has; one that takes the place of another begins with no epoch."""
        value = {
            "memberEpoch": member.epoch if new_id is None else JOIN,
            "previousMemberEpoch": member.previous_epoch if new_id is None else 0,
            "state": STATES[member.state],
            "assignedPartitions": self._held(group, member.assigned),
            "partitionsPendingRevocation": self._held(group, member.pending_revocation),
        }
        return self._of_member(kinds.CURRENT_ASSIGNMENT, new_id or member.member_id, value)

    def _held(self, group: Group, held: tuple[Held, ...]) -> list[dict[str, Any]]:
        ids, has_epochs = _ids(group), at_least("4.3", self.settings.release)
        by_id: dict[str, dict[str, Any]] = {}
        for topic, partition, epoch in held:
            names = ("partitions", "assignmentEpochs") if has_epochs else ("partitions",)
            found = by_id.setdefault(ids[topic], {"topicId": ids[topic], **{name: [] for name in names}})
            found["partitions"].append(partition)
            if has_epochs:
                found["assignmentEpochs"].append(epoch)
        return list(by_id.values())

    def _of_group(self, kind: str, value: Mapping[str, Any]) -> Written:
        return written(NUMBERS[kind], {"groupId": self.group_id}, value)

    def _of_member(self, kind: str, member_id: str, value: Mapping[str, Any]) -> Written:
        return written(NUMBERS[kind], {"groupId": self.group_id, "memberId": member_id}, value)


def _replaces(effects: list[Any]) -> bool:
    places = range(len(effects) - len(REPLACEMENT) + 1)
    return any(tuple(effects[place : place + len(REPLACEMENT)]) == REPLACEMENT for place in places)


def _committed(before: Group, event: ConsumerGroupEvent, after: Group) -> tuple[TopicPartition, ...]:
    """The partitions whose offsets an event has written or removed."""
    if isinstance(event, OffsetCommit):
        (answer,) = (each for each in after.effects if isinstance(each, CommitAnswered))
        return tuple(place for place, error in answer.errors if error == kinds.NONE)
    return tuple(each for each in before.committed if each not in after.committed)


def _ids(group: Group) -> dict[str, str]:
    return {topic.name: topic.topic_id for topic in (*group.topics, *group.former_topics)}


def _topics(group: Group) -> list[dict[str, Any]]:
    return [
        {
            "topicId": each.topic_id,
            "topicName": each.name,
            "numPartitions": each.partition_count,
            "partitionMetadata": [],
        }
        for each in group.seen_topics
    ]
