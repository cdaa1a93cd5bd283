"""Two hundred groups: the partition that their commits lie in, and the broker that says it coordinates them."""

from __future__ import annotations

import random

import pytest

from kafkalearn.coordinator import find_coordinator, look_up, offsets_partition
from kafkalearn.hashing import java_string_hash
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.requests.values import NEWEST_COMMIT_WITH_NAMES, commit
from kafkalearn.live.waiting import wait_for
from kafkalearn.offsets import decode_key
from kafkalearn.topic_partition import TopicPartition
from tests.live.checked import holds

pytestmark = pytest.mark.live

OFFSETS_TOPIC = "__consumer_offsets"
LETTERS = "abcXYZ-_.09é東😀"  # the last one takes two of Java's characters
HASH_OF_THE_SMALLEST_INT = "polygenelubricants"


def group_ids() -> list[str]:
    drawn = random.Random(7)
    odd = {"".join(drawn.choice(LETTERS) for _ in range(drawn.randint(1, 30))) for _ in range(60)}
    return [HASH_OF_THE_SMALLEST_INT, *sorted(odd)[:49], *(f"group-{number}" for number in range(150))]


@holds(
    "hash of a group id", "group id to offsets partition", "FindCoordinator", "FindCoordinator step by step",
    "keys of commits and groups",
)  # fmt: skip
def test_two_hundred_groups_are_coordinated_and_kept_where_we_say(cluster):
    kafka, groups = cluster(3), group_ids()
    kafka.create_topic("orders")
    place = TopicPartition("orders", 0)

    found = {group: kafka.coordinator(group) for group in groups}
    for group in groups:
        wait_for(lambda group=group: _commit(kafka, found[group], group, place), "NONE", f"commit of {group!r}:")

    known = kafka.metadata([OFFSETS_TOPIC])
    leaders = [known.leaders[OFFSETS_TOPIC, partition] for partition in range(known.partition_counts[OFFSETS_TOPIC])]
    written = {
        decode_key(record.key)[1]["group"]: partition
        for partition, leader in enumerate(leaders)
        for record in kafka.disk(leader).records(OFFSETS_TOPIC, partition)
    }

    assert len(groups) == len(written) == 200
    assert java_string_hash(HASH_OF_THE_SMALLEST_INT) == -(2**31)
    assert written == {group: offsets_partition(group, len(leaders)) for group in groups}
    assert found == {group: find_coordinator(group, leaders).broker_id for group in groups}
    assert found == {group: look_up(group, leaders)[-1].state.broker_id for group in groups}


def _commit(kafka, broker_id, group, place):
    answer = kafka.ask(broker_id, "OffsetCommit", commit(group, {place: 1}), NEWEST_COMMIT_WITH_NAMES)
    return error_name(answer["topics"][0]["partitions"][0]["errorCode"])
