"""Batches, segment files and whole logs written to a disk as a broker has them: what the reader is tried on."""

import struct

from kafkalearn.formats.batches import HEADER, crc32c
from kafkalearn.formats.compression import CODECS
from kafkalearn.formats.wire import unsigned_varint, zigzag


def varint(value):
    return unsigned_varint(zigzag(value))


def sized(data):
    return varint(-1) if data is None else varint(len(data)) + data


def encoded(text):
    return text.encode() if isinstance(text, str) else text


def record(offset_delta, timestamp_delta, key, value, headers=()):
    body = b"\x00" + varint(timestamp_delta) + varint(offset_delta) + sized(encoded(key)) + sized(encoded(value))
    body += varint(len(headers)) + b"".join(sized(name.encode()) + sized(content) for name, content in headers)
    return varint(len(body)) + body


def batch(base_offset, rows, **given):
    """A batch of (offset, timestamp, key, value); `given` are the fields of its header, as Batch names them."""
    rows = list(rows)
    last_offset = given.get("last_offset", rows[-1][0] if rows else base_offset)
    horizon_ms = given.get("delete_horizon_ms")
    base_ms = horizon_ms if horizon_ms is not None else rows[0][1] if rows else -1
    codec = given.get("compression", "none")
    attributes = CODECS.index(codec) | 0x10 * given.get("is_transactional", False)
    attributes |= 0x08 * given.get("is_log_append_time", False) | 0x20 * given.get("is_control", False)
    attributes |= 0x40 * (horizon_ms is not None)
    body = b"".join(record(offset - base_offset, timestamp_ms - base_ms, *rest) for offset, timestamp_ms, *rest in rows)
    body = given.get("compress", bytes)(body)
    max_ms = given.get("max_timestamp_ms", max((row[1] for row in rows), default=-1))
    producer = given.get("producer_id", -1), given.get("producer_epoch", -1), given.get("base_sequence", -1)
    count = given.get("record_count", len(rows))
    return framed(base_offset, last_offset - base_offset, attributes, base_ms, max_ms, producer, count, body)


def framed(base_offset, last_delta, attributes, base_ms, max_ms, producer, record_count, body):
    """The bytes of a batch with a right checksum."""
    length = HEADER.size - 12 + len(body)
    header = HEADER.pack(base_offset, length, 0, 2, 0, attributes, last_delta, base_ms, max_ms, *producer, record_count)
    crc = crc32c(header[21:] + body)
    return header[:17] + struct.pack(">I", crc) + header[21:] + body


MARKER_KEYS = {"ABORT": b"\x00\x00\x00\x00", "COMMIT": b"\x00\x00\x00\x01"}
MARKER_VALUE = b"\x00\x00\x00\x00\x00\x00"


def log_batch(each):
    """The bytes of a batch of the simulated log."""
    rows = [(one.offset, one.timestamp_ms, one.key, one.value) for one in each.records]
    if each.marker is not None:
        rows = [(offset, at_ms, MARKER_KEYS[each.marker], MARKER_VALUE) for offset, at_ms, _, _ in rows]
    return batch(
        each.base_offset,
        rows,
        last_offset=each.last_offset,
        delete_horizon_ms=each.delete_horizon_ms,
        max_timestamp_ms=each.max_timestamp_ms,
        producer_id=each.producer_id,
        producer_epoch=each.producer_epoch,
        base_sequence=each.base_sequence,
        is_transactional=each.is_transactional,
        is_control=each.marker is not None,
    )


def write_log(log, folder, topic="topic", partition=0):
    """The segments of a simulated log in a partition's folder below `folder`, which is returned."""
    place = folder / f"{topic}-{partition}"
    place.mkdir(parents=True)
    for segment in log.segments:
        data = b"".join(map(log_batch, segment.batches))
        (place / f"{segment.base_offset:020}.log").write_bytes(data)
    return folder
