from functools import partial

import pytest

from kafkalearn.assignors import (
    Assignment,
    Member,
    assign,
    change,
    compare,
    cooperative_rounds,
    fewest_moves,
    judge_assignor,
    load,
    rejoin,
)
from kafkalearn.assignors.judging import judged_groups
from kafkalearn.assignors.laws import Change, Load
from kafkalearn.assignors.registry import find_assignor
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from tests.assignors.groups import TODAY


@pytest.mark.parametrize(("side", "name"), [each for each in TODAY if each != ("client", "cooperative-sticky")])
def test_kafkas_own_assignors_keep_what_they_promise(side, name):
    assert judge_assignor(partial(assign, name, side=side), find_assignor(name, side).balance)


@pytest.mark.parametrize("name", ["sticky", "uniform"])
def test_those_that_are_sticky_are_found_so(name):
    assert judge_assignor(partial(assign, name), is_sticky=True)


def test_an_answer_of_other_things_than_pairs_is_told():
    told = judge_assignor(lambda partition_counts, members: {each.member_id: ["a-0"] for each in members})
    assert "a member's partitions must be pairs such as ('a', 0), got 'a-0'" in told.broken[0].what


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


TEN = [Member(f"m{number:02}", ["t"]) for number in range(10)]
NINE = [member for member in TEN if member.member_id != "m03"]


def test_when_one_of_ten_leaves_five_nine_or_forty_seven_partitions_move_and_eager_gives_up_all():
    rows = compare(["sticky", "cooperative-sticky", "range", "roundrobin"], {"t": 50}, TEN, NINE)

    assert {row["assignor"]: row["moved"] for row in rows} == {
        "sticky": 5,
        "cooperative-sticky": 5,
        "range": 9,
        "roundrobin": 47,
    }
    assert {row["fewest"] for row in rows} == {5}
    assert {row["revoked, eager"] for row in rows} == {50}
    assert {row["spread"] for row in rows} == {1}


def test_topics_of_one_partition_pile_up_on_the_first_member_of_range():
    topics = [f"t{number}" for number in range(6)]
    members = [Member(f"C{number}", topics) for number in range(3)]
    loads = {name: load(assign(name, dict.fromkeys(topics, 1), members)) for name in ("range", "sticky")}

    assert loads == {
        "range": Load(member_count=3, partition_count=6, fewest=0, most=6, idle_count=2),
        "sticky": Load(member_count=3, partition_count=6, fewest=2, most=2, idle_count=0),
    }
    assert [loads[name].spread for name in loads] == [6, 0]


def partitions(*numbers):
    return [TopicPartition("t", number) for number in numbers]


def test_a_change_tells_kept_moved_new_and_lost_apart():
    before = Assignment({"A": partitions(0, 1, 2), "B": partitions(3)})
    after = Assignment({"A": partitions(0), "C": partitions(1, 5, 6), "B": partitions(3)})
    made = change(before, after)

    assert made == Change(kept_count=2, moved_count=1, new_count=2, lost_count=1)
    assert made.rows() == [
        {"measure": "kept", "value": 2},
        {"measure": "moved", "value": 1},
        {"measure": "new", "value": 2},
        {"measure": "lost", "value": 1},
        {"measure": "revoked, eager", "value": 4},
        {"measure": "revoked, cooperative", "value": 2},
    ]
    with pytest.raises(KafkaLearnError, match="unknown protocol 'eger'; did you mean 'eager'"):
        made.revoked_count("eger")


def test_no_members_and_no_partitions_are_measured_too():
    nothing = assign("sticky", {"t": 3}, [])
    assert load(nothing) == Load(0, 0, 0, 0, 0)
    assert change(nothing, nothing) == Change(0, 0, 0, 0)
    assert fewest_moves(Assignment({"A": partitions(0, 1, 2)}), {"t": 3}, []) == 0


def test_the_fewest_moves_may_push_partitions_on_from_member_to_member():
    # A may only read a, C only c; B reads both. Four of a are new: B gives its a to A, and takes nothing of c.
    members = [Member("A", ["a"]), Member("B", ["a", "c"]), Member("C", ["c"])]
    before = Assignment({"A": [], "B": [TopicPartition("a", 0)], "C": [TopicPartition("c", n) for n in range(5)]})

    assert fewest_moves(before, {"a": 1, "c": 5}, members) == 3
    assert fewest_moves(before, {"a": 1, "c": 1}, members) == 0


def test_what_moves_in_a_cooperative_group_is_unread_for_one_round_only():
    first = cooperative_rounds({"t": 50}, TEN)
    joined = [*rejoin("cooperative-sticky", TEN, first[-1].assignment, 1), Member("m99", ["t"])]
    rounds = cooperative_rounds({"t": 50}, joined)

    assert len(first) == 1
    assert [load(each.assignment).partition_count for each in rounds] == [46, 50]
    assert [sum(map(len, each.revoked().values())) for each in rounds] == [4, 0]
    assert change(first[-1].assignment, rounds[-1].assignment).moved_count == 4
