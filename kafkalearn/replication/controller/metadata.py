"""How the controller's record reaches the brokers, and what becoming leader or follower does to a replica.

Every broker that is running learns of a change at once. One that stands still, or has not reconnected, goes on with
what it knew: so there can be two leaders.
"""

from __future__ import annotations

from kafkalearn.replication.effects import AssignmentChanged, LeaderChanged, LogTruncated, ReplicaDeleted
from kafkalearn.replication.events import BrokerFenced, IsrSet, LeaderElected
from kafkalearn.replication.leader.leading import raise_high_watermark, seen
from kafkalearn.replication.leader.waiting import answer_produce
from kafkalearn.replication.processing import Processing
from kafkalearn.replication.replica_log.disk import truncate
from kafkalearn.replication.replica_log.epochs import assign
from kafkalearn.replication.state import RUNNING, UNKNOWN, Broker, Controller, Leadership, Log, Remote


def record(processing: Processing, controller: Controller, joining: tuple[int, ...] = ()) -> None:
    """The controller has recorded a change, and the brokers that it concerns learn of it, if they can.

    `joining` are brokers that were not in the ISR before and have all that is committed.
    """
    before = processing.controller
    if controller != before:
        processing.controller = controller
    if controller.assignment != before.assignment:
        processing.emit(AssignmentChanged(*controller.assignment))
    if controller.leader_epoch != before.leader_epoch:
        _note_election(processing, before, controller, joining)
    if controller.leader_epoch != before.leader_epoch or controller.assignment != before.assignment:
        for broker_id in processing.settings.broker_ids:
            apply_metadata(processing, broker_id)
    elif controller.partition_epoch != before.partition_epoch and controller.leader is not None:
        apply_metadata(processing, controller.leader)


def _note_election(processing: Processing, before: Controller, after: Controller, joining: tuple[int, ...]) -> None:
    is_first = before.leader_epoch == UNKNOWN
    is_clean = after.leader is None or is_first or after.leader in (*before.isr, *before.elr, *joining)
    if not is_clean:
        processing.unclean_election_count += 1
    if after.leader != before.leader:
        processing.emit(LeaderChanged(after.leader, after.leader_epoch, is_clean))


def apply_metadata(processing: Processing, broker_id: int) -> None:
    """One broker takes over what the controller has recorded, if it is running and connected."""
    broker = processing.broker(broker_id)
    if broker.status != RUNNING:
        return
    if broker_id not in processing.controller.assignment.replicas:
        _delete_replica(processing, broker_id, broker)
    elif processing.controller.leader == broker_id:
        _make_leader(processing, broker_id, broker)
    else:
        _make_follower(processing, broker_id, broker)


def _delete_replica(processing: Processing, broker_id: int, broker: Broker) -> None:
    """The broker holds no replica of this partition, or no longer: what it has of it goes.

    References
    ----------
    Apache Kafka 3.0 to 4.3, ``ReplicaManager.applyDelta``: ``stopPartitions`` with deletion; what a broker finds at
    its start goes too (``LogManager``, stray partitions).
    """
    if broker.leader_epoch == UNKNOWN and processing.log(broker_id) == Log():
        return
    _resign(processing, broker_id)
    processing.put_log(broker_id, Log())
    processing.put_broker(broker_id, Broker(broker.status, broker.was_stopped_cleanly))
    processing.emit(ReplicaDeleted(broker_id))


def _resign(processing: Processing, broker_id: int) -> None:
    if processing.leading(broker_id) is not None:
        for parked in processing.waiting(broker_id).produces:
            answer_produce(processing, broker_id, parked, "NOT_LEADER_OR_FOLLOWER")
        processing.stop_leading(broker_id)


def _make_leader(processing: Processing, broker_id: int, broker: Broker) -> None:
    controller, leading = processing.controller, processing.leading(broker_id)
    if leading is None or broker.leader_epoch != controller.leader_epoch:
        _take_over(processing, broker_id, broker)
    else:
        recorded = {"isr": controller.isr, "partition_epoch": controller.partition_epoch, "proposal": None}
        processing.put_leading(broker_id, leading._replace(**recorded))
        if _known_replicas(processing, broker_id) != {*controller.assignment.replicas}:
            processing.put_remotes(broker_id, _remotes_of(processing, broker_id))
    raise_high_watermark(processing, broker_id)


