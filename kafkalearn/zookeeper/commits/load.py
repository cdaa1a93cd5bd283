"""ZooKeeper and the offsets topic under the same load: how much each has to write, and how far it falls behind.

A commit to ZooKeeper is one write for each partition whose offset has changed. Each is a transaction that the one
leader puts into its log and flushes to its disk, alone or with those that came in the meantime; the client waits for
one before it sends the next. A commit to the topic is one request for all partitions of a consumer, changed or not:
its records are one batch, which the coordinator appends without a flush, and groups have many coordinators.

What a write takes depends on disk and network, so it is a setting: give `Costs` what you have measured. `MEASURED` has
what one machine took.

>>> commit_times(1), commit_times(100)
(CommitTimes(zookeeper_us=380, topic_us=98), CommitTimes(zookeeper_us=38000, topic_us=692))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kafkalearn.arguments import iterable, whole_number
from kafkalearn.fields import Checked, Count


@dataclass(frozen=True, slots=True)
class Costs(Checked):
    """What writing takes, in microseconds, and what a store gets done in a second.

    Parameters
    ----------
    znode_write_us : int
        From a client's write of a node to its answer, while nobody else writes.
    znode_writes_per_second : int
        Writes that the leader gets done when many come at once, and share flushes.
    request_us, record_us : int
        From a commit request of one partition to its answer, and what each further partition adds.
    requests_per_second : int
        Commit requests of one partition that one broker gets done when many clients commit at once.
    """

    znode_write_us: Count
    znode_writes_per_second: Count
    request_us: Count
    record_us: Count
    requests_per_second: Count


MEASURED = Costs(380, 1100, 98, 6, 11_000)
"""Kafka 1.1.1 and ZooKeeper 3.4.10, one of each, clients and servers together on two cores that had other work: the
quick tenth of all writes, the median of three runs, two digits. They are in tests/vectors/zookeeper/offset-stores.json.
No network lies between, no follower is waited for, the disk flushes 100 bytes in 0.14 ms. Elsewhere, measure."""


class CommitTimes(NamedTuple):
    """How long a consumer waits for a commit of all its partitions, in each store."""

    zookeeper_us: int
    topic_us: int


def commit_times(partition_count: int, costs: Costs = MEASURED) -> CommitTimes:
    """How long a consumer waits for a commit, if the offset of each of its partitions has changed.

    Parameters
    ----------
    partition_count : int
        Partitions that it owns.
    costs : Costs
        What a write takes.

    Examples
    --------
    >>> commit_times(10).zookeeper_us // commit_times(10).topic_us
    25
    """
    count = whole_number("partition_count", partition_count, at_least=1)
    return CommitTimes(costs.znode_write_us * count, costs.request_us + costs.record_us * (count - 1))


def backlogs(asked: Iterable[int], done_per_second: int) -> list[int]:
    """How many writes wait at the end of each second, when so many are asked for in it and so many can be done.

    Parameters
    ----------
    asked : iterable of int
        Writes that come in each second, in order; a second without any is a 0.
    done_per_second : int
        What the store gets done.

    Raises
    ------
    KafkaLearnError
        If one of them is no such number.

    Examples
    --------
    >>> backlogs([1000, 5000, 0, 1000], 2000)
    [0, 3000, 1000, 0]
    """
    whole_number("done_per_second", done_per_second, at_least=1)
    waiting = 0
    found: list[int] = []
    for number in iterable("asked", asked, of="whole numbers"):
        waiting = max(0, waiting + whole_number("asked", number, at_least=0) - done_per_second)
        found.append(waiting)
    return found
