"""What the jars of one release hold: what the Java programs print, and what is in the archives."""

from __future__ import annotations

from typing import NamedTuple

from kafkalearn.releases.lines import RELEASES, parse_release
from tools.kafka_jars import broker_jars, class_names, java_needed, run_class
from tools.settings.files import TOOLS

CONFIG_DEFS = (
    "consumer=org.apache.kafka.clients.consumer.ConsumerConfig#group.id",
    "producer=org.apache.kafka.clients.producer.ProducerConfig#linger.ms",
    "admin=org.apache.kafka.clients.admin.AdminClientConfig#retries",
    "broker=kafka.server.KafkaConfig#num.partitions",
    "broker=kafka.server.DynamicConfig$Broker#leader.replication.throttled.rate",
    "broker=org.apache.kafka.server.config.DynamicConfig$Broker#leader.replication.throttled.rate",
    "topic=kafka.log.LogConfig#retention.ms",
    "topic=org.apache.kafka.storage.internals.log.LogConfig#retention.ms",
    "group=org.apache.kafka.coordinator.group.GroupConfig#consumer.session.timeout.ms",
)
SCALA_CLASSES = (
    "broker=kafka.server.KafkaConfig",
    "topic=kafka.log.LogConfig",
    "old-consumer=kafka.consumer.ConsumerConfig",
    "old-producer=kafka.producer.ProducerConfig",
)
LAST_SCALA_CLIENTS = "1.1"


class NotRun(Exception):  # noqa: N818  (a state, not a fault)
    """A release cannot be read; the message says why."""


class Reading(NamedTuple):
    """A line that the Java programs print."""

    side: str
    name: str
    type: str
    kind: str  # of default: required, unset or value
    default: str
    limit: str
    not_empty: str
    internal: str


class Released(NamedTuple):
    """What the jars of one release hold."""

    readings: list[Reading]
    java: dict[str, int]  # who -> the oldest Java
    classes: set[str]
    apis: dict[int, tuple[str, int]]  # number -> name, oldest version


def read_release(release: str) -> Released:
    """Run the readers with the jars of a release, and look into the jars."""
    jars = broker_jars(release)
    printed = run_class(jars, "ReadSettings", *CONFIG_DEFS)
    line = parse_release(release).line
    if RELEASES.index(line) <= RELEASES.index(LAST_SCALA_CLIENTS):
        printed += run_class(jars, "ReadScalaSettings", str(TOOLS / "VerifiableProperties.java"), *SCALA_CLASSES)
    java = {"client": java_needed(jars, "kafka-clients"), "broker": java_needed(jars, r"kafka_[\d.]+")}
    apis = [row.split("\t") for row in run_class(jars, "ReadApiVersions").splitlines()]
    return Released(
        [Reading(*row.split("\t")) for row in printed.splitlines()],
        java,
        class_names(jars),
        {int(number): (name, int(oldest)) for number, name, oldest in apis},
    )
