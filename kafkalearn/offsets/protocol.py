"""Subscription and assignment: what members of a classic group send each other through the coordinator, as bytes.

A *subscription* is what a member sends when it joins, an *assignment* what the leader of the group decided for it.
Both begin with a version of their own. Kafka reads a newer version than it knows as the newest it knows, and passes
over bytes that follow; so do these functions. The sticky assignors keep their memory in a subscription's *user
data*, which has no version in front.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

from kafkalearn.base.checks import key_bytes
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.java import utf16_key
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats import wire
from kafkalearn.formats.wire import Layout, Piece
from kafkalearn.offsets.layouts import ASSIGNMENT, COOPERATIVE_USER_DATA, STICKY_USER_DATA, SUBSCRIPTION
from kafkalearn.offsets.records import GROUP_TYPE, dissect

_Held: TypeAlias = Mapping[str, Any]  # decoded: what each holds, the layout says


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a member sends when it joins."""

    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...] = ()  # since version 1
    generation: int = -1  # since version 2: of the group when it owned them; -1: not known
    rack: str | None = None  # since version 3
    user_data: bytes | None = None
    version: int = 3


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a member shall read."""

    partitions: tuple[TopicPartition, ...]
    user_data: bytes | None = None
    version: int = 3


def decode_subscription(data: bytes) -> Subscription:
    """A member's subscription.

    Parameters
    ----------
    data : bytes
        As in ``members[].subscription`` of a group metadata record whose protocol type is ``consumer``.

    Raises
    ------
    Undecodable
        If the bytes are too few, or the version is negative.

    Examples
    --------
    >>> decode_subscription(bytes.fromhex("000000000001000474657374ffffffff")).topics
    ('test',)

    References
    ----------
    Apache Kafka, ``ConsumerProtocol.deserializeSubscription``.
    """
    version, fields = _open(SUBSCRIPTION, data)
    return Subscription(
        tuple(fields["topics"]),
        _flat(fields.get("ownedPartitions", ())),
        fields.get("generationId", -1),
        fields.get("rackId"),
        fields["userData"],
        version,
    )


def decode_assignment(data: bytes) -> Assignment:
    """A member's assignment; argument and errors as in `decode_subscription`.

    No bytes at all mean that the leader has not decided yet, or gave the member nothing.

    >>> one = decode_assignment(bytes.fromhex("0000000000010004746573740000000100000007ffffffff"))
    >>> [str(each) for each in one.partitions]
    ['test-7']
    >>> decode_assignment(b"").partitions
    ()
    """
    if not data:
        return Assignment(())
    version, fields = _open(ASSIGNMENT, data)
    return Assignment(_flat(fields["assignedPartitions"]), fields["userData"], version)


def encode_subscription(subscription: Subscription) -> bytes:
    """The bytes of a subscription in its version, topics and owned partitions sorted as Kafka does since 3.0.

    >>> encode_subscription(Subscription(("test",), version=0)).hex()
    '000000000001000474657374ffffffff'
    """
    version = subscription.version
    fields: dict[str, object] = {
        "topics": sorted(subscription.topics, key=utf16_key),
        "userData": subscription.user_data,
    }
    if version >= 1:
        fields["ownedPartitions"] = _nested(sorted(subscription.owned, key=lambda at: (utf16_key(at[0]), at[1])))
    if version >= 2:
        fields["generationId"] = subscription.generation
    if version >= 3:
        fields["rackId"] = subscription.rack
    return _close(SUBSCRIPTION, version, fields)


def encode_assignment(assignment: Assignment) -> bytes:
    """The bytes of an assignment in its version; its topics stay in the order in which they first appear.

    >>> encode_assignment(Assignment((("test", 7),), version=0)).hex()
    '0000000000010004746573740000000100000007ffffffff'
    """
    fields = {"assignedPartitions": _nested(assignment.partitions), "userData": assignment.user_data}
    return _close(ASSIGNMENT, assignment.version, fields)


def decode_sticky_user_data(data: bytes) -> tuple[tuple[TopicPartition, ...], int]:
    """What a sticky member owned, and in which generation; -1 in the oldest layout, which does not have it.

    >>> owned, generation = decode_sticky_user_data(bytes.fromhex("0000000100027430000000010000000000000004"))
    >>> [str(each) for each in owned], generation
    (['t0-0'], 4)
    """
    data = key_bytes("data", data)
    try:
        fields = _message(STICKY_USER_DATA, data, 1)
    except wire.Undecodable:  # up to 2.2 there was no generation
        fields = _message(STICKY_USER_DATA, data, 0)
    return _flat(fields["previousAssignment"]), fields.get("generation", -1)


def encode_sticky_user_data(partitions: Iterable[TopicPartition], generation: int) -> bytes:
    """The user data of the sticky assignor, as it is written since 2.3.

    >>> encode_sticky_user_data([], 1).hex()
    '0000000000000001'
    """
    fields = {"previousAssignment": _nested(partitions), "generation": generation}
    return wire.encode_message(STICKY_USER_DATA, 1, fields)


def decode_cooperative_user_data(data: bytes) -> int:
    """The generation in which a cooperative sticky member owned what its subscription names; -1: none.

    >>> decode_cooperative_user_data(bytes.fromhex("ffffffff"))
    -1
    """
    return _message(COOPERATIVE_USER_DATA, key_bytes("data", data), 0)["generation"]


def encode_cooperative_user_data(generation: int) -> bytes:
    """The user data of the cooperative sticky assignor.

    >>> encode_cooperative_user_data(4).hex()
    '00000004'
    """
    return wire.encode_message(COOPERATIVE_USER_DATA, 0, {"generation": generation})


def _message(layout: Layout, data: bytes, version: int) -> _Held:
    return wire.decode_message(wire.Reader(data, layout.name), layout, version)


def _open(layout: Layout, data: bytes) -> tuple[int, _Held]:
    return _read(wire.Reader(key_bytes("data", data), layout.name), layout)


def _read(reader: wire.Reader, layout: Layout) -> tuple[int, _Held]:
    version = reader.number(wire.INT16, role="version")
    if version < 0:
        raise wire.Undecodable(f"{layout.name}: version {version} at byte 0 is negative", "version", 0)
    return version, wire.decode_message(reader, layout, min(version, layout.newest))


def _close(layout: Layout, version: int, fields: Mapping[str, object]) -> bytes:
    if not 0 <= version <= layout.newest:
        raise KafkaLearnError(f"{layout.name} has the versions 0 to {layout.newest}, got {shown(version)}")
    return wire.NUMBERS[wire.INT16].pack(version) + wire.encode_message(layout, version, fields)


def _flat(by_topic: Iterable[_Held]) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(each["topic"], partition) for each in by_topic for partition in each["partitions"])


def _nested(partitions: Iterable[TopicPartition]) -> list[dict[str, object]]:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in partitions:
        by_topic.setdefault(topic, []).append(partition)
    return [{"topic": topic, "partitions": numbers} for topic, numbers in by_topic.items()]


# Byte by byte: what consumers put into the two is taken apart like the rest of the group's record.

CONSUMER_PROTOCOL = "consumer"  # the protocol type under which the bytes are what consumers write
_LAYOUTS = {"subscription": SUBSCRIPTION, "assignment": ASSIGNMENT}


def dissect_members(key: bytes, value: bytes | None) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """A record byte by byte, as `dissect`; in a group of consumers subscriptions and assignments are opened.

    Bytes that are no subscription or assignment stay one piece: a client may put anything there.

    Parameters
    ----------
    key : bytes
        As the topic has it; a record of any type.
    value : bytes or None
        None: a tombstone.

    Returns
    -------
    tuple of tuple of Piece
        The pieces of the key and those of the value, without gaps. A field inside another has both names:
        ``members[0].subscription.topics[0]``.

    Raises
    ------
    Undecodable
        If the record cannot be read, as `dissect`.

    Examples
    --------
    >>> from kafkalearn.offsets import encode_key, encode_value
    >>> member = {"memberId": "b-1", "clientId": "b", "clientHost": "/10.0.0.7", "sessionTimeout": 45000,
    ...     "subscription": bytes.fromhex("000000000001000474657374ffffffff"), "assignment": b""}
    >>> value = encode_value(2, 0, {"protocolType": "consumer", "generation": 1, "protocol": "range",
    ...     "leader": "b-1", "members": [member]})
    >>> _, pieces = dissect_members(encode_key(2, {"group": "billing"}), value)
    >>> [(each.field, each.role, each.value) for each in pieces][-6:-3]
    [('members[0].subscription.topics', 'count', 1), ('members[0].subscription.topics[0]', 'length', 4), \
('members[0].subscription.topics[0]', 'value', 'test')]

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataValue``, ``ConsumerProtocol``.
    """
    of_key, of_value = dissect(key, value)
    kinds = (each.value for each in of_value if each.field == "protocolType" and each.role == "value")
    if of_key[0].value != GROUP_TYPE or next(kinds, None) != CONSUMER_PROTOCOL:
        return of_key, of_value
    return of_key, tuple(chain.from_iterable(_opened(piece) for piece in of_value))


def _opened(piece: Piece) -> tuple[Piece, ...]:
    name = piece.field.rpartition(".")[2]
    if not isinstance(piece.value, bytes) or piece.role != "value" or name not in _LAYOUTS or not piece.value:
        return (piece,)
    try:
        inside = _dissect(piece.value, _LAYOUTS[name])
    except wire.Undecodable:
        return (piece,)
    return tuple(
        replace(
            each,
            start=piece.start + each.start,
            stop=piece.start + each.stop,
            field=f"{piece.field}.{each.field}" if each.field else piece.field,
        )
        for each in inside
    )


def _dissect(data: bytes, layout: Layout) -> tuple[Piece, ...]:
    """The pieces of a subscription or an assignment; bytes that follow are one more."""
    reader = wire.Dissector(data, layout.name)
    _read(reader, layout)
    rest = Piece(reader.position, len(data), "", "rest", wire.BYTES, data[reader.position :])
    return (*reader.pieces, rest) if rest.value else tuple(reader.pieces)
