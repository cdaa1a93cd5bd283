"""A KIP-848 group on a real broker, led by requests with chosen member ids.

What it led to has the form of tests/vectors/group/kip848-requests.json, so that the simulator is held to both in the
same way.
"""

from __future__ import annotations

import itertools
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

from kafkalearn.coordinator import offsets_partition
from kafkalearn.live.conform.mechanism import TooSlow
from kafkalearn.live.conform.mechanisms.groups.consumer_members import JOIN, LEAVE, Members
from kafkalearn.live.errors import NotReached
from kafkalearn.live.reading.brokers import refuse_error
from kafkalearn.live.reading.groups import OFFSETS_TOPIC
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.requests.values import commit, consumer_heartbeat
from kafkalearn.live.used_cluster import UsedCluster
from kafkalearn.live.waiting import wait_for
from kafkalearn.topic_partition import TopicPartition

Step = Mapping[str, Any]

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
            sent.get("assignor"), sent.get("rebalance_ms", -1), sent.get("instance"),
        )  # fmt: skip
        answer = self.kafka.ask(self.broker, "ConsumerGroupHeartbeat", values, sent.get("version"))
        error = error_name(answer["errorCode"])
        if error != "NONE":
            return {"error": error}
        found = {"error": error, "epoch": answer["memberEpoch"]}
        if answer["assignment"] is not None:
            found["assignment"] = self.by_name(answer["assignment"]["topicPartitions"])
        return found

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
        return found | {
            "assigned": self.by_name(member["assignment"]["topicPartitions"]),
            "target": self.by_name(member["targetAssignment"]["topicPartitions"]),
        }

    def by_name(self, partitions: list[Mapping[str, Any]]) -> dict[str, list[int]]:
        """Partitions by the names that their topics have in the steps."""
        found = {self.names[each["topicId"]]: sorted(each["partitions"]) for each in partitions}
        return {topic: found[topic] for topic in sorted(found)}


def _id_of_nothing(topic: str) -> str:
    """An id that no topic has, another for each name."""
    return urlsafe_b64encode(topic.encode().ljust(16, b"?")[:16]).decode().rstrip("=")
