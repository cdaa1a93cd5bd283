"""Timers of groups: what they lead to, and when, read from answers that wait for them and from the broker's records.

Requests are sent in slots of two seconds. Each timer, and each sum of timers that follow each other, is due between
two slots, so that a request never meets one: no order has to be guessed, and the times can be compared as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from kafkalearn.group import classic as classic_group
from kafkalearn.group import consumer as consumer_group
from kafkalearn.live.conform.mechanism import Case, Mechanism, TooSlow
from kafkalearn.live.conform.mechanisms.groups import consumer
from kafkalearn.live.conform.mechanisms.groups.consumer_members import ALL
from kafkalearn.live.conform.mechanisms.groups.consumer_player import ConsumerPlayer
from kafkalearn.live.conform.mechanisms.groups.timed_groups import (
    NAME,
    PARTITION_COUNT,
    TOPIC,
    Noted,
    SimulatedClassic,
    SimulatedConsumer,
    Timed,
    TimedClassic,
    TimedConsumer,
    clock,
    records_seen,
)
from kafkalearn.live.jars.pinned import find_release
from kafkalearn.live.kafka import Kafka

SLOT_MS = 2000
SESSIONS_MS, REBALANCES_MS, DELAY_MS = (300, 2300), (450, 2450), 400
SESSION_MS = SESSIONS_MS[1]  # of all KIP-848 groups: the broker's setting
MOST_GROUPS, MOST_SLOTS, MOST_STEPS = 4, 4, 3
SLOTS_AFTER = 3  # in which nothing is sent
BURST_MS = 200  # all requests of a slot take less
SLOW_MS = 80  # one of them takes less
ANSWER_S = 0.015  # what was worked on is answered after so long at most
LOOK_S = 0.002
QUICK_MS, WARM_COUNT, MOST_WARM_UPS, PAUSE_S = 20, 5, 60, 0.2  # until a new broker is quick
EARLY_MS, LATE_MS = 3, 60  # a timer of the broker is never early, and that late at most
OFFSETS_PARTITIONS = 8  # so that a file has the records of few groups
CONFIG = {
    "offsets.topic.num.partitions": OFFSETS_PARTITIONS,
    "group.coordinator.threads": 1,
    "group.coordinator.append.linger.ms": 0,
    "group.initial.rebalance.delay.ms": DELAY_MS,
    "group.min.session.timeout.ms": SESSIONS_MS[0],
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.heartbeat.interval.ms": 50,
    "group.consumer.min.session.timeout.ms": SESSION_MS,
    "group.consumer.session.timeout.ms": SESSION_MS,
    **consumer.CONFIG_OF_4_3,
}
CLASSIC, CONSUMER = "classic", "consumer"
INSTANCE = {"C": "i"}  # the client that may be static

Slots = st.SearchStrategy[list[list[dict[str, Any]]]]


def cases(release: str) -> st.SearchStrategy[Case]:
    """Up to four groups, each with up to three requests in each of up to four slots."""
    return st.fixed_dictionaries(
        {"groups": st.lists(st.one_of(_classic(), _consumer()), min_size=1, max_size=MOST_GROUPS)}
    )


def _slots(steps: st.SearchStrategy[dict[str, Any]]) -> Slots:
    return st.lists(st.lists(steps, max_size=MOST_STEPS), min_size=1, max_size=MOST_SLOTS)


def _classic() -> st.SearchStrategy[dict[str, Any]]:
    client = st.sampled_from("ABC")
    join = st.fixed_dictionaries({"op": st.just("join"), "c": client, "require_known": st.booleans()})
    sync = st.fixed_dictionaries({"op": st.just("sync"), "c": client, "assign": st.just({"A": "PA", "B": "PB"})})
    other = st.fixed_dictionaries({"op": st.sampled_from(["heartbeat", "heartbeat", "leave"]), "c": client})
    return st.builds(
        _classic_group, st.sampled_from(SESSIONS_MS), st.sampled_from(REBALANCES_MS), st.booleans(),
        _slots(st.one_of(join, join, sync, sync, other)),
    )  # fmt: skip


def _classic_group(session_ms: int, rebalance_ms: int, is_static: bool, slots: list[list[dict]]) -> dict[str, Any]:
    """A group; its static members have the long time to rejoin, for they are waited for again and again."""
    for each in (each for steps in slots for each in steps if is_static and each["c"] in INSTANCE):
        each["instance"] = INSTANCE[each["c"]]
        rebalance_ms = REBALANCES_MS[1]
    return {"kind": CLASSIC, "session_ms": session_ms, "rebalance_ms": rebalance_ms, "slots": slots}


def _consumer() -> st.SearchStrategy[dict[str, Any]]:
    member = st.sampled_from("ab")
    rebalance_ms = st.sampled_from(REBALANCES_MS)
    join = st.fixed_dictionaries(
        {"op": st.just("join"), "m": member, "topics": st.just([TOPIC]), "rebalance_ms": rebalance_ms}
    )
    beat = st.fixed_dictionaries({"op": st.just("beat"), "m": member}, optional={"owned": st.just(ALL)})
    leave = st.fixed_dictionaries({"op": st.just("leave"), "m": member, "aside": st.just(False)})
    slots = _slots(st.one_of(join, join, beat, beat, beat, beat, leave))
    return st.fixed_dictionaries({"kind": st.just(CONSUMER), "slots": slots})


def ask(kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> dict[str, Any]:
    """For each group what was sent and when, and the answers and records with their times."""
    topic_id = _topic_id(kafka, new_name)
    began_ms, now_ms = clock()
    groups: list[Timed] = [
        TimedClassic(
            kafka, new_name(CLASSIC), {"session": each["session_ms"], "rebalance": each["rebalance_ms"]}, now_ms
        )
        if each["kind"] == CLASSIC
        else TimedConsumer(kafka, new_name(CONSUMER), topic_id, now_ms)
        for each in case["groups"]
    ]
    first_ms = now_ms() + 100
    count = max(len(each["slots"]) for each in case["groups"])
    for slot in range(count):
        _wait(groups, now_ms, first_ms + slot * SLOT_MS)
        _send(groups, [each["slots"][slot] if slot < len(each["slots"]) else [] for each in case["groups"]], now_ms)
    end_ms = first_ms + (count - 1 + SLOTS_AFTER) * SLOT_MS
    _wait(groups, now_ms, end_ms)
    seen = [
        each.seen() | {"records": records_seen(kafka, each.group_id, OFFSETS_PARTITIONS, began_ms, end_ms)}
        for each in groups
    ]
    return {"topic_id": topic_id, "end_ms": round(end_ms), "groups": seen}


def _topic_id(kafka: Kafka, new_name: Callable[[str], str]) -> str:
    """The id of the topic; on a cluster that is new it is made, and requests are sent until they are quick."""
    is_new = NAME not in kafka.topics()
    if is_new:
        ConsumerPlayer(kafka, new_name("first"), {TOPIC: NAME}).create({TOPIC: PARTITION_COUNT})
    topic_id = kafka.metadata([NAME]).topic_ids[NAME]
    quick = 0
    for _ in range(MOST_WARM_UPS if is_new else 0):
        quick = quick + 1 if _warm_up_ms(kafka, new_name, topic_id) < QUICK_MS else 0
        if quick == WARM_COUNT:
            break
        time.sleep(PAUSE_S)
    return topic_id


def _warm_up_ms(kafka: Kafka, new_name: Callable[[str], str], topic_id: str) -> int:
    """How long a new broker takes for two groups that nobody looks at."""
    now_ms = clock()[1]
    classic, consumer_ = (
        TimedClassic(kafka, new_name("warm"), {}, now_ms),
        TimedConsumer(kafka, new_name("warm"), topic_id, now_ms),
    )
    classic.send({"op": "join", "c": "A", "require_known": False})
    consumer_.send({"op": "join", "m": "a", "topics": [TOPIC], "rebalance_ms": REBALANCES_MS[0]})
    classic.seen()
    return max(each.sent[-1]["done_ms"] - each.sent[-1]["sent_ms"] for each in (classic, consumer_))


def _wait(groups: Sequence[Timed], now_ms: Callable[[], float], until_ms: float) -> None:
    """Note what comes until a time; where nobody has looked for long, the times mean nothing."""
    looked_ms = now_ms()
    while looked_ms < until_ms:
        for each in groups:
            each.collect()
        time.sleep(LOOK_S)
        before_ms, looked_ms = looked_ms, now_ms()
        if looked_ms - before_ms > LATE_MS:
            raise TooSlow(f"for {looked_ms - before_ms:.0f} ms this machine had no time for us")


def _send(groups: Sequence[Timed], steps: Sequence[Sequence[dict]], now_ms: Callable[[], float]) -> None:
    """Send the requests of a slot: the first of each group, the second of each, and so on."""
    began_ms = now_ms()
    for number in range(MOST_STEPS):
        those = [(group, each[number]) for group, each in zip(groups, steps, strict=True) if number < len(each)]
        for group, each in those:
            group.send(each)
            for other in groups:
                other.collect()
            sent = group.sent[-1]
            if sent["done_ms"] - sent["sent_ms"] > SLOW_MS:
                raise TooSlow(f"a request of {each['op']} has taken {sent['done_ms'] - sent['sent_ms']} ms")
        if those:
            _wait(groups, now_ms, now_ms() + ANSWER_S * 1000)
    if now_ms() - began_ms > BURST_MS:
        raise TooSlow(f"the requests of one slot have taken {now_ms() - began_ms:.0f} ms")


def say(release: str, case: Case, seen: dict[str, Any]) -> dict[str, Any]:
    """The same by the simulators; of a time that is near enough the broker's counts."""
    version = find_release(release).version
    groups = []
    for each, there in zip(case["groups"], seen["groups"], strict=True):
        ours = _simulated(version, each, seen["topic_id"])
        for sent in there["sent"]:
            ours.pass_to(sent["sent_ms"])
            ours.send(sent)
        ours.pass_to(seen["end_ms"])
        late_ms = LATE_MS + max((sent["done_ms"] - sent["sent_ms"] for sent in there["sent"]), default=0)
        answers, records = (
            _near(ours.answers, there["answers"], late_ms),
            _near(ours.records, there["records"], late_ms),
        )
        groups.append({"sent": there["sent"], "answers": answers, "records": records})
    return {**seen, "groups": groups}


