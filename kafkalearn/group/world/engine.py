"""The stage of a scenario: virtual time, the network, the two threads of every process, and what is noted down."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafkalearn.group.world.clock import HEARTBEAT_THREAD, NETWORK, POLL_THREAD, Clock
from kafkalearn.group.world.consumers import Consumer
from kafkalearn.group.world.events import Scenario
from kafkalearn.group.world.protocol import Protocol
from kafkalearn.group.world.recorder import Recorder
from kafkalearn.group.world.settings import Settings
from kafkalearn.topic_partition import TopicPartition

RANKS = {"heartbeat": HEARTBEAT_THREAD, "poll": POLL_THREAD}


class Stage:
    """What a protocol plays on. It lives for one run; what remains is the recorder's."""

    def __init__(self, scenario: Scenario, settings: Settings, protocol: Callable[[Stage], Protocol]) -> None:
        """Set the stage: nobody has started yet."""
        self.scenario = scenario
        self.settings = settings
        self.release = settings.release
        self.topics = dict(scenario.topics)
        self.clock = Clock()
        self.latency_ms = settings["latency.ms"]
        names = scenario.members
        self.consumers = {
            name: Consumer(name, settings.of(name), settings["processing.ms"], index, len(names))
            for index, name in enumerate(names)
        }
        self.recorder = Recorder()
        self._causes: list[str] = []
        self._timers: set[int] = set()
        self.protocol = protocol(self)

    @property
    def now_ms(self) -> int:
        """The present moment."""
        return self.clock.now_ms

    # ---- what is noted down

    def _after_each_ms(self) -> None:
        if self._causes:
            self._snap()

    def _snap(self) -> None:
        now_ms = self.now_ms
        view = self.protocol.view()
        members = tuple((each.name, each.doing(now_ms), each.owned) for each in self.consumers.values())
        self.recorder.snap(now_ms, view, members, self.topics, self._causes)
        self._causes = []

    def note(self, cause: str) -> None:
        """Something worth a frame has happened; what happens in one ms shares a frame."""
        self._causes.append(cause)

    def rebalance_starts(self, cause: str) -> None:
        """The group begins to agree anew; further causes are added while it does."""
        self.recorder.rebalance_starts(self.now_ms, cause)

    def rebalance_ends(self) -> None:
        """The group agrees again."""
        self.recorder.rebalance_ends(self.now_ms, self.protocol.view().generation)

    # ---- what a protocol may ask for

    def send(self, consumer: Consumer, request: object) -> None:
        """A request goes to the coordinator; cut off, it arrives once the network is back."""
        leaves_ms = max(self.now_ms, consumer.cut_until_ms)
        self.clock.at(leaves_ms + self.latency_ms, NETWORK, self._arrive, consumer, consumer.incarnation, request)

    def _arrive(self, consumer: Consumer, incarnation: int, request: object) -> None:
        if self.now_ms < consumer.cut_until_ms:
            self.clock.at(consumer.cut_until_ms, NETWORK, self._arrive, consumer, incarnation, request)
        else:
            self.protocol.request(consumer, incarnation, request)

    def answer(
        self, consumer: Consumer, incarnation: int, handler: Callable, *args: object, thread: str = "heartbeat"
    ) -> None:
        """An answer goes back; the process handles it with ``handler(consumer, *args)`` on one of its threads."""
        arrives_ms = max(self.now_ms, consumer.cut_until_ms) + self.latency_ms
        self._call(arrives_ms, consumer, incarnation, handler, args, RANKS[thread])

    def after(self, consumer: Consumer, delay_ms: int, handler: Callable, *args: object, thread: str) -> None:
        """A timer of the client: ``handler(consumer, *args)`` later, on one of its threads."""
        self._call(self.now_ms + delay_ms, consumer, consumer.incarnation, handler, args, RANKS[thread])

    def coordinator_timer(self, at_ms: int) -> None:
        """Have the protocol's `time` called at that moment; asking twice does no harm."""
        if at_ms not in self._timers:
            self._timers.add(at_ms)
            self.clock.at(at_ms, NETWORK, self._coordinator_time, at_ms)

    def _coordinator_time(self, at_ms: int) -> None:
        self._timers.discard(at_ms)
        self.protocol.time()

    def wake_poll(self, consumer: Consumer) -> None:
        """Have the protocol's `polls` called as soon as the poll thread is in poll()."""
        if not consumer.is_called_to_poll:
            consumer.is_called_to_poll = True
            due_ms = consumer.next_poll_ms(self.now_ms)
            self._call(due_ms, consumer, consumer.incarnation, self._polls, (), POLL_THREAD)

    def _polls(self, consumer: Consumer) -> None:
        consumer.is_called_to_poll = False
        self.protocol.polls(consumer)

    def owns(self, consumer: Consumer, partitions: Iterable[TopicPartition], cause: str = "") -> None:
        """What the consumer itself believes to own from now on."""
        had, consumer.owned = consumer.owned, tuple(partitions)
        if bool(had) != bool(consumer.owned):
            self._has_polled(consumer)
        if had != consumer.owned or cause:
            self.note(cause)

    def waits(self, consumer: Consumer, waits: bool) -> None:
        """Whether the consumer waits for the coordinator and reads nothing meanwhile."""
        if consumer.waits != waits:
            consumer.waits = waits
            self._has_polled(consumer)
            self.note("")

    def dies(self, consumer: Consumer, why: str) -> None:
        """The process ends by an error that cannot be mended."""
        self._end(consumer, f"{consumer.name} stops: {why}")

    def _has_polled(self, consumer: Consumer) -> None:
        """The poll thread has just come back from poll(): its work on the records begins now."""
        if not consumer.is_working(self.now_ms):
            consumer.polled_ms = self.now_ms
            self._watch_poll_interval(consumer)

    def _watch_poll_interval(self, consumer: Consumer) -> None:
        """If the work on one poll's records takes too long, the heartbeat thread will see it."""
        limit_ms = consumer.settings.max_poll_interval_ms
        if limit_ms is not None and consumer.poll_distance_ms >= limit_ms:
            self.after(consumer, limit_ms, self._look_at_poll, consumer.polled_ms, thread="heartbeat")

    def _look_at_poll(self, consumer: Consumer, polled_ms: int) -> None:
        limit_ms = consumer.settings.max_poll_interval_ms
        if consumer.polled_ms > polled_ms and not consumer.is_working(self.now_ms):
            return
        last_ms = consumer.last_poll_ms(self.now_ms - 1)  # if it polls at this very moment, it is too late
        if self.now_ms - last_ms >= limit_ms:
            if not consumer.is_working(self.now_ms):  # ordinary polls take too long: this one is worth being shown
                consumer.working_until_ms = last_ms + consumer.poll_distance_ms
                self.clock.at(consumer.working_until_ms, POLL_THREAD, self._finish_work, consumer, consumer.incarnation)
            self.protocol.poll_interval_exceeded(consumer)
        next_ms = last_ms + consumer.poll_distance_ms + limit_ms
        if next_ms < consumer.working_until_ms:
            self.after(consumer, next_ms - self.now_ms, self._look_at_poll, polled_ms, thread="heartbeat")

    # ---- the threads of a process

    def _call(
        self, when_ms: int, consumer: Consumer, incarnation: int, handler: Callable, args: tuple, rank: int
    ) -> None:
        self.clock.at(when_ms, rank, self._on_thread, consumer, incarnation, handler, args, rank)

    def _on_thread(self, consumer: Consumer, incarnation: int, handler: Callable, args: tuple, rank: int) -> None:
        """Run something on a thread, once nothing stops that thread; in a process that is gone, never."""
        if not consumer.is_running or consumer.incarnation != incarnation:
            return
        due_ms = self.now_ms
        if consumer.is_paused(due_ms):
            due_ms = consumer.paused_until_ms
        elif rank == POLL_THREAD and consumer.is_working(due_ms):
            due_ms = min(consumer.next_poll_ms(due_ms), consumer.working_until_ms)
        if due_ms > self.now_ms:
            self._call(due_ms, consumer, incarnation, handler, args, rank)
        else:
            handler(consumer, *args)

    # ---- the ends of what a thread does

    def _finish_work(self, consumer: Consumer, incarnation: int) -> None:
        if not consumer.is_running or consumer.incarnation != incarnation:
            return
        if consumer.is_working(self.now_ms):  # a pause has prolonged it
            self.clock.at(consumer.working_until_ms, POLL_THREAD, self._finish_work, consumer, incarnation)
            return
        consumer.poll_distance_ms = consumer.processing_ms
        consumer.polled_ms = self.now_ms
        self.note(f"{consumer.name} has done its work")

    def _end(self, consumer: Consumer, cause: str) -> None:
        consumer.is_running, consumer.waits, consumer.owned = False, False, ()
        self.note(cause)
