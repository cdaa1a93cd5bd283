"""Groups whose members speak both protocols: who joins, who leaves, and what the group is after each step.

`MixedPlayer` leads a group on a real broker, `MixedScript` one in the simulator. A client is classic or new by the
requests that it sends: a new one has its label for its member id, a classic one the id that the broker draws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from copy import copy, deepcopy
from functools import partial
from typing import Any

from hypothesis import strategies as st

from conformance.mechanism import Case, Mechanism
from conformance.mechanisms import classic_groups as classic_questions
from conformance.mechanisms import consumer_groups as consumer_questions
from conformance.mechanisms.classic_groups import ClassicPlayer, joined, make_topics, played, scripts, waits
from conformance.mechanisms.consumer_groups import by_topic, partitions_of
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.classic import model as classic
from kafkalearn.groups.consumer import events as consumer
from kafkalearn.groups.consumer.state import Member
from kafkalearn.groups.defaults import DEAD, STABLE
from kafkalearn.groups.mixed import Assigned, Group, Settings, Subscription, check, next_deadline_ms, start, step
from kafkalearn.groups.mixed.model import Effect, Event, assigned_of
from kafkalearn.live.jars import find_release
from kafkalearn.live.request_values import commit, consumer_heartbeat, error_name, join_group, sync_group
from kafkalearn.live.used_cluster import UsedCluster
from kafkalearn.offsets import protocol
from kafkalearn.offsets.protocol import Assignment, decode_assignment, encode_assignment, encode_subscription
from kafkalearn.releases.lines import at_least

Step = Mapping[str, Any]
ByTopic = dict[str, list[int]]

JOIN, SYNC, SYNC_WITH_PROTOCOL, COMMIT, FETCH = 9, 4, 5, 9, 9
SESSION_MS, REBALANCE_MS = 45_000, 300_000
USER_DATA = b"mine"


class Clients:
    """What the clients of a script know: the epochs or generations that they were answered, and what they own."""

    def __init__(self) -> None:
        """Nobody was answered anything."""
        self.epochs: dict[str, int] = {}
        self.given: dict[str, ByTopic] = {}

    def epoch(self, step: Step) -> int:
        """The epoch or generation that a step sends."""
        known = step.get("epoch", self.epochs.get(step.get("c", ""), -1))
        return known if "epoch" in step else max(known + step.get("more", 0), -1)

    def owned(self, step: Step) -> ByTopic | None:
        """What a client says that it owns: what it was given last, or nothing; None: it does not say."""
        match step.get("owned"):
            case None:
                return None
            case "all":
                return self.given.get(step["c"], {})
        return {}

    def take(self, answer: Step) -> None:
        """Write down what a request was answered."""
        if answer.get("error") != "NONE" or "client" not in answer:
            return
        label = answer["client"]
        if answer["response"] == "join":
            self.epochs[label] = answer["generation"]
        if answer["response"] == "beat":
            self.epochs[label] = answer["epoch"]
        if "assignment" in answer:
            self.given[label] = answer["assignment"]


class MixedPlayer(ClassicPlayer):
    """A group on a broker, and clients of both kinds."""

    def __init__(self, kafka: UsedCluster, group_id: str, topics: Mapping[str, str]) -> None:
        """Nothing is sent but the question for the coordinator."""
        super().__init__(kafka, group_id, topics)
        self.clients = Clients()
        self.topic_ids = {label: kafka.metadata([name]).topic_ids[name] for label, name in self.topics.items()}
        self.names = {name: label for label, name in self.topics.items()}
        self.names |= {topic_id: label for label, topic_id in self.topic_ids.items()}

    def request(self, op: str, label: str, step: Step) -> tuple[str, dict[str, Any], int | None]:
        """The name, the fields and the version of a request."""
        instance_id, epoch = step.get("instance"), self.clients.epoch(step)
        member_id = self.member_id(step)
        match op:
            case "join":
                values = join_group(
                    self.group_id, "" if step.get("fresh") else member_id,
                    dict.fromkeys(step.get("protocols", ["range"]), self.subscription(step)),
                    step.get("session", SESSION_MS), step.get("rebalance", REBALANCE_MS), instance_id,
                    step.get("type", "consumer"),
                )  # fmt: skip
                return "JoinGroup", values, JOIN
            case "sync":
                user_data = USER_DATA if step.get("user_data") else None
                given = {
                    self.ids[each]: encode_assignment(Assignment(self.real(places), user_data))
                    for each, places in step.get("assign", {}).items()
                    if each in self.ids
                }
                values = sync_group(self.group_id, member_id, epoch, given, instance_id)
                if "protocol" not in step:
                    return "SyncGroup", values, SYNC
                named = {"protocolType": "consumer", "protocolName": step["protocol"]}
                return "SyncGroup", values | named, SYNC_WITH_PROTOCOL
            case "beat":
                self.labels[label] = self.ids[label] = label
                owned, topics = self.clients.owned(step), step.get("topics")
                values = consumer_heartbeat(
                    self.group_id, label, epoch, None if topics is None else [self.topics[each] for each in topics],
                    None if owned is None else {self.topic_ids[each]: numbers for each, numbers in owned.items()},
                    step.get("assignor"), step.get("rebalance", REBALANCE_MS if epoch == 0 else -1), instance_id,
                    step.get("pattern"),
                )  # fmt: skip
                return "ConsumerGroupHeartbeat", values, None
            case "commit":
                places = {TopicPartition(self.topics["t"], step.get("partition", 0)): 1}
                values = commit(self.group_id, places, member_id, epoch, None, instance_id)
                return "OffsetCommit", values, step.get("version", COMMIT)
            case "fetch":
                group = {"groupId": self.group_id, "memberId": None, "memberEpoch": -1, "topics": None}
                return "OffsetFetch", {"groups": [group]}, FETCH
        self.generations[label] = epoch
        return super().request(op, label, step)

    def real(self, places: ByTopic) -> tuple[TopicPartition, ...]:
        """Partitions with the names that their topics have on the broker."""
        return tuple(TopicPartition(self.topics[each.topic], each.partition) for each in partitions_of(places))

    def labelled(self, places: tuple[TopicPartition, ...]) -> ByTopic:
        """The other way round."""
        return by_topic(TopicPartition(self.names[each.topic], each.partition) for each in places)

    def subscription(self, step: Step) -> bytes:
        """What a classic member sends of itself."""
        owned = self.clients.owned(step)
        return encode_subscription(
            protocol.Subscription(
                tuple(self.topics[each] for each in step.get("topics", ["t"])),
                self.real(owned) if owned else (),
                self.clients.epochs.get(step["c"], -1) if owned else -1,
                user_data=USER_DATA if step.get("user_data") else None,
            )
        )

    def response(self, op: str, label: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        """One answer, and what the client learns from it."""
        found = self._response(op, label, answer)
        self.clients.take(found)
        return found

    def _response(self, op: str, label: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        if op in ("commit", "leave", "heartbeat", "delete"):
            return super().response(op, label, answer)
        found: dict[str, Any] = {"response": op, "client": label}
        if op == "fetch":
            (group,) = answer["groups"]
            places = [
                [self.names[topic["name"]], each["partitionIndex"]]
                for topic in group["topics"]
                for each in topic["partitions"]
            ]
            return found | {"error": error_name(group["errorCode"]), "committed": sorted(places)}
        error = found["error"] = error_name(answer["errorCode"])
        if error == "MEMBER_ID_REQUIRED":
            return found | {"member": self.labels[answer["memberId"]]}
        if error != "NONE":
            return found
        match op:
            case "join":
                found |= self.joined(answer)
            case "sync":
                data = answer["assignment"]
                found["assignment"] = self.labelled(decode_assignment(data).partitions) if data else {}
            case "beat":
                found["epoch"] = answer["memberEpoch"]
                if answer["assignment"] is not None:
                    found["assignment"] = self.by_id(answer["assignment"])
        return found

    def by_id(self, assignment: Mapping[str, Any]) -> ByTopic:
        """An assignment that names its topics by their ids."""
        places = {self.names[each["topicId"]]: sorted(each["partitions"]) for each in assignment["topicPartitions"]}
        return dict(sorted(places.items()))

    def group(self) -> dict[str, Any]:
        """The group as the description of its own protocol has it."""
        words = {"groupIds": [self.group_id], "includeAuthorizedOperations": False}
        (group,) = self.kafka.ask(self.broker, "ConsumerGroupDescribe", words)["groups"]
        if error_name(group["errorCode"]) != "NONE":
            return self.classic_group()
        return {
            "type": "consumer",
            "state": group["groupState"],
            "group_epoch": group["groupEpoch"],
            "assignment_epoch": group["assignmentEpoch"],
            "members": by_label(
                (self.labels.get(each["memberId"], each["clientId"]), each["memberId"], self.member(each))
                for each in group["members"]
            ),
        }

    def member(self, member: Mapping[str, Any]) -> dict[str, Any]:
        """One member of it; since version 1 of the request it is said which protocol it speaks."""
        return {
            "epoch": member["memberEpoch"],
            "is_classic": member["memberType"] == 0,
            "assigned": self.by_id(member["assignment"]),
            "target": self.by_id(member["targetAssignment"]),
        }

    def classic_group(self) -> dict[str, Any]:
        """The same of a classic group, or of none."""
        group, labels = self.answered_group()
        if group["groupState"] == DEAD:
            return {"type": None}
        found = {"type": "classic", "state": group["groupState"], "members": sorted(labels)}
        if group["groupState"] != STABLE:
            return found
        given = by_label(
            (label, each["memberId"], self.labelled(decode_assignment(each["memberAssignment"]).partitions))
            for label, each in zip(labels, group["members"], strict=True)
            if each["memberAssignment"]
        )
        return found | {"protocol": group["protocolData"], "assigned": given}


class MixedScript:
    """A group in the simulator, led by the steps of a script at the times of a broker, with the ids that it drew."""

    def __init__(self, settings: Settings, topics: Mapping[str, str], ids: Mapping[str, str]) -> None:
        """Begin with a group that nobody has asked for; `ids` are the member ids of the clients of the script."""
        self.settings, self.topics = settings, dict(topics)
        self.names = {name: label for label, name in self.topics.items()}
        self.real_ids = dict(ids)
        self.labels = {member_id: label for label, member_id in ids.items()}
        self.ids: dict[str, str] = {}
        self.group = start(settings)
        self.clients = Clients()
        self.past: list[Group] = []
        self.shown: dict[str, Any] = self.described()  # what a description of the group says: what is committed

    def copy(self) -> MixedScript:
        """One that goes on from here by itself."""
        other = copy(self)
        other.past, other.clients, other.ids = list(self.past), deepcopy(self.clients), dict(self.ids)
        other.labels = dict(self.labels)
        return other

    def next_deadline_ms(self) -> int | None:
        """When the next timer of the group is due; None if none is running."""
        return next_deadline_ms(self.group)

    def play(self, seen: Step) -> dict[str, Any]:
        """What a step led to, at the time of the broker."""
        sent = seen["step"]
        self.pass_to(seen["sent_ms"])
        before = len(self.past)
        if sent["op"] != "sleep":
            self.take(self.event(sent, next(iter(seen.get("drawn", ())), None)))
        self.pass_to(seen["seen_ms"])
        effects = [each for after in self.past[before:] for each in after.effects]
        responses = [found for each in effects if (found := self.response(each, sent)) is not None]
        for each in responses:
            self.clients.take(each)
        self.show(self.past[before:])
        return {"responses": sorted(responses, key=str), "group": self.shown}

    def show(self, past: Iterable[Group]) -> None:
        """Note how the group is described now: one that was removed without a record, as it was, until the next."""
        now = self.described()
        has_written = any(kind_of(each) is not None for after in past for each in after.effects)
        if now["type"] is not None or self.shown["type"] != "consumer" or has_written:
            self.shown = now

    def pass_to(self, at_ms: int) -> None:
        """Let time pass until then, timer by timer."""
        for ms in waits(self, at_ms):
            self.take(consumer.TimePassed(ms))

    def take(self, event: Event) -> None:
        """Go on with an event; the state has to keep its invariants."""
        before, self.group = self.group, step(self.settings, self.group, event)
        check(self.settings, self.group, before)
        self.past.append(self.group)
        for member in self.group.classic.members:  # one that waits for its first answer has an id already
            self.labels.setdefault(member.member_id, member.client)
        for each in self.group.effects:
            if isinstance(each, classic.JoinAnswered) and each.error in ("NONE", "MEMBER_ID_REQUIRED"):
                self.ids[each.client] = each.member_id
                self.labels.setdefault(each.member_id, each.client)

    @property
    def records(self) -> list[str]:
        """The kinds of all records that were written."""
        found = [each for after in self.past for each in after.effects]
        return [kind for each in found if (kind := kind_of(each)) is not None]

    def event(self, done: Step, drawn_id: str | None = None) -> Event:
        """The request of a step, with the member id that the broker has drawn for it, if it has drawn one."""
        label, epoch, instance_id = done.get("c", "tool"), self.clients.epoch(done), done.get("instance")
        member_id = done.get("member", self.ids.get(label, ""))
        owned = self.clients.owned(done)
        match done["op"]:
            case "join":
                topics = tuple(self.topics[each] for each in done.get("topics", ["t"]))
                generation, has_user_data = self.clients.epoch(done) if owned else -1, bool(done.get("user_data"))
                sent = Subscription(topics, self.real(owned or {}), generation, has_user_data)
                return classic.JoinGroup(
                    label,
                    "" if done.get("fresh") else member_id,
                    done.get("session", SESSION_MS),
                    done.get("rebalance", REBALANCE_MS),
                    tuple((name, sent) for name in done.get("protocols", ["range"])),
                    instance_id,
                    done.get("type", "consumer"),
                    drawn_id=drawn_id or self.undrawn(label),
                )
            case "sync":
                given = tuple(
                    (self.ids[each], Assigned(self.real(places), bool(done.get("user_data"))))
                    for each, places in done.get("assign", {}).items()
                    if each in self.ids
                )
                return classic.SyncGroup(label, member_id, epoch, given, instance_id, protocol=done.get("protocol"))
            case "heartbeat":
                return classic.Heartbeat(label, member_id, epoch, instance_id)
            case "leave":
                others = tuple((self.member_id(each), each.get("instance")) for each in done.get("others", ()))
                return classic.LeaveGroup(label, member_id, instance_id, others)
            case "beat":
                self.ids[label] = label
                topics = done.get("topics")
                return consumer.ConsumerGroupHeartbeat(
                    label, epoch, None if topics is None else tuple(self.topics[each] for each in topics),
                    None if owned is None else self.real(owned), instance_id,
                    done.get("rebalance", REBALANCE_MS if epoch == 0 else None), done.get("assignor"),
                    done.get("pattern"),
                )  # fmt: skip
            case "commit":
                place = TopicPartition(self.topics["t"], done.get("partition", 0))
                return consumer.OffsetCommit(member_id, epoch, (place,), done.get("version", COMMIT), instance_id)
            case "fetch":
                return consumer.OffsetFetch()
            case "delete":
                return consumer.GroupDeleted()
            case "move":
                return consumer.PartitionMoved()
        raise ValueError(done["op"])

    def undrawn(self, label: str) -> str:
        """An id for a client where the broker has drawn none now: its only one, unless it was given that before."""
        known = self.real_ids.get(label)
        return f"?{label}" if known is None or known == self.ids.get(label) else known

    def member_id(self, done: Step) -> str:
        """The id in a request: as it was answered last, unless the step has another."""
        return done.get("member", self.ids.get(done.get("c", ""), ""))

    def real(self, places: ByTopic) -> tuple[TopicPartition, ...]:
        """Partitions with the names that their topics have on the broker."""
        return tuple(TopicPartition(self.topics[each.topic], each.partition) for each in partitions_of(places))

    def labelled(self, places: Iterable[TopicPartition]) -> ByTopic:
        """The other way round."""
        return by_topic(TopicPartition(self.names[each.topic], each.partition) for each in places)

    def response(self, answer: Effect, sent: Step) -> dict[str, Any] | None:
        """An effect as the recording has it; None if it is no answer."""
        label = sent.get("c", "tool")
        match answer:
            case consumer.HeartbeatAnswered():
                found: dict[str, Any] = {"response": "beat", "client": answer.member_id, "error": answer.error}
                if answer.error == "NONE":
                    found["epoch"] = answer.member_epoch
                if answer.assignment is not None:
                    found["assignment"] = self.labelled(answer.assignment)
                return found
            case consumer.CommitAnswered():
                return {"response": "commit", "client": label, "error": answer.errors[0][1]}
            case consumer.FetchAnswered():
                committed = sorted([self.names[each.topic], each.partition] for each in answer.committed)
                return {"response": "fetch", "client": label, "error": answer.error, "committed": committed}
            case consumer.DeleteAnswered():
                return {"response": "delete", "error": answer.error}
            case classic.HeartbeatAnswered():
                return {"response": "heartbeat", "client": answer.client, "error": answer.error}
            case classic.LeaveAnswered():
                others = {"others": list(answer.of_others)} if answer.of_others else {}
                return {"response": "leave", "client": answer.client, **others, "error": answer.error}
            case classic.SyncAnswered():
                found = {"response": "sync", "client": answer.client, "error": answer.error}
                if answer.error == "NONE":
                    found["assignment"] = self.labelled(assigned_of(answer.assignment).partitions)
                return found
            case classic.JoinAnswered():
                return joined(answer, self.labels)
        return None

    def member(self, member: Member) -> dict[str, Any]:
        """One member of it; since 4.3 what it still has to give up counts as assigned."""
        pending = member.pending_partitions if at_least("4.3", self.settings.release) else ()
        return {
            "epoch": member.epoch,
            "is_classic": member.classic is not None,
            "assigned": self.labelled(member.assigned_partitions + pending),
            "target": self.labelled(self.group.consumer.target(member.member_id)),
        }

    def described(self) -> dict[str, Any]:
        """The group as the description of its own protocol has it."""
        group = self.group
        if group.is_consumer:
            inner = group.consumer
            return {
                "type": "consumer",
                "state": inner.state,
                "group_epoch": inner.group_epoch,
                "assignment_epoch": inner.assignment_epoch,
                "members": by_label(
                    (self.labels.get(each.member_id, each.member_id), each.member_id, self.member(each))
                    for each in inner.members
                ),
            }
        old = group.classic
        if not old.is_known or old.state == DEAD:
            return {"type": None}
        labels = {each.member_id: self.labels.get(each.member_id, "?") for each in old.members}
        found = {"type": "classic", "state": old.state, "members": sorted(labels.values())}
        if old.state != STABLE:
            return found
        assigned = by_label(
            (labels[each.member_id], each.member_id, self.labelled(assigned_of(each.assignment).partitions))
            for each in old.members
            if each.assignment is not None
        )
        return found | {"protocol": old.protocol, "assigned": assigned}


def by_label(members: Iterable[tuple[str, str, Any]]) -> dict[str, Any]:
    """What is said of each member, by its label; of a client that has joined twice, in the order of its member ids.

    >>> by_label([("a", "a-9", "second"), ("b", "b-1", "other"), ("a", "a-2", "first")])
    {'a': 'first', 'a, member 2': 'second', 'b': 'other'}
    """
    found: dict[str, Any] = {}
    counts: Counter[str] = Counter()
    for label, _, said in sorted(members, key=lambda each: each[:2]):
        counts[label] += 1
        found[label if counts[label] == 1 else f"{label}, member {counts[label]}"] = said
    return found


def kind_of(effect: Effect) -> str | None:
    """The kind of a record that was written, as `kafkalearn.groups.consumer.events` calls them."""
    match effect:
        case consumer.RecordWritten():
            return effect.kind
        case classic.GroupWritten():
            return f"tombstone:{consumer.CLASSIC_GROUP}" if effect.is_tombstone else consumer.CLASSIC_GROUP
    return None


OLD, NEW = "abc", ("n", "m")
STATIC = {"c": "i", "m": "i"}  # where a case has static members: an old and a new process of one pod
SESSION_OF_NEW_MS = 3_600_000
MOST_MEMBERS, MOST_STEPS = 4, 25
TOPICS = {"t": 6, "u": 2}
POLICY = "group.consumer.migration.policy"
CONFIG = {
    **classic_questions.CONFIG,
    **consumer_questions.CONFIG,
    **consumer_questions.CONFIG_OF_4_3,
    "group.max.size": MOST_MEMBERS,
    "group.consumer.max.size": MOST_MEMBERS,
    "group.consumer.session.timeout.ms": SESSION_OF_NEW_MS,
    "group.consumer.max.session.timeout.ms": SESSION_OF_NEW_MS,
}


def cases(release: str) -> st.SearchStrategy[Case]:
    """Up to 25 steps of three old and two new clients; some begin with a classic group that is at rest."""
    at_rest = [
        {"op": "join", "c": "a"}, {"op": "join", "c": "a"}, {"op": "sync", "c": "a", "assign": {"a": {"t": [0, 1, 2]}}},
    ]  # fmt: skip
    openings = st.sampled_from([[], at_rest, at_rest]).map(deepcopy)
    steps = st.builds(list.__add__, openings, scripts(_steps(), MOST_STEPS))
    return st.builds(_case, st.booleans(), st.sampled_from(["range", "cooperative-sticky"]), steps)


def _case(has_static: bool, assignor: str, steps: list[dict[str, Any]]) -> Case:
    """All members have one assignor; cooperative ones say what they own when they join."""
    for each in steps:
        if has_static and each.get("c") in STATIC:
            each["instance"] = STATIC[each["c"]]
        if each["op"] == "join":
            each.setdefault("protocols", [assignor])
            if assignor == "cooperative-sticky":
                each["owned"] = "all"
    return {"steps": steps}


def _steps() -> st.SearchStrategy[dict[str, Any]]:
    old, new = st.sampled_from(OLD), st.sampled_from(NEW)
    more = st.sampled_from([0] * 6 + [1, -1])

    def step_of(op: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
        return st.fixed_dictionaries({"op": st.just(op), **fields})

    topics = st.sampled_from([["t"], ["t"], ["t", "u"], ["u"]]).map(list)
    join = st.fixed_dictionaries(
        {"op": st.just("join"), "c": old, "topics": topics},
        optional={
            "fresh": st.sampled_from([False, False, True]),
            "protocols": st.sampled_from([["range", "roundrobin"], ["sticky"]]).map(list),
            "user_data": st.booleans(),
            "rebalance": st.just(REBALANCE_MS),
        },
    )
    places = st.sampled_from([{}, {"t": [0, 1, 2]}, {"t": [3, 4, 5], "u": [0]}, {"u": [1]}]).map(deepcopy)
    given = st.dictionaries(old, places, max_size=3)
    sync = step_of("sync", c=old, more=more, assign=given, user_data=st.sampled_from([False] * 6 + [True]))
    beat = step_of("beat", c=new, owned=st.sampled_from(["all", "all", "nothing"]), more=more)
    come = step_of("beat", c=new, epoch=st.just(0), topics=topics, owned=st.just("nothing"))
    go = step_of("beat", c=new, epoch=st.sampled_from([-1, -1, -2]))
    commits = step_of("commit", c=st.one_of(old, new), more=more, version=st.sampled_from([9, 9, 8]))
    fetch = st.just({"op": "fetch", "c": "tool"}).map(dict)
    leave = step_of("leave", c=st.one_of(old, old, new))
    alive = step_of("heartbeat", c=st.one_of(old, old, old, new), more=more)
    return st.one_of(join, sync, alive, come, beat, join, sync, alive, beat, commits, go, leave, join, beat, fetch)


def ask(kafka: UsedCluster, case: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    """What each step led to on the broker, and the ids that it drew."""
    names = {label: f"mixed-{label}" for label in TOPICS}
    make_topics(kafka, names, TOPICS)
    player = MixedPlayer(kafka, new_name("mixed"), names)
    try:
        steps = [player.play(each) for each in case["steps"]]
    finally:
        player.close()
    return {"topics": names, "topic_ids": player.topic_ids, "ids": dict(player.ids), "steps": steps}


def say(release: str, case: Case, seen: dict[str, Any], policy: str = "bidirectional") -> dict[str, Any]:
    """The same by the simulator, at the times and with the ids of the broker."""
    version = find_release(release).version
    settings = Settings(
        version,
        policy,
        classic.Settings(version, 0, classic_questions.SHORTEST_SESSION_MS, group_max_size=MOST_MEMBERS),
        consumer.Settings(
            version,
            session_timeout_ms=SESSION_OF_NEW_MS,
            assignment_interval_ms=0 if at_least("4.3", version) else None,
            max_size=MOST_MEMBERS,
            topics={seen["topics"][label]: count for label, count in TOPICS.items()},
            topic_ids={seen["topics"][label]: each for label, each in seen["topic_ids"].items()},
        ),
    )
    script = MixedScript(settings, seen["topics"], seen["ids"])
    return {**seen, "steps": played(script, seen["steps"], MixedScript.play)[1]}


def _mechanism(name: str, policy: str) -> Mechanism:
    """The same questions to brokers with this ``group.consumer.migration.policy``."""
    rules = ("a group that changes its protocol while it runs",)
    settings = {"config": {**CONFIG, POLICY: policy}}
    return Mechanism(name, rules, cases, ask, partial(say, policy=policy), settings, tries=3)


MIXED = _mechanism("mixed groups", "bidirectional")
ONLY_UP = _mechanism("mixed groups that only go up", "upgrade")
ONLY_DOWN = _mechanism("mixed groups that only go back", "downgrade")
NEITHER = _mechanism("mixed groups that stay as they are", "disabled")
