"""Dead letters: where the records go that nobody could process, if the group has a topic for them (KIP-1191, 4.4).

A record that was rejected, or delivered as often as it may be, is ARCHIVING until its dead letter is written. A dead
letter that cannot be written is dropped without a word: the record is ARCHIVED all the same.

Source: `ShareGroupDLQManager` of 4.4.0, read; a broker of 4.4.0, recorded.
"""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.sharing.acknowledging import StateChange
from kafkalearn.sharing.appending import appended
from kafkalearn.sharing.model import (
    DLQ_COPIES,
    DLQ_TAKES,
    DLQ_TOPIC_NAME,
    REASONS,
    Batch,
    Cluster,
    DeadLetter,
    Key,
    Log,
    Settings,
    index_of,
)


def sent(settings: Settings, cluster: Cluster, key: Key, change: StateChange) -> Cluster:
    """The cluster with the dead letters of a range, if there is a topic that takes them."""
    group, partition = key
    configs = cluster.configs_of(group)
    topic = configs.get(DLQ_TOPIC_NAME, "")
    cluster, indexes = _usable(settings, cluster, topic)
    source = cluster.log(partition)
    if not indexes or source is None:
        return cluster
    copies = configs.get(DLQ_COPIES) == "true"
    letters = tuple(
        _letter(source, partition, group, offset, change, copies) for offset in range(change.first, change.last + 1)
    )
    name = f"{topic}-{indexes[index_of(partition) % len(indexes)]}"
    logs = (
        appended(log, len(letters), cluster.now_ms, dead_letters=letters) if log.name == name else log
        for log in cluster.logs
    )
    return replace(cluster, logs=tuple(logs))


def _usable(settings: Settings, cluster: Cluster, topic: str) -> tuple[Cluster, tuple[int, ...]]:
    """The partitions of a topic that takes dead letters, which may be made for it; none: they are dropped."""
    if not topic.startswith(settings.dead_letter_prefix):
        return cluster, ()
    indexes = cluster.indexes(topic)
    if not indexes and settings.creates_dead_letter_topics:
        configs = (*cluster.topic_configs, (topic, ((DLQ_TAKES, "true"),)))
        return replace(cluster, logs=(*cluster.logs, Log(f"{topic}-0")), topic_configs=configs), (0,)
    return cluster, indexes if cluster.topic_configs_of(topic).get(DLQ_TAKES) == "true" else ()


def _letter(source: Log, partition: str, group: str, offset: int, change: StateChange, copies: bool) -> DeadLetter:
    key = value = None
    if copies and offset >= source.start_offset:
        batch = next((each for each in source.batches if offset in each.offsets), None)
        key, value = _record(batch, offset) if batch is not None else (None, None)
    return DeadLetter(partition, offset, group, change.count, REASONS[change.reason], key, value)


def _record(batch: Batch, offset: int) -> tuple[str | None, str | None]:
    place = batch.offsets.index(offset)
    return (batch.keys[place] if batch.keys else None), (batch.values[place] if batch.values else None)
