"""What the number in front of a key in ``__consumer_offsets`` means: the record types 0 to 23.

The number was called the key's version once, and the tools printed it so up to 3.9. It never was one: it is the
kind of the record. Values have a version of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType

from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.offsets.records.layouts import classic, consumer, share, streams
from kafkalearn.phrases import shown
from kafkalearn.wire.fields import Layout


@dataclass(frozen=True, slots=True)
class RecordType:
    """One kind of record of the offsets topic."""

    number: int  # what its keys begin with
    name: str  # as in Kafka's CoordinatorRecordType
    since: str  # the first release line that writes it
    until: str | None  # the last one; None: still written
    key: Layout = field(repr=False, compare=False)
    value: Layout = field(repr=False, compare=False)

    @property
    def words(self) -> str:
        """The name in plain words: "consumer group metadata"."""
        return self.name.lower().replace("_", " ")


def _layouts(module: object, name: str) -> tuple[Layout, Layout]:
    return getattr(module, f"{name}_KEY"), getattr(module, f"{name}_VALUE")


def _all_types() -> tuple[RecordType, ...]:
    offset = _layouts(classic, "OFFSET_COMMIT")
    return (
        RecordType(0, "LEGACY_OFFSET_COMMIT", "0.8.2", "0.8.2", *offset),
        RecordType(1, "OFFSET_COMMIT", "0.9.0", None, *offset),
        RecordType(2, "GROUP_METADATA", "0.9.0", None, *_layouts(classic, "GROUP_METADATA")),
        *(
            RecordType(number, name, since, until, *_layouts(module, name))
            for module, number, name, since, until in (
                (consumer, 3, "CONSUMER_GROUP_METADATA", "3.7", None),
                (consumer, 4, "CONSUMER_GROUP_PARTITION_METADATA", "3.7", "4.0"),
                (consumer, 5, "CONSUMER_GROUP_MEMBER_METADATA", "3.7", None),
                (consumer, 6, "CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA", "3.7", None),
                (consumer, 7, "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER", "3.7", None),
                (consumer, 8, "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT", "3.7", None),
                (share, 9, "SHARE_GROUP_PARTITION_METADATA", "4.0", "4.0"),
                (share, 10, "SHARE_GROUP_MEMBER_METADATA", "4.0", None),
                (share, 11, "SHARE_GROUP_METADATA", "4.0", None),
                (share, 12, "SHARE_GROUP_TARGET_ASSIGNMENT_METADATA", "4.0", None),
                (share, 13, "SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER", "4.0", None),
                (share, 14, "SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT", "4.0", None),
                (share, 15, "SHARE_GROUP_STATE_PARTITION_METADATA", "4.0", None),
                (consumer, 16, "CONSUMER_GROUP_REGULAR_EXPRESSION", "4.0", None),
                (streams, 17, "STREAMS_GROUP_METADATA", "4.1", None),
                (streams, 19, "STREAMS_GROUP_MEMBER_METADATA", "4.1", None),
                (streams, 20, "STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA", "4.1", None),
                (streams, 21, "STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER", "4.1", None),
                (streams, 22, "STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT", "4.1", None),
                (streams, 23, "STREAMS_GROUP_TOPOLOGY", "4.1", None),
            )
        ),
    )


RECORD_TYPES: MappingProxyType[int, RecordType] = MappingProxyType({each.number: each for each in _all_types()})
"""All record types by number. 18 was never used; from 24 on nothing is known, and brokers skip such records."""

OFFSET_TYPES = (0, 1)  # committed offsets: the number differs, the rest of the key does not
GROUP_TYPE = 2  # a group of the classic protocol

_LEGACY, _COMMIT = (number.to_bytes(2, "big") for number in OFFSET_TYPES)


def state_key(key: bytes) -> bytes:
    """The key under which a coordinator keeps what a record says.

    The record types 0 and 1 are one offset: a commit of type 1 replaces one of type 0, and so does its tombstone. A
    key of type 0 becomes that of type 1, every other stays as it is.

    >>> state_key(bytes.fromhex("0000000167000174ffffffff")).hex()
    '0001000167000174ffffffff'

    References
    ----------
    Apache Kafka 4.3, ``GroupCoordinatorShard.replay``; to 3.9 ``GroupMetadataManager.readMessageKey``.
    """
    return _COMMIT + key[2:] if key[:2] == _LEGACY else key


_BY_NAME = {each.name: each for each in RECORD_TYPES.values()}


def record_type(which: int | str | RecordType) -> RecordType:
    """The record type of a number or a name.

    Raises
    ------
    KafkaLearnError
        If there is none; the message names the nearest, or the range.

    Examples
    --------
    >>> record_type(8).words, record_type("OFFSET_COMMIT").number
    ('consumer group current member assignment', 1)
    """
    if isinstance(which, RecordType):
        return which
    if isinstance(which, str):
        one_of("record type", which, _BY_NAME)
        return _BY_NAME[which]
    if not isinstance(which, int) or which not in RECORD_TYPES:
        raise KafkaLearnError(f"unknown record type {shown(which)}; known are 0 to 23 without 18")
    return RECORD_TYPES[which]
