"""Which broker coordinates my group: group id -> hash -> partition of ``__consumer_offsets`` -> its leader.

The *coordinator* of a consumer group is the broker that leads one partition of the internal topic
``__consumer_offsets``; the group id alone decides which partition. The rule has been the same since 0.8.2:

    partition = abs(hash of the group id) % partitions of the topic

where ``abs`` is Kafka's own, `kafkalearn.hashing.kafka_abs`. Articles write it with Java's ``Math.abs`` in one
of two places, or with a bit mask; `FORMULAS` holds all four, to be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.arguments import text, whole_number
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.hashing import java_abs, java_remainder, java_string_hash, kafka_abs, to_positive

OFFSETS_TOPIC = "__consumer_offsets"
OFFSETS_PARTITION_COUNT = 50  # offsets.topic.num.partitions, the default of every release


def _abs_then_mod(group_hash: int, partition_count: int) -> int:
    return java_remainder(java_abs(group_hash), partition_count)


def _mod_then_abs(group_hash: int, partition_count: int) -> int:
    return java_abs(java_remainder(group_hash, partition_count))


def _mask_then_mod(group_hash: int, partition_count: int) -> int:
    return to_positive(group_hash) % partition_count


def _kafka(group_hash: int, partition_count: int) -> int:
    return kafka_abs(group_hash) % partition_count


FORMULAS: MappingProxyType[str, Callable[[int, int], int]] = MappingProxyType(
    {
        "kafka": _kafka,
        "Math.abs(h) % n": _abs_then_mod,
        "Math.abs(h % n)": _mod_then_abs,
        "(h & 0x7fffffff) % n": _mask_then_mod,
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
    whole_number("partition_count", partition_count, at_least=1)
    if formula not in FORMULAS:
        raise unknown_name("formula", formula, FORMULAS)
    return FORMULAS[formula](java_string_hash(group_id), partition_count)


def find_coordinator(group_id: str, leaders: Sequence[int | None]) -> Coordinator:
    """The broker that coordinates a group, given who leads each partition of the offsets topic.

    Parameters
    ----------
    group_id : str
        As in `offsets_partition`.
    leaders : sequence of int or None
        ``leaders[p]`` is the id of the broker that leads partition ``p`` of ``__consumer_offsets``, or None
        if it has no live leader. Its length is the topic's partition count.

    Returns
    -------
    Coordinator
        ``broker_id`` is None where Kafka answers COORDINATOR_NOT_AVAILABLE and the client asks again.

    Raises
    ------
    KafkaLearnError
        If `leaders` is empty or the group id is not legal.

    Examples
    --------
    >>> find_coordinator("billing", leaders=round_robin_leaders([1, 2, 3]))
    Coordinator(group_id='billing', group_hash=-109829509, partition=9, broker_id=1)

    References
    ----------
    Apache Kafka, ``KafkaApis.handleFindCoordinatorRequest``.
    """
    if isinstance(leaders, str | bytes) or not isinstance(leaders, Sequence):
        raise KafkaLearnError(
            f"leaders must be a sequence with one broker id for each partition, got {type(leaders).__name__}"
        )
    if not leaders:
        raise KafkaLearnError(
            "leaders is empty: name the leading broker of each partition of the offsets topic, "
            "for example round_robin_leaders([1, 2, 3])"
        )
    partition = offsets_partition(group_id, len(leaders))
    return Coordinator(group_id, java_string_hash(group_id), partition, leaders[partition])


def round_robin_leaders(broker_ids: Sequence[int], partition_count: int = OFFSETS_PARTITION_COUNT) -> tuple[int, ...]:
    """Leaders dealt out in turn, the way an undisturbed cluster without racks spreads them.

    Real clusters start at a random broker and drift; give `find_coordinator` their true leaders where you
    know them (``kafka-topics --describe --topic __consumer_offsets``).

    >>> round_robin_leaders([1, 2, 3], partition_count=7)
    (1, 2, 3, 1, 2, 3, 1)
    """
    whole_number("partition_count", partition_count, at_least=1)
    if not broker_ids:
        raise KafkaLearnError("broker_ids is empty: a cluster has at least one broker")
    return tuple(broker_ids[partition % len(broker_ids)] for partition in range(partition_count))
