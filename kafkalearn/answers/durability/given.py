"""The settings by which a record can be lost or not, gathered from flags, files, a tool's text and a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.answers.settings.properties import PropertiesFile
from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown
from kafkalearn.versions.defaults import default

REPLICAS = "replication factor"
ACKS, IDEMPOTENCE, RETRIES = "acks", "enable.idempotence", "retries"
IN_FLIGHT = "max.in.flight.requests.per.connection"
MIN_ISR, UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"
READ_FROM: MappingProxyType[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        REPLICAS: (("broker", "default.replication.factor"),),
        MIN_ISR: (("topic", MIN_ISR), ("broker", MIN_ISR)),
        UNCLEAN: (("topic", UNCLEAN), ("broker", UNCLEAN)),
        ACKS: (("producer", ACKS),),
        IDEMPOTENCE: (("producer", IDEMPOTENCE),),
        RETRIES: (("producer", RETRIES),),
        IN_FLIGHT: (("producer", IN_FLIGHT),),
    }
)
"""Each setting, and who may set it under which name; the first that does counts."""

NUMBERS = (REPLICAS, MIN_ISR, RETRIES, IN_FLIGHT)
FLAGS = (UNCLEAN, IDEMPOTENCE)


@dataclass(frozen=True, slots=True)
class Given:
    """A setting's value, and where it is from."""

    name: str
    value: object  # None: the release decides
    origin: str


def gather(
    given: Mapping[str, object],
    files: Iterable[tuple[str, str, PropertiesFile]],
    described: Mapping[str, object],
    release: str,
) -> dict[str, Given]:
    """Each setting of `READ_FROM` by name: what was given, else of a topic described, else of a file, else the default.

    Parameters
    ----------
    given : mapping of str to object
        Values as arguments; None is none.
    files : iterable of (side, name, PropertiesFile)
        The reader's own.
    described : mapping of str to object
        What a tool or a cluster says of the topic.
    release : str
        Whose defaults they are.

    Raises
    ------
    KafkaLearnError
        If a value is none, or nothing says how many replicas there are.
    """
    by_side = [(side, name, file) for side, name, file in files]
    found = {name: _one(name, given, by_side, described, release) for name in READ_FROM}
    if found[REPLICAS].value is None:
        raise KafkaLearnError(
            "how many replicas has the topic? Give its replication_factor (--replicas), what kafka-topics --describe "
            "prints (--describe), or a broker's file with default.replication.factor (--broker)"
        )
    return found


def _one(
    name: str,
    given: Mapping[str, object],
    files: list[tuple[str, str, PropertiesFile]],
    described: Mapping[str, object],
    release: str,
) -> Given:
    if given.get(name) is not None:
        return Given(name, given[name], "given")
    if described.get(name) is not None:
        return Given(name, _converted(name, described[name], "the topic"), "the topic itself")
    for side, own in READ_FROM[name]:
        for whose, file_name, file in files:
            if whose == side and own in file.last:
                line = file.last[own]
                origin = f"{file_name}, line {line.number}"
                return Given(name, _converted(name, line.value.strip(), origin), origin)
    if name in (REPLICAS, ACKS, IDEMPOTENCE, RETRIES, IN_FLIGHT):  # the producer's depend on each other: it decides
        return Given(name, None, f"default of {release}")
    return Given(name, default(name, release, side="broker"), f"default of {release}")


def _converted(name: str, value: object, origin: str) -> object:
    """A value as the simulators take it.

    >>> _converted(ACKS, "-1", "x"), _converted(MIN_ISR, "2", "x"), _converted(UNCLEAN, "TRUE", "x")
    ('all', 2, True)
    """
    written = str(value).strip()
    if name == ACKS:
        one_of(f"acks in {origin}", written, ("all", "-1", "0", "1"))
        return "all" if written in ("all", "-1") else int(written)
    if name in FLAGS:
        return one_of(f"{name} in {origin}", written.lower(), ("true", "false")) == "true"
    if not re.fullmatch(r"[0-9]{1,10}", written):
        raise KafkaLearnError(f"{name} in {origin} must be a whole number, got {shown(written)}")
    return int(written)


def topic_facts(describe: str, topic: str) -> dict[str, object]:
    """What ``kafka-topics --describe`` says of a topic's settings: its replicas, and the settings of its own.

    >>> topic_facts("Topic: t\\tPartitionCount: 1\\tReplicationFactor: 3\\tConfigs: min.insync.replicas=2,a=b", "t")
    {'replication factor': 3, 'min.insync.replicas': '2'}
    """
    for line in describe.splitlines():
        words = line.replace(":", ": ", 4).split()
        if words[:2] != ["Topic:", topic] or "ReplicationFactor:" not in words[:-1]:
            continue
        factor = words[words.index("ReplicationFactor:") + 1]
        facts: dict[str, object] = {REPLICAS: _converted(REPLICAS, factor, "describe")}
        own = dict(each.partition("=")[::2] for each in line.partition("Configs:")[2].strip().split(","))
        return {**facts, **{name: own[name] for name in (MIN_ISR, UNCLEAN) if name in own}}
    raise KafkaLearnError(
        f"describe has no line with the ReplicationFactor of {topic}: paste what kafka-topics --describe prints, whole"
    )
