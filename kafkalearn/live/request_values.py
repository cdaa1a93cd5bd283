"""Values of requests and responses: records encoded as a batch, the fields of requests, errors by their numbers.

`encode_batch` is `kafkalearn.formats.disk` the other way round. The functions after it give the fields of requests that
no client sends by itself: with chosen member ids, deprecated fields, single batches.

References
----------
Apache Kafka 4.3, ``DefaultRecordBatch.writeHeader``, ``DefaultRecord.writeTo``; ``Errors``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from struct import Struct
from types import MappingProxyType
from typing import Any

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.batches import CHECKED_FROM, FRAME_BYTES, HEADER, crc32c
from kafkalearn.formats.compression import CODECS, compress
from kafkalearn.formats.wire import unsigned_varint, zigzag

FORMAT = 2
UNKNOWN_EPOCH = -1  # the broker writes its own over it
TRANSACTIONAL = 0x10
_CRC = Struct(">I")
_CRC_POSITION = 17

NewRecord = tuple[bytes | None, bytes | None, int]
"""Key, value and timestamp in milliseconds."""


def encode_batch(
    records: Sequence[NewRecord],
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    is_transactional: bool = False,
    codec: str = "none",
) -> bytes:
    """A batch as a producer sends it; offsets are counted from 0, the broker sets them.

    Parameters
    ----------
    records : sequence of (key, value, timestamp in milliseconds)
        At least one.
    producer_id, producer_epoch, base_sequence : int
        Of an idempotent producer; -1: of none.
    is_transactional : bool
        Whether it is part of the producer's transaction.
    codec : str
        A name in `kafkalearn.formats.compression.CODECS`.

    Examples
    --------
    >>> from kafkalearn.formats.disk import read_batch
    >>> batch = read_batch(encode_batch([(b"user-42", b"paid", 1000), (None, None, 1001)]))
    >>> [(record.key, record.value, record.timestamp_ms) for record in batch.records]
    [(b'user-42', b'paid', 1000), (None, None, 1001)]
    """
    if not records:
        raise KafkaLearnError("a batch has at least one record; give (key, value, timestamp_ms) for each")
    base_ms = records[0][2]
    body = compress(codec, b"".join(_record(each, delta, base_ms) for delta, each in enumerate(records)))
    header = HEADER.pack(
        0,
        HEADER.size - FRAME_BYTES + len(body),
        UNKNOWN_EPOCH,
        FORMAT,
        0,
        CODECS.index(codec) | (TRANSACTIONAL if is_transactional else 0),
        len(records) - 1,
        base_ms,
        max(timestamp_ms for _, _, timestamp_ms in records),
        producer_id,
        producer_epoch,
        base_sequence,
        len(records),
    )
    data = bytearray(header + body)
    _CRC.pack_into(data, _CRC_POSITION, crc32c(bytes(data[CHECKED_FROM:])))
    return bytes(data)


def _record(record: NewRecord, offset_delta: int, base_ms: int) -> bytes:
    key, value, timestamp_ms = record
    attributes = header_count = b"\0"
    body = attributes + _varint(timestamp_ms - base_ms) + _varint(offset_delta) + _sized(key) + _sized(value)
    return _varint(len(body) + 1) + body + header_count


def _sized(data: bytes | None) -> bytes:
    return _varint(-1) if data is None else _varint(len(data)) + data


def _varint(value: int) -> bytes:
    return unsigned_varint(zigzag(value))


NO_GENERATION, NO_MEMBER = -1, ""
NEWEST_PRODUCE_WITH_NAMES = 12  # from 13 on topics are named by their ids
NEWEST_COMMIT_WITH_NAMES = 9
COMMIT_WITH_RETENTION = 2  # the oldest version that 4.x takes; up to 4 it says how long to keep the offset


def produce(
    place: TopicPartition, records: Sequence[NewRecord], acks: int = -1, timeout_ms: int = 1000, **producer: Any
) -> dict[str, Any]:
    """One batch for one partition; further words are those of `encode_batch`."""
    batch = encode_batch(records, **producer)
    partitions = [{"index": place.partition, "records": batch}]
    return {
        "transactionalId": None,
        "acks": acks,
        "timeoutMs": timeout_ms,
        "topicData": [{"name": place.topic, "partitionData": partitions}],
    }


def commit(
    group_id: str,
    offsets: Mapping[TopicPartition, int],
    member_id: str = NO_MEMBER,
    generation: int = NO_GENERATION,
    retention_ms: int | None = None,
    instance_id: str | None = None,
) -> dict[str, Any]:
    """Offsets of a group; `retention_ms` can be sent in versions 2 to 4, `instance_id` from 7 on."""
    committed = ((place, {"committedOffset": offset, "committedMetadata": ""}) for place, offset in offsets.items())
    return {
        "groupId": group_id,
        "generationIdOrMemberEpoch": generation,
        "memberId": member_id,
        "topics": _by_topic(committed),
        **_given(retentionTimeMs=retention_ms, groupInstanceId=instance_id),
    }


def reassign(place: TopicPartition, replicas: Sequence[int] | None, may_change_factor: bool = True) -> dict[str, Any]:
    """Other replicas for a partition; None: what is under way is cancelled. The flag can be sent from version 1 on."""
    partition = {"partitionIndex": place.partition, "replicas": None if replicas is None else list(replicas)}
    topics = [{"name": place.topic, "partitions": [partition]}]
    return {"topics": topics, **({} if may_change_factor else {"allowReplicationFactorChange": False})}


def elect(place: TopicPartition, is_unclean: bool = False) -> dict[str, Any]:
    """An election for a partition: of its preferred leader, or of anyone who lives if there is no leader."""
    return {
        "electionType": int(is_unclean),
        "topicPartitions": [{"topic": place.topic, "partitions": [place.partition]}],
    }


def delete_offsets(group_id: str, places: Iterable[TopicPartition]) -> dict[str, Any]:
    """Committed offsets to be deleted."""
    return {"groupId": group_id, "topics": _by_topic((place, {}) for place in places)}


def join_group(
    group_id: str,
    member_id: str,
    protocols: Mapping[str, bytes],
    session_timeout_ms: int,
    rebalance_timeout_ms: int,
    instance_id: str | None = None,
    protocol_type: str = "consumer",
) -> dict[str, Any]:
    """A member of a classic group that wants to join, with the assignors it knows in its own order."""
    return {
        "groupId": group_id,
        "sessionTimeoutMs": session_timeout_ms,
        "rebalanceTimeoutMs": rebalance_timeout_ms,
        "memberId": member_id,
        "protocolType": protocol_type,
        "protocols": [{"name": name, "metadata": metadata} for name, metadata in protocols.items()],
        **_given(groupInstanceId=instance_id),
    }


def sync_group(
    group_id: str,
    member_id: str,
    generation: int,
    assignments: Mapping[str, bytes] | None = None,
    instance_id: str | None = None,
) -> dict[str, Any]:
    """A member that asks for its assignment; the leader brings those of all."""
    given = [{"memberId": name, "assignment": assignment} for name, assignment in (assignments or {}).items()]
    values = {"groupId": group_id, "generationId": generation, "memberId": member_id, "assignments": given}
    return values | _given(groupInstanceId=instance_id)


def heartbeat(group_id: str, member_id: str, generation: int, instance_id: str | None = None) -> dict[str, Any]:
    """A member of a classic group that is alive."""
    values = {"groupId": group_id, "generationId": generation, "memberId": member_id}
    return values | _given(groupInstanceId=instance_id)


def leave_group(group_id: str, members: Mapping[str, str | None]) -> dict[str, Any]:
    """Members that leave a classic group, each with its instance id or None, from version 3 on."""
    left = [{"memberId": member_id, "groupInstanceId": instance_id} for member_id, instance_id in members.items()]
    return {"groupId": group_id, "members": left}


def consumer_heartbeat(
    group_id: str,
    member_id: str,
    member_epoch: int,
    topics: Sequence[str] | None = None,
    owned: Mapping[str, Sequence[int]] | None = None,
    assignor: str | None = None,
    rebalance_timeout_ms: int = -1,
    instance_id: str | None = None,
    pattern: str | None = None,
) -> dict[str, Any]:
    """The one request of a KIP-848 member; None: as in the heartbeat before. `owned` is by topic id.

    A `pattern` of topics, which the broker matches, is there since version 1; an empty one takes it back.
    """
    partitions = owned and [{"topicId": each, "partitions": list(numbers)} for each, numbers in owned.items()]
    return {
        "groupId": group_id,
        "memberId": member_id,
        "memberEpoch": member_epoch,
        "instanceId": instance_id,
        "rebalanceTimeoutMs": rebalance_timeout_ms,
        "subscribedTopicNames": None if topics is None else list(topics),
        "serverAssignor": assignor,
        "topicPartitions": [] if owned == {} else partitions,
        **_given(subscribedTopicRegex=pattern),
    }


def _by_topic(partitions: Iterable[tuple[TopicPartition, dict[str, Any]]]) -> list[dict[str, Any]]:
    """What is said of partitions, under their topics."""
    found: dict[str, list[dict[str, Any]]] = {}
    for place, said in partitions:
        found.setdefault(place.topic, []).append({"partitionIndex": place.partition, **said})
    return [{"name": topic, "partitions": entries} for topic, entries in found.items()]


def _given(**fields: object) -> dict[str, Any]:
    """The fields that are not None: the others are left out, as not every version has them."""
    return {name: value for name, value in fields.items() if value is not None}


_NAMES = json.loads((files("kafkalearn.live") / "error_names.json").read_text(encoding="utf-8"))["names"]
ERROR_NAMES: MappingProxyType[int, str] = MappingProxyType({int(number): name for number, name in _NAMES.items()})
"""Every number with its name; a newer broker may know more."""

NONE, UNKNOWN_TOPIC_OR_PARTITION = "NONE", "UNKNOWN_TOPIC_OR_PARTITION"


def error_name(code: int) -> str:
    """The name of an error number.

    >>> error_name(19), error_name(0), error_name(999)
    ('NOT_ENOUGH_REPLICAS', 'NONE', 'ERROR_999')
    """
    return ERROR_NAMES.get(code, f"ERROR_{code}")
