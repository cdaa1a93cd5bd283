"""Groups on a broker and in the simulator whose answers and records are noted with the time at which they came.

Times are milliseconds since the begin of a case: of an answer by our clock, of a record by the broker's, which has
written it into the batch; both are the clock of one machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from kafkalearn.group import consumer as consumer_group
from kafkalearn.group.classic import Settings, TimePassed, step
from kafkalearn.group.classic.events import ClassicEvent
from kafkalearn.group.consumer import effects
from kafkalearn.group.consumer.events import ConsumerGroupEvent
from kafkalearn.live.conform.mechanisms.groups.classic_player import ClassicPlayer
from kafkalearn.live.conform.mechanisms.groups.classic_records import GROUP_METADATA, ClassicRecords
from kafkalearn.live.conform.mechanisms.groups.classic_script import ClassicScript
from kafkalearn.live.conform.mechanisms.groups.clocks import waits
from kafkalearn.live.conform.mechanisms.groups.consumer_player import ConsumerPlayer
from kafkalearn.live.conform.mechanisms.groups.consumer_records import NUMBERS, ConsumerRecords
from kafkalearn.live.conform.mechanisms.groups.consumer_script import ConsumerScript, answer_of, event_of
from kafkalearn.live.conform.mechanisms.groups.written import records_of, written
from kafkalearn.live.kafka import Kafka
from kafkalearn.offsets.records.codec import decode

Step = Mapping[str, Any]
Noted = dict[str, list[list[Any]]]
"""By who and what: what came and when, in order."""

TOPIC, NAME, PARTITION_COUNT = "t", "conform-timers", 4
CURRENT_ASSIGNMENT = NUMBERS[effects.CURRENT_ASSIGNMENT]


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
    for each in records_of(kafka, group_id, partition_count):
        at_ms = round(each.timestamp_ms - began_ms)
        record = decode(each.key, each.value)
        if at_ms < end_ms:
            _note(found, written(record.type.number, record.key, record.value), at_ms)
    return found


def _note(noted: Noted, record: Mapping[str, Any], at_ms: int) -> None:
    """A record of a classic group, or of what a member has, with its time; the others come with these."""
    key, value = record["key"], record["value"]
    if record["type"] == GROUP_METADATA:
        shown = None if value is None else [value["generation"], len(value["members"])]
        noted.setdefault("group", []).append([shown, at_ms])
    elif record["type"] == CURRENT_ASSIGNMENT:
        noted.setdefault(key["memberId"], []).append([value and value["memberEpoch"], at_ms])


class SimulatedClassic:
    """The same classic group in the simulator."""

    def __init__(self, settings: Settings, session_ms: int, rebalance_ms: int) -> None:
        """Nobody has asked for the group."""
        self.script = ClassicScript(step, settings, session_ms, rebalance_ms)
        self._writer = ClassicRecords(settings.release, "", {TOPIC: NAME}, {})
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
        self._writer = ConsumerRecords(settings, "")
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
