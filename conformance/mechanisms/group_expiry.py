"""Committed offsets that expire, by the kind of their group: standalone, classic or KIP-848.

A commit of version 2 brings its own time. Where that is a millisecond the next sweep takes the offset away, unless the
group's rule keeps it. After every step the broker is waited for: a group that is nothing but one such offset goes with
the sweep, and so shows that there was one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import strategies as st

from conformance.mechanism import Case, Mechanism, TooSlow
from conformance.mechanisms import classic_groups as classic
from conformance.mechanisms.classic_groups import JOIN_WITHOUT_ID, SYNC, encoded_topics, scripts
from conformance.mechanisms.group_records import records_of
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.defaults import COMPLETING
from kafkalearn.live.errors import NotReached, wait_for
from kafkalearn.live.jars import find_release
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.request_values import (
    COMMIT_WITH_RETENTION,
    NEWEST_COMMIT_WITH_NAMES,
    commit,
    consumer_heartbeat,
    delete_offsets,
    error_name,
    join_group,
    leave_group,
    sync_group,
)
from kafkalearn.offsets import store
from kafkalearn.offsets.records import decode
from kafkalearn.offsets.replay import CLASSIC, CONSUMER, Member
from kafkalearn.offsets.store.model import Store

STANDALONE = "standalone"
TOPICS = tuple(classic.TOPICS)
SOON_MS, LATE_MS = 1, 3_600_000  # how long a commit asks to be kept
LONG_MS = 600_000
MEMBER = "m"
MOST_STEPS = 10
GONE = (1, 2, 3, 4, 6)  # record types whose tombstones are compared: of offsets and of groups, not of members
CONFIG = {
    "offsets.topic.num.partitions": 1,  # one sweep for all groups
    "offsets.retention.check.interval.ms": 50,
    "group.coordinator.append.linger.ms": 0,
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.min.session.timeout.ms": LONG_MS,
    "group.consumer.session.timeout.ms": LONG_MS,
    "group.consumer.max.session.timeout.ms": LONG_MS,
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.assignor.offload.enable": False,
}


def cases(release: str) -> st.SearchStrategy[Case]:
    """Up to 10 steps of one group, which has one member at most."""
    topic = st.sampled_from(TOPICS)
    commits = st.fixed_dictionaries(
        {"op": st.just("commit"), "topic": topic, "keep_ms": st.sampled_from([SOON_MS, SOON_MS, LATE_MS, None])}
    )
    join = st.fixed_dictionaries({"op": st.just("join"), "topics": st.sets(topic).map(sorted)})
    others = st.sampled_from([{"op": "leave"}, {"op": "rejoin"}, {"op": "delete group"}]).map(dict)
    delete = st.fixed_dictionaries({"op": st.just("delete offset"), "topic": topic})
    steps = scripts(st.one_of(commits, join, commits, others, delete), MOST_STEPS)
    return st.fixed_dictionaries({"kind": st.sampled_from([STANDALONE, CLASSIC, CONSUMER]), "steps": steps})


def ask(kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    """What each step was answered, which offsets were left by the sweep after it, and all tombstones."""
    classic.make_topics(kafka)
    player = _Player(kafka, case["kind"], new_name)
    steps = [player.play(each) for each in case["steps"]]
    records = [decode(each.key, each.value) for each in records_of(kafka, player.group_id, 1)]
    gone = [(each.type.number, each.key.get("topic")) for each in records if each.is_tombstone]
    return {"group_id": player.group_id, "steps": steps, "gone": _in_order(gone)}


class _Player:
    """The group on the broker."""

    def __init__(self, kafka: Kafka, kind: str, new_name: Callable[[str], str]) -> None:
        self.kafka, self.kind, self.new_name = kafka, kind, new_name
        self.group_id = new_name(kind)
        self.broker = kafka.coordinator(self.group_id)
        self.member_id, self.epoch, self.is_member = "", -1, False

    def play(self, each: Case) -> dict[str, Any]:
        now_ms = round(time.time() * 1000)
        found = {"step": each, "now_ms": now_ms, "error": getattr(self, f"_{each['op'].replace(' ', '_')}")(each)}
        self._wait_for_sweep()
        left = sorted([place.topic, place.partition] for place in self.kafka.committed(self.group_id))
        return found | {"epoch": self.epoch, "member": self.member_id, "left": left}

    def _commit(self, each: Case, group_id: str | None = None) -> str:
        who = {"member_id": self.member_id, "generation": self.epoch} if self.is_member and group_id is None else {}
        version = NEWEST_COMMIT_WITH_NAMES if each["keep_ms"] is None else COMMIT_WITH_RETENTION
        places = {_place(each["topic"]): 1}
        values = commit(group_id or self.group_id, places, retention_ms=each["keep_ms"], **who)
        answer = self.kafka.ask(self.broker, "OffsetCommit", values, version)
        return error_name(answer["topics"][0]["partitions"][0]["errorCode"])

    def _wait_for_sweep(self) -> None:
        canary = self.new_name("canary")
        error = self._commit({"topic": TOPICS[0], "keep_ms": SOON_MS}, canary)
        if error != "NONE":
            raise TooSlow(f"the group that shows the sweep cannot commit: {error}")
        try:
            wait_for(lambda: self.kafka.committed(canary), {}, "the sweep of expired offsets")
        except NotReached as late:
            raise TooSlow(str(late)) from None

    def _join(self, each: Case) -> str:
        if self.kind == STANDALONE:
            return ""
        return self._join_classic(each) if self.kind == CLASSIC else self._join_consumer(each)

    def _rejoin(self, each: Case) -> str:
        """The member of a classic group joins again, and does not fetch its assignment."""
        if self.kind != CLASSIC or not self.is_member:
            return ""
        values = join_group(self.group_id, self.member_id, {"range": self.metadata}, LONG_MS, LONG_MS)
        answer = self.kafka.ask(self.broker, "JoinGroup", values, JOIN_WITHOUT_ID)
        self.epoch = answer["generationId"]
        return error_name(answer["errorCode"])

    def _join_classic(self, each: Case) -> str:
        self.metadata = encoded_topics([classic.TOPICS[topic] for topic in each["topics"]])
        values = join_group(self.group_id, self.member_id, {"range": self.metadata}, LONG_MS, LONG_MS)
        # A sweep takes a group that has nothing but an id given out, so the member joins without this round.
        answer = self.kafka.ask(self.broker, "JoinGroup", values, JOIN_WITHOUT_ID)
        self.member_id, self.epoch, self.is_member = answer["memberId"], answer["generationId"], True
        values = sync_group(self.group_id, self.member_id, self.epoch, {self.member_id: b""})
        return error_name(self.kafka.ask(self.broker, "SyncGroup", values, SYNC)["errorCode"])

    def _join_consumer(self, each: Case) -> str:
        epoch, self.member_id = (self.epoch if self.is_member else 0), MEMBER
        topics = [classic.TOPICS[topic] for topic in each["topics"]]
        values = consumer_heartbeat(self.group_id, MEMBER, epoch, topics, {}, None, LONG_MS)
        answer = self.kafka.ask(self.broker, "ConsumerGroupHeartbeat", values)
        values = consumer_heartbeat(self.group_id, MEMBER, answer["memberEpoch"], None, {})
        answer = self.kafka.ask(self.broker, "ConsumerGroupHeartbeat", values)  # what it gave up is confirmed
        self.epoch, self.is_member = answer["memberEpoch"], True
        return error_name(answer["errorCode"])

    def _leave(self, each: Case) -> str:
        if not self.is_member:
            return ""
        if self.kind == CLASSIC:
            answer = self.kafka.ask(self.broker, "LeaveGroup", leave_group(self.group_id, {self.member_id: None}))
        else:
            answer = self.kafka.ask(
                self.broker, "ConsumerGroupHeartbeat", consumer_heartbeat(self.group_id, MEMBER, -1)
            )
        self.epoch += 1
        self.is_member, self.member_id = False, ""
        return error_name(answer["errorCode"])

    def _delete_offset(self, each: Case) -> str:
        answer = self.kafka.ask(self.broker, "OffsetDelete", delete_offsets(self.group_id, [_place(each["topic"])]))
        if error_name(answer["errorCode"]) != "NONE":
            return error_name(answer["errorCode"])
        return error_name(answer["topics"][0]["partitions"][0]["errorCode"])

    def _delete_group(self, each: Case) -> str:
        answer = self.kafka.ask(self.broker, "DeleteGroups", {"groupsNames": [self.group_id]})
        return error_name(answer["results"][0]["errorCode"])


def say(release: str, case: Case, seen: dict[str, Any]) -> dict[str, Any]:
    """The same by the store of offsets, with the epochs and the times of the broker, and a sweep after each step."""
    settings = store.Settings(find_release(release).version)
    group = _Stored(settings, seen["group_id"], case["kind"])
    steps = [group.play(each) for each in seen["steps"]]
    return {**seen, "steps": steps, "gone": _in_order(group.gone())}


class _Stored:
    """The group in the simulator."""

    def __init__(self, settings: store.Settings, group_id: str, kind: str) -> None:
        self.settings, self.group_id, self.kind = settings, group_id, kind
        self.store: Store = store.start(settings)
        self.member: Member | None = None

    def play(self, seen: dict[str, Any]) -> dict[str, Any]:
        each, now_ms = seen["step"], seen["now_ms"]
        events = list(self._events(each, seen))
        error = "" if not events else "NONE"
        for event in events:
            self.store = store.step(self.settings, self.store, event)
            error = self.store.effects[0].error if self.store.effects else error
        self.store = store.step(self.settings, self.store, store.Sweep(now_ms + SOON_MS))
        group = self.store.group(self.group_id)
        left = sorted([one.topic, one.partition] for one in group.offsets) if group else []
        return {**seen, "error": error, "left": left}

    def _events(self, each: Case, seen: dict[str, Any]) -> Iterable[Any]:
        now_ms, is_member = seen["now_ms"], self.member is not None
        match each["op"]:
            case "commit":
                epoch = self.store.group(self.group_id).epoch if is_member else -1  # as it was written last
                who = {"member_id": seen["member"], "generation": epoch} if is_member else {}
                yield store.Commit(
                    self.group_id, *_place(each["topic"]), 1, now_ms, retention_ms=each["keep_ms"], **who
                )
            case "join" if self.kind != STANDALONE:
                topics = tuple(classic.TOPICS[topic] for topic in each["topics"])
                self.member = Member(seen["member"], subscribed=topics)
                of_classic = {"protocol": "range", "leader": seen["member"]} if self.kind == CLASSIC else {}
                yield store.StoreGroup(
                    self.group_id, seen["epoch"], now_ms, (self.member,), kind=self.kind, **of_classic
                )
            case "rejoin" if is_member and self.kind == CLASSIC:
                yield store.StateChanged(self.group_id, COMPLETING)
            case "leave" if is_member:
                self.member = None
                yield store.StoreGroup(self.group_id, seen["epoch"], now_ms, kind=self.kind)
            case "delete offset":
                yield store.DeleteOffset(self.group_id, *_place(each["topic"]))
            case "delete group":
                yield store.DeleteGroup(self.group_id)

    def gone(self) -> list[tuple[int, str | None]]:
        """The tombstones: which record type, and of which topic."""
        records = [decode(each.key, each.value) for each in self.store.log]
        return [(each.type.number, each.key.get("topic")) for each in records if each.is_tombstone]


def _place(topic: str) -> TopicPartition:
    return TopicPartition(classic.TOPICS[topic], 0)


def _in_order(gone: Iterable[tuple[int, str | None]]) -> list[list[Any]]:
    """Tombstones of offsets and groups, those of offsets that follow each other sorted."""
    found: list[list[Any]] = []
    run: list[list[Any]] = []
    for number, topic in gone:
        if number in GONE and topic is not None:
            run.append([number, topic])
        elif number in GONE:
            found += [*sorted(run), [number, None]]
            run = []
    return found + sorted(run)


EXPIRY = Mechanism(
    name="expiry of committed offsets",
    rules=("when a committed offset expires", "the coordinator's store: commits, expiry, tombstones, loading"),
    cases=cases,
    ask=ask,
    say=say,
    settings={"config": CONFIG},
    tries=2,
)
