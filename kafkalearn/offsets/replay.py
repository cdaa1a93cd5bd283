"""Every group, its members and its offsets, from the records of the offsets topic.

The groups are a function of the last value of every key. So the log says the same before and after the cleaner, and
the order of keys does not matter. This is what a broker does when it becomes coordinator. Commits of the record types
0 and 1 for one partition are one key here, as they are for the coordinator.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kafkalearn.arguments import mapping
from kafkalearn.group_states import EMPTY, STABLE
from kafkalearn.offsets.groups import CLASSIC, Committed, Group, Member
from kafkalearn.offsets.newer_groups import GROUP_RECORDS, MAKES_ONE_TOO, protocol_group
from kafkalearn.offsets.pairs import Pair, key_values
from kafkalearn.offsets.records.codec import Fields, OffsetsRecord, decode
from kafkalearn.offsets.records.protocol import decode_assignment, decode_subscription
from kafkalearn.offsets.records.record_types import GROUP_TYPE, OFFSET_TYPES, state_key
from kafkalearn.segments.files import Segment
from kafkalearn.segments.records import Record
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.wire.reader import Undecodable

_Held: TypeAlias = Mapping[str, Any]  # decoded: what each holds, the layout says

UNKNOWN_TIME = -1
NO_KEY = "key: it is null; every record of the offsets topic has one"
MOST_WAITING = 64  # values of one key that are held before all but the last readable one are dropped


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a set of records says."""

    groups: tuple[Group, ...]  # by group id
    problems: tuple[str, ...]  # records that could not be read, each with the reason

    def group(self, group_id: str) -> Group | None:
        """One group; None: no record is about it."""
        return next((group for group in self.groups if group.group_id == group_id), None)


def replay(records: Iterable[Pair | Record | Segment], topic_names: Mapping[str, str] | None = None) -> Replayed:
    """The groups that some records of the offsets topic describe.

    Parameters
    ----------
    records : iterable of (bytes, bytes or None), of Record, or of Segment
        Keys and values in the order of their offsets, without those of aborted transactions; partitions one after
        the other, as from `kafkalearn.segments.committed_records`. Of segments those are taken, too.
    topic_names : mapping of str to str, optional
        Topic ids to names, for the assignments of groups that do not speak the classic protocol. Those that committed
        offsets hold need not be given; an id without a name stands for itself.

    Returns
    -------
    Replayed
        Records of an unknown type, and records that cannot be decoded, are left out and named in ``problems``; what
        came before them for their key counts. A record that a later one of its key replaced may go unread.

    Examples
    --------
    >>> from kafkalearn.offsets.records.codec import encode_key, encode_value
    >>> key = encode_key("OFFSET_COMMIT", {"group": "billing", "topic": "orders", "partition": 0})
    >>> value = encode_value("OFFSET_COMMIT", 4, {"offset": 7, "metadata": "", "commitTimestamp": 1000})
    >>> replay([(key, value)]).group("billing").offset("orders", 0).offset
    7
    >>> replay([(key, value), (key, None)]).groups
    ()

    References
    ----------
    Apache Kafka: ``GroupMetadataManager.loadGroupsAndOffsets`` (to 4.0), ``CoordinatorLoaderImpl`` and the
    ``replay`` methods of ``GroupMetadataManager`` and ``OffsetMetadataManager`` (since 3.7).
    """
    decoded, problems = _last_records(records)
    no_names: Mapping[str, str] = {}
    given = mapping("topic_names", no_names if topic_names is None else topic_names, of="topic id to name")
    names = _topic_names(decoded) | dict(given)
    by_group: dict[str, list[OffsetsRecord]] = defaultdict(list)
    for record in decoded:
        by_group[record.group].append(record)
    groups = tuple(_group(group_id, by_group[group_id], names) for group_id in sorted(by_group))
    return Replayed(groups, tuple(problems))


def _last_records(records: Iterable[Pair | Record | Segment]) -> tuple[list[OffsetsRecord], list[str]]:
    """The last record of each key that can be read and is no tombstone, and what could not be read.

    Decoding is what takes time, so a key's values wait, and are decoded from the last one backwards.
    """
    waiting: dict[bytes, list[tuple[bytes, bytes | None]]] = defaultdict(list)
    problems: list[str] = []
    for key, value in key_values(records):
        if key is None:
            problems.append(NO_KEY)
            continue
        of_key = waiting[state_key(key)]
        of_key.append((key, value))
        if len(of_key) == MOST_WAITING:
            index, _ = _last_readable(of_key, problems)
            of_key[:] = of_key[index : index + 1]
    last = (_last_readable(of_key, problems)[1] for of_key in waiting.values())
    return [record for record in last if record is not None and not record.is_tombstone], problems


