"""The same script of a classic group led through the simulator, and what it led to in the same form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from kafkalearn.group.classic import (
    GroupDeleted,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    Settings,
    SyncGroup,
    TimePassed,
    check,
    start,
)
from kafkalearn.group.classic.effects import (
    Answer,
    CommitAnswered,
    DeleteAnswered,
    GroupWritten,
    HeartbeatAnswered,
    JoinAnswered,
    LeaveAnswered,
    SyncAnswered,
)
from kafkalearn.group.classic.events import ClassicEvent
from kafkalearn.group.classic.state import Group
from kafkalearn.group.classic.timers import next_deadline_ms
from kafkalearn.group_states import DEAD, STABLE

Step = Mapping[str, Any]

OLD_VERSION = 3  # of JoinGroup: the last that needs no member id first
GONE = {"state": DEAD, "members": []}


class ClassicScript:
    """A group, and what each client of a script was answered last."""

    def __init__(
        self,
        step: Callable[[Settings, Group, ClassicEvent], Group],
        settings: Settings,
        session_ms: int = 10_000,
        rebalance_ms: int = 300_000,
        newest_join: int = 9,
    ) -> None:
        """Begin with a group that nobody has asked for; the times count where a step names none."""
        self.step, self.settings, self.newest_join = step, settings, newest_join
        self.session_ms, self.rebalance_ms = session_ms, rebalance_ms
        self.group = start(settings)
        self.ids: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.past: list[Group] = []  # the group after every event

    def play(self, recorded_step: Step) -> dict[str, Any]:
        """What the step led to, in the form of the recording."""
        after = self.step(self.settings, self.group, self.event(recorded_step))
        self.take(after)
        return {
            "responses": sorted((self.response(answer) for answer in after.answers), key=str),
            "group": self.shown(after),
            "records": ["group-metadata" for each in after.effects if isinstance(each, GroupWritten)],
            "time_ms": after.now_ms,
        }

    def copy(self) -> ClassicScript:
        """One that goes on from here by itself."""
        other = copy(self)
        other.ids, other.labels, other.generations = dict(self.ids), dict(self.labels), dict(self.generations)
        other.past = list(self.past)
        return other

    def next_deadline_ms(self) -> int | None:
        """When the next timer of the group is due; None if none is running."""
        return next_deadline_ms(self.group)

    def play_live(self, seen: Step) -> dict[str, Any]:
        """The same for a step of a real broker: at its moment, and with all that came until the group was looked at."""
        sent = seen["step"]
        parts: list[ClassicEvent] = [TimePassed(max(0, seen["sent_ms"] - self.group.now_ms))]
        if sent["op"] not in ("sleep", "list"):
            parts.append(self.event(sent, next(iter(seen.get("drawn", ())), None)))
        responses = [{"response": "list", "group": None}] if sent["op"] == "list" else []
        for part in (*parts, TimePassed(max(0, seen["seen_ms"] - max(seen["sent_ms"], self.group.now_ms)))):
            self.take(self.step(self.settings, self.group, part))
            responses += [self.response(answer) for answer in self.group.answers]
            responses += [
                {"response": "delete", "error": each.error}
                for each in self.group.effects
                if isinstance(each, DeleteAnswered)
            ]
        if sent["op"] == "list":
            responses[0]["group"] = self.listed()
        is_described = "group" in seen  # some brokers take no DescribeGroups
        return {"responses": sorted(responses, key=str)} | ({"group": self.described()} if is_described else {})

    def take(self, after: Group) -> None:
        """Go on with the group, and let the clients hear their answers."""
        check(self.settings, after, self.group)
        self.group = after
        self.past.append(after)
        for answer in after.answers:
            if isinstance(answer, JoinAnswered) and answer.error in ("NONE", "MEMBER_ID_REQUIRED"):
                self.ids[answer.client] = answer.member_id
                self.labels[answer.member_id] = answer.client
                self.generations[answer.client] = answer.generation

    def event(self, done: Step, drawn_id: str | None = None) -> ClassicEvent:
        """The request of a step, with the member id that the broker has drawn for it, if it has drawn one."""
        client, op = done.get("c", "tool"), done["op"]
        member_id, instance_id = self.member_id(done), done.get("instance")
        generation = done.get("generation", self.generations.get(client, -1))
        match op:
            case "sleep":
                return TimePassed(done["ms"])
            case "heartbeat":
                return Heartbeat(client, member_id, generation, instance_id)
            case "leave":
                others = tuple((self.member_id(each), each.get("instance")) for each in done.get("others", ()))
                return LeaveGroup(client, member_id, instance_id, others)
            case "commit":
                return OffsetCommit(client, member_id, generation, instance_id, done.get("version", 9))
            case "delete":
                return GroupDeleted()
            case "sync":
                assigned = [
                    (self.ids[label], given) for label, given in done.get("assign", {}).items() if label in self.ids
                ]
                return SyncGroup(
                    client, member_id, generation, tuple(assigned), instance_id, protocol=done.get("protocol")
                )
            case "join":
                return JoinGroup(
                    client,
                    "" if done.get("fresh") else member_id,
                    done.get("session", self.session_ms),
                    done.get("rebalance", self.rebalance_ms),
                    tuple((name, done.get("topic", "t")) for name in done.get("protocols", ["range"])),
                    instance_id,
                    done.get("type", "consumer"),
                    version=self.newest_join if done.get("require_known", True) else 5 if instance_id else OLD_VERSION,
                    drawn_id=drawn_id,
                )
        raise ValueError(op)

    def member_id(self, done: Step) -> str:
        """The id in a request: as it was answered last, unless the step has another."""
        return done.get("member", self.ids.get(done.get("c", ""), ""))

    def response(self, answer: Answer) -> dict[str, Any]:
        """One answer as the vectors have it."""
        response: dict[str, Any] = {"client": answer.client, "error": answer.error}
        match answer:
            case HeartbeatAnswered():
                return {"response": "heartbeat", **response}
            case CommitAnswered():
                return {"response": "commit", **response}
            case LeaveAnswered(of_others=others):
                return {"response": "leave", **response, **({"others": list(others)} if others else {})}
            case SyncAnswered(assignment=assignment):
                given = {"assignment": assignment or ""} if answer.error == "NONE" else {}
                return {"response": "sync", **response, **given}
        response = {"response": "join", **response}
        if answer.error == "MEMBER_ID_REQUIRED":
            response["member"] = self.labels[answer.member_id]
        if answer.error == "NONE":
            response |= {
                "generation": answer.generation,
                "protocol": answer.protocol,
                "leader": self.labels[answer.leader],
            }
            if answer.members:
                response["members"] = sorted(self.labels[member_id] for member_id, _, _ in answer.members)
            if answer.is_assignment_skipped:
                response["skip_assignment"] = True
        return response

    def shown(self, group: Group) -> dict[str, Any] | None:
        """The group as the recorder of Kafka's own class has it."""
        if not group.is_known:
            return None
        labels = {**{each.member_id: each.client for each in group.members}, **self.labels}
        return {
            "state": group.state,
            "generation": group.generation,
            "members": sorted(labels[each.member_id] for each in group.members),
            "pending": len(group.pending),
            "leader": group.leader and labels[group.leader],
        }

    def described(self) -> dict[str, Any]:
        """The group as DescribeGroups has it."""
        group, shown = self.group, self.shown(self.group)
        if shown is None or group.state == DEAD:
            return GONE
        found = {name: shown[name] for name in ("state", "members")}
        if group.state != STABLE:
            return found
        labels = {**{each.member_id: each.client for each in group.members}, **self.labels}
        given = sorted([labels[each.member_id], each.assignment or ""] for each in group.members)
        return found | {"protocol": group.protocol, "assigned": given}

    def listed(self) -> dict[str, str] | None:
        """The group as ListGroups has it."""
        if not self.group.is_known or self.group.state == DEAD:
            return None
        return {"state": self.group.state, "protocol_type": self.group.protocol_type or "", "type": "classic"}
