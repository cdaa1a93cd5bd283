"""The brokers that a consumer of the old kinds fetches from: what they hold, who leads, and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, NamedTuple, Never, Protocol, TypeAlias, TypeVar

from kafkalearn.base import facts
from kafkalearn.base.checks import BrokerId, Index, Offset, RecordCount, Whole
from kafkalearn.base.errors import IllegalEvent, listed, no_event
from kafkalearn.base.events import BrokerCrashed, BrokerStarted
from kafkalearn.base.topic_partition import TopicPartition

# What may happen: what the threads of the consumer do, what its application does, and what happens to brokers.


class Assigned(NamedTuple):
    """A partition that a rebalance gave to the consumer: for which stream, and the offset that was committed."""

    topic: str
    partition: int
    stream: int = 0
    offset: int = -1  # -1: nothing is committed


class StartConnections(facts.Event):
    """A rebalance has ended: the consumer may fetch these partitions; all of them begin without a leader."""

    assigned: tuple[Assigned, ...]


class StopConnections(facts.Event, says="a rebalance begins: no thread fetches, and nothing is owned any more"):
    """A rebalance begins: the leader finder and all fetchers stop, queues are cleared, ownership is given up."""


class Shutdown(facts.Event, says="the consumer is shut down: each queue has the shutdown message alone"):
    """The application shuts the consumer down."""


class FindLeaders(facts.Event):
    """A round of the leader finder: it asks for the leaders of partitions without one, and starts fetchers."""


class Fetch(facts.Event):
    """A round of a fetcher: one request for all its partitions, and what comes back goes to the queues."""

    broker_id: BrokerId
    fetcher_id: Index = 0


class Next(facts.Event):
    """The application asks a stream for its next record."""

    stream: Index = 0


class CommitOffsets(facts.Event):
    """The application, or the timer of auto commit, commits what every partition has consumed."""


class Append(facts.Event):
    """Somebody produces records to a partition, each a batch of its own with so many bytes."""

    topic: str
    partition: Index
    count: RecordCount = 1
    size_bytes: Annotated[int, Whole(1)] = 100


class RecordsDeleted(facts.Event, says="the records of {topic}-{partition} before {before} are deleted"):
    topic: str
    partition: Index
    before: Offset


class LogTruncated(facts.Event, says="an election cuts {topic}-{partition}: it ends at {end_offset}"):
    """An unclean election has cut a partition: records from this offset on are gone."""

    topic: str
    partition: Index
    end_offset: Offset


class LeaderMoved(facts.Event, says="{broker_id:broker} leads {topic}-{partition} now"):
    """A partition has another leader; None: it has none."""

    topic: str
    partition: Index
    broker_id: BrokerId | None


BrokerEvent: TypeAlias = Append | RecordsDeleted | LogTruncated | LeaderMoved | BrokerCrashed | BrokerStarted
FetchingEvent: TypeAlias = (
    StartConnections | StopConnections | Shutdown | FindLeaders | Fetch | Next | CommitOffsets | BrokerEvent
)


# What an event led to.


class Appended(facts.Effect, says="offset{offsets:s} {offsets:span} {offsets:are} new in {topic_partition}"):
    topic_partition: TopicPartition
    offsets: tuple[int, ...]


class MetadataFailed(
    facts.Effect, says="the round of the leader finder fails; {topic_partitions:listed} are still without a leader"
):
    topic_partitions: tuple[TopicPartition, ...]


class FetcherStarted(facts.Effect, says="fetcher {fetcher_id} of broker {broker_id} is started"):
    broker_id: int
    fetcher_id: int


class FetcherStopped(facts.Effect, says="fetcher {fetcher_id} of broker {broker_id} has no partition and is stopped"):
    broker_id: int
    fetcher_id: int


class PartitionAdded(
    facts.Effect, says="fetcher {fetcher_id} of broker {broker_id} fetches {topic_partition} from {offset}"
):
    topic_partition: TopicPartition
    broker_id: int
    fetcher_id: int
    offset: int


class OffsetReset(facts.Effect):
    """A partition had no offset, or one that is out of range; now both its offsets are this."""

    topic_partition: TopicPartition
    fetch_offset: int  # what was asked for
    offset: int  # where it goes on


class PartitionFailed(facts.Effect, says="without a leader again, {error}: {topic_partition}"):
    topic_partition: TopicPartition
    error: str


class NothingFetched(facts.Effect, says="fetcher {fetcher_id} of broker {broker_id} gets nothing"):
    """A fetcher's request brought no records; or it has no partitions to ask for."""

    broker_id: int
    fetcher_id: int


class Enqueued(facts.Effect):
    """A chunk is in the queue of a stream."""

    topic_partition: TopicPartition
    stream: int
    fetch_offset: int
    offsets: tuple[int, ...]


class FetcherBlocked(
    facts.Effect, says="fetcher {fetcher_id} of broker {broker_id} waits: the queue of stream {stream} is full"
):
    broker_id: int
    fetcher_id: int
    stream: int


class FinderBlocked(
    facts.Effect, says="the leader finder waits for the lock of fetcher {fetcher_id} of broker {broker_id}"
):
    broker_id: int
    fetcher_id: int


