"""How the controller's record reaches the brokers, and what becoming leader or follower does to a replica.

Every broker that is running hears of a change at once. One that stands still, or has not reconnected, goes on with
what it knew: that is how there come to be two leaders.
"""

from __future__ import annotations

from kafkalearn.replication.effects import LeaderChanged, LogTruncated
from kafkalearn.replication.events import BrokerFenced, IsrSet, LeaderElected
from kafkalearn.replication.leader.leading import raise_high_watermark, seen
from kafkalearn.replication.leader.waiting import answer_produce
from kafkalearn.replication.processing import Work
from kafkalearn.replication.replica_log.disk import truncate
from kafkalearn.replication.replica_log.epochs import assign
from kafkalearn.replication.state import RUNNING, UNKNOWN, Broker, Controller, Leadership, Remote


def record(work: Work, controller: Controller) -> None:
    """The controller has recorded a change, and everyone whom it concerns hears of it, if he can."""
    before = work.controller
    if controller != before:
        work.controller = controller
    if controller.leader_epoch != before.leader_epoch:
        _note_election(work, before, controller)
        for broker_id in work.settings.broker_ids:
            hear(work, broker_id)
    elif controller.partition_epoch != before.partition_epoch and controller.leader is not None:
        hear(work, controller.leader)


def _note_election(work: Work, before: Controller, after: Controller) -> None:
    is_first = before.leader_epoch == UNKNOWN
    is_clean = after.leader is None or is_first or after.leader in (*before.isr, *before.elr)
    if not is_clean:
        work.unclean_election_count += 1
    if after.leader != before.leader:
        work.tell(LeaderChanged(after.leader, after.leader_epoch, is_clean))


def hear(work: Work, broker_id: int) -> None:
    """One broker takes over what the controller has recorded, if it is there to hear it."""
    broker = work.broker(broker_id)
    if broker.status != RUNNING:
        return
    if work.controller.leader == broker_id:
        _lead(work, broker_id, broker)
    else:
        _follow(work, broker_id, broker)


def _lead(work: Work, broker_id: int, broker: Broker) -> None:
    controller, leading = work.controller, work.leading(broker_id)
    if leading is None or broker.leader_epoch != controller.leader_epoch:
        _take_over(work, broker_id, broker)
    else:
        told = {"isr": controller.isr, "partition_epoch": controller.partition_epoch, "proposal": None}
        work.put_leading(broker_id, leading._replace(**told))
    raise_high_watermark(work, broker_id)


def _take_over(work: Work, broker_id: int, broker: Broker) -> None:
    """The broker leads a new epoch: it begins where its log ends, and knows nothing of the others yet.

    A leader that is elected again keeps what it knows of them, and the producers that wait.
    """
    controller, log = work.controller, work.log(broker_id)
    known = work.remotes(broker_id) or (None,) * work.settings.replica_count
    remotes = tuple(
        None
        if other == broker_id
        else _reset(work.now_ms, known[other - 1], other in controller.isr, log.log_end_offset)
        for other in work.settings.broker_ids
    )
    work.put_leading(broker_id, Leadership(log.log_end_offset, controller.isr, controller.partition_epoch))
    work.put_remotes(broker_id, remotes)
    work.put_waiting(broker_id, work.waiting(broker_id)._replace(fetches=()))
    if work.settings.rules.has_leader_epochs:
        log = log._replace(epochs=assign(log.epochs, controller.leader_epoch, log.log_end_offset))
        work.put_log(broker_id, log)
    told = {"leader": broker_id, "leader_epoch": controller.leader_epoch, "is_truncating": False}
    work.put_broker(broker_id, broker._replace(**told))
    work.visible = seen(work.visible._replace(leader_epoch=UNKNOWN), log, controller.leader_epoch)  # a term begins


def _reset(now_ms: int, known: Remote | None, is_in_isr: bool, leader_end: int) -> Remote:
    """What a leader of a new epoch starts from: members of the ISR count as caught up now."""
    since_ms = now_ms if is_in_isr else None
    if known is None:
        return Remote(last_caught_up_ms=since_ms)
    return known._replace(last_caught_up_ms=since_ms, last_fetch_ms=since_ms, leader_end_at_last_fetch=leader_end)


def _follow(work: Work, broker_id: int, broker: Broker) -> None:
    controller = work.controller
    if work.leading(broker_id) is not None:
        for parked in work.waiting(broker_id).produces:
            answer_produce(work, broker_id, parked, "NOT_LEADER_OR_FOLLOWER")
        work.stand_down(broker_id)
    follower = broker._replace(leader=controller.leader, leader_epoch=controller.leader_epoch)
    truncation = work.settings.rules.truncation
    if controller.leader is not None and broker.leader != controller.leader:
        # Before its first fetch from a new leader; since 2.8 the fetch itself finds out where to cut.
        follower = follower._replace(is_truncating=truncation in ("epoch, asked once", "epoch, asked again"))
        if truncation == "high watermark":
            _cut_to_high_watermark(work, broker_id)
    work.put_broker(broker_id, follower)


def _cut_to_high_watermark(work: Work, broker_id: int) -> None:
    log = work.log(broker_id)
    cut = truncate(log, log.high_watermark)
    if cut.log_end_offset < log.log_end_offset:
        work.tell(LogTruncated(broker_id, log.log_end_offset, cut.log_end_offset))
    work.put_log(broker_id, cut)


def leader_elected(work: Work, event: LeaderElected) -> None:
    """The controller is overruled: this leader, this ISR."""
    work.existing(event.leader)
    before = work.controller
    chosen = before._replace(
        leader=event.leader,
        leader_epoch=before.leader_epoch + 1,
        partition_epoch=before.partition_epoch + 1,
        isr=tuple(sorted(event.isr)),
        elr=(),
        last_known_leader=None,
    )
    record(work, chosen)


def isr_set(work: Work, event: IsrSet) -> None:
    """The controller is overruled: this ISR."""
    before = work.controller
    work.require(before.leader in event.isr, "{}: the leader, {}, is always in the ISR", event, before.leader)
    isr = tuple(sorted(event.isr))
    record(work, before._replace(isr=isr, partition_epoch=before.partition_epoch + 1))


def broker_fenced(work: Work, event: BrokerFenced) -> None:
    """The controller is overruled: this broker does not count as alive."""
    work.existing(event.broker_id)
    before = work.controller
    work.controller = before._replace(fenced=tuple(sorted({*before.fenced, event.broker_id})))
