"""The controller's record of a partition: the ISR, leaders elected from it or by unclean leader election, and the ELR.

`changed` is the whole rule: given the ISR that is to be, it works out the eligible leader replicas (KIP-966), elects
a leader if the present one will not do, and counts the epochs. Pure functions of one `Controller`.
"""

from __future__ import annotations

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.replication.events import NONE, PREFERRED_ELECTION, UNCLEAN_ELECTION
from kafkalearn.replication.settings import Assignment, Settings, completed, without
from kafkalearn.replication.state import Controller

ONLINE = "online"
"""An election by need, beside the two that an administrator may ask for."""


def changed(
    settings: Settings,
    controller: Controller,
    isr: tuple[int, ...],
    unclean_broker: int | None = None,
    successor: int | None = None,
    assignment: Assignment | None = None,
    election: str = ONLINE,
) -> Controller:
    """The record after the ISR was to become `isr`.

    A reassignment ends here, as soon as the ISR allows it. Where a replica goes, the leader epoch rises even if the
    leader stays: so whoever was removed can fetch no more.

    Parameters
    ----------
    settings : Settings
        Minimum ISR, assignment, whether elections may be unclean, whether there are eligible leader replicas.
    controller : Controller
        The record before; `fenced` is already as it is to be.
    isr : tuple of int
        Who is to be in sync.
    unclean_broker : int or None
        A broker that came back from an unclean stop: it is not to be eligible.
    successor : int or None
        Whom to prefer as the new leader, before the order of the assignment.
    assignment : Assignment or None
        Who is to hold a replica; None: as recorded.
    election : str
        ``"online"``: by need; ``"preferred"``: the first of the assignment takes over if it can; ``"unclean"``: one
        that is not in sync may lead, whatever the settings.

    Returns
    -------
    Controller
        Without eligible leader replicas the last member stays in the ISR, though it is gone.

    References
    ----------
    Apache Kafka 4.1 to 4.3, ``PartitionChangeBuilder``; KIP-966.
    """
    target, isr = completed(assignment or controller.assignment, isr, settings.rules.reassignment_end)
    target = target if settings.assignment else target.in_no_order()
    elr = _eligible(settings, controller, isr, unclean_broker)
    leader, is_clean = _choose(settings, controller, target.replicas, isr, elr, successor, election)
    if leader is not None and not is_clean:
        isr, elr = (leader,), ()
    elif leader in elr:
        isr, elr = (leader,), tuple(each for each in elr if each != leader)
    elif not isr and not settings.has_eligible_leader_replicas:
        isr = controller.isr
    loses_one = bool(without(controller.assignment.replicas, target.replicas))
    after = controller._replace(
        leader=leader,
        leader_epoch=controller.leader_epoch + (leader != controller.leader or loses_one),
        isr=isr,
        elr=elr,
        last_known_leader=_last_known(settings, controller, leader, isr),
        is_recovering=controller.is_recovering or not is_clean,
        assignment=target,
    )
    if after == controller:
        return controller
    return after._replace(partition_epoch=controller.partition_epoch + 1)


def _eligible(
    settings: Settings, controller: Controller, isr: tuple[int, ...], unclean_broker: int | None
) -> tuple[int, ...]:
    """Who left the ISR while it was already too small to commit, so has all there is; none once it is big enough."""
    needed = settings.min_isr_of(len(controller.assignment.replicas))
    if not settings.has_eligible_leader_replicas or len(isr) >= needed:
        return ()
    return tuple(sorted({*controller.elr, *controller.isr} - {*isr, unclean_broker}))


