"""Timers of groups: what they lead to, and when, read from answers that wait for them and from the broker's records.

Requests are sent in slots of two seconds. Each timer, and each sum of timers that follow each other, is due between
two slots, so that a request never meets one: no order has to be guessed, and the times can be compared as they are.
Times are milliseconds since the begin of a case: of an answer by our clock, of a record by the broker's, which has
written it into the batch; both are the clock of one machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from hypothesis import strategies as st

from conformance.mechanism import Case, Mechanism, TooSlow
from conformance.mechanisms import consumer_groups as consumer
from conformance.mechanisms import group_records
from conformance.mechanisms.classic_groups import ClassicPlayer, ClassicScript, waits
from conformance.mechanisms.consumer_groups import ALL, ConsumerPlayer, ConsumerScript, answer_of, event_of
from kafkalearn.groups import classic as classic_group
from kafkalearn.groups import consumer as consumer_group
from kafkalearn.groups.classic import Settings, TimePassed, step
from kafkalearn.groups.classic.model import ClassicEvent
from kafkalearn.groups.consumer import events as effects
from kafkalearn.groups.consumer.events import ConsumerGroupEvent
from kafkalearn.live.jars import find_release
from kafkalearn.live.kafka import Kafka
from kafkalearn.offsets.records import decode

Step = Mapping[str, Any]
Noted = dict[str, list[list[Any]]]
"""By who and what: what came and when, in order."""

TOPIC, NAME, PARTITION_COUNT = "t", "conform-timers", 4
CURRENT_ASSIGNMENT = group_records.NUMBERS[effects.CURRENT_ASSIGNMENT]


class Timed(Protocol):
    """A group on a broker."""

    group_id: str
    sent: list[dict[str, Any]]  # the steps, each with the times between which the broker has worked on it

    def send(self, each: Step) -> None:
        """Send the request of a step, and return when the broker has worked on it."""

    def collect(self) -> None:
        """Note the answers that have come."""

    def seen(self) -> dict[str, Any]:
        """The steps as they were sent, and the answers."""


class TimedClassic:
    """A classic group on a broker."""

    def __init__(
        self, kafka: Kafka, group_id: str, timeouts_ms: Mapping[str, int], now_ms: Callable[[], float]
    ) -> None:
        """Nothing is sent but the question for the coordinator; `timeouts_ms` are those of each JoinGroup."""
        self.group_id, self.sent, self._timeouts_ms, self._now_ms = group_id, [], timeouts_ms, now_ms
        self._player = ClassicPlayer(kafka, group_id, {TOPIC: NAME})
        self._answers: Noted = {}
        self._known: set[str] = set()

    def send(self, each: Step) -> None:
        """What is asked behind a request is answered after the coordinator has worked on both."""
        self._player.connection(each["c"])  # opened before, if there is none
        began_ms = self._now_ms()
        self._player.send({**self._timeouts_ms, **each})
        self._player.group()
        self.sent.append({"step": dict(each), "sent_ms": round(began_ms), "done_ms": round(self._now_ms())})

    def collect(self) -> None:
        """Note answers, and the member id that was drawn for the last step, if there is one."""
        for op, label, answer in self._player.answers():
            response = self._player.response(op, label, answer)
            del response["response"], response["client"]
            self._answers.setdefault(f"{label} {op}", []).append([response, round(self._now_ms())])
        drawn = [each for each in self._player.labels if each not in self._known]
        if drawn:
            self._known |= {*drawn}
            self.sent[-1]["drawn"] = drawn[0]

    def seen(self) -> dict[str, Any]:
        """The steps and the answers; the connections are closed."""
        self._player.close()
        return {"sent": self.sent, "answers": self._answers}


class TimedConsumer:
    """A KIP-848 group on a broker; nobody waits for an answer of it."""

    def __init__(self, kafka: Kafka, group_id: str, topic_id: str, now_ms: Callable[[], float]) -> None:
        """Nothing is sent but the question for the coordinator."""
        self.group_id, self.sent, self._now_ms = group_id, [], now_ms
        self._player = ConsumerPlayer(kafka, group_id, {TOPIC: NAME})
        self._player.members.take({"op": "topic", "topic": TOPIC, "partitions": PARTITION_COUNT}, {})
        self._player.ids[TOPIC], self._player.names[topic_id] = topic_id, TOPIC
        self._answers: Noted = {}

    def send(self, each: Step) -> None:
        """A heartbeat, and its answer."""
        began_ms = self._now_ms()
        answer = self._player.send(self._player.members.request(each))
        done_ms = round(self._now_ms())
        self.sent.append({"step": dict(each), "sent_ms": round(began_ms), "done_ms": done_ms})
        self._answers.setdefault(each["m"], []).append([answer, done_ms])

    def collect(self) -> None:
        """There is nothing to wait for."""

    def seen(self) -> dict[str, Any]:
        """The steps and the answers."""
        return {"sent": self.sent, "answers": self._answers}


def records_seen(kafka: Kafka, group_id: str, partition_count: int, began_ms: float, end_ms: float) -> Noted:
    """The records of a group until a time, as they lie on the disk."""
    found: Noted = {}
    for each in group_records.records_of(kafka, group_id, partition_count):
        at_ms = round(each.timestamp_ms - began_ms)
        record = decode(each.key, each.value)
        if at_ms < end_ms:
            _note(found, group_records.written(record.type.number, record.key, record.value), at_ms)
    return found


def _note(noted: Noted, record: Mapping[str, Any], at_ms: int) -> None:
    """A record of a classic group, or of what a member has, with its time; the others come with these."""
    key, value = record["key"], record["value"]
    if record["type"] == group_records.GROUP_METADATA:
        shown = None if value is None else [value["generation"], len(value["members"])]
        noted.setdefault("group", []).append([shown, at_ms])
    elif record["type"] == CURRENT_ASSIGNMENT:
        noted.setdefault(key["memberId"], []).append([value and value["memberEpoch"], at_ms])


class SimulatedClassic:
    """The same classic group in the simulator."""

    def __init__(self, settings: Settings, session_ms: int, rebalance_ms: int) -> None:
        """Nobody has asked for the group."""
        self.script = ClassicScript(step, settings, session_ms, rebalance_ms)
        self._writer = group_records.ClassicRecords(settings.release, "", {TOPIC: NAME}, {})
        self.answers: Noted = {}
        self.records: Noted = {}

    def send(self, sent: Step) -> None:
        """Work on the request of a step."""
        self._take(self.script.event(sent["step"], sent.get("drawn")))

    def pass_to(self, at_ms: int) -> None:
        """Let time pass, from one timer to the next."""
        for ms in waits(self.script, at_ms):
            self._take(TimePassed(ms))

    def _take(self, event: ClassicEvent) -> None:
        script = self.script
        script.take(script.step(script.settings, script.group, event))
        for answer in script.group.answers:
            response = script.response(answer)
            who = f"{response.pop('client')} {response.pop('response')}"
            self.answers.setdefault(who, []).append([response, script.group.now_ms])
        for record in self._writer.of(script.group):
            _note(self.records, record, script.group.now_ms)


class SimulatedConsumer:
    """The same KIP-848 group in the simulator."""

    def __init__(self, settings: consumer_group.Settings) -> None:
        """Nobody has asked for the group."""
        self.script = ConsumerScript(settings, {TOPIC: NAME}, {TOPIC: PARTITION_COUNT})
        self._writer = group_records.ConsumerRecords(settings, "")
        self.answers: Noted = {}
        self.records: Noted = {}

    def send(self, sent: Step) -> None:
        """Work on the heartbeat of a step."""
        request = self.script.members.request(sent["step"])
        self._take(event_of(self.script.translated(request, {})))
        answer = self.script.labelled(answer_of(self.script.group) or {})
        self.script.members.take(request, answer)
        self.answers.setdefault(sent["step"]["m"], []).append([answer, self.script.group.now_ms])

    def pass_to(self, at_ms: int) -> None:
        """Let time pass, from one timer to the next."""
        for ms in waits(self.script, at_ms):
            self._take(consumer_group.TimePassed(ms))

    def _take(self, event: ConsumerGroupEvent) -> None:
        self.script.take(event)
        for record in self._writer.of(*self.script.past[-1]):
            _note(self.records, record, self.script.group.now_ms)


def clock() -> tuple[float, Callable[[], float]]:
    """The time now, as brokers write it, and what says how many milliseconds have passed since."""
    began_ms = time.time() * 1000
    return began_ms, lambda: time.time() * 1000 - began_ms


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
