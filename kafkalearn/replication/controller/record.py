"""The controller's record of a partition: who leads, who is in sync, who else may be elected without loss.

`changed` is the whole rule: given the ISR that is to be, it works out the eligible leader replicas (KIP-966), elects
a leader if the present one will not do, and counts the epochs. Pure functions of one `Controller`.
"""

from __future__ import annotations

from kafkalearn.errors import IllegalEvent
from kafkalearn.replication.effects import NONE
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.state import Controller


def changed(
    settings: Settings,
    controller: Controller,
    isr: tuple[int, ...],
    unclean_broker: int | None = None,
    successor: int | None = None,
) -> Controller:
    """The record after the ISR was to become `isr`.

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

    Returns
    -------
    Controller
        Without eligible leader replicas the last member stays in the ISR, though it is gone.

    References
    ----------
    Apache Kafka 4.1 to 4.3, ``PartitionChangeBuilder``; KIP-966.
    """
    elr = _eligible(settings, controller, isr, unclean_broker)
    leader, is_clean = _choose(settings, controller, isr, elr, successor)
    if leader is not None and not is_clean:
        isr, elr = (leader,), ()
    elif leader in elr:
        isr, elr = (leader,), tuple(each for each in elr if each != leader)
    elif not isr and not settings.has_eligible_leader_replicas:
        isr = controller.isr
    after = controller._replace(
        leader=leader,
        leader_epoch=controller.leader_epoch + (leader != controller.leader),
        isr=isr,
        elr=elr,
        last_known_leader=_last_known(settings, controller, leader, isr),
        is_recovering=controller.is_recovering or not is_clean,
    )
    if after == controller:
        return controller
    return after._replace(partition_epoch=controller.partition_epoch + 1)


def _eligible(
    settings: Settings, controller: Controller, isr: tuple[int, ...], unclean_broker: int | None
) -> tuple[int, ...]:
    """Who left the ISR while it was already too small to commit, so has all there is; none once it is big enough."""
    if not settings.has_eligible_leader_replicas or len(isr) >= settings.effective_min_isr:
        return ()
    return tuple(sorted({*controller.elr, *controller.isr} - {*isr, unclean_broker}))


def _choose(
    settings: Settings, controller: Controller, isr: tuple[int, ...], elr: tuple[int, ...], successor: int | None
) -> tuple[int | None, bool]:
    """The leader there is to be, and whether it has all that was committed.

    In this order: the present leader, the ISR, the eligible leader replicas, the last known leader, anyone.
    """
    alive = [each for each in settings.assignment or settings.broker_ids if each not in controller.fenced]
    safe = isr or elr
    if controller.leader in alive and controller.leader in safe:
        return controller.leader, True
    clean = [each for each in alive if each in safe]
    if clean:
        return _first(settings, clean, successor), True
    if settings.has_eligible_leader_replicas and not safe and controller.last_known_leader in alive:
        return controller.last_known_leader, False
    if settings.is_unclean_election_enabled and alive:
        return _first(settings, alive, successor), False
    return None, True


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
    others = tuple(sorted({*controller.fenced, broker_id}))
    isr = tuple(each for each in controller.isr if each != broker_id)
    unclean_broker = broker_id if is_unclean else None
    return changed(settings, controller._replace(fenced=others), isr, unclean_broker, successor)


def unfenced(settings: Settings, controller: Controller, broker_id: int) -> Controller:
    """The record once a broker counts as alive again: a partition without a leader may have one now."""
    alive = controller._replace(fenced=tuple(each for each in controller.fenced if each != broker_id))
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
    if settings.rules.joins_only_eligible and set(isr) & set(controller.fenced):
        return "INELIGIBLE_REPLICA"
    return NONE
