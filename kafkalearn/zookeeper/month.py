"""How long partitions of an old group have no reader: until all agree, and where somebody gives up much longer.

A consumer that has given up stays registered: everybody leaves it its share, and nobody reads that. What ends this is
the next change of the group, whatever it is: its watches call it like everybody else, it rebalances again, and takes
its share. So how long a partition has no reader is decided by when the group changes next, in an hour or in two weeks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from kafkalearn.base.checks import sequence, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.zookeeper.eras import newcomer

__all__ = ["MONTH_MS", "ConsumerStarted", "Stretch", "stretches"]

MONTH_MS = 30 * 86_400_000


class ConsumerStarted(NamedTuple):
    """A consumer of a group is started, again or for the first time."""

    at_ms: int
    pause_ms: Sequence[int]  # of each member that is there: how long it stands still from now on
    partition_count: int


class Stretch(NamedTuple):
    """So many partitions without a reader for so long."""

    ms: int
    partition_count: int


def stretches(
    changes: Sequence[ConsumerStarted], end_ms: int = MONTH_MS, backoff_ms: int = 2000, max_retries: int = 4
) -> list[Stretch]:
    """How long partitions of a group have no reader, change by change.

    Until all agree nobody may be reading: that long at most, for what is read afterwards. What belongs to one that has
    given up is not read until the group changes again, or to the end.

    Parameters
    ----------
    changes : sequence of ConsumerStarted
        Of one group, in order of their times.
    end_ms : int
        When the month ends.
    backoff_ms, max_retries : int
        ``rebalance.backoff.ms`` and ``rebalance.max.retries``.

    Raises
    ------
    KafkaLearnError
        If times do not rise, or a change is none that `kafkalearn.zookeeper.eras.newcomer` plays.

    Examples
    --------
    >>> stretches([ConsumerStarted(0, [0, 15_001], 6), ConsumerStarted(7_200_000, [0, 0], 6)], end_ms=9_000_000)
    [Stretch(ms=15077, partition_count=4), Stretch(ms=7200000, partition_count=2), Stretch(ms=92, partition_count=6)]
    """
    whole_number("end_ms", end_ms, at_least=0)
    times = [each.at_ms for each in sequence("changes", changes, of="ConsumerStarted(...)")] + [end_ms]
    if any(later < earlier for earlier, later in pairwise(times)):
        raise KafkaLearnError(f"changes must be in order of their times and before the end, got at_ms {times}")
    return [
        found
        for each, until in zip(changes, times[1:], strict=True)
        for found in _of(each, until, backoff_ms, max_retries)
    ]


def _of(change: ConsumerStarted, until_ms: int, backoff_ms: int, max_retries: int) -> Iterator[Stretch]:
    cost = newcomer(change.pause_ms, change.partition_count, backoff_ms, max_retries)
    yield Stretch(cost.agreement_ms, change.partition_count - cost.unread_count)
    if cost.unread_count:
        yield Stretch(until_ms - change.at_ms, cost.unread_count)
