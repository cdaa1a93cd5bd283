"""The brokers that a consumer of the old kinds fetches from: what they hold, who leads, and what they answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from kafkalearn.errors import IllegalEvent
from kafkalearn.phrases import listed
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.zookeeper.fetching.effects import Appended
from kafkalearn.zookeeper.fetching.events import (
    Append,
    BrokerCrashed,
    BrokerEvent,
    BrokerRestarted,
    LeaderMoved,
    LogTruncated,
    RecordsDeleted,
)

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


class Answer(NamedTuple):
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


BROKER_EVENTS = (Append, RecordsDeleted, LogTruncated, LeaderMoved, BrokerCrashed, BrokerRestarted)


def _known(cluster: Cluster, broker_id: int) -> Cluster:
    if broker_id not in cluster.broker_ids:
        raise IllegalEvent(f"there is no broker {broker_id}; there is {listed(cluster.broker_ids, last='or')}")
    return cluster


def answer_fetch(
    settings: FetchSettings, cluster: Cluster, broker_id: int, asked: Iterable[tuple[TopicPartition, int]]
) -> tuple[Answer, ...]:
    """What a broker answers to a fetch request: for each partition records, nothing, or an error.

    Since 0.10.1 a record that is larger than what was asked for comes whole, but only the first of the whole answer.
    """
    answers: list[Answer] = []
    may_be_larger = settings.returns_large_records
    for topic_partition, offset in asked:
        answer = _answer_one(settings, cluster.log(topic_partition), broker_id, offset, may_be_larger)
        may_be_larger = may_be_larger and not answer.offsets
        answers.append(answer)
    return tuple(answers)


def _answer_one(settings: FetchSettings, log: Log, broker_id: int, offset: int, may_be_larger: bool) -> Answer:
    if log.leader != broker_id:
        return Answer(log.topic_partition, offset, error=NOT_LEADER)
    if not log.start_offset <= offset <= log.end_offset:
        return Answer(log.topic_partition, offset, error=OUT_OF_RANGE)
    end, room = offset, settings.fetch_message_max_bytes
    while end < log.end_offset and (log.sizes[end] <= room or (may_be_larger and end == offset)):
        room -= log.sizes[end]
        end += 1
    is_cut = end == offset < log.end_offset and not settings.returns_large_records
    return Answer(log.topic_partition, offset, tuple(range(offset, end)), is_cut)


def answer_offset(cluster: Cluster, broker_id: int, topic_partition: TopicPartition, reset: str) -> int | None:
    """The smallest or the largest offset of a partition; None: the broker does not answer, or does not lead it."""
    log = cluster.log(topic_partition)
    if broker_id not in cluster.live_brokers or log.leader != broker_id:
        return None
    return log.start_offset if reset == SMALLEST else log.end_offset
