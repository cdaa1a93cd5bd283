"""Offsets committed and fetched by hand, place by place, in the versions that any broker may know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkalearn.live.reading.brokers import refuse_error
from kafkalearn.live.reading.groups import MANY_GROUPS_SINCE, NEWEST_WITH_NAMES, Committed
from kafkalearn.live.waiting import wait_for
from kafkalearn.topic_partition import TopicPartition

GROUP, FIND_ONE = 0, 2  # the kind of coordinator; the newest version that asks for a single one, and says what failed
NOTHING = -1  # in place of an offset


def coordinator_of(kafka: Any, group_id: str, place: TopicPartition) -> int:
    """The broker that coordinates a group, once it answers for it: it may have to read its log first."""

    def look() -> int:
        answer = kafka.ask(
            min(kafka.metadata().addresses), "FindCoordinator", {"key": group_id, "keyType": GROUP}, FIND_ONE
        )
        refuse_error(answer, f"the coordinator of group {group_id!r}")
        fetched(kafka, answer["nodeId"], group_id, [place])
        return answer["nodeId"]

    return wait_for(look, lambda _: True, f"a coordinator of {group_id!r}")


def fetched(
    kafka: Any, broker: int, group_id: str, places: Iterable[TopicPartition]
) -> dict[TopicPartition, Committed]:
    """What a group has committed for these partitions; those without an offset are left out.

    Raises
    ------
    Refused
        If the coordinator answers with an error, for the group or for a partition.
    """
    numbers: dict[str, list[int]] = {}
    for place in places:
        numbers.setdefault(place.topic, []).append(place.partition)
    topics = [{"name": topic, "partitionIndexes": partitions} for topic, partitions in numbers.items()]
    version = kafka.version(broker, "OffsetFetch", NEWEST_WITH_NAMES)
    if version >= MANY_GROUPS_SINCE:
        values = {"groups": [{"groupId": group_id, "topics": topics}]}
        (answer,) = kafka.ask(broker, "OffsetFetch", values, version)["groups"]
    else:
        answer = kafka.ask(broker, "OffsetFetch", {"groupId": group_id, "topics": topics}, version)
    refuse_error(answer, f"the offsets of group {group_id!r}")
    found = {}
    for topic in answer["topics"]:
        for each in topic["partitions"]:
            place = TopicPartition(topic["name"], each["partitionIndex"])
            refuse_error(each, f"the offset of group {group_id!r} in {place}")
            if each["committedOffset"] != NOTHING:
                found[place] = Committed(each["committedOffset"], each["committedLeaderEpoch"], each["metadata"] or "")
    return found
