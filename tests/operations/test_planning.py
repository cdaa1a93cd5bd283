"""Plans for brokers that come and go: what must hold of any, and that the one that moves least moves no more."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.operations.leadership import Moved, moved_bytes, partition_of
from kafkalearn.operations.placement import Broker, place_shifted, place_striped
from kafkalearn.operations.planning import copy_seconds, deal_anew, move_least, shared_rack_count
from kafkalearn.operations.reassignment import Cluster, generate, plan_of


def in_racks(count, racks="abc"):
    return [Broker(each, racks[each % len(racks)]) for each in range(count)]


def copies(before, after):
    return sum(len({*new} - {*old}) for old, new in zip(before, after, strict=True))


def held(placement, brokers):
    counts = Counter(each for replicas in placement for each in replicas)
    return [counts[each.id] for each in brokers]


@given(st.data())
def test_any_plan_has_all_replicas_on_brokers_that_are_there_and_loses_no_rack(data):
    draw = data.draw
    brokers = in_racks(draw(st.integers(3, 9)), draw(st.sampled_from(["a", "ab", "abc", "abcd"])))
    ids = [each.id for each in brokers]
    lists = st.lists(st.sampled_from(ids), min_size=3, max_size=3, unique=True)
    before = draw(st.lists(lists, min_size=1, max_size=30))
    after = draw(st.lists(st.sampled_from(brokers), min_size=3, unique=True))
    possible = min(3, len({each.rack for each in after}))
    rack_of = {each.id: each.rack for each in brokers}
    for plan in (move_least(before, after), deal_anew(before, after)):
        assert len(plan) == len(before)
        for replicas in plan:
            assert len({*replicas}) == 3
            assert {*replicas} <= {each.id for each in after}
            assert len({rack_of[each] for each in replicas}) == possible


@given(st.integers(3, 12), st.integers(1, 3), st.integers(1, 80), st.integers(0, 5), st.integers(0, 3))
def test_without_racks_all_hold_equally_many_and_no_copy_is_made_that_balance_does_not_ask_for(
    broker_count, replica_count, partition_count, new, start
):
    before = place_shifted(range(broker_count), partition_count, replica_count, start)
    brokers = [Broker(each) for each in range(broker_count + new)]
    after = move_least(before, brokers)
    counts = held(after, brokers)
    assert max(counts) - min(counts) <= 1
    had = held(before, brokers)
    assert copies(before, after) == sum(max(now - was, 0) for now, was in zip(counts, had, strict=True))


@pytest.mark.parametrize("gone", [0, 4, 11])
def test_a_broker_that_goes_leaves_what_it_had_and_nobody_else_moves(gone):
    before = place_striped(in_racks(12), 600, 3)
    brokers = [each for each in in_racks(12) if each.id != gone]
    after = move_least(before, brokers)
    assert copies(before, after) == held(before, in_racks(12))[gone]
    counts = held(after, [each for each in brokers if each.rack == "abc"[gone % 3]])
    assert max(counts) - min(counts) <= 1  # its rack takes all of it: no other one may


def test_a_third_rack_gets_one_replica_of_each_partition():
    old, new = in_racks(12, "ab"), [Broker(12 + each, "c") for each in range(6)]
    before = place_striped(old, 360, 3)
    racks = {each.id: each.rack for each in old + new}
    after = move_least(before, old + new)
    assert (shared_rack_count(before, racks), shared_rack_count(after, racks)) == (360, 0)
    assert {*held(after, new)} == {60}
    assert copies(before, after) < 1.1 * 360 < 2 * 360 < copies(before, deal_anew(before, old + new))


def test_leaders_are_spread_without_a_copy():
    before = [(1, 2, 3)] * 9
    after = move_least(before, [1, 2, 3])
    assert copies(before, after) == 0
    assert Counter(each[0] for each in after) == {1: 3, 2: 3, 3: 3}


def test_dealt_anew_is_what_the_tool_proposes():
    before = place_shifted([1, 2, 3], 40, 2)
    cluster = Cluster([1, 2, 3, 4], {"orders": before})
    proposed = generate(["orders"], [1, 2, 3, 4], cluster)
    assert deal_anew(before, [1, 2, 3, 4]) == tuple(each.replicas for each in proposed)


def test_each_broker_needs_a_throttle_above_what_is_written():
    partitions = [partition_of("orders", n, [1, 2], size_bytes=1000 * (n + 1)) for n in range(2)]
    rates = [partition_of("orders", n, [1, 2], size_bytes=10 * (n + 1)) for n in range(2)]
    plan = plan_of("orders", [(1, 3), (1, 3)])
    moved, written = moved_bytes(partitions, plan), moved_bytes(rates, plan)
    assert copy_seconds(moved, written, 130) == Fraction(3000, 100)
    assert copy_seconds(moved, written, 30) is None
    assert copy_seconds(moved, [], 30) == 100
    assert copy_seconds([Moved(1, 0, 0, 5)], written, 1) == 0


@pytest.mark.parametrize(
    ("before", "brokers", "words"),
    [
        ([], [1], "at least one partition"),
        ([(1, 2), (1,)], [1, 2], "equally many"),
        ([(1, 2)], [1], "2 replicas need as many brokers"),
        ([(1,)], [Broker(1, "a"), Broker(2)], "only some of the brokers have a rack"),
    ],
)
def test_what_cannot_be_planned_is_refused(before, brokers, words):
    with pytest.raises(KafkaLearnError, match=words):
        move_least(before, brokers)
