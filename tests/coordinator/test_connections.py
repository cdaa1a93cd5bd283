"""Whom clients are connected to: one coordinator for all members, and the leaders of what each writes and reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator import find_coordinator
from kafkalearn.coordinator.places import FIND_COORDINATOR, METADATA, PRODUCER, connections


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
