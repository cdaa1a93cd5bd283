"""The settings of an old consumer's fetch pipeline, and of the topics that it reads."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple

from kafkalearn.assignors.members import MOST_STREAMS
from kafkalearn.base import checks
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.releases import default
from kafkalearn.releases.lines import RELEASES, AnswersFor, ReleaseName, at_least
from kafkalearn.zookeeper.fetching.cluster import RESETS, Cluster, Effect, FetchAnswer, Log, new_cluster

LAST_RELEASE = "1.1"
REMOVED = "2.0 removed the old consumer"
ANSWERS_FOR = AnswersFor("zookeeper.fetching", RELEASES[0], LAST_RELEASE, REMOVED)


@dataclass(frozen=True, slots=True)
class Settings(checks.Checked):
    """What stays the same while an old consumer fetches.

    Parameters
    ----------
    topics : tuple of (str, int)
        Each topic with its number of partitions.
    broker_ids : tuple of int
        The brokers; at the start each leads its share of the partitions, in turn.
    stream_count : int
        Streams of the consumer, each with a queue of its own, which one thread of the application reads.
    num_consumer_fetchers : int or None
        ``num.consumer.fetchers``: threads that fetch from one broker.
    queued_max_message_chunks : int or None
        ``queued.max.message.chunks``: how many chunks a queue holds.
    fetch_message_max_bytes : int or None
        ``fetch.message.max.bytes``: how much a fetch asks for of each partition.
    auto_offset_reset : str or None
        ``auto.offset.reset``: where to go on without an offset, or with one that is out of range: ``"smallest"`` or
        ``"largest"``.
    consumer_timeout_ms : int or None
        ``consumer.timeout.ms``: how long a stream waits for a record; -1: for ever.
    auto_commit_enable : bool or None
        ``auto.commit.enable``: whether offsets are committed when fetching stops.
    release : str
        Of consumer and brokers, up to 1.1: 2.0 has no old consumer. What is None above is this release's default.

    Raises
    ------
    KafkaLearnError
        If no old consumer can be configured so.

    Examples
    --------
    >>> settings = Settings()
    >>> settings.queued_max_message_chunks, settings.fetch_message_max_bytes, settings.auto_offset_reset
    (2, 1048576, 'largest')
    >>> "2.0" in ANSWERS_FOR
    False
    """

    topics: tuple[tuple[str, checks.PartitionCount], ...] = (("orders", 2),)
    broker_ids: tuple[checks.BrokerId, ...] = (1, 2)
    stream_count: Annotated[int, checks.Whole(1, MOST_STREAMS)] = 1
    num_consumer_fetchers: checks.FilledIn[checks.Count] = checks.NOT_GIVEN
    queued_max_message_chunks: checks.FilledIn[checks.Count] = checks.NOT_GIVEN
    fetch_message_max_bytes: checks.FilledIn[checks.Count] = checks.NOT_GIVEN
    auto_offset_reset: checks.FilledIn[str] = checks.NOT_GIVEN
    consumer_timeout_ms: checks.FilledIn[Annotated[int, checks.Whole(-1)]] = checks.NOT_GIVEN
    auto_commit_enable: checks.FilledIn[bool] = checks.NOT_GIVEN
    release: ReleaseName = LAST_RELEASE

    def __post_init__(self) -> None:
        """Fill in what was not given; refuse what no old consumer can be given."""
        checks.check_fields(self)
        ANSWERS_FOR.check(self.release)
        for what, names in (("topic", [name for name, _ in self.topics]), ("broker", self.broker_ids)):
            if not names or len(set(names)) < len(names):
                raise KafkaLearnError(f"each {what} must be there once, and one at least; got {names!r}")
        checks.fill_in(
            self,
            **{
                name: default(name.replace("_", "."), self.release, side="old-consumer")
                for name in (
                    "num_consumer_fetchers",
                    "queued_max_message_chunks",
                    "fetch_message_max_bytes",
                    "auto_offset_reset",
                    "consumer_timeout_ms",
                    "auto_commit_enable",
                )
            },
        )
        checks.one_of("auto_offset_reset", self.auto_offset_reset, RESETS)

    @property
    def topic_partitions(self) -> tuple[TopicPartition, ...]:
        """Every partition of every topic."""
        return tuple(TopicPartition(name, number) for name, count in self.topics for number in range(count))

    @property
    def returns_large_records(self) -> bool:
        """Whether a broker returns a first record that is larger than was asked for (KIP-74, since 0.10.1)."""
        return at_least("0.10.1", self.release)


# The four layers between a broker and an application: fetchers, partition infos, queues of chunks, streams.

READY, FAILED, ENDED = "ready", "failed", "ended"


class PartitionTopicInfo(NamedTuple):
    """What the consumer knows of a partition that it owns: the registry is made of these."""

    topic_partition: TopicPartition
    stream: int
    fetched_offset: int
    consumed_offset: int


class Chunk(NamedTuple):
    """What one fetch brought of one partition."""

    topic_partition: TopicPartition
    fetch_offset: int
    offsets: tuple[int, ...]  # of whole records; none: not even the first one fitted


SHUTDOWN_COMMAND = Chunk(TopicPartition("", -1), -1, ())
"""The chunk that ends a stream."""


class Stream(NamedTuple):
    """A stream: its queue, the chunk that is being read, and whether it may be asked for more."""

    queue: tuple[Chunk, ...] = ()
    chunk: Chunk | None = None  # what is left of it
    status: str = READY


class FetcherId(NamedTuple):
    """The end of a fetcher's name: ``ConsumerFetcherThread-<consumer>-<fetcher id>-<broker id>``."""

    broker_id: int
    fetcher_id: int


