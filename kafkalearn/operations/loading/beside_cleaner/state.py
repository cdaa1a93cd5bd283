"""The log, what its records say of members, and how far a load of it has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkalearn.log.state import Log
from kafkalearn.log.state import start as start_log
from kafkalearn.offsets.store.state import NOT_OWNED
from kafkalearn.operations.loading.beside_cleaner.effects import Effect
from kafkalearn.operations.loading.beside_cleaner.settings import Settings


class Assigned(NamedTuple):
    """What a member owns, and since which epoch of its own."""

    epoch: int
    partitions: tuple[int, ...] = ()

    def as_text(self) -> str:
        """As it stands in the value of a record here."""
        return f"{self.epoch}:{','.join(map(str, self.partitions))}"

    @classmethod
    def from_text(cls, value: str) -> Assigned:
        """The other way.

        >>> Assigned.from_text("3:0,1")
        Assigned(epoch=3, partitions=(0, 1))
        """
        epoch, _, partitions = value.partition(":")
        return cls(int(epoch), tuple(int(each) for each in partitions.split(",") if each))


@dataclass(frozen=True, slots=True)
class Loading:
    """The log, and how far a load of it has come.

    Attributes
    ----------
    log : kafkalearn.log.Log
        As it is now, cleaned or not.
    status : str
        Of the partition on the broker: `not owned`, `loading`, `owned` or `failed`.
    position : int
        The offset that is read next.
    members : tuple of (str, Assigned)
        What the load has seen of each member last.
    owners : tuple of (int, int)
        For each partition that has an owner the epoch in which it got it.
    """

    log: Log
    status: str = NOT_OWNED
    position: int = 0
    members: tuple[tuple[str, Assigned], ...] = ()
    owners: tuple[tuple[int, int], ...] = ()
    effects: tuple[Effect, ...] = field(default=(), compare=False)


def start(settings: Settings) -> Loading:
    """An empty partition that nobody has loaded."""
    return Loading(start_log(settings.log))


def logged(log: Log) -> Mapping[str, Assigned]:
    """What each member owns, by the last record of each in the log.

    >>> from kafkalearn.operations.loading.beside_cleaner import Written, simulate
    >>> logged(simulate(Settings(), [Written("A", 1, (0,)), Written("A", 2)])[-1].state.log)
    {'A': Assigned(epoch=2, partitions=())}
    """
    return {str(record.key): Assigned.from_text(str(record.value)) for record in log.records}