class FetcherDied(
    facts.Effect,
    says="fetcher {fetcher_id} of broker {broker_id} dies: it fetched {topic_partition} from "
    "{fetch_offset}, and {fetched_offset} is next",
):
    broker_id: int
    fetcher_id: int
    topic_partition: TopicPartition
    fetched_offset: int
    fetch_offset: int


class Read(facts.Effect, says="the application reads {offset} of {topic_partition}"):
    stream: int
    topic_partition: TopicPartition
    offset: int


class Skipped(
    facts.Effect, says="{offsets:span} of {topic_partition} {offsets:are} passed over, below what is consumed"
):
    topic_partition: TopicPartition
    offsets: tuple[int, ...]


class OffsetsApart(
    facts.Effect, says="{consumed_offset} is consumed and the chunk begins at {fetch_offset}: Consumer may lose data"
):
    topic_partition: TopicPartition
    consumed_offset: int
    fetch_offset: int


class Waited(facts.Effect, says="stream {stream} has nothing: its thread waits"):
    stream: int


class Raised(facts.Effect, says="stream {stream} throws {exception}"):
    stream: int
    exception: str


class Ended(facts.Effect, says="stream {stream} has ended"):
    """A stream has come to the shutdown message: it has no next record."""

    stream: int


class Committed(facts.Effect):
    """These consumed offsets went to the store."""

    offsets: tuple[tuple[TopicPartition, int], ...]


class QueuesCleared(facts.Effect, says="{chunk_count:of chunk} thrown away"):
    """So many chunks were thrown away, with those that were being read; they are fetched again."""

    chunk_count: int


Effect: TypeAlias = (
    Appended | MetadataFailed | FetcherStarted | FetcherStopped | PartitionAdded | OffsetReset | PartitionFailed
    | NothingFetched | Enqueued | FetcherBlocked | FinderBlocked | FetcherDied | Read | Skipped | OffsetsApart
    | Waited | Raised | Ended | Committed | QueuesCleared
)  # fmt: skip


NOT_LEADER, OUT_OF_RANGE, NO_CONNECTION = "NOT_LEADER_FOR_PARTITION", "OFFSET_OUT_OF_RANGE", "no connection"
SMALLEST, LARGEST = "smallest", "largest"
RESETS = (SMALLEST, LARGEST)


class Log(NamedTuple):
    """A partition as its leader has it."""

    topic_partition: TopicPartition
    leader: int | None
    start_offset: int = 0
    sizes: tuple[int, ...] = ()  # bytes of each record since offset 0, also of those that are deleted

    @property
    def end_offset(self) -> int:
        """The offset that the next record gets."""
        return len(self.sizes)


class FetchAnswer(NamedTuple):
    """What a fetch request got for one partition."""

    topic_partition: TopicPartition
    fetch_offset: int
    offsets: tuple[int, ...] = ()
    is_cut: bool = False  # bytes came, but no whole record
    error: str | None = None


class FetchSettings(Protocol):
    """What of a consumer's settings decides an answer."""

    @property
    def fetch_message_max_bytes(self) -> int:
        """How much is asked for of each partition."""

    @property
    def returns_large_records(self) -> bool:
        """Whether a first record comes whole that is larger than was asked for."""


class Cluster(NamedTuple):
    """Partitions on their brokers, at one moment."""

    logs: tuple[Log, ...]
    live_brokers: tuple[int, ...]
    broker_ids: tuple[int, ...]

    def log(self, topic_partition: TopicPartition) -> Log:
        """The log of a partition; IllegalEvent if there is no such partition."""
        found = next((each for each in self.logs if each.topic_partition == topic_partition), None)
        if found is None:
            known = listed((each.topic_partition for each in self.logs), last="or")
            raise IllegalEvent(f"there is no partition {TopicPartition(*topic_partition)}; there is {known}")
        return found

    def with_log(self, log: Log) -> Cluster:
        """The same cluster with another log of that partition."""
        logs = tuple(log if each.topic_partition == log.topic_partition else each for each in self.logs)
        return self._replace(logs=logs)


def new_cluster(topic_partitions: Iterable[TopicPartition], broker_ids: tuple[int, ...]) -> Cluster:
    """Empty partitions; each broker leads its share of them, in turn."""
    logs = (Log(each, broker_ids[each.partition % len(broker_ids)]) for each in topic_partitions)
    return Cluster(tuple(logs), broker_ids, broker_ids)


