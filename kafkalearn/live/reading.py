"""What a cluster and its disks say, asked without changing anything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import Any

from kafkalearn.base.errors import KafkaLearnError, listed, shown
from kafkalearn.live.errors import NoAnswer, Refused
from kafkalearn.live.request_values import NONE, error_name
from kafkalearn.live.requests import CLIENT_ID, PLAINTEXT, TIMEOUT_S, Connection, Security, find_api

# The brokers of a cluster, and a connection to each that was asked.

Address = tuple[str, int]


class Brokers:
    """Connections to the brokers of one cluster, made when they are needed.

    Parameters
    ----------
    addresses : iterable of (str, int)
        Where to begin: any brokers of the cluster.
    security : Security
        As each connection uses it.
    timeout_s : float
        How long to wait for an answer that no other time is given for.
    """

    def __init__(
        self, addresses: Iterable[Address], security: Security = PLAINTEXT, timeout_s: float = TIMEOUT_S
    ) -> None:
        """Remember the addresses; nothing is asked yet."""
        self.first_addresses = tuple(addresses)
        self.security = security
        self.timeout_s = timeout_s
        self._connections: dict[Address, Connection] = {}
        self._locks: defaultdict[Address, RLock] = defaultdict(RLock)

    def ask(
        self,
        address: Address,
        name: str,
        values: Mapping[str, Any],
        version: int | None = None,
        timeout_s: float | None = None,
    ) -> dict[str, Any]:
        """The answer of the broker at an address; a connection that was lost meanwhile is made again, once.

        Raises
        ------
        NoAnswer
            If there is none in time.
        """
        with self._locks[address]:  # one question at a time on one connection, whichever thread asks
            is_old = address in self._connections
            try:
                return self.connection(address).call(name, values, version, timeout_s)
            except NoAnswer as error:
                self.forget(address)
                if not is_old or "no answer in time" in str(error):
                    raise
            try:
                return self.connection(address).call(name, values, version, timeout_s)
            except NoAnswer:
                self.forget(address)
                raise

    def ask_any(
        self, addresses: Iterable[Address], name: str, values: Mapping[str, Any], version: int | None = None
    ) -> dict[str, Any]:
        """The answer of the first of these brokers that gives one.

        Raises
        ------
        NoAnswer
            If none does; the message has what each of them said.
        """
        failures = []
        for address in addresses:
            try:
                return self.ask(address, name, values, version)
            except NoAnswer as error:
                failures.append(str(error))
        raise NoAnswer("; ".join(failures) or "there is no broker to ask: all are stopped, killed or frozen")

    def connection(self, address: Address) -> Connection:
        """The connection to an address, made if there is none."""
        with self._locks[address]:
            if address not in self._connections:
                self._connections[address] = Connection(*address, self.security, self.timeout_s, CLIENT_ID)
            return self._connections[address]

    def knows(self, address: Address, name: str) -> bool:
        """Whether the broker at an address knows a request in a version that we know."""
        return self.connection(address).knows(name)

    def forget(self, address: Address) -> None:
        """Close the connection to an address, if there is one."""
        connection = self._connections.pop(address, None)
        if connection is not None:
            connection.close()

    def close(self) -> None:
        """Close all connections; the next question makes new ones."""
        for address in list(self._connections):
            self.forget(address)


def metadata_request(topics: Iterable[str] | None) -> dict[str, Any]:
    """The fields of a Metadata request that creates nothing: some topics, or with None all of them."""
    return {
        "topics": None if topics is None else [{"name": topic} for topic in topics],
        "allowAutoTopicCreation": False,
    }


def refuse_error(answer: Mapping[str, Any], what: str) -> None:
    """Raise the error that a response carries, if any.

    Raises
    ------
    Refused
        Names what was asked and Kafka's name of the error.
    """
    name = error_name(answer["errorCode"])
    if name != NONE:
        said = answer.get("errorMessage")
        raise Refused(f"{what}: {name}{f' ({said})' if said else ''}", name)


def parse_addresses(text: str) -> tuple[Address, ...]:
    """Addresses as ``bootstrap.servers`` has them.

    Raises
    ------
    KafkaLearnError
        If it is not host:port, or several of them with commas between.

    Examples
    --------
    >>> parse_addresses("localhost:9092, [::1]:9093")
    (('localhost', 9092), ('::1', 9093))
    """
    parts = [part.strip() for part in text.split(",")] if isinstance(text, str) else []
    addresses = []
    for part in parts:
        host, _, port = part.removeprefix("PLAINTEXT://").rpartition(":")
        if not host or not port.isascii() or not port.isdecimal() or not 0 < int(port) < 65536:
            raise KafkaLearnError(
                f"an address is host:port, several have commas between: 'localhost:9092,localhost:9093'; "
                f"got {shown(text)}"
            )
        addresses.append((host.strip("[]"), int(port)))
    if not addresses:
        raise KafkaLearnError(f"the addresses of brokers must be a str such as 'localhost:9092', got {shown(text)}")
    return tuple(addresses)


# Who is asked what: the brokers that a cluster names, and the one that leads a partition.

NO_BROKER = -1


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a broker knows of its cluster."""

    cluster_id: str
    addresses: dict[int, Address]  # of the brokers that count as alive, by id
    partition_counts: dict[str, int]  # by topic
    leaders: dict[tuple[str, int], int]  # broker ids; partitions without a leader are left out
    topic_ids: dict[str, str]


