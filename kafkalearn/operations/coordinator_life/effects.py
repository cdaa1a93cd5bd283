"""What a step led to: orders, loads, resignations, answers, and what the timers removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.operations.leadership.effects import ElectionAnswered, ImbalanceFound, LeaderChanged


@dataclass(frozen=True, slots=True)
class OrderIssued:
    """A broker will be asked to become coordinator (``election``) or to stop being it (``resignation``)."""

    broker_id: int
    kind: str
    epoch: int


@dataclass(frozen=True, slots=True)
class OrderIgnored:
    """An order came to nothing; `reason` says why."""

    broker_id: int
    kind: str
    epoch: int
    reason: str


@dataclass(frozen=True, slots=True)
class LoadBegun:
    """A broker begins to read the log of the partition."""

    broker_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class LoadEnded:
    """A broker has read what it could and answers from now on."""

    broker_id: int
    record_count: int
    group_count: int


@dataclass(frozen=True, slots=True)
class LoadFailed:
    """The load broke off, since 4.0: the broker answers NOT_COORDINATOR until a newer order."""

    broker_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class Resigned:
    """A broker has forgotten the groups; who waits for an answer gets NOT_COORDINATOR, and nothing is written."""

    broker_id: int
    epoch: int
    group_count: int


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a request; `value` is a broker (FindCoordinator) or an offset (OffsetFetch; -1: none)."""

    broker_id: int
    api: str
    group_id: str
    error: str
    value: int | None = None


@dataclass(frozen=True, slots=True)
class NotReached:
    """No broker of this id answers: the connection is refused."""

    broker_id: int
    api: str
    group_id: str


@dataclass(frozen=True, slots=True)
class Swept:
    """The expiry task of a broker has run: what it removed."""

    broker_id: int
    offset_count: int
    group_count: int


@dataclass(frozen=True, slots=True)
class SessionExpired:
    """A member has not been heard of for its session timeout, counted anew from the load."""

    broker_id: int
    group_id: str
    member_id: str


Effect: TypeAlias = (
    OrderIssued | OrderIgnored | LoadBegun | LoadEnded | LoadFailed | Resigned | Answered | NotReached | Swept
    | SessionExpired | LeaderChanged | ImbalanceFound | ElectionAnswered
)  # fmt: skip
