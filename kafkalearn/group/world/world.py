"""The world of a scenario: its stage, and the story that is played on it."""

from __future__ import annotations

from kafkalearn.errors import IllegalEvent
from kafkalearn.group.world.clock import POLL_THREAD, SCENARIO
from kafkalearn.group.world.consumers import POLL_RECORDS, Consumer
from kafkalearn.group.world.engine import Stage
from kafkalearn.group.world.events import (
    Crashes,
    CrashesAndReturns,
    Grows,
    IsCutOff,
    Joins,
    Leaves,
    Pauses,
    Restarts,
    ScenarioEvent,
    Works,
)
from kafkalearn.group.world.recorder import Recorder


class World(Stage):
    """Everything that moves in a scenario: whatever befalls the consumers befalls them here."""

    # ---- the run

    def run(self) -> Recorder:
        """Play the scenario to its end."""
        self._snap()
        for event in self.scenario.events:
            self.clock.at(event.at_ms, SCENARIO, self._befall, event)
        self.clock.run(self.scenario.end_ms, self._after_each_ms)
        self.recorder.end(self.scenario.end_ms)
        return self.recorder

    # ---- what befalls consumers

    def _befall(self, event: ScenarioEvent) -> None:
        if isinstance(event, Grows):
            return self._grow(event)
        consumer = self.consumers[event.member]
        if isinstance(event, Joins):
            if consumer.is_running:
                raise IllegalEvent(f"{event}: {event.member} is running already")
            return self._start(consumer)
        if not consumer.is_running:
            return self.note(f"{consumer.name} is not running: {_in_words(event)} befalls nobody")
        if isinstance(event, Leaves | Restarts) and consumer.is_paused(self.now_ms):  # it cannot close anything now
            return self.clock.at(consumer.paused_until_ms, SCENARIO, self._befall, event)
        match event:
            case Leaves():
                self._close(consumer, f"{consumer.name} leaves")
            case Crashes():
                self._end(consumer, f"{consumer.name} crashes")
            case Restarts(after_ms=after_ms):
                self._close(consumer, f"{consumer.name} is restarted")
                self.clock.at(self.now_ms + after_ms, SCENARIO, self._start, consumer)
            case CrashesAndReturns(after_ms=after_ms):
                self._end(consumer, f"{consumer.name} crashes")
                self.clock.at(self.now_ms + after_ms, SCENARIO, self._start, consumer)
            case Pauses(for_ms=for_ms):
                self._pause(consumer, for_ms)
            case Works(for_ms=for_ms):
                self._work(consumer, for_ms)
            case IsCutOff(for_ms=for_ms):
                consumer.cut_until_ms = max(consumer.cut_until_ms, self.now_ms + for_ms)
                self.note(f"{consumer.name} is cut off for {for_ms / 1000:g} s")
                self._note_when(consumer, consumer.cut_until_ms, f"{consumer.name} is connected again")
        return None

    def _start(self, consumer: Consumer) -> None:
        if consumer.is_running:
            return
        consumer.incarnation += 1
        consumer.is_running, consumer.waits, consumer.is_called_to_poll = True, True, False
        consumer.paused_until_ms = consumer.working_until_ms = consumer.cut_until_ms = 0
        consumer.poll_distance_ms = consumer.processing_ms
        consumer.polled_ms = self.now_ms
        self.note(f"{consumer.name} starts")
        self.protocol.started(consumer)

    def _close(self, consumer: Consumer, cause: str) -> None:
        self.protocol.closed(consumer)
        self._end(consumer, cause)

    def _pause(self, consumer: Consumer, for_ms: int) -> None:
        was_working = consumer.is_working(self.now_ms)
        consumer.paused_until_ms = max(consumer.paused_until_ms, self.now_ms + for_ms)
        if was_working:
            consumer.working_until_ms += for_ms
            consumer.poll_distance_ms += for_ms
        self.note(f"{consumer.name} stands still for {for_ms / 1000:g} s")
        limit_ms = consumer.settings.max_poll_interval_ms
        if limit_ms is not None:
            due_ms = consumer.last_poll_ms(self.now_ms) + limit_ms - self.now_ms
            if due_ms <= for_ms and not consumer.is_in_poll(self.now_ms):
                self.after(consumer, due_ms, self._stood_too_long, thread="heartbeat")
        self.clock.at(consumer.paused_until_ms, SCENARIO, self._wake, consumer, consumer.incarnation)

    def _stood_too_long(self, consumer: Consumer) -> None:
        """After a pause the heartbeat thread is the first to look at the clock."""
        self.protocol.poll_interval_exceeded(consumer)

    def _wake(self, consumer: Consumer, incarnation: int) -> None:
        if consumer.is_running and consumer.incarnation == incarnation and not consumer.is_paused(self.now_ms):
            self.note(f"{consumer.name} goes on")
            if not consumer.is_working(self.now_ms):
                consumer.polled_ms = self.now_ms

    def _work(self, consumer: Consumer, for_ms: int) -> None:
        records = consumer.settings.max_poll_records
        share = 1 if records is None else min(records, POLL_RECORDS) / POLL_RECORDS
        consumer.polled_ms = self.now_ms
        consumer.poll_distance_ms = max(1, round(for_ms * share))
        consumer.working_until_ms = self.now_ms + for_ms
        self.note(f"{consumer.name} works for {for_ms / 1000:g} s on {'one poll' if share == 1 else 'a few polls'}")
        self._watch_poll_interval(consumer)
        self.clock.at(consumer.working_until_ms, POLL_THREAD, self._finish_work, consumer, consumer.incarnation)

    def _grow(self, event: Grows) -> None:
        if event.topic not in self.topics or event.partition_count <= self.topics[event.topic]:
            raise IllegalEvent(
                f"{event}: topics can only grow; there are "
                + ", ".join(f"{name} with {count}" for name, count in self.topics.items())
            )
        self.topics[event.topic] = event.partition_count
        self.note(f"{event.topic} grows to {event.partition_count} partitions")
        self.protocol.topic_grew()

    def _note_when(self, consumer: Consumer, at_ms: int, words: str) -> None:
        self.clock.at(at_ms, SCENARIO, self._note_if_running, consumer, consumer.incarnation, words)

    def _note_if_running(self, consumer: Consumer, incarnation: int, words: str) -> None:
        if consumer.is_running and consumer.incarnation == incarnation:
            self.note(words)


def _in_words(event: ScenarioEvent) -> str:
    return {"Leaves": "leaving", "Crashes": "a crash", "Pauses": "a pause", "Works": "work"}.get(
        type(event).__name__, type(event).__name__
    )
