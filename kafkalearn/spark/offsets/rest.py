"""The records of the offsets topic that no compiled expression reads, decoded one by one on the workers.

These are few: records of groups, committed offsets in an unusual form, and what cannot be read, which gets its
reason. The workers get the functions by `kafkalearn.spark.session.worker_code.for_workers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, StructType

from kafkalearn.offsets.records import record_types
from kafkalearn.offsets.records.codec import OffsetsRecord, decode, decode_key, decode_value
from kafkalearn.offsets.records.record_types import GROUP_TYPE, OFFSET_TYPES
from kafkalearn.offsets.replay import NO_KEY, classic_group, committed
from kafkalearn.spark.session.worker_code import for_workers
from kafkalearn.wire import reader
from kafkalearn.wire.fields import INT16
from kafkalearn.wire.reader import Undecodable

NULL = "null"
Row: TypeAlias = dict[str, object]


def decode_row(key: bytes | None, value: bytes | None) -> Row:
    """What one record says, by column; columns that it has nothing for are left out.

    >>> decode_row(bytes.fromhex("0002000a746573742d67726f7570"), b"")
    {'is_tombstone': False, 'record_type': 2, 'kind': 'group metadata', 'group_id': 'test-group', \
'error': 'GroupMetadataValue: version at byte 0 needs 2 bytes, 0 of 0 are left'}
    """
    row: Row = {"is_tombstone": value is None}
    if value is not None and len(value) >= 2:
        row["value_version"] = reader.NUMBERS[INT16].unpack_from(value)[0]
    if key is None:
        return row | {"error": NO_KEY}
    if len(key) >= 2:
        row |= _named(reader.NUMBERS[INT16].unpack_from(key)[0])
    try:
        row |= _key_columns(key)
        return row | _value_columns(decode(key, value))
    except Undecodable as error:
        return row | {"error": str(error)}


def _named(number: int) -> Row:
    return {"record_type": number} | (
        {"kind": record_types.RECORD_TYPES[number].words} if number in record_types.RECORD_TYPES else {}
    )


def _key_columns(key: bytes) -> Row:
    kind, fields = decode_key(key)
    row = {"group_id": OffsetsRecord(kind, fields, None, None).group}
    if kind.number in OFFSET_TYPES:
        row |= {"committed_topic": fields["topic"], "committed_partition": fields["partition"]}
    return row


def _value_columns(record: OffsetsRecord) -> Row:
    if record.is_tombstone:
        return {}
    if record.type.number in OFFSET_TYPES:
        offset = committed(record)
        return {
            "committed_offset": offset.offset,
            "leader_epoch": offset.leader_epoch,
            "metadata": offset.metadata,
            "commit_ms": offset.commit_ms,
            "expire_ms": offset.expire_ms,
            "topic_id": offset.topic_id,
        }
    if record.type.number == GROUP_TYPE:
        group = classic_group(record.group, record.value)
        return {
            "protocol_type": group.protocol_type,
            "generation": group.epoch,
            "protocol": group.protocol,
            "leader": group.leader,
            "state_ms": group.state_ms,
            "member_count": len(group.members),
        }
    return {}


def packed(key: Column, value: Column) -> Column:
    """Key and value as one text in hexadecimal digits: Spark hands a column of texts to Python in half the time."""
    return sf.concat_ws(" ", *(sf.coalesce(sf.hex(each), sf.lit(NULL)) for each in (key, value)))


def unpacked(text: str) -> tuple[bytes | None, bytes | None]:
    """The key and the value.

    >>> unpacked("00FF null")
    (b'\\x00\\xff', None)
    """
    key, value = (None if each == NULL else bytes.fromhex(each) for each in text.split(" "))
    return key, value


def decode_columns(names: Sequence[str], records: Iterable[tuple[bytes | None, bytes | None]]) -> list[list]:
    """For each name the column of what some records, key and value, say."""
    rows = [decode_row(key, value) for key, value in records]
    return [[row.get(name) for row in rows] for name in names]


def rest_of(spark: SparkSession, unread: Column, added: StructType) -> Column:
    """What the records in `unread`, as `packed` makes them, say: a column of arrays with one struct `added` each.

    Where `unread` is null the arrays are empty; Python gets nulls there, which costs little.
    """
    names = added.names
    types = [_ARROW[field.dataType.simpleString()] for field in added.fields]

    def read_rest(records: pa.Array) -> pa.Array:
        is_there = records.is_valid()
        read = decode_columns(names, map(unpacked, records.filter(is_there).to_pylist()))
        columns = [pa.array(column, kind) for column, kind in zip(read, types, strict=True)]
        ends = pc.cumulative_sum(is_there.cast(pa.int32()))
        begins_and_end = pa.concat_arrays([pa.array([0], pa.int32()), ends])
        return pa.ListArray.from_arrays(begins_and_end, pa.StructArray.from_arrays(columns, names))

    read = sf.arrow_udf(for_workers(spark, read_rest), ArrayType(added))
    return read(unread)


def member_rows(value: bytes) -> list[Row]:
    """The members in a group's value, by column; see `kafkalearn.spark.offsets.members`."""
    _, values = decode_value(GROUP_TYPE, value)
    return [
        {
            "member_id": each.member_id,
            "instance_id": each.instance_id,
            "client_id": each.client_id,
            "client_host": each.client_host,
            "rebalance_timeout_ms": each.rebalance_timeout_ms,
            "session_timeout_ms": each.session_timeout_ms,
            "subscribed": None if each.subscribed is None else list(each.subscribed),
            "assigned": [{"topic": topic, "partition": partition} for topic, partition in each.assigned],
        }
        for each in classic_group("", values).members
    ]


def members_of_rest(df: DataFrame, value: str, added: StructType) -> DataFrame:
    """The rows without `value`, one for each member, with the columns `added`; record by record in Python."""
    own = [field for field in df.schema.fields if field.name != value]
    names = [field.name for field in own]
    types = {field.name: _MEMBER_ARROW.get(field.name) or _ARROW[field.dataType.simpleString()] for field in added}

    def batches(those: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for each in those:
            rows = [member_rows(one) for one in each.column(each.schema.names.index(value)).to_pylist()]
            index = pa.array([at for at, members in enumerate(rows) for _ in members], pa.int64())
            kept = [each.column(each.schema.names.index(name)).take(index) for name in names]
            members = [one for members in rows for one in members]
            new = [pa.array([one[name] for one in members], kind) for name, kind in types.items()]
            yield pa.RecordBatch.from_arrays([*kept, *new], names=[*names, *types])

    return df.mapInArrow(for_workers(df.sparkSession, batches), StructType(own + added.fields))


_TOPIC_PARTITION = pa.struct([("topic", pa.string()), ("partition", pa.int32())])
_MEMBER_ARROW = {"subscribed": pa.list_(pa.string()), "assigned": pa.list_(_TOPIC_PARTITION)}
_ARROW = {"int": pa.int32(), "bigint": pa.int64(), "string": pa.string(), "boolean": pa.bool_()}
