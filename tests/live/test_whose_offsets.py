"""Whose a committed offset is: a real broker keeps it for the group, whoever owns the partition next."""

from __future__ import annotations

import pytest

from conformance.mechanisms.consumer_groups import ConsumerPlayer
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings, simulate
from kafkalearn.consuming.handovers import handovers
from kafkalearn.live.request_values import NEWEST_COMMIT_WITH_NAMES
from tests.live.checked import holds

pytestmark = pytest.mark.live

TOPIC = "whose-offsets"
RECORD_COUNT = 4


@holds("what a rebalance loses, by whose the offsets are")
def test_the_next_owner_finds_what_another_member_has_committed(kafka, new_name):
    group_id = new_name("whose")
    group = ConsumerPlayer(kafka, group_id, {TOPIC: TOPIC})
    group.create({TOPIC: 1})
    joining = {"op": "join", "topics": [TOPIC], "rebalance_ms": 60_000}

    assert group.play(joining | {"m": "a"})["answer"]["assignment"] == {TOPIC: [0]}
    commit = {"op": "commit", "m": "a", "partitions": [[TOPIC, 0]], "version": NEWEST_COMMIT_WITH_NAMES}
    assert group.play(commit)["answer"] == {"errors": [[TOPIC, 0, "NONE"]]}
    group.play({"op": "leave", "m": "a"})
    assert group.play(joining | {"m": "b"})["answer"]["assignment"] == {TOPIC: [0]}
    found = kafka.committed(group_id)[TopicPartition(TOPIC, 0)].offset

    events = [Join("g", "a"), *[Produce()] * RECORD_COUNT, Poll("g", "a"), Leave("g", "a"), Join("g", "b")]
    ours = simulate(Settings(1), events)
    (handover,) = handovers(ours)
    assert found == handover.committed == ours[-1].state.group("g").positions[0] == 1
    assert handover.own is None  # the broker knows nothing of the kind
