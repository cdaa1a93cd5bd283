"""The simulator of a coordinator's life: which event leads to which rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.operations.coordinator_life import loading, orders, requests, timers
from kafkalearn.operations.coordinator_life.events import (
    BrokerBack,
    BrokerLost,
    CoordinatorStarted,
    ElectLeaders,
    Event,
    GroupStored,
    LeaderImbalanceChecked,
    LoadRead,
    OrderCarriedOut,
    Request,
    TimePassed,
    TransactionEnded,
)
from kafkalearn.operations.coordinator_life.settings import Settings
from kafkalearn.operations.coordinator_life.state import Life, start
from kafkalearn.operations.leadership import simulator as leadership
from kafkalearn.phrases import listed, shown
from kafkalearn.trace import Trace, run

_OF_BROKERS = (BrokerLost, BrokerBack, ElectLeaders, LeaderImbalanceChecked, TimePassed)


def simulate(settings: Settings, events: Iterable[Event], initial: Life | None = None) -> Trace[Life, Event]:
    """A run: from `initial`, or from a new partition that its first replica coordinates.

    A broker dies, and another takes its groups over:

    >>> events = [Request(1, "OffsetCommit", offset=7), BrokerLost(1), OrderCarriedOut(2, 1), LoadRead(2)]
    >>> trace = simulate(Settings(), [*events, Request(2, "OffsetFetch")])
    >>> [frame.state.coordinator(2).status for frame in trace[2:5]], trace[-1].state.effects[0].value
    (['not owned', 'loading', 'owned'], 7)
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def step(settings: Settings, life: Life, event: Event) -> Life:
    """The life after `event`; its ``effects`` say what was ordered, loaded, ignored, answered.

    Raises
    ------
    IllegalEvent
        If it makes no sense: there is no such broker or order, no load is under way.

    Examples
    --------
    >>> settings = Settings("2.8.0")  # the order to resign comes after the one to take over again
    >>> moved = simulate(settings, [BrokerLost(1), BrokerBack(1), CoordinatorStarted(1)])[-1].state
    >>> [moved.leader, moved.partition.leader_epoch, moved.coordinator(2).orders]
    [2, 1, (Order(kind='election', epoch=1),)]

    References
    ----------
    Apache Kafka, ``GroupCoordinator`` with ``GroupMetadataManager`` (0.9.0 to 3.9; KAFKA-10614 in 2.8.1),
    ``GroupCoordinatorService`` with ``CoordinatorRuntime`` and ``CoordinatorLoaderImpl`` (the only one since 4.0).
    """
    _require_broker(settings, event)
    life = replace(life, effects=())
    match event:
        case BrokerLost() | BrokerBack() | ElectLeaders() | LeaderImbalanceChecked() | TimePassed():
            cluster = leadership.step(settings.leadership, life.cluster, event)
            life = orders.follow(settings, life, cluster)
            return timers.run_timers(settings, life) if isinstance(event, TimePassed) else life
        case CoordinatorStarted():
            return _started(settings, life, event)
        case OrderCarriedOut():
            return orders.carry_out(settings, life, event)
        case LoadRead():
            return loading.read(settings, life, event)
        case Request():
            return requests.ask(settings, life, event)
        case GroupStored():
            return requests.store_group(settings, life, event)
        case TransactionEnded():
            return requests.end_transaction(settings, life, event)
    raise no_event(
        event, (*_OF_BROKERS, CoordinatorStarted, OrderCarriedOut, LoadRead, Request, GroupStored, TransactionEnded)
    )


def _require_broker(settings: Settings, event: object) -> None:
    broker_id = getattr(event, "broker_id", None)
    if broker_id is not None and broker_id not in settings.broker_ids:
        raise IllegalEvent(f"{shown(event)}: there is no broker {broker_id}; there are {listed(settings.broker_ids)}")


def _started(settings: Settings, life: Life, event: CoordinatorStarted) -> Life:
    coordinator = life.coordinator(event.broker_id)
    if not life.is_up(event.broker_id) or coordinator.is_active:
        is_now = "has started already" if coordinator.is_active else "is down; BrokerBack comes first"
        raise IllegalEvent(f"{shown(event)}: broker {event.broker_id} {is_now}")
    sweep_ms = life.now_ms if settings.has_one_thread else None
    life = life.with_coordinator(coordinator._replace(is_active=True, next_sweep_ms=sweep_ms))
    return timers.run_timers(settings, life)
