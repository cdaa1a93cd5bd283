"""The settings of a partition of the offsets topic and its brokers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from kafkalearn.arguments import fill_in
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import NOT_GIVEN, Checked, Count, FilledIn, Whole, check_fields
from kafkalearn.offsets.store.settings import Settings as StoreSettings
from kafkalearn.replication.settings import MOST_REPLICAS
from kafkalearn.replication.settings import Settings as PartitionSettings
from kafkalearn.versions import default
from kafkalearn.versions.releases import DEFAULT_RELEASE, ReleaseName, at_least

FIRST_RELEASE = "4.0"  # the first in which the newer coordinator is the only one


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """What stays the same while brokers take turns to coordinate the groups of one partition.

    Parameters
    ----------
    replica_count : int
        ``offsets.topic.replication.factor``: brokers that hold the partition, numbered from 1.
    release : str
        Of all brokers, 4.0 or later: before, another coordinator kept what is not replicated yet apart.
    retention_minutes : int or None
        ``offsets.retention.minutes``; None: the release's default.
    commit_timeout_ms : int or None
        ``offsets.commit.timeout.ms``: how long a request waits for the high watermark; None: the release's default.

    Raises
    ------
    KafkaLearnError
        If no cluster can be configured so.

    Examples
    --------
    >>> Settings().commit_timeout_ms, Settings().store.retention_minutes, Settings().partition.broker_ids
    (5000, 10080, (1, 2, 3))
    """

    replica_count: Annotated[int, Whole(1, MOST_REPLICAS)] = 3
    release: ReleaseName = DEFAULT_RELEASE
    retention_minutes: FilledIn[Count] = NOT_GIVEN
    commit_timeout_ms: FilledIn[Count] = NOT_GIVEN
    partition: PartitionSettings = field(init=False, repr=False, compare=False)  # followers are answered at once
    store: StoreSettings = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Fill in what was not given; refuse releases with another coordinator."""
        check_fields(self)
        if not at_least(FIRST_RELEASE, self.release):
            raise KafkaLearnError(
                f"release must be {FIRST_RELEASE} or later, got {self.release}: the coordinator before it kept what "
                "was not replicated apart; kafkalearn.offsets.store has its rules, for one broker"
            )
        fill_in(self, commit_timeout_ms=default("offsets.commit.timeout.ms", self.release, side="broker"))
        partition = PartitionSettings(self.replica_count, self.release, fetch_wait_max_ms=0)
        object.__setattr__(self, "partition", partition)
        object.__setattr__(self, "store", StoreSettings(self.release, self.retention_minutes))
        fill_in(self, retention_minutes=self.store.retention_minutes)
