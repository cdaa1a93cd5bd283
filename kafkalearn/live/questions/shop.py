"""The shop's topics on a real broker, for Spark: orders, and groups that have committed."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka import TopicPartition

from kafkalearn.live.errors import KafkaNotFetched, KafkaNotStarted, NoAnswer, NotReached
from kafkalearn.live.jars.connector import connector_jars
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.waiting import wait_for
from kafkalearn.real_answers import reason_of, recorded_sentence, started_sentence
from kafkalearn.versions.releases import DEFAULT_RELEASE

ORDERS, SIMULATED = "orders", "simulated"
PARTITIONS = 3
OFFSETS_PARTITIONS = 4
COMMITTED = {"billing": (40, 60, 50), "shipping": (10, 0, 20)}  # of each group the offset in each partition
CONSUMER = "search"


class Shop:
    """A broker with the topics ``orders`` and ``simulated``, and Spark's connector; or nothing of it, and the reason.

    Parameters
    ----------
    release : str
        A release line.
    """

    def __init__(self, release: str = DEFAULT_RELEASE) -> None:
        """Start it, if it can be started."""
        self.kafka: Kafka | None = None
        self.jars: list[Path] = []
        try:
            self.jars = connector_jars(update=lambda done_bytes, total_bytes: None)
            self.kafka = Kafka(1, release, config={"offsets.topic.num.partitions": OFFSETS_PARTITIONS}).start()
            self.kafka.create_topic(ORDERS, PARTITIONS)
            self.kafka.create_topic(SIMULATED)
            self.asked = started_sentence(self.kafka.release.version)
        except (KafkaNotFetched, KafkaNotStarted, NoAnswer, NotReached) as error:
            self.close()
            self.asked = recorded_sentence(reason_of(error))

    @property
    def address(self) -> str | None:
        """Where the broker is, as ``bootstrap.servers`` has it; None: there is none."""
        return self.kafka.bootstrap if self.kafka else None

    def commit(self) -> None:
        """Let the groups commit: two of them by hand, one that has a member which leaves again."""
        if self.kafka is None:
            return
        for group, offsets in COMMITTED.items():
            self.kafka.coordinator(group)
            consumer = self.kafka.consumer(group)
            places = [TopicPartition(ORDERS, number, offset) for number, offset in enumerate(offsets)]
            consumer.commit(offsets=places, asynchronous=False)
            consumer.close()
        self._read_and_leave(CONSUMER)

    def close(self) -> None:
        """Stop it; a second time does nothing."""
        if self.kafka is not None:
            self.kafka.close()
            self.kafka = None

    def __enter__(self) -> Shop:
        """The shop itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.close()

    def _read_and_leave(self, group: str) -> None:
        self.kafka.coordinator(group)
        consumer = self.kafka.consumer(group)
        consumer.subscribe([ORDERS])
        wait_for(lambda: (consumer.poll(0.05), len(consumer.assignment()))[1], PARTITIONS, "partitions of search:")
        consumer.close()
        wait_for(lambda: self.kafka.group(group).state, "Empty", f"the state of {group!r}:")
