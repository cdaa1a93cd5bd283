"""What brokers carry, what they would if some died, and what a plan has to move: the numbers before it is executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kafkalearn.arguments import LARGEST_INT, iterable, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.operations.leadership.simulator import leader_of
from kafkalearn.operations.leadership.state import Led
from kafkalearn.operations.reassignment.plan import Target, targets_of


@dataclass(frozen=True, slots=True)
class Load:
    """What one broker carries."""

    broker_id: int
    leader_count: int
    led_bytes: int
    replica_count: int
    replica_bytes: int


@dataclass(frozen=True, slots=True)
class Moved:
    """What one broker receives and sends while a plan is carried out, and what it may delete afterwards."""

    broker_id: int
    in_bytes: int
    out_bytes: int
    deleted_bytes: int


def load_without(partitions: Sequence[Led], dead: Iterable[int] = ()) -> tuple[Load, ...]:
    """The load of every broker that is left while others are dead, by broker id.

    Of each partition of a dead leader the first replica in sync that lives leads. Partitions without one are led by
    nobody and count for nobody.

    Raises
    ------
    KafkaLearnError
        If `dead` holds what is no broker id.

    Examples
    --------
    >>> from kafkalearn.operations.leadership.state import partition_of
    >>> partitions = [partition_of("orders", 0, [1, 2], size_bytes=10), partition_of("orders", 1, [2, 1], size_bytes=5)]
    >>> load_without(partitions, dead=[1])
    (Load(broker_id=2, leader_count=2, led_bytes=15, replica_count=2, replica_bytes=15),)
    """
    gone = {
        whole_number("a broker id of dead", each, 0, LARGEST_INT) for each in iterable("dead", dead, of="broker ids")
    }
    leaders, led, replicas, held = Counter(), Counter(), Counter(), Counter()
    for each in partitions:
        leader = leader_of(each, gone)
        leaders[leader] += 1
        led[leader] += each.size_bytes
        for broker_id in each.replicas:
            replicas[broker_id] += 1
            held[broker_id] += each.size_bytes
    left = sorted({*replicas} - gone)
    return tuple(Load(each, leaders[each], led[each], replicas[each], held[each]) for each in left)


def moved_bytes(partitions: Sequence[Led], plan: Sequence[Target]) -> tuple[Moved, ...]:
    """What each broker receives and sends for a plan, by broker id; brokers that do neither are left out.

    Every new replica copies the whole log from the leader. Nothing is copied for a replica that stays, whatever its
    place in the list.

    Raises
    ------
    KafkaLearnError
        If the plan names a partition that is not there, or one that nobody leads.

    Examples
    --------
    >>> from kafkalearn.operations.leadership.state import partition_of
    >>> from kafkalearn.operations.reassignment import Target
    >>> partitions = [partition_of("orders", 0, [1, 2], size_bytes=10)]
    >>> for moved in moved_bytes(partitions, [Target("orders", 0, (3, 2))]):
    ...     print(moved)
    Moved(broker_id=1, in_bytes=0, out_bytes=10, deleted_bytes=10)
    Moved(broker_id=3, in_bytes=10, out_bytes=0, deleted_bytes=0)
    """
    there = {(each.topic, each.partition): each for each in partitions}
    came, went, deleted = Counter(), Counter(), Counter()
    for target in targets_of(plan):
        led = there.get((target.topic, target.partition))
        if led is None:
            raise KafkaLearnError(f"the plan names {target.topic}-{target.partition}, which is none of the partitions")
        if led.leader is None:
            raise KafkaLearnError(f"nobody leads {led.topic}-{led.partition}: nobody to copy its log from")
        for broker_id in {*target.replicas} - {*led.replicas}:
            came[broker_id] += led.size_bytes
            went[led.leader] += led.size_bytes
        for broker_id in {*led.replicas} - {*target.replicas}:
            deleted[broker_id] += led.size_bytes
    busy = sorted({*came, *went, *deleted})
    return tuple(Moved(each, came[each], went[each], deleted[each]) for each in busy)


def move_seconds(moved: Sequence[Moved], throttle_bytes_per_s: int, produced_bytes_per_s: int = 0) -> Fraction | None:
    """How long a plan takes if every broker sends and receives as much as its throttle allows.

    The busiest broker decides, sending or receiving: ``leader.replication.throttled.rate`` and
    ``follower.replication.throttled.rate`` are limits of a broker, not of a partition. Fetches of replicas in sync are
    not throttled.

    Parameters
    ----------
    moved : sequence of Moved
        As `moved_bytes` has it.
    throttle_bytes_per_s : int
        What ``--throttle`` is given, at least 1.
    produced_bytes_per_s : int
        What producers write meanwhile to the partitions that move to one broker: new replicas have to copy it too.

    Returns
    -------
    fractions.Fraction or None
        Seconds; None: never, as more comes than the throttle lets through.

    Examples
    --------
    >>> moved = [Moved(1, 0, 100, 0), Moved(2, 60, 0, 0), Moved(3, 40, 0, 0)]
    >>> move_seconds(moved, 10), move_seconds(moved, 10, produced_bytes_per_s=10)
    (Fraction(10, 1), None)

    References
    ----------
    KIP-73; Apache Kafka 0.10.1 to 4.3, ``ReplicationQuotaManager``, ``ReplicaManager.shouldLeaderThrottle``.
    """
    rate = whole_number("throttle_bytes_per_s", throttle_bytes_per_s, at_least=1)
    left = rate - whole_number("produced_bytes_per_s", produced_bytes_per_s, at_least=0)
    busiest = max((max(each.in_bytes, each.out_bytes) for each in moved), default=0)
    if busiest == 0:
        return Fraction(0)
    return Fraction(busiest, left) if left > 0 else None
