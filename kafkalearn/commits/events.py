"""What can happen to a group that reads one partition: what its consumers do, and what happens to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.fields import MOST_RECORDS, Checked, Index, Millis, Offset, Whole


@dataclass(frozen=True, slots=True)
class Start(Checked):
    """A consumer starts and gets the partition; the consumer that had it before is out of the group.

    If that one still runs (it was paused for too long) it does not know that it is out: it goes on as a *zombie*.
    """

    by: str = "A"


@dataclass(frozen=True, slots=True)
class Assign(Checked):
    """A standalone consumer starts: it names its partition itself and is in no group."""

    by: str = "A"


@dataclass(frozen=True, slots=True)
class Rebalance(Checked):
    """The partition goes from its owner to another member, in a rebalance that both take part in."""

    to: str = "B"


@dataclass(frozen=True, slots=True)
class Poll(Checked):
    """A consumer calls poll: an auto commit if one is due, then the next records."""

    by: str = "A"
    at_most: Index | None = None  # records there are to get; None: as many as max.poll.records allows


@dataclass(frozen=True, slots=True)
class Process(Checked):
    """A record is processed and its result goes to the sink: the next unprocessed one, or the one named."""

    by: str = "A"
    offset: Offset | None = None
    took_ms: Millis = 0


@dataclass(frozen=True, slots=True)
class CommitSync(Checked):
    """commitSync: returns when the coordinator has answered. Without an offset it commits the position.

    Where the coordinator refuses it, Java's consumer throws CommitFailedException. `metadata` is a text of the
    application's own, stored with the offset and given back with it; the next commit without one wipes it out.
    """

    by: str = "A"
    offset: int | None = None
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class CommitAsync(Checked):
    """commitAsync: returns at once; the answer comes later. Without an offset it commits the position.

    Nothing is thrown: the callback gets the error, CommitFailedException where the coordinator refuses the commit,
    RetriableCommitFailedException where a retry could succeed.
    """

    by: str = "A"
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Answered(Checked):
    """The oldest asynchronous commit of a consumer has reached the coordinator, and the callback has its answer.

    The requests of a consumer travel on one connection, so they arrive in order. `is_retriable` stands for an error
    of the coordinator after which a retry can succeed, such as COORDINATOR_LOAD_IN_PROGRESS.
    """

    by: str = "A"
    is_retriable: bool = False


@dataclass(frozen=True, slots=True)
class Checkpoint(Checked):
    """A stream processor stores results and offset of a consumer together, in its own checkpoint.

    With `is_committed` it then commits the offset to Kafka too, for the tools to see, as Flink does; Spark does not.
    """

    by: str = "A"
    is_committed: bool = True


@dataclass(frozen=True, slots=True)
class Close(Checked):
    """A consumer calls close: a last auto commit if that is on, then it leaves the group."""

    by: str = "A"


@dataclass(frozen=True, slots=True)
class Crash(Checked):
    """A consumer is gone, with its position, its unprocessed records and its requests on the way."""

    by: str = "A"


@dataclass(frozen=True, slots=True)
class Append(Checked):
    """Producers write more records."""

    record_count: Annotated[int, Whole(0, MOST_RECORDS)] = 1


@dataclass(frozen=True, slots=True)
class Delete(Checked):
    """Retention deletes all records below an offset."""

    log_start: Offset


@dataclass(frozen=True, slots=True)
class Wait(Checked):
    """Time passes."""

    ms: Millis


CommitEvent: TypeAlias = (
    Start | Assign | Rebalance | Poll | Process | CommitSync | CommitAsync | Answered
    | Checkpoint | Close | Crash | Append | Delete | Wait
)  # fmt: skip
