"""Requests to a KIP-848 group as events of the simulator, and what it answers and looks like in the same form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy, deepcopy
from typing import Any

from kafkalearn.group.consumer import (
    ConsumerGroupHeartbeat,
    GroupDeleted,
    OffsetCommit,
    OffsetFetch,
    OffsetsExpired,
    PartitionMoved,
    Settings,
    TimePassed,
    TopicChanged,
    check,
    start,
    step,
)
from kafkalearn.group.consumer.effects import CommitAnswered, DeleteAnswered, FetchAnswered, HeartbeatAnswered
from kafkalearn.group.consumer.events import ConsumerGroupEvent
from kafkalearn.group.consumer.state import CONSUMER, Group, Member
from kafkalearn.group.consumer.timers import next_deadline_ms
from kafkalearn.live.conform.mechanisms.groups.clocks import waits
from kafkalearn.live.conform.mechanisms.groups.consumer_members import Members
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import at_least

Step = Mapping[str, Any]
ByTopic = Mapping[str, Iterable[int]]
Past = tuple[Group, ConsumerGroupEvent, Group]


class ConsumerScript:
    """A group in the simulator, led by the steps of a case, with the names that the topics have on the broker."""

    def __init__(self, settings: Settings, names: Mapping[str, str], topics: Mapping[str, int]) -> None:
        """Begin with the topics that were there from the beginning, by their names in the steps."""
        self.settings, self.real = settings, dict(names)
        self.labels = {name: topic for topic, name in names.items()}
        self.group = start(settings)
        self.past: list[Past] = []  # every event, with the group before and after it
        self.members = Members()
        for topic, count in topics.items():
            self.members.take({"op": "topic", "topic": topic, "partitions": count}, {})

    def copy(self) -> ConsumerScript:
        """One that goes on from here by itself."""
        other = copy(self)
        other.past, other.members = list(self.past), deepcopy(self.members)
        return other

    def next_deadline_ms(self) -> int | None:
        """When the next timer of the group is due, or the assignor may run again; None if nothing is waited for."""
        due = [next_deadline_ms(self.group)]
        if self.group.assigned_at_ms is not None and self.settings.assignment_interval_ms:
            due.append(self.group.assigned_at_ms + self.settings.assignment_interval_ms)
        return min((each for each in due if each is not None and each >= self.group.now_ms), default=None)

    def play(self, seen: Step) -> dict[str, Any]:
        """What a step led to, at the times of the broker."""
        found: dict[str, Any] = {"step": seen["step"]}
        sent = self.members.request(seen["step"])
        self.pass_to(seen["sent_ms"])
        if sent is not None:
            event = event_of(self.translated(sent, seen))
            answer: dict[str, Any] = {}
            if event is not None:
                self.take(event)
                answer = self.labelled(answer_of(self.group) or {})
            if "id" in seen.get("answer", {}):
                answer["id"] = seen["answer"]["id"]
            self.members.take(sent, answer)
            found |= {"sent": sent, "answer": answer}
        self.pass_to(seen["seen_ms"])
        found["group"] = self.labelled(description_of(self.group, self.settings.release))
        return found

    def take(self, event: ConsumerGroupEvent) -> None:
        """Go on with an event; the state has to keep its invariants."""
        before, self.group = self.group, step(self.settings, self.group, event)
        check(self.settings, self.group, before)
        self.past.append((before, event, self.group))

    def pass_to(self, at_ms: int) -> None:
        """Let time pass until then, timer by timer; nothing, if it is later already."""
        for ms in waits(self, at_ms):
            self.take(TimePassed(ms))

    def translated(self, sent: Step, seen: Step) -> dict[str, Any]:
        """A request with the names that the topics have on the broker, and the ids that it has given them."""
        found = dict(sent)
        if sent["op"] == "topic":
            found["topic"] = self.name_of(sent["topic"])
            return found | ({"id": seen["answer"]["id"]} if "id" in seen.get("answer", {}) else {})
        if sent.get("topics") is not None:
            found["topics"] = [self.name_of(each) for each in sent["topics"]]
        if sent.get("owned") is not None:
            found["owned"] = {self.name_of(topic): numbers for topic, numbers in sent["owned"].items()}
        if "partitions" in sent:
            found["partitions"] = [[self.name_of(topic), number] for topic, number in sent["partitions"]]
        return found

    def name_of(self, topic: str) -> str:
        """The name on the broker; of ``A@1``, the first topic of the name A, too."""
        label, at, number = topic.partition("@")
        return self.real[label] + at + number

    def label_of(self, name: str) -> str:
        """The other way round; what is no topic stays as it is."""
        topic, at, number = name.partition("@")
        return self.labels.get(topic, topic) + at + number

    def labelled(self, value: Any) -> Any:
        """An answer or a description with the topics as the steps name them, in their order."""
        if isinstance(value, dict):
            found = {self.label_of(name): self.labelled(each) for name, each in value.items()}
            return {name: found[name] for name in sorted(found)} if value.keys() & self.labels.keys() else found
        if isinstance(value, list):
            found = [self.labelled(each) for each in value]
            return found if any(isinstance(each, int) for each in found) else sorted(found)
        return self.label_of(value) if isinstance(value, str) else value


def event_of(sent: Step) -> ConsumerGroupEvent | None:
    """The event that a request stands for; None: time passes only."""
    fields = dict(sent)
    match fields.pop("op"):
        case "heartbeat":
            owned = fields.get("owned")
            return ConsumerGroupHeartbeat(
                fields["member"],
                fields["epoch"],
                fields.get("topics"),
                None if owned is None else partitions_of(owned),
                fields.get("instance"),
                fields.get("rebalance_ms"),
                fields.get("assignor"),
            )
        case "commit":
            return OffsetCommit(fields["member"], fields["epoch"], fields["partitions"], fields["version"])
        case "fetch":
            return OffsetFetch(fields["member"], fields["epoch"])
        case "topic":
            return TopicChanged(fields["topic"], fields["partitions"], fields.get("id"))
        case "delete":
            return GroupDeleted()
        case "expire":
            return OffsetsExpired()
        case "move":
            return PartitionMoved()
    return None


def partitions_of(by_topic: ByTopic) -> tuple[TopicPartition, ...]:
    """Partitions that are listed by topic."""
    return tuple(TopicPartition(topic, number) for topic, numbers in by_topic.items() for number in numbers)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """The other way round."""
    places = tuple(partitions)
    return {
        topic: sorted(each.partition for each in places if each.topic == topic)
        for topic in sorted({each.topic for each in places})
    }


def answer_of(group: Group) -> dict[str, Any] | None:
    """The answer to the last request, as it was recorded; None: there was none."""
    for effect in group.effects:
        match effect:
            case HeartbeatAnswered(error="NONE"):
                answer = {"error": "NONE", "epoch": effect.member_epoch}
                is_new = effect.assignment is not None
                return answer | {"assignment": by_topic(effect.assignment)} if is_new else answer
            case FetchAnswered(error="NONE"):
                return {"error": "NONE", "committed": [list(each) for each in effect.committed]}
            case HeartbeatAnswered() | DeleteAnswered() | FetchAnswered():
                return {"error": effect.error}
            case CommitAnswered():
                return {"errors": sorted([*partition, error] for partition, error in effect.errors)}
    return None


def description_of(group: Group, release: str) -> dict[str, Any]:
    """What ConsumerGroupDescribe says of a group: topics that are gone are left out."""
    if group.group_type != CONSUMER:
        return {"error": "GROUP_ID_NOT_FOUND"}
    return {
        "state": group.state,
        "group_epoch": group.group_epoch,
        "assignment_epoch": group.assignment_epoch,
        "members": {member.member_id: _described(group, member, release) for member in group.members},
    }


def _described(group: Group, member: Member, release: str) -> dict[str, Any]:
    also_pending = member.pending_partitions if at_least("4.3", release) else ()
    held = [each for each in member.assigned_partitions + also_pending if each.topic in group.partition_counts]
    target = [each for each in group.target(member.member_id) if each.topic in group.partition_counts]
    description: dict[str, Any] = {"epoch": member.epoch, "topics": sorted(member.topics)}
    if member.instance_id is not None:
        description["instance"] = member.instance_id
    return description | {"assigned": by_topic(held), "target": by_topic(target)}
