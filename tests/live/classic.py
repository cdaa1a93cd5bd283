"""A classic group on a real broker, led request by request, and scripts of requests drawn at random.

A script and what it led to have the form of tests/vectors/group/group-requests.json, so that the simulator is held to
both in the same way.
"""

from __future__ import annotations

import random
import time

from kafkalearn.live import Kafka
from kafkalearn.live.requests.connection import Connection, Pending
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.requests.values import heartbeat, join_group, leave_group, sync_group

SETTLE_S = 0.06  # for a request to be answered that does not have to wait
SESSION_MS = REBALANCE_MS = 5000
JOIN, JOIN_STATIC_WITHOUT_ID, JOIN_WITHOUT_ID, HEARTBEAT, LEAVE = 9, 5, 3, 4, 5
SYNC = 4  # the last that does not have to name the protocol


class LiveScript:
    """A group on a broker, and the clients of a script."""

    def __init__(self, kafka: Kafka, group_id: str) -> None:
        self.kafka, self.group_id = kafka, group_id
        self.broker = kafka.coordinator(group_id)
        self.began = time.monotonic()
        self.ids: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.labels: dict[str, str] = {}
        self.leader = ""  # the member id of the leader of the last generation
        self.has_chosen_leader = False  # in the last step: the old one was gone or late, and the broker took another
        self.connections: list[tuple[str, Connection]] = []
        self.pending: list[tuple[str, str, Connection, Pending]] = []

    def play(self, step: dict) -> dict:
        """Send a step, and look until nothing comes any more: the answers, and the group."""
        sent_ms = self.now_ms()
        if step["op"] == "sleep":
            time.sleep(step["ms"] / 1000)
        else:
            self.send(step)
        time.sleep(SETTLE_S)
        before = self.leader
        answers = self.answers()
        group = self.group()
        while late := self.answers():
            answers += late
            group = self.group()
        seen_ms = self.now_ms()
        self.has_chosen_leader = before not in ("", self.leader)
        responses = sorted((self.response(*each) for each in answers), key=str)
        return {"step": step, "sent_ms": sent_ms, "seen_ms": seen_ms, "responses": responses, "group": group}

    def close(self) -> None:
        for _, connection in self.connections:
            connection.close()

    def now_ms(self) -> int:
        return round((time.monotonic() - self.began) * 1000)

    def send(self, step: dict) -> None:
        label, op = step["c"], step["op"]
        member_id = step.get("member", self.ids.get(label, ""))
        generation = step.get("generation", self.generations.get(label, -1))
        instance_id = step.get("instance")
        match op:
            case "join":
                protocols = {name: step.get("topic", "t").encode() for name in step.get("protocols", ["range"])}
                values = join_group(
                    self.group_id, "" if step.get("fresh") else member_id, protocols,
                    step.get("session", SESSION_MS), step.get("rebalance", REBALANCE_MS), instance_id,
                )  # fmt: skip
                without_id = JOIN_STATIC_WITHOUT_ID if instance_id else JOIN_WITHOUT_ID
                request = "JoinGroup", values, JOIN if step.get("require_known", True) else without_id
            case "sync":
                given = {self.ids.get(each, each): text.encode() for each, text in step.get("assign", {}).items()}
                request = "SyncGroup", sync_group(self.group_id, member_id, generation, given, instance_id), SYNC
            case "heartbeat":
                request = "Heartbeat", heartbeat(self.group_id, member_id, generation, instance_id), HEARTBEAT
            case "leave":
                request = "LeaveGroup", leave_group(self.group_id, {member_id: instance_id}), LEAVE
        connection = self.connection(label)
        self.pending.append((op, label, connection, connection.send(*request)))

    def connection(self, label: str) -> Connection:
        """One on which no answer is waited for."""
        busy = {id(connection) for _, _, connection, _ in self.pending}
        free = [each for name, each in self.connections if name == label and id(each) not in busy]
        if not free:
            free = [self.kafka.connection(self.broker, client_id=label)]
            self.connections.append((label, free[0]))
        return free[0]

    def answers(self) -> list[tuple[str, str, dict]]:
        """What has come meanwhile."""
        come = [each for each in self.pending if each[2].is_answered()]
        self.pending = [each for each in self.pending if each not in come]
        found = [(op, label, connection.receive(request)) for op, label, connection, request in come]
        for op, label, answer in found:
            if op == "join" and error_name(answer["errorCode"]) in ("NONE", "MEMBER_ID_REQUIRED"):
                self.ids[label] = answer["memberId"]
                self.generations[label] = answer["generationId"]
                self.labels[answer["memberId"]] = label
                self.leader = answer["leader"] or self.leader
        return found

    def group(self) -> dict:
        answer = self.kafka.ask(self.broker, "DescribeGroups", {"groups": [self.group_id]}, 5)
        (found,) = answer["groups"]
        self.labels |= {each["memberId"]: each["clientId"] for each in found["members"]}
        return {
            "state": found["groupState"], "members": sorted(each["clientId"] for each in found["members"]),
        }  # fmt: skip

    def response(self, op: str, label: str, answer: dict) -> dict:
        members = answer.get("members", [])
        error = error_name(answer["errorCode"])
        if op == "leave" and error == "NONE":
            error = error_name(members[0]["errorCode"])
        found = {"response": op, "client": label, "error": error}
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


def drawn_script(seed: int, length: int = 14) -> list[dict]:
    """Requests of four clients, two of them static at times, with lost ids, wrong generations and short sessions."""
    draw, steps = random.Random(seed), []
    instances = {"C": "i1", "D": "i2"} if draw.random() < 0.7 else {}  # a client is static or not, for good
    session, rebalance = draw.choice([(1500, 1000), (5000, 2500), (5000, 5000)])
    for _ in range(length):
        label = draw.choice("AABBCD")
        step = {"op": draw.choice(["join"] * 5 + ["sync"] * 4 + ["heartbeat"] * 2 + ["leave", "sleep"]), "c": label}
        if label in instances:
            step["instance"] = instances[label]
        match step["op"]:
            case "sleep":
                step = {"op": "sleep", "ms": draw.choice([150, 400, 1300])}
            case "join":
                step |= {
                    "session": session, "rebalance": rebalance,
                    "protocols": draw.choice([["range"], ["range", "roundrobin"], ["roundrobin", "range"]]),
                    "topic": draw.choice("ttu"), "require_known": draw.random() < 0.5,
                }  # fmt: skip
                if draw.random() < 0.15:
                    step["fresh"] = True
            case "sync":
                step["assign"] = {each: f"P{each}" for each in "ABCD" if draw.random() < 0.5}
        if step["op"] in ("sync", "heartbeat") and draw.random() < 0.1:
            step["generation"] = 7
        steps.append(step)
    return steps
