"""The plug: what a group protocol must answer so that scenarios can be played with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from kafkalearn.group.world.consumers import Consumer


class GroupView(NamedTuple):
    """The group as its coordinator sees it."""

    state: str
    generation: int  # of a KIP-848 group: its epoch
    leader: str | None = None  # the consumer that leads, by name


class Protocol(ABC):
    """Coordinator and client side of one group protocol; one object for one run."""

    name: str

    def __init__(self, world: Any) -> None:
        """Take the `World` whose consumers are to be moved."""
        self.world = world

    @abstractmethod
    def started(self, consumer: Consumer) -> None:
        """A process has started; its poll thread makes the first poll."""

    @abstractmethod
    def closed(self, consumer: Consumer) -> None:
        """The application closes the consumer: send what has to be sent; the process ends at once."""

    @abstractmethod
    def polls(self, consumer: Consumer) -> None:
        """The poll thread is in poll(), as `World.wake_poll` asked."""

    @abstractmethod
    def poll_interval_exceeded(self, consumer: Consumer) -> None:
        """The heartbeat thread finds that ``max.poll.interval.ms`` has passed since the last poll."""

    @abstractmethod
    def topic_grew(self) -> None:
        """The world's topics have more partitions than before."""

    @abstractmethod
    def request(self, consumer: Consumer, incarnation: int, request: object) -> None:
        """A request has arrived at the coordinator."""

    @abstractmethod
    def time(self) -> None:
        """A timer of the coordinator is due; see `World.coordinator_timer`."""

    @abstractmethod
    def view(self) -> GroupView:
        """The group at this moment."""
