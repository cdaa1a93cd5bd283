"""Offsets of old consumers: read from ZooKeeper, moved by reading, written back."""

from __future__ import annotations

from kafkalearn.topic_partition import TopicPartition
from kafkalearn.zookeeper.connector.effects import Committed, RecordsRead
from kafkalearn.zookeeper.connector.group_update import GroupUpdate
from kafkalearn.zookeeper.connector.state import NO_OFFSET, PartitionInfo
from kafkalearn.zookeeper.layout import offset_path


def committed_offset(update: GroupUpdate, name: str, partition: TopicPartition) -> int:
    """What the node of a partition says; -1 if there is none."""
    content = update.data(name, offset_path(update.settings.group, *partition))
    return NO_OFFSET if content is None else int(content)


def in_range(update: GroupUpdate, info: PartitionInfo) -> PartitionInfo:
    """A partition as its fetcher begins it: an offset that the log does not have is replaced by one of its ends."""
    end = update.log_end(info.topic_partition)
    if 0 <= info.consumed <= end:
        return info
    return info._replace(consumed=0 if update.settings.auto_offset_reset == "smallest" else end)


def read(update: GroupUpdate, name: str, at_most: int | None) -> None:
    """The application reads what there is."""
    connector = update.connectors[name]
    read_infos = []
    for info in connector.registry:
        end = update.log_end(info.topic_partition)
        if at_most is not None:
            end = min(end, info.consumed + at_most)
        if end > info.consumed:
            update.emit(RecordsRead(name, info.topic, info.partition, info.consumed, end))
            info = info._replace(consumed=end)
        read_infos.append(info)
    update.change(name, registry=tuple(read_infos))


def commit(update: GroupUpdate, name: str) -> None:
    """Write the consumed offset of every partition whose node does not say it yet, as far as the consumer knows."""
    connector = update.connectors[name]
    infos = []
    for info in connector.registry:
        if info.consumed != info.committed:
            update.write(name, offset_path(update.settings.group, info.topic, info.partition), str(info.consumed))
            update.emit(Committed(name, info.topic, info.partition, info.consumed))
            info = info._replace(committed=info.consumed)
        infos.append(info)
    update.change(name, registry=tuple(infos))
