"""Whose a committed offset is: a real broker keeps it for the group, whoever owns the partition next."""

from __future__ import annotations

import pytest

from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings, simulate
from kafkalearn.consuming.handovers import handovers
from kafkalearn.topic_partition import TopicPartition
from tests.live.checked import holds
from tests.live.consumer import COMMIT_VERSION, LEAVES, LONG_MS, NEW, LiveGroup

pytestmark = pytest.mark.live

TOPIC = "whose-offsets"
RECORD_COUNT = 4


@holds("what a rebalance loses, by whose the offsets are")
def test_the_next_owner_finds_what_another_member_has_committed(kafka, new_name):
    kafka.create_topic(TOPIC, 1)
    group_id = new_name("whose")
    group = LiveGroup(kafka, group_id, {TOPIC: 1}, kafka.metadata([TOPIC]).topic_ids)
    joining = {"op": "heartbeat", "epoch": NEW, "topics": [TOPIC], "owned": {}, "rebalance_ms": LONG_MS}

    assert group.play(joining | {"member": "a"})["answer"]["assignment"] == {TOPIC: [0]}
    epoch = group.epochs["a"]
    values = {"op": "commit", "member": "a", "epoch": epoch, "partitions": [[TOPIC, 0]], "version": COMMIT_VERSION}
    assert group.play(values)["answer"] == {"errors": [[TOPIC, 0, "NONE"]]}
    group.play({"op": "heartbeat", "member": "a", "epoch": LEAVES})
    assert group.play(joining | {"member": "b"})["answer"]["assignment"] == {TOPIC: [0]}
    found = kafka.committed(group_id)[TopicPartition(TOPIC, 0)].offset

    events = [Join("g", "a"), *[Produce()] * RECORD_COUNT, Poll("g", "a"), Leave("g", "a"), Join("g", "b")]
    ours = simulate(Settings(1), events)
    (handover,) = handovers(ours)
    assert found == handover.committed == ours[-1].state.group("g").positions[0] == 1
    assert handover.own is None  # the broker knows nothing of the kind
