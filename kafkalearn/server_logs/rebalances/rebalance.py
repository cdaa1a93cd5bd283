"""One rebalance of a group, and all that logs say about one group."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.server_logs.causes import (
    CAUSES,
    EITHER,
    JOINED,
    TOPICS,
    UNKNOWN,
)
from kafkalearn.server_logs.events import LogEvent

CLASSIC, CONSUMER = "classic", "consumer"


@dataclass(frozen=True, slots=True)
class Rebalance:
    """One rebalance of a group."""

    group: str
    protocol: str  # classic, or consumer (KIP-848)
    started_ms: int | None
    ended_ms: int | None  # None: the log ends before it does, or does not say
    cause: str  # a name in `CAUSES`
    member: str | None  # the member id behind it
    client: str | None  # its client.id
    host: str | None  # its host, or the pod whose log it is
    generation: int | None  # the generation before, or the new group epoch of KIP-848
    is_interrupted: bool  # another began before this one was over
    delayed_by: tuple[str, ...]  # members that were awaited until they were given up
    evidence: tuple[LogEvent, ...]

    @property
    def duration_ms(self) -> int | None:
        """From its first line to the assignment."""
        begin_ms, end_ms = self.started_ms, self.ended_ms
        return None if begin_ms is None or end_ms is None else end_ms - begin_ms

    @property
    def standstill_ms(self) -> int | None:
        """How long nobody reads, with an eager assignor; with KIP-848 nobody ever waits for all."""
        return 0 if self.protocol == CONSUMER else self.duration_ms

    @property
    def is_first(self) -> bool:
        """Whether the group has just been formed, by members that came to an empty one."""
        return self.cause == JOINED and self.generation in (None, 0, 1) and not self.delayed_by

    @property
    def words(self) -> str:
        """The cause as a sentence."""
        said = CAUSES[self.cause].words
        who = self.client or self.member
        alone = (TOPICS, EITHER, UNKNOWN, "over capacity", "store failed")
        if self.cause in alone or who is None:
            return said if self.cause in alone else f"a member {said}"
        return f"{who}{f' ({self.host})' if self.host else ''} {said}"


@dataclass(frozen=True, slots=True)
class GroupHistory:
    """What logs say about one group."""

    group: str
    protocol: str
    rebalances: tuple[Rebalance, ...]
    notes: tuple[LogEvent, ...]  # what happened without a rebalance: static members, a coordinator that moved
    has_broker: bool  # whether a broker's log speaks of it, or only its clients'
    is_rolling: bool  # members closed and came back one after the other
