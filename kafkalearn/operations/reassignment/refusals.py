"""What ``--execute`` refuses, in Kafka's words and in Kafka's order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from kafkalearn.java_collections import hash_order
from kafkalearn.operations.reassignment.cluster import Cluster
from kafkalearn.operations.reassignment.plan import Target, targets_of

Member = TypeVar("Member")

RUNNING = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this and create "
    "a new partition assignment in addition to the existing one. The --additional flag can also be used to change the "
    "throttle by resubmitting the current reassignment."
)


def refusal(plan: Sequence[Target], cluster: Cluster, is_additional: bool = False) -> str | None:
    """Why the tool does not start a plan; None: it does.

    Parameters
    ----------
    plan : sequence of Target
        As `read_plan` or `plan_of` give it.
    cluster : Cluster
        What the tool asks.
    is_additional : bool
        Whether ``--additional`` is given: then plans that run already do not matter.

    Returns
    -------
    str or None
        The message, without the ``Error:`` that some of them have in front.

    Examples
    --------
    >>> from kafkalearn.operations.reassignment import Cluster, Target
    >>> cluster = Cluster([1, 2, 3], {"orders": [(1, 2), (2, 3)]})
    >>> refusal([Target("orders", 0, (1, 2)), Target("orders", 0, (3, 2))], cluster)
    'Partition reassignment contains duplicate topic partitions: orders-0'
    >>> refusal([Target("orders", 0, (1, 1))], cluster)
    'Partition replica lists may not contain duplicate entries: orders-0 contains multiple entries for 1'
    >>> refusal([Target("orders", 0, (1, 9))], cluster)
    'Unknown broker id 9'
    >>> refusal([Target("orders", 0, (3, 1))], cluster) is None
    True

    References
    ----------
    Apache Kafka 2.6 to 4.3, ``ReassignPartitionsCommand.executeAssignment``, ``parseExecuteAssignmentArgs``.
    """
    targets = targets_of(plan)
    return _of_the_plan(targets) or _of_the_cluster(targets, cluster, is_additional)


def _of_the_plan(targets: tuple[Target, ...]) -> str | None:
    if not targets:
        return "Partition reassignment list cannot be empty"
    if any(not each.replicas for each in targets):
        return "Partition replica list cannot be empty"
    if twice := duplicates(each.at for each in targets):
        return f"Partition reassignment contains duplicate topic partitions: {','.join(map(str, twice))}"
    repeated = [(each.at, duplicates(each.replicas)) for each in targets]
    words = [f"{at} contains multiple entries for {','.join(map(str, twice))}" for at, twice in repeated if twice]
    if words:
        return f"Partition replica lists may not contain duplicate entries: {'. '.join(words)}"
    return None


def _of_the_cluster(targets: tuple[Target, ...], cluster: Cluster, is_additional: bool) -> str | None:
    if cluster.moves and not is_additional:
        return RUNNING
    named = hash_order(broker for each in targets for broker in each.replicas)
    if unknown := [broker for broker in named if broker not in cluster.broker_ids]:
        return f"Unknown broker id {unknown[0]}"
    for topic in hash_order(each.topic for each in targets):
        if topic not in cluster.topics:
            return f"org.apache.kafka.common.errors.UnknownTopicOrPartitionException: Topic {topic} not found."
    if missing := [each.at for each in targets if cluster.replicas(each.at) is None]:
        return (
            "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: Unable to find partition: "
            f"{', '.join(map(str, hash_order(missing)))}"
        )
    return None


def duplicates(members: Iterable[Member]) -> list[Member]:
    """What stands more than once, in the order of Java's HashSet.

    >>> duplicates([3, 1, 3, 2, 1])
    [1, 3]
    """
    seen: set[Member] = set()
    twice: list[Member] = []
    for each in members:
        if each in seen:
            twice.append(each)
        seen.add(each)
    return hash_order(twice)