def _last_readable(
    pairs: Sequence[tuple[bytes, bytes | None]], problems: list[str]
) -> tuple[int, OffsetsRecord | None]:
    """The index of the last record that can be read, and the record; behind the end, and None, if there is none."""
    for index in reversed(range(len(pairs))):
        try:
            return index, decode(*pairs[index])
        except Undecodable as error:
            problems.append(str(error))
    return len(pairs), None


def _topic_names(records: Iterable[OffsetsRecord]) -> dict[str, str]:
    """Topic ids and names as in commits since 4.1: the name is in the key, the id in the value."""
    return {
        str(record.fields["topicId"]): str(record.key["topic"])
        for record in records
        if record.type.number in OFFSET_TYPES and "topicId" in record.fields
    }


def _group(group_id: str, records: list[OffsetsRecord], names: Mapping[str, str]) -> Group:
    by_number: dict[int, list[OffsetsRecord]] = defaultdict(list)
    for record in records:
        by_number[record.type.number].append(record)
    offsets = [committed(record) for number in OFFSET_TYPES for record in by_number[number]]
    group = _without_offsets(group_id, by_number, names)
    return replace(group, offsets=tuple(sorted(offsets, key=lambda each: each.at)))


def committed(record: OffsetsRecord) -> Committed:
    """The committed offset in a record of type 0 or 1."""
    key: _Held = record.key
    values: _Held = record.fields
    return Committed(
        key["topic"],
        key["partition"],
        values["offset"],
        values["metadata"],
        values["commitTimestamp"],
        _unless(-1, values.get("leaderEpoch", -1)),
        _unless(UNKNOWN_TIME, values.get("expireTimestamp", UNKNOWN_TIME)),
        values.get("topicId"),
    )


def _unless(nothing: int, value: int) -> int | None:
    return None if value == nothing else value


def _without_offsets(group_id: str, by_number: Mapping[int, list[OffsetsRecord]], names: Mapping[str, str]) -> Group:
    if by_number[GROUP_TYPE]:
        return classic_group(group_id, by_number[GROUP_TYPE][0].fields)
    kind = next((kind for kind, number in (*GROUP_RECORDS.items(), MAKES_ONE_TOO) if by_number[number]), None)
    return Group(group_id) if kind is None else protocol_group(kind, group_id, by_number, names)


def classic_group(group_id: str, values: Fields) -> Group:
    """The group in a value of record type 2, without its offsets.

    The record does not hold the state: with members the group is Stable, else it is Empty.
    """
    held: _Held = values
    is_consumer = held["protocolType"] == "consumer"
    members = [_classic_member(each, is_consumer) for each in held["members"]]
    return Group(
        group_id,
        CLASSIC,
        STABLE if members else EMPTY,
        held["protocolType"],
        held["protocol"],
        held["generation"],
        leader=held["leader"],
        state_ms=_unless(UNKNOWN_TIME, held.get("currentStateTimestamp", UNKNOWN_TIME)),
        members=tuple(sorted(members, key=lambda member: member.member_id)),
    )


def _classic_member(values: _Held, is_consumer: bool) -> Member:
    subscribed, assigned = _consumer_protocol(values) if is_consumer else (None, ())
    session_timeout_ms = values["sessionTimeout"]
    return Member(
        values["memberId"],
        values["clientId"],
        values["clientHost"],
        values.get("groupInstanceId"),
        subscribed=subscribed,
        assigned=assigned,
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=values.get("rebalanceTimeout", session_timeout_ms),  # version 0 has only the other
    )


def _consumer_protocol(values: _Held) -> tuple[tuple[str, ...] | None, tuple[TopicPartition, ...]]:
    """What the member subscribes to and is assigned; a client may put anything into these two blobs."""
    try:
        subscribed = decode_subscription(values["subscription"]).topics
    except Undecodable:
        subscribed = None
    try:
        assigned = decode_assignment(values["assignment"]).partitions
    except Undecodable:
        assigned = ()
    return subscribed, assigned
