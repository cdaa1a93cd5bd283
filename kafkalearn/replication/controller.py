"""The controller's side: leader elections, controlled shutdown, reassignments, and how brokers learn of a change.

Every broker that is running learns of a change at once. One that stands still, or has not reconnected, goes on with
what it knew: so there can be two leaders. What changes the record: scripts that overrule the controller, elections that
are asked for, ISRs that leaders propose, brokers that come and go, and reassignments.
"""

from __future__ import annotations

from kafkalearn.releases.lines import at_least
from kafkalearn.replication import events, replica_log
from kafkalearn.replication.events import AlterPartitionReassignments
from kafkalearn.replication.leader import (
    answer_produce,
    commit,
    controllers_answer,
    drop_fetches_of,
    raise_high_watermark,
    seen,
)
from kafkalearn.replication.processing import Processing
from kafkalearn.replication.record import changed, fenced, stopping, unfenced
from kafkalearn.replication.settings import Assignment, reverted
from kafkalearn.replication.state import (
    CUT_OFF,
    DOWN,
    FROZEN,
    RUNNING,
    UNKNOWN,
    Broker,
    Controller,
    Leadership,
    Log,
    Proposal,
    Remote,
    assign,
)

# How the controller's record reaches the brokers, and what becoming leader or follower does to a replica.


def record(processing: Processing, controller: Controller, joining: tuple[int, ...] = ()) -> None:
    """The controller has recorded a change, and the brokers that it concerns learn of it, if they can.

    `joining` are brokers that were not in the ISR before and have all that is committed.
    """
    before = processing.controller
    if controller != before:
        processing.controller = controller
    if controller.assignment != before.assignment:
        processing.emit(events.AssignmentChanged(*controller.assignment))
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
        processing.emit(events.LeaderChanged(after.leader, after.leader_epoch, is_clean))


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
    processing.emit(events.ReplicaDeleted(broker_id))


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
        _known_anew(processing.now_ms, known[other - 1], other in controller.isr, log.log_end_offset)
        if other != broker_id and other in controller.assignment.replicas
        else None
        for other in processing.settings.broker_ids
    )
    processing.put_leading(broker_id, Leadership(log.log_end_offset, controller.isr, controller.partition_epoch))
    processing.put_remotes(broker_id, remotes)
    processing.put_waiting(broker_id, processing.waiting(broker_id)._replace(fetches=()))
    rules = processing.settings.rules
    if rules.has_leader_epochs and rules.notes_epochs_at_elections:
        log = log._replace(epochs=assign(log.epochs, controller.leader_epoch, log.log_end_offset))
        processing.put_log(broker_id, log)
    recorded = {"leader": broker_id, "leader_epoch": controller.leader_epoch, "is_truncating": False}
    processing.put_broker(broker_id, broker._replace(**recorded))
    earlier_term = processing.visible._replace(leader_epoch=UNKNOWN)
    processing.visible = seen(earlier_term, log, controller.leader_epoch)


def _known_replicas(processing: Processing, leader_id: int) -> set[int]:
    followers = {other for other, known in enumerate(processing.remote_ends(leader_id), start=1) if known is not None}
    return {leader_id, *followers}


def _remotes_of(processing: Processing, leader_id: int) -> tuple[Remote | None, ...]:
    """What a leader knows of its followers after replicas were added: nothing yet of the new ones."""
    followers = {*processing.controller.assignment.replicas} - {leader_id}
    known = enumerate(processing.remotes(leader_id), start=1)
    return tuple((remote or Remote()) if other in followers else None for other, remote in known)


def _known_anew(now_ms: int, known: Remote | None, is_in_isr: bool, leader_end: int) -> Remote:
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
    cut = replica_log.truncate(log, log.high_watermark)
    processing.emit(events.LogTruncated(broker_id, log.log_end_offset, cut.log_end_offset))
    processing.put_log(broker_id, cut)


# Scripts that overrule the controller.


def leader_elected(processing: Processing, event: events.LeaderElected) -> None:
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


def isr_set(processing: Processing, event: events.IsrSet) -> None:
    """The controller is overruled: this ISR."""
    before = processing.controller
    isr = _given_isr(processing, event, before.leader)
    record(processing, before._replace(isr=isr, partition_epoch=before.partition_epoch + 1))


def _given_isr(
    processing: Processing, event: events.LeaderElected | events.IsrSet, leader: int | None
) -> tuple[int, ...]:
    """The ISR that a script decides on: brokers that exist, each once, the leader among them."""
    for broker_id in event.isr:
        processing.existing(broker_id)
        is_replica = broker_id in processing.controller.assignment.replicas
        processing.require(is_replica, "{}: broker {} holds no replica", event, str(broker_id))
    processing.require(len({*event.isr}) == len(event.isr), "{}: the ISR names a broker twice", event)
    processing.require(leader in event.isr, "{}: the leader, {}, is always in the ISR", event, leader)
    return tuple(sorted(event.isr))


