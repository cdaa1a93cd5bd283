"""What may happen: what the threads of the consumer do, what its application does, and what happens to brokers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, TypeAlias

from kafkalearn.fields import BrokerId, Checked, Index, Offset, RecordCount, Whole


class Assigned(NamedTuple):
    """A partition that a rebalance gave to the consumer: for which stream, and the offset that was committed."""

    topic: str
    partition: int
    stream: int = 0
    offset: int = -1  # -1: nothing is committed


@dataclass(frozen=True, slots=True)
class StartConnections(Checked):
    """A rebalance has ended: the consumer may fetch these partitions; all of them begin without a leader."""

    assigned: tuple[Assigned, ...]


@dataclass(frozen=True, slots=True)
class StopConnections(Checked):
    """A rebalance begins: the leader finder and all fetchers stop, queues are cleared, ownership is given up."""


@dataclass(frozen=True, slots=True)
class Shutdown(Checked):
    """The application shuts the consumer down."""


@dataclass(frozen=True, slots=True)
class FindLeaders(Checked):
    """A round of the leader finder: it asks for the leaders of partitions without one, and starts fetchers."""


@dataclass(frozen=True, slots=True)
class Fetch(Checked):
    """A round of a fetcher: one request for all its partitions, and what comes back goes to the queues."""

    broker_id: BrokerId
    fetcher_id: Index = 0


@dataclass(frozen=True, slots=True)
class Next(Checked):
    """The application asks a stream for its next record."""

    stream: Index = 0


@dataclass(frozen=True, slots=True)
class CommitOffsets(Checked):
    """The application, or the timer of auto commit, commits what every partition has consumed."""


@dataclass(frozen=True, slots=True)
class Append(Checked):
    """Somebody produces records to a partition, each a batch of its own with so many bytes."""

    topic: str
    partition: Index
    count: RecordCount = 1
    size_bytes: Annotated[int, Whole(1)] = 100


@dataclass(frozen=True, slots=True)
class RecordsDeleted(Checked):
    """Retention, or a request, has deleted the records of a partition before an offset."""

    topic: str
    partition: Index
    before: Offset


@dataclass(frozen=True, slots=True)
class LogTruncated(Checked):
    """An unclean election has cut a partition: records from this offset on are gone."""

    topic: str
    partition: Index
    end_offset: Offset


@dataclass(frozen=True, slots=True)
class LeaderMoved(Checked):
    """A partition has another leader; None: it has none."""

    topic: str
    partition: Index
    broker_id: BrokerId | None


@dataclass(frozen=True, slots=True)
class BrokerCrashed(Checked):
    """A broker no longer answers; what it led still has it as leader, until `LeaderMoved`."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class BrokerRestarted(Checked):
    """A broker answers again."""

    broker_id: BrokerId


BrokerEvent: TypeAlias = Append | RecordsDeleted | LogTruncated | LeaderMoved | BrokerCrashed | BrokerRestarted
FetchingEvent: TypeAlias = (
    StartConnections | StopConnections | Shutdown | FindLeaders | Fetch | Next | CommitOffsets | BrokerEvent
)
