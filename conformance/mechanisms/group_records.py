"""What groups write into ``__consumer_offsets``: the records of random runs, and the group that they make together.

First the form in which the records of a broker and of a simulator are compared; then the two that write the records of
a KIP-848 group and of a classic group, worked out from the simulator's states; then the question itself. Where Kafka
walks a hash map the order says nothing: topics, partitions and members inside a record are sorted here, and so are
records of one kind that follow each other and differ in their keys alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from hypothesis import strategies as st

from conformance.mechanism import Case, Mechanism
from conformance.mechanisms import classic_groups as classic
from conformance.mechanisms import consumer_groups as consumer
from conformance.mechanisms.classic_groups import encoded_topics
from conformance.mechanisms.consumer_groups import COMMIT_WITH_IDS, by_topic
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.formats.records import Record
from kafkalearn.groups import defaults
from kafkalearn.groups.classic import model
from kafkalearn.groups.consumer import ConsumerGroupHeartbeat, OffsetCommit, Settings, state
from kafkalearn.groups.consumer import events as kinds
from kafkalearn.groups.consumer.events import CommitAnswered, ConsumerGroupEvent, MemberFenced, RecordWritten, rules_of
from kafkalearn.groups.consumer.heartbeats import REPLACEMENT
from kafkalearn.groups.consumer.state import Group, Member
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.requests import CLIENT_ID
from kafkalearn.offsets import replay
from kafkalearn.offsets.records import decode, encode_key, encode_value, to_json
from kafkalearn.offsets.replay import Group as ReplayGroup
from kafkalearn.releases.lines import at_least

IN_ANY_ORDER = (1, 7)  # record types: commits, the targets of members
DRAWN = ("commitTimestamp", "currentStateTimestamp", "assignmentTimestamp", "metadataHash", "expireTimestamp")
"""Fields that only the broker can know: its times, and a hash that we do not compute."""

Written = dict[str, Any]


def written(number: int, key: Mapping[str, Any], value: Mapping[str, Any] | None) -> Written:
    """A record of a type, in the form in which records are compared."""
    return {"type": number, "key": to_json(key), "value": None if value is None else _sorted(to_json(value))}


def records_of(kafka: Kafka, group_id: str, partition_count: int) -> list[Record]:
    """All that is on the disk about a group."""
    broker_id = kafka.coordinator(group_id)
    found = kafka.disk(broker_id).records(OFFSETS_TOPIC, offsets_partition(group_id, partition_count))
    return [each for each in found if decode(each.key, each.value).group == group_id]


def in_form(records: Iterable[Record]) -> list[Written]:
    """Records of a disk in this form; one that our codec does not encode to its own bytes again says so."""
    found = []
    for each in records:
        record = decode(each.key, each.value)
        one = written(record.type.number, record.key, record.value)
        key = encode_key(record.type, record.key)
        value = None if record.value is None else encode_value(record.type, record.version, record.value)
        if (key, value) != (each.key, each.value):
            one["bytes"] = [each.key.hex(), None if each.value is None else each.value.hex()]
        found.append(one)
    return ordered(found)


def ordered(records: Iterable[Written]) -> list[Written]:
    """The same with those sorted that a broker writes in the order of a hash map."""
    found: list[Written] = []
    for (number, _), run in groupby(records, key=lambda each: (each["type"], each["value"] is None)):
        those = list(run)
        found += (
            sorted(those, key=lambda each: json.dumps(each["key"], sort_keys=True)) if number in IN_ANY_ORDER else those
        )
    return found


def with_drawn(ours: list[Written], seen: list[Written]) -> list[Written]:
    """Our records with what only the broker can know, from the record at the same place."""
    both = zip(ours, [*seen, *[{"value": None}] * len(ours)], strict=False)
    return [{**one, "value": _filled(one["value"], other["value"])} for one, other in both]


def _filled(value: dict[str, Any] | None, seen: dict[str, Any] | None) -> dict[str, Any] | None:
    if value is None or seen is None:
        return value
    return {**value, **{name: seen[name] for name in DRAWN if name in seen}}


def _sorted(value: Any) -> Any:
    """Lists in one order; the epochs of partitions go with their partitions."""
    if isinstance(value, dict):
        found = {name: _sorted(each) for name, each in value.items()}
        if found.get("assignmentEpochs"):
            pairs = sorted(zip(value["partitions"], value["assignmentEpochs"], strict=True))
            found |= {"partitions": [place for place, _ in pairs], "assignmentEpochs": [epoch for _, epoch in pairs]}
        return found
    if isinstance(value, list):
        return sorted((_sorted(each) for each in value), key=lambda each: json.dumps(each, sort_keys=True))
    return value


CLIENT_HOST = "/127.0.0.1"
OFFSET = 1  # that every commit of the scripts has
# The broker then looks up the id of a topic that a commit names; before, the commit has to bring it.
HAS_TOPIC_IDS = "4.3"
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
STATES = {state.STABLE: 0, state.UNREVOKED_PARTITIONS: 1, state.UNRELEASED_PARTITIONS: 2}


class ConsumerRecords:
    """Writes the records of one KIP-848 group.

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
            "memberEpoch": member.epoch if new_id is None else state.JOIN,
            "previousMemberEpoch": member.previous_epoch if new_id is None else 0,
            "state": STATES[member.state],
            "assignedPartitions": self._held(group, member.assigned),
            "partitionsPendingRevocation": self._held(group, member.pending_revocation),
        }
        return self._of_member(kinds.CURRENT_ASSIGNMENT, new_id or member.member_id, value)

    def _held(self, group: Group, held: tuple[state.Held, ...]) -> list[dict[str, Any]]:
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


