"""A cluster that is used: topics are made, records sent, groups served, tools run, single requests sent as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.live import clients
from kafkalearn.live.cluster import Cluster
from kafkalearn.live.errors import wait_for
from kafkalearn.live.jars import Release, classes_in, jar_paths, run_java
from kafkalearn.live.processes import OPTIONS, node_class_path
from kafkalearn.live.reading import refuse_error
from kafkalearn.live.requests import CLIENT_ID, Connection

# Kafka's command-line tools, as their Java classes: what ``bin/kafka-NAME.sh`` runs, without the script.
#
# References
# ----------
# Apache Kafka 4.0 to 4.3, the scripts of ``bin``; some classes have moved from one package to another meanwhile.

TIMEOUT_S = 60.0
_TOOLS, _CORE = "org.apache.kafka.tools", "kafka"

CLASSES: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        "acls": (f"{_TOOLS}.AclCommand",),
        "broker-api-versions": (f"{_TOOLS}.BrokerApiVersionsCommand",),
        "configs": (f"{_TOOLS}.ConfigCommand", f"{_CORE}.admin.ConfigCommand"),
        "console-consumer": (f"{_TOOLS}.consumer.ConsoleConsumer",),
        "console-producer": (f"{_TOOLS}.ConsoleProducer", f"{_CORE}.tools.ConsoleProducer"),
        "console-share-consumer": (f"{_TOOLS}.consumer.ConsoleShareConsumer",),
        "consumer-groups": (f"{_TOOLS}.consumer.group.ConsumerGroupCommand",),
        "delete-records": (f"{_TOOLS}.DeleteRecordsCommand",),
        "dump-log": (f"{_TOOLS}.DumpLogSegments", f"{_CORE}.tools.DumpLogSegments"),
        "features": (f"{_TOOLS}.FeatureCommand",),
        "get-offsets": (f"{_TOOLS}.GetOffsetShell",),
        "groups": (f"{_TOOLS}.GroupsCommand",),
        "leader-election": (f"{_TOOLS}.LeaderElectionCommand",),
        "log-dirs": (f"{_TOOLS}.LogDirsCommand",),
        "metadata-quorum": (f"{_TOOLS}.MetadataQuorumCommand",),
        "share-groups": (f"{_TOOLS}.consumer.group.ShareGroupCommand",),
        "reassign-partitions": (f"{_TOOLS}.reassign.ReassignPartitionsCommand",),
        "topics": (f"{_TOOLS}.TopicCommand",),
        "transactions": (f"{_TOOLS}.TransactionsCommand",),
    }
)
"""The tools by the names of their scripts, each with the class that a release may have; the newest name first."""

WITHOUT_CLUSTER = ("dump-log",)
ADDRESS = "--bootstrap-server"


def run_tool(release: Release, bootstrap: str, name: str, *arguments: str, said: str | None = None) -> str:
    """What a tool prints; the address of the cluster is added if it is not among the arguments.

    `said` is what it reads on its standard input.

    Raises
    ------
    KafkaLearnError
        If there is no such tool, or an argument is not text.
    ProgramFailed
        If the tool ends with an error; the message has what it said.
    """
    one_of("tool", name, CLASSES)
    for each in arguments:
        if not isinstance(each, str):
            raise KafkaLearnError(f"a tool takes words, as in a shell: '--group', 'billing'; got {shown(each)}")
    words = list(arguments)
    if name not in WITHOUT_CLUSTER and ADDRESS not in words:
        words = [ADDRESS, bootstrap, *words]  # in front: the options of a command such as describe come behind it
    options = [*OPTIONS, "-cp", node_class_path(release, has_logs=False)]
    return run_java(*options, class_of(release, name), *words, timeout_s=TIMEOUT_S, said=said)


@cache
def class_of(release: Release, name: str) -> str:
    """The class that a release has for a tool."""
    jars = [path for path in jar_paths(release) if path.name.startswith(("kafka_", "kafka-tools-"))]
    there = set().union(*map(classes_in, jars))
    found = [each for each in CLASSES[name] if each in there]
    if not found:
        raise KafkaLearnError(f"Kafka {release.version} has no tool {name!r}")
    return found[0]


class UsedCluster(Cluster):
    """What can be done with a cluster of our own, beside reading it."""

    release: Release
    bootstrap: str

    def create_topic(
        self,
        topic: str,
        partitions: int = 1,
        replicas: int = 1,
        assignment: Sequence[Sequence[int]] | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        """Create a topic, and wait until every running broker knows a leader of each of its partitions.

        Parameters
        ----------
        topic : str
            Its name.
        partitions, replicas : int
            How many; not looked at with an assignment.
        assignment : sequence of sequence of int, optional
            For each partition the brokers that get a replica, the preferred leader first.
        config : mapping, optional
            Settings of the topic.

        Raises
        ------
        Refused
            If the cluster refuses, such as TOPIC_ALREADY_EXISTS.
        """
        clients.create_topic(self.bootstrap, topic, partitions, replicas, assignment, config or {})
        wanted = partitions if assignment is None else len(assignment)
        for broker_id in self._running_ids():
            wait_for(
                lambda broker_id=broker_id: len(self.metadata([topic], broker_id).leaders),
                wanted,
                f"leaders of {topic!r} that broker {broker_id} knows:",
            )

    def alter_topic(self, topic: str, config: Mapping[str, Any]) -> None:
        """Change settings of a topic; the others stay as they are.

        Raises
        ------
        Refused
            If the cluster refuses, such as INVALID_CONFIG.
        """
        clients.alter_topic(self.bootstrap, topic, config)

    def admin(self, **config: object) -> AdminClient:
        """confluent-kafka's AdminClient for this cluster; further settings with ``_`` for ``.``: ``client_id="me"``."""
        return clients.admin_client(self.bootstrap, _dotted(config))

    def producer(self, **config: object) -> Producer:
        """confluent-kafka's Producer for this cluster."""
        return clients.producer(self.bootstrap, _dotted(config))

    def consumer(self, group_id: str, **config: object) -> Consumer:
        """confluent-kafka's Consumer for this cluster; without further settings it commits only when it is asked to."""
        return clients.consumer(self.bootstrap, group_id, _dotted(config))

    def send(
        self,
        topic: str,
        values: Iterable[bytes | str],
        acks: int | str = "all",
        partition: int = 0,
        timeout_s: float = clients.TIMEOUT_S,
        **config: object,
    ) -> list[int | str]:
        """Send values one by one, each in a batch of its own; the result of each is its offset or the error's name.

        Parameters
        ----------
        topic : str
            Where to.
        values : iterable of bytes or str
            Without keys.
        acks : int or str
            0, 1 or ``"all"``.
        partition : int
            Which one.
        timeout_s : float
            For all of them.
        **config
            Of confluent-kafka's producer, with ``_`` for ``.``: ``retries=0``.
        """
        records = [(None, value.encode() if isinstance(value, str) else value, None) for value in values]
        return self.send_records(topic, records, acks, partition, timeout_s, **config)

    def send_records(
        self,
        topic: str,
        records: Iterable[tuple[bytes | None, bytes | None, int | None]],
        acks: int | str = "all",
        partition: int = 0,
        timeout_s: float = clients.TIMEOUT_S,
        **config: object,
    ) -> list[int | str]:
        """As `send`, with key, value and timestamp in milliseconds of each record; None as a timestamp: now."""
        own = {"acks": acks, **_dotted(config)}
        return clients.send_records(self.bootstrap, topic, records, partition, own, timeout_s)

    def tool(self, name: str, *arguments: str, said: str | None = None) -> str:
        """What one of Kafka's command-line tools prints about this cluster, in about a second.

        Parameters
        ----------
        name : str
            Of its script, without ``kafka-`` and ``.sh``: ``"consumer-groups"``; see `CLASSES`.
        *arguments : str
            As in a shell: ``"--describe", "--all-groups"``. The cluster's address is added.
        said : str or None
            What it reads on its standard input, such as the lines for ``"console-producer"``.

        Raises
        ------
        KafkaLearnError
            If there is no such tool, or it fails; the message has what it said.
        """
        return run_tool(self.release, self.bootstrap, name, *arguments, said=said)

    def ask(
        self,
        broker_id: int,
        name: str,
        values: Mapping[str, Any],
        version: int | None = None,
        timeout_s: float | None = None,
    ) -> dict[str, Any]:
        """A broker's answer to one request, sent as it is: see `kafkalearn.live.request_values`.

        Parameters
        ----------
        broker_id : int
            Whom to ask.
        name, values, version, timeout_s
            As `kafkalearn.live.requests.Connection.call` has them.
        """
        return self._brokers.ask(self._address_of(broker_id), name, values, version, timeout_s)

    def knows(self, broker_id: int, name: str) -> bool:
        """Whether a broker knows a request in a version that we know."""
        return self._brokers.knows(self._address_of(broker_id), name)

    def version(self, broker_id: int, name: str, at_most: int) -> int:
        """The newest version of a request that a broker and we know, but not above one."""
        return self._version(broker_id, name, at_most)

    def connection(self, broker_id: int, client_id: str = CLIENT_ID) -> Connection:
        """A connection of its own to a broker, for a client that has to be distinguished from others."""
        return Connection(*self._address_of(broker_id), client_id=client_id)

    def new_producer_id(self) -> int:
        """A producer id that nobody has, as an idempotent producer gets it; its epoch is 0."""
        words = {"transactionalId": None, "transactionTimeoutMs": 60_000}

        def look() -> int:
            answer = self._brokers.ask_any(self._askable(), "InitProducerId", words)
            refuse_error(answer, "a producer id")
            return answer["producerId"]

        return wait_for(look, lambda _: True, "a producer id")

    def coordinator(self, group_id: str, place: TopicPartition | None = None) -> int:
        """The id of the broker that coordinates a group, once it answers for it.

        The offsets topic is created if it is not there. A broker is named as coordinator before it has read its
        partition of the topic; until then it refuses what a group asks. It is asked for all that the group has
        committed, or for this partition: not every broker that speaks the protocol can be asked for all.
        """

        def look() -> int:
            broker_id = self._find_coordinator(group_id)
            self._committed(broker_id, group_id, None if place is None else [place])
            return broker_id

        return wait_for(look, lambda _: True, f"a coordinator of {group_id!r}")

    def _running_ids(self) -> list[int]:
        """The brokers that can be asked now."""
        raise NotImplementedError


def _dotted(config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by Kafka's names.

    >>> _dotted({"client_id": "me", "acks": 1})
    {'client.id': 'me', 'acks': 1}
    """
    return {name.replace("_", "."): value for name, value in config.items()}
