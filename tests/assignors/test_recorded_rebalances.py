"""What real members of classic groups heard in a rebalance: see tests/vectors/assignor/rebalances.json."""

from itertools import groupby

from kafkalearn.assignors import Member, cooperative_rounds, rebalance, rejoin
from kafkalearn.assignors.carrying_out import StartedReading, StoppedReading
from kafkalearn.base.topic_partition import TopicPartition
from tests.every import every_case
from tests.recorded import recorded

RECORDED = recorded("rebalances")["cases"]


def is_late(case):
    """Whether a member missed a generation: a quicker one asked for the next before it had its part of this one."""
    assigned = [(generation, name) for name, what, generation, _, _ in case["after"] if what == "assigned"]
    names, last = {*case["members"][1]}, max(generation for generation, _ in assigned)
    return {*assigned} != {(generation, name) for generation in range(2, last + 1) for name in names}


CASES = [case for case in RECORDED if not is_late(case)]
COOPERATIVE = [case for case in CASES if case["assignor"] == "cooperative-sticky"]
SAID = {StoppedReading: "revoked", StartedReading: "assigned"}


def members_of(case, place):
    """The members before or after, by the ids that the coordinator gave them."""
    return [Member(case["ids"][name], topics) for name, topics in case["members"][place].items()]


def named(partitions):
    return sorted(f"{each.topic}-{each.partition}" for each in partitions)


def owned_at_first(case):
    """What each member owned when the group had formed."""
    return {case["ids"][name]: sorted(owned) for name, _, _, _, owned in case["before"]}


@every_case("case", RECORDED, ids=lambda case: case["name"])
def test_the_group_forms_as_it_did(case):
    first = rebalance(case["assignor"], case["topics"], *(members_of(case, 0),) * 2)[0].state.reading
    assert {member_id: named(owned) for member_id, owned in first.items()} == owned_at_first(case)


@every_case("case", CASES, ids=lambda case: case["name"])
def test_callbacks_come_moment_by_moment_with_the_same_partitions(case):
    """Within one moment members hear in any order; none hears of the next before all have heard of this one."""
    trace = rebalance(case["assignor"], case["topics"], members_of(case, 0), members_of(case, 1))
    names = {member_id: name for name, member_id in case["ids"].items()}
    heard = [[name, what, sorted(places)] for name, what, _, places, _ in case["after"] if places]
    for frame in trace[1:]:
        effects = [each for each in frame.state.effects if type(each) in SAID]
        ours = [[names[each.member_id], SAID[type(each)], named(each.partitions)] for each in effects]
        now, heard = heard[: len(ours)], heard[len(ours) :]
        assert sorted(now) == sorted(ours), frame.event
    assert heard == []


@every_case("case", RECORDED, ids=lambda case: case["name"])
def test_the_group_settles_as_it_did_even_where_a_member_was_late(case):
    owned = {name: owned for name, what, _, _, owned in case["after"] if what == "assigned"}
    last = rebalance(case["assignor"], case["topics"], members_of(case, 0), members_of(case, 1))[-1].state.reading
    assert {member_id: named(its) for member_id, its in last.items()} == {
        case["ids"][name]: sorted(its) for name, its in owned.items()
    }


def test_a_member_is_late_now_and_then():
    assert 0 < len(RECORDED) - len(CASES) < len(COOPERATIVE) / 2


@every_case("case", COOPERATIVE, ids=lambda case: case["name"])
def test_a_cooperative_group_takes_as_many_rounds_with_the_same_assignments(case):
    first = {
        member_id: [TopicPartition(place.rpartition("-")[0], int(place.rpartition("-")[2])) for place in owned]
        for member_id, owned in owned_at_first(case).items()
    }
    members = rejoin("cooperative-sticky", members_of(case, 1), first, generation=1)
    ours = [
        {member_id: named(owned) for member_id, owned in each.assignment.items()}
        for each in cooperative_rounds(case["topics"], members)
    ]
    assigned = sorted((each for each in case["after"] if each[1] == "assigned"), key=lambda each: each[2])
    theirs = [
        {case["ids"][name]: sorted(owned) for name, _, _, _, owned in some}
        for _, some in groupby(assigned, key=lambda each: each[2])
    ]
    assert ours == theirs
