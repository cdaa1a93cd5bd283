"""Reassignments as lists: how one begins, when it ends, what a cancel leaves."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.trace import extend
from kafkalearn.replication import (
    ACKNOWLEDGED_SURVIVE,
    AlterPartitionAnswered,
    AlterPartitionReassignments,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRegistered,
    BrokerStarted,
    BrokerStopped,
    BrokerThawed,
    BrokerUnfenced,
    ControlledShutdownStarted,
    Fetch,
    IsrChecked,
    LeaderElected,
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
from kafkalearn.replication.record import changed, fenced, unfenced, verdict
from kafkalearn.replication.settings import REASSIGNMENT_ENDS, Assignment, completed, reverted
from kafkalearn.replication.state import Controller, Log, blank

BROKERS = st.lists(st.integers(1, 6), min_size=1, max_size=4, unique=True).map(tuple)


@pytest.mark.parametrize(
    ("before", "target", "after"),
    [  # PartitionReassignmentReplicasTest of Kafka 3.9
        ((1, 2, 3), (3, 1, 2), Assignment((3, 1, 2))),
        ((1, 2, 3), (4, 2, 3), Assignment((4, 2, 3, 1), (4,), (1,))),
        ((3, 2, 1), (6, 5, 4), Assignment((6, 5, 4, 1, 2, 3), (4, 5, 6), (1, 2, 3))),
        ((1, 2, 3), (1,), Assignment((1, 2, 3), (), (2, 3))),
    ],
)
def test_all_replicas_old_and_new_stand_in_the_list_with_the_new_order_first(before, target, after):
    assert Assignment(before).toward(target) == after


def test_a_second_request_counts_from_all_replicas_there_are_and_keeps_the_list_it_has_nothing_for():
    first = Assignment((1, 2, 3)).toward((4, 2, 3))
    assert first.toward((5, 2, 3)) == Assignment((5, 2, 3, 1, 4), adding=(5,), removing=(1, 4))
    assert first.toward((1, 2, 3)) == Assignment((1, 2, 3, 4), adding=(4,), removing=(4,))


MOVING = Assignment((4, 2, 3, 1), (4,), (1,))
SHRINKING = Assignment((4, 2, 1, 3), (4,), (1, 3))
NEW, ALL, ALL_IF_FEWER = REASSIGNMENT_ENDS


@pytest.mark.parametrize(
    ("assignment", "isr", "ends"),
    [
        (Assignment((1, 2, 3)), (1, 2, 3), (NEW, ALL, ALL_IF_FEWER)),  # there was none
        (MOVING, (1, 2, 3), ()),
        (MOVING, (1, 2, 3, 4), (NEW, ALL, ALL_IF_FEWER)),
        (MOVING, (1, 2, 4), (NEW, ALL_IF_FEWER)),  # 3 is to stay, and is not in sync
        (SHRINKING, (1, 3, 4), (NEW,)),
        (SHRINKING, (1, 2, 4), (NEW, ALL, ALL_IF_FEWER)),
        (Assignment((1, 2, 3), (), (2, 3)), (2, 3), ()),  # nobody who stays is in sync
        (Assignment((1, 2, 3), (), (2, 3)), (1, 2), (NEW, ALL, ALL_IF_FEWER)),
    ],
)
def test_a_reassignment_ends_when_who_has_to_be_in_sync_is(assignment, isr, ends):
    for end in REASSIGNMENT_ENDS:
        after, kept = completed(assignment, isr, end)
        if end in ends:
            assert after == Assignment(assignment.target)
            assert set(kept) == set(isr) - set(assignment.removing)
        else:
            assert (after, kept) == (assignment, isr)


@given(BROKERS, BROKERS)
def test_what_is_cancelled_at_once_leaves_the_replicas_there_were(before, target):
    back, isr, is_clean = reverted(Assignment(before).toward(target), before)
    assert sorted(back.replicas) == sorted(before)
    assert (isr, is_clean) == (before, True)


@given(BROKERS, BROKERS, st.sampled_from(tuple(REASSIGNMENT_ENDS)))
def test_with_all_in_sync_what_was_asked_for_is_there(before, target, end):
    moving = Assignment(before).toward(target)
    assert set(moving.adding) | set(before) == set(moving.replicas)
    after, isr = completed(moving, tuple(sorted(moving.replicas)), end)
    assert after == Assignment(target)
    assert set(isr) == set(target)


def test_where_only_new_replicas_are_in_sync_a_cancel_loses_records():
    assert reverted(Assignment((4, 1), (4,), (1,)), (4,)) == (Assignment((1,)), (1,), False)


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
    back = simulate(THREE, [BrokerStarted(1), Fetch(1), AlterPartitionAnswered()], stopped)[-1].state
    assert back.controller.isr == (1, 2, 3)


def test_with_nobody_else_in_sync_a_controlled_shutdown_leaves_no_leader():
    alone = Settings(1, fetch_wait_max_ms=0, has_eligible_leader_replicas=False)
    state = simulate(alone, [ControlledShutdownStarted(1)])[-1].state
    assert (state.controller.leader, state.controller.isr) == (None, (1,))
    assert simulate(alone, [BrokerStopped(1), BrokerStarted(1)], state)[-1].state.controller.leader == 1


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
        assert in_steps == step(THREE, before, BrokerStarted(1))


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


FOUR = Settings(broker_count=4, fetch_wait_max_ms=0)
MOVE = AlterPartitionReassignments((4, 2, 3))


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
    back = settle(settings, extend(step, settings, trace, [BrokerStarted(3)]))
    assert back[-1].state.controller.assignment == Assignment((4, 2, 3))


def test_the_new_broker_dies_and_nothing_is_lost_and_nothing_ends():
    trace = simulate(FOUR, [*COPIED, MOVE, Fetch(4), BrokerCrashed(4), SessionExpired(4)])
    assert trace[-1].state.controller.isr == (1, 2, 3)
    assert trace[-1].state.controller.assignment.is_changing
    back = settle(FOUR, extend(step, FOUR, trace, [BrokerStarted(4)]))[-1].state
    assert (back.controller.leader, back.controller.assignment) == (4, Assignment((4, 2, 3)))


def test_who_was_removed_while_its_broker_was_down_deletes_its_replica_at_the_start():
    trace = simulate(FOUR, [*COPIED, BrokerCrashed(1), SessionExpired(1), MOVE, Fetch(3), Fetch(4), Fetch(4)])
    trace = extend(step, FOUR, trace, [AlterPartitionAnswered()])
    assert trace[-1].state.replica(1).log != Log()
    assert ReplicaDeleted(1) in step(FOUR, trace[-1].state, BrokerStarted(1)).effects


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
SCHEDULE = [Fetch, THERE, AlterPartitionAnswered, BrokerCrashed, SessionExpired, BrokerStarted]


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


# Three replicas, at least two in sync, run on the classes of 4.0.2, 4.1.2, 4.2.1 and 4.3.
WITH_ELR = Settings(min_insync_replicas=2)
WITHOUT_ELR = Settings(min_insync_replicas=2, has_eligible_leader_replicas=False)

ON_THREE = Assignment((1, 2, 3))


def elected(settings: Settings) -> Controller:
    return step(settings, blank(settings), LeaderElected(1, (1, 2, 3))).controller


def in_turn(settings: Settings) -> list[tuple]:
    """Leader, leader epoch, ISR, ELR, last known leader while the ISR shrinks to one and the brokers fail."""
    record, records = elected(settings), []
    for change in (
        lambda record: changed(settings, record, (1, 2)),
        lambda record: changed(settings, record, (1,)),
        lambda record: fenced(settings, record, 1),
        lambda record: fenced(settings, fenced(settings, record, 2), 3),
        lambda record: unfenced(settings, record, 3),
        lambda record: unfenced(settings, record, 2),
    ):
        record = change(record)
        records.append((record.leader, record.leader_epoch, record.isr, record.elr, record.last_known_leader))
    return records


def test_eligible_leader_replicas_take_over_without_loss():
    assert in_turn(WITH_ELR) == [
        (1, 0, (1, 2), (), None),
        (1, 0, (1,), (2,), None),  # 3 left before, while the ISR was big enough
        (2, 1, (2,), (1,), None),
        (None, 2, (), (1, 2), 2),
        (None, 2, (), (1, 2), 2),  # 3 is in neither
        (2, 3, (2,), (1,), None),
    ]


def test_without_them_the_last_member_stays_in_the_isr_and_has_to_be_waited_for():
    assert in_turn(WITHOUT_ELR) == [
        (1, 0, (1, 2), (), None),
        (1, 0, (1,), (), None),
        (None, 1, (1,), (), None),
        (None, 1, (1,), (), None),
        (None, 1, (1,), (), None),
        (None, 1, (1,), (), None),
    ]


def test_an_unclean_election_takes_anyone_and_marks_the_partition():
    waiting = Controller(None, 1, 1, isr=(1,), fenced=(1, 2), assignment=ON_THREE)
    record = changed(replace(WITHOUT_ELR, is_unclean_election_enabled=True), waiting, waiting.isr)
    assert (record.leader, record.leader_epoch, record.isr, record.is_recovering) == (3, 2, (3,), True)


def test_a_member_that_comes_back_from_an_unclean_stop_is_no_longer_eligible():
    record = changed(
        WITH_ELR, Controller(1, 0, 0, (1,), elr=(2, 3), fenced=(2, 3), assignment=ON_THREE), (1,), unclean_broker=2
    )
    assert (record.leader, record.isr, record.elr) == (1, (1,), (3,))


def test_with_nobody_eligible_left_only_the_last_known_leader_is_elected_and_marked():
    nobody = Controller(None, 4, 9, (), (), last_known_leader=2, fenced=(2, 3), assignment=ON_THREE)
    alive = unfenced(WITH_ELR, nobody, 2)

    assert unfenced(WITH_ELR, nobody, 3).leader is None
    assert (alive.leader, alive.isr, alive.is_recovering, alive.last_known_leader) == (2, (2,), True, None)


def test_a_big_enough_isr_has_no_eligible_replicas_beside_it():
    assert changed(WITH_ELR, Controller(1, 0, 0, (1,), elr=(2,), assignment=ON_THREE), (1, 3)).elr == ()


@pytest.mark.parametrize(
    ("assignment", "isr", "gone", "leader"),
    [
        ((1, 2, 3), (1, 2, 3), 2, 1),  # the present leader stays
        ((1, 2, 3), (1, 2, 3), 1, 2),
        ((1, 3, 2), (1, 2, 3), 1, 3),
        ((1, 3, 2), (1, 2), 1, 2),
    ],
)
def test_the_first_of_the_assignment_that_is_alive_and_in_sync_leads(assignment, isr, gone, leader):
    record = fenced(Settings(assignment=assignment), Controller(1, 5, 7, isr, assignment=Assignment(assignment)), gone)

    assert (record.leader, record.leader_epoch) == (leader, 5 + (leader != 1))
    assert record.isr == tuple(each for each in isr if each != gone)
    assert record.partition_epoch == 8


def test_without_an_order_the_successor_has_to_be_named():
    unordered = Settings(assignment=())
    with pytest.raises(IllegalEvent, match=r"may elect one of \[2, 3\]: name the successor"):
        fenced(unordered, Controller(1, 0, 0, (1, 2, 3), assignment=ON_THREE), 1)
    assert fenced(unordered, Controller(1, 0, 0, (1, 2, 3), assignment=ON_THREE), 1, successor=3).leader == 3


def test_nothing_changed_counts_as_no_change():
    record = elected(WITH_ELR)
    assert changed(WITH_ELR, record, record.isr) == record


@pytest.mark.parametrize(
    ("leader_id", "leader_epoch", "partition_epoch", "isr", "answer"),
    [
        (1, 3, 7, (1, 2), "NONE"),
        (2, 3, 7, (1, 2), "FENCED_LEADER_EPOCH"),
        (1, 2, 7, (1, 2), "FENCED_LEADER_EPOCH"),
        (1, 3, 6, (1, 2), "INVALID_UPDATE_VERSION"),
        (1, 3, 7, (1, 3), "INELIGIBLE_REPLICA"),
    ],
)
def test_the_controller_takes_an_isr_only_from_the_leader_it_knows(
    leader_id, leader_epoch, partition_epoch, isr, answer
):
    record = Controller(1, 3, 7, (1, 2), fenced=(3,), assignment=ON_THREE)
    assert verdict(Settings(), record, leader_id, leader_epoch, partition_epoch, isr) == answer
    if answer == "INELIGIBLE_REPLICA":
        assert verdict(Settings(release="3.2"), record, leader_id, leader_epoch, partition_epoch, isr) == "NONE"
