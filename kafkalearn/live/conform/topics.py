"""Topics for single cases: made, and waited for until their leaders answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkalearn.live.reading.brokers import refuse_error
from kafkalearn.live.reading.logs import CONSUMER, LATEST, NEWEST_WITHOUT_TIMEOUT, READ_UNCOMMITTED
from kafkalearn.live.waiting import wait_for
from kafkalearn.topic_partition import TopicPartition

TIMEOUT_MS = 15_000


def new_topic(
    kafka: Any, name: str, partitions: int = 1, config: Mapping[str, object] | None = None
) -> dict[TopicPartition, int]:
    """Make a topic; the leader of each of its partitions, once each of them answers as such.

    A broker is named as leader a moment before it is one; until then it answers NOT_LEADER_OR_FOLLOWER.
    """
    if is_made_by_request(kafka):
        create_by_request(kafka, name, partitions, config or {})
    else:
        kafka.create_topic(name, partitions, config=config)
    wait_for(lambda: len(leaders_of(kafka, name)) >= partitions, True, f"leaders of {name!r}:")
    leaders = leaders_of(kafka, name)
    wait_for(lambda: set(log_ends(kafka, leaders).values()), {0}, f"empty logs of {name!r}: their ends are")
    return leaders


def is_made_by_request(kafka: Any) -> bool:
    """Whether the cluster takes CreateTopics."""
    return kafka.knows(_any_broker(kafka), "CreateTopics")


def create_by_request(kafka: Any, name: str, partitions: int, config: Mapping[str, object], replicas: int = 1) -> None:
    """Make a topic; nothing is waited for.

    Raises
    ------
    Refused
        If the cluster refuses; the message is the broker's.
    """
    topic = {
        "name": name,
        "numPartitions": partitions,
        "replicationFactor": replicas,
        "assignments": [],
        "configs": [{"name": key, "value": str(value)} for key, value in config.items()],
    }
    values = {"topics": [topic], "timeoutMs": TIMEOUT_MS, "validateOnly": False}
    for each in kafka.ask(_any_broker(kafka), "CreateTopics", values)["topics"]:
        refuse_error(each, f"topic {name!r} is not created")


def _any_broker(kafka: Any) -> int:
    return min(kafka.metadata().addresses)


def leaders_of(kafka: Any, topic: str) -> dict[TopicPartition, int]:
    """The leader of each partition of a topic, by partition."""
    known = kafka.metadata([topic])
    places = [TopicPartition(topic, partition) for partition in range(known.partition_counts[topic])]
    return {place: known.leaders[place] for place in places if place in known.leaders}


def log_ends(kafka: Any, leaders: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """The high watermark of each partition; a request to each leader.

    Raises
    ------
    Refused
        If one of them gives none.
    """
    ends = {}
    for leader in sorted(set(leaders.values())):
        topics: dict[str, list[dict]] = {}
        for place, each in leaders.items():
            if each == leader:
                topics.setdefault(place.topic, []).append({"partitionIndex": place.partition, "timestamp": LATEST})
        values = {
            "replicaId": CONSUMER,
            "isolationLevel": READ_UNCOMMITTED,
            "topics": [{"name": topic, "partitions": asked} for topic, asked in topics.items()],
        }
        version = kafka.version(leader, "ListOffsets", NEWEST_WITHOUT_TIMEOUT)
        for topic in kafka.ask(leader, "ListOffsets", values, version)["topics"]:
            for found in topic["partitions"]:
                place = TopicPartition(topic["name"], found["partitionIndex"])
                refuse_error(found, f"the end of {place}")
                ends[place] = found["offset"]
    return ends
