"""What the controller writes when brokers stop, die and come back: tests/vectors/replication/registrations.json."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from kafkalearn.formats.metadata_log import MetadataRecord, decode_record
from kafkalearn.live import Kafka
from kafkalearn.live.cluster import Disk
from kafkalearn.live.errors import wait_for

FILE = "replication/registrations.json"
ABOUT = (
    "A topic of one partition on three brokers (KRaft, one controller), min.insync.replicas 2, without eligible leader "
    "replicas and with them, and what the controller wrote into its log of the metadata about the brokers and the "
    "partition, batch by batch, after each event: stop (SIGTERM), kill (SIGKILL), freeze and thaw (SIGSTOP, SIGCONT), "
    "start; an event with 'and' is followed by the next one at once. A batch is what it wrote in one step. Records: "
    "the kind, the broker, and its fields that say something (fenced and inControlledShutdown of a change: 1 becomes "
    "so, -1 ends); of the partition isr, leader (-1: nobody), eligible leader replicas, the last known leader. Written "
    "by python3 -m tools.real registrations."
)
TOPIC = "registered"
BROKER_KINDS = ("RegisterBrokerRecord", "BrokerRegistrationChangeRecord", "UnregisterBrokerRecord")
KEPT_OF_BROKERS = ("fenced", "inControlledShutdown")
KEPT_OF_PARTITIONS = ("isr", "leader", "eligibleLeaderReplicas", "lastKnownElr")
MIN_ISR = 2
QUIET_S, SESSION_S, START_S = 1.5, 1.5, 90
Event = list[Any]

CASES: Sequence[tuple[str, list[Event]]] = (
    ("the leader is stopped and starts", [["stop", 1], ["start", 1]]),
    ("a follower is stopped", [["stop", 3]]),
    ("the leader is killed and starts after its session", [["kill", 1], ["start", 1]]),
    ("a follower is killed and starts at once", [["kill", 2, "and"], ["start", 2]]),
    ("the leader stands still and goes on", [["freeze", 1], ["thaw", 1]]),
    (
        "all are stopped one by one",
        [["stop", 1], ["stop", 2], ["stop", 3], ["start", 2], ["start", 3], ["start", 1]],
    ),
    (
        "all are killed one by one",
        [["kill", 1], ["kill", 2], ["kill", 3], ["start", 3], ["start", 2], ["start", 1]],
    ),
)  # fmt: skip


def recorded(version: str, line: str) -> Iterator[dict[str, Any]]:
    """Every case, by brokers of a release."""
    for has_eligible in (False, True):
        with Kafka(3, line, has_eligible_leader_replicas=has_eligible) as kafka:
            for number, (name, events) in enumerate(CASES):
                topic = f"{TOPIC}-{number}"
                kafka.create_topic(topic, assignment=[[1, 2, 3]], config={"min.insync.replicas": MIN_ISR})
                written = _played(kafka, topic, events)
                name += ", with eligible leader replicas" if has_eligible else ""
                yield {"name": name, "eligible": has_eligible, "events": events, "written": written}
                print(name, flush=True)
                for each in kafka.broker_ids:
                    if kafka.status(each) != "running":
                        kafka.restart(each)


def _played(kafka: Kafka, topic: str, events: Sequence[Event]) -> list[list[list[list[Any]]]]:
    log = Metadata(kafka, topic)
    log.at_rest()
    log.take()
    written = []
    for kind, broker_id, *rest in events:
        if kind == "start":
            kafka.restart(broker_id, has_to_be_alive=False)
        else:
            {"stop": kafka.stop, "kill": kafka.kill, "freeze": kafka.freeze, "thaw": kafka.thaw}[kind](broker_id)
        if kind == "start":
            wait_for(lambda who=broker_id: log.has_unfenced(who), True, f"broker {broker_id} counts as alive", START_S)
        if not rest:
            log.at_rest()
        written.append(log.take())
    return written


class Metadata:
    """The controller's log of the metadata, as far as it is about brokers and one topic."""

    def __init__(self, kafka: Kafka, topic: str) -> None:
        """Nothing of it is read."""
        (node,) = (each for each in kafka._nodes.nodes if each.is_controller)
        self.disk, self.topic, self.position = Disk(node.log_folder), topic, 0
        self.topic_id = ""

    def take(self) -> list[list[list[Any]]]:
        """What was written since the last time, by batch."""
        batches: list[list[list[Any]]] = []
        for batch in self.disk.batches("__cluster_metadata", 0):
            if batch.is_control or batch.last_offset < self.position:
                continue
            found: list[list[Any]] = []
            for each in batch.records:
                record = decode_record(each.value or b"")
                fields = record.fields
                if record.name == "TopicRecord" and fields["name"] == self.topic:
                    self.topic_id = str(fields["topicId"])
                if record.name in BROKER_KINDS:
                    found.append([record.name, fields["brokerId"], _said(fields, KEPT_OF_BROKERS)])
                elif record.name == "PartitionChangeRecord" and str(fields["topicId"]) == self.topic_id:
                    found.append([record.name, None, _said(fields, KEPT_OF_PARTITIONS)])
            self.position = batch.last_offset + 1
            batches += [found] if found else []
        return batches

    def has_unfenced(self, broker_id: int) -> bool:
        """Whether the broker has registered since the last time, and been unfenced after that."""
        kinds = [
            (record.name, record.fields.get("fenced"))
            for record in self._new()
            if record.fields.get("brokerId") == broker_id
        ]
        names = [name for name, _ in kinds]
        begin = names.index("RegisterBrokerRecord") if "RegisterBrokerRecord" in names else len(names)
        return ("BrokerRegistrationChangeRecord", -1) in kinds[begin:]

    def at_rest(self) -> None:
        """Wait until nothing has been written about them for a while."""
        seen, since_s = self._count(), time.monotonic()
        while time.monotonic() - since_s < SESSION_S + QUIET_S:
            time.sleep(0.2)
            now = self._count()
            if now != seen:
                seen, since_s = now, time.monotonic()

    def _count(self) -> int:
        return sum(each.name in (*BROKER_KINDS, "PartitionChangeRecord") for each in self._new())

    def _new(self) -> list[MetadataRecord]:
        return [
            decode_record(each.value or b"")
            for batch in self.disk.batches("__cluster_metadata", 0)
            if not batch.is_control and batch.last_offset >= self.position
            for each in batch.records
        ]


def _said(fields: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: fields[name] for name in names if fields.get(name) not in (None, 0, False)}