def _simulated(version: str, group: Mapping[str, Any], topic_id: str) -> SimulatedClassic | SimulatedConsumer:
    if group["kind"] == CLASSIC:
        settings = classic_group.Settings(
            version, group_initial_rebalance_delay_ms=DELAY_MS, group_min_session_timeout_ms=SESSIONS_MS[0]
        )
        return SimulatedClassic(settings, group["session_ms"], group["rebalance_ms"])
    return SimulatedConsumer(
        consumer_group.Settings(
            version, session_timeout_ms=SESSION_MS, assignment_interval_ms=0, topics={NAME: PARTITION_COUNT},
            topic_ids={NAME: topic_id},
        )
    )  # fmt: skip


def _near(ours: Noted, seen: Noted, late_ms: int) -> Noted:
    """Our notes with the broker's times where these are the same, or later by what the way and the machine may take."""
    found: Noted = {}
    for name, notes in ours.items():
        there = [*seen.get(name, ()), *[[None, 0]] * len(notes)]
        found[name] = [
            [what, seen_ms if what == seen_what and -EARLY_MS <= seen_ms - at_ms <= late_ms else at_ms]
            for (what, at_ms), (seen_what, seen_ms) in zip(notes, there, strict=False)
        ]
    return found


TIMERS = Mechanism(
    name="timers of groups",
    rules=("the classic coordinator", "the consumer protocol, KIP-848"),
    cases=cases,
    ask=ask,
    say=say,
    settings={"config": CONFIG},
    tries=3,
)
