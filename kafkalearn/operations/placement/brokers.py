"""The brokers that a placer may choose from, and what every placer is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from kafkalearn.arguments import LARGEST_INT, sequence, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Whole
from kafkalearn.phrases import shown

MOST_PARTITIONS = 1_000_000

Replicas: TypeAlias = tuple[int, ...]
"""The brokers of one partition, the preferred leader first."""

Placement: TypeAlias = tuple[Replicas, ...]
"""For each partition its replicas: ``placement[p]`` are those of partition ``p``."""


@dataclass(frozen=True, slots=True)
class Broker(Checked):
    """A broker as a placer sees it.

    Attributes
    ----------
    id : int
        ``node.id``, from 0.
    rack : str or None
        ``broker.rack``; None: not set.
    is_fenced : bool
        Registered, and not heard from at the moment: it may get replicas, and no leadership.
    """

    id: Annotated[int, Whole(0, LARGEST_INT)]
    rack: str | None = None
    is_fenced: bool = False


def brokers_of(brokers: Sequence[Broker | int]) -> tuple[Broker, ...]:
    """The brokers as `Broker`; a bare number is one without a rack.

    Raises
    ------
    KafkaLearnError
        If one is neither, there is none, or an id stands there twice.

    Examples
    --------
    >>> brokers_of([1, Broker(2, "a")])
    (Broker(id=1, rack=None, is_fenced=False), Broker(id=2, rack='a', is_fenced=False))
    """
    given = sequence("brokers", brokers, of="broker ids, or Broker(...)")
    kept = tuple(each if isinstance(each, Broker) else Broker(each) for each in given)
    if not kept:
        raise KafkaLearnError("brokers is empty: replicas need at least one broker")
    if len({each.id for each in kept}) < len(kept):
        raise KafkaLearnError(f"brokers names a broker twice: {shown([each.id for each in kept])}; give each once")
    return kept


def checked_counts(partition_count: object, replication_factor: object, broker_count: int) -> None:
    """Pass in silence if so many partitions and replicas can be placed on so many brokers.

    Raises
    ------
    KafkaLearnError
        Where Kafka answers INVALID_PARTITIONS or INVALID_REPLICATION_FACTOR.
    """
    whole_number("partition_count", partition_count, 1, MOST_PARTITIONS)
    if whole_number("replication_factor", replication_factor, 1, LARGEST_INT) > broker_count:
        raise KafkaLearnError(
            f"replication_factor is {replication_factor}, and there are {broker_count} brokers: a broker holds one "
            "replica of a partition (Kafka answers INVALID_REPLICATION_FACTOR); start more brokers or ask for fewer"
        )


def placement_of(name: str, placement: object) -> Placement:
    """A placement as tuples; `name` is what an error calls it.

    >>> placement_of("placement", [[1, 2], (2, 3)])
    ((1, 2), (2, 3))
    """
    given: tuple[Any, ...] = sequence(name, placement, of="replicas, one tuple for each partition")
    return tuple(sequence(f"{name}[{place}]", each, of="broker ids") for place, each in enumerate(given))


def ids_text(brokers: Iterable[int]) -> str:
    """Broker ids as Kafka's tools print them.

    >>> ids_text((1, 2))
    '1,2'
    """
    return ",".join(map(str, brokers))
