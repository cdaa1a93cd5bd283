"""How brokers fare: they crash, stop, start again, stand still and go on, and the controller notices or not."""

from __future__ import annotations

from kafkalearn.replication.controller.metadata import hear, record
from kafkalearn.replication.controller.record import changed, fenced, unfenced
from kafkalearn.replication.events import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    HighWatermarkCheckpointed,
    PowerLost,
    SessionExpired,
)
from kafkalearn.replication.leader.waiting import drop_fetches_of
from kafkalearn.replication.processing import Work
from kafkalearn.replication.replica_log import disk
from kafkalearn.replication.state import CUT_OFF, DOWN, FROZEN, RUNNING, UNKNOWN, Broker, Controller


def high_watermark_checkpointed(work: Work, event: HighWatermarkCheckpointed) -> None:
    """The high watermark as it is goes to disk."""
    broker = work.existing(event.broker_id)
    work.require(broker.is_running, "{}: the broker is {}", event, broker.status)
    work.put_log(event.broker_id, disk.checkpointed(work.log(event.broker_id)))


def broker_crashed(work: Work, event: BrokerCrashed) -> None:
    """The process is gone, with everything it had in memory."""
    broker = work.existing(event.broker_id)
    work.require(broker.status != DOWN, "{}: the broker is down already", event)
    _end(work, event.broker_id, is_clean=False)


def _end(work: Work, broker_id: int, is_clean: bool) -> None:
    drop_fetches_of(work, broker_id)
    # The memory is gone: what counts now is what a starting process will find.
    work.put_log(broker_id, disk.found_again(work.log(broker_id)))
    work.put_broker(broker_id, Broker(DOWN, is_clean, leader_epoch=_remembered_epoch(work, broker_id)))
    work.stand_down(broker_id)


def _remembered_epoch(work: Work, broker_id: int) -> int:
    """The epoch a broker knew when it went: where restarts can go unnoticed, it tells whether it has led since."""
    return UNKNOWN if work.settings.rules.notices_restarts else work.broker(broker_id).leader_epoch


def power_lost(work: Work, event: PowerLost) -> None:
    """The process is gone, and the end of its log."""
    broker_id = event.broker_id
    broker = work.existing(broker_id)
    is_flushed = broker.status == DOWN and broker.was_stopped_cleanly
    work.require(not is_flushed, "{}: the broker was stopped cleanly, all it has is on its disk", event)
    work.put_log(broker_id, disk.truncate(work.log(broker_id), event.flushed_to))
    _end(work, broker_id, is_clean=False)


def broker_stopped(work: Work, event: BrokerStopped) -> None:
    """Leadership first, then the high watermark to disk, then the end."""
    broker_id = event.broker_id
    broker = work.existing(broker_id)
    work.require(broker.status == RUNNING, "{}: the broker is {}", event, broker.status)
    without = fenced(work.settings, work.controller, broker_id, successor=event.successor)
    _require_successor(work, without, event.successor)
    record(work, without)
    work.put_log(broker_id, disk.checkpointed(work.log(broker_id)))
    _end(work, broker_id, is_clean=True)


def broker_restarted(work: Work, event: BrokerRestarted) -> None:
    """The disk is read, the broker registers, the controller tells it who leads."""
    broker_id = event.broker_id
    broker = work.existing(broker_id)
    work.require(broker.status == DOWN, "{}: the broker is {}, not down", event, broker.status)
    without = _registered(work, broker_id, broker, event.successor)
    _require_successor(work, without, event.successor)
    record(work, without)
    work.put_broker(broker_id, Broker(RUNNING))
    if broker_id in without.fenced:
        record(work, unfenced(work.settings, without, broker_id))
    hear(work, broker_id)


def _registered(work: Work, broker_id: int, broker: Broker, successor: int | None) -> Controller:
    """The record once the controller knows that a broker was gone, and how.

    It leaves the ISR even if it was not missed (up to 2.1: only if it led, as then it has to be told so anew); after
    an unclean stop it is no longer eligible either.
    """
    settings, controller, is_unclean = work.settings, work.controller, not broker.was_stopped_cleanly
    has_led = controller.leader == broker_id and controller.leader_epoch == broker.leader_epoch
    if broker_id not in controller.fenced and (settings.rules.notices_restarts or has_led):
        return fenced(settings, controller, broker_id, is_unclean, successor)
    if broker_id in controller.fenced and is_unclean:
        return changed(settings, controller, tuple(each for each in controller.isr if each != broker_id), broker_id)
    return controller


def broker_frozen(work: Work, event: BrokerFrozen) -> None:
    """The process stands still; requests to and from it come to nothing."""
    broker_id = event.broker_id
    broker = work.existing(broker_id)
    work.require(broker.is_running, "{}: the broker is {}", event, broker.status)
    drop_fetches_of(work, broker_id)
    work.put_waiting(broker_id, work.waiting(broker_id)._replace(fetches=()))
    work.put_broker(broker_id, broker._replace(status=FROZEN))


def broker_thawed(work: Work, event: BrokerThawed) -> None:
    """The process goes on, with what it knew."""
    broker = work.existing(event.broker_id)
    work.require(broker.status == FROZEN, "{}: the broker is {}, not frozen", event, broker.status)
    work.put_broker(event.broker_id, broker._replace(status=CUT_OFF))


def broker_reconnected(work: Work, event: BrokerReconnected) -> None:
    """It counts as alive, and hears what has been recorded meanwhile."""
    broker_id = event.broker_id
    broker = work.existing(broker_id)
    work.require(broker.status == CUT_OFF, "{}: the broker is {}, not cut off", event, broker.status)
    work.put_broker(broker_id, broker._replace(status=RUNNING))
    if broker_id in work.controller.fenced:
        record(work, unfenced(work.settings, work.controller, broker_id))
    hear(work, broker_id)


def session_expired(work: Work, event: SessionExpired) -> None:
    """The controller gives a broker up."""
    broker_id = event.broker_id
    broker = work.existing(broker_id)
    work.require(broker.status != RUNNING, "{}: the broker is running, its heartbeats arrive", event)
    work.require(broker_id not in work.controller.fenced, "{}: the broker does not count as alive already", event)
    without = fenced(work.settings, work.controller, broker_id, successor=event.successor)
    _require_successor(work, without, event.successor)
    record(work, without)


def _require_successor(work: Work, controller: Controller, successor: int | None) -> None:
    if successor is not None:
        is_new = controller.leader == successor and work.controller.leader != successor
        work.require(is_new, "broker {} cannot take over; leader will be {}", successor, controller.leader)
