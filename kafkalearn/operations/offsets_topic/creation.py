"""Whether ``__consumer_offsets`` is created when the first group asks, and with how many replicas, by release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafkalearn.arguments import LARGEST_INT, sequence, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least

COORDINATOR_NOT_AVAILABLE = "COORDINATOR_NOT_AVAILABLE"
INVALID_REPLICATION_FACTOR = "INVALID_REPLICATION_FACTOR"

LAST_WITH_ZOOKEEPER, FIRST_WITH_KRAFT = "3.9", "2.8"
KRAFT_FOR_PRODUCTION = "3.3"


@dataclass(frozen=True, slots=True)
class Creation:
    """What comes of the first FindCoordinator.

    Attributes
    ----------
    replica_count : int or None
        Replicas of each partition; None: the topic is not created.
    logged : str or None
        What the broker writes as an error into its log.
    """

    replica_count: int | None
    logged: str | None = None

    @property
    def is_created(self) -> bool:
        """Whether there is a topic now."""
        return self.replica_count is not None


def create_offsets_topic(
    live_brokers: Sequence[int],
    replication_factor: int = 3,
    release: str | Release = DEFAULT_RELEASE,
    *,
    fenced_brokers: Sequence[int] = (),
    has_zookeeper: bool | None = None,
) -> Creation:
    """What a cluster makes of the request for the first group, by its release.

    In every case this first request is answered COORDINATOR_NOT_AVAILABLE, with the reason nowhere: the client asks
    again until it gives up. The same number of live brokers leads to three different topics:

    - up to 0.10.2 it is created with as many replicas as brokers are alive, and stays so when the others come;
    - from 0.11 on (KIP-115) it is not created before as many brokers are alive as it shall have replicas;
    - with KRaft brokers count that are registered: a fenced one, down at the moment, gets its replica, too.

    Parameters
    ----------
    live_brokers : sequence of int
        Ids of the brokers that are up.
    replication_factor : int
        ``offsets.topic.replication.factor``: 3 unless it is set; the sample ``server.properties`` sets 1 since 0.11.
    release : str or Release
        Of the cluster.
    fenced_brokers : sequence of int
        With KRaft: registered once, and down.
    has_zookeeper : bool or None
        None: up to 3.2 yes, since 4.0 no. From 3.3 to 3.9 clusters have either, so it has to be said.

    Raises
    ------
    KafkaLearnError
        If no broker is alive, a broker is named twice, the release had no such cluster, or had both kinds.

    Examples
    --------
    >>> create_offsets_topic([1, 2], release="0.10.2").replica_count
    2
    >>> print(create_offsets_topic([1, 2], release="1.0").replica_count)
    None
    >>> print(create_offsets_topic([1, 2]).replica_count)
    None
    >>> create_offsets_topic([1, 2], fenced_brokers=[3]).replica_count
    3

    References
    ----------
    Apache Kafka 0.8.2 to 2.7, ``KafkaApis.createInternalTopic`` (to 0.10.2 ``createGroupMetadataTopic``); since 2.8
    ``AutoTopicCreationManager``; with KRaft ``ReplicationControlManager.createTopic``, ``StripedReplicaPlacer``.
    """
    live, fenced = _ids("live_brokers", live_brokers), _ids("fenced_brokers", fenced_brokers)
    whole_number("replication_factor", replication_factor, 1, LARGEST_INT)
    if not live:
        raise KafkaLearnError("live_brokers is empty: who should be asked for a coordinator?")
    if both := {*live} & {*fenced}:
        raise KafkaLearnError(f"brokers {sorted(both)} are live and fenced; each broker is one of the two")
    if uses_zookeeper(release, has_zookeeper):
        if not at_least("0.11.0", release):
            return Creation(min(replication_factor, len(live)))
        if len(live) < replication_factor:
            return Creation(None, _logged_with_zookeeper(release, len(live), replication_factor))
        return Creation(replication_factor)
    if len(live) + len(fenced) < replication_factor:
        return Creation(None)
    return Creation(replication_factor)


def uses_zookeeper(release: str | Release, has_zookeeper: bool | None) -> bool:
    """Whether a cluster of a release keeps its metadata in ZooKeeper; None: where its release leaves no choice.

    >>> uses_zookeeper("3.2", None), uses_zookeeper("4.0", None), uses_zookeeper("3.9", False)
    (True, False, False)
    """
    if has_zookeeper and at_least("4.0", release):
        raise KafkaLearnError(f"Kafka {release!s} has no ZooKeeper: the last that could was {LAST_WITH_ZOOKEEPER}")
    if has_zookeeper is False and not at_least(FIRST_WITH_KRAFT, release):
        raise KafkaLearnError(f"Kafka {release!s} has no KRaft: the first that could was {FIRST_WITH_KRAFT}")
    if has_zookeeper is None and at_least(KRAFT_FOR_PRODUCTION, release) and not at_least("4.0", release):
        raise KafkaLearnError(
            f"Kafka {release!s} runs with ZooKeeper or with KRaft, and they differ in this: say which, "
            "has_zookeeper=True or has_zookeeper=False"
        )
    return not at_least("4.0", release) if has_zookeeper is None else has_zookeeper


def _logged_with_zookeeper(release: str | Release, live_count: int, replication_factor: int) -> str:
    """Since 2.8 the topic is created as any other is, and the error is that of any other."""
    if at_least("2.8", release):
        return f"Replication factor: {replication_factor} larger than available brokers: {live_count}."
    return (
        f"Number of alive brokers '{live_count}' does not meet the required replication factor "
        f"'{replication_factor}' for the offsets topic (configured via 'offsets.topic.replication.factor'). This error "
        "can be ignored if the cluster is starting up and not all brokers are up yet."
    )


def _ids(name: str, value: object) -> tuple[int, ...]:
    kept = tuple(
        whole_number(f"{name}[{place}]", each, 0, LARGEST_INT)
        for place, each in enumerate(sequence(name, value, of="broker ids"))
    )
    if len({*kept}) < len(kept):
        raise KafkaLearnError(f"{name} names a broker twice: {list(kept)}; give each once")
    return kept
