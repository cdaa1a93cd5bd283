"""Reassignment (KIP-455): replicas are added first and removed last, so that what is safe stays safe in between.

The controller writes down all replicas, old and new, and which of them are *adding* and *removing*. New ones copy the
log as any follower does. When they are in sync the controller takes the old ones away, in the same record as the ISR.
Nothing else changes: a leader that is not removed goes on to lead.
"""

from __future__ import annotations

from kafkalearn.replication.controller.assignment import Assignment, reverted
from kafkalearn.replication.controller.metadata import record
from kafkalearn.replication.controller.record import changed
from kafkalearn.replication.effects import NONE, ReassignmentAnswered
from kafkalearn.replication.events import AlterPartitionReassignments
from kafkalearn.replication.processing import Processing
from kafkalearn.versions.releases import at_least

SINCE = "3.3"


def alter_partition_reassignments(processing: Processing, event: AlterPartitionReassignments) -> None:
    """An administrator asks for other replicas, or takes that back; the answer comes at once, the replicas later.

    References
    ----------
    Apache Kafka 3.3 to 4.3, ``ReplicationControlManager.alterPartitionReassignment``; KIP-455, KIP-860.
    """
    release = processing.settings.release
    processing.require(
        at_least(SINCE, release),
        "{}: the rules here are those of the KRaft controller; take a release from {} on, not {}",
        event, SINCE, str(release),
    )  # fmt: skip
    error = _cancel(processing, event) if event.replicas is None else _reassign(processing, event)
    processing.effects.insert(0, ReassignmentAnswered(error))


def _reassign(processing: Processing, event: AlterPartitionReassignments) -> str:
    before, target = processing.controller, event.replicas
    if not target or len(set(target)) < len(target) or not set(target) <= set(processing.settings.broker_ids):
        return "INVALID_REPLICA_ASSIGNMENT"
    if not event.may_change_factor and len(target) != len(before.assignment.target):
        return "INVALID_REPLICATION_FACTOR"
    assignment = before.assignment.toward(target)
    record(
        processing, changed(processing.settings, before, before.isr, successor=event.successor, assignment=assignment)
    )
    return NONE


def _cancel(processing: Processing, event: AlterPartitionReassignments) -> str:
    before = processing.controller
    if not before.assignment.is_changing:
        return "NO_REASSIGNMENT_IN_PROGRESS"
    assignment, isr, is_clean = reverted(before.assignment, before.isr)
    if not is_clean and not processing.settings.is_unclean_election_enabled:
        return "INVALID_REPLICA_ASSIGNMENT"
    back = Assignment(assignment.replicas)
    record(processing, changed(processing.settings, before, isr, successor=event.successor, assignment=back))
    return NONE