class Asking:
    """A cluster that is asked; it knows no more than its brokers' addresses."""

    def __init__(self, brokers: Brokers) -> None:
        """Begin with the addresses that were given; nothing is asked yet."""
        self._brokers = brokers
        self._addresses: dict[int, Address] = {}

    def metadata(self, topics: Iterable[str] | None = (), broker_id: int | None = None) -> Metadata:
        """What a broker knows: the brokers that are alive, and of some topics (None: of all) partitions and leaders.

        Parameters
        ----------
        topics : iterable of str or None
            They are not created by asking.
        broker_id : int or None
            Whom to ask; None: whoever answers.

        Raises
        ------
        NoAnswer
            If no broker answers.
        Refused
            If a topic does not exist, or may not be seen.
        """
        addresses = self._askable() if broker_id is None else [self._address_of(broker_id)]
        answer = self._brokers.ask_any(addresses, "Metadata", metadata_request(topics))
        self._addresses |= {each["nodeId"]: (each["host"], each["port"]) for each in answer["brokers"]}
        for topic in answer["topics"]:
            if error_name(topic["errorCode"]) not in (NONE, "LEADER_NOT_AVAILABLE"):
                refuse_error(topic, f"topic {topic['name']!r}")
        return Metadata(
            answer["clusterId"],
            {each["nodeId"]: (each["host"], each["port"]) for each in answer["brokers"]},
            {topic["name"]: len(topic["partitions"]) for topic in answer["topics"]},
            {
                (topic["name"], each["partitionIndex"]): each["leaderId"]
                for topic in answer["topics"]
                for each in topic["partitions"]
                if each["leaderId"] != NO_BROKER
            },
            {topic["name"]: topic["topicId"] for topic in answer["topics"] if "topicId" in topic},
        )

    def topics(self) -> dict[str, int]:
        """How many partitions each topic has, internal topics too, by name."""
        counts = self.metadata(None).partition_counts
        return {topic: counts[topic] for topic in sorted(counts)}

    def features(self) -> dict[str, int]:
        """The features that the cluster has finalized, each with its level; empty before 3.3 and where none is."""
        broker_id = min(self.metadata().addresses)
        version = self._version(broker_id, "ApiVersions", 3)
        says = {"clientSoftwareName": "kafkalearn", "clientSoftwareVersion": "1"} if version == 3 else {}
        answer = self._ask(broker_id, "ApiVersions", says, version)
        return {each["name"]: each["maxVersionLevel"] for each in answer.get("finalizedFeatures") or ()}

    def _ask_leader(
        self, topic: str, partition: int, name: str, values: dict[str, Any], at_most: int | None = None
    ) -> dict[str, Any]:
        """The leader's answer, in the newest version that it and we know, but not above `at_most`."""
        known = self.metadata([topic])
        if partition not in range(known.partition_counts.get(topic, 0)):
            last = known.partition_counts.get(topic, 0) - 1
            raise KafkaLearnError(f"topic {topic!r} has partitions 0 to {last}, got {shown(partition)}")
        leader = known.leaders.get((topic, partition))
        if leader is None:
            raise Refused(f"{topic}-{partition} has no leader now", "LEADER_NOT_AVAILABLE")
        version = None if at_most is None else self._version(leader, name, at_most)
        return self._ask(leader, name, values, version)

    def _ask(self, broker_id: int, name: str, values: dict[str, Any], version: int | None = None) -> dict:
        return self._brokers.ask(self._address_of(broker_id), name, values, version)

    def _version(self, broker_id: int, name: str, at_most: int) -> int:
        """The newest version of a request that a broker and we know, but not above one."""
        return min(at_most, self._brokers.connection(self._address_of(broker_id)).version_of(find_api(name)))

    def _askable(self) -> list[Address]:
        """Whom to ask when any broker will do, in this order."""
        return list(dict.fromkeys([*self._brokers.first_addresses, *self._addresses.values()]))

    def _address_of(self, broker_id: int) -> Address:
        if broker_id not in self._addresses:
            self.metadata()
        if broker_id not in self._addresses:
            raise NoAnswer(f"there is no broker {broker_id!r}; the cluster names {listed(sorted(self._addresses))}")
        return self._addresses[broker_id]


