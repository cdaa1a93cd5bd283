"""What a leader does with what it knows: raise the high watermark, shrink and grow the ISR.

The high watermark is tried on four occasions: on becoming leader and at later metadata, when an ISR change is
committed, after an append, and after a fetch that changed a remote LEO.
"""

from __future__ import annotations

from kafkalearn.replication.controller.record import changed, verdict
from kafkalearn.replication.effects import NONE, AlterPartitionSent, IsrWritten
from kafkalearn.replication.events import IsrChecked
from kafkalearn.replication.leader.in_sync import high_watermark_by_ends, holds_back, shrunk_isr
from kafkalearn.replication.leader.waiting import answer_fetches, answer_produces
from kafkalearn.replication.processing import Processing
from kafkalearn.replication.state import Log, Proposal, Visible


def lift(processing: Processing, leader_id: int) -> bool:
    """Try to raise the leader's high watermark; whether it has risen."""
    settings, log, leading = processing.settings, processing.log(leader_id), processing.leadership(leader_id)

    def is_held_back_by(broker_id: int) -> bool:
        remote = processing.remotes(leader_id)[broker_id - 1]
        return holds_back(settings, processing.now_ms, processing.is_eligible, broker_id, remote)

    high_watermark = high_watermark_by_ends(settings, log, leading, processing.remote_ends(leader_id), is_held_back_by)
    if high_watermark == log.high_watermark:
        return False
    log = log._replace(high_watermark=high_watermark)
    processing.put_log(leader_id, log)
    processing.visible = seen(processing.visible, log, processing.broker(leader_id).leader_epoch)
    return True


def raise_high_watermark(processing: Processing, leader_id: int) -> None:
    """Try to raise the leader's high watermark, and answer the requests that waited for it."""
    if lift(processing, leader_id):
        answer_produces(processing, leader_id)
        if processing.settings.rules.answers_new_high_watermark:
            answer_fetches(processing, leader_id)


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


def propose(processing: Processing, leader_id: int, isr: tuple[int, ...]) -> None:
    """The leader wants another ISR: it asks the controller, or, up to 2.6, writes it down itself."""
    if processing.settings.rules.asks_controller:
        processing.put_leading(leader_id, processing.leadership(leader_id)._replace(proposal=Proposal(isr)))
        processing.emit(AlterPartitionSent(isr))
    elif controllers_answer(processing, leader_id, isr) == NONE:
        processing.emit(IsrWritten(isr))
        commit(processing, leader_id, isr)


def controllers_answer(processing: Processing, leader_id: int, isr: tuple[int, ...]) -> str:
    """What the controller says by its rules to an ISR that a leader wants; ``"NONE"``: taken over."""
    leader_epoch, partition_epoch = (
        processing.broker(leader_id).leader_epoch,
        processing.leadership(leader_id).partition_epoch,
    )
    return verdict(processing.settings, processing.controller, leader_id, leader_epoch, partition_epoch, isr)


def commit(processing: Processing, leader_id: int, isr: tuple[int, ...]) -> None:
    """The new ISR is recorded, the leader takes it over and tries its high watermark."""
    processing.controller = changed(processing.settings, processing.controller, isr)._replace(is_recovering=False)
    partition_epoch = processing.controller.partition_epoch
    leading = processing.leadership(leader_id)
    processing.put_leading(leader_id, leading._replace(isr=isr, partition_epoch=partition_epoch, proposal=None))
    raise_high_watermark(processing, leader_id)


def isr_checked(processing: Processing, event: IsrChecked) -> None:
    """The periodic check: followers that lag are to leave the ISR."""
    leader_id = processing.acting_leader(event.broker_id)
    if leader_id is None:
        processing.refuse("{}: there is no leader to check the ISR", event)
    leading = processing.leadership(leader_id)
    if leading.proposal is None:  # one change at a time
        log, remotes = processing.log(leader_id), processing.remotes(leader_id)
        isr = shrunk_isr(processing.settings, processing.now_ms, log, leading.isr, remotes)
        if isr != leading.isr:
            propose(processing, leader_id, isr)
