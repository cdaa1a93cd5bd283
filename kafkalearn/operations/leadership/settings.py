"""What stays the same while leaders move between the brokers of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import fill_in
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import NOT_GIVEN, BrokerId, Checked, Count, FilledIn, Whole, check_fields
from kafkalearn.phrases import shown
from kafkalearn.versions import default
from kafkalearn.versions.releases import DEFAULT_RELEASE, ReleaseName, at_least

Percentage: TypeAlias = Annotated[int, Whole(0, 100)]

KRAFT_SINCE, ZOOKEEPER_UNTIL = "3.3", "4.0"


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The brokers, and when their leadership is balanced.

    Parameters
    ----------
    broker_ids : tuple of int
        All brokers.
    release : str
        Of the controller.
    has_leader_rebalancing : bool or None
        ``auto.leader.rebalance.enable``; None: the release's default (true in every one).
    check_interval_s : int or None
        ``leader.imbalance.check.interval.seconds``; None: the release's default (300 in every one).
    imbalance_percentage : int or None
        ``leader.imbalance.per.broker.percentage``; None: the default, 10. Only controllers with ZooKeeper read it.
    has_zookeeper : bool or None
        Whether the controller is the old one; None: up to 3.2 alone, as there was no other for production.

    Raises
    ------
    KafkaLearnError
        If no cluster can be configured so.

    Examples
    --------
    >>> Settings((1, 2, 3)).check_interval_s, Settings((1, 2, 3), "2.8").has_zookeeper
    (300, True)
    """

    broker_ids: tuple[BrokerId, ...]
    release: ReleaseName = DEFAULT_RELEASE
    has_leader_rebalancing: FilledIn[bool] = NOT_GIVEN
    check_interval_s: FilledIn[Count] = NOT_GIVEN
    imbalance_percentage: FilledIn[Percentage] = NOT_GIVEN
    has_zookeeper: FilledIn[bool] = NOT_GIVEN

    def __post_init__(self) -> None:
        """Fill in what the release decides, and refuse what is no cluster."""
        check_fields(self)
        if not self.broker_ids or len({*self.broker_ids}) < len(self.broker_ids):
            raise KafkaLearnError(f"broker_ids must name at least one broker, each once, got {shown(self.broker_ids)}")
        fill_in(
            self,
            has_leader_rebalancing=default("auto.leader.rebalance.enable", self.release, side="broker"),
            check_interval_s=default("leader.imbalance.check.interval.seconds", self.release, side="broker"),
            has_zookeeper=not at_least(KRAFT_SINCE, self.release),
        )
        if self.has_zookeeper and at_least(ZOOKEEPER_UNTIL, self.release):
            raise KafkaLearnError(f"Kafka {self.release} has no ZooKeeper; it went with 4.0")
        if not self.has_zookeeper and not at_least(KRAFT_SINCE, self.release):
            raise KafkaLearnError(f"has_zookeeper must be true: before 3.3 KRaft was no choice, got {self.release}")
        if self.imbalance_percentage is not None and not self.has_zookeeper:
            raise KafkaLearnError(
                "imbalance_percentage is read by controllers with ZooKeeper alone; KRaft gives every leadership back"
            )
        fill_in(self, imbalance_percentage=10)
