"""The coordinator's store: the log of one partition of the offsets topic, and what is in memory of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kafkalearn.offsets.groups import Group
from kafkalearn.offsets.store.effects import Answer
from kafkalearn.offsets.store.settings import Settings

OWNED, LOADING, NOT_OWNED, FAILED = "owned", "loading", "not owned", "failed"
STATUSES = (OWNED, LOADING, NOT_OWNED, FAILED)
"""What a broker may be to a partition of the offsets topic. ``failed``: the load broke off, since 4.0."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A record of the log; its index in the log is its offset."""

    key: bytes | None
    value: bytes | None
    producer_id: int | None = None  # written in a transaction of this producer
    marker: str | None = None  # COMMIT or ABORT: the end of its transaction, no record of the offsets topic
    is_foreign: bool = False  # produced by somebody: the cache has it after the next load only


@dataclass(frozen=True, slots=True)
class Store:
    """One partition of the offsets topic and what its coordinator keeps of it in memory."""

    status: str = OWNED
    log: tuple[Entry, ...] = ()
    groups: tuple[Group, ...] = ()  # the cache, by group id
    in_flight: tuple[int, ...] = ()  # offsets of entries that the replicas have not confirmed
    read_count: int = 0  # entries taken into the cache so far, while loading
    timed_out: tuple[int, ...] = ()  # of those in flight the commits whose sender has got an error
    unreplicated: tuple[int, ...] = ()  # offsets of entries that nobody waits for and the replicas do not have
    effects: tuple[Answer, ...] = field(default=(), compare=False)  # of the last event: an answer, if it was a request

    def group(self, group_id: str) -> Group | None:
        """A group of the cache; None: it is not there."""
        return next((group for group in self.groups if group.group_id == group_id), None)

    def answering(self, error: str = "NONE", offset: int | None = None) -> Store:
        """The same store, its effect the answer to a request."""
        return replace(self, effects=(Answer(error, offset),))


def start(settings: Settings) -> Store:
    """The store of a broker that leads the partition: nothing is written yet."""
    return Store()
