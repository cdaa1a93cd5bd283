"""The topic ``__share_group_state``: its records to the byte, and the states of share-partitions that they describe.

A *share-partition* is a group, a topic id and a partition. What its group has done with it is written as a *snapshot*
(record type 0), which holds all of it, and *updates* (type 1), each of which holds what has changed since. A key begins
with two bytes for the type and names the share-partition; a value begins with two bytes for its version. A null value
is a *tombstone*: the state is deleted. `decode_key` and `decode_value` read records, `encode_key` and `encode_value`
write them; decoded fields are plain dictionaries with the names of Kafka's own JSON form, a tagged field among them
only if it was written.

`replay` makes of records what a share coordinator knows when it has loaded them. `combine_batches` lays batches over
one another as it does: at each offset the greater delivery count counts, then the greater state.

>>> orders = SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", 2)
>>> encode_key(UPDATE, orders).hex(" ", 2)
'00 0100 0762 696c 6c69 6e67 03a0 1492 e6b1 4009 b86d 40c3 4022 93fc 0000 0002'
>>> decode_key(encode_key(UPDATE, orders)) == (UPDATE, orders)
True

References
----------
Apache Kafka 4.2 to 4.4 (KIP-932), ``ShareSnapshotKey``, ``ShareSnapshotValue``, ``ShareUpdateKey``,
``ShareUpdateValue``, ``ShareCoordinatorRecordSerde``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from kafkalearn.base.checks import LARGEST_LONG, iterable, key_bytes, text, whole_number
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.internal_topics import SHARE_STATE_TOPIC
from kafkalearn.formats import wire
from kafkalearn.formats.records import Record
from kafkalearn.formats.segments import Segment
from kafkalearn.offsets.replay import Pair, key_values

__all__ = [
    "SharePartition",
    "ShareState",
    "StateBatch",
    "combine_batches",
    "decode_key",
    "decode_value",
    "encode_key",
    "encode_value",
    "replay",
]

SNAPSHOT, UPDATE = 0, 1
_VERSION = wire.NUMBERS[wire.INT16]


# The byte layout: two keys that differ in their number alone, two values with one version.

_KEY = (wire.Field("groupId", wire.STRING), wire.Field("topicId", wire.UUID), wire.Field("partition", wire.INT32))
_BATCHES = wire.Array(
    wire.structure(
        wire.Field("firstOffset", wire.INT64),
        wire.Field("lastOffset", wire.INT64),
        wire.Field("deliveryState", wire.INT8),
        wire.Field("deliveryCount", wire.INT16),
    )
)
_COMPLETE = wire.Field("deliveryCompleteCount", wire.INT32, default=-1, tag=0)  # since 4.2 (KIP-1226)

KEYS: MappingProxyType[int, wire.Layout] = MappingProxyType(
    {SNAPSHOT: wire.layout("ShareSnapshotKey", *_KEY), UPDATE: wire.layout("ShareUpdateKey", *_KEY)}
)
VALUES: MappingProxyType[int, wire.Layout] = MappingProxyType(
    {
        SNAPSHOT: wire.layout(
            "ShareSnapshotValue",
            wire.Field("snapshotEpoch", wire.INT32),
            wire.Field("stateEpoch", wire.INT32),
            wire.Field("leaderEpoch", wire.INT32),
            wire.Field("startOffset", wire.INT64),
            _COMPLETE,
            wire.Field("createTimestamp", wire.INT64),
            wire.Field("writeTimestamp", wire.INT64),
            wire.Field("stateBatches", _BATCHES),
            flexible_since=0,
        ),
        UPDATE: wire.layout(
            "ShareUpdateValue",
            wire.Field("snapshotEpoch", wire.INT32),
            wire.Field("leaderEpoch", wire.INT32),
            wire.Field("startOffset", wire.INT64),
            _COMPLETE,
            wire.Field("stateBatches", _BATCHES),
            flexible_since=0,
        ),
    }
)
"""The layouts of keys and of values, by record type."""


@dataclass(frozen=True, slots=True, order=True)
class SharePartition:
    """A group, a topic and a partition: whose state a record holds.

    Parameters
    ----------
    group_id : str
        The share group.
    topic_id : str
        16 bytes, as the 22 characters that Kafka prints.
    partition : int
        From 0 on.

    Examples
    --------
    >>> str(SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", 2))  # the key that FindCoordinator takes
    'billing:A6AUkuaxQAm4bUDDQCKT_A:2'
    """

    group_id: str
    topic_id: str
    partition: int

    def __str__(self) -> str:
        """The key by which its share coordinator is found."""
        return f"{self.group_id}:{self.topic_id}:{self.partition}"


# Records from bytes and to bytes.


def decode_key(key: bytes) -> tuple[int, SharePartition]:
    """The record type that a key begins with, and the share-partition that it names.

    Raises
    ------
    Undecodable
        If the bytes are too few, too many, or of an unknown type.
    """
    reader = wire.Reader(key_bytes("key", key), "key")
    number = reader.number(wire.INT16, role="record type")
    if number not in KEYS:
        raise wire.Undecodable(
            f"key: record type {number} at byte 0 is unknown; known are 0 (snapshot) and 1 (update)", "record type", 0
        )
    reader.name = KEYS[number].name
    fields: dict[str, Any] = wire.decode_message(reader, KEYS[number], 0)
    wire.refuse_rest(reader)
    return number, SharePartition(fields["groupId"], fields["topicId"], fields["partition"])


def decode_value(kind: int, value: bytes | None) -> tuple[int, dict[str, object]] | tuple[None, None]:
    """The version of a value and its fields, or two Nones for a tombstone; errors as in `decode_key`.

    >>> value = encode_value(UPDATE, {"snapshotEpoch": 0, "leaderEpoch": 3, "startOffset": 7, "stateBatches": []})
    >>> decode_value(UPDATE, value)
    (0, {'snapshotEpoch': 0, 'leaderEpoch': 3, 'startOffset': 7, 'stateBatches': []})
    """
    layout = _layout_of(kind)
    if value is None:
        return None, None
    reader = wire.Reader(key_bytes("value", value), layout.name)
    version = reader.number(wire.INT16, role="version")
    if version != 0:
        raise wire.Undecodable(f"{layout.name}: version {version} at byte 0 is unknown; known is 0", "version", 0)
    reader.name = f"{layout.name} version 0"
    fields = wire.decode_message(reader, layout, version)
    wire.refuse_rest(reader)
    return version, fields


def encode_key(kind: int, share_partition: SharePartition) -> bytes:
    """The bytes of a key.

    Raises
    ------
    KafkaLearnError
        If the record type is unknown, or what it should name is no share-partition.
    """
    _layout_of(kind)
    fields = {
        "groupId": text("group_id", share_partition.group_id),
        "topicId": share_partition.topic_id,
        "partition": share_partition.partition,
    }
    return _VERSION.pack(kind) + wire.encode_message(KEYS[kind], 0, fields)


def encode_value(kind: int, fields: Mapping[str, object]) -> bytes:
    """The bytes of a value; a count of done records that is not given is not written.

    Raises
    ------
    KafkaLearnError
        If the record type is unknown, or a field is missing, unknown, or has a value it cannot have.
    """
    return _VERSION.pack(0) + wire.encode_message(_layout_of(kind), 0, fields)


def _layout_of(kind: object) -> wire.Layout:
    if isinstance(kind, bool) or not isinstance(kind, int) or kind not in VALUES:
        raise KafkaLearnError(
            f"unknown record type {shown(kind)} of {SHARE_STATE_TOPIC}; known are 0 (snapshot) and 1 (update)"
        )
    return VALUES[kind]


# Batches, and how the share coordinator lays them over one another.

AVAILABLE, ACQUIRED, ACKNOWLEDGED, ARCHIVING, ARCHIVED = range(5)
STATES: MappingProxyType[int, str] = MappingProxyType(
    dict(enumerate(("AVAILABLE", "ACQUIRED", "ACKNOWLEDGED", "ARCHIVING", "ARCHIVED")))
)
"""The states of a record by the number in a batch. ACQUIRED is only ever in memory; ARCHIVING there is since 4.4."""

TERMINAL = (ACKNOWLEDGED, ARCHIVED)
LARGEST_COUNT = 0x7FFF


@dataclass(frozen=True, slots=True, order=True)
class StateBatch:
    """Offsets next to one another that are in the same state and were delivered as often.

    Raises
    ------
    KafkaLearnError
        If the last offset is below the first, or a number is not one that a record can have.
    """

    first: int
    last: int
    state: int  # a number in `STATES`
    count: int  # deliveries

    def __post_init__(self) -> None:
        """Refuse what no record can say."""
        whole_number("first", self.first, -LARGEST_LONG - 1, LARGEST_LONG)
        whole_number("last", self.last, self.first, LARGEST_LONG)
        whole_number("state", self.state, -128, 127)
        whole_number("count", self.count, -LARGEST_COUNT - 1, LARGEST_COUNT)

    def __str__(self) -> str:
        """The batch in words.

        >>> str(StateBatch(3, 5, ACKNOWLEDGED, 2))
        '3 to 5 ACKNOWLEDGED, delivered 2 times'
        """
        where = f"{self.first}" if self.first == self.last else f"{self.first} to {self.last}"
        state = STATES.get(self.state, f"unknown state {self.state}")
        return f"{where} {state}, delivered {self.count} time{'' if self.count == 1 else 's'}"


def combine_batches(
    batches: Iterable[StateBatch], more: Iterable[StateBatch] = (), start_offset: int = -1
) -> tuple[StateBatch, ...]:
    """Batches over one another: at each offset the greater count counts, and of equal counts the greater state.

    Parameters
    ----------
    batches, more : iterable of StateBatch
        What is there and what is added, in any order; they may overlap.
    start_offset : int
        What lies below it is cut off; -1 cuts nothing.

    Returns
    -------
    tuple of StateBatch
        By offset, without overlaps; neighbours with the same state and count are one batch.

    Examples
    --------
    >>> there = [StateBatch(0, 9, AVAILABLE, 1)]
    >>> for each in combine_batches(there, [StateBatch(4, 5, ACKNOWLEDGED, 1)], start_offset=2):
    ...     print(each)
    2 to 3 AVAILABLE, delivered 1 time
    4 to 5 ACKNOWLEDGED, delivered 1 time
    6 to 9 AVAILABLE, delivered 1 time

    References
    ----------
    Apache Kafka 4.2 to 4.4, ``PersisterStateBatchCombiner``. 4.2 and 4.3 leave some neighbours unjoined.
    """
    given = sorted([*batches, *more])
    if start_offset >= 0:
        given = [replace(each, first=max(each.first, start_offset)) for each in given if each.last >= start_offset]
    return tuple(_joined(_swept(given)))


def _swept(batches: Sequence[StateBatch]) -> Iterator[StateBatch]:
    """The batch that counts between each two edges."""
    edges = sorted({each.first for each in batches} | {each.last + 1 for each in batches})
    begin = sorted(batches, key=lambda each: each.first)
    covering: list[StateBatch] = []
    taken = 0
    for first, behind in pairwise(edges):
        covering = [each for each in covering if each.last >= first]
        while taken < len(begin) and begin[taken].first == first:
            covering.append(begin[taken])
            taken += 1
        if covering:
            best = max(covering, key=lambda each: (each.count, each.state))
            yield StateBatch(first, behind - 1, best.state, best.count)


def _joined(batches: Iterable[StateBatch]) -> Iterator[StateBatch]:
    last: StateBatch | None = None
    for each in batches:
        if last is None:
            last = each
        elif (last.last + 1, last.state, last.count) == (each.first, each.state, each.count):
            last = replace(last, last=each.last)
        else:
            yield last
            last = each
    if last is not None:
        yield last


def _batches_of(fields: Mapping[str, Any]) -> tuple[StateBatch, ...]:
    """The batches of decoded fields, as they stand there."""
    return tuple(
        StateBatch(each["firstOffset"], each["lastOffset"], each["deliveryState"], each["deliveryCount"])
        for each in fields["stateBatches"]
    )


def batch_fields(batches: Iterable[StateBatch]) -> list[dict[str, object]]:
    """Batches as `encode_value` takes them.

    >>> batch_fields([StateBatch(3, 5, ARCHIVED, 2)])
    [{'firstOffset': 3, 'lastOffset': 5, 'deliveryState': 4, 'deliveryCount': 2}]
    """
    return [
        {
            "firstOffset": each.first,
            "lastOffset": each.last,
            "deliveryState": each.state,
            "deliveryCount": each.count,
        }
        for each in batches
    ]


# Every share-partition and what is known of it.


@dataclass(frozen=True, slots=True)
class ShareState:
    """What a share coordinator knows of one share-partition."""

    share_partition: SharePartition
    snapshot_epoch: int  # snapshots before this one
    state_epoch: int
    leader_epoch: int
    start_offset: int  # -1: to be decided by share.auto.offset.reset
    complete_count: int  # offsets from the start on that are done; -1: not known
    created_ms: int
    written_ms: int
    batches: tuple[StateBatch, ...] = ()

    @property
    def in_flight(self) -> int:
        """Offsets from the start on that a batch names and that are not done."""
        return sum(each.last - each.first + 1 for each in self.batches if each.state not in TERMINAL)

    def lag(self, end_offset: int) -> int:
        """What is still to do when the partition ends at `end_offset`: not done, or -1 before the first write.

        >>> orders = SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", 2)
        >>> ShareState(orders, 0, 2, 0, 0, 3, 0, 0).lag(end_offset=10)
        7

        References
        ----------
        Apache Kafka 4.2 to 4.4 (KIP-1226), ``GroupCoordinatorService.computeShareGroupLagAndBuildResponse``.
        """
        if self.start_offset == -1 or self.complete_count == -1:
            return -1
        return end_offset - self.start_offset - self.complete_count


@dataclass(frozen=True, slots=True)
class ReplayedStates:
    """What a set of records says."""

    states: tuple[ShareState, ...]  # sorted by share-partition
    problems: tuple[str, ...]  # records that could not be read or used, each with the reason

    def of(self, group_id: str) -> tuple[ShareState, ...]:
        """The states of one group."""
        return tuple(each for each in self.states if each.share_partition.group_id == group_id)


def replay(records: Iterable[Pair | Record | Segment]) -> ReplayedStates:
    """The states that some records of ``__share_group_state`` describe.

    Parameters
    ----------
    records : iterable of (bytes, bytes or None), of Record, or of Segment
        Keys and values in the order of their offsets; of segments the records that count.

    Returns
    -------
    ReplayedStates
        A record that cannot be decoded, and an update without a snapshot before it, are left out and named in
        ``problems``.

    Examples
    --------
    >>> orders = SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", 2)
    >>> snapshot = {"snapshotEpoch": 0, "stateEpoch": 2, "leaderEpoch": 0, "startOffset": -1, "createTimestamp": 1000,
    ...     "writeTimestamp": 1000, "stateBatches": []}
    >>> update = {"snapshotEpoch": 0, "leaderEpoch": 0, "startOffset": 0, "deliveryCompleteCount": 2,
    ...     "stateBatches": batch_fields([StateBatch(1, 2, ACKNOWLEDGED, 1)])}
    >>> (state,) = replay([(encode_key(SNAPSHOT, orders), encode_value(SNAPSHOT, snapshot)),
    ...     (encode_key(UPDATE, orders), encode_value(UPDATE, update))]).states
    >>> state.start_offset, state.batches, state.lag(end_offset=5)
    (0, (StateBatch(first=1, last=2, state=2, count=1),), 3)

    References
    ----------
    Apache Kafka 4.2 to 4.4, ``ShareCoordinatorShard.replay``, ``ShareGroupOffset``.
    """
    known: dict[SharePartition, ShareState] = {}
    problems: list[str] = []
    for key, value in key_values(iterable("records", records, of="(key, value), of records or of segments")):
        if key is None:
            problems.append("ShareSnapshotKey: it is null; every record of the topic has one")
            continue
        try:
            kind, share_partition = decode_key(key)
            _, fields = decode_value(kind, value)
            _take(known, kind, share_partition, fields)
        except KafkaLearnError as error:
            problems.append(str(error))
    return ReplayedStates(tuple(known[each] for each in sorted(known)), tuple(problems))


def _take(
    known: dict[SharePartition, ShareState], kind: int, whose: SharePartition, fields: Mapping[str, Any] | None
) -> None:
    if fields is None:
        if kind == UPDATE:
            raise KafkaLearnError(f"ShareUpdateKey: {whose} has a tombstone of an update; only a snapshot's deletes")
        known.pop(whose, None)
    elif kind == SNAPSHOT:
        known[whose] = _of_snapshot(whose, fields)
    elif whose not in known:
        raise KafkaLearnError(f"ShareUpdateValue: {whose} has no snapshot before this update; it says nothing alone")
    else:
        known[whose] = with_update(
            known[whose],
            fields["leaderEpoch"],
            fields["startOffset"],
            fields.get("deliveryCompleteCount", -1),
            _batches_of(fields),
        )


def _of_snapshot(whose: SharePartition, fields: Mapping[str, Any]) -> ShareState:
    """The state that a snapshot holds."""
    return ShareState(
        whose,
        fields["snapshotEpoch"],
        fields["stateEpoch"],
        fields["leaderEpoch"],
        fields["startOffset"],
        fields.get("deliveryCompleteCount", -1),
        fields["createTimestamp"],
        fields["writeTimestamp"],
        _batches_of(fields),
    )


def with_update(
    state: ShareState, leader_epoch: int, start_offset: int, complete_count: int, batches: Iterable[StateBatch]
) -> ShareState:
    """The state after an update: -1 for the leader epoch or the start leaves what was there, a count never."""
    start = start_offset if start_offset != -1 else state.start_offset
    return replace(
        state,
        leader_epoch=leader_epoch if leader_epoch != -1 else state.leader_epoch,
        start_offset=start,
        complete_count=complete_count,
        batches=combine_batches(state.batches, batches, start),
    )
