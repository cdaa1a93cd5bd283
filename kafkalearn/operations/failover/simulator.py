"""The simulator of a failover: what the cluster does in a second, then what each client does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.operations.coordinator_life.events import (
    BrokerBack,
    BrokerLost,
    CoordinatorStarted,
    LoadRead,
    OrderCarriedOut,
    TimePassed,
)
from kafkalearn.operations.coordinator_life.events import Event as LifeEvent
from kafkalearn.operations.coordinator_life.simulator import step as step_life
from kafkalearn.operations.failover.clients import act
from kafkalearn.operations.failover.events import BrokerDied, BrokerStarted, BrokerStopped, Event, SecondPassed
from kafkalearn.operations.failover.settings import S_MS, Settings
from kafkalearn.operations.failover.state import Failover, start
from kafkalearn.phrases import listed, shown
from kafkalearn.trace import Trace, run


def simulate(settings: Settings, events: Iterable[Event], initial: Failover | None = None) -> Trace[Failover, Event]:
    """A run: from `initial`, or from a cluster at work.

    >>> from kafkalearn.operations.failover.state import COMMITTER
    >>> trace = simulate(Settings(), [BrokerDied(1), *[SecondPassed()] * 15])
    >>> for frame in trace[2:]:
    ...     for each in frame.state.effects:
    ...         if getattr(each, "client", None) == COMMITTER:
    ...             print(frame.state.second, each.broker_id, each.api, each.error)
    1 1 OffsetCommit no connection
    2 2 FindCoordinator NONE
    2 1 OffsetCommit no connection
    3 2 FindCoordinator NONE
    3 1 OffsetCommit no connection
    4 2 FindCoordinator NONE
    4 1 OffsetCommit no connection
    5 2 FindCoordinator NONE
    5 1 OffsetCommit no connection
    6 2 FindCoordinator NONE
    6 1 OffsetCommit no connection
    7 2 FindCoordinator NONE
    7 1 OffsetCommit no connection
    8 2 FindCoordinator NONE
    8 1 OffsetCommit no connection
    9 2 FindCoordinator NONE
    9 2 OffsetCommit COORDINATOR_LOAD_IN_PROGRESS
    10 2 OffsetCommit COORDINATOR_LOAD_IN_PROGRESS
    11 2 OffsetCommit COORDINATOR_LOAD_IN_PROGRESS
    12 2 OffsetCommit COORDINATOR_LOAD_IN_PROGRESS
    13 2 OffsetCommit NONE
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def step(settings: Settings, state: Failover, event: Event) -> Failover:
    """The state after `event`; its ``effects`` are what the cluster did and what each client heard, in order.

    Raises
    ------
    IllegalEvent
        If there is no such broker, or it is down already, or up.

    References
    ----------
    Apache Kafka, ``AbstractCoordinator``, ``CoordinatorRequestManager`` for clients; `coordinator_life` for brokers.
    """
    _require(settings, state, event)
    state = replace(state, effects=())
    match event:
        case BrokerDied(broker_id):
            return replace(state, dead=(*state.dead, (broker_id, state.second + settings.notice_s)))
        case BrokerStopped(broker_id):
            return _follow(settings, _lived(settings, state, BrokerLost(broker_id)))
        case BrokerStarted(broker_id):
            return _follow(settings, _started(settings, state, broker_id))
        case SecondPassed():
            return _second_passed(settings, state)
    raise no_event(event, (BrokerDied, BrokerStopped, BrokerStarted, SecondPassed))


def _require(settings: Settings, state: Failover, event: object) -> None:
    broker_id = getattr(event, "broker_id", None)
    if broker_id is None:
        return
    if broker_id not in settings.broker_ids:
        raise IllegalEvent(f"{shown(event)}: there is no broker {broker_id}; there are {listed(settings.broker_ids)}")
    if state.is_up(broker_id) == isinstance(event, BrokerStarted):
        raise IllegalEvent(
            f"{shown(event)}: broker {broker_id} is {'up' if state.is_up(broker_id) else 'down'} already"
        )


def _lived(settings: Settings, state: Failover, event: LifeEvent) -> Failover:
    return state.with_life(step_life(settings.life, state.life, event))


def _started(settings: Settings, state: Failover, broker_id: int) -> Failover:
    """A broker that returns before anybody noticed is noticed then: it registers anew."""
    if state.life.is_up(broker_id):
        state = _lived(settings, state, BrokerLost(broker_id))
    state = replace(state, dead=tuple(each for each in state.dead if each[0] != broker_id))
    return _lived(settings, _lived(settings, state, BrokerBack(broker_id)), CoordinatorStarted(broker_id))


def _second_passed(settings: Settings, state: Failover) -> Failover:
    state = _lived(settings, replace(state, second=state.second + 1), TimePassed(S_MS))
    for broker_id, noticed_s in state.dead:
        if noticed_s <= state.second:
            state = replace(state, dead=tuple(each for each in state.dead if each[0] != broker_id))
            state = _lived(settings, state, BrokerLost(broker_id))
    state = _follow(settings, state)
    for client in state.clients:
        state = act(settings, state, client.name)
    return state


def _follow(settings: Settings, state: Failover) -> Failover:
    """Brokers do what they were ordered at once; only the load takes its time."""
    for each in state.life.coordinators:
        for order in each.orders:
            coordinator = state.life.coordinator(each.broker_id)
            if state.is_up(each.broker_id) and not (coordinator.is_reading and settings.life.has_one_thread):
                state = _lived(settings, state, OrderCarriedOut(each.broker_id, order.epoch))
                if state.life.coordinator(each.broker_id).is_reading:
                    state = replace(state, load_ends_s=state.second + settings.load_s)
    if state.load_ends_s is None or state.second < state.load_ends_s:
        return state
    state = replace(state, load_ends_s=None)
    for each in state.life.coordinators:
        if each.is_reading and state.is_up(each.broker_id):
            state = _lived(settings, state, LoadRead(each.broker_id))
    return state
