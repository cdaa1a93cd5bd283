"""A partition moves to other brokers while it is used: what controller, leader and new replica do at each step."""

from dataclasses import replace

import pytest

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.trace import extend
from kafkalearn.replication import (
    ACKNOWLEDGED_SURVIVE,
    AlterPartitionAnswered,
    AlterPartitionReassignments,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRestarted,
    BrokerThawed,
    Fetch,
    IsrChecked,
    Produce,
    SessionExpired,
    Settings,
    TimePassed,
    find,
    settle,
    simulate,
    step,
)
from kafkalearn.replication.events import (
    AssignmentChanged,
    FetchAnswered,
    LeaderChanged,
    ProduceAnswered,
    ReassignmentAnswered,
    ReplicaDeleted,
)
from kafkalearn.replication.settings import Assignment
from kafkalearn.replication.state import Log

FOUR = Settings(broker_count=4, fetch_wait_max_ms=0)
MOVE = AlterPartitionReassignments((4, 2, 3))
COPIED = (Produce(2), Fetch(2), Fetch(3), Fetch(2), Fetch(3))


def recorded(settings, events):
    """Leader, leader epoch, partition epoch, ISR and assignment after each event."""
    frames = simulate(settings, [*COPIED, *events])[len(COPIED) :]
    controllers = [frame.state.controller for frame in frames]
    return [(each.leader, each.leader_epoch, each.partition_epoch, each.isr, each.assignment) for each in controllers]


def test_a_replica_is_added_copies_joins_the_isr_and_only_then_the_old_one_goes():
    moving = Assignment((4, 2, 3, 1), (4,), (1,))
    assert recorded(FOUR, [MOVE, Fetch(4), Fetch(4), AlterPartitionAnswered()]) == [
        (1, 0, 0, (1, 2, 3), Assignment((1, 2, 3))),
        (1, 0, 1, (1, 2, 3), moving),  # nobody is taken away, so the leader epoch stays
        (1, 0, 1, (1, 2, 3), moving),
        (1, 0, 1, (1, 2, 3), moving),
        (4, 1, 2, (2, 3, 4), Assignment((4, 2, 3))),  # one record: the ISR, the end of it, and the leader
    ]


def test_each_broker_learns_what_the_end_of_a_reassignment_means_for_it():
    end = simulate(FOUR, [*COPIED, MOVE, Fetch(4), Fetch(4), AlterPartitionAnswered()])[-1].state
    assert end.effects == (
        AssignmentChanged((4, 2, 3)),
        LeaderChanged(4, 1, is_clean=True),
        ReplicaDeleted(1),
    )
    assert end.replica(1).log == Log()
    assert [each is None for each in end.replica(4).remotes] == [True, False, False, True]
    with pytest.raises(IllegalEvent, match="knows no leader"):
        step(FOUR, end, Fetch(1))


def test_a_new_replica_holds_the_high_watermark_back_only_once_it_is_asked_for():
    events = [*COPIED, MOVE, Fetch(4), Produce(1), Fetch(2), Fetch(3), Fetch(2), Fetch(3)]
    assert simulate(FOUR, events)[-1].state.high_watermark == 3


def test_a_leader_that_is_removed_answers_who_still_waits_with_an_error():
    trace = simulate(FOUR, [*COPIED, MOVE, Fetch(4), Fetch(4), Produce(1), AlterPartitionAnswered()])
    assert ProduceAnswered(2, "NOT_LEADER_OR_FOLLOWER", 2) in trace[-1].state.effects
    assert [record.value for record in trace[-1].state.replica(4).log.records] == ["m1", "m2"]


def test_only_more_replicas_change_no_leader_epoch_and_only_fewer_end_at_once():
    more = recorded(FOUR, [AlterPartitionReassignments((1, 2, 3, 4)), Fetch(4), Fetch(4), AlterPartitionAnswered()])
    assert more[-1] == (1, 0, 2, (1, 2, 3, 4), Assignment((1, 2, 3, 4)))
    fewer = recorded(FOUR, [AlterPartitionReassignments((2, 1))])
    assert fewer[-1] == (1, 1, 1, (1, 2), Assignment((2, 1)))
    turned = recorded(FOUR, [AlterPartitionReassignments((3, 1, 2))])
    assert turned[-1] == (1, 0, 1, (1, 2, 3), Assignment((3, 1, 2)))


def test_cancelled_the_new_replica_goes_and_the_leader_epoch_rises():
    began = [*COPIED, MOVE, Fetch(4)]
    end = simulate(FOUR, [*began, AlterPartitionReassignments(None)])[-1].state
    assert end.controller.assignment == Assignment((2, 3, 1))  # the order of what was asked for stays
    assert (end.controller.leader, end.controller.leader_epoch, end.controller.isr) == (1, 1, (1, 2, 3))
    assert end.effects[0] == ReassignmentAnswered("NONE")
    assert ReplicaDeleted(4) in end.effects


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (AlterPartitionReassignments(None), "NO_REASSIGNMENT_IN_PROGRESS"),
        (AlterPartitionReassignments(()), "INVALID_REPLICA_ASSIGNMENT"),
        (AlterPartitionReassignments((1, 1, 2)), "INVALID_REPLICA_ASSIGNMENT"),
        (AlterPartitionReassignments((1, 2, 9)), "INVALID_REPLICA_ASSIGNMENT"),
        (AlterPartitionReassignments((1, 2), may_change_factor=False), "INVALID_REPLICATION_FACTOR"),
        (AlterPartitionReassignments((1, 2, 3)), "NONE"),  # what is there already
    ],
)
def test_what_the_controller_refuses_changes_nothing(event, error):
    before = simulate(FOUR, COPIED)[-1].state
    after = step(FOUR, before, event)
    assert after.effects == (ReassignmentAnswered(error),)
    assert after == before


