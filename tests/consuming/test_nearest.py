"""From which replica a consumer reads: as Kafka's selector says, and what a consumer does about it."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.consuming import nearest
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


PLACE = TopicPartition("t", 0)
READS = {"assignment": {"C": [PLACE]}, "rack_of": {"C": "a"}, "replica_racks": {"t": [["a"]]}, "bytes_of": {PLACE: 7}}


@every_case(
    "given, says",
    [
        ({"assignment": {"D": [PLACE]}}, "rack_of must name a member 'D', and has ['C']"),
        ({"assignment": {"C": [TopicPartition("u", 0)]}}, "replica_racks must name a topic 'u', and has ['t']"),
        ({"assignment": {"C": [TopicPartition("t", 1)]}}, "replica_racks has 1 partition of t, and t-1 is read"),
        ({"assignment": {"C": [TopicPartition("t", -1)]}}, "replica_racks has 1 partition of t, and t--1 is read"),
        ({"bytes_of": {}}, "bytes_of must name a partition t-0, and has nothing"),
        ({"bytes_of": "7"}, "bytes_of must be a dict from TopicPartition to bytes, or one number for all, got str '7'"),
        ({"assignment": 3}, "assignment must be a dict from member to partitions, got int 3"),
        ({"assignment": {"C": ["t-0"]}}, "assignment must give each member TopicPartitions, got 't-0'"),
        ({"replica_racks": {"t": 3}}, "replica_racks of t must be a list or tuple of racks by partition, got int 3"),
        ({"replica_racks": {10**5000: [["a"]]}}, "replica_racks must name a topic 't', and has a list that cannot be"),
        ({"replica_racks": {"t": [[]]}}, "the racks of t-0 must begin with the leader's, and there are none"),
        ({"rack_of": None}, "rack_of must be a dict from member to zone, got NoneType None"),
    ],
)
def test_who_or_what_is_not_named_is_said_and_what_is_known(given, says):
    assert nearest.zone_traffic(**READS, reads_nearest=True) == nearest.Traffic(7, 0)
    with pytest.raises(KafkaLearnError) as refused:
        nearest.zone_traffic(**{**READS, **given}, reads_nearest=True)
    assert says in str(refused.value)


@every_case("moments, says", [(3, "moments must be a collection of Moment"), ([3], "and one of them is 3")])
def test_moments_of_another_type_are_refused(moments, says):
    with pytest.raises(KafkaLearnError, match=says):
        nearest.read_steps(moments, "a")
