"""The recorded scripts of the classic protocol, led through the simulator."""

from __future__ import annotations

from collections.abc import Callable

from kafkalearn.group.classic import (
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    Settings,
    SyncGroup,
    TimePassed,
    check,
    start,
)
from kafkalearn.group.classic.effects import GroupWritten, HeartbeatAnswered, JoinAnswered, LeaveAnswered, SyncAnswered
from kafkalearn.group.classic.events import ClassicEvent
from kafkalearn.group.classic.state import Group

OLD_VERSION = 3  # of JoinGroup: the last that needs no member id first


class Script:
    """A group, and what each client of a recorded script was answered last."""

    def __init__(
        self,
        step: Callable[[Settings, Group, ClassicEvent], Group],
        settings: Settings,
        session_ms: int = 10_000,
        rebalance_ms: int = 300_000,
    ) -> None:
        self.step, self.settings = step, settings
        self.session_ms, self.rebalance_ms = session_ms, rebalance_ms
        self.group = start(settings)
        self.ids: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.generations: dict[str, int] = {}

    def play(self, recorded_step: dict) -> dict:
        """What the step led to, in the form of the recording."""
        after = self.step(self.settings, self.group, self.event(recorded_step))
        self.take(after)
        return {
            "responses": sorted((self.response(answer) for answer in after.answers), key=str),
            "group": self.shown(after),
            "records": ["group-metadata" for each in after.effects if isinstance(each, GroupWritten)],
            "time_ms": after.now_ms,
        }

    def play_live(self, recorded_step: dict) -> dict:
        """The same for a step of a real broker: at its moment, and with all that came until the group was looked at."""
        parts = [TimePassed(recorded_step["sent_ms"] - self.group.now_ms)]
        if recorded_step["step"]["op"] != "sleep":
            parts.append(self.event(recorded_step["step"]))
        parts.append(TimePassed(recorded_step["seen_ms"] - recorded_step["sent_ms"]))
        responses = []
        for part in parts:
            self.take(self.step(self.settings, self.group, part))
            responses += [self.response(answer) for answer in self.group.answers]
        shown = self.shown(self.group) or {"state": "Dead", "members": []}
        return {
            "responses": sorted(responses, key=str),
            "group": {name: shown[name] for name in ("state", "members")},
        }

    def take(self, after: Group) -> None:
        """Go on with the group, and let the clients hear their answers."""
        check(self.settings, after, self.group)
        self.group = after
        for answer in after.answers:
            if isinstance(answer, JoinAnswered) and answer.error in ("NONE", "MEMBER_ID_REQUIRED"):
                self.ids[answer.client] = answer.member_id
                self.labels[answer.member_id] = answer.client
                self.generations[answer.client] = answer.generation

    def event(self, done: dict) -> JoinGroup | SyncGroup | Heartbeat | LeaveGroup | TimePassed:
        client, op = done.get("c", ""), done["op"]
        member_id = done.get("member", self.ids.get(client, ""))
        instance_id = done.get("instance")
        generation = done.get("generation", self.generations.get(client, -1))
        match op:
            case "sleep":
                return TimePassed(done["ms"])
            case "heartbeat":
                return Heartbeat(client, member_id, generation, instance_id)
            case "leave":
                return LeaveGroup(client, member_id, instance_id)
            case "sync":
                assigned = ((self.ids[label], given) for label, given in done.get("assign", {}).items())
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
                    version=9 if done.get("require_known", True) else 5 if instance_id else OLD_VERSION,
                )
        raise ValueError(op)

    def response(self, answer: object) -> dict:
        match answer:
            case HeartbeatAnswered(client, error):
                return {"response": "heartbeat", "client": client, "error": error}
            case LeaveAnswered(client, error):
                return {"response": "leave", "client": client, "error": error}
            case SyncAnswered(client, error, assignment):
                given = {"assignment": assignment or ""} if error == "NONE" else {}
                return {"response": "sync", "client": client, "error": error, **given}
        assert isinstance(answer, JoinAnswered)
        told = {"response": "join", "client": answer.client, "error": answer.error}
        if answer.error == "MEMBER_ID_REQUIRED":
            told["member"] = self.labels[answer.member_id]
        if answer.error == "NONE":
            told |= {"generation": answer.generation, "protocol": answer.protocol, "leader": self.labels[answer.leader]}
            if answer.members:
                told["members"] = sorted(self.labels[member_id] for member_id, _, _ in answer.members)
            if answer.is_assignment_skipped:
                told["skip_assignment"] = True
        return told

    def shown(self, group: Group) -> dict | None:
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


def expected(recorded_step: dict) -> dict:
    """The recorded step in the same form; members and answers that came together are sorted."""
    group = recorded_step["group"]
    responses = [{**each, "members": sorted(each["members"])} if "members" in each else each
                 for each in recorded_step.get("responses", [])]  # fmt: skip
    return {
        "responses": sorted(responses, key=str),
        "group": group and {**group, "members": sorted(group["members"])},
        "records": recorded_step.get("records", []),
        "time_ms": recorded_step["time_ms"],
    }
