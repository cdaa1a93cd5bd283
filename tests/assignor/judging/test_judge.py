from functools import partial

import pytest

from kafkalearn.assignors import assign, judge_assignor
from kafkalearn.assignors.judging import judged_groups
from kafkalearn.assignors.registry import find_assignor
from kafkalearn.base.errors import KafkaLearnError
from tests.assignor.groups import TODAY


@pytest.mark.parametrize(("side", "name"), [each for each in TODAY if each != ("client", "cooperative-sticky")])
def test_kafkas_own_assignors_keep_what_they_promise(side, name):
    assert judge_assignor(partial(assign, name, side=side), find_assignor(name, side).balance)


@pytest.mark.parametrize("name", ["sticky", "uniform"])
def test_those_that_are_sticky_are_found_so(name):
    assert judge_assignor(partial(assign, name), is_sticky=True)


@pytest.mark.parametrize("name", ["range", "roundrobin"])
def test_those_that_are_not_sticky_are_found_out_by_a_group_of_few(name):
    judgement = judge_assignor(partial(assign, name), find_assignor(name).balance, is_sticky=True)
    assert judgement.broken[0].law == "sticky"
    assert sum(judgement.partition_counts.values()) + len(judgement.members) <= 5


def everything(counts):
    return [(topic, number) for topic, count in counts.items() for number in range(count)]


def nobody(counts, members):
    return {}


def twice(counts, members):
    return {member.member_id: everything(counts) for member in members}


def too_much(counts, members):
    return {members[0].member_id: [*everything(counts), ("a", 99)]}


def to_the_last(counts, members):
    return {members[-1].member_id: everything(counts)}


def with_a_bug(counts, members):
    return {members[1].member_id: everything(counts)}


@pytest.mark.parametrize(
    ("assignor", "law", "group"),
    [
        (nobody, "complete", ({"a": 1}, 1)),
        (twice, "exclusive", ({"a": 1}, 2)),
        (too_much, "real", ({"a": 1}, 1)),
        (with_a_bug, "an assignment", ({"a": 1}, 1)),
        (lambda counts, members: 7, "an assignment", ({"a": 1}, 1)),
        (lambda counts, members: {"stranger": everything(counts)}, "an assignment", ({"a": 1}, 1)),
        (lambda counts, members: {members[0].member_id: "a-0"}, "an assignment", ({"a": 1}, 1)),
        (lambda counts, members: {members[0].member_id: ["a-0"]}, "an assignment", ({"a": 1}, 1)),
    ],
)
def test_a_broken_law_is_shown_in_the_smallest_group(assignor, law, group):
    judgement = judge_assignor(assignor)
    assert not judgement
    assert judgement.broken[0].law == law
    assert (judgement.partition_counts, len(judgement.members)) == group


def test_whoever_gets_what_it_does_not_subscribe_to_is_found():
    judgement = judge_assignor(to_the_last, promise="if alike")
    assert {law.law for law in judgement.broken} <= {"balanced", "subscribed"}
    only_one = judge_assignor(lambda counts, members: partial(assign, "range")(counts, members[:1]))
    assert not only_one


def test_the_verdict_tells_the_counter_example():
    said = str(judge_assignor(to_the_last))
    assert said.splitlines() == [
        "It breaks a law in group 9, the smallest that fails: not balanced: m1 has 2 and m0 has 0; a-0 can move.",
        "topics: a with 2 partitions",
        "m0 subscribes to a",
        "m1 subscribes to a",
        "it gives",
        "  m1: a-0 a-1",
    ]


def test_the_groups_come_smallest_first_and_every_topic_has_a_reader():
    sizes = [sum(counts.values()) + len(members) for counts, members in judged_groups()]
    assert sizes[:595] == sorted(sizes[:595])
    for counts, members in judged_groups():
        assert {topic for member in members for topic in member.topics} >= set(counts)


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(KafkaLearnError, match="unknown promise 'fair'"):
        judge_assignor(nobody, "fair")
    with pytest.raises(KafkaLearnError, match="assignor must be a function"):
        judge_assignor({"m0": []})
