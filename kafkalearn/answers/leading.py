"""The topic that holds what is asked for, and who leads its partitions, from whatever says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkalearn.arguments import LARGEST_INT, text, whole_number
from kafkalearn.coordinator.leaders import OFFSETS_TOPIC, described_leaders, described_topics, round_robin_leaders
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import counted, listed, shown

if TYPE_CHECKING:
    from kafkalearn.live.reading.cluster import Cluster

TRANSACTIONS_TOPIC = "__transaction_state"
DEFAULT_PARTITION_COUNT = 50  # offsets.topic.num.partitions, transaction.state.log.num.partitions: of every release
KEY, GROUP, TRANSACTIONAL_ID = "key", "group", "transactional-id"
KINDS = {
    GROUP: (OFFSETS_TOPIC, "coordinator"),
    KEY: (None, "leader"),
    TRANSACTIONAL_ID: (TRANSACTIONS_TOPIC, "coordinator"),
}
"""What can be asked for: the topic that holds it (None: the reader's own), and what its broker is called."""


def topic_of(kind: str, topic: str | None, describe: str | None) -> str | None:
    """The topic that is meant: that of the kind, the one that was named, or the only one that was pasted."""
    own = KINDS[kind][0]
    if own is not None:
        if topic not in (None, own):
            raise KafkaLearnError(f"a {kind} is in {own}, and topic is {shown(topic)}; leave topic away")
        return own
    if topic is None and describe is not None:
        pasted = described_topics(describe)
        if len(pasted) != 1:
            raise KafkaLearnError(
                f"describe has {listed(pasted[:10], nothing='no topic')}; "
                f"{'say which with topic (--topic)' if pasted else 'paste what kafka-topics.sh --describe prints'}"
            )
        return pasted[0]
    return None if topic is None else text("topic", topic)


def leaders_for(
    kind: str,
    topic: str | None,
    partition_count: int | None,
    describe: str | None,
    brokers: Sequence[int] | int | None,
    cluster: Cluster | None,
) -> tuple[tuple[int | None, ...] | None, str | None, tuple[str, ...]]:
    """Who leads each partition, from where that is known, and what is to be said about it."""
    given = {"describe": describe, "brokers": brokers, "cluster": cluster}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise KafkaLearnError(f"give one of describe, brokers and cluster, got {listed(named)}")
    if describe is not None:
        is_old = f"Topic:{topic}\t" in describe or f"Topic:{topic} " in describe
        notes = ("A tool before 2.4 may name a leader that is gone.",) if is_old else ()
        return described_leaders(describe, partition_count, topic), "describe", notes
    if brokers is not None:
        dealt = round_robin_leaders(brokers, count_of(kind, partition_count))
        note = (
            f"The brokers are those of an undisturbed cluster where broker {dealt[0]} leads partition 0; of a real one "
            "its --describe says who leads."
        )
        return dealt, "brokers", (note,)
    if cluster is not None:
        if topic is None:
            raise KafkaLearnError("which topic of the cluster? Give topic (--topic)")
        known = cluster.metadata([topic])
        count = known.partition_counts[topic]
        if partition_count not in (None, count):
            raise KafkaLearnError(
                f"{topic} has {counted(count, 'partition')} there, and partition_count is {partition_count}"
            )
        return tuple(known.leaders.get((topic, partition)) for partition in range(count)), "cluster", ()
    return None, None, ()


def count_of(kind: str, partition_count: int | None) -> int:
    """The number of partitions: what is given, else the default of the topics of Kafka's own."""
    if partition_count is None and kind == KEY:
        raise KafkaLearnError(
            "how many partitions has the topic? Give partition_count (--partitions), what kafka-topics.sh --describe "
            "prints (--describe), or a cluster and the topic (--bootstrap, --topic)"
        )
    count = DEFAULT_PARTITION_COUNT if partition_count is None else partition_count
    return whole_number("partition_count", count, 1, LARGEST_INT)
