"""The network between the consumers and their coordinator."""

from __future__ import annotations

from kafkalearn.group.world.clock import HEARTBEAT_THREAD, NETWORK, Callback, Clock
from kafkalearn.group.world.consumers import Consumer
from kafkalearn.group.world.threads import Threads


class Network:
    """Carries requests and answers. Each takes the latency; a disconnected consumer's arrive once it is back."""

    def __init__(self, clock: Clock, threads: Threads, latency_ms: int) -> None:
        """One that takes `latency_ms` for each way."""
        self._clock = clock
        self._threads = threads
        self._latency_ms = latency_ms

    def send(self, consumer: Consumer, receive: Callback, *request: object) -> None:
        """A request goes to the coordinator, which takes it with ``receive(*request)``."""
        leaves_ms = max(self._clock.now_ms, consumer.disconnected_until_ms)
        self._clock.at(leaves_ms + self._latency_ms, NETWORK, self._arrive, consumer, receive, request)

    def _arrive(self, consumer: Consumer, receive: Callback, request: tuple[object, ...]) -> None:
        if self._clock.now_ms < consumer.disconnected_until_ms:
            self._clock.at(consumer.disconnected_until_ms, NETWORK, self._arrive, consumer, receive, request)
        else:
            receive(*request)

    def answer(
        self,
        consumer: Consumer,
        incarnation: int,
        receive: Callback,
        *answer: object,
        thread: int = HEARTBEAT_THREAD,
    ) -> None:
        """An answer goes back to a process, which takes it with ``receive(*answer)`` on one of its threads."""
        arrives_ms = max(self._clock.now_ms, consumer.disconnected_until_ms) + self._latency_ms
        self._threads.at(arrives_ms, consumer, incarnation, thread, receive, *answer)
