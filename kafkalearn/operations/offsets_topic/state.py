"""Which brokers live, where the offsets topic lies, and who leads each of its partitions."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalearn.operations.offsets_topic.effects import Effect
from kafkalearn.operations.offsets_topic.settings import Settings
from kafkalearn.operations.placement.brokers import Placement, Replicas


@dataclass(frozen=True, slots=True)
class OffsetsTopic:
    """The topic on its brokers.

    Attributes
    ----------
    live : tuple of int
        Brokers that are up, by id.
    fenced : tuple of int
        Brokers that were up once, and are down.
    replicas, isr : tuple of tuple of int
        For each partition; empty: there is no topic.
    leaders : tuple of int or None
        For each partition; None: none of its in-sync replicas lives.
    pending : tuple of (int, tuple of int)
        Partitions whose reassignment waits for a leader, each with the replicas that it is to have.
    """

    live: tuple[int, ...] = ()
    fenced: tuple[int, ...] = ()
    replicas: Placement = ()
    isr: Placement = ()
    leaders: tuple[int | None, ...] = ()
    pending: tuple[tuple[int, Replicas], ...] = ()
    effects: tuple[Effect, ...] = field(default=(), compare=False)

    @property
    def is_created(self) -> bool:
        """Whether there is a topic."""
        return bool(self.replicas)

    @property
    def leaderless(self) -> tuple[int, ...]:
        """The partitions whose groups have no coordinator."""
        return tuple(partition for partition, leader in enumerate(self.leaders) if leader is None)


def start(settings: Settings) -> OffsetsTopic:
    """A cluster none of whose brokers was ever started."""
    return OffsetsTopic()
