"""What stays the same while an application reads a partition by hand."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import BrokerId, Checked, Count, Index, check_fields
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import ReleaseName, at_least

LAST_RELEASE = "1.1"  # Kafka 2.0 has no SimpleConsumer


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """What stays the same while an application reads a partition by hand.

    Parameters
    ----------
    topic, partition : str, int
        What it reads.
    broker_ids : tuple of int
        The brokers; the first leads at the start.
    fetch_message_max_bytes : int
        How many bytes a fetch request asks for.
    release : str
        Of client and brokers, up to 1.1.

    Raises
    ------
    KafkaLearnError
        If there is no such consumer.

    Examples
    --------
    >>> Settings(release="2.0")
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: release must be 1.1 or before, got 2.0: 2.0 removed SimpleConsumer
    """

    topic: str = "orders"
    partition: Index = 0
    broker_ids: tuple[BrokerId, ...] = (1, 2)
    fetch_message_max_bytes: Count = 1000
    release: ReleaseName = LAST_RELEASE

    def __post_init__(self) -> None:
        """Refuse what no such consumer can have."""
        check_fields(self)
        if at_least("2.0", self.release):
            raise KafkaLearnError(
                f"release must be {LAST_RELEASE} or before, got {self.release}: 2.0 removed SimpleConsumer"
            )
        if not self.broker_ids or len(set(self.broker_ids)) < len(self.broker_ids):
            raise KafkaLearnError(f"each broker must be there once, and one at least; got {self.broker_ids!r}")

    @property
    def topic_partition(self) -> TopicPartition:
        """What is read."""
        return TopicPartition(self.topic, self.partition)

    @property
    def returns_large_records(self) -> bool:
        """Whether a broker returns a first record that is larger than was asked for (fetch version 3, since 0.10.1)."""
        return at_least("0.10.1", self.release)
