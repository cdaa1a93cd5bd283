"""Reassignments as lists: how one begins, when it ends, what a cancel leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.replication.settings import REASSIGNMENT_ENDS, Assignment, completed, reverted

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
