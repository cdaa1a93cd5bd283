"""What stays the same in a group of old consumers, by Kafka's names, and the settings of their ZooKeeper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from kafkalearn.arguments import LARGEST_INT
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Count, Millis, Whole, check_fields
from kafkalearn.phrases import shown
from kafkalearn.versions.releases import at_least
from kafkalearn.zookeeper.tree.settings import Settings as TreeSettings

STRATEGIES = ("range", "roundrobin")
OFFSET_RESETS = ("smallest", "largest")
LAST_RELEASE = "1.1"  # 2.0 removed this consumer


class InvalidConfig(KafkaLearnError):  # noqa: N818  (a setting that is invalid, not an error of ours)
    """A setting with which no old consumer starts: ``kafka.common.InvalidConfigException`` with these words."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The settings of a group of old consumers; all of them run with the same.

    Parameters
    ----------
    group : str
        ``group.id``.
    partition_assignment_strategy : str
        ``"range"`` or ``"roundrobin"``.
    rebalance_max_retries : int
        How often a rebalance is tried in all, in spite of its name.
    rebalance_backoff_ms : int
        The pause after each try that failed, the last one too; by default ``zookeeper.sync.time.ms``.
    auto_commit_enable : bool
        Whether offsets are committed before partitions are given up, at the end, and every ``auto.commit.interval.ms``
        (`CommitOffsets` stands for that).
    auto_offset_reset : str
        Where a partition without a committed offset is read from: ``"smallest"`` or ``"largest"``.
    consumer_timeout_ms : int
        How long a stream waits for a record before it throws; -1: for ever.
    exclude_internal_topics : bool
        Whether filters pass over ``__consumer_offsets``.
    zookeeper_session_timeout_ms : int
        What each consumer asks ZooKeeper for.
    release : str
        Of the consumers, at most 1.1. It matters for the round robin.
    zookeeper : kafkalearn.zookeeper.tree.Settings
        Of the ZooKeeper.

    Raises
    ------
    InvalidConfig
        If Kafka refuses a setting.
    KafkaLearnError
        If a field cannot be what it is said to be.

    Examples
    --------
    >>> Settings(partition_assignment_strategy="sticky")
    Traceback (most recent call last):
    ...
    kafkalearn.zookeeper.connector.settings.InvalidConfig: Wrong value sticky of partition.assignment.strategy in \
consumer config; Valid values are 'range' and 'roundrobin'

    References
    ----------
    Apache Kafka 1.1.1, ``kafka.consumer.ConsumerConfig``, ``kafka.utils.ZKConfig``.
    """

    group: str = "billing"
    partition_assignment_strategy: str = "range"
    rebalance_max_retries: Count = 4
    rebalance_backoff_ms: Millis = 2000
    auto_commit_enable: bool = True
    auto_offset_reset: str = "largest"
    consumer_timeout_ms: Annotated[int, Whole(-1, LARGEST_INT)] = -1
    exclude_internal_topics: bool = True
    zookeeper_session_timeout_ms: Millis = 6000
    release: str = LAST_RELEASE
    zookeeper: TreeSettings = field(default_factory=TreeSettings)

    def __post_init__(self) -> None:
        """Refuse what Kafka refuses, in its words."""
        check_fields(self)
        if self.partition_assignment_strategy not in STRATEGIES:
            raise InvalidConfig(
                f"Wrong value {self.partition_assignment_strategy} of partition.assignment.strategy in consumer "
                "config; Valid values are 'range' and 'roundrobin'"
            )
        if self.auto_offset_reset not in OFFSET_RESETS:
            raise InvalidConfig(
                f"Wrong value {self.auto_offset_reset} of auto.offset.reset in ConsumerConfig; Valid values are "
                "smallest and largest"
            )
        if not self.group or "/" in self.group:
            raise KafkaLearnError(f"group must be a name without '/', got {shown(self.group)}")
        if at_least("2.0", self.release):
            raise KafkaLearnError(f"release must be at most {LAST_RELEASE}, got {self.release}: 2.0 removed it")
