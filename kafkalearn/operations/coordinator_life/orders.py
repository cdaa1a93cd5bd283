"""Elections and resignations: how they come to a broker, and what it makes of an order that comes late."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.operations.coordinator_life.effects import LoadBegun, OrderIgnored, OrderIssued, Resigned
from kafkalearn.operations.coordinator_life.events import OrderCarriedOut
from kafkalearn.operations.coordinator_life.settings import BY_EPOCH, BY_RUNTIME, ON_ARRIVAL, Settings
from kafkalearn.operations.coordinator_life.state import ELECTION, NEVER, RESIGNATION, Coordinator, Life, Order
from kafkalearn.operations.leadership.state import Cluster
from kafkalearn.phrases import listed, shown

OLDER, LOADING_ALREADY, ACTIVE_ALREADY, NEVER_LOADED = (
    "its epoch is not newer", "a load is under way", "the coordinator is active already", "it was never loaded",
)  # fmt: skip


def follow(settings: Settings, life: Life, cluster: Cluster) -> Life:
    """The life after the controller has changed something: who was lost has forgotten all, the others get orders."""
    before, after = life.leader, cluster.partitions[0]
    life = replace(life, cluster=cluster, effects=(*life.effects, *cluster.effects))
    for each in life.coordinators:
        if not life.is_up(each.broker_id):
            life = life.with_coordinator(Coordinator(each.broker_id, is_active=False))
    if after.leader == before:
        return life
    if before is not None and life.is_up(before):
        life = _issue(settings, life, before, Order(RESIGNATION, after.leader_epoch))
    if after.leader is not None:
        life = _issue(settings, life, after.leader, Order(ELECTION, after.leader_epoch))
    return life


def _issue(settings: Settings, life: Life, broker_id: int, order: Order) -> Life:
    """From 2.0 to 2.8.0 the partition counts as loading from the moment that the order has come."""
    coordinator = life.coordinator(broker_id)
    life = life.with_effects(OrderIssued(broker_id, *order))
    if settings.order_rule == ON_ARRIVAL and order.kind == ELECTION:
        if coordinator.is_loading:
            return life.with_effects(OrderIgnored(broker_id, *order, LOADING_ALREADY))
        coordinator = coordinator._replace(is_loading=True)
    return life.with_coordinator(coordinator._replace(orders=(*coordinator.orders, order)))


def carry_out(settings: Settings, life: Life, event: OrderCarriedOut) -> Life:
    """The life after a broker has carried out one of its orders.

    Up to 2.8.0 every order counts, whenever it comes. From 2.8.1 to 3.9 one of an older epoch is ignored, since 4.0
    one of the same epoch, too; there a resignation ends even a load that is under way.
    """
    coordinator = life.coordinator(event.broker_id)
    order = next((each for each in coordinator.orders if each.epoch == event.epoch), None)
    if order is None:
        waiting = listed(each.epoch for each in coordinator.orders)
        raise IllegalEvent(f"{shown(event)}: orders that wait on broker {event.broker_id} have the epochs: {waiting}")
    if order != coordinator.orders[0] and not settings.orders_may_overtake:
        raise IllegalEvent(
            f"{shown(event)}: orders of {settings.release} come from one thread, that of epoch "
            f"{coordinator.orders[0].epoch} is before it; Settings(orders_may_overtake=True) shows what would happen"
        )
    if coordinator.is_reading and settings.has_one_thread:
        raise IllegalEvent(
            f"{shown(event)}: the one thread of broker {event.broker_id} is busy with a load; LoadRead comes first"
        )
    left = tuple(each for each in coordinator.orders if each != order)
    life = life.with_coordinator(coordinator._replace(orders=left))
    reason = _refused(settings, life.coordinator(event.broker_id), order)
    if reason is not None:
        return _ignored(settings, life, event.broker_id, order, reason)
    return (_elected if order.kind == ELECTION else _resigned)(settings, life, event.broker_id, order)


def _refused(settings: Settings, coordinator: Coordinator, order: Order) -> str | None:
    """Why an order comes to nothing; None: it counts."""
    rule, known = settings.order_rule, coordinator.known_epoch
    if rule == BY_EPOCH and order.epoch < known:
        return OLDER
    if rule == BY_RUNTIME:
        if order.kind == RESIGNATION and known == NEVER:
            return NEVER_LOADED
        if order.epoch <= known:
            return OLDER
        if order.kind == ELECTION and (coordinator.is_owned or coordinator.is_loading):
            return ACTIVE_ALREADY if coordinator.is_owned else LOADING_ALREADY
    return None


def _ignored(settings: Settings, life: Life, broker_id: int, order: Order, reason: str) -> Life:
    """A newer epoch is remembered, though the order changes nothing else."""
    coordinator = life.coordinator(broker_id)
    if reason in (ACTIVE_ALREADY, LOADING_ALREADY):
        coordinator = coordinator._replace(known_epoch=order.epoch)
    return life.with_coordinator(coordinator, OrderIgnored(broker_id, *order, reason))


def _remembered(settings: Settings, coordinator: Coordinator, epoch: int) -> int:
    return epoch if settings.order_rule in (BY_EPOCH, BY_RUNTIME) else coordinator.known_epoch


def _elected(settings: Settings, life: Life, broker_id: int, order: Order) -> Life:
    coordinator = life.coordinator(broker_id)
    loading = coordinator._replace(
        is_loading=True,
        is_reading=True,
        is_failed=False,
        read_count=0,
        known_epoch=_remembered(settings, coordinator, order.epoch),
    )
    return life.with_coordinator(loading, LoadBegun(broker_id, order.epoch))


def _resigned(settings: Settings, life: Life, broker_id: int, order: Order) -> Life:
    """Nothing of the groups is left in memory. The runtime of 4.0 forgets even the epoch, with all else."""
    coordinator = life.coordinator(broker_id)
    rule = settings.order_rule
    known_epoch = NEVER if rule == BY_RUNTIME else _remembered(settings, coordinator, order.epoch)
    gone = coordinator._replace(
        is_owned=False,
        is_loading=coordinator.is_loading and rule not in (BY_EPOCH, BY_RUNTIME),
        is_reading=False,
        is_failed=False,
        known_epoch=known_epoch,
        groups=(),
        sessions=(),
        next_sweep_ms=coordinator.next_sweep_ms if settings.has_one_thread else None,
    )
    return life.with_coordinator(gone, Resigned(broker_id, order.epoch, len(coordinator.groups)))
