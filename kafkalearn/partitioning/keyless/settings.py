"""What stays the same while a producer writes: the topic, the release with its rule, the random source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from types import MappingProxyType

from kafkalearn.arguments import whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least

RULES: MappingProxyType[str, str] = MappingProxyType(
    {
        "round robin, one counter": "0.8.2 to 0.10.1: one counter for all topics of the producer",
        "round robin, a counter a topic": "0.10.2 to 2.3: a counter for each topic",
        "sticky": "2.4 to 3.2, KIP-480: one partition until a new batch has to be opened",
        "uniform sticky": "since 3.3, KIP-794: one partition until batch.size bytes went there",
    }
)
"""The rules by name, with the releases of the Java producer that follow them."""

_RULE_SINCE = (
    ("0.8.2", "round robin, one counter"),
    ("0.10.2", "round robin, a counter a topic"),
    ("2.4", "sticky"),
    ("3.3", "uniform sticky"),
)


def rule_of(release: str = DEFAULT_RELEASE) -> str:
    """The name in `RULES` of what the Java producer of a release does with a record without a key.

    >>> rule_of("2.3"), rule_of("2.4"), rule_of()
    ('round robin, a counter a topic', 'sticky', 'uniform sticky')
    """
    return [rule for since, rule in _RULE_SINCE if at_least(since, release)][-1]


def seeded(seed: int) -> Callable[[int], int]:
    """A random source for `Settings`: draw number `index` of a seed, 31 bits, the same on every machine.

    >>> draw = seeded(7)
    >>> draw(0) == seeded(7)(0), draw(0) == draw(1)
    (True, False)
    """
    return partial(_draw, seed)


def _draw(seed: int, index: int) -> int:
    return Random(f"{seed}/{index}").getrandbits(31)


_SEED_0 = seeded(0)


@dataclass(frozen=True, slots=True)
class Settings:
    """What stays the same while a producer writes to one topic.

    Parameters
    ----------
    partition_count : int
        All partitions of the topic, at least 1.
    release : str
        Of the Java producer; without one, Kafka 4.3.
    available : tuple of int or None
        The partitions that have a live leader, ascending; None: all of them.
    batch_size : int
        ``batch.size`` in bytes, at least 1.
    is_adaptive : bool
        ``partitioner.adaptive.partitioning.enable``: prefer partitions with short queues (since 3.3).
    draw : callable
        ``draw(index)`` is the random number of the index-th draw, at least 0. To replay a recorded run, give
        the numbers it drew: ``(4, 0, 2).__getitem__``.
    """

    partition_count: int
    release: str = DEFAULT_RELEASE
    available: tuple[int, ...] | None = None
    batch_size: int = 16384
    is_adaptive: bool = True
    draw: Callable[[int], int] = _SEED_0

    def __post_init__(self) -> None:
        """Refuse what no producer can be configured to."""
        whole_number("partition_count", self.partition_count, at_least=1)
        whole_number("batch_size", self.batch_size, at_least=1)
        rule_of(self.release)
        for partition in self.available or ():
            if not 0 <= partition < self.partition_count:
                raise KafkaLearnError(
                    f"available names partition {partition}; the topic has 0 to {self.partition_count - 1}"
                )

    @property
    def candidates(self) -> tuple[int, ...]:
        """The partitions to draw from: the available ones, or all when none is."""
        return self.available or tuple(range(self.partition_count))
