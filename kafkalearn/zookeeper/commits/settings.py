"""The settings of a group of old consumers that commit, and of the stores that they commit to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from kafkalearn.arguments import fill_in, one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import NOT_GIVEN, Checked, FilledIn, Millis, Whole, check_fields
from kafkalearn.offsets.replicated.settings import Settings as TopicSettings
from kafkalearn.replication.settings import MOST_REPLICAS
from kafkalearn.versions import default
from kafkalearn.versions.releases import ReleaseName, at_least
from kafkalearn.zookeeper.fetching.cluster import RESETS
from kafkalearn.zookeeper.fetching.settings import LAST_RELEASE

TIMER, APPLICATION, SHUTDOWN = "the timer", "the application", "the shutdown"
"""Who commits: the timer of auto commit; the application that asks for tries again, or a rebalance; the shutdown."""

MOST_PARTITIONS = 1000  # each is a node of its own, and has a record of its own in every commit


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """What stays the same while consumers of a group come, commit and go.

    Parameters
    ----------
    group, topic : str
        Who reads what.
    partition_count : int
        Partitions of the topic.
    replica_count : int
        Brokers that hold the group's partition of the offsets topic, numbered from 1.
    auto_commit_enable : bool or None
        ``auto.commit.enable``: whether a shutdown commits.
    auto_offset_reset : str or None
        ``auto.offset.reset``: where a consumer begins that finds no offset: ``"smallest"`` or ``"largest"``.
    offsets_commit_max_retries, offsets_channel_backoff_ms : int or None
        ``offsets.commit.max.retries``; and how long a client waits between two tries.
    release : str
        Of the consumers, 0.8.2 to 1.1. What is None above is this release's default.

    Raises
    ------
    KafkaLearnError
        If there is no such consumer.

    Examples
    --------
    Who tries again, and how often, is not what the names in Kafka's code say, and not the same in all releases:

    >>> [Settings(release="0.8.2").tries(each) for each in (TIMER, APPLICATION, SHUTDOWN)]
    [1, 1, 6]
    >>> [Settings(release="1.1").tries(each) for each in (TIMER, APPLICATION, SHUTDOWN)]
    [6, 1, 1]
    """

    group: str = "billing"
    topic: str = "orders"
    partition_count: Annotated[int, Whole(1, MOST_PARTITIONS)] = 1
    replica_count: Annotated[int, Whole(1, MOST_REPLICAS)] = 1
    auto_commit_enable: FilledIn[bool] = NOT_GIVEN
    auto_offset_reset: FilledIn[str] = NOT_GIVEN
    offsets_commit_max_retries: FilledIn[Annotated[int, Whole(0, 1000)]] = NOT_GIVEN
    offsets_channel_backoff_ms: FilledIn[Millis] = NOT_GIVEN
    release: ReleaseName = LAST_RELEASE
    coordinator: TopicSettings = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Fill in what was not given; refuse releases without such a consumer."""
        check_fields(self)
        if at_least("2.0", self.release):
            raise KafkaLearnError(
                f"release must be {LAST_RELEASE} or before, got {self.release}: 2.0 removed this consumer"
            )
        names = ("auto_commit_enable", "auto_offset_reset", "offsets_commit_max_retries", "offsets_channel_backoff_ms")
        fill_in(self, **{name: default(name.replace("_", "."), self.release, side="old-consumer") for name in names})
        one_of("auto_offset_reset", self.auto_offset_reset, RESETS)
        object.__setattr__(self, "coordinator", TopicSettings(self.replica_count))

    def tries(self, by: str) -> int:
        """How often a commit to the topic is tried: in 0.8.2 at shutdown only, since 0.9 from the timer only.

        References
        ----------
        Apache Kafka 0.8.2.2, 0.9.0.1 and 1.1.1, ``ZookeeperConsumerConnector.commitOffsets(isAutoCommit)``: the timer
        passes false, the others true, and 0.9 turned the condition round.
        """
        is_tried_again = by == TIMER if at_least("0.9.0", self.release) else by == SHUTDOWN
        return 1 + (self.offsets_commit_max_retries if is_tried_again else 0)