# A partition as the controller has recorded it: leader, epoch, replicas, ISR, eligible leader replicas.


@dataclass(frozen=True, slots=True)
class PartitionState:
    """What the controller has recorded of a partition, as one broker knows it."""

    leader: int | None  # None: the partition is offline
    leader_epoch: int
    replicas: tuple[int, ...]  # in the order in which leaders are preferred
    isr: tuple[int, ...]
    elr: tuple[int, ...]  # eligible leader replicas; empty where there are none, or the broker is older than 4.0
    last_known_elr: tuple[int, ...]
    offline: tuple[int, ...]  # replicas whose broker does not count as alive


class ReadsPartitions(Asking):
    """Partitions, read."""

    def partition(self, topic: str, partition: int, broker_id: int | None = None) -> PartitionState:
        """The state of a partition.

        Parameters
        ----------
        topic, partition : str, int
            Which one.
        broker_id : int or None
            Whom to ask: each broker knows what it has heard from the controller. None: whoever answers.

        Raises
        ------
        NoAnswer, Refused
            If no broker answers, or there is no such topic.
        """
        addresses = self._askable() if broker_id is None else [self._address_of(broker_id)]
        if addresses and self._brokers.knows(addresses[0], "DescribeTopicPartitions"):
            cursor = {"topicName": topic, "partitionIndex": partition}
            words = {"topics": [{"name": topic}], "cursor": cursor, "responsePartitionLimit": 1}
            answer = self._brokers.ask_any(addresses, "DescribeTopicPartitions", words)
        else:
            answer = self._brokers.ask_any(addresses, "Metadata", metadata_request([topic]))
        found = next((each for each in answer["topics"] if each["name"] == topic), None)
        if found is not None:
            refuse_error(found, f"topic {topic!r}")
        state = next(
            (each for each in (found or {}).get("partitions", ()) if each["partitionIndex"] == partition), None
        )
        if state is None:
            raise KafkaLearnError(f"topic {topic!r} has no partition {partition!r}")
        return PartitionState(
            None if state["leaderId"] == NO_BROKER else state["leaderId"],
            state["leaderEpoch"],
            tuple(state["replicaNodes"]),
            tuple(sorted(state["isrNodes"])),
            tuple(sorted(state.get("eligibleLeaderReplicas") or ())),
            tuple(sorted(state.get("lastKnownElr") or ())),
            tuple(sorted(state["offlineReplicas"])),
        )


# The settings of a broker or a topic, as a broker answers them: their own, a topic's broker's, or the defaults.

TOPIC, BROKER = 2, 4  # the kinds of things whose settings are asked for


class ReadsSettings(Asking):
    """Settings, read."""

    def topic_settings(self, topic: str) -> dict[str, str]:
        """What is in force for a topic, by name: its own settings, and for the rest its broker's. Secrets are left out.

        Raises
        ------
        NoAnswer, Refused
            If no broker answers, there is no such topic, or its settings may not be seen.
        """
        answer = self._brokers.ask_any(self._askable(), "DescribeConfigs", _request(TOPIC, topic))
        return _given(answer, f"the settings of topic {topic!r}")

    def broker_settings(self, broker_id: int) -> dict[str, str]:
        """What is in force at a broker, by name. Secrets and what has no value are left out.

        Raises
        ------
        NoAnswer, Refused
            If the broker does not answer, or its settings may not be seen.
        """
        answer = self._ask(broker_id, "DescribeConfigs", _request(BROKER, str(broker_id)))
        return _given(answer, f"the settings of broker {broker_id}")


def _request(kind: int, name: str) -> dict[str, Any]:
    return {"resources": [{"resourceType": kind, "resourceName": name, "configurationKeys": None}]}


def _given(answer: Mapping[str, Any], what: str) -> dict[str, str]:
    (result,) = answer["results"]
    refuse_error(result, what)
    return {
        each["name"]: each["value"]
        for each in result["configs"]
        if each["value"] is not None and not each["isSensitive"]
    }
