"""A cluster to read from: the one that `Kafka` has started, or your own."""

from __future__ import annotations

from collections.abc import Mapping

from kafkalearn.live.reading.brokers import Brokers, parse_addresses
from kafkalearn.live.reading.groups import ReadsGroups
from kafkalearn.live.reading.logs import ReadsLogs
from kafkalearn.live.reading.settings import ReadsSettings
from kafkalearn.live.requests.connection import TIMEOUT_S
from kafkalearn.live.requests.security import security_of


class Cluster(ReadsLogs, ReadsGroups, ReadsSettings):
    """A cluster to read from; to be closed, or used in a ``with`` block."""

    def close(self) -> None:
        """Close the connections."""
        self._brokers.close()

    def __enter__(self) -> Cluster:
        """The cluster itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()


def connect(addresses: str, config: Mapping[str, object] | None = None, timeout_s: float = TIMEOUT_S) -> Cluster:
    """Your own cluster, to read from: strictly read-only.

    It sends requests that change nothing: no topic is created by asking for it, nothing joins or commits in a group,
    records are read by offset, and no coordinator is asked for before the offsets topic is seen to exist, because that
    would create it.

    Parameters
    ----------
    addresses : str
        As ``bootstrap.servers`` has them: ``"localhost:9092"``, several with commas between.
    config : mapping, optional
        The security settings of your clients, by the names of librdkafka and confluent-kafka: ``security.protocol``,
        ``sasl.mechanism``, ``ssl.ca.location`` and so on (`kafkalearn.live.requests.security.SETTINGS`). Others are
        not looked at, so a client's whole configuration will do.
    timeout_s : float
        How long to wait for each answer.

    Returns
    -------
    Cluster
        Connected: a broker has answered.

    Raises
    ------
    NoAnswer
        If none of the addresses answers.
    Refused
        If the broker does not believe who you are.
    KafkaLearnError
        If an address or a setting has no meaning.
    """
    brokers = Brokers(parse_addresses(addresses), security_of(config or {}), timeout_s)
    cluster = Cluster(brokers)
    try:
        cluster.metadata()
    except BaseException:
        cluster.close()
        raise
    return cluster