def after(cluster: Cluster, event: BrokerEvent) -> tuple[Cluster, tuple[Appended, ...]]:
    """The brokers after something happened to them, and its effects.

    Raises
    ------
    IllegalEvent
        If there is no such partition or broker, or it cannot happen to it.
    """
    match event:
        case Append(topic, partition, count, size_bytes):
            log = cluster.log(TopicPartition(topic, partition))
            grown = log._replace(sizes=log.sizes + (size_bytes,) * count)
            offsets = tuple(range(log.end_offset, grown.end_offset))
            return cluster.with_log(grown), (Appended(log.topic_partition, offsets),)
        case RecordsDeleted(topic, partition, before):
            log = cluster.log(TopicPartition(topic, partition))
            if before > log.end_offset:
                raise IllegalEvent(
                    f"{log.topic_partition} ends at {log.end_offset}; there is nothing to delete before {before}"
                )
            return cluster.with_log(log._replace(start_offset=max(before, log.start_offset))), ()
        case LogTruncated(topic, partition, end_offset):
            log = cluster.log(TopicPartition(topic, partition))
            if not log.start_offset <= end_offset <= log.end_offset:
                raise IllegalEvent(
                    f"{log.topic_partition} has the offsets {log.start_offset} to {log.end_offset}; "
                    f"it cannot end at {end_offset}"
                )
            return cluster.with_log(log._replace(sizes=log.sizes[:end_offset])), ()
        case LeaderMoved(topic, partition, broker_id):
            if broker_id is not None and broker_id not in _known(cluster, broker_id).live_brokers:
                raise IllegalEvent(f"broker {broker_id} does not run and cannot become leader; restart it first")
            return cluster.with_log(cluster.log(TopicPartition(topic, partition))._replace(leader=broker_id)), ()
        case BrokerCrashed(broker_id):
            if broker_id not in _known(cluster, broker_id).live_brokers:
                raise IllegalEvent(f"broker {broker_id} does not run; it cannot crash")
            return cluster._replace(live_brokers=tuple(each for each in cluster.live_brokers if each != broker_id)), ()
    if event.broker_id in _known(cluster, event.broker_id).live_brokers:
        raise IllegalEvent(f"broker {event.broker_id} runs; it cannot restart")
    return cluster._replace(live_brokers=tuple(sorted((*cluster.live_brokers, event.broker_id)))), ()


BROKER_EVENTS = (Append, RecordsDeleted, LogTruncated, LeaderMoved, BrokerCrashed, BrokerStarted)


def _known(cluster: Cluster, broker_id: int) -> Cluster:
    if broker_id not in cluster.broker_ids:
        raise IllegalEvent(f"there is no broker {broker_id}; there is {listed(cluster.broker_ids, last='or')}")
    return cluster


def answer_fetch(
    settings: FetchSettings, cluster: Cluster, broker_id: int, asked: Iterable[tuple[TopicPartition, int]]
) -> tuple[FetchAnswer, ...]:
    """What a broker answers to a fetch request: for each partition records, nothing, or an error.

    Since 0.10.1 a record that is larger than what was asked for comes whole, but only the first of the whole answer.
    """
    answers: list[FetchAnswer] = []
    may_be_larger = settings.returns_large_records
    for topic_partition, offset in asked:
        answer = _answer_one(settings, cluster.log(topic_partition), broker_id, offset, may_be_larger)
        may_be_larger = may_be_larger and not answer.offsets
        answers.append(answer)
    return tuple(answers)


def _answer_one(settings: FetchSettings, log: Log, broker_id: int, offset: int, may_be_larger: bool) -> FetchAnswer:
    if log.leader != broker_id:
        return FetchAnswer(log.topic_partition, offset, error=NOT_LEADER)
    if not log.start_offset <= offset <= log.end_offset:
        return FetchAnswer(log.topic_partition, offset, error=OUT_OF_RANGE)
    end, room = offset, settings.fetch_message_max_bytes
    while end < log.end_offset and (log.sizes[end] <= room or (may_be_larger and end == offset)):
        room -= log.sizes[end]
        end += 1
    is_cut = end == offset < log.end_offset and not settings.returns_large_records
    return FetchAnswer(log.topic_partition, offset, tuple(range(offset, end)), is_cut)


def answer_offset(cluster: Cluster, broker_id: int, topic_partition: TopicPartition, reset: str) -> int | None:
    """The smallest or the largest offset of a partition; None: the broker does not answer, or does not lead it."""
    log = cluster.log(topic_partition)
    if broker_id not in cluster.live_brokers or log.leader != broker_id:
        return None
    return log.start_offset if reset == SMALLEST else log.end_offset


# One step of a consumer of the old kinds: what a broker does, or what the consumer does by its rules.


class OnCluster(Protocol):
    """A state of which the brokers are a part."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def cluster(self) -> Cluster:
        """The partitions on their brokers."""
        ...


ItsSettings = TypeVar("ItsSettings")
State = TypeVar("State", bound=OnCluster)
Rules: TypeAlias = Mapping[type, Callable[[ItsSettings, State, Never], State]]  # each takes events of its class alone


def step_by(rules: Rules[ItsSettings, State], settings: ItsSettings, state: State, event: object) -> State:
    """The state after `event`: the cluster's own, or by that of the `rules` which is for its class.

    Raises
    ------
    IllegalEvent
        If there is no rule for it, or the rule refuses it.
    """
    if isinstance(event, BROKER_EVENTS):
        cluster, effects = after(state.cluster, event)
        return replace(state, cluster=cluster, effects=effects)
    rule: Callable[[ItsSettings, State, Any], State] | None = rules.get(type(event))
    if rule is None:
        raise no_event(event, (*rules, *BROKER_EVENTS))
    return rule(settings, replace(state, effects=()), event)
