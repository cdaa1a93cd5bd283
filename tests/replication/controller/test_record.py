"""The controller's record: elections and eligible leader replicas, as Kafka's PartitionChangeBuilder answered."""

from dataclasses import replace

import pytest

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.replication import LeaderElected, Settings, step
from kafkalearn.replication.record import changed, fenced, unfenced, verdict
from kafkalearn.replication.settings import Assignment
from kafkalearn.replication.state import Controller, blank

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
