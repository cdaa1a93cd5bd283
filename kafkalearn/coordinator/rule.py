"""Which broker coordinates my group: group id -> hash -> partition of ``__consumer_offsets`` -> its leader.

The *coordinator* of a consumer group is the broker that leads one partition of the internal topic
``__consumer_offsets``; the group id alone decides which partition. The rule has been the same since 0.8.2:

    partition = abs(hash of the group id) % partitions of the topic

where ``abs`` is Kafka's own, `kafkalearn.base.hashing.kafka_abs`. Articles write it with Java's ``Math.abs`` in one
of two places, or with a bit mask; `FORMULAS` holds all four, to be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.base.checks import LARGEST_INT, one_of, text, whole_number
from kafkalearn.base.hashing import java_abs, java_remainder, java_string_hash, kafka_abs, to_positive
from kafkalearn.coordinator.leaders import OFFSETS_PARTITION_COUNT, leaders_of

FORMULAS: MappingProxyType[str, Callable[[int, int], int]] = MappingProxyType(
    {
        "kafka": lambda h, n: kafka_abs(h) % n,
        "Math.abs(h) % n": lambda h, n: java_remainder(java_abs(h), n),
        "Math.abs(h % n)": lambda h, n: java_abs(java_remainder(h, n)),
        "(h & 0x7fffffff) % n": lambda h, n: to_positive(h) % n,
    }
)
"""The formulas in circulation, by name; each takes the signed hash and the partition count, in Java's arithmetic."""


@dataclass(frozen=True, slots=True)
class Coordinator:
    """The answer to FindCoordinator, with the steps that led to it."""

    group_id: str
    group_hash: int  # signed, as Java holds it
    partition: int  # of __consumer_offsets
    broker_id: int | None  # None: the partition has no leader, Kafka answers COORDINATOR_NOT_AVAILABLE


def offsets_partition(group_id: str, partition_count: int = OFFSETS_PARTITION_COUNT, formula: str = "kafka") -> int:
    """The partition of ``__consumer_offsets`` that holds everything Kafka knows about a group.

    Parameters
    ----------
    group_id : str
        Any text without lone surrogates. The empty id is legal for commits of a consumer without a group.
    partition_count : int
        Partitions of the offsets topic, at least 1: what the topic has, not what the configuration says.
    formula : str
        A name in `FORMULAS`. Only ``"kafka"`` is what brokers do.

    Returns
    -------
    int
        In ``[0, partition_count)``; ``"Math.abs(h) % n"`` alone can go below 0.

    Raises
    ------
    KafkaLearnError
        If an argument is not as described; an unknown formula names the nearest known one.

    Examples
    --------
    >>> offsets_partition("test-group"), offsets_partition("console-consumer-77682")
    (12, 41)
    >>> [offsets_partition("polygenelubricants", formula=name) for name in FORMULAS]
    [0, -48, 48, 0]

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``GroupCoordinatorService.partitionFor`` (up to 4.0 also
    ``GroupMetadataManager.partitionFor``) with ``Utils.abs``.
    """
    text("group_id", group_id)
    whole_number("partition_count", partition_count, 1, LARGEST_INT)
    return FORMULAS[one_of("formula", formula, FORMULAS)](java_string_hash(group_id), partition_count)


def find_coordinator(
    group_id: str,
    leaders: Sequence[int | None] | None = None,
    partition_count: int | None = None,
    *,
    brokers: Sequence[int] | int | None = None,
    describe: str | None = None,
) -> Coordinator:
    """The broker that coordinates a group, given who leads each partition of the offsets topic.

    Parameters
    ----------
    group_id : str
        As in `offsets_partition`.
    leaders : sequence of int or None
        ``leaders[p]`` is the id of the broker that leads partition ``p`` of ``__consumer_offsets``, or None
        if it has no live leader: as many as the topic has partitions.
    partition_count : int or None
        Partitions of the topic. None: 50, the default of every release; with `describe`, what the text says.
    brokers : sequence of int, or int
        In place of `leaders`: the brokers of an undisturbed cluster, whose leaders are dealt out in turn. A number n
        stands for the brokers 1 to n. What is assumed is in `round_robin_leaders`: the partition is certain, the
        broker is the one that a real cluster has if its first leader is the first one given.
    describe : str
        In place of `leaders`: what ``kafka-topics.sh --describe --topic __consumer_offsets`` prints, of any release,
        pasted whole. Up to 2.3 the tool may still name a leader that is gone.

    Returns
    -------
    Coordinator
        ``broker_id`` is None where Kafka answers COORDINATOR_NOT_AVAILABLE and the client asks again.

    Raises
    ------
    KafkaLearnError
        If not exactly one of `leaders`, `brokers` and `describe` is given, `leaders` are not as many as there are
        partitions, the text lacks a partition, or the group id is not legal.

    Examples
    --------
    >>> find_coordinator("billing", brokers=[1, 2, 3])
    Coordinator(group_id='billing', group_hash=-109829509, partition=9, broker_id=1)
    >>> find_coordinator("billing", [1, 2, 3])  # the leaders of three partitions? of a topic that has 50?
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: leaders names 3 leaders, and __consumer_offsets has 50 partitions: \
leaders[p] is the broker that leads partition p. If these are the brokers of an undisturbed cluster, \
give brokers=[1, 2, 3]; if the topic has 3 partitions, give partition_count=3; \
describe= takes the text of kafka-topics.sh --describe --topic __consumer_offsets

    References
    ----------
    Apache Kafka, ``KafkaApis.handleFindCoordinatorRequest``.
    """
    text("group_id", group_id)
    leaders = leaders_of(leaders, partition_count, brokers=brokers, describe=describe)
    partition = offsets_partition(group_id, len(leaders))
    return Coordinator(group_id, java_string_hash(group_id), partition, leaders[partition])
