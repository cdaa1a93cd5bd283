"""KIP-848 groups: heartbeats with chosen member ids in any order, while topics come, grow, go and come again.

`Members` has what members know: the epochs that they were answered, and what they were assigned. The steps of a case
speak of them ("the epoch that it knows, and one more"), so that they make sense whatever came before; there they become
requests with numbers. `ConsumerPlayer` leads a group on a real broker, `ConsumerScript` one in the simulator; each has
such a book, and writes into it what it was answered. What a step led to has the form of
tests/vectors/group/kip848-requests.json, so that the simulator is held to both in the same way.
"""

from __future__ import annotations

import itertools
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from copy import copy, deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

from hypothesis import strategies as st

from conformance.mechanism import CannotBeAsked, Case, Limits, Mechanism, TooSlow, limits_of
from conformance.mechanisms.classic_groups import played, scripts, waits
from kafkalearn.assignors.registry import BROKER_ASSIGNORS
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator import offsets_partition
from kafkalearn.groups import consumer
from kafkalearn.groups.consumer.events import NAMES, ConsumerGroupEvent
from kafkalearn.groups.consumer.simulator import next_deadline_ms
from kafkalearn.groups.consumer.state import Group, Member
from kafkalearn.groups.patterns import REFRESH_AT_MOST_EVERY_MS
from kafkalearn.live.errors import NotReached, wait_for
from kafkalearn.live.jars import find_release
from kafkalearn.live.reading import refuse_error
from kafkalearn.live.request_values import commit, consumer_heartbeat, error_name
from kafkalearn.live.used_cluster import UsedCluster
from kafkalearn.releases.lines import at_least

Step = Mapping[str, Any]

JOIN, LEAVE, STEP_ASIDE = 0, -1, -2  # member epochs that are none
ALL, NOTHING, HALF, LOST = "all", "nothing", "half", "lost"