@pytest.mark.parametrize(("is_unclean", "error"), [(False, "INVALID_REPLICA_ASSIGNMENT"), (True, "NONE")])
def test_a_cancel_that_may_lose_records_is_refused_unless_unclean_elections_are_allowed(is_unclean, error):
    settings = Settings(
        1,
        broker_count=3,
        is_unclean_election_enabled=is_unclean,
        has_eligible_leader_replicas=False,
        fetch_wait_max_ms=0,
    )
    joined = [Produce(), AlterPartitionReassignments((2, 3)), Fetch(2), Fetch(2), AlterPartitionAnswered()]
    alone = simulate(settings, [*joined, BrokerCrashed(1), SessionExpired(1)])[-1].state
    back = step(settings, alone, AlterPartitionReassignments(None))

    assert (alone.controller.leader, alone.controller.isr) == (2, (2,))
    assert back.effects[0] == ReassignmentAnswered(error)
    assert back.ledger.unclean_election_count == 0  # nobody leads until 1 is back
    assert back.controller.isr == ((1,) if is_unclean else (2,))


@pytest.mark.parametrize(("release", "is_over"), [("3.7", True), ("3.8", False), ("4.2", False), ("4.3", True)])
def test_from_3_8_to_4_2_a_replica_that_stays_and_is_dead_holds_the_end_back(release, is_over):
    settings = replace(FOUR, release=release, rules=None, has_eligible_leader_replicas=False)
    moved = [MOVE, BrokerCrashed(3), SessionExpired(3), Fetch(4), Fetch(4), AlterPartitionAnswered()]
    trace = simulate(settings, [*COPIED, *moved])
    assert trace[-1].state.controller.assignment.is_changing == (not is_over)
    back = settle(settings, extend(step, settings, trace, [BrokerRestarted(3)]))
    assert back[-1].state.controller.assignment == Assignment((4, 2, 3))


def test_the_new_broker_dies_and_nothing_is_lost_and_nothing_ends():
    trace = simulate(FOUR, [*COPIED, MOVE, Fetch(4), BrokerCrashed(4), SessionExpired(4)])
    assert trace[-1].state.controller.isr == (1, 2, 3)
    assert trace[-1].state.controller.assignment.is_changing
    back = settle(FOUR, extend(step, FOUR, trace, [BrokerRestarted(4)]))[-1].state
    assert (back.controller.leader, back.controller.assignment) == (4, Assignment((4, 2, 3)))


def test_who_was_removed_while_its_broker_was_down_deletes_its_replica_at_the_start():
    trace = simulate(FOUR, [*COPIED, BrokerCrashed(1), SessionExpired(1), MOVE, Fetch(3), Fetch(4), Fetch(4)])
    trace = extend(step, FOUR, trace, [AlterPartitionAnswered()])
    assert trace[-1].state.replica(1).log != Log()
    assert ReplicaDeleted(1) in step(FOUR, trace[-1].state, BrokerRestarted(1)).effects


def test_a_removed_follower_that_has_not_learnt_it_is_refused():
    move = AlterPartitionReassignments((1, 2, 4))
    events = [*COPIED, BrokerFrozen(3), BrokerThawed(3), move, Fetch(4), Fetch(4), AlterPartitionAnswered()]
    state = simulate(FOUR, [*events, Fetch(3)])[-1].state
    assert [each.error for each in state.effects if isinstance(each, FetchAnswered)] == ["FENCED_LEADER_EPOCH"]
    assert ReplicaDeleted(3) in step(FOUR, state, BrokerReconnected(3)).effects


def test_min_isr_counts_against_all_replicas_there_are_just_now():
    one = Settings(1, broker_count=2, min_insync_replicas=2, fetch_wait_max_ms=0)
    assert ProduceAnswered(1, "NONE", 0) in simulate(one, [Produce()])[-1].state.effects
    grown = simulate(one, [AlterPartitionReassignments((1, 2)), Produce()])[-1].state
    assert grown.effects == (ProduceAnswered(1, "NOT_ENOUGH_REPLICAS"),)


def test_before_3_3_the_controller_was_another_one():
    with pytest.raises(IllegalEvent, match=r"take a release from 3\.3 on, not 3\.2"):
        step(
            replace(FOUR, release="3.2", rules=None, has_eligible_leader_replicas=None),
            simulate(FOUR, [])[-1].state,
            MOVE,
        )


PAIR = Settings(1, broker_count=2, fetch_wait_max_ms=0)
THERE = AlterPartitionReassignments((2,))
SCHEDULE = [Fetch, THERE, AlterPartitionAnswered, BrokerCrashed, SessionExpired, BrokerRestarted]


def test_no_acknowledged_record_is_lost_by_a_reassignment_with_acks_all():
    search = find(PAIR, [Produce(), *SCHEDULE], (ACKNOWLEDGED_SURVIVE,), at_most={Produce: 2, BrokerCrashed: 1})
    assert search.outcome == "nothing left"


def test_with_acks_1_what_came_after_the_last_fetch_is_lost_though_no_broker_fails():
    search = find(PAIR, [Produce(acks=1), Fetch, THERE, AlterPartitionAnswered], (ACKNOWLEDGED_SURVIVE,))
    assert [type(frame.event) for frame in search.trace[1:]] == [
        AlterPartitionReassignments,
        Fetch,
        Produce,
        AlterPartitionAnswered,
    ]
    assert search.trace[-1].state.controller.leader == 2


def test_a_reassignment_waits_for_nobody_s_clock():
    lagging = [*COPIED, MOVE, TimePassed(40_000), IsrChecked()]
    assert simulate(FOUR, lagging)[-1].state.controller.isr == (1, 2, 3)
