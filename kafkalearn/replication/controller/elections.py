"""Elections that nobody died for: leadership is given back to the preferred replica, by the clock or by command.

Each partition has a *preferred* leader, the first replica of its assignment. After a failure another one leads, and
goes on to lead when the preferred one is back: this is what piles up leaders on a few brokers.
"""

from __future__ import annotations

from kafkalearn.replication.controller.metadata import record
from kafkalearn.replication.controller.record import changed
from kafkalearn.replication.effects import NONE, ElectionAnswered
from kafkalearn.replication.events import (
    PREFERRED_ELECTION,
    UNCLEAN_ELECTION,
    ElectLeaders,
    LeaderImbalanceChecked,
)
from kafkalearn.replication.processing import Processing
from kafkalearn.replication.state import Controller

NOT_ELECTED = {PREFERRED_ELECTION: "PREFERRED_LEADER_NOT_AVAILABLE", UNCLEAN_ELECTION: "ELIGIBLE_LEADERS_NOT_AVAILABLE"}


def leader_imbalance_checked(processing: Processing, event: LeaderImbalanceChecked) -> None:
    """The controller's own round, every 300 s: the preferred replica leads again if it is in sync.

    The share of such partitions that a broker may have (``leader.imbalance.per.broker.percentage``, up to 3.9) is
    always exceeded by a cluster of one partition; `kafkalearn.operations.leadership` has many.

    References
    ----------
    Apache Kafka 3.2 to 4.3, ``ReplicationControlManager.maybeBalancePartitionLeaders``; before,
    ``KafkaController.checkAndTriggerAutoLeaderRebalance``.
    """
    if not _has_preferred_leader(processing, event.successor):
        _elect(processing, PREFERRED_ELECTION, event.successor)


def elect_leaders(processing: Processing, event: ElectLeaders) -> None:
    """An administrator asks for an election; the answer says whether there was one.

    References
    ----------
    Apache Kafka 3.0 to 4.3, ``ReplicationControlManager.electLeader``; KIP-460.
    """
    if event.election_type == PREFERRED_ELECTION:
        is_needed = not _has_preferred_leader(processing, event.successor)
    else:
        is_needed = processing.leader_id is None
    error = "ELECTION_NOT_NEEDED"
    if is_needed:
        is_elected = _elect(processing, event.election_type, event.successor)
        error = NONE if is_elected else NOT_ELECTED[event.election_type]
    processing.emit(ElectionAnswered(error))


def _has_preferred_leader(processing: Processing, successor: int | None) -> bool:
    if not processing.settings.assignment and successor is not None:
        return processing.leader_id == successor
    return has_preferred_leader(processing.controller)


def has_preferred_leader(controller: Controller) -> bool:
    """Whether the first replica of the assignment leads."""
    return controller.leader == controller.assignment.replicas[0]


def _elect(processing: Processing, election: str, successor: int | None) -> bool:
    before = processing.controller
    after = changed(processing.settings, before, before.isr, successor=successor, election=election)
    record(processing, after)
    return after != before