class Members:
    """The members of one group as they see themselves, and the topics of the cluster."""

    def __init__(self) -> None:
        """Nobody was answered anything; no topic was created."""
        self.epochs: dict[str, int] = {}
        self.former_epochs: dict[str, int] = {}  # before the last answer
        self.assigned: dict[str, dict[str, list[int]]] = {}
        self.former_assigned: dict[str, dict[str, list[int]]] = {}
        self.instances: dict[str, str | None] = {}
        self.topics: dict[str, int] = {}
        self.numbers: dict[str, int] = {}  # how often a topic of a name was created

    def request(self, step: Step) -> dict[str, Any] | None:
        """The request that a step stands for; None: there is nothing to do."""
        member = step.get("m")
        match step["op"]:
            case "join":
                return {
                    "op": "heartbeat", "member": member, "epoch": JOIN, "topics": step["topics"], "owned": {},
                    "rebalance_ms": step["rebalance_ms"],
                    **_given(step, "instance", "assignor", "version", "pattern"),
                }  # fmt: skip
            case "beat":
                epoch = self.former_epochs if step.get("owned") == LOST else self.epochs
                owned = {} if "owned" not in step else {"owned": self.owned(member, step["owned"])}
                sent = {"op": "heartbeat", "member": member, "epoch": epoch.get(member, 1) + step.get("more", 0)}
                return sent | owned | self._instance(member) | _given(step, "topics", "assignor", "version", "pattern")
            case "leave":
                epoch = STEP_ASIDE if step.get("aside") else LEAVE
                return {"op": "heartbeat", "member": member, "epoch": epoch, **self._instance(member)}
            case "commit" if member is None:
                return {"op": "commit", "member": "", "epoch": -1, **_given(step, "partitions", "version")}
            case "commit":
                epoch = self.epochs.get(member, 1) + step.get("more", 0)
                return {"op": "commit", "member": member, "epoch": epoch, **_given(step, "partitions", "version")}
            case "fetch" if member is None:
                return {"op": "fetch", "member": None, "epoch": -1}
            case "fetch":
                return {"op": "fetch", "member": member, "epoch": self.epochs.get(member, 1) + step.get("more", 0)}
            case "topic":
                return self._topic(step)
        return dict(step)

    def owned(self, member: str, which: str) -> dict[str, list[int]]:
        """What a member says that it owns: all that it was assigned, half of it, nothing, or what it had before."""
        assigned = (self.former_assigned if which == LOST else self.assigned).get(member, {})
        match which:
            case "nothing":
                return {}
            case "half":
                return {topic: numbers[: (len(numbers) + 1) // 2] for topic, numbers in assigned.items()}
        return assigned

    def _instance(self, member: str) -> dict[str, str]:
        instance = self.instances.get(member)
        return {} if instance is None else {"instance": instance}

    def _topic(self, step: Step) -> dict[str, Any] | None:
        """A topic is created, grows or is deleted: what the step asks for, if it can be done."""
        topic, wanted = step["topic"], step["partitions"]
        count = self.topics.get(topic)
        if wanted is None:
            return None if count is None else {"op": "topic", "topic": topic, "partitions": None}
        return None if count is not None and count >= wanted else {"op": "topic", "topic": topic, "partitions": wanted}

    def take(self, sent: Step, answer: Mapping[str, Any]) -> None:
        """Write down what a request was answered."""
        if sent["op"] == "topic":
            self._take_topic(sent)
        if sent["op"] != "heartbeat" or answer["error"] != "NONE":
            return
        member = sent["member"]
        if answer["epoch"] < 0:
            self.epochs.pop(member, None)
            return
        self.former_epochs[member] = self.epochs.get(member, 1)
        self.former_assigned[member] = self.assigned.get(member, {})
        self.epochs[member], self.instances[member] = answer["epoch"], sent.get("instance")
        if "assignment" in answer:
            self.assigned[member] = answer["assignment"]

    def _take_topic(self, sent: Step) -> None:
        topic = sent["topic"]
        if sent["partitions"] is None:
            del self.topics[topic]
            return
        if topic not in self.topics:
            self.numbers[topic] = self.numbers.get(topic, 0) + 1
            former = self.former_name(topic)
            for book in (self.assigned, self.former_assigned):
                for member, assigned in book.items():
                    book[member] = {former if name == topic else name: numbers for name, numbers in assigned.items()}
        self.topics[topic] = sent["partitions"]

    def former_name(self, topic: str) -> str:
        """What the topic is called that had this name before."""
        return f"{topic}@{self.numbers[topic] - 1}"


def _given(step: Step, *names: str) -> dict[str, Any]:
    return {name: step[name] for name in names if name in step}


FETCH_WITH_NAMES, COMMIT_WITH_IDS, DELETE_BY_NAMES = 9, 10, 5
NEEDED = {
    "ConsumerGroupHeartbeat": 0, "ConsumerGroupDescribe": 0, "OffsetCommit": 9, "OffsetFetch": FETCH_WITH_NAMES,
    "DeleteGroups": 0, "Metadata": 10, "CreateTopics": 2, "DeleteTopics": 1, "CreatePartitions": 0,
}  # fmt: skip
"""The requests without which there is nothing to ask, and from which version on."""
ADMIN_TIMEOUT_MS = 30_000
PROBE_MS = 60_000


class ConsumerPlayer:
    """A group on a broker, and what each of its members was answered.

    Parameters
    ----------
    kafka : UsedCluster
        Where the group is.
    group_id : str
        Its name.
    names : mapping of str to str
        For each name of a topic in the steps the one that it has on the broker.
    """

    def __init__(self, kafka: UsedCluster, group_id: str, names: Mapping[str, str]) -> None:
        """Nothing is sent but the question for the coordinator."""
        self.kafka, self.group_id, self.real = kafka, group_id, dict(names)
        self.ids: dict[str, str] = {}  # of topics, by the names in the steps; former ones, too
        self.names: dict[str, str] = {}  # the other way round
        self.broker = kafka.coordinator(group_id)
        self.members = Members()
        self.began = time.monotonic()
        self.probe_group = self._beside()
        self.probes = 0  # members that were asked for what the coordinator knows
        self.patterns: dict[str, str] = {}  # as the steps have them, by what was sent

    def create(self, topics: Mapping[str, int]) -> None:
        """Create the topics that are there from the beginning."""
        for topic, count in topics.items():
            self.send({"op": "topic", "topic": topic, "partitions": count})

    def play(self, step: Step) -> dict[str, Any]:
        """Send what a step stands for: the answer, and the group after it."""
        sent, sent_ms = self.members.request(step), self.now_ms()
        found: dict[str, Any] = {"step": dict(step), "sent_ms": sent_ms}
        if sent is not None:
            found |= {"sent": sent, "answer": self.send(sent)}
        found["group"] = self.described()
        return found | {"seen_ms": self.now_ms()}

    def send(self, sent: Step) -> dict[str, Any]:
        """Send a request with numbers, and write down what it was answered."""
        answer = getattr(self, sent["op"])(sent)
        self.members.take(sent, answer)
        return answer

    def now_ms(self) -> int:
        """Milliseconds since the beginning."""
        return round((time.monotonic() - self.began) * 1000)

    # --- one kind of request each

    def sleep(self, sent: Step) -> dict[str, Any]:
        """Let time pass."""
        time.sleep(sent["ms"] / 1000)
        return {}

    def heartbeat(self, sent: Step) -> dict[str, Any]:
        """ConsumerGroupHeartbeat."""
        owned, topics = sent.get("owned"), sent.get("topics")
        values = consumer_heartbeat(
            self.group_id, sent["member"], sent["epoch"],
            None if topics is None else [self.real[each] for each in topics],
            None if owned is None else {self.ids[topic]: numbers for topic, numbers in owned.items()},
            sent.get("assignor"), sent.get("rebalance_ms", -1), sent.get("instance"), self._real(sent.get("pattern")),
        )  # fmt: skip
        answer = self.kafka.ask(self.broker, "ConsumerGroupHeartbeat", values, sent.get("version"))
        if self.patterns:
            self.wait_matched()
        error = error_name(answer["errorCode"])
        if error != "NONE":
            return {"error": error}
        found = {"error": error, "epoch": answer["memberEpoch"]}
        if answer["assignment"] is not None:
            found["assignment"] = self.by_name(answer["assignment"]["topicPartitions"])
        return found

    def _real(self, pattern: str | None) -> str | None:
        """A pattern as it is sent."""
        real = None if pattern is None else real_pattern(pattern, self.real)
        if pattern and real:
            self.patterns[real] = pattern
        return real

    def wait_matched(self) -> None:
        """Wait until the coordinator has matched what there was to match, one group after the other.

        A group beside this one comes with a pattern, and waits for its match. The cluster needs to have one thread for
        that, and one partition of the offsets topic.
        """
        self.probes += 1
        group_id, member = f"{self.probe_group}-{self.probes}", "p"

        def beat(epoch: int, **fields: Any) -> dict[str, Any]:
            values = consumer_heartbeat(group_id, member, epoch, **fields)
            answer = self.kafka.ask(self.broker, "ConsumerGroupHeartbeat", values)
            refuse_error(answer, f"a member of {group_id!r}")
            return answer

        epoch = beat(JOIN, owned={}, rebalance_timeout_ms=PROBE_MS, pattern=OFFSETS_TOPIC)["memberEpoch"]

        def is_given() -> bool:
            nonlocal epoch
            answer = beat(epoch)
            epoch = answer["memberEpoch"]
            return bool(answer["assignment"] and answer["assignment"]["topicPartitions"])

        try:
            wait_for(is_given, True, "a topic that a pattern matches:")
        except NotReached as error:
            raise TooSlow(str(error)) from None
        beat(LEAVE)
        self.kafka.ask(self.broker, "DeleteGroups", {"groupsNames": [group_id]})

    def commit(self, sent: Step) -> dict[str, Any]:
        """OffsetCommit, for several partitions; version 10 names topics by their ids."""
        places = {TopicPartition(self.real[topic], number): 1 for topic, number in sent["partitions"]}
        values = commit(self.group_id, places, sent["member"], sent["epoch"])
        ids = {topic: self.ids.get(topic, _id_of_nothing(topic)) for topic in self.real}
        of_id = {topic_id: topic for topic, topic_id in ids.items()}
        of_name = {name: topic for topic, name in self.real.items()}
        if sent["version"] >= COMMIT_WITH_IDS:
            for each in values["topics"]:
                each["topicId"] = ids[of_name[each.pop("name")]]
        answer = self.kafka.ask(self.broker, "OffsetCommit", values, sent["version"])
        errors = [
            [of_name.get(each.get("name")) or of_id[each["topicId"]], place["partitionIndex"],
             error_name(place["errorCode"])]
            for each in answer["topics"]
            for place in each["partitions"]
        ]  # fmt: skip
        return {"errors": sorted(errors)}

    def fetch(self, sent: Step) -> dict[str, Any]:
        """OffsetFetch, of all that is committed."""
        group = {"groupId": self.group_id, "memberId": sent["member"], "memberEpoch": sent["epoch"], "topics": None}
        answer = self.kafka.ask(self.broker, "OffsetFetch", {"groups": [group]}, FETCH_WITH_NAMES)
        (of_group,) = answer["groups"]
        of_name = {name: topic for topic, name in self.real.items()}
        places = [
            [of_name[each["name"]], one["partitionIndex"]] for each in of_group["topics"] for one in each["partitions"]
        ]
        error = error_name(of_group["errorCode"])
        return {"error": error, "committed": sorted(places)} if error == "NONE" else {"error": error}

    def delete(self, sent: Step) -> dict[str, Any]:
        """DeleteGroups."""
        answer = self.kafka.ask(self.broker, "DeleteGroups", {"groupsNames": [self.group_id]})
        return {"error": error_name(answer["results"][0]["errorCode"])}

    def topic(self, sent: Step) -> dict[str, Any]:
        """A topic is created, gets more partitions, or is deleted; the id of one that is created."""
        topic, count = sent["topic"], sent["partitions"]
        name = self.real[topic]
        if count is None:
            self._delete(name)
            return {}
        if topic in self.members.topics:
            self._grow(name, count)
            return {}
        self._create(name, count)
        number = self.members.numbers.get(topic, 0)
        if number:
            self.ids[f"{topic}@{number}"] = self.ids[topic]
            self.names[self.ids[topic]] = f"{topic}@{number}"
        self.ids[topic] = self.kafka.metadata([name], self.broker).topic_ids[name]
        self.names[self.ids[topic]] = topic
        return {"id": self.ids[topic]}

    def _create(self, name: str, count: int) -> None:
        topic = {"name": name, "numPartitions": count, "replicationFactor": 1, "assignments": [], "configs": []}
        values = {"topics": [topic], "timeoutMs": ADMIN_TIMEOUT_MS}
        answer = self.kafka.ask(self.broker, "CreateTopics", values, timeout_s=ADMIN_TIMEOUT_MS / 1000)
        refuse_error(answer["topics"][0], f"topic {name!r}")
        self._wait_known(name, count)

    def _delete(self, name: str) -> None:
        values = {"topicNames": [name], "timeoutMs": ADMIN_TIMEOUT_MS}
        timeout_s = ADMIN_TIMEOUT_MS / 1000
        answer = self.kafka.ask(self.broker, "DeleteTopics", values, DELETE_BY_NAMES, timeout_s)
        refuse_error(answer["responses"][0], f"the end of topic {name!r}")
        self._wait_known(name, 0)

    def _grow(self, name: str, count: int) -> None:
        topic = {"name": name, "count": count, "assignments": None}
        values = {"topics": [topic], "timeoutMs": ADMIN_TIMEOUT_MS, "validateOnly": False}
        answer = self.kafka.ask(self.broker, "CreatePartitions", values, timeout_s=ADMIN_TIMEOUT_MS / 1000)
        refuse_error(answer["results"][0], f"more partitions of {name!r}")
        self._wait_known(name, count)

    def _wait_known(self, name: str, count: int) -> None:
        """Wait until the coordinator gives out as many partitions of a topic: it hears of topics after the broker.

        Each look is the first of a group that is new: only such a one is given its partitions at once in any case.
        """

        def given() -> int:
            self.probes += 1
            group_id, member = self.probe_group, f"p{self.probes}"
            values = consumer_heartbeat(group_id, member, JOIN, [name], {}, None, PROBE_MS)
            answer = self.kafka.ask(self.broker, "ConsumerGroupHeartbeat", values)
            refuse_error(answer, f"a member of {group_id!r}")
            self.kafka.ask(self.broker, "ConsumerGroupHeartbeat", consumer_heartbeat(group_id, member, LEAVE))
            self.kafka.ask(self.broker, "DeleteGroups", {"groupsNames": [group_id]})
            return sum(len(each["partitions"]) for each in answer["assignment"]["topicPartitions"])

        try:
            wait_for(given, count, f"partitions of {name!r} that the coordinator knows:")
        except NotReached as error:
            raise TooSlow(str(error)) from None

    def _beside(self) -> str:
        """A group in the same partition of the offsets topic: what its coordinator knows, it knows for both."""
        count = self.kafka.topics()[OFFSETS_TOPIC]
        names = (f"{self.group_id}-probe-{number}" for number in itertools.count())
        wanted = offsets_partition(self.group_id, count)
        return next(each for each in names if offsets_partition(each, count) == wanted)

    # --- what the broker says of the group

    def described(self) -> dict[str, Any]:
        """The group as ConsumerGroupDescribe has it."""
        words = {"groupIds": [self.group_id], "includeAuthorizedOperations": False}
        (group,) = self.kafka.ask(self.broker, "ConsumerGroupDescribe", words)["groups"]
        error = error_name(group["errorCode"])
        if error != "NONE":
            return {"error": error}
        return {
            "state": group["groupState"],
            "group_epoch": group["groupEpoch"],
            "assignment_epoch": group["assignmentEpoch"],
            "members": {each["memberId"]: self.member(each) for each in group["members"]},
        }

    def member(self, member: Mapping[str, Any]) -> dict[str, Any]:
        """One member of it."""
        of_name = {name: topic for topic, name in self.real.items()}
        found = {
            "epoch": member["memberEpoch"],
            "topics": sorted(of_name[each] for each in member["subscribedTopicNames"]),
        }
        if member["instanceId"] is not None:
            found["instance"] = member["instanceId"]
        if member["subscribedTopicRegex"]:
            found["pattern"] = self.patterns[member["subscribedTopicRegex"]]
        return found | {
            "assigned": self.by_name(member["assignment"]["topicPartitions"]),
            "target": self.by_name(member["targetAssignment"]["topicPartitions"]),
        }

    def by_name(self, partitions: list[Mapping[str, Any]]) -> dict[str, list[int]]:
        """Partitions by the names that their topics have in the steps."""
        found = {self.names[each["topicId"]]: sorted(each["partitions"]) for each in partitions}
        return {topic: found[topic] for topic in sorted(found)}


def real_pattern(pattern: str, names: Mapping[str, str]) -> str:
    """A pattern of the topics as the steps name them, for topics whose names begin with something more, all alike.

    >>> real_pattern("o.*|x", {"o1": "case-7-o1", "x": "case-7-x"})
    'case-7-(o.*|x)'
    """
    beginnings = {name.removesuffix(label) for label, name in names.items()}
    return f"{beginnings.pop()}({pattern})" if pattern and len(beginnings) == 1 else pattern


def _id_of_nothing(topic: str) -> str:
    """An id that no topic has, another for each name."""
    return urlsafe_b64encode(topic.encode().ljust(16, b"?")[:16]).decode().rstrip("=")


ByTopic = Mapping[str, Iterable[int]]
Past = tuple[Group, ConsumerGroupEvent, Group]


class ConsumerScript:
    """A group in the simulator, led by the steps of a case, with the names that the topics have on the broker."""

    def __init__(self, settings: consumer.Settings, names: Mapping[str, str], topics: Mapping[str, int]) -> None:
        """Begin with the topics that were there from the beginning, by their names in the steps."""
        self.settings, self.real = settings, dict(names)
        self.labels = {name: topic for topic, name in names.items()}
        self.group = consumer.start(settings)
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
        """When a timer is due, or the assignor may run or patterns be matched again; None if nothing is waited for."""
        due = [next_deadline_ms(self.group)]
        if self.group.assigned_at_ms is not None and self.settings.assignment_interval_ms:
            due.append(self.group.assigned_at_ms + self.settings.assignment_interval_ms)
        if self.group.matched_at_ms is not None:
            intervals = (REFRESH_AT_MOST_EVERY_MS, self.settings.regex_refresh_interval_ms)
            matches = (self.group.matched_at_ms + each + 1 for each in intervals)
            due += [each for each in matches if each > self.group.now_ms]  # at its moment it has come
        return min((each for each in due if each is not None and each >= self.group.now_ms), default=None)

    def play(self, seen: Step) -> dict[str, Any]:
        """What a step led to, at the times of the broker."""
        found: dict[str, Any] = {"step": seen["step"]}
        sent = self.members.request(seen["step"])
        self.pass_to(seen["sent_ms"])
        count = len(self.past)
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
        if "records" in seen:
            effects = [each for _, _, after in self.past[count:] for each in after.effects]
            found["records"] = [each.kind for each in effects if isinstance(each, consumer.events.RecordWritten)]
        return found

    def take(self, event: ConsumerGroupEvent) -> None:
        """Go on with an event; the state has to keep its invariants."""
        before, self.group = self.group, consumer.step(self.settings, self.group, event)
        consumer.check(self.settings, self.group, before)
        self.past.append((before, event, self.group))

    def pass_to(self, at_ms: int) -> None:
        """Let time pass until then, timer by timer; nothing, if it is later already."""
        for ms in waits(self, at_ms):
            self.take(consumer.TimePassed(ms))

    def translated(self, sent: Step, seen: Step) -> dict[str, Any]:
        """A request with the names that the topics have on the broker, and the ids that it has given them."""
        found = dict(sent)
        if sent["op"] == "topic":
            found["topic"] = self.name_of(sent["topic"])
            return found | ({"id": seen["answer"]["id"]} if "id" in seen.get("answer", {}) else {})
        if sent.get("pattern"):
            found["pattern"] = real_pattern(sent["pattern"], self.real)
            self.labels[found["pattern"]] = sent["pattern"]
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
        """The other way round; what is not a topic stays as it is."""
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
            return consumer.ConsumerGroupHeartbeat(
                fields["member"],
                fields["epoch"],
                fields.get("topics"),
                None if owned is None else partitions_of(owned),
                fields.get("instance"),
                fields.get("rebalance_ms"),
                fields.get("assignor"),
                fields.get("pattern"),
            )
        case "commit":
            return consumer.OffsetCommit(fields["member"], fields["epoch"], fields["partitions"], fields["version"])
        case "fetch":
            return consumer.OffsetFetch(fields["member"], fields["epoch"])
        case "topic":
            return consumer.TopicChanged(fields["topic"], fields["partitions"], fields.get("id"))
        case "delete":
            return consumer.GroupDeleted()
        case "expire":
            return consumer.OffsetsExpired()
        case "move":
            return consumer.PartitionMoved()
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
            case consumer.events.HeartbeatAnswered(error="NONE"):
                answer = {"error": "NONE", "epoch": effect.member_epoch}
                is_new = effect.assignment is not None
                return answer | {"assignment": by_topic(effect.assignment)} if is_new else answer
            case consumer.events.FetchAnswered(error="NONE"):
                return {"error": "NONE", "committed": [list(each) for each in effect.committed]}
            case (
                consumer.events.HeartbeatAnswered() | consumer.events.DeleteAnswered() | consumer.events.FetchAnswered()
            ):
                return {"error": effect.error}
            case consumer.events.CommitAnswered():
                return {"errors": sorted([*partition, error] for partition, error in effect.errors)}
    return None


def description_of(group: Group, release: str) -> dict[str, Any]:
    """What ConsumerGroupDescribe says of a group: topics that are gone are left out."""
    if group.group_type != consumer.state.CONSUMER:
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
    if member.pattern:
        description["pattern"] = member.pattern
    return description | {"assigned": by_topic(held), "target": by_topic(target)}


PATTERNS = ("A", "A|B", ".*", "[BC]", "D?", "(?!A)", "")
MATCHES_AFTER_MS, MATCHED_FOR_MS = 10_300, 14_000
MEMBERS = ("a", "b", "c", "d", "Aa", "BB")  # the last two have one hash code
INSTANCES = ("i1", "i2")
TOPICS = ("A", "B", "C")
MOST_MEMBERS = 5
MOST_STEPS = 40
SESSION_MS = 1200
SHORT_MS, LONG_MS = 400, 3_000_000  # rebalance timeouts
CONFIG = {
    "offsets.topic.num.partitions": 1,  # one coordinator thread: what it knows for one group, it knows for all
    "group.coordinator.append.linger.ms": 0,
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.heartbeat.interval.ms": 50,
    "group.consumer.min.session.timeout.ms": 1000,
    "group.consumer.session.timeout.ms": SESSION_MS,
    "group.consumer.max.size": MOST_MEMBERS,
}
CONFIG_OF_4_3 = {"group.consumer.assignment.interval.ms": 0, "group.consumer.assignor.offload.enable": False}
OWN = Limits({**CONFIG, **CONFIG_OF_4_3})
ASSIGNORS = "group.consumer.assignors"

_member = st.sampled_from(MEMBERS)
_topics = st.sets(st.sampled_from(TOPICS)).map(sorted)
_sometimes = st.sampled_from([False, False, True])


def cases(release: str, limits: Limits = OWN, patterns: tuple[str, ...] = ()) -> st.SearchStrategy[Case]:
    """Up to 40 steps of a group, and the topics that are there at first."""
    topics = st.dictionaries(st.sampled_from(TOPICS), st.integers(1, 7), min_size=1)
    steps = scripts(_steps(release, limits, patterns), MOST_STEPS)
    return st.fixed_dictionaries({"topics": topics, "steps": steps})


def _steps(release: str, limits: Limits, patterns: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    heartbeats = st.sampled_from([1] if patterns else [0, 1] if limits.takes("ConsumerGroupHeartbeat", 1) else [0])
    named, by_pattern = _topics, {}
    if patterns:
        named, by_pattern = st.one_of(_topics, st.none()), {"pattern": st.sampled_from(patterns)}
    join = _step(
        "join", m=_member, topics=named, rebalance_ms=st.sampled_from([LONG_MS, LONG_MS, SHORT_MS]),
        optional={"instance": st.sampled_from(INSTANCES), "assignor": _assignor(), "version": heartbeats, **by_pattern},
    )  # fmt: skip
    beat = _step("beat", m=_member, optional={"owned": st.sampled_from([ALL, ALL, NOTHING, HALF])})
    extra = {"owned": st.sampled_from([ALL, NOTHING]), "assignor": _assignor(), "version": heartbeats, **by_pattern}
    change = _step("beat", m=_member, topics=named, optional=extra)
    mistake = _step(
        "beat", m=_member, more=st.sampled_from([-1, 1, -2]), optional={"owned": st.sampled_from([ALL, NOTHING])}
    )
    lost = _step("beat", m=_member, owned=st.just(LOST))
    leave = _step("leave", m=_member, aside=st.booleans())
    place = st.tuples(st.sampled_from(TOPICS), st.integers(0, 7)).map(list)
    places = st.lists(place, min_size=1, max_size=3, unique_by=tuple)
    has_ids = at_least("4.2", release) and limits.takes("OffsetCommit", COMMIT_WITH_IDS)
    versions = st.sampled_from([9, 8, 10] if has_ids else [9, 8])
    commit = _step(
        "commit", m=st.one_of(_member, _member, st.none()), more=st.sampled_from([0, 0, 0, 1, -1]),
        partitions=places, version=versions,
    )  # fmt: skip
    fetch = _step("fetch", m=st.one_of(_member, st.none()), more=st.sampled_from([0, 0, 1]))
    topic = _step("topic", topic=st.sampled_from(TOPICS), partitions=st.one_of(st.none(), st.integers(1, 8)))
    sleep = _step("sleep", ms=st.sampled_from([0] * 15 + [MATCHES_AFTER_MS] if patterns else [200, 500, 1300]))
    delete = _step("delete")
    return st.one_of(
        join, beat, beat, change, beat, join, mistake, leave, beat, commit, lost, fetch, beat, topic, sleep, delete
    )


def _step(
    op: str, optional: dict[str, st.SearchStrategy[Any]] | None = None, **fields: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"op": st.just(op), **fields}, optional=optional)


def _assignor() -> st.SearchStrategy[str]:
    return st.sampled_from(["uniform", "range", "uniform", "range", "none"])


def ask(kafka: UsedCluster, case: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    """The topics as they were created, and what each step led to on the broker."""
    names = {topic: new_name(topic) for topic in TOPICS}
    return play(kafka, case, new_name("consumer"), names)[1]


def ask_by_pattern(kafka: UsedCluster, case: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    """The same with topics whose names begin alike, so that a pattern matches those of its case alone."""
    group_id = new_name("pattern")
    return play(kafka, case, group_id, {topic: f"{group_id}-{topic}" for topic in TOPICS})[1]


def play(kafka: UsedCluster, case: Case, group_id: str, names: dict[str, str]) -> tuple[ConsumerPlayer, dict[str, Any]]:
    """What each step led to on the broker, in a group of this name, with topics of these names."""
    player = ConsumerPlayer(kafka, group_id, names)
    player.create(case["topics"])
    ids = dict(player.ids)
    return player, {"names": names, "ids": ids, "steps": [player.play(each) for each in case["steps"]]}


def say(release: str, case: Case, seen: dict[str, Any], limits: Limits = OWN) -> dict[str, Any]:
    """The same by the simulator, at the times of the broker, with the names and ids of its topics."""
    return {**seen, "steps": played(script_of(release, case, seen, limits), seen["steps"], ConsumerScript.play)[1]}


def script_of(release: str, case: Case, seen: dict[str, Any], limits: Limits = OWN) -> ConsumerScript:
    """The simulator at the beginning of a case."""
    names, fields = seen["names"], limits_in_fields(limits)
    if not at_least("4.1", release):  # brokers of 4.0 do not know it
        fields.pop("regex_refresh_interval_ms", None)
    settings = consumer.Settings(
        find_release(release).version,
        **fields,
        topics={names[topic]: count for topic, count in case["topics"].items()},
        topic_ids={names[topic]: topic_id for topic, topic_id in seen["ids"].items()},
    )
    return ConsumerScript(settings, names, case["topics"])


def limits_in_fields(limits: Limits) -> dict[str, Any]:
    """The settings of the coordinator, as the simulator names them; what the limits do not say has its default."""
    numbers = limits.numbers(setting for setting in NAMES.values() if setting != ASSIGNORS)
    found: dict[str, Any] = {field: numbers[setting] for field, setting in NAMES.items() if setting in numbers}
    if ASSIGNORS in limits.settings:
        found["assignors"] = tuple(str(limits.settings[ASSIGNORS]).split(","))
    return found


def fit(kafka: UsedCluster) -> Mechanism:
    """The same with the limits and timers of a cluster that somebody else has set up."""
    limits = limits_of(kafka)
    limits.require(NEEDED)
    others = set(limits_in_fields(limits).get("assignors", ())) - set(BROKER_ASSIGNORS)
    if others:
        raise CannotBeAsked(f"its {ASSIGNORS} has assignors of its own: {', '.join(sorted(others))}")
    return replace(CONSUMER, cases=partial(cases, limits=limits), say=partial(say, limits=limits))


CONSUMER = Mechanism(
    name="KIP-848 groups",
    rules=(
        "the consumer protocol, KIP-848",
        "what a KIP-848 heartbeat is refused with",
        "which commits a KIP-848 group takes",
        "the order of members and the vote for an assignor in a KIP-848 group",
        "quirks of the KIP-848 coordinator, answered as it answers them",
    ),
    cases=cases,
    ask=ask,
    say=say,
    settings={"config": {**CONFIG, **CONFIG_OF_4_3}},
    tries=3,
    fit=fit,
)

OF_PATTERNS = Limits(
    {
        **CONFIG,
        **CONFIG_OF_4_3,
        "group.consumer.session.timeout.ms": LONG_MS,
        "group.consumer.max.session.timeout.ms": LONG_MS,
        "group.consumer.regex.refresh.interval.ms": MATCHED_FOR_MS,
        "group.coordinator.background.threads": 1,
    }
)
BY_PATTERN = Mechanism(
    name="KIP-848 groups with patterns",
    rules=("members of a KIP-848 group that subscribe by pattern",),
    cases=partial(cases, limits=OF_PATTERNS, patterns=PATTERNS),
    ask=ask_by_pattern,
    say=partial(say, limits=OF_PATTERNS),
    settings={"config": dict(OF_PATTERNS.settings)},
    tries=3,
)