OFFSET_COMMIT, GROUP_METADATA = 1, 2


class ClassicRecords:
    """Writes the records of one classic group.

    Parameters
    ----------
    release, group_id : str
        Which broker it is, and the group as it stands in the keys.
    topics, topic_ids : mapping of str to str
        The topics and their ids by their names in the steps; commits are for the first partition of ``"t"``.
    """

    def __init__(self, release: str, group_id: str, topics: Mapping[str, str], topic_ids: Mapping[str, str]) -> None:
        """Nothing is written yet."""
        self.release, self.group_id = release, group_id
        self.topics, self.topic_ids = topics, topic_ids
        self.has_committed = False

    def of(self, after: model.Group) -> list[Written]:
        """What an event has written, in order."""
        found: list[Written] = []
        for each in after.effects:
            match each:
                case model.CommitAnswered(error="NONE"):
                    self.has_committed = True
                    found.append(self._offset())
                case model.GroupWritten(is_tombstone=True):
                    is_deleted = model.DeleteAnswered(model.NONE) in after.effects
                    found += [self._offset(is_gone=True)] if is_deleted and self.has_committed else []
                    self.has_committed = False
                    found.append(written(GROUP_METADATA, {"group": self.group_id}, None))
                case model.GroupWritten():
                    found.append(written(GROUP_METADATA, {"group": self.group_id}, self._group(after)))
        return found

    def _offset(self, is_gone: bool = False) -> Written:
        key = {"group": self.group_id, "topic": self.topics["t"], "partition": 0}
        value: dict[str, Any] = {"offset": OFFSET, "metadata": "", "leaderEpoch": -1, "commitTimestamp": 0}
        if at_least(HAS_TOPIC_IDS, self.release):
            value["topicId"] = self.topic_ids["t"]
        return written(OFFSET_COMMIT, key, None if is_gone else value)

    def _group(self, group: model.Group) -> dict[str, Any]:
        """The group as it is now; before its first generation nothing of it is written but that it is there."""
        is_new = group.generation == 0
        return {
            "protocolType": "" if is_new else group.protocol_type,
            "generation": group.generation,
            "protocol": None if is_new or group.state == defaults.EMPTY else group.protocol,
            "leader": None if is_new or group.state == defaults.EMPTY else group.leader,
            "currentStateTimestamp": 0,
            "members": [] if is_new else [self._member(group, each) for each in group.members],
        }

    def _member(self, group: model.Group, member: model.Member) -> dict[str, Any]:
        return {
            "memberId": member.member_id,
            "groupInstanceId": member.instance_id,
            "clientId": member.client,
            "clientHost": CLIENT_HOST,
            "rebalanceTimeout": member.rebalance_timeout_ms,
            "sessionTimeout": member.session_timeout_ms,
            "subscription": encoded_topics([self.topics[dict(member.protocols)[group.protocol]]]),
            "assignment": (member.assignment or "").encode(),
        }


PARTITION_COUNT = 8  # so that a file has the records of few groups
CONFIG = {
    **classic.CONFIG,
    **consumer.CONFIG,
    **consumer.CONFIG_OF_4_3,
    "offsets.topic.num.partitions": PARTITION_COUNT,
    "group.coordinator.threads": 1,
}
KINDS = {"classic": classic, "consumer": consumer}


def cases(release: str) -> st.SearchStrategy[Case]:
    """A run of one of the two kinds of groups."""
    return st.one_of(
        st.fixed_dictionaries({"kind": st.just(kind), "script": each.cases(release)}) for kind, each in KINDS.items()
    )


