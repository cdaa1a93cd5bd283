"""What stays the same while brokers come and go and groups ask for their coordinator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kafkalearn.arguments import LARGEST_INT
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Count, PartitionCount, Whole, check_fields
from kafkalearn.operations.offsets_topic.creation import uses_zookeeper
from kafkalearn.versions.releases import DEFAULT_RELEASE, ReleaseName


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """A cluster and its offsets topic.

    Parameters
    ----------
    brokers : tuple of int
        All brokers that the cluster ever has.
    replication_factor, partition_count : int
        ``offsets.topic.replication.factor``, ``offsets.topic.num.partitions``.
    release : str
        Of the cluster.
    has_zookeeper : bool or None
        None: up to 3.2 yes, since 4.0 no. From 3.3 to 3.9 clusters have either, so it has to be said.
    seed : int
        Kafka draws where the replicas go; the same seed, the same places.

    Raises
    ------
    KafkaLearnError
        If a broker is named twice, the release had no such cluster, or had both kinds.
    """

    brokers: tuple[Annotated[int, Whole(0, LARGEST_INT)], ...] = (1, 2, 3)
    replication_factor: Count = 3
    partition_count: PartitionCount = 50
    release: ReleaseName = DEFAULT_RELEASE
    has_zookeeper: bool | None = None
    seed: Annotated[int, Whole(0)] = 0

    def __post_init__(self) -> None:
        """Refuse what no cluster can be."""
        check_fields(self)
        if len({*self.brokers}) < len(self.brokers) or not self.brokers:
            raise KafkaLearnError(f"brokers must name each broker once, and at least one; got {list(self.brokers)}")
        object.__setattr__(self, "has_zookeeper", uses_zookeeper(self.release, self.has_zookeeper))
