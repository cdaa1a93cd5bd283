"""The processes of the consumers: they start and end, own partitions, poll, stand still, work and lose the network."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafkalearn.group.world.clock import HEARTBEAT_THREAD, POLL_THREAD, SCENARIO, Clock
from kafkalearn.group.world.consumers import POLL_RECORDS, Client, Consumer
from kafkalearn.group.world.recorder import Recorder
from kafkalearn.group.world.subscriptions import Subscription
from kafkalearn.group.world.threads import Threads
from kafkalearn.phrases import counted
from kafkalearn.topic_partition import TopicPartition


class Processes:
    """Changes consumers, and watches that each polls often enough."""

    def __init__(self, clock: Clock, threads: Threads, recorder: Recorder) -> None:
        """Of consumers that live by this clock and these threads; what happens to them is recorded."""
        self._clock = clock
        self._threads = threads
        self._recorder = recorder

    # ---- start and end

    def start(self, consumer: Consumer, new_client: Callable[[Consumer], Client]) -> None:
        """Start a process, unless one is running; its poll thread makes the first poll."""
        if consumer.is_running:
            return
        consumer.incarnation += 1
        consumer.is_running, consumer.is_waiting, consumer.is_called_to_poll = True, True, False
        consumer.paused_until_ms = consumer.working_until_ms = consumer.disconnected_until_ms = 0
        consumer.poll_distance_ms = consumer.processing_ms
        consumer.polled_ms = self._clock.now_ms
        consumer.subscription = consumer.first_subscription
        self._recorder.note(f"{consumer.name} starts")
        consumer.client = new_client(consumer)
        self._threads.wake_poll(consumer)

    def close(self, consumer: Consumer, cause: str) -> None:
        """The application closes the consumer, and the process ends."""
        consumer.client.close()
        self.end(consumer, cause)

    def fail(self, consumer: Consumer, why: str) -> None:
        """The process ends by an error that no client recovers from."""
        self.end(consumer, f"{consumer.name} stops: {why}")

    def end(self, consumer: Consumer, cause: str) -> None:
        """The process ends; nobody else learns of it."""
        consumer.is_running, consumer.is_waiting, consumer.owned = False, False, ()
        self._recorder.note(cause)

    # ---- what a consumer believes

    def assign(self, consumer: Consumer, partitions: tuple[TopicPartition, ...]) -> None:
        """The consumer owns what its coordinator has assigned."""
        count = counted(len(partitions), "partition") if partitions else "no partition"
        self.set_owned(consumer, partitions, f"{consumer.name} is assigned {count}")

    def take_away(self, consumer: Consumer, why: str) -> None:
        """The consumer owns nothing any more: ``c1 rejoins``, or ``c1 has lost its partitions``."""
        self.set_owned(consumer, (), f"{consumer.name} {why}" if consumer.owned else "")

    def set_owned(self, consumer: Consumer, partitions: Iterable[TopicPartition], cause: str = "") -> None:
        """Change what the consumer itself believes to own."""
        had, consumer.owned = consumer.owned, tuple(partitions)
        if bool(had) != bool(consumer.owned):
            self._has_polled(consumer)
        if had != consumer.owned or cause:
            self._recorder.note(cause)

    def set_waiting(self, consumer: Consumer, is_waiting: bool) -> None:
        """Change whether the consumer waits for the coordinator and reads nothing meanwhile."""
        if consumer.is_waiting != is_waiting:
            consumer.is_waiting = is_waiting
            self._has_polled(consumer)
            self._recorder.note("")

    # ---- what the application does

    def subscribe(self, consumer: Consumer, subscription: Subscription) -> None:
        """The application calls ``subscribe`` again."""
        consumer.subscription = subscription
        self._recorder.note(f"{consumer.name} subscribes to {subscription}")
        consumer.client.subscription_changed()

    # ---- accidents

    def pause(self, consumer: Consumer, for_ms: int) -> None:
        """Both threads stand still for a time."""
        now_ms = self._clock.now_ms
        was_working = consumer.is_working(now_ms)
        consumer.paused_until_ms = max(consumer.paused_until_ms, now_ms + for_ms)
        if was_working:
            consumer.working_until_ms += for_ms
            consumer.poll_distance_ms += for_ms
        self._recorder.note(f"{consumer.name} stands still for {for_ms / 1000:g} s")
        limit_ms = consumer.settings.max_poll_interval_ms
        if limit_ms is not None:
            due_ms = consumer.last_poll_ms(now_ms) + limit_ms - now_ms
            if due_ms <= for_ms and not consumer.is_in_poll(now_ms):
                # After a pause the heartbeat thread is the first to look at the clock.
                self._threads.after(due_ms, consumer, HEARTBEAT_THREAD, consumer.client.poll_interval_exceeded)
        self._clock.at(consumer.paused_until_ms, SCENARIO, self._resume, consumer, consumer.incarnation)

    def _resume(self, consumer: Consumer, incarnation: int) -> None:
        if consumer.is_alive(incarnation) and not consumer.is_paused(self._clock.now_ms):
            self._recorder.note(f"{consumer.name} goes on")
            if not consumer.is_working(self._clock.now_ms):
                consumer.polled_ms = self._clock.now_ms

    def work(self, consumer: Consumer, for_ms: int) -> None:
        """The poll thread processes records for a time; fewer records in a poll make more and shorter polls of it."""
        records = consumer.settings.max_poll_records
        share = 1 if records is None else min(records, POLL_RECORDS) / POLL_RECORDS
        consumer.polled_ms = self._clock.now_ms
        consumer.poll_distance_ms = max(1, round(for_ms * share))
        consumer.working_until_ms = self._clock.now_ms + for_ms
        polls = "one poll" if share == 1 else "a few polls"
        self._recorder.note(f"{consumer.name} works for {for_ms / 1000:g} s on {polls}")
        self._watch_poll_interval(consumer)
        self._finish_work_later(consumer)

    def _finish_work_later(self, consumer: Consumer) -> None:
        self._clock.at(consumer.working_until_ms, POLL_THREAD, self._finish_work, consumer, consumer.incarnation)

    def _finish_work(self, consumer: Consumer, incarnation: int) -> None:
        if not consumer.is_alive(incarnation):
            return
        if consumer.is_working(self._clock.now_ms):  # a pause has prolonged it
            self._finish_work_later(consumer)
            return
        consumer.poll_distance_ms = consumer.processing_ms
        consumer.polled_ms = self._clock.now_ms
        self._recorder.note(f"{consumer.name} has done its work")

    def disconnect(self, consumer: Consumer, for_ms: int) -> None:
        """No request or answer passes for a time."""
        consumer.disconnected_until_ms = max(consumer.disconnected_until_ms, self._clock.now_ms + for_ms)
        self._recorder.note(f"{consumer.name} is cut off for {for_ms / 1000:g} s")
        self._clock.at(consumer.disconnected_until_ms, SCENARIO, self._note_connected, consumer, consumer.incarnation)

    def _note_connected(self, consumer: Consumer, incarnation: int) -> None:
        if consumer.is_alive(incarnation):
            self._recorder.note(f"{consumer.name} is connected again")

    # ---- max.poll.interval.ms

    def _has_polled(self, consumer: Consumer) -> None:
        """The poll thread has just come back from poll(): its work on the records begins now."""
        if not consumer.is_working(self._clock.now_ms):
            consumer.polled_ms = self._clock.now_ms
            self._watch_poll_interval(consumer)

    def _watch_poll_interval(self, consumer: Consumer) -> None:
        """If the work on the records of one poll takes too long, the heartbeat thread will notice."""
        limit_ms = consumer.settings.max_poll_interval_ms
        if limit_ms is not None and consumer.poll_distance_ms >= limit_ms:
            self._check_poll_later(limit_ms, consumer, consumer.polled_ms)

    def _check_poll_later(self, delay_ms: int, consumer: Consumer, polled_ms: int) -> None:
        self._threads.after(delay_ms, consumer, HEARTBEAT_THREAD, self._check_poll, consumer, polled_ms)

    def _check_poll(self, consumer: Consumer, polled_ms: int) -> None:
        now_ms, limit_ms = self._clock.now_ms, consumer.settings.max_poll_interval_ms
        if limit_ms is None or (consumer.polled_ms > polled_ms and not consumer.is_working(now_ms)):
            return
        last_ms = consumer.last_poll_ms(now_ms - 1)  # if it polls at this very moment, it is too late
        if now_ms - last_ms >= limit_ms:
            if not consumer.is_working(now_ms):  # ordinary polls take too long: this one is worth being shown
                consumer.working_until_ms = last_ms + consumer.poll_distance_ms
                self._finish_work_later(consumer)
            consumer.client.poll_interval_exceeded()
        next_ms = last_ms + consumer.poll_distance_ms + limit_ms
        if next_ms < consumer.working_until_ms:
            self._check_poll_later(next_ms - now_ms, consumer, polled_ms)