def ask(kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    """The run, the records that it has left on the disk, and the group that they make."""
    return (_ask_classic if case["kind"] == "classic" else _ask_consumer)(kafka, case["script"], new_name)


def say(release: str, case: Case, seen: dict[str, Any]) -> dict[str, Any]:
    """The same by the simulators."""
    return (_say_classic if case["kind"] == "classic" else _say_consumer)(release, case["script"], seen)


def _ask_classic(kafka: Kafka, script: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    group_id = new_name("classic")
    steps = classic.play(kafka, script, group_id)
    records = records_of(kafka, group_id, PARTITION_COUNT)
    ids = kafka.metadata(classic.TOPICS.values()).topic_ids
    group = replay((each.key, each.value) for each in records).group(group_id)
    return {
        "group_id": group_id,
        "topic_ids": {topic: ids[name] for topic, name in classic.TOPICS.items()},
        "steps": steps,
        "records": in_form(records),
        "rebuilt": _rebuilt_classic(group) if _is_at_rest(steps) else None,
    }


def _say_classic(release: str, script: Case, seen: dict[str, Any]) -> dict[str, Any]:
    ours, steps = classic.played(classic.script_of(release), seen["steps"], classic.ClassicScript.play_live)
    writer = ClassicRecords(ours.settings.release, seen["group_id"], classic.TOPICS, seen["topic_ids"])
    records = [each for after in ours.past for each in writer.of(after)]
    return {
        **seen,
        "steps": steps,
        "records": with_drawn(ordered(records), seen["records"]),
        "rebuilt": _as_rebuilt(steps[-1]["group"]) if _is_at_rest(steps) else None,
    }


def _is_at_rest(steps: list[dict[str, Any]]) -> bool:
    """Whether a classic group is as it was written last: nothing is written of a rebalance before its end."""
    return steps[-1]["group"]["state"] in (defaults.STABLE, defaults.EMPTY)


def _as_rebuilt(described: dict[str, Any]) -> dict[str, Any]:
    """Without what the members were given: the scripts assign words, and `replay` reads partitions."""
    return {name: each for name, each in described.items() if name != "assigned"}


def _rebuilt_classic(group: ReplayGroup | None) -> dict[str, Any] | None:
    """A group of the records as DescribeGroups has it."""
    if group is None:
        return None
    found = {"state": group.state, "members": sorted(each.client_id for each in group.members)}
    return found if group.state == defaults.EMPTY else found | {"protocol": group.protocol}


def _ask_consumer(kafka: Kafka, script: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    group_id, names = new_name("consumer"), {topic: new_name(topic) for topic in consumer.TOPICS}
    player, steps = consumer.play(kafka, script, group_id, names)
    records = records_of(kafka, group_id, PARTITION_COUNT)
    labels = {player.ids[topic]: topic for topic in player.members.topics}
    group = replay(((each.key, each.value) for each in records), labels).group(group_id)
    return {
        "group_id": group_id,
        **steps,
        "records": in_form(records),
        "rebuilt": _rebuilt_consumer(group, names, set(labels.values()), kafka.release.version),
    }


def _say_consumer(release: str, script: Case, seen: dict[str, Any]) -> dict[str, Any]:
    ours, steps = classic.played(consumer.script_of(release, script, seen), seen["steps"], consumer.ConsumerScript.play)
    writer = ConsumerRecords(ours.settings, seen["group_id"])
    records = [each for past in ours.past for each in writer.of(*past)]
    described = steps[-1]["group"]
    members = {
        name: {**{key: each[key] for key in ("epoch", "topics", "target")}, "instance": each.get("instance")}
        for name, each in described.get("members", {}).items()
    }
    return {
        **seen,
        "steps": steps,
        "records": with_drawn(ordered(records), seen["records"]),
        "rebuilt": None if "error" in described else {**described, "members": members},
    }


def _rebuilt_consumer(
    group: ReplayGroup | None, names: dict[str, str], there: set[str], release: str
) -> dict[str, Any] | None:
    """A group of the records as ConsumerGroupDescribe has it, what its members have now left out.

    Where no assignment was written, its epoch is that of a new group.
    """
    if group is None or group.kind != "consumer":
        return None
    labels = {name: topic for topic, name in names.items()}
    return {
        "state": group.state,
        "group_epoch": group.epoch,
        "assignment_epoch": rules_of(release).first_epoch if group.target_epoch is None else group.target_epoch,
        "members": {
            each.member_id: {
                "epoch": each.epoch,
                "topics": sorted(labels[topic] for topic in each.subscribed),
                "target": by_topic(place for place in each.target if place.topic in there),
                "instance": each.instance_id,
            }
            for each in group.members
        },
    }


RECORDS = Mechanism(
    name="records of the offsets topic",
    rules=(
        "records of the offsets topic, decoded and encoded",
        "keys of commits and groups",
        "the groups in the records of a disk",
        "bytes of a commit",
        "the consumer protocol, KIP-848",
        "the classic coordinator",
    ),
    cases=cases,
    ask=ask,
    say=say,
    settings={"config": CONFIG},
    tries=3,
)
