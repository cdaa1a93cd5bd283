"""The exercises of chapter 13 with many right answers: other plans, other seeds, and what is said of the wrong ones."""

import pytest

from kafkalearn.exercises import chapter13
from kafkalearn.exercises.chapter13 import FIRST, TAKEN
from kafkalearn.exercises.kit.result import NOT_ATTEMPTED, RIGHT, WRONG
from kafkalearn.operations.faults import KINDS, cluster_logs, find_faults
from kafkalearn.operations.placement import place_shifted
from kafkalearn.operations.reassignment import plan_of, write_plan

RIGHT_PLAN = [[*each] for each in place_shifted((1, 2, 3, 4), 8, 3)]


def found_in(seed):
    return list(find_faults(cluster_logs(seed)))


def letters_of(found):
    return {each.kind: FIRST[each.kind][0] for each in found}


@pytest.mark.parametrize("form", [list, tuple])
def test_a_plan_may_be_lists_or_the_text_of_its_json(form):
    assert chapter13.third_replica.check(form(map(form, RIGHT_PLAN))).outcome == RIGHT
    assert chapter13.third_replica.check(write_plan(plan_of("orders", RIGHT_PLAN))).outcome == RIGHT


def test_another_plan_that_keeps_to_the_rules_is_right_too():
    other = [[first, third, second] for first, second, third in RIGHT_PLAN]
    assert chapter13.third_replica.check(other).outcome == RIGHT


def changed(**lines):
    plan = [[*each] for each in RIGHT_PLAN]
    for number, replicas in lines.items():
        plan[int(number[1:])] = replicas
    return plan


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (RIGHT_PLAN[:7], "these are 7 lists"),
        (changed(p0=[1, 2, 9]), "Unknown broker id 9"),
        (changed(p0=[2, 1, 3]), "Another broker is preferred"),
        (changed(p0=[1, 3, 4]), "It copies 9 replicas"),
        (changed(p0=[1, 2, 4]), "The new replicas are uneven"),
    ],
)
def test_what_is_wrong_with_a_plan_is_said(plan, said):
    result = chapter13.third_replica.check(plan)
    assert result.outcome == WRONG
    assert said in repr(result)


def test_a_plan_by_which_one_broker_inherits_everything_is_wrong():
    # Broker 1 leads 0 and 4; its heir is 3 in both, and the copies are as many and as even as they should be.
    plan = [[1, 3, 2], [2, 3, 4], [3, 4, 1], [4, 1, 2], [1, 3, 4], [2, 4, 1], [3, 1, 2], [4, 2, 3]]
    result = chapter13.third_replica.check(plan)
    assert result.outcome == WRONG
    assert "If broker 1 dies" in repr(result)


@pytest.mark.parametrize("seed", [7, 20050412, 991])
def test_the_capstone_takes_any_seed_of_ones_own(seed):
    found = found_in(seed)
    answer = {"seed": seed, "findings": found, "first": letters_of(found)}
    assert chapter13.my_cluster.check(answer).outcome == RIGHT
    assert chapter13.my_cluster.check(answer | {"findings": found[1:]}).outcome == WRONG
    assert chapter13.my_cluster.check(answer | {"first": {}}).outcome == WRONG


def test_the_capstone_says_how_many_are_missing_and_does_not_take_the_chapters_seeds():
    found = found_in(8)
    answer = {"seed": 8, "findings": found[2:], "first": letters_of(found)}
    assert "4 faults found, 2 missed, 0 wrong" in repr(chapter13.my_cluster.check(answer))
    assert "no seed of your own" in repr(chapter13.my_cluster.check(answer | {"seed": TAKEN[-1]}))
    assert chapter13.my_cluster.check(answer | {"findings": ...}).outcome == NOT_ATTEMPTED


def test_every_kind_of_fault_has_its_own_first_thing_to_do():
    assert {*FIRST} == {*KINDS}
    assert len({letter for letter, _ in FIRST.values()}) == len(KINDS)
