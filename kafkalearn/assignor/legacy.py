"""The assignors of the old consumer (up to 1.1): every consumer worked the assignment out for itself.

The unit was not the member but the *thread*: a consumer that asked for two streams of a topic had the threads
``C1-0`` and ``C1-1``, and every consumer read the same list of threads from ZooKeeper. Threads are ordered as
text, so ``C1-10`` comes before ``C1-2``.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.range import even_cuts
from kafkalearn.assignor.round_robin import deal
from kafkalearn.errors import KafkaLearnError
from kafkalearn.hashing import java_string_hash
from kafkalearn.java_collections import utf16_key
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import at_least


def assign_legacy_range(spec: GroupSpec) -> Assignment:
    """The threads' partitions by the old consumer's ``range``, its default.

    Examples
    --------
    >>> from kafkalearn.assignor import OldConsumer, assign
    >>> consumers = [OldConsumer("C1", {"t": 2}), OldConsumer("C2", {"t": 2})]
    >>> print(assign("range", {"t": 5}, consumers, side="old-consumer"))
    C1-0: t-0 t-1
    C1-1: t-2
    C2-0: t-3
    C2-1: t-4

    References
    ----------
    Apache Kafka 0.8.2 to 1.1, ``kafka.consumer.RangeAssignor``.
    """
    readers = _readers(spec)
    owned = _nothing_yet(readers)
    for topic, threads in readers.items():
        for thread, partitions in zip(threads, even_cuts(spec.partitions(topic), len(threads)), strict=True):
            owned[thread] += partitions
    return Assignment(owned)


def assign_legacy_round_robin(spec: GroupSpec) -> Assignment:
    """The threads' partitions by the old consumer's ``roundrobin``.

    The partitions are dealt in the order of the Java hash codes of their texts. The text was ``[t,0]`` up to 0.11
    and is ``t-0`` since 1.0, so that upgrade changed the assignment of the same group.

    Raises
    ------
    KafkaLearnError
        Up to 0.10.1, if not every topic is read by the same threads: Kafka refused that, too.

    Examples
    --------
    >>> from kafkalearn.assignor import OldConsumer, assign
    >>> consumers = [OldConsumer("C1", {"orders": 1}), OldConsumer("C2", {"orders": 1})]
    >>> print(assign("roundrobin", {"orders": 4}, consumers, side="old-consumer", release="0.11.0"))
    C1-0: orders-0 orders-2
    C2-0: orders-1 orders-3

    References
    ----------
    Apache Kafka 0.8.2 to 1.1, ``kafka.consumer.RoundRobinAssignor``.
    """
    readers = _readers(spec)
    if not at_least("0.10.2", spec.release) and len({tuple(threads) for threads in readers.values()}) > 1:
        raise KafkaLearnError(
            f"Kafka {spec.release} refuses roundrobin unless all topics are read by the same threads; they are "
            f"{readers}. Since 0.10.2 it skips threads that do not read the topic"
        )
    text_of = str if at_least("1.0", spec.release) else _bracketed
    partitions = [partition for topic in readers for partition in spec.partitions(topic)]
    partitions.sort(key=lambda partition: java_string_hash(text_of(partition)))
    topics_of = {thread: [topic for topic in readers if thread in readers[topic]] for thread in _nothing_yet(readers)}
    return Assignment(deal(partitions, topics_of))


def _readers(spec: GroupSpec) -> dict[str, list[str]]:
    """The threads that read each topic, in their order."""
    threads = {topic: [t for old in spec.old_consumers for t in old.threads(topic)] for topic in spec.partition_counts}
    return {topic: sorted(names, key=utf16_key) for topic, names in threads.items() if names}


def _nothing_yet(readers: Mapping[str, list[str]]) -> dict[str, list[TopicPartition]]:
    return {thread: [] for thread in sorted({t for threads in readers.values() for t in threads}, key=utf16_key)}


def _bracketed(partition: TopicPartition) -> str:
    return f"[{partition.topic},{partition.partition}]"
