"""The steps of a stop and of a start: controlled shutdown, registration, unfencing."""

from dataclasses import replace

import pytest

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.replication import (
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerRegistered,
    BrokerRestarted,
    BrokerStopped,
    BrokerUnfenced,
    ControlledShutdownStarted,
    Fetch,
    Produce,
    SessionExpired,
    Settings,
    simulate,
    step,
)
from kafkalearn.replication.events import LeaderChanged

THREE = Settings(fetch_wait_max_ms=0)
COPIED = (Produce(2), Fetch(2), Fetch(3), Fetch(2), Fetch(3))
DOWN = (*COPIED, BrokerCrashed(3), SessionExpired(3))


def test_in_controlled_shutdown_a_broker_gives_up_leadership_and_isr_and_still_follows():
    state = simulate(THREE, [*COPIED, ControlledShutdownStarted(1)])[-1].state
    controller = state.controller
    assert state.effects == (LeaderChanged(2, 1, is_clean=True),)
    assert (controller.isr, controller.fenced, controller.stopping) == ((2, 3), (), (1,))

    followed = simulate(THREE, [Produce(acks=1), Fetch(1), Fetch(1)], state)[-1].state
    assert followed.replica(1).log_end_offset == 3
    assert followed.leader.leading.proposal is None  # it may not come back


def test_when_it_has_stopped_it_is_fenced_and_a_start_lets_it_join_again():
    events = [*COPIED, ControlledShutdownStarted(1), BrokerStopped(1)]
    stopped = simulate(THREE, events)[-1].state
    assert (stopped.controller.fenced, stopped.controller.stopping) == ((1,), ())
    assert stopped.replica(1).broker.was_stopped_cleanly
    back = simulate(THREE, [BrokerRestarted(1), Fetch(1), AlterPartitionAnswered()], stopped)[-1].state
    assert back.controller.isr == (1, 2, 3)


def test_with_nobody_else_in_sync_a_controlled_shutdown_leaves_no_leader():
    alone = Settings(1, fetch_wait_max_ms=0, has_eligible_leader_replicas=False)
    state = simulate(alone, [ControlledShutdownStarted(1)])[-1].state
    assert (state.controller.leader, state.controller.isr) == (None, (1,))
    assert simulate(alone, [BrokerStopped(1), BrokerRestarted(1)], state)[-1].state.controller.leader == 1


def test_a_registered_broker_copies_but_joins_the_isr_only_once_it_is_unfenced():
    fenced = simulate(THREE, [*DOWN, Produce(acks=1), BrokerRegistered(3), Fetch(3), Fetch(3)])[-1].state
    assert fenced.replica(3).log_end_offset == 3
    assert (fenced.controller.fenced, fenced.leader.leading.proposal) == ((3,), None)

    events = [BrokerUnfenced(3), Fetch(3), AlterPartitionAnswered()]
    joined = simulate(THREE, [*events], fenced)[-1].state
    assert (joined.controller.fenced, joined.controller.isr) == ((), (1, 2, 3))


def test_registered_and_unfenced_is_what_a_restart_is_at_once():
    for gone in ([BrokerCrashed(1)], [BrokerCrashed(1), SessionExpired(1)], [BrokerStopped(1)]):
        before = simulate(THREE, [*COPIED, *gone])[-1].state
        in_steps = simulate(THREE, [BrokerRegistered(1), BrokerUnfenced(1)], before)[-1].state
        assert in_steps == step(THREE, before, BrokerRestarted(1))


def test_a_partition_without_a_leader_gets_one_when_its_broker_is_unfenced_not_when_it_registers():
    one = Settings(1, fetch_wait_max_ms=0)
    registered = simulate(one, [BrokerStopped(1), BrokerRegistered(1)])[-1].state
    assert registered.controller.leader is None
    assert step(one, registered, BrokerUnfenced(1)).effects == (LeaderChanged(1, 2, is_clean=True),)


def test_one_that_was_killed_is_no_longer_eligible_from_its_registration_on():
    two = Settings(2, min_insync_replicas=2, fetch_wait_max_ms=0)
    crashed = simulate(two, [BrokerCrashed(2), SessionExpired(2)])[-1].state
    assert crashed.controller.elr == (2,)
    assert step(two, crashed, BrokerRegistered(2)).controller.elr == ()


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([BrokerUnfenced(1)], "is not fenced"),
        ([BrokerRegistered(1)], "is running, not down"),
        ([BrokerCrashed(1), ControlledShutdownStarted(1)], "the broker is down"),
        ([ControlledShutdownStarted(1), ControlledShutdownStarted(1)], "about to stop already"),
        ([BrokerStopped(1), BrokerUnfenced(1)], "the broker is down"),
    ],
)
def test_what_cannot_happen_is_refused(events, why):
    with pytest.raises(IllegalEvent, match=why):
        simulate(THREE, events)


def test_up_to_3_2_nobody_is_fenced_step_by_step():
    with pytest.raises(IllegalEvent, match=r"since 3\.3"):
        simulate(
            replace(THREE, release="3.2", rules=None, has_eligible_leader_replicas=None), [ControlledShutdownStarted(1)]
        )
