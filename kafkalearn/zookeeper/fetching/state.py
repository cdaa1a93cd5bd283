"""The four layers between a broker and an application: fetchers, partition infos, queues of chunks, streams."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kafkalearn.topic_partition import TopicPartition
from kafkalearn.zookeeper.fetching.cluster import Answer, Cluster, Log, new_cluster
from kafkalearn.zookeeper.fetching.effects import Effect
from kafkalearn.zookeeper.fetching.settings import Settings

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
    in_hand: tuple[Answer, ...] = ()  # answers that wait for room in a queue: it is blocked
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
