"""Groups of the newer protocols, whose members, targets and assignments have records of their own.

The state is not written down: it follows from three counters. A group epoch above the assignment epoch means that an
assignment is due; a member below the assignment epoch has not taken its new one yet.

A subscription may be in another record than its member: a KIP-848 member may name a regular expression, whose topics
have a record of their own; the members of a streams group read the source topics of its topology.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from kafkalearn.group_states import ASSIGNING, EMPTY, NOT_READY, RECONCILING, STABLE
from kafkalearn.offsets.groups import CONSUMER, SHARE, STREAMS, Group, Member
from kafkalearn.offsets.records.codec import Fields, OffsetsRecord
from kafkalearn.topic_partition import TopicPartition

_Held: TypeAlias = Mapping[str, Any]  # decoded: what each holds, the layout of its record type says

DEFAULT_ASSIGNOR = "uniform"  # the first of group.consumer.assignors
MEMBER_IS_STABLE = {CONSUMER: 0, SHARE: 0, STREAMS: 1}

GROUP_RECORDS = {CONSUMER: 3, SHARE: 11, STREAMS: 17}  # the record type that makes a group one of its kind
MEMBER_RECORDS = {CONSUMER: 5, SHARE: 10, STREAMS: 19}
MAKES_ONE_TOO = CONSUMER, MEMBER_RECORDS[CONSUMER]
"""Since 4.3 a KIP-848 group begins at epoch 1. While its members subscribe to nothing, they are all that is written."""
FIRST_EPOCH = 1  # of such a group, and of its assignment
TARGET_EPOCHS, TARGETS, CURRENTS = (6, 12, 20), (7, 13, 21), (8, 14, 22)
EXPRESSIONS, TOPOLOGY = 16, 23


def protocol_group(
    kind: str, group_id: str, by_number: Mapping[int, list[OffsetsRecord]], names: Mapping[str, str]
) -> Group:
    """A group of a newer protocol from its records, by record type; `names` are those of topic ids."""
    of_group: _Held = (
        by_number[GROUP_RECORDS[kind]][0].fields if by_number[GROUP_RECORDS[kind]] else {"epoch": FIRST_EPOCH}
    )
    records = by_number[MEMBER_RECORDS[kind]]
    targets, currents = _by_member(by_number, TARGETS), _by_member(by_number, CURRENTS)
    members = [
        _member(
            each,
            _subscribed(each, by_number),
            targets.get(_member_id(each)),
            currents.get(_member_id(each)),
            names,
        )
        for each in records
    ]
    epochs = (_held(each)["assignmentEpoch"] for number in TARGET_EPOCHS for each in by_number[number])
    target_epoch = next(epochs, None if by_number[GROUP_RECORDS[kind]] else FIRST_EPOCH)
    group = Group(
        group_id,
        kind,
        EMPTY,
        "consumer" if kind == CONSUMER else kind,
        _assignor(records) if kind == CONSUMER else None,
        of_group["epoch"],
        target_epoch,
        members=tuple(sorted(members, key=lambda member: member.member_id)),
    )
    is_stable = MEMBER_IS_STABLE[kind]
    are_stable = all(each.get("state", is_stable) == is_stable for each in currents.values())
    is_ready = kind != STREAMS or _topology_epoch(by_number) == of_group.get("validatedTopologyEpoch", -1)
    return replace(group, state=_state(group, are_stable) if is_ready or not members else NOT_READY)


def _held(record: OffsetsRecord) -> _Held:
    return record.fields


def _member_id(record: OffsetsRecord) -> str:
    return str(record.key["memberId"])


def _by_member(by_number: Mapping[int, list[OffsetsRecord]], numbers: tuple[int, ...]) -> dict[str, _Held]:
    return {_member_id(record): record.fields for number in numbers for record in by_number[number]}


def _member(
    record: OffsetsRecord,
    subscribed: tuple[str, ...],
    target: _Held | None,
    current: _Held | None,
    names: Mapping[str, str],
) -> Member:
    values = _held(record)
    return Member(
        _member_id(record),
        values["clientId"],
        values["clientHost"],
        values.get("instanceId"),
        None if current is None else current["memberEpoch"],
        subscribed,
        _partitions(current, "assignedPartitions", names),
        _partitions(target, "topicPartitions", names),
        rebalance_timeout_ms=values.get("rebalanceTimeoutMs"),
    )


def _subscribed(member: OffsetsRecord, by_number: Mapping[int, list[OffsetsRecord]]) -> tuple[str, ...]:
    """The topics that a member subscribes to, by name or otherwise."""
    if "subscribedTopicNames" not in member.fields:
        return source_topics(by_number[TOPOLOGY][0].fields) if by_number[TOPOLOGY] else ()
    names, expression = _held(member)["subscribedTopicNames"], member.fields.get("subscribedTopicRegex")
    resolved = [_held(each)["topics"] for each in by_number[EXPRESSIONS] if each.key["regularExpression"] == expression]
    return tuple(dict.fromkeys((*names, *(topic for topics in resolved for topic in topics))))


def source_topics(topology: Fields) -> tuple[str, ...]:
    """The topics that a topology reads, its own repartition topics among them, sorted."""
    held: _Held = topology
    parts = held["subtopologies"]
    repartition = {each["name"] for part in parts for each in part["repartitionSourceTopics"]}
    return tuple(sorted(repartition.union(*(part["sourceTopics"] for part in parts))))


def _topology_epoch(by_number: Mapping[int, list[OffsetsRecord]]) -> int | None:
    return _held(by_number[TOPOLOGY][0])["epoch"] if by_number[TOPOLOGY] else None


def _partitions(values: _Held | None, name: str, names: Mapping[str, str]) -> tuple[TopicPartition, ...]:
    """Topic partitions by name; none for a streams group, whose records hold tasks."""
    topics = values.get(name, ()) if values else ()
    named = ((names.get(each["topicId"], each["topicId"]), each["partitions"]) for each in topics)
    return tuple(sorted(TopicPartition(topic, each) for topic, partitions in named for each in partitions))


def _assignor(members: Iterable[OffsetsRecord]) -> str:
    """The assignor that most members ask for, or the broker's default."""
    asked = Counter(_held(each)["serverAssignor"] for each in members if each.fields["serverAssignor"])
    return asked.most_common(1)[0][0] if asked else DEFAULT_ASSIGNOR


def _state(group: Group, are_stable: bool) -> str:
    if not group.members:
        return EMPTY
    if group.kind == SHARE:
        return STABLE
    if group.epoch > (group.target_epoch or 0):
        return ASSIGNING
    reached = all(member.epoch == group.target_epoch for member in group.members)
    return STABLE if reached and are_stable else RECONCILING
