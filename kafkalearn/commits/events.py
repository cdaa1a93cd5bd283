"""What can happen to a group that reads one partition: what its consumers do, and what happens to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Start:
    """A consumer starts and gets the partition; the consumer that had it before is out of the group.

    If that one still runs (it was paused for too long) it does not know that it is out: it goes on as a *zombie*.
    """

    by: str = "A"


@dataclass(frozen=True, slots=True)
class Assign:
    """A standalone consumer starts: it names its partition itself and is in no group."""

    by: str = "A"


@dataclass(frozen=True, slots=True)
class Rebalance:
    """The partition goes from its owner to another member, in a rebalance that both take part in."""

    to: str = "B"


@dataclass(frozen=True, slots=True)
class Poll:
    """A consumer calls poll: an auto commit if one is due, then the next records."""

    by: str = "A"
    at_most: int | None = None  # records there are to get; None: as many as max.poll.records allows


@dataclass(frozen=True, slots=True)
class Process:
    """A record is processed and its result goes to the sink: the next unprocessed one, or the one named."""

    by: str = "A"
    offset: int | None = None
    took_ms: int = 0


@dataclass(frozen=True, slots=True)
class CommitSync:
    """commitSync: returns when the coordinator has answered. Without an offset it commits the position.

    Where the coordinator refuses it, Java's consumer throws CommitFailedException.
    """

    by: str = "A"
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class CommitAsync:
    """commitAsync: returns at once; the answer comes later. Without an offset it commits the position.

    Nothing is thrown: the callback gets the error, CommitFailedException where the coordinator refuses the commit,
    RetriableCommitFailedException where a retry could succeed.
    """

    by: str = "A"
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The oldest asynchronous commit of a consumer has reached the coordinator, and the callback has its answer.

    The requests of a consumer travel on one connection, so they arrive in order. `is_retriable` stands for an error
    of the coordinator after which a retry can succeed, such as COORDINATOR_LOAD_IN_PROGRESS.
    """

    by: str = "A"
    is_retriable: bool = False


@dataclass(frozen=True, slots=True)
class Close:
    """A consumer calls close: a last auto commit if that is on, then it leaves the group."""

    by: str = "A"


@dataclass(frozen=True, slots=True)
class Crash:
    """A consumer is gone, with its position, its unprocessed records and its requests on the way."""

    by: str = "A"


@dataclass(frozen=True, slots=True)
class Append:
    """Producers write more records."""

    record_count: int = 1


@dataclass(frozen=True, slots=True)
class Delete:
    """Retention deletes all records below an offset."""

    log_start: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Time passes."""

    ms: int


CommitEvent: TypeAlias = (
    Start | Assign | Rebalance | Poll | Process | CommitSync | CommitAsync | Answered
    | Close | Crash | Append | Delete | Wait
)  # fmt: skip
