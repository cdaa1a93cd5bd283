"""Two hundred groups: the partition that their commits lie in, and the broker that says it coordinates them."""

from __future__ import annotations

import random

import pytest

from conformance.mechanisms.offsets import COORDINATORS
from conformance.search import compare
from kafkalearn.base.hashing import java_string_hash
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.live.errors import wait_for
from kafkalearn.live.request_values import error_name
from kafkalearn.operations.offsets_topic import BrokerStarted, Metadata, Settings, simulate
from tests.live.checked import holds

pytestmark = pytest.mark.live

LETTERS = "abcXYZ-_.09é東😀"  # the last one takes two of Java's characters
HASH_OF_THE_SMALLEST_INT = "polygenelubricants"


def group_ids() -> list[str]:
    drawn = random.Random(7)
    odd = {"".join(drawn.choice(LETTERS) for _ in range(drawn.randint(1, 30))) for _ in range(60)}
    return [HASH_OF_THE_SMALLEST_INT, *sorted(odd)[:49], *(f"group-{number}" for number in range(150))]


def named(kind: str) -> str:
    """The groups have these very names; the topic has any."""
    return "" if kind == "coordinated" else kind


@holds(*COORDINATORS.rules)
def test_two_hundred_groups_are_coordinated_and_kept_where_we_say(cluster):
    patient = {"broker.session.timeout.ms": 30_000}  # nobody dies here, and nobody is to be taken for dead
    kafka, groups = cluster(**COORDINATORS.settings, config=patient), group_ids()
    answer = COORDINATORS.ask(kafka, groups, named)

    assert [each["group"] for each in answer["groups"]] == groups
    assert len(set(groups)) == 200
    assert {each["coordinator"] for each in answer["groups"]} == {1, 2, 3}
    assert answer["groups"][0]["partition"] == 0
    assert java_string_hash(HASH_OF_THE_SMALLEST_INT) == -(2**31)
    assert compare(COORDINATORS, kafka.release.line, groups, answer) is None


def metadata_of(kafka, allow_auto_topic_creation):
    """What a broker answers to a Metadata request that names the offsets topic."""
    asked = {"topics": [{"name": OFFSETS_TOPIC}], "allowAutoTopicCreation": allow_auto_topic_creation}
    (topic,) = kafka.ask(1, "Metadata", asked)["topics"]
    return error_name(topic["errorCode"]), len(topic["partitions"])


@holds("creation of the offsets topic")
def test_a_metadata_request_makes_the_offsets_topic_where_client_and_broker_allow_it(cluster):
    kafka = cluster(1, config={"auto.create.topics.enable": True})
    asked = (False, True, True)
    settings = Settings((1,), replication_factor=1, release=kafka.release.line)
    trace = simulate(settings, [BrokerStarted(1), *map(Metadata, asked)])
    expected = [(each.error, each.partition_count) for frame in trace[2:] for each in [frame.state.effects[-1]]]

    answers = [metadata_of(kafka, each) for each in asked[:2]]
    wait_for(lambda: OFFSETS_TOPIC in kafka.topics(), True, "the topic's creation")
    assert [*answers, metadata_of(kafka, asked[2])] == expected
    assert expected[2] == ("NONE", 50)
