"""The settings of an old consumer's fetch pipeline, and of the topics that it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kafkalearn.arguments import fill_in, one_of
from kafkalearn.assignor.members import MOST_STREAMS
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import NOT_GIVEN, BrokerId, Checked, Count, FilledIn, PartitionCount, Whole, check_fields
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions import default
from kafkalearn.versions.releases import ReleaseName, at_least
from kafkalearn.zookeeper.fetching.cluster import RESETS

LAST_RELEASE = "1.1"  # Kafka 2.0 has no old consumer


@dataclass(frozen=True, slots=True)
class Settings(Checked):
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
    >>> Settings(release="2.0")
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: release must be 1.1 or before, got 2.0: 2.0 removed this consumer
    """

    topics: tuple[tuple[str, PartitionCount], ...] = (("orders", 2),)
    broker_ids: tuple[BrokerId, ...] = (1, 2)
    stream_count: Annotated[int, Whole(1, MOST_STREAMS)] = 1
    num_consumer_fetchers: FilledIn[Count] = NOT_GIVEN
    queued_max_message_chunks: FilledIn[Count] = NOT_GIVEN
    fetch_message_max_bytes: FilledIn[Count] = NOT_GIVEN
    auto_offset_reset: FilledIn[str] = NOT_GIVEN
    consumer_timeout_ms: FilledIn[Annotated[int, Whole(-1)]] = NOT_GIVEN
    auto_commit_enable: FilledIn[bool] = NOT_GIVEN
    release: ReleaseName = LAST_RELEASE

    def __post_init__(self) -> None:
        """Fill in what was not given; refuse what no old consumer can be given."""
        check_fields(self)
        if at_least("2.0", self.release):
            raise KafkaLearnError(
                f"release must be {LAST_RELEASE} or before, got {self.release}: 2.0 removed this consumer"
            )
        for what, names in (("topic", [name for name, _ in self.topics]), ("broker", self.broker_ids)):
            if not names or len(set(names)) < len(names):
                raise KafkaLearnError(f"each {what} must be there once, and one at least; got {names!r}")
        fill_in(
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
        one_of("auto_offset_reset", self.auto_offset_reset, RESETS)

    @property
    def topic_partitions(self) -> tuple[TopicPartition, ...]:
        """Every partition of every topic."""
        return tuple(TopicPartition(name, number) for name, count in self.topics for number in range(count))

    @property
    def returns_large_records(self) -> bool:
        """Whether a broker returns a first record that is larger than was asked for (KIP-74, since 0.10.1)."""
        return at_least("0.10.1", self.release)
