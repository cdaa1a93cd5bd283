"""What the controller makes of an ISR that a leader has proposed; it may end a reassignment, and make another lead."""

from __future__ import annotations

from kafkalearn.replication.controller.metadata import record
from kafkalearn.replication.controller.record import changed
from kafkalearn.replication.effects import NONE, AlterPartitionSent
from kafkalearn.replication.events import BACK_TO_COMMITTED, STAY_PENDING, AlterPartitionAnswered
from kafkalearn.replication.leader.leading import commit, controllers_answer
from kafkalearn.replication.processing import Processing
from kafkalearn.replication.state import Proposal


def alter_partition_answered(processing: Processing, event: AlterPartitionAnswered) -> None:
    """The answer to a proposal reaches the leader."""
    leader_id = processing.acting_leader(event.broker_id)
    if leader_id is None:
        processing.refuse("{}: there is no leader that could have proposed an ISR", event)
    leading = processing.leadership(leader_id)
    proposal = leading.proposal
    if proposal is None or proposal.is_refused:
        processing.refuse("{}: broker {} waits for no answer about its ISR", event, leader_id)
    error = event.error or controllers_answer(processing, leader_id, proposal.isr)
    if error == NONE:
        _take_over(processing, leader_id, proposal, event.successor)
    elif error in STAY_PENDING:
        _wait_for_metadata(processing, leader_id, proposal)
    elif error in BACK_TO_COMMITTED:
        processing.put_leading(leader_id, leading._replace(proposal=None))
    else:
        processing.emit(AlterPartitionSent(proposal.isr))


def _take_over(processing: Processing, leader_id: int, proposal: Proposal, successor: int | None) -> None:
    """The ISR is recorded; if that ends a reassignment, all brokers learn of it from the metadata.

    References
    ----------
    Apache Kafka 3.0 to 4.3, ``ReplicationControlManager.alterPartition``: NEW_LEADER_ELECTED;
    ``Partition.handleAlterPartitionUpdate``: an answer with a newer leader epoch is left to the metadata.
    """
    before, isr = processing.controller, proposal.isr
    if not before.assignment.is_changing:
        commit(processing, leader_id, isr)
        return
    after = changed(processing.settings, before, isr, successor=successor)._replace(is_recovering=False)
    if after.assignment == before.assignment:
        commit(processing, leader_id, isr)
        return
    _wait_for_metadata(processing, leader_id, proposal)
    record(processing, after, joining=isr)


def _wait_for_metadata(processing: Processing, leader_id: int, proposal: Proposal) -> None:
    leading = processing.leadership(leader_id)
    processing.put_leading(leader_id, leading._replace(proposal=proposal._replace(is_refused=True)))
