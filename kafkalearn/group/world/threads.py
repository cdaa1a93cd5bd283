"""The two threads of every consumer process: they make calls in virtual time, as soon as nothing stops them."""

from __future__ import annotations

from kafkalearn.group.world.clock import POLL_THREAD, Callback, Clock
from kafkalearn.group.world.consumers import Consumer


class Threads:
    """Makes the calls of client code. A call for a process that has ended is never made."""

    def __init__(self, clock: Clock) -> None:
        """Of all processes that live by this clock."""
        self._clock = clock

    def at(
        self, when_ms: int, consumer: Consumer, incarnation: int, thread: int, call: Callback, *args: object
    ) -> None:
        """Make a call in one process of a consumer, on its `HEARTBEAT_THREAD` or its `POLL_THREAD`."""
        self._clock.at(when_ms, thread, self._run, consumer, incarnation, thread, call, args)

    def after(self, delay_ms: int, consumer: Consumer, thread: int, call: Callback, *args: object) -> None:
        """Make a call in the present process of a consumer after a time: a timer of the client."""
        self.at(self._clock.now_ms + delay_ms, consumer, consumer.incarnation, thread, call, *args)

    def wake_poll(self, consumer: Consumer) -> None:
        """Have the client's `poll` called as soon as the poll thread is in poll()."""
        if not consumer.is_called_to_poll:
            consumer.is_called_to_poll = True
            due_ms = consumer.next_poll_ms(self._clock.now_ms)
            self.at(due_ms, consumer, consumer.incarnation, POLL_THREAD, self._poll, consumer)

    def _poll(self, consumer: Consumer) -> None:
        consumer.is_called_to_poll = False
        consumer.client.poll()

    def _run(self, consumer: Consumer, incarnation: int, thread: int, call: Callback, args: tuple[object, ...]) -> None:
        """Make the call, or try again when the thread is no longer stopped."""
        if not consumer.is_alive(incarnation):
            return
        due_ms = now_ms = self._clock.now_ms
        if consumer.is_paused(now_ms):
            due_ms = consumer.paused_until_ms
        elif thread == POLL_THREAD and consumer.is_working(now_ms):
            due_ms = min(consumer.next_poll_ms(now_ms), consumer.working_until_ms)
        if due_ms > now_ms:
            self.at(due_ms, consumer, incarnation, thread, call, *args)
        else:
            call(*args)
