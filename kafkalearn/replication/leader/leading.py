"""What a leader does with what it knows: raise the high watermark, shrink and grow the ISR.

The high watermark is tried on four occasions: on becoming leader and at later metadata, when an ISR change is
committed, after an append, and after a fetch that changed a remote LEO.
"""

from __future__ import annotations

from kafkalearn.replication.controller.record import changed, verdict
from kafkalearn.replication.effects import NONE, AlterPartitionSent, IsrWritten
from kafkalearn.replication.events import AlterPartitionAnswered, IsrChecked
from kafkalearn.replication.leader.in_sync import high_watermark_of, shrunk_isr
from kafkalearn.replication.leader.waiting import answer_fetches, answer_produces
from kafkalearn.replication.processing import Work
from kafkalearn.replication.state import Log, Proposal, Visible

STAY_PENDING = (
    "FENCED_LEADER_EPOCH",
    "INVALID_UPDATE_VERSION",
    "INVALID_REQUEST",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "UNKNOWN_TOPIC_ID",
    "NEW_LEADER_ELECTED",
)
"""Answers to AlterPartition after which a leader only waits for new metadata."""

BACK_TO_COMMITTED = ("INELIGIBLE_REPLICA", "OPERATION_NOT_ATTEMPTED")
"""Answers to AlterPartition after which a leader gives its proposal up; after any other error it sends it again."""


def lift(work: Work, leader_id: int) -> bool:
    """Try to raise the leader's high watermark; whether it has risen."""
    log, leading, remotes = work.log(leader_id), work.leading(leader_id), work.remotes(leader_id)
    high_watermark = high_watermark_of(work.settings, work.now_ms, work.is_eligible, log, leading, remotes)
    if high_watermark == log.high_watermark:
        return False
    log = log._replace(high_watermark=high_watermark)
    work.put_log(leader_id, log)
    work.visible = seen(work.visible, log, work.broker(leader_id).leader_epoch)
    return True


def raise_high_watermark(work: Work, leader_id: int) -> None:
    """Try to raise the leader's high watermark, and answer the requests that waited for it."""
    if lift(work, leader_id):
        answer_produces(work, leader_id)
        if work.settings.rules.answers_new_high_watermark:
            answer_fetches(work, leader_id)


def seen(visible: Visible, log: Log, leader_epoch: int) -> Visible:
    """What consumers have been able to read once they may read up to this leader's high watermark."""
    end, records = log.high_watermark, visible.records
    records += (None,) * (log.first_offset - len(records))
    is_same_term = visible.leader_epoch == leader_epoch
    return Visible(
        records=records + log.records_from(len(records), end),
        leader_epoch=leader_epoch,
        high_watermark=max(end, visible.high_watermark) if is_same_term else end,
    )


def propose(work: Work, leader_id: int, isr: tuple[int, ...]) -> None:
    """The leader wants another ISR: it asks the controller, or, up to 2.6, writes it down itself."""
    if work.settings.rules.asks_controller:
        work.put_leading(leader_id, work.leading(leader_id)._replace(proposal=Proposal(isr)))
        work.tell(AlterPartitionSent(isr))
    elif _verdict(work, leader_id, isr) == NONE:
        work.tell(IsrWritten(isr))
        commit(work, leader_id, isr)


def _verdict(work: Work, leader_id: int, isr: tuple[int, ...]) -> str:
    leader_epoch, partition_epoch = work.broker(leader_id).leader_epoch, work.leading(leader_id).partition_epoch
    return verdict(work.settings, work.controller, leader_id, leader_epoch, partition_epoch, isr)


def commit(work: Work, leader_id: int, isr: tuple[int, ...]) -> None:
    """The new ISR is recorded, the leader takes it over and tries its high watermark."""
    work.controller = changed(work.settings, work.controller, isr)._replace(is_recovering=False)
    partition_epoch = work.controller.partition_epoch
    leading = work.leading(leader_id)
    work.put_leading(leader_id, leading._replace(isr=isr, partition_epoch=partition_epoch, proposal=None))
    raise_high_watermark(work, leader_id)


def isr_checked(work: Work, event: IsrChecked) -> None:
    """The periodic check: followers that lag are to leave the ISR."""
    leader_id = work.acting_leader(event.broker_id)
    work.require(leader_id is not None, "{}: there is no leader to check the ISR", event)
    leading = work.leading(leader_id)
    if leading.proposal is None:  # one change at a time
        log, remotes = work.log(leader_id), work.remotes(leader_id)
        isr = shrunk_isr(work.settings, work.now_ms, log, leading.isr, remotes)
        if isr != leading.isr:
            propose(work, leader_id, isr)


def alter_partition_answered(work: Work, event: AlterPartitionAnswered) -> None:
    """The answer to a proposal reaches the leader."""
    leader_id = work.acting_leader(event.broker_id)
    work.require(leader_id is not None, "{}: there is no leader that could have proposed an ISR", event)
    leading = work.leading(leader_id)
    proposal = leading.proposal
    is_waiting = proposal is not None and not proposal.is_refused
    work.require(is_waiting, "{}: broker {} waits for no answer about its ISR", event, leader_id)
    error = event.error or _verdict(work, leader_id, proposal.isr)
    if error == NONE:
        commit(work, leader_id, proposal.isr)
    elif error in STAY_PENDING:
        work.put_leading(leader_id, leading._replace(proposal=proposal._replace(is_refused=True)))
    elif error in BACK_TO_COMMITTED:
        work.put_leading(leader_id, leading._replace(proposal=None))
    else:
        work.tell(AlterPartitionSent(proposal.isr))