def broker_fenced(processing: Processing, event: events.BrokerFenced) -> None:
    """The controller is overruled: this broker does not count as alive."""
    processing.existing(event.broker_id)
    before = processing.controller
    processing.controller = before._replace(fenced=tuple(sorted({*before.fenced, event.broker_id})))


# Elections that nobody died for: leadership is given back to the *preferred* leader, the first of the assignment. After
# a failure another one leads, and goes on to lead when the preferred one is back: this piles up leaders on few brokers.

NOT_ELECTED = {
    events.PREFERRED_ELECTION: "PREFERRED_LEADER_NOT_AVAILABLE",
    events.UNCLEAN_ELECTION: "ELIGIBLE_LEADERS_NOT_AVAILABLE",
}


def leader_imbalance_checked(processing: Processing, event: events.LeaderImbalanceChecked) -> None:
    """The controller's own round, every 300 s: the preferred replica leads again if it is in sync.

    The share of such partitions that a broker may have (``leader.imbalance.per.broker.percentage``, up to 3.9) is
    always exceeded by a cluster of one partition; `kafkalearn.operations.leadership` has many.

    References
    ----------
    Apache Kafka 3.2 to 4.3, ``ReplicationControlManager.maybeBalancePartitionLeaders``; before,
    ``KafkaController.checkAndTriggerAutoLeaderRebalance``.
    """
    if not _leads_as_wanted(processing, event.successor):
        _elect(processing, events.PREFERRED_ELECTION, event.successor)


def elect_leaders(processing: Processing, event: events.ElectLeaders) -> None:
    """An administrator asks for an election; the answer says whether there was one.

    References
    ----------
    Apache Kafka 3.0 to 4.3, ``ReplicationControlManager.electLeader``; KIP-460.
    """
    if event.election_type == events.PREFERRED_ELECTION:
        is_needed = not _leads_as_wanted(processing, event.successor)
    else:
        is_needed = processing.leader_id is None
    error = "ELECTION_NOT_NEEDED"
    if is_needed:
        is_elected = _elect(processing, event.election_type, event.successor)
        error = events.NONE if is_elected else NOT_ELECTED[event.election_type]
    processing.emit(events.ElectionAnswered(error))


def _leads_as_wanted(processing: Processing, successor: int | None) -> bool:
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


# An ISR that a leader has proposed; it may end a reassignment, and make another lead.


def alter_partition_answered(processing: Processing, event: events.AlterPartitionAnswered) -> None:
    """The answer to a proposal reaches the leader."""
    leader_id = processing.acting_leader(event.broker_id)
    if leader_id is None:
        processing.refuse("{}: there is no leader that could have proposed an ISR", event)
    leading = processing.leadership(leader_id)
    proposal = leading.proposal
    if proposal is None or proposal.is_refused:
        processing.refuse("{}: broker {} waits for no answer about its ISR", event, leader_id)
    error = event.error or controllers_answer(processing, leader_id, proposal.isr)
    if error == events.NONE:
        _record_proposal(processing, leader_id, proposal, event.successor)
    elif error in events.STAY_PENDING:
        _wait_for_metadata(processing, leader_id, proposal)
    elif error in events.BACK_TO_COMMITTED:
        processing.put_leading(leader_id, leading._replace(proposal=None))
    else:
        processing.emit(events.AlterPartitionSent(proposal.isr))


def _record_proposal(processing: Processing, leader_id: int, proposal: Proposal, successor: int | None) -> None:
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


# Brokers crash, stop, start again, stand still and go on, and the controller notices or not.


def high_watermark_checkpointed(processing: Processing, event: events.HighWatermarkCheckpointed) -> None:
    """The high watermark as it is goes to disk."""
    broker = processing.existing(event.broker_id)
    processing.require(broker.is_running, "{}: the broker is {}", event, broker.status)
    processing.put_log(event.broker_id, replica_log.checkpointed(processing.log(event.broker_id)))


def broker_crashed(processing: Processing, event: events.BrokerCrashed) -> None:
    """The process is gone, with everything it had in memory."""
    broker = processing.existing(event.broker_id)
    processing.require(broker.status != DOWN, "{}: the broker is down already", event)
    _end_process(processing, event.broker_id, is_clean=False)


def _end_process(processing: Processing, broker_id: int, is_clean: bool) -> None:
    drop_fetches_of(processing, broker_id)
    # The memory is gone: what counts now is what a starting process will find.
    processing.put_log(broker_id, replica_log.found_again(processing.log(broker_id)))
    processing.put_broker(broker_id, Broker(DOWN, is_clean, leader_epoch=_remembered_epoch(processing, broker_id)))
    processing.stop_leading(broker_id)


