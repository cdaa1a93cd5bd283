"""Brokers crash, stop, start again, stand still and go on, and the controller notices or not."""

from __future__ import annotations

from kafkalearn.replication.controller.metadata import apply_metadata, record
from kafkalearn.replication.controller.record import changed, fenced, stopping, unfenced
from kafkalearn.replication.events import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRegistered,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    BrokerUnfenced,
    ControlledShutdownStarted,
    HighWatermarkCheckpointed,
    PowerLost,
    SessionExpired,
)
from kafkalearn.replication.leader.waiting import drop_fetches_of
from kafkalearn.replication.processing import Processing
from kafkalearn.replication.replica_log import disk
from kafkalearn.replication.state import CUT_OFF, DOWN, FROZEN, RUNNING, UNKNOWN, Broker, Controller


def high_watermark_checkpointed(processing: Processing, event: HighWatermarkCheckpointed) -> None:
    """The high watermark as it is goes to disk."""
    broker = processing.existing(event.broker_id)
    processing.require(broker.is_running, "{}: the broker is {}", event, broker.status)
    processing.put_log(event.broker_id, disk.checkpointed(processing.log(event.broker_id)))


def broker_crashed(processing: Processing, event: BrokerCrashed) -> None:
    """The process is gone, with everything it had in memory."""
    broker = processing.existing(event.broker_id)
    processing.require(broker.status != DOWN, "{}: the broker is down already", event)
    _end(processing, event.broker_id, is_clean=False)


def _end(processing: Processing, broker_id: int, is_clean: bool) -> None:
    drop_fetches_of(processing, broker_id)
    # The memory is gone: what counts now is what a starting process will find.
    processing.put_log(broker_id, disk.found_again(processing.log(broker_id)))
    processing.put_broker(broker_id, Broker(DOWN, is_clean, leader_epoch=_remembered_epoch(processing, broker_id)))
    processing.stop_leading(broker_id)


def _remembered_epoch(processing: Processing, broker_id: int) -> int:
    """The epoch a broker knew when it went: where restarts can go unnoticed, it shows whether it has led since."""
    return UNKNOWN if processing.settings.rules.notices_restarts else processing.broker(broker_id).leader_epoch


def power_lost(processing: Processing, event: PowerLost) -> None:
    """The process is gone, and the end of its log; the file of its epochs was flushed whenever it was written."""
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    is_flushed = broker.status == DOWN and broker.was_stopped_cleanly
    processing.require(not is_flushed, "{}: the broker was stopped cleanly, all it has is on its disk", event)
    log = processing.log(broker_id)
    processing.put_log(broker_id, disk.truncate(log, event.flushed_to)._replace(epochs=log.epochs))
    _end(processing, broker_id, is_clean=False)


def broker_stopped(processing: Processing, event: BrokerStopped) -> None:
    """Leadership first, then the high watermark to disk, then the end."""
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    processing.require(broker.status == RUNNING, "{}: the broker is {}", event, broker.status)
    without = fenced(processing.settings, processing.controller, broker_id, successor=event.successor)
    _require_successor(processing, without, event.successor)
    record(processing, without)
    processing.put_log(broker_id, disk.checkpointed(processing.log(broker_id)))
    _end(processing, broker_id, is_clean=True)


def controlled_shutdown_started(processing: Processing, event: ControlledShutdownStarted) -> None:
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


def broker_restarted(processing: Processing, event: BrokerRestarted) -> None:
    """The disk is read, the broker registers, learns from the controller who leads, and counts as alive again."""
    broker_id = event.broker_id
    _start(processing, broker_id, event)
    if broker_id in processing.controller.fenced:
        record(processing, unfenced(processing.settings, processing.controller, broker_id))
    apply_metadata(processing, broker_id)


def _start(processing: Processing, broker_id: int, event: BrokerRestarted | BrokerRegistered) -> None:
    broker = processing.existing(broker_id)
    processing.require(broker.status == DOWN, "{}: the broker is {}, not down", event, broker.status)
    log = processing.log(broker_id)
    processing.put_log(broker_id, disk.truncate(log, log.log_end_offset))  # epochs beyond the end that was found
    without = _registered(processing, broker_id, broker, event.successor)
    _require_successor(processing, without, event.successor)
    record(processing, without)
    processing.put_broker(broker_id, Broker(RUNNING))


def broker_registered(processing: Processing, event: BrokerRegistered) -> None:
    """The broker runs and follows, but is fenced: it may neither lead nor be in the ISR until it has caught up.

    References
    ----------
    Apache Kafka 3.3 to 4.3, ``ClusterControlManager.registerBroker``; KIP-631, KIP-841.
    """
    _require_fencing(processing, event)
    _start(processing, event.broker_id, event)
    apply_metadata(processing, event.broker_id)


def broker_unfenced(processing: Processing, event: BrokerUnfenced) -> None:
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


def broker_frozen(processing: Processing, event: BrokerFrozen) -> None:
    """The process stands still; requests to and from it come to nothing."""
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    processing.require(broker.is_running, "{}: the broker is {}", event, broker.status)
    drop_fetches_of(processing, broker_id)
    processing.put_waiting(broker_id, processing.waiting(broker_id)._replace(fetches=()))
    processing.put_broker(broker_id, broker._replace(status=FROZEN))


def broker_thawed(processing: Processing, event: BrokerThawed) -> None:
    """The process goes on, with what it knew."""
    broker = processing.existing(event.broker_id)
    processing.require(broker.status == FROZEN, "{}: the broker is {}, not frozen", event, broker.status)
    processing.put_broker(event.broker_id, broker._replace(status=CUT_OFF))


def broker_reconnected(processing: Processing, event: BrokerReconnected) -> None:
    """It counts as alive, and learns what has been recorded meanwhile."""
    broker_id = event.broker_id
    broker = processing.existing(broker_id)
    processing.require(broker.status == CUT_OFF, "{}: the broker is {}, not cut off", event, broker.status)
    processing.put_broker(broker_id, broker._replace(status=RUNNING))
    if broker_id in processing.controller.fenced:
        record(processing, unfenced(processing.settings, processing.controller, broker_id))
    apply_metadata(processing, broker_id)


def session_expired(processing: Processing, event: SessionExpired) -> None:
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
