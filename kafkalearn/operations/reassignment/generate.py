"""What ``--generate`` proposes: Kafka's own placement over the brokers given, with as many replicas as before."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.arguments import LARGEST_INT, sequence
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.operations.placement.brokers import Broker
from kafkalearn.operations.placement.java_random import JavaRandom
from kafkalearn.operations.placement.shifted import place_shifted
from kafkalearn.operations.placement.striped import place_striped
from kafkalearn.operations.reassignment.cluster import Cluster
from kafkalearn.operations.reassignment.plan import Target, plan_of
from kafkalearn.operations.reassignment.refusals import duplicates
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least


def generate(
    topics: Sequence[str],
    broker_ids: Sequence[int],
    cluster: Cluster,
    release: str | Release = DEFAULT_RELEASE,
    *,
    seed: int = 0,
    is_rack_aware: bool = True,
) -> tuple[Target, ...]:
    """The plan that the tool proposes for some topics over some brokers.

    It keeps the number of replicas of each topic's first partition: a plan with more has to be written by hand, with
    `kafkalearn.operations.placement` and `plan_of`. Kafka draws; the same seed gives the same plan.

    Parameters
    ----------
    topics : sequence of str
        As in ``--topics-to-move-json-file``.
    broker_ids : sequence of int
        ``--broker-list``. Brokers that are down are left out in silence, as the tool does.
    cluster : Cluster
        The brokers with their racks, and the topics.
    release : str or Release
        Of the tool: up to 4.0 it places as clusters with ZooKeeper do, since 4.1 as a KRaft controller does.
    seed : int
        What Kafka draws.
    is_rack_aware : bool
        False: ``--disable-rack-aware``.

    Raises
    ------
    KafkaLearnError
        Where the tool refuses: a topic or a broker twice, an unknown topic, too few brokers, racks for some only.

    Examples
    --------
    >>> from kafkalearn.operations.reassignment import Cluster
    >>> cluster = Cluster([1, 2, 3, 4], {"orders": [(1, 2), (2, 1), (1, 2)]})
    >>> [each.replicas for each in generate(["orders"], [2, 3, 4], cluster)]
    [(3, 4), (4, 2), (2, 3)]

    References
    ----------
    Apache Kafka 0.8.1 to 4.3, ``ReassignPartitionsCommand.generateAssignment``.
    """
    names, wanted = sequence("topics", topics, of="names"), sequence("broker_ids", broker_ids, of="broker ids")
    if twice := duplicates(wanted):
        raise KafkaLearnError(f"Broker list contains duplicate entries: {twice}; name each broker once")
    if twice := duplicates(names):
        raise KafkaLearnError(f"List of topics to reassign contains duplicate entries: {twice}; name each topic once")
    chosen = [each if is_rack_aware else Broker(each.id) for each in cluster.brokers if each.id in wanted]
    if not chosen:
        raise KafkaLearnError(f"none of the brokers {list(wanted)} is alive; there are {list(cluster.broker_ids)}")
    if len({each.rack is None for each in chosen}) > 1:
        raise KafkaLearnError(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
            "assignment without rack information."
        )
    plan: list[Target] = []
    random = JavaRandom(seed)
    for name in names:
        if name not in cluster.topics:
            raise unknown_name("topic", name, cluster.topics)
        count, factor = len(cluster.topics[name]), len(cluster.topics[name][0])
        if at_least("4.1", release):
            placement = place_striped(chosen, count, factor, random.next_int(LARGEST_INT))
        else:
            start, shift = random.next_int(len(chosen)), random.next_int(len(chosen))
            placement = place_shifted(chosen, count, factor, start, shift)
        plan += plan_of(name, placement)
    return tuple(plan)
