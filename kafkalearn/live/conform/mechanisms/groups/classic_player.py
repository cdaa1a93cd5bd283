"""A classic group on a real broker, led request by request.

What a step led to has the form of tests/vectors/group/group-requests.json: its answers, and the group after it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from kafkalearn.group_states import STABLE
from kafkalearn.live.conform.mechanism import TooSlow
from kafkalearn.live.requests.connection import Connection, Pending
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.requests.values import commit, heartbeat, join_group, leave_group, sync_group
from kafkalearn.live.used_cluster import UsedCluster
from kafkalearn.offsets.records.protocol import Subscription, encode_subscription
from kafkalearn.topic_partition import TopicPartition

Step = Mapping[str, Any]

SETTLE_S = 0.06  # for a request to be answered that does not have to wait
SETTLE_ROUNDS = 5  # as often as such a request takes, at least
LOOK_S = 0.002
SLOW_MS = 800  # a step that takes longer may meet any timer
SESSION_MS = REBALANCE_MS = 5000
JOIN, JOIN_STATIC_WITHOUT_ID, JOIN_WITHOUT_ID, HEARTBEAT, LEAVE, COMMIT = 9, 5, 3, 4, 5, 9
SYNC, SYNC_WITH_PROTOCOL = 4, 5
LIST = 5  # the first that says of which type a group is
WITH_STATIC_MEMBERS = {"JoinGroup": 5, "SyncGroup": 3, "Heartbeat": 3, "LeaveGroup": 3, "OffsetCommit": 7}
"""The requests without which there is nothing to ask, and since which version they know instance ids."""
NEWEST_WITHOUT_ERROR = 5  # of DescribeGroups: an unknown group is Dead, and no error
ADMINISTRATORS = ("delete", "list")


class ClassicPlayer:
    """A group on a broker, and the clients of a script.

    Parameters
    ----------
    kafka : UsedCluster
        Where the group is.
    group_id : str
        Its name.
    topics : mapping of str to str
        The topics by the names that the steps have for them.
    """

    def __init__(self, kafka: UsedCluster, group_id: str, topics: Mapping[str, str]) -> None:
        """Nothing is sent but the question for the coordinator."""
        self.kafka, self.group_id, self.topics = kafka, group_id, dict(topics)
        self.broker = kafka.coordinator(group_id, TopicPartition(self.topics["t"], 0))
        self.began = time.monotonic()
        self.ids: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.labels: dict[str, str] = {}
        self.connections: list[tuple[str, Connection]] = []
        self.pending: list[tuple[str, str, Connection, Pending]] = []
        self.is_described = kafka.knows(self.broker, "DescribeGroups")

    def play(self, step: Step) -> dict[str, Any]:
        """Send a step, and look until nothing comes any more: the answers, the group, and the ids that are new."""
        sent_ms, known = self.now_ms(), set(self.labels)
        if step["op"] == "sleep":
            time.sleep(step["ms"] / 1000)
        else:
            self.send(step)
        self.settle()
        answers = self.answers()
        group = self.look()
        while late := self.answers():
            answers += late
            group = self.look()
        seen_ms = self.now_ms()
        if seen_ms - sent_ms > step.get("ms", 0) + SLOW_MS:
            raise TooSlow(f"a step of {step['op']} has taken {seen_ms - sent_ms} ms")
        responses = sorted((self.response(*each) for each in answers), key=str)
        drawn = [each for each in self.labels if each not in known]
        found = {"step": step, "sent_ms": sent_ms, "seen_ms": seen_ms, "responses": responses, **group}
        return found | ({"drawn": drawn} if drawn else {})

    def settle(self) -> None:
        """Wait until the request is answered that was sent last, or until it is plain that it has to wait.

        How long that is depends on the machine: on what a question takes that is answered at once.
        """
        began = time.monotonic()
        self.look()
        deadline = began + max(SETTLE_S, SETTLE_ROUNDS * (time.monotonic() - began))
        while time.monotonic() < deadline and not (self.pending and self.pending[-1][2].is_answered()):
            time.sleep(LOOK_S)

    def close(self) -> None:
        """Close the connections of all clients."""
        for _, connection in self.connections:
            connection.close()

    def now_ms(self) -> int:
        """Milliseconds since the group was asked for first."""
        return round((time.monotonic() - self.began) * 1000)

    def send(self, step: Step) -> None:
        """Send the request of a step, on a connection on which no answer is waited for."""
        label, op = step.get("c", "tool"), step["op"]
        connection = self.connection(label)
        name, values, version = self.request(op, label, step)
        if version is not None:
            version = self.kafka.version(self.broker, name, version)  # some brokers know older ones only
        self.pending.append((op, label, connection, connection.send(name, values, version)))

    def request(self, op: str, label: str, step: Step) -> tuple[str, dict[str, Any], int | None]:
        """The name, the fields and the version of a request."""
        member_id, generation = self.member_id(step), step.get("generation", self.generations.get(label, -1))
        instance_id = step.get("instance")
        match op:
            case "join":
                metadata = encoded_topics([self.topics[step.get("topic", "t")]])
                values = join_group(
                    self.group_id, "" if step.get("fresh") else member_id,
                    dict.fromkeys(step.get("protocols", ["range"]), metadata),
                    step.get("session", SESSION_MS), step.get("rebalance", REBALANCE_MS), instance_id,
                    step.get("type", "consumer"),
                )  # fmt: skip
                without_id = JOIN_STATIC_WITHOUT_ID if instance_id else JOIN_WITHOUT_ID
                return "JoinGroup", values, JOIN if step.get("require_known", True) else without_id
            case "sync":
                given = {
                    self.ids[each]: text.encode() for each, text in step.get("assign", {}).items() if each in self.ids
                }
                values = sync_group(self.group_id, member_id, generation, given, instance_id)
                if "protocol" not in step:
                    return "SyncGroup", values, SYNC
                return (
                    "SyncGroup",
                    values | {"protocolType": "consumer", "protocolName": step["protocol"]},
                    SYNC_WITH_PROTOCOL,
                )
            case "heartbeat":
                return "Heartbeat", heartbeat(self.group_id, member_id, generation, instance_id), HEARTBEAT
            case "leave":
                others = [(self.member_id(each), each.get("instance")) for each in step.get("others", [])]
                values = leave_group(self.group_id, {})
                members = [
                    {"memberId": one, "groupInstanceId": other} for one, other in ((member_id, instance_id), *others)
                ]
                return "LeaveGroup", values | {"members": members}, LEAVE
            case "commit":
                places = {TopicPartition(self.topics["t"], 0): 1}
                version = step.get("version", COMMIT)
                return "OffsetCommit", commit(self.group_id, places, member_id, generation, None, instance_id), version
            case "delete":
                return "DeleteGroups", {"groupsNames": [self.group_id]}, None
            case "list":
                return "ListGroups", {"statesFilter": [], "typesFilter": []}, None
        raise ValueError(op)

    def member_id(self, step: Step) -> str:
        """The id in a request: as it was answered last, unless the step has another."""
        return step.get("member", self.ids.get(step.get("c", ""), ""))

    def connection(self, label: str) -> Connection:
        """One on which no answer is waited for."""
        busy = {id(connection) for _, _, connection, _ in self.pending}
        free = [each for name, each in self.connections if name == label and id(each) not in busy]
        if not free:
            free = [self.kafka.connection(self.broker, client_id=label)]
            self.connections.append((label, free[0]))
        return free[0]

    def answers(self) -> list[tuple[str, str, dict[str, Any]]]:
        """What has come meanwhile."""
        come = [each for each in self.pending if each[2].is_answered()]
        self.pending = [each for each in self.pending if each not in come]
        found = [(op, label, connection.receive(request)) for op, label, connection, request in come]
        for op, label, answer in found:
            if op == "join" and error_name(answer["errorCode"]) in ("NONE", "MEMBER_ID_REQUIRED"):
                self.ids[label] = answer["memberId"]
                self.generations[label] = answer["generationId"]
                self.labels[answer["memberId"]] = label
        return found

    def look(self) -> dict[str, Any]:
        """The group, if the broker describes any."""
        if self.is_described:
            return {"group": self.group()}
        self.kafka.ask(self.broker, "Heartbeat", heartbeat(self.group_id, "", -1))  # what takes as long
        return {}

    def group(self) -> dict[str, Any]:
        """The group as DescribeGroups has it; what its members have been given only while it is Stable."""
        answer = self.kafka.ask(self.broker, "DescribeGroups", {"groups": [self.group_id]}, NEWEST_WITHOUT_ERROR)
        (found,) = answer["groups"]
        self.labels = {each["memberId"]: each["clientId"] for each in found["members"]} | self.labels
        labels = [self.labels[each["memberId"]] for each in found["members"]]  # a static member may be another by now
        described = {"state": found["groupState"], "members": sorted(labels)}
        if found["groupState"] != STABLE:
            return described
        assignments = [each["memberAssignment"].decode() for each in found["members"]]
        given = sorted([label, each] for label, each in zip(labels, assignments, strict=True))
        return described | {"protocol": found["protocolData"], "assigned": given}

    def response(self, op: str, label: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        """One answer as the vectors have it."""
        found = {"response": op} if op in ADMINISTRATORS else {"response": op, "client": label}
        match op:
            case "commit":
                (topic,) = answer["topics"]
                return found | {"error": error_name(topic["partitions"][0]["errorCode"])}
            case "delete":
                return found | {"error": error_name(answer["results"][0]["errorCode"])}
            case "list":
                return found | {"group": self.listed(answer)}
        error = error_name(answer["errorCode"])
        members = answer.get("members", [])
        if op == "leave" and error == "NONE":
            error, *others = [error_name(each["errorCode"]) for each in members]
            found |= {"others": others} if others else {}
        found["error"] = error
        if op == "sync" and error == "NONE":
            found["assignment"] = answer["assignment"].decode()
        if op == "join" and error == "MEMBER_ID_REQUIRED":
            found["member"] = self.labels[answer["memberId"]]
        if op == "join" and error == "NONE":
            found |= {
                "generation": answer["generationId"],
                "protocol": answer["protocolName"],
                "leader": self.labels[answer["leader"]],
            }
            if members:
                found["members"] = sorted(self.labels[each["memberId"]] for each in members)
            if answer.get("skipAssignment"):
                found["skip_assignment"] = True
        return found

    def listed(self, answer: Mapping[str, Any]) -> dict[str, str] | None:
        """The group as ListGroups has it; None: it is not among them."""
        names = {"groupState": "state", "protocolType": "protocol_type", "groupType": "type"}
        for each in answer["groups"]:
            if each["groupId"] == self.group_id:
                return {
                    ours: each[theirs].lower() if ours == "type" else each[theirs] for theirs, ours in names.items()
                }
        return None


def encoded_topics(names: Iterable[str]) -> bytes:
    """What a member sends of its subscription."""
    return encode_subscription(Subscription(tuple(names), version=0))
