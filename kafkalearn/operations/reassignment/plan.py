"""The JSON that ``kafka-reassign-partitions`` reads and writes: which brokers shall hold each partition."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from kafkalearn.arguments import LARGEST_INT, sequence, text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Index
from kafkalearn.operations.placement.brokers import Placement, Replicas
from kafkalearn.phrases import shown
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.wire.json_text import read_json

Item = TypeVar("Item")

ANY_LOG_DIR = "any"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Target(Checked):
    """What a plan says of one partition.

    Attributes
    ----------
    topic : str
        The topic.
    partition : int
        Its number.
    replicas : tuple of int
        The brokers, the preferred leader first; as the plan has them, right or wrong.
    log_dirs : tuple of str
        For each replica the log directory on its broker, or ``"any"``. Empty: any everywhere.
    """

    topic: str
    partition: Index
    replicas: tuple[int, ...]
    log_dirs: tuple[str, ...] = ()

    @property
    def at(self) -> TopicPartition:
        """Topic and partition."""
        return TopicPartition(self.topic, self.partition)


def plan_of(topic: str, placement: Placement | Sequence[Replicas]) -> tuple[Target, ...]:
    """The plan that gives every partition of a topic the replicas of a placement.

    >>> from kafkalearn.operations.placement import place_rotated
    >>> plan_of("__consumer_offsets", place_rotated([1, 2, 3], 50, 3))[49]
    Target(topic='__consumer_offsets', partition=49, replicas=(2, 3, 1), log_dirs=())
    """
    text("topic", topic)
    given = sequence("placement", placement, of="replicas, one tuple for each partition")
    return tuple(Target(topic, partition, replicas) for partition, replicas in enumerate(given))


def write_plan(plan: Sequence[Target]) -> str:
    """The JSON of a plan as Kafka writes it: sorted, on one line, ready for ``--reassignment-json-file``.

    >>> write_plan(plan_of("orders", [(1, 2)]))
    '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}]}'

    References
    ----------
    Apache Kafka 1.1 to 4.3, ``ReassignPartitionsCommand.formatAsReassignmentJson``.
    """
    rows = [
        {
            "topic": each.topic,
            "partition": each.partition,
            "replicas": list(each.replicas),
            "log_dirs": list(each.log_dirs or (ANY_LOG_DIR,) * len(each.replicas)),
        }
        for each in sorted(targets_of(plan), key=lambda each: each.at)
    ]
    return json.dumps({"version": VERSION, "partitions": rows}, separators=(",", ":"), ensure_ascii=False)


def read_plan(written: str) -> tuple[Target, ...]:
    """The plan in a JSON text, in its own order, with everything that is written twice.

    Parameters
    ----------
    written : str
        The content of a ``--reassignment-json-file``. ``version`` and ``log_dirs`` may be left out.

    Raises
    ------
    KafkaLearnError
        If Kafka cannot read it: no JSON, another version, a field that is missing or of another kind, fewer log
        directories than replicas. What Kafka reads and then refuses, `refusal` says.

    Examples
    --------
    >>> read_plan('{"partitions": [{"topic": "orders", "partition": 0, "replicas": [2, 1]}]}')
    (Target(topic='orders', partition=0, replicas=(2, 1), log_dirs=()),)

    References
    ----------
    Apache Kafka 0.8.1 to 4.3, ``ReassignPartitionsCommand.parsePartitionReassignmentData``.
    """
    found = _object("the file", _parsed(written))
    version = _int("version", found.get("version", VERSION))
    if version != VERSION:
        raise KafkaLearnError(f"version is {version}, and only 1 is known (Kafka: Not supported version field value)")
    rows = found.get("partitions", [])
    if not isinstance(rows, list):
        raise KafkaLearnError(f"partitions must be a list, got {shown(rows)}")
    return tuple(
        _target(f"partitions[{place}]", _object(f"partitions[{place}]", row)) for place, row in enumerate(rows)
    )


def targets_of(plan: object) -> tuple[Target, ...]:
    """A plan given by the user, checked to be one."""
    given: tuple[Any, ...] = sequence("plan", plan, of="Target(...)")
    for place, each in enumerate(given):
        if not isinstance(each, Target):
            raise KafkaLearnError(f"plan[{place}] must be Target(topic, partition, replicas), got {shown(each)}")
    return given


def _parsed(written: object) -> object:
    try:
        return read_json(text("written", written))
    except (ValueError, RecursionError) as error:
        if isinstance(error, KafkaLearnError):
            raise
        raise KafkaLearnError(
            f"this is no JSON: {error}; a plan is "
            '{"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2]}]}'
        ) from None


def _target(name: str, row: dict[str, object]) -> Target:
    for key in ("topic", "partition", "replicas"):
        if key not in row:
            raise KafkaLearnError(f"{name} has no {key}: {shown(row)}; each has topic, partition and replicas")
    replicas = _list(f"{name}.replicas", row["replicas"], _int)
    log_dirs = _list(f"{name}.log_dirs", row.get("log_dirs", []), _text)
    if "log_dirs" in row and len(log_dirs) != len(replicas):
        raise KafkaLearnError(
            f"{name} has {len(replicas)} replicas and {len(log_dirs)} log_dirs: one for each, or leave log_dirs out"
        )
    return Target(_text(f"{name}.topic", row["topic"]), _int(f"{name}.partition", row["partition"]), replicas, log_dirs)


def _object(name: str, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise KafkaLearnError(f"{name} must be an object in braces, got {shown(value)}")
    return value


def _list(name: str, value: object, check: Callable[[str, object], Item]) -> tuple[Item, ...]:
    if not isinstance(value, list):
        raise KafkaLearnError(f"{name} must be a list, got {shown(value)}")
    return tuple(check(f"{name}[{place}]", each) for place, each in enumerate(value))


def _int(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST_INT:
        raise KafkaLearnError(f"{name} must be a whole number without quotes, got {shown(value)}")
    return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise KafkaLearnError(f"{name} must be a text in quotes, got {shown(value)}")
    return text(name, value)
