"""Classic groups: requests of four clients in any order, some of them static, with lost ids and wrong generations.

`ClassicPlayer` leads a group on a real broker request by request, `ClassicScript` leads the same script through the
simulator. What a step led to has the form of tests/vectors/group/group-requests.json: its answers, and the group after
it. Of a timer and a request that come at one moment only the broker knows which was first; so `play_near` lets its
clock be a little off ours. What this tolerance could hide, a timer that is wrong by little, `group_timers` finds: there
no request meets a timer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

from conformance.mechanism import Case, Limits, Mechanism, TooSlow, limits_of
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups import classic
from kafkalearn.groups.classic import Settings, step
from kafkalearn.groups.classic.members import next_deadline_ms
from kafkalearn.groups.classic.model import Answer, ClassicEvent, Group
from kafkalearn.groups.defaults import DEAD, STABLE
from kafkalearn.live.errors import Refused
from kafkalearn.live.jars import find_release
from kafkalearn.live.request_values import commit, error_name, heartbeat, join_group, leave_group, sync_group
from kafkalearn.live.requests import Connection, Pending
from kafkalearn.live.used_cluster import UsedCluster
from kafkalearn.offsets.protocol import Subscription, encode_subscription

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
LINGER = "group.coordinator.append.linger.ms"  # 5 where nobody set it in 4.0 and 4.1; since 4.2 as long as is worth it


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
    linger_ms : int
        How long the coordinator may keep what it writes, and so what it says of the group (`LINGER`).
    """

    def __init__(self, kafka: UsedCluster, group_id: str, topics: Mapping[str, str], linger_ms: int = 0) -> None:
        """Nothing is sent but the question for the coordinator."""
        self.kafka, self.group_id, self.topics, self.linger_ms = kafka, group_id, dict(topics), linger_ms
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
        time.sleep(2 * self.linger_ms / 1000)  # until it is written, and as long again to be read

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
        found, labels = self.answered_group()
        described = {"state": found["groupState"], "members": sorted(labels)}
        if found["groupState"] != STABLE:
            return described
        assignments = [each["memberAssignment"].decode() for each in found["members"]]
        given = sorted([label, each] for label, each in zip(labels, assignments, strict=True))
        return described | {"protocol": found["protocolData"], "assigned": given}

    def answered_group(self) -> tuple[dict[str, Any], list[str]]:
        """What DescribeGroups answers, and the label of each member: a static one may be another by now."""
        answer = self.kafka.ask(self.broker, "DescribeGroups", {"groups": [self.group_id]}, NEWEST_WITHOUT_ERROR)
        (found,) = answer["groups"]
        self.labels = {each["memberId"]: each["clientId"] for each in found["members"]} | self.labels
        return found, [self.labels[each["memberId"]] for each in found["members"]]

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
        if op == "leave" and error == "NONE":
            error, *others = [error_name(each["errorCode"]) for each in answer["members"]]
            found |= {"others": others} if others else {}
        found["error"] = error
        if op == "sync" and error == "NONE":
            found["assignment"] = answer["assignment"].decode()
        if op == "join" and error == "MEMBER_ID_REQUIRED":
            found["member"] = self.labels[answer["memberId"]]
        return found | (self.joined(answer) if op == "join" and error == "NONE" else {})

    def joined(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """What a member is answered that has joined."""
        leader = answer["leader"]
        found: dict[str, Any] = {
            "generation": answer["generationId"],
            "protocol": answer["protocolName"],
            "leader": self.labels[leader] if leader else None,
        }
        if answer["members"]:
            found["members"] = sorted(self.labels[each["memberId"]] for each in answer["members"])
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
        self.group = classic.start(settings)
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
            "records": ["group-metadata" for each in after.effects if isinstance(each, classic.model.GroupWritten)],
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
        parts: list[ClassicEvent] = [classic.TimePassed(max(0, seen["sent_ms"] - self.group.now_ms))]
        if sent["op"] not in ("sleep", "list"):
            parts.append(self.event(sent, next(iter(seen.get("drawn", ())), None)))
        responses = [{"response": "list", "group": None}] if sent["op"] == "list" else []
        for part in (*parts, classic.TimePassed(max(0, seen["seen_ms"] - max(seen["sent_ms"], self.group.now_ms)))):
            self.take(self.step(self.settings, self.group, part))
            responses += [self.response(answer) for answer in self.group.answers]
            responses += [
                {"response": "delete", "error": each.error}
                for each in self.group.effects
                if isinstance(each, classic.model.DeleteAnswered)
            ]
        if sent["op"] == "list":
            responses[0]["group"] = self.listed()
        is_described = "group" in seen  # some brokers take no DescribeGroups
        return {"responses": sorted(responses, key=str)} | ({"group": self.described()} if is_described else {})

    def take(self, after: Group) -> None:
        """Go on with the group, and let the clients hear their answers."""
        classic.check(self.settings, after, self.group)
        self.group = after
        self.past.append(after)
        for answer in after.answers:
            if isinstance(answer, classic.model.JoinAnswered) and answer.error in ("NONE", "MEMBER_ID_REQUIRED"):
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
                return classic.TimePassed(done["ms"])
            case "heartbeat":
                return classic.Heartbeat(client, member_id, generation, instance_id)
            case "leave":
                others = tuple((self.member_id(each), each.get("instance")) for each in done.get("others", ()))
                return classic.LeaveGroup(client, member_id, instance_id, others)
            case "commit":
                return classic.OffsetCommit(client, member_id, generation, instance_id, done.get("version", 9))
            case "delete":
                return classic.GroupDeleted()
            case "sync":
                assigned = [
                    (self.ids[label], given) for label, given in done.get("assign", {}).items() if label in self.ids
                ]
                return classic.SyncGroup(
                    client, member_id, generation, tuple(assigned), instance_id, protocol=done.get("protocol")
                )
            case "join":
                return classic.JoinGroup(
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
            case classic.model.HeartbeatAnswered():
                return {"response": "heartbeat", **response}
            case classic.model.CommitAnswered():
                return {"response": "commit", **response}
            case classic.model.LeaveAnswered(of_others=others):
                return {"response": "leave", **response, **({"others": list(others)} if others else {})}
            case classic.model.SyncAnswered(assignment=assignment):
                given = {"assignment": assignment or ""} if answer.error == "NONE" else {}
                return {"response": "sync", **response, **given}
        return joined(answer, self.labels)

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


def joined(answer: classic.model.JoinAnswered, labels: Mapping[str, str]) -> dict[str, Any]:
    """The answer to a JoinGroup as the vectors have it, its members by their labels."""
    found: dict[str, Any] = {"response": "join", "client": answer.client, "error": answer.error}
    if answer.error == "MEMBER_ID_REQUIRED":
        found["member"] = labels.get(answer.member_id, "?")
    if answer.error == "NONE":
        leader = None if answer.leader is None else labels.get(answer.leader, "?")
        found |= {"generation": answer.generation, "protocol": answer.protocol, "leader": leader}
        if answer.members:
            found["members"] = sorted(labels.get(each, "?") for each, _, _ in answer.members)
        if answer.is_assignment_skipped:
            found["skip_assignment"] = True
    return found


Seen = Mapping[str, Any]

NEAR_MS = 100  # by so much a timer may be late, or a request on its way
OF_THE_BROKER = ("step", "sent_ms", "seen_ms", "drawn")  # what a step is, when it was, and the ids that were drawn
SHIFTS_MS = tuple((sent, seen) for sent in (0, NEAR_MS, -NEAR_MS) for seen in (0, NEAR_MS, -NEAR_MS))


class HasTime(Protocol):
    """The state of a group."""

    now_ms: int


class Script(Protocol):
    """A group in the simulator that plays what was seen of a broker."""

    group: HasTime

    def copy(self) -> Script:
        """One that goes on from here by itself."""

    def next_deadline_ms(self) -> int | None:
        """When the next timer is due; None if none is running."""


One = TypeVar("One", bound=Script)


def play_near(script: One, seen: Seen, play: Callable[[One, Seen], dict[str, Any]]) -> tuple[One, dict[str, Any]]:
    """A step played at the time of the broker; if a timer is due about then, on the side where the broker had it.

    Returns
    -------
    tuple
        The script after the step, and what the step led to. Where no order of timer, request and look agrees with the
        broker, it is what came at the time that was measured.
    """
    first: tuple[One, dict[str, Any]] | None = None
    for sent_ms, seen_ms in SHIFTS_MS:
        trial = script.copy()
        shifted = {**seen, "sent_ms": seen["sent_ms"] + sent_ms, "seen_ms": seen["seen_ms"] + seen_ms}
        found = {**play(trial, shifted), **{name: seen[name] for name in OF_THE_BROKER if name in seen}}
        if found == seen:
            return trial, found
        first = first or (trial, found)
        if not _is_near(script, trial, seen):
            break
    assert first is not None
    return first


def played(
    script: One, seen: Iterable[Seen], play: Callable[[One, Seen], dict[str, Any]]
) -> tuple[One, list[dict[str, Any]]]:
    """The simulator after all steps, and what each led to."""
    steps = []
    for each in seen:
        script, found = play_near(script, each, play)
        steps.append(found)
    return script, steps


def waits(script: Script, at_ms: int) -> Iterator[int]:
    """How long it is to each timer that is due until a time, and then to that time: so each acts at its own moment.

    Between two of them the caller lets the time pass that it was given.
    """
    while (due_ms := script.next_deadline_ms()) is not None and due_ms <= at_ms:
        yield due_ms - script.group.now_ms
    yield max(0, at_ms - script.group.now_ms)


def _is_near(before: Script, after: Script, seen: Seen) -> bool:
    """Whether a timer is due about the time of a step."""
    due = [each for each in (before.next_deadline_ms(), after.next_deadline_ms()) if each is not None]
    return any(seen["sent_ms"] - NEAR_MS <= each <= seen["seen_ms"] + NEAR_MS for each in due)


Steps = st.SearchStrategy[list[dict[str, Any]]]


def scripts(steps: st.SearchStrategy[dict[str, Any]], most: int) -> Steps:
    """Up to so many steps; every other list has at least half of them, and shrinks to a short one.

    Hypothesis draws short ones, and a group needs a history to go wrong.
    """
    return st.one_of(st.lists(steps, min_size=1, max_size=most), st.lists(steps, min_size=most // 2, max_size=most))


CLIENTS = "ABCD"
INSTANCES = {"C": "i1", "D": "i2"}  # of the clients that are static, if any are
TOPICS = {"t": "conform-t", "u": "conform-u"}  # that the steps speak of
NOBODY = "nobody"
MOST_MEMBERS = 3
MOST_STEPS = 20
SHORTEST_SESSION_MS = 500
CONFIG = {
    "group.initial.rebalance.delay.ms": 0,
    LINGER: 0,  # else a group is described before the write that made it so
    "group.min.session.timeout.ms": SHORTEST_SESSION_MS,
    "group.max.size": MOST_MEMBERS,
}
OWN = Limits(CONFIG)
SPARE_MS = 200  # by so much a sleep is longer than the timer that it is for

_client = st.sampled_from(CLIENTS)
TIMEOUTS_MS = ((5000, 5000), (5000, 2500), (1500, 1000))  # of session and rebalance
SLEEPS_MS = (150, 400, 1300)
TOOLS = (("list", "ListGroups", LIST), ("delete", "DeleteGroups", 0))

_rarely = st.sampled_from([False, False, False, False, False, False, True])


def cases(release: str, limits: Limits = OWN) -> st.SearchStrategy[Case]:
    """Scripts of up to 20 steps; a client is static or not for the whole of one.

    Where a new group waits for more members, every other script begins with members and that wait.
    """
    settings = settings_of(release, limits)
    shortest_ms, delay_ms = settings.group_min_session_timeout_ms, settings.group_initial_rebalance_delay_ms
    sessions = [(max(session_ms, shortest_ms), rebalance_ms) for session_ms, rebalance_ms in TIMEOUTS_MS]
    timeouts = st.sampled_from([*sessions, (max(shortest_ms - 1, 0), 1000)])
    of_the_broker = [each + SPARE_MS for each in (delay_ms, shortest_ms) if each > max(SLEEPS_MS)]
    steps = _steps(limits, SLEEPS_MS + tuple(of_the_broker))
    openings: st.SearchStrategy[list[dict[str, Any]]] = st.just([])
    if delay_ms:
        wait = {"op": "sleep", "ms": delay_ms + SPARE_MS}
        openings |= st.lists(_joins(), min_size=1, max_size=4).map(lambda joins: [*joins, dict(wait)])
    whole = scripts(steps, MOST_STEPS)
    return st.builds(_script, timeouts, st.booleans(), st.builds(list.__add__, openings, whole) if delay_ms else whole)


def _script(timeouts: tuple[int, int], are_static: bool, steps: list[dict[str, Any]]) -> Case:
    session_ms, rebalance_ms = timeouts
    for each in steps:
        for one in (each, *each.get("others", ())):
            if are_static and one.get("c") in INSTANCES:
                one["instance"] = INSTANCES[one["c"]]
    return {"session_ms": session_ms, "rebalance_ms": rebalance_ms, "steps": steps}


def _joins() -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        _join, _client, st.booleans(), st.sampled_from(_PROTOCOLS), st.sampled_from("ttu"), _rarely, _rarely
    )


def _steps(limits: Limits, sleeps_ms: tuple[int, ...]) -> st.SearchStrategy[dict[str, Any]]:
    join = _joins()
    named = ["range", "roundrobin"] if limits.takes("SyncGroup", SYNC_WITH_PROTOCOL) else []
    assignment = st.sets(_client).map(lambda labels: {label: f"P{label}" for label in sorted(labels)})
    sync = st.builds(_sync, _client, assignment, _mistakes(), st.sampled_from([None] * 5 + named))
    beat = st.builds(_request, st.just("heartbeat"), _client, _mistakes())
    other = st.builds(lambda label, mistake: {"c": label} | mistake, _client, _mistakes())
    leave = st.builds(_leave, _client, _mistakes(), st.one_of(st.just([]), st.lists(other, max_size=2)))
    versions = st.sampled_from([limits.newest("OffsetCommit", version) for version in (COMMIT, COMMIT - 1)])
    commit = st.builds(_commit, _client, _mistakes(), versions, st.sampled_from([False, False, True]))
    sleep = st.sampled_from([{"op": "sleep", "ms": ms} for ms in sleeps_ms]).map(dict)
    tools = [{"op": op} for op, request, version in TOOLS if limits.takes(request, version)]
    tool = st.sampled_from(tools).map(dict) if tools else st.nothing()
    return st.one_of(join, sync, join, beat, commit, join, sync, leave, join, sync, tool, sleep)


_PROTOCOLS = (("range",), ("range", "roundrobin"), ("roundrobin", "range"), ("range",), ("sticky",), ())


def _mistakes() -> st.SearchStrategy[dict[str, Any]]:
    """Mostly none; a generation that is not the group's, or the id of nobody."""
    return st.sampled_from([{}] * 7 + [{"generation": 7}, {"member": NOBODY}, {"member": ""}]).map(dict)


def _join(
    label: str, knows_ids: bool, protocols: tuple[str, ...], topic: str, is_fresh: bool, is_other_type: bool
) -> dict[str, Any]:
    joining = {"op": "join", "c": label, "protocols": list(protocols), "topic": topic, "require_known": knows_ids}
    return joining | ({"fresh": True} if is_fresh else {}) | ({"type": "connect"} if is_other_type else {})


def _sync(label: str, assign: dict[str, str], mistake: dict[str, Any], protocol: str | None) -> dict[str, Any]:
    named = {} if protocol is None else {"protocol": protocol}
    return {"op": "sync", "c": label, "assign": assign, **mistake, **named}


def _request(op: str, label: str, mistake: dict[str, Any]) -> dict[str, Any]:
    return {"op": op, "c": label, **mistake}


def _leave(label: str, mistake: dict[str, Any], others: list[dict[str, Any]]) -> dict[str, Any]:
    return {"op": "leave", "c": label, **mistake, **({"others": others} if others else {})}


def _commit(label: str, mistake: dict[str, Any], version: int, is_alone: bool) -> dict[str, Any]:
    """A commit of a member; or of a client that is in no group."""
    if is_alone:
        return {"op": "commit", "c": label, "member": "", "generation": -1, "version": version}
    return {"op": "commit", "c": label, "version": version, **mistake}


def ask(
    kafka: UsedCluster,
    case: Case,
    new_name: Callable[[str], str],
    topics: Mapping[str, str] = TOPICS,
    linger_ms: int = 0,
) -> list[dict[str, Any]]:
    """What each step led to on the broker."""
    return play(kafka, case, new_name("classic"), topics, linger_ms)


def say(release: str, case: Case, seen: list[dict[str, Any]], limits: Limits = OWN) -> list[dict[str, Any]]:
    """The same by the simulator, at the times and with the member ids of the broker."""
    return played(script_of(release, limits), seen, ClassicScript.play_live)[1]


def play(
    kafka: UsedCluster, case: Case, group_id: str, topics: Mapping[str, str] = TOPICS, linger_ms: int = 0
) -> list[dict[str, Any]]:
    """What each step led to on the broker, in a group of this name."""
    make_topics(kafka, topics)
    timeouts = {"session": case["session_ms"], "rebalance": case["rebalance_ms"]}
    player = ClassicPlayer(kafka, group_id, topics, linger_ms)
    try:
        return [player.play({**timeouts, **each} if each["op"] == "join" else each) for each in case["steps"]]
    finally:
        player.close()


def make_topics(
    kafka: UsedCluster, topics: Mapping[str, str] = TOPICS, counts: Mapping[str, int] = MappingProxyType({})
) -> None:
    """Create the topics that members subscribe to, if they are not there, with one partition or with their count."""
    there = kafka.topics()
    for label, name in topics.items():
        if name not in there:
            try:
                kafka.create_topic(name, counts.get(label, 1))
            except Refused as error:
                if error.error != "TOPIC_ALREADY_EXISTS":  # another case was quicker
                    raise


def script_of(release: str, limits: Limits = OWN) -> ClassicScript:
    """The simulator at the beginning of a case."""
    return ClassicScript(step, settings_of(release, limits), newest_join=limits.newest("JoinGroup", JOIN))


def settings_of(release: str, limits: Limits) -> Settings:
    """The coordinator's settings; what the limits do not say has the default of the release."""
    return classic.model.broker_settings(
        find_release(release).version, limits.numbers(setting for setting, _ in classic.model.NAMES.values())
    )


def fit(kafka: UsedCluster) -> Mechanism:
    """The same with the limits and timers of a cluster that somebody else has set up."""
    limits = limits_of(kafka)
    limits.require(WITH_STATIC_MEMBERS)
    topics = {label: kafka.new_name(label) for label in TOPICS}
    linger_ms = max(0, limits.numbers([LINGER]).get(LINGER, 0))
    asked = partial(ask, topics=topics, linger_ms=linger_ms)
    return replace(CLASSIC, cases=partial(cases, limits=limits), ask=asked, say=partial(say, limits=limits))


CLASSIC = Mechanism(
    name="classic groups",
    rules=("the classic coordinator", "which commits a classic group takes"),
    cases=cases,
    ask=ask,
    say=say,
    settings={"config": CONFIG},
    tries=3,
    fit=fit,
)
