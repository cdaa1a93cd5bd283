"""Kafka's command-line tools, as their Java classes: what ``bin/kafka-NAME.sh`` runs, without the script.

References
----------
Apache Kafka 4.0 to 4.3, the scripts of ``bin``; some classes have moved from one package to another meanwhile.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.jars.fetching import jar_paths
from kafkalearn.live.jars.java import classes_in, run_java
from kafkalearn.live.jars.pinned import Release
from kafkalearn.live.nodes.java_command import OPTIONS, node_class_path
from kafkalearn.phrases import shown

TIMEOUT_S = 60.0
_TOOLS, _CORE = "org.apache.kafka.tools", "kafka"

CLASSES: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        "acls": (f"{_TOOLS}.AclCommand",),
        "broker-api-versions": (f"{_TOOLS}.BrokerApiVersionsCommand",),
        "configs": (f"{_TOOLS}.ConfigCommand", f"{_CORE}.admin.ConfigCommand"),
        "console-consumer": (f"{_TOOLS}.consumer.ConsoleConsumer",),
        "console-producer": (f"{_TOOLS}.ConsoleProducer", f"{_CORE}.tools.ConsoleProducer"),
        "consumer-groups": (f"{_TOOLS}.consumer.group.ConsumerGroupCommand",),
        "delete-records": (f"{_TOOLS}.DeleteRecordsCommand",),
        "dump-log": (f"{_TOOLS}.DumpLogSegments", f"{_CORE}.tools.DumpLogSegments"),
        "features": (f"{_TOOLS}.FeatureCommand",),
        "get-offsets": (f"{_TOOLS}.GetOffsetShell",),
        "groups": (f"{_TOOLS}.GroupsCommand",),
        "leader-election": (f"{_TOOLS}.LeaderElectionCommand",),
        "log-dirs": (f"{_TOOLS}.LogDirsCommand",),
        "metadata-quorum": (f"{_TOOLS}.MetadataQuorumCommand",),
        "reassign-partitions": (f"{_TOOLS}.reassign.ReassignPartitionsCommand",),
        "topics": (f"{_TOOLS}.TopicCommand",),
        "transactions": (f"{_TOOLS}.TransactionsCommand",),
    }
)
"""The tools by the names of their scripts, each with the class that a release may have; the newest name first."""

WITHOUT_CLUSTER = ("dump-log",)
ADDRESS = "--bootstrap-server"


def run_tool(
    release: Release,
    bootstrap: str,
    name: str,
    *arguments: str,
    timeout_s: float = TIMEOUT_S,
    said: str | None = None,
) -> str:
    """What a tool prints; the address of the cluster is added if it is not among the arguments.

    `said` is what it reads on its standard input.

    Raises
    ------
    KafkaLearnError
        If there is no such tool, or an argument is no text.
    ProgramFailed
        If the tool ends with an error; the message has what it said.
    """
    one_of("tool", name, CLASSES)
    for each in arguments:
        if not isinstance(each, str):
            raise KafkaLearnError(f"a tool takes words, as in a shell: '--group', 'billing'; got {shown(each)}")
    words = list(arguments)
    if name not in WITHOUT_CLUSTER and ADDRESS not in words:
        words += [ADDRESS, bootstrap]
    options = [*OPTIONS, "-cp", node_class_path(release, has_logs=False)]
    return run_java(*options, _class_of(release, name), *words, timeout_s=timeout_s, said=said)


@cache
def _class_of(release: Release, name: str) -> str:
    jars = [path for path in jar_paths(release) if path.name.startswith(("kafka_", "kafka-tools-"))]
    there = set().union(*map(classes_in, jars))
    found = [each for each in CLASSES[name] if each in there]
    if not found:
        raise KafkaLearnError(f"Kafka {release.version} has no tool {name!r}")
    return found[0]
