"""What a coordinator loads when its broker starts: tests/vectors/operations/loads.json."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.live import Kafka
from kafkalearn.live.errors import wait_for

FILE = "operations/loads.json"
ABOUT = (
    "A partition of __consumer_offsets, as it lay on the disk when the broker was stopped (key and value of each "
    "record in hex, those of markers left out), and after its start: what the broker's log says of the load (records, "
    "bytes), the groups that it lists, and the offsets that each has. Written by python3 -m tools.real loads."
)
LOADED = re.compile(
    r"Finished loading of metadata from __consumer_offsets-0 .* Loaded (\d+) records which total to (\d+)"
)
CONFIG = {"offsets.topic.num.partitions": 1, "log.cleaner.enable": False}
TOPIC = "orders"


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every case, by a broker of a release that is stopped and started again and again."""
    cases = []
    with Kafka(release=line, config=CONFIG, has_logs=True) as kafka:
        kafka.create_topic(TOPIC, 3)
        for name, do in CASES.items():
            do(kafka)
            cases.append({"name": name, **_restarted(kafka)})
            print(name, cases[-1]["loaded"], flush=True)
    return cases


def _commits(kafka: Kafka) -> None:
    for group, count in (("billing", 20), ("search", 5)):
        consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": group, "enable.auto.commit": False})
        for offset in range(count):
            consumer.commit(offsets=[TopicPartition(TOPIC, offset % 3, offset)], asynchronous=False)
        consumer.close()


def _members(kafka: Kafka) -> None:
    for group, protocol in (("shipping", "classic"), ("mailing", "consumer")):
        config = {"bootstrap.servers": kafka.bootstrap, "group.id": group, "group.protocol": protocol}
        consumer = Consumer({**config, "auto.offset.reset": "earliest"})
        consumer.subscribe([TOPIC])
        wait_for(lambda consumer=consumer: [consumer.poll(0.1), len(consumer.assignment())][1], 3, group)
        consumer.commit(offsets=[TopicPartition(TOPIC, 0, 7)], asynchronous=False)
        consumer.close()


def _deleted(kafka: Kafka) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    for future in admin.delete_consumer_groups(["search"]).values():
        future.result(30)


def _transactions(kafka: Kafka) -> None:
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "copies", "enable.auto.commit": False})
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": "x"})
    producer.init_transactions(30)
    for offset, is_committed in ((3, True), (4, False), (5, True)):
        producer.begin_transaction()
        metadata = consumer.consumer_group_metadata()
        producer.send_offsets_to_transaction([TopicPartition(TOPIC, 0, offset)], metadata, 30)
        if is_committed:
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)
    consumer.close()


CASES: dict[str, Callable[[Kafka], None]] = {
    "commits of two groups": _commits,
    "members of both protocols": _members,
    "a group is deleted": _deleted,
    "offsets in transactions, one of them aborted": _transactions,
    "nothing new": lambda kafka: None,
}


def _restarted(kafka: Kafka) -> dict[str, Any]:
    kafka.stop(1)
    batches = kafka.disk(1).batches(OFFSETS_TOPIC, 0)
    records = [
        [(each.key or b"").hex(), None if each.value is None else each.value.hex()]
        for batch in batches
        if not batch.is_control
        for each in batch.records
    ]
    markers = sum(batch.is_control for batch in batches)
    before = len(_loads(kafka))
    kafka.restart(1)
    loads = wait_for(lambda: _loads(kafka), lambda found: len(found) > before, "the load")
    groups = sorted(each.group_id for each in kafka.groups())
    committed = {
        group: {str(at.partition): each.offset for at, each in kafka.committed(group).items()} for group in groups
    }
    return {
        "records": records, "markers": markers, "loaded": loads[-1], "groups": groups, "committed": committed,
        "bytes": sum(batch.size_bytes for batch in batches),
    }  # fmt: skip


def _loads(kafka: Kafka) -> list[list[int]]:
    return [[int(each) for each in found.groups()] for line in kafka.server_log(1) if (found := LOADED.search(line))]
