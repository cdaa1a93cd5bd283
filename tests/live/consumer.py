"""A KIP-848 group on a real broker, led by requests with chosen member ids that are drawn at random.

What it led to has the form of tests/vectors/group/kip848-requests.json, so that the simulator is held to both in the
same way.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from kafkalearn.live import Kafka
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.requests.values import commit, consumer_heartbeat
from kafkalearn.topic_partition import TopicPartition

COMMIT_VERSION = 9
LONG_MS = 3_000_000
NEW, LEAVES, STEPS_ASIDE = 0, -1, -2  # member epochs that are none
INSTANCES = ("i1", "i2")
UNKNOWN = "m9999"


class LiveGroup:
    """A group on a broker, and what each of its members was answered."""

    def __init__(self, kafka: Kafka, group_id: str, topics: Mapping[str, int], topic_ids: Mapping[str, str]) -> None:
        self.kafka, self.group_id = kafka, group_id
        self.topics, self.topic_ids = dict(topics), dict(topic_ids)
        self.names = {each: name for name, each in self.topic_ids.items()}
        self.broker = kafka.coordinator(group_id)
        self.epochs: dict[str, int] = {}
        self.assigned: dict[str, dict[str, list[int]]] = {}
        self.instances: dict[str, str | None] = {}

    def case(self) -> dict:
        """What the simulator has to know beforehand."""
        topics = {name: {"partitions": count, "id": self.topic_ids[name]} for name, count in self.topics.items()}
        return {"release": self.kafka.release.version, "topics": topics}

    def play(self, step: dict) -> dict:
        """Send a step: the answer, and the group after it."""
        answer = {"heartbeat": self.heartbeat, "commit": self.commit, "delete": self.delete}[step["op"]](step)
        return {"step": step, "answer": answer, "group": self.described()}

    def heartbeat(self, step: dict) -> dict:
        owned = step.get("owned")
        values = consumer_heartbeat(
            self.group_id, step["member"], step["epoch"], step.get("topics"),
            None if owned is None else {self.topic_ids[topic]: numbers for topic, numbers in owned.items()},
            step.get("assignor"), step.get("rebalance_ms", -1), step.get("instance"),
        )  # fmt: skip
        answer = self.kafka.ask(self.broker, "ConsumerGroupHeartbeat", values)
        error = error_name(answer["errorCode"])
        if error != "NONE":
            return {"error": error}
        member, found = step["member"], {"error": error, "epoch": answer["memberEpoch"]}
        if answer["memberEpoch"] < 0:
            self.epochs.pop(member, None)
            return found
        self.epochs[member], self.instances[member] = answer["memberEpoch"], step.get("instance")
        if answer["assignment"] is not None:
            found["assignment"] = self.assigned[member] = self.by_name(answer["assignment"]["topicPartitions"])
        return found

    def commit(self, step: dict) -> dict:
        places = {TopicPartition(*each): 1 for each in step["partitions"]}
        values = commit(self.group_id, places, step["member"], step["epoch"])
        answer = self.kafka.ask(self.broker, "OffsetCommit", values, step["version"])
        errors = [
            [topic["name"], each["partitionIndex"], error_name(each["errorCode"])]
            for topic in answer["topics"]
            for each in topic["partitions"]
        ]
        return {"errors": sorted(errors)}

    def delete(self, step: dict) -> dict:
        answer = self.kafka.ask(self.broker, "DeleteGroups", {"groupsNames": [self.group_id]})
        return {"error": error_name(answer["results"][0]["errorCode"])}

    def described(self) -> dict:
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

    def member(self, member: dict) -> dict:
        found = {"epoch": member["memberEpoch"], "topics": sorted(member["subscribedTopicNames"])}
        if member["instanceId"] is not None:
            found["instance"] = member["instanceId"]
        return found | {
            "assigned": self.by_name(member["assignment"]["topicPartitions"]),
            "target": self.by_name(member["targetAssignment"]["topicPartitions"]),
        }

    def by_name(self, partitions: list[dict]) -> dict[str, list[int]]:
        found = {self.names[each["topicId"]]: sorted(each["partitions"]) for each in partitions}
        return {topic: found[topic] for topic in sorted(found)}


def drawn_step(draw: random.Random, group: LiveGroup, number: int) -> dict:
    """The next request: mostly what members do, sometimes with an epoch or a member that is wrong."""
    known = sorted(group.epochs)
    kind = draw.choice(["join"] * 3 + ["stays"] * 8 + ["leaves", "commits", "subscribes", "mistakes", "deletes"])
    topics = sorted(draw.sample(sorted(group.topics), draw.randint(1, len(group.topics))))
    if kind == "join" or not known:
        return joining(draw, f"m{number}", topics)
    member = draw.choice(known)
    instance = {"instance": group.instances[member]} if group.instances[member] else {}
    step = {"op": "heartbeat", "member": member, "epoch": group.epochs[member], **instance}
    match kind:
        case "stays":
            return step | draw.choice(
                [{}, {"owned": group.assigned.get(member, {})}, {"owned": group.assigned.get(member, {})}]
            )
        case "leaves":
            return step | {"epoch": draw.choice([LEAVES, STEPS_ASIDE]) if instance else LEAVES}
        case "subscribes":
            return step | {"topics": topics}
        case "mistakes":
            return draw.choice([
                {**step, "epoch": step["epoch"] + 1}, {**step, "epoch": max(1, step["epoch"] - 1)},
                {**step, "member": UNKNOWN}, {**joining(draw, member, topics), **instance},
            ])  # fmt: skip
        case "deletes":
            return {"op": "delete"}
    topic = draw.choice(topics)
    epoch = group.epochs[member] + draw.choice([0, 0, 0, 1, -1])
    places = [[topic, draw.randrange(group.topics[topic])]]
    return {"op": "commit", "member": member, "epoch": epoch, "partitions": places, "version": COMMIT_VERSION}


def joining(draw: random.Random, member: str, topics: list[str]) -> dict:
    step = {
        "op": "heartbeat", "member": member, "epoch": NEW, "topics": topics, "owned": {}, "rebalance_ms": LONG_MS,
    }  # fmt: skip
    if draw.random() < 0.3:
        step["instance"] = draw.choice(INSTANCES)
    if draw.random() < 0.4:
        step["assignor"] = draw.choice(["uniform", "range"])
    return step