class Fetcher(NamedTuple):
    """A fetcher thread."""

    key: FetcherId
    offsets: tuple[tuple[TopicPartition, int], ...] = ()  # what it asks for next, in the order of its request
    in_hand: tuple[FetchAnswer, ...] = ()  # answers that wait for room in a queue: it is blocked
    failed: tuple[TopicPartition, ...] = ()  # those of the same request that met an error
    is_dead: bool = False

    @property
    def topic_partitions(self) -> tuple[TopicPartition, ...]:
        """The partitions that it serves."""
        return tuple(each for each, _ in self.offsets)


class LeaderFinder(NamedTuple):
    """The thread that looks for leaders: it runs while the consumer owns partitions."""

    to_add: tuple[tuple[FetcherId, tuple[TopicPartition, ...]], ...] = ()  # found, and not yet with their fetcher
    to_ask: tuple[FetcherId, ...] = ()  # fetchers that it will ask whether they are idle
    idle: tuple[FetcherId, ...] = ()  # those of them that were
    waits_for: FetcherId | None = None  # the fetcher whose lock it needs


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The partitions on their brokers and the consumer that fetches them, at one moment."""

    cluster: Cluster
    streams: tuple[Stream, ...]
    registry: tuple[PartitionTopicInfo, ...] = ()
    no_leader: tuple[TopicPartition, ...] = ()
    leader_finder: LeaderFinder | None = None
    fetchers: tuple[Fetcher, ...] = ()
    blocked: tuple[FetcherId, ...] = ()  # in the order in which they began to wait
    is_shut_down: bool = False
    effects: tuple[Effect, ...] = field(default=(), compare=False)  # of the last event, in order

    def log(self, topic_partition: TopicPartition) -> Log:
        """The log of a partition; IllegalEvent if there is no such partition."""
        return self.cluster.log(topic_partition)

    def info(self, topic_partition: TopicPartition) -> PartitionTopicInfo:
        """What the consumer knows of a partition that it owns."""
        return next(each for each in self.registry if each.topic_partition == topic_partition)

    def has_fetcher(self, key: FetcherId) -> bool:
        """Whether there is a thread of this broker and id."""
        return any(each.key == key for each in self.fetchers)

    def fetcher(self, key: FetcherId) -> Fetcher:
        """A fetcher that is there, by its broker and its id."""
        return next(each for each in self.fetchers if each.key == key)


def start(settings: Settings) -> Pipeline:
    """All brokers run and lead their share; the consumer owns nothing yet.

    >>> [(str(log.topic_partition), log.leader) for log in start(Settings()).cluster.logs]
    [('orders-0', 1), ('orders-1', 2)]
    """
    cluster = new_cluster(settings.topic_partitions, settings.broker_ids)
    return Pipeline(cluster, tuple(Stream() for _ in range(settings.stream_count)))


def with_effect(state: Pipeline, *effects: Effect) -> Pipeline:
    """The same state, with effects more."""
    return replace(state, effects=(*state.effects, *effects))


def with_info(state: Pipeline, info: PartitionTopicInfo) -> Pipeline:
    """The same state with another info of that partition."""
    registry = tuple(info if each.topic_partition == info.topic_partition else each for each in state.registry)
    return replace(state, registry=registry)


def with_fetcher(state: Pipeline, fetcher: Fetcher) -> Pipeline:
    """The same state with another fetcher in the place of the one of that broker and id."""
    return replace(state, fetchers=tuple(fetcher if each.key == fetcher.key else each for each in state.fetchers))


def with_stream(state: Pipeline, number: int, stream: Stream) -> Pipeline:
    """The same state with another stream in this place."""
    return replace(state, streams=(*state.streams[:number], stream, *state.streams[number + 1 :]))
