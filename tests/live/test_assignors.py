"""Real groups of real consumers: after every join and leave each has what the assignor gives it by our rules."""

from __future__ import annotations

import pytest

from kafkalearn.assignors import Member, assign
from tests.live.checked import holds
from tests.live.groups import ConsumerGroup

pytestmark = pytest.mark.live

FAST = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 50}


@pytest.fixture(scope="module")
def topics(kafka):
    """Two topics for all groups."""
    counts = {"assignors-A": 4, "assignors-B": 3}
    for topic, count in counts.items():
        kafka.create_topic(topic, count)
    return counts


def as_assigned(group) -> dict:
    return {member.member_id: list(member.assignment) for member in group.members}


def predicted(assignor, counts, group, side="client", **options) -> dict:
    members = [Member(each.member_id, each.topics, instance_id=each.instance_id) for each in group.members]
    answer = assign(assignor, counts, members, side=side, **options)
    return {member_id: sorted(places) for member_id, places in answer.items()}


@holds("who gets which partition")
@pytest.mark.parametrize("assignor", ["range", "roundrobin"])
def test_joins_and_leaves_of_a_classic_group(kafka, new_name, topics, assignor):
    group = ConsumerGroup(kafka, new_name(assignor), topics, partition_assignment_strategy=assignor, **FAST)
    steps = [
        lambda: group.join("c1"),
        lambda: group.join("c2"),
        lambda: group.join("c3", ["assignors-B"]),
        lambda: group.leave("c2"),
    ]
    for step in steps:
        settled = step()
        assert as_assigned(settled) == predicted(assignor, topics, settled)
    group.close()


@holds("who gets which partition")
@pytest.mark.parametrize("assignor", ["range", "roundrobin"])
def test_static_members_are_ordered_by_their_instance_ids(kafka, new_name, topics, assignor):
    group = ConsumerGroup(kafka, new_name(assignor), topics, partition_assignment_strategy=assignor, **FAST)
    for client_id, instance_id in (("c1", "z"), ("c2", "y"), ("c3", "x")):
        settled = group.join(client_id, group_instance_id=instance_id)
        assert {member.instance_id for member in settled.members} <= {"x", "y", "z"}
        assert as_assigned(settled) == predicted(assignor, topics, settled)
    group.close()


@holds("who gets which partition")
def test_joins_and_leaves_of_a_consumer_group_with_the_brokers_range(kafka, new_name, topics):
    group = ConsumerGroup(kafka, new_name("range"), topics, group_protocol="consumer", group_remote_assignor="range")
    for step in (
        lambda: group.join("c1"),
        lambda: group.join("c2"),
        lambda: group.join("c3"),
        lambda: group.leave("c1"),
    ):
        settled = step()
        assert as_assigned(settled) == predicted("range", topics, settled, side="broker")
    group.close()
