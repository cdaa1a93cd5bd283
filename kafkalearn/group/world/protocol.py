"""What a group protocol must offer so that scenarios can be played with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from kafkalearn.group.world.consumers import Client, Consumer


class GroupView(NamedTuple):
    """The group as its coordinator sees it."""

    state: str
    generation: int  # of a KIP-848 group: its epoch
    leader: str | None = None  # the consumer that leads, by name


class Protocol(ABC):
    """One group protocol in one run: its coordinator, and the clients that talk to it."""

    @abstractmethod
    def client(self, consumer: Consumer) -> Client:
        """The client of a process that has just started."""

    @abstractmethod
    def topic_changed(self, topic: str) -> None:
        """A topic of the world was created, was deleted, or has more partitions than before."""

    @abstractmethod
    def view(self) -> GroupView:
        """The group at this moment."""
