"""Why the offsets of a group lie on one node: what other places would cost, and laws that hold for every group."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator import find_coordinator
from kafkalearn.coordinator.places import (
    FIND_COORDINATOR,
    METADATA,
    PLACES,
    PRODUCER,
    PlaceCost,
    connections,
    place_cost,
)


@st.composite
def clusters(draw):
    """(group id, leaders, members, brokers): each partition has a leader and an owner."""
    brokers, members = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    leaders = draw(st.lists(st.integers(1, brokers), min_size=1, max_size=12))
    owners = [draw(st.integers(1, members)) for _ in leaders]
    owned = {f"c{name}": [at for at, owner in enumerate(owners) if owner == name] for name in range(1, members + 1)}
    return draw(st.text(max_size=20)), leaders, owned, brokers


@given(clusters())
def test_all_members_go_to_the_one_coordinator_and_nobody_else_does(cluster):
    group_id, leaders, members, brokers = cluster
    found = connections(group_id, leaders, members, brokers=brokers)

    of_group = [each for each in found if each.found_by == FIND_COORDINATOR]
    assert [each.client for each in of_group] == list(members)
    assert {each.broker_id for each in of_group} == {find_coordinator(group_id, brokers=brokers).broker_id}
    assert all("OffsetCommit" in each.requests and "Heartbeat" in each.requests for each in of_group)


@given(clusters())
def test_each_partition_is_written_and_read_at_its_leader(cluster):
    group_id, leaders, members, brokers = cluster
    found = [each for each in connections(group_id, leaders, members, brokers=brokers) if each.found_by == METADATA]

    assert all(leaders[at] == each.broker_id for each in found for at in each.partitions)
    assert sorted(at for each in found if each.client == PRODUCER for at in each.partitions) == [*range(len(leaders))]
    for member, owned in members.items():
        fetched = [at for each in found if each.client == member for at in each.partitions]
        assert sorted(fetched) == owned
    assert len({(each.client, each.broker_id) for each in found}) == len(found)


@pytest.mark.parametrize(
    ("leaders", "members", "message"),
    [
        ([1, 4], {"c1": [0, 1]}, r"topic_leaders\[1\] is 4; the brokers are \[1, 2, 3\]"),
        ([1, 2], {"c1": [0]}, "must own each of the partitions 0 to 1 once; together they own"),
        ([1], {"c1": [0], "c2": [0]}, "must own each of the partitions 0 to 0 once"),
        ([1], ["c1"], "members must be a dict"),
        (1, {"c1": [0]}, "topic_leaders"),
    ],
)
def test_what_is_no_cluster_is_refused(leaders, members, message):
    with pytest.raises(KafkaLearnError, match=message):
        connections("billing", leaders, members, brokers=3)


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
