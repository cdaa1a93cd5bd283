from functools import partial

import pytest

from kafkalearn.assignors import assign
from kafkalearn.exercises.chapter04 import KeepsLaws
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG

JUDGE = KeepsLaws("if alike")


def stub(partition_counts, members):
    return ...


def raises(partition_counts, members):
    return {members[0].name: []}


@pytest.mark.parametrize(
    ("judge", "answer", "outcome"),
    [
        (JUDGE, stub, NOT_ATTEMPTED),
        (JUDGE, ..., NOT_ATTEMPTED),
        (JUDGE, {"m0": []}, ERROR),
        (JUDGE, partial(assign, "roundrobin"), RIGHT),
        (JUDGE, partial(assign, "range"), WRONG),
        (KeepsLaws("group"), partial(assign, "roundrobin"), WRONG),
        (KeepsLaws("each topic"), partial(assign, "range"), RIGHT),
        (KeepsLaws("group", is_sticky=True), partial(assign, "sticky"), RIGHT),
        (KeepsLaws("if alike", is_sticky=True), partial(assign, "roundrobin"), WRONG),
        (JUDGE, raises, WRONG),
    ],
)
def test_an_assignor_is_right_if_it_keeps_the_laws(judge, answer, outcome):
    assert judge.judge(answer).outcome == outcome


def test_what_the_function_raises_is_told_with_the_group():
    law, group = map(str, JUDGE.judge(raises).sentences)
    assert "it ends with AttributeError: 'Member' object has no attribute 'name'" in law
    assert "m0 subscribes to a" in group.splitlines()


def never_ends(partition_counts, members):
    while True:
        pass


def spoils(partition_counts, members):
    partition_counts.clear()
    members.clear()
    return {}


def test_an_assignor_that_never_ends_is_stopped():
    assert repr(JUDGE.judge(never_ends)) == (
        "This cannot be checked. It was stopped after 3,000,000 lines of Python: a loop in it may never end."
    )


def test_an_assignor_that_changes_what_it_is_given_spoils_nothing():
    JUDGE.judge(spoils)

    assert JUDGE.judge(partial(assign, "roundrobin"))


def test_two_assignors_make_the_same_mistake_if_they_assign_alike_whatever_the_order_of_their_lists():
    def backwards(partition_counts, members):
        return {name: owned[::-1] for name, owned in assign("range", partition_counts, members).items()}

    assert JUDGE.matches(backwards, partial(assign, "range"))
    assert not JUDGE.matches(backwards, partial(assign, "roundrobin"))
