"""Consumers: their processes, each with two threads that something can stop, and the client that runs in them."""

from __future__ import annotations

from abc import ABC, abstractmethod

from kafkalearn.group.world.settings import MemberSettings
from kafkalearn.group.world.subscriptions import Subscription
from kafkalearn.topic_partition import TopicPartition

CONSUMING = "consuming"
IDLE = "idle"  # in the group, but without a partition
JOINING = "joining"  # it waits for the coordinator and reads nothing
PAUSED = "paused"  # both threads stand still
WORKING = "working"  # the poll thread processes the records of one poll
GONE = "gone"
DOINGS = (CONSUMING, IDLE, JOINING, PAUSED, WORKING, GONE)

POLL_RECORDS = 500  # the poll that a scenario's "works 400 s on one poll" speaks of


class Client(ABC):
    """The code of a protocol's client in one process of a consumer."""

    @abstractmethod
    def poll(self) -> None:
        """Do what the poll thread does inside poll(), as `Threads.wake_poll` asked for."""

    @abstractmethod
    def poll_interval_exceeded(self) -> None:
        """Do what the heartbeat thread does when ``max.poll.interval.ms`` has passed since the last poll."""

    @abstractmethod
    def subscription_changed(self) -> None:
        """The application has called ``subscribe`` with something else; the next poll acts on it."""

    @abstractmethod
    def close(self) -> None:
        """Send what a consumer sends when the application closes it; the process ends at once."""


class Consumer:
    """One named consumer through all its processes."""

    client: Client  # of the last process

    def __init__(
        self,
        name: str,
        settings: MemberSettings,
        processing_ms: int,
        index: int,
        count: int,
        subscription: Subscription,
    ) -> None:
        """Not started yet; it is number `index` of `count`."""
        self.name = name
        self.first_subscription = self.subscription = subscription  # of each process when it starts, and now
        self.index, self.count = index, count
        self.settings = settings
        self.processing_ms = processing_ms
        self.incarnation = 0
        self.is_running = False
        self.owned: tuple[TopicPartition, ...] = ()
        self.is_waiting = False  # for the coordinator; it reads nothing meanwhile
        self.paused_until_ms = 0
        self.disconnected_until_ms = 0
        self.working_until_ms = 0
        self.polled_ms = 0  # a poll that is known for certain; the later ones follow at equal distances
        self.poll_distance_ms = processing_ms
        self.is_called_to_poll = False

    @property
    def instance_id(self) -> str | None:
        """Its ``group.instance.id``; None for a dynamic member."""
        return self.settings.instance_id

    @property
    def label(self) -> str:
        """A name for its present process: ``c1`` for the first, then ``c1/2``."""
        return self.name if self.incarnation == 1 else f"{self.name}/{self.incarnation}"

    def is_alive(self, incarnation: int) -> bool:
        """Whether its process of that number is running."""
        return self.is_running and self.incarnation == incarnation

    def first_heartbeat_ms(self, interval_ms: int) -> int:
        """How long after joining it sends its first heartbeat; then one every interval.

        In a real group the heartbeats of the members drift apart; here they are spread evenly from the start.
        """
        return interval_ms * (self.index + 1) // self.count

    def is_paused(self, now_ms: int) -> bool:
        """Whether both threads stand still."""
        return now_ms < self.paused_until_ms

    def is_working(self, now_ms: int) -> bool:
        """Whether the poll thread processes records for long."""
        return now_ms < self.working_until_ms

    def is_in_poll(self, now_ms: int) -> bool:
        """Whether its poll thread waits inside poll(): for the coordinator, or for records that do not come."""
        return not self.is_working(now_ms) and (self.is_waiting or not self.owned or not self.poll_distance_ms)

    def last_poll_ms(self, now_ms: int) -> int:
        """When its poll thread called poll() last."""
        if self.is_in_poll(now_ms):
            return now_ms
        return now_ms - (now_ms - self.polled_ms) % self.poll_distance_ms

    def next_poll_ms(self, now_ms: int) -> int:
        """When its poll thread is in poll() next; now, if it is."""
        if self.is_in_poll(now_ms):
            return now_ms
        return now_ms + (self.polled_ms - now_ms) % self.poll_distance_ms

    def doing(self, now_ms: int) -> str:
        """One of `DOINGS`."""
        if not self.is_running:
            return GONE
        if self.is_paused(now_ms):
            return PAUSED
        if self.is_working(now_ms):
            return WORKING
        if self.is_waiting:
            return JOINING
        return CONSUMING if self.owned else IDLE
