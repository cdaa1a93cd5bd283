"""From which replica a consumer reads: as Kafka's selector says, and what a consumer does about it."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming.nearest import (
    NOTHING,
    OUT_OF_RANGE,
    RECORDS,
    SENT_ON,
    Moment,
    ReplicaView,
    preferred_replica,
    read_steps,
)
from tests.every import every_case
from tests.recorded import recorded


@every_case("case", recorded("nearest-replica")["cases"])
def test_the_selector_selects_as_the_released_classes(case):
    partition, selected = case
    client_rack, *replicas = partition.split("|")
    leader, *followers = [
        ReplicaView(int(broker), rack or None, int(end), behind_ms=int(behind))
        for broker, rack, end, behind in (each.split(":") for each in replicas)
    ]
    assert (preferred_replica(leader, followers, 0, client_rack) or leader.broker_id) == selected


LEADER = ReplicaView(1, "a", 100, 100)


@pytest.mark.parametrize(
    ("follower", "sent_to"),
    [
        (ReplicaView(2, "b", 90), 2),
        (ReplicaView(2, "b", 90, is_in_sync=False), None),
        (ReplicaView(2, "b", 49), None),
        (ReplicaView(2, "b", 90, log_start_offset=51), None),
        (ReplicaView(2, "c", 90), None),
    ],
)
def test_a_follower_that_lags_or_has_not_the_offset_is_no_candidate(follower, sent_to):
    assert preferred_replica(LEADER, [follower], 50, "b") == sent_to


def test_a_consumer_stays_with_a_follower_until_the_lease_ends_or_the_leader_changes():
    near = ReplicaView(2, "b", 100, 100)
    moments = [Moment(at_ms, LEADER, (near,)) for at_ms in (0, 1, 300_000, 300_001, 300_002)]
    steps = read_steps([*moments, Moment(300_003, near, (LEADER,))], "b")
    assert [(step.asked, step.answer) for step in steps] == [
        (1, SENT_ON),
        (2, RECORDS),
        (2, NOTHING),
        (1, SENT_ON),
        (2, NOTHING),
        (2, NOTHING),  # it leads now, and is asked as such
    ]


def test_an_offset_above_the_followers_log_sends_the_consumer_back_without_a_reset():
    far_behind = ReplicaView(2, "b", 40, 40)
    moments = [Moment(0, LEADER, (ReplicaView(2, "b", 100, 60),)), Moment(1, LEADER, (far_behind,))]
    steps = read_steps([*moments, Moment(2, LEADER, (far_behind,))], "b", fetch_offset=50)
    assert [(step.asked, step.answer, step.next_offset) for step in steps] == [
        (1, SENT_ON, 50),
        (2, OUT_OF_RANGE, 50),
        (1, RECORDS, 100),
    ]


def test_without_a_selector_everybody_reads_from_the_leader():
    near = ReplicaView(2, "b", 100, 100)
    steps = read_steps([Moment(0, LEADER, (near,))], "b", has_selector=False)
    assert [(step.asked, step.answer) for step in steps] == [(1, RECORDS)]


def test_a_replica_that_is_gone_is_told():
    near = ReplicaView(2, "b", 100, 100)
    with pytest.raises(KafkaLearnError, match="broker 2 is read from"):
        read_steps([Moment(0, LEADER, (near,)), Moment(1, LEADER, ())], "b")