def _remembered_epoch(processing: Processing, broker_id: int) -> int:
    """The epoch a broker knew when it went: where restarts can go unnoticed, it shows whether it has led since."""
    return UNKNOWN if processing.settings.rules.notices_restarts else processing.broker(broker_id).leader_epoch


def power_lost(processing: Processing, event: events.PowerLost) -> None:
    """The process is gone, and the end of its log; the file of its epochs was flushed whenever it was written."""
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    is_flushed = broker.status == DOWN and broker.was_stopped_cleanly
    processing.require(not is_flushed, "{}: the broker was stopped cleanly, all it has is on its disk", event)
    log = processing.log(broker_id)
    processing.put_log(broker_id, replica_log.truncate(log, event.flushed_to)._replace(epochs=log.epochs))
    _end_process(processing, broker_id, is_clean=False)


def broker_stopped(processing: Processing, event: events.BrokerStopped) -> None:
    """Leadership first, then the high watermark to disk, then the end."""
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    processing.require(broker.status == RUNNING, "{}: the broker is {}", event, broker.status)
    without = fenced(processing.settings, processing.controller, broker_id, successor=event.successor)
    _require_successor(processing, without, event.successor)
    record(processing, without)
    processing.put_log(broker_id, replica_log.checkpointed(processing.log(broker_id)))
    _end_process(processing, broker_id, is_clean=True)


def controlled_shutdown_started(processing: Processing, event: events.ControlledShutdownStarted) -> None:
    """The controller takes leadership and ISR membership away; the broker goes on to run, and to fetch."""
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    _require_fencing(processing, event)
    processing.require(broker.status == RUNNING, "{}: the broker is {}", event, broker.status)
    processing.require(
        processing.controller.is_active(broker_id), "{}: the broker is fenced or about to stop already", event
    )
    without = stopping(processing.settings, processing.controller, broker_id, event.successor)
    _require_successor(processing, without, event.successor)
    record(processing, without)


def _require_fencing(processing: Processing, event: object) -> None:
    knows_it = processing.settings.rules.joins_only_eligible
    processing.require(knows_it, "{}: brokers are fenced like this since 3.3 (KIP-841)", event)


def broker_restarted(processing: Processing, event: events.BrokerStarted) -> None:
    """The disk is read, the broker registers, learns from the controller who leads, and counts as alive again."""
    broker_id = event.broker_id
    _start_process(processing, broker_id, event)
    if broker_id in processing.controller.fenced:
        record(processing, unfenced(processing.settings, processing.controller, broker_id))
    apply_metadata(processing, broker_id)


def _start_process(
    processing: Processing, broker_id: int, event: events.BrokerStarted | events.BrokerRegistered
) -> None:
    broker = processing.existing(broker_id)
    processing.require(broker.status == DOWN, "{}: the broker is {}, not down", event, broker.status)
    log = processing.log(broker_id)
    processing.put_log(broker_id, replica_log.truncate(log, log.log_end_offset))  # epochs beyond the end that was found
    without = _registered(processing, broker_id, broker, event.successor)
    _require_successor(processing, without, event.successor)
    record(processing, without)
    processing.put_broker(broker_id, Broker(RUNNING))


def broker_registered(processing: Processing, event: events.BrokerRegistered) -> None:
    """The broker runs and follows, but is fenced: it may neither lead nor be in the ISR until it has caught up.

    References
    ----------
    Apache Kafka 3.3 to 4.3, ``ClusterControlManager.registerBroker``; KIP-631, KIP-841.
    """
    _require_fencing(processing, event)
    _start_process(processing, event.broker_id, event)
    apply_metadata(processing, event.broker_id)


def broker_unfenced(processing: Processing, event: events.BrokerUnfenced) -> None:
    """The broker has caught up with the metadata: it counts as alive, and leads where nobody else could.

    References
    ----------
    Apache Kafka 3.3 to 4.3, ``BrokerHeartbeatManager.calculateNextBrokerState``,
    ``ReplicationControlManager.handleBrokerUnfenced``.
    """
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    _require_fencing(processing, event)
    processing.require(broker.status == RUNNING, "{}: the broker is {}", event, broker.status)
    processing.require(broker_id in processing.controller.fenced, "{}: the broker is not fenced", event)
    record(processing, unfenced(processing.settings, processing.controller, broker_id))
    apply_metadata(processing, broker_id)