def _choose(
    settings: Settings,
    controller: Controller,
    replicas: tuple[int, ...],
    isr: tuple[int, ...],
    elr: tuple[int, ...],
    successor: int | None,
    election: str,
) -> tuple[int | None, bool]:
    """The leader there is to be, and whether it has all that was committed.

    In this order: the preferred replica if it is asked for, the present leader, the ISR, the eligible leader replicas,
    the last known leader, anyone.
    """
    alive = [each for each in replicas if controller.is_active(each)]
    safe = isr or elr
    clean = [each for each in alive if each in safe]
    if election == PREFERRED_ELECTION and (preferred := _preferred(settings, replicas, successor)) in clean:
        return preferred, True
    if controller.leader in clean:
        return controller.leader, True
    if clean:
        return _first(settings, clean, successor), True
    if settings.has_eligible_leader_replicas and not safe and controller.last_known_leader in alive:
        return controller.last_known_leader, False
    may_be_unclean = election == UNCLEAN_ELECTION or (settings.is_unclean_election_enabled and election == ONLINE)
    if may_be_unclean and alive:
        return _first(settings, alive, successor), False
    return None, True


def _preferred(settings: Settings, replicas: tuple[int, ...], successor: int | None) -> int:
    """The first of the assignment; without an order the one that the event names."""
    return replicas[0] if settings.assignment else _first(settings, list(replicas), successor)


def _first(settings: Settings, candidates: list[int], successor: int | None) -> int:
    if successor in candidates:
        return successor
    if len(candidates) > 1 and not settings.assignment:
        raise IllegalEvent(f"the controller may elect one of {candidates}: name the successor")
    return candidates[0]


def _last_known(settings: Settings, controller: Controller, leader: int | None, isr: tuple[int, ...]) -> int | None:
    if leader is not None or isr or not settings.has_eligible_leader_replicas:
        return None
    return controller.leader if controller.leader is not None else controller.last_known_leader


def fenced(
    settings: Settings, controller: Controller, broker_id: int, is_unclean: bool = False, successor: int | None = None
) -> Controller:
    """The record once a broker no longer counts as alive: it leaves the ISR, and is replaced if it led."""
    gone = controller._replace(
        fenced=tuple(sorted({*controller.fenced, broker_id})), stopping=without(controller.stopping, (broker_id,))
    )
    isr = without(controller.isr, (broker_id,))
    unclean_broker = broker_id if is_unclean else None
    return changed(settings, gone, isr, unclean_broker, successor)


def stopping(settings: Settings, controller: Controller, broker_id: int, successor: int | None = None) -> Controller:
    """The record once a broker has asked to be stopped: it counts as alive, but leads and is in sync nowhere.

    References
    ----------
    Apache Kafka 3.3 to 4.3, ``ReplicationControlManager.handleBrokerInControlledShutdown``.
    """
    leaving = controller._replace(stopping=tuple(sorted({*controller.stopping, broker_id})))
    return changed(settings, leaving, without(controller.isr, (broker_id,)), successor=successor)


def unfenced(settings: Settings, controller: Controller, broker_id: int) -> Controller:
    """The record once a broker counts as alive again: a partition without a leader may have one now."""
    alive = controller._replace(fenced=without(controller.fenced, (broker_id,)))
    return alive if alive.leader is not None else changed(settings, alive, alive.isr)


def verdict(
    settings: Settings,
    controller: Controller,
    leader_id: int,
    leader_epoch: int,
    partition_epoch: int,
    isr: tuple[int, ...],
) -> str:
    """The controller's answer to an ISR that a broker proposes, with the epochs it knows; ``"NONE"``: taken over.

    References
    ----------
    Apache Kafka 2.7 to 4.3, ``ReplicationControlManager.alterPartition``; up to 2.6 the conditional write to
    ZooKeeper, ``ReplicationUtils.updateLeaderAndIsr``.
    """
    if leader_id != controller.leader or leader_epoch != controller.leader_epoch:
        return "FENCED_LEADER_EPOCH"
    if partition_epoch != controller.partition_epoch:
        return "INVALID_UPDATE_VERSION"
    if not {*isr} <= {*controller.assignment.replicas}:
        return "INVALID_REQUEST"
    if settings.rules.joins_only_eligible and not all(map(controller.is_active, isr)):
        return "INELIGIBLE_REPLICA"
    return NONE
