"""Why the offsets of a group lie on one node: what other places would cost, and laws that hold for every group."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator import find_coordinator
from kafkalearn.coordinator.places import PLACES, PlaceCost, place_cost

MEMBERS = ("c1", "c2", "c3", "c4")
partitions = st.builds(TopicPartition, st.sampled_from(["orders", "payments", "returns"]), st.integers(0, 9))
owners = st.dictionaries(partitions, st.tuples(st.sampled_from(MEMBERS), st.sampled_from(MEMBERS)), min_size=1)
brokers = st.integers(1, 9)


def costs(owned, broker_count):
    before = {at: pair[0] for at, pair in owned.items()}
    after = {at: pair[1] for at, pair in owned.items()}
    return {place: place_cost(place, "billing", before, after, brokers=broker_count) for place in PLACES}


@given(owners, brokers)
def test_by_group_every_member_has_one_node_before_and_after(owned, broker_count):
    members = len({after for _, after in owned.values()})

    assert costs(owned, broker_count)["group"] == PlaceCost(members, members, 0)


@given(owners, brokers)
def test_no_place_needs_fewer_connections_or_reads_than_by_group(owned, broker_count):
    found = costs(owned, broker_count)

    for each in found.values():
        assert each.connections >= found["group"].connections
        assert each.reads >= found["group"].reads


@given(owners, brokers)
def test_only_by_consumer_a_rebalance_leaves_offsets_behind(owned, broker_count):
    found = costs(owned, broker_count)

    assert [found[place].left_behind for place in ("partition", "topic", "group")] == [0, 0, 0]
    assert found["consumer"].connections == found["group"].connections
    assert found["consumer"].left_behind <= sum(before != after for before, after in owned.values())


@given(owners)
def test_with_one_broker_all_places_are_the_same(owned):
    assert len(set(costs(owned, 1).values())) == 1


def test_by_group_the_node_is_the_coordinator():
    """One member, one partition: by consumer its offset lies where a group of the member's name would be."""
    at = TopicPartition("orders", 0)
    for old, new in (("c1", "c2"), ("c1", "c17")):
        moved = find_coordinator(old, brokers=5).broker_id != find_coordinator(new, brokers=5).broker_id
        found = place_cost("consumer", "billing", {at: old}, {at: new}, brokers=5)
        assert found == PlaceCost(1, 1, int(moved))


def test_what_does_not_fit_is_refused():
    at = TopicPartition("orders", 0)
    with pytest.raises(KafkaLearnError, match="unknown place 'member'"):
        place_cost("member", "billing", {at: "c1"}, {at: "c1"}, brokers=3)
    with pytest.raises(KafkaLearnError, match="before and after must have the same partitions"):
        place_cost("group", "billing", {at: "c1"}, {}, brokers=3)