def _take_over(processing: Processing, broker_id: int, broker: Broker) -> None:
    """The broker leads a new epoch: it begins where its log ends, and knows nothing of the others yet.

    A leader that is elected again keeps what it knows of them, and the producers that wait.
    """
    controller, log = processing.controller, processing.log(broker_id)
    known = processing.remotes(broker_id) or (None,) * processing.settings.broker_count
    remotes = tuple(
        _reset(processing.now_ms, known[other - 1], other in controller.isr, log.log_end_offset)
        if other != broker_id and other in controller.assignment.replicas
        else None
        for other in processing.settings.broker_ids
    )
    processing.put_leading(broker_id, Leadership(log.log_end_offset, controller.isr, controller.partition_epoch))
    processing.put_remotes(broker_id, remotes)
    processing.put_waiting(broker_id, processing.waiting(broker_id)._replace(fetches=()))
    if processing.settings.rules.has_leader_epochs:
        log = log._replace(epochs=assign(log.epochs, controller.leader_epoch, log.log_end_offset))
        processing.put_log(broker_id, log)
    recorded = {"leader": broker_id, "leader_epoch": controller.leader_epoch, "is_truncating": False}
    processing.put_broker(broker_id, broker._replace(**recorded))
    processing.visible = seen(
        processing.visible._replace(leader_epoch=UNKNOWN), log, controller.leader_epoch
    )  # a term begins


def _known_replicas(processing: Processing, leader_id: int) -> set[int]:
    followers = {other for other, known in enumerate(processing.remote_ends(leader_id), start=1) if known is not None}
    return {leader_id, *followers}


def _remotes_of(processing: Processing, leader_id: int) -> tuple[Remote | None, ...]:
    """What a leader knows of its followers after replicas were added: nothing yet of the new ones."""
    followers = {*processing.controller.assignment.replicas} - {leader_id}
    known = enumerate(processing.remotes(leader_id), start=1)
    return tuple((remote or Remote()) if other in followers else None for other, remote in known)


def _reset(now_ms: int, known: Remote | None, is_in_isr: bool, leader_end: int) -> Remote:
    """What a leader of a new epoch starts from: members of the ISR count as caught up now."""
    since_ms = now_ms if is_in_isr else None
    if known is None:
        return Remote(last_caught_up_ms=since_ms)
    return known._replace(last_caught_up_ms=since_ms, last_fetch_ms=since_ms, leader_end_at_last_fetch=leader_end)


def _make_follower(processing: Processing, broker_id: int, broker: Broker) -> None:
    controller = processing.controller
    _resign(processing, broker_id)
    follower = broker._replace(leader=controller.leader, leader_epoch=controller.leader_epoch)
    rules = processing.settings.rules
    if controller.leader is not None and broker.leader != controller.leader:
        # Before its first fetch from a new leader; since 2.8 the fetch itself finds out where to cut.
        follower = follower._replace(is_truncating=rules.cuts_before_fetching)
        if rules.truncation == "high watermark":
            _cut_to_high_watermark(processing, broker_id)
    processing.put_broker(broker_id, follower)


def _cut_to_high_watermark(processing: Processing, broker_id: int) -> None:
    log = processing.log(broker_id)
    cut = truncate(log, log.high_watermark)
    processing.emit(LogTruncated(broker_id, log.log_end_offset, cut.log_end_offset))
    processing.put_log(broker_id, cut)


def leader_elected(processing: Processing, event: LeaderElected) -> None:
    """The controller is overruled: this leader, this ISR."""
    processing.existing(event.leader)
    isr = _given_isr(processing, event, event.leader)
    before = processing.controller
    chosen = before._replace(
        leader=event.leader,
        leader_epoch=before.leader_epoch + 1,
        partition_epoch=before.partition_epoch + 1,
        isr=isr,
        elr=(),
        last_known_leader=None,
    )
    record(processing, chosen)


def isr_set(processing: Processing, event: IsrSet) -> None:
    """The controller is overruled: this ISR."""
    before = processing.controller
    isr = _given_isr(processing, event, before.leader)
    record(processing, before._replace(isr=isr, partition_epoch=before.partition_epoch + 1))


def _given_isr(processing: Processing, event: LeaderElected | IsrSet, leader: int | None) -> tuple[int, ...]:
    """The ISR that a script decides on: brokers that exist, each once, the leader among them."""
    for broker_id in event.isr:
        processing.existing(broker_id)
        is_replica = broker_id in processing.controller.assignment.replicas
        processing.require(is_replica, "{}: broker {} holds no replica", event, str(broker_id))
    processing.require(len({*event.isr}) == len(event.isr), "{}: the ISR names a broker twice", event)
    processing.require(leader in event.isr, "{}: the leader, {}, is always in the ISR", event, leader)
    return tuple(sorted(event.isr))


def broker_fenced(processing: Processing, event: BrokerFenced) -> None:
    """The controller is overruled: this broker does not count as alive."""
    processing.existing(event.broker_id)
    before = processing.controller
    processing.controller = before._replace(fenced=tuple(sorted({*before.fenced, event.broker_id})))