def _registered(processing: Processing, broker_id: int, broker: Broker, successor: int | None) -> Controller:
    """The record once the controller knows that a broker was gone, and how.

    It leaves the ISR even if it was not missed (up to 2.1: only if it led, as then it has to learn it anew); after
    an unclean stop it is no longer eligible either.
    """
    settings, controller, is_unclean = processing.settings, processing.controller, not broker.was_stopped_cleanly
    has_led = controller.leader == broker_id and controller.leader_epoch == broker.leader_epoch
    if broker_id not in controller.fenced and (settings.rules.notices_restarts or has_led):
        return fenced(settings, controller, broker_id, is_unclean, successor)
    if broker_id in controller.fenced and is_unclean:
        return changed(settings, controller, tuple(each for each in controller.isr if each != broker_id), broker_id)
    return controller


def broker_frozen(processing: Processing, event: events.BrokerFrozen) -> None:
    """The process stands still; requests to and from it come to nothing."""
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    processing.require(broker.is_running, "{}: the broker is {}", event, broker.status)
    drop_fetches_of(processing, broker_id)
    processing.put_waiting(broker_id, processing.waiting(broker_id)._replace(fetches=()))
    processing.put_broker(broker_id, broker._replace(status=FROZEN))


def broker_thawed(processing: Processing, event: events.BrokerThawed) -> None:
    """The process goes on, with what it knew."""
    broker = processing.existing(event.broker_id)
    processing.require(broker.status == FROZEN, "{}: the broker is {}, not frozen", event, broker.status)
    processing.put_broker(event.broker_id, broker._replace(status=CUT_OFF))


def broker_reconnected(processing: Processing, event: events.BrokerReconnected) -> None:
    """It counts as alive, and learns what has been recorded meanwhile."""
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    processing.require(broker.status == CUT_OFF, "{}: the broker is {}, not cut off", event, broker.status)
    processing.put_broker(broker_id, broker._replace(status=RUNNING))
    if broker_id in processing.controller.fenced:
        record(processing, unfenced(processing.settings, processing.controller, broker_id))
    apply_metadata(processing, broker_id)


def session_expired(processing: Processing, event: events.SessionExpired) -> None:
    """The controller no longer counts a broker as alive."""
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    processing.require(broker.status != RUNNING, "{}: the broker is running, its heartbeats arrive", event)
    processing.require(
        broker_id not in processing.controller.fenced, "{}: the broker does not count as alive already", event
    )
    without = fenced(processing.settings, processing.controller, broker_id, successor=event.successor)
    _require_successor(processing, without, event.successor)
    record(processing, without)


def _require_successor(processing: Processing, controller: Controller, successor: int | None) -> None:
    if successor is not None:
        is_new = controller.leader == successor and processing.controller.leader != successor
        processing.require(is_new, "broker {} cannot take over; leader will be {}", successor, controller.leader)


# Reassignment (KIP-455): replicas are added first and removed last, so that what is safe stays safe in between.
# The controller writes down all replicas, old and new, and which of them are *adding* and *removing*. New ones copy the
# log as any follower does. When they are in sync the controller takes the old ones away, in the same record as the ISR.
# Nothing else changes: a leader that is not removed goes on to lead.

REASSIGNS_SINCE = "3.3"


def alter_partition_reassignments(processing: Processing, event: AlterPartitionReassignments) -> None:
    """An administrator asks for other replicas, or takes that back; the answer comes at once, the replicas later.

    References
    ----------
    Apache Kafka 3.3 to 4.3, ``ReplicationControlManager.alterPartitionReassignment``; KIP-455, KIP-860.
    """
    release = processing.settings.release
    processing.require(
        at_least(REASSIGNS_SINCE, release),
        "{}: the rules here are those of the KRaft controller; take a release from {} on, not {}",
        event, REASSIGNS_SINCE, str(release),
    )  # fmt: skip
    error = _cancel(processing, event) if event.replicas is None else _reassign(processing, event)
    processing.effects.insert(0, events.ReassignmentAnswered(error))


def _reassign(processing: Processing, event: AlterPartitionReassignments) -> str:
    before, target = processing.controller, event.replicas
    if not target or len(set(target)) < len(target) or not set(target) <= set(processing.settings.broker_ids):
        return "INVALID_REPLICA_ASSIGNMENT"
    if not event.may_change_factor and len(target) != len(before.assignment.target):
        return "INVALID_REPLICATION_FACTOR"
    assignment = before.assignment.toward(target)
    moving = changed(processing.settings, before, before.isr, successor=event.successor, assignment=assignment)
    record(processing, moving)
    return events.NONE


def _cancel(processing: Processing, event: AlterPartitionReassignments) -> str:
    before = processing.controller
    if not before.assignment.is_changing:
        return "NO_REASSIGNMENT_IN_PROGRESS"
    assignment, isr, is_clean = reverted(before.assignment, before.isr)
    if not is_clean and not processing.settings.is_unclean_election_enabled:
        return "INVALID_REPLICA_ASSIGNMENT"
    back = Assignment(assignment.replicas)
    record(processing, changed(processing.settings, before, isr, successor=event.successor, assignment=back))
    return events.NONE
