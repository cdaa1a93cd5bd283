"""What stays the same while a producer writes: the topic, the release with its rule, the random source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from types import MappingProxyType

from kafkalearn.arguments import LARGEST_LONG, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Count, Index, PartitionCount, check_fields
from kafkalearn.phrases import shown
from kafkalearn.versions.releases import DEFAULT_RELEASE, ReleaseName, at_least

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
    return partial(_draw, whole_number("seed", seed, at_least=-LARGEST_LONG))


def _draw(seed: int, index: int) -> int:
    return Random(f"{seed}/{index}").getrandbits(31)


_SEED_0 = seeded(0)


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """What stays the same while a producer writes to one topic.

    Parameters
    ----------
    partition_count : int
        All partitions of the topic, 1 to 10,000.
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

    partition_count: PartitionCount
    release: ReleaseName = DEFAULT_RELEASE
    available: tuple[Index, ...] | None = None
    batch_size: Count = 16384
    is_adaptive: bool = True
    draw: Callable[[int], int] = _SEED_0

    def __post_init__(self) -> None:
        """Refuse what no producer can be configured to."""
        check_fields(self)
        if not callable(self.draw):
            raise KafkaLearnError(f"draw must be a function of the number of a draw, got {shown(self.draw)}")
        for partition in self.available or ():
            if partition >= self.partition_count:
                raise KafkaLearnError(
                    f"available names partition {partition}; the topic has 0 to {self.partition_count - 1}"
                )

    @property
    def candidates(self) -> tuple[int, ...]:
        """The partitions to draw from: the available ones, or all when none is."""
        return self.available or tuple(range(self.partition_count))
