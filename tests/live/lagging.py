"""A group that lags for every reason at once, on a real broker: what the tests of ``lag`` ask about.

``python -m tests.live.lagging`` records what Kafka's own tools print of it into ``data/lag``.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from kafkalearn.live import Kafka
from kafkalearn.live.errors import wait_for

GROUP, IDLE, SHARED = "billing", "audit", "workers"
SETTINGS = {
    "log.cleaner.backoff.ms": 200,
    "log.cleaner.min.cleanable.ratio": 0.01,
    "offsets.topic.num.partitions": 1,
    "log.flush.start.offset.checkpoint.interval.ms": 500,
}
COMPACTED = {
    "cleanup.policy": "compact", "segment.ms": 100, "min.cleanable.dirty.ratio": 0.01, "max.compaction.lag.ms": 100,
}  # fmt: skip


def transaction(kafka: Kafka, topic: str, count: int, ends: bool = True):
    """Records of one transaction, which ends or hangs; whoever has the producer keeps it open."""
    # The coordinator aborts what is open for longer, 60 s by default: too short beside other work.
    producer = kafka.producer(transactional_id=f"of-{topic}", transaction_timeout_ms=600_000)
    producer.init_transactions(120)
    producer.begin_transaction()
    for number in range(count):
        producer.produce(topic, str(number), partition=0)
    producer.flush(120)
    if ends:
        producer.commit_transaction(120)
    return producer


class Lagging:
    """The scene: a consumer of its own topics, offsets that were only committed, and what is done between two looks."""

    def __init__(self, kafka: Kafka) -> None:
        self.kafka = kafka
        self.open = self._write()
        self.consumer = self._consume()
        self._commit()

    def _write(self):
        kafka = self.kafka
        for topic in ("marker", "open", "fresh", "before", "beyond", "unowned", "falling", "growing", "stuck"):
            kafka.create_topic(topic)
        kafka.create_topic("compacted", config=COMPACTED)
        transaction(kafka, "marker", 5)
        kafka.send("open", ["a"] * 3)
        held = transaction(kafka, "open", 4, ends=False)
        for topic, count in (("before", 8), ("beyond", 5), ("unowned", 6), ("falling", 90), ("growing", 9)):
            kafka.send(topic, ["a"] * count)
        kafka.send("stuck", ["a"] * 7)
        for _ in range(4):
            kafka.send_records("compacted", [(b"k", b"v", None)] * 5)
            time.sleep(0.3)
        wait_for(lambda: len([*kafka.records("compacted", 0)]) < 12, True, "a cleaner that has been there")
        said = '{"version":1,"partitions":[{"topic":"before","partition":0,"offset":5}]}'
        path = Path(kafka.disk(1).folder) / "delete.json"
        path.write_text(said)
        kafka.tool("delete-records", "--offset-json-file", str(path))
        path.unlink()
        return held

    def _consume(self) -> Consumer:
        kafka = self.kafka
        kafka.coordinator(GROUP)
        consumer = kafka.consumer(GROUP, client_id="billing-1")
        owned = ["marker", "open", "fresh", "falling", "growing", "stuck", "compacted"]
        consumer.subscribe(owned)

        def look() -> int:
            consumer.poll(0.05)
            return len(consumer.assignment())

        wait_for(look, len(owned), "an assignment")
        consumer.pause(consumer.assignment())
        return consumer

    def commit(self, **offsets: int) -> None:
        """Offsets of what the member owns."""
        places = [TopicPartition(topic, 0, offset) for topic, offset in offsets.items()]
        self.consumer.commit(offsets=places, asynchronous=False)

    def _commit(self) -> None:
        """First what is owned, then, by a consumer that joins nothing, what nobody owns."""
        self.commit(marker=5, open=3, falling=30, growing=4, stuck=2, compacted=0)
        alone = self.kafka.consumer(IDLE)
        places = [TopicPartition("unowned", 0, 1), TopicPartition("before", 0, 2), TopicPartition("beyond", 0, 40)]
        alone.commit(offsets=places, asynchronous=False)
        alone.close()

    def go_on(self) -> None:
        """What happens between two looks."""
        self.kafka.send("growing", ["a"] * 12)
        self.kafka.send("stuck", ["a"] * 4)
        self.commit(falling=60, growing=6)

    def described(self) -> str:
        """What the tool prints of all groups."""
        return self.kafka.tool("consumer-groups", "--describe", "--all-groups")

    def close(self) -> None:
        """Leave, and end the transaction that hangs."""
        self.consumer.close()
        self.open.abort_transaction(120)


def shared(kafka: Kafka) -> str:
    """What the tool prints of a share group that has acknowledged two of five records."""
    kafka.create_topic("jobs")
    says = ("--entity-type", "groups", "--entity-name", SHARED, "--add-config", "share.auto.offset.reset=earliest")
    kafka.tool("configs", "--alter", *says)
    kafka.send("jobs", ["a"] * 2)
    reads = ("--topic", "jobs", "--group", SHARED, "--max-messages", "2", "--timeout-ms", "60000")
    kafka.tool("console-share-consumer", *reads)
    kafka.send("jobs", ["a"] * 3)
    return kafka.tool("share-groups", "--describe", "--group", SHARED)


def record(folder: Path) -> None:
    """What the tools print twice, ten seconds apart, and the broker's files."""
    folder.mkdir(parents=True, exist_ok=True)
    with Kafka(config=SETTINGS) as kafka:
        scene = Lagging(kafka)
        (folder / "first.txt").write_text(scene.described())
        began = time.monotonic()
        scene.go_on()
        time.sleep(max(0.0, 10 - (time.monotonic() - began)))
        (folder / "second.txt").write_text(scene.described())
        (folder / "share.txt").write_text(shared(kafka))
        disk = kafka.disk(1).folder
        for path in sorted(disk.glob("*-0/*.log")):
            if path.parent.name.startswith(("__cluster", "__transaction", "__share")):
                continue
            (folder / "disk" / path.parent.name).mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder / "disk" / path.parent.name / path.name)
        for path in disk.glob("*-checkpoint"):
            shutil.copy(path, folder / "disk")
        scene.close()


if __name__ == "__main__":
    record(Path("data/lag"))
