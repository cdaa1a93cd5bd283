"""Bytes of ``__consumer_offsets``, pasted or dropped, taken apart."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping

from kafkalearn.errors import KafkaLearnError
from kafkalearn.offsets import decode, formatter_line
from kafkalearn.page.playground.fields import bytes_field, text_field
from kafkalearn.page.playground.shown import played, rows_html
from kafkalearn.phrases import counted
from kafkalearn.segments import parse_segment
from kafkalearn.versions.releases import DEFAULT_RELEASE
from kafkalearn.views.drawing.frames import animation
from kafkalearn.views.offsets.record_bytes import (
    MOST_BYTES,
    describe_record_bytes,
    draw_record_bytes,
    record_bytes,
)
from kafkalearn.wire import Undecodable

MOST_FILE_BYTES = 32 << 20


def record(fields: Mapping[str, object]) -> dict[str, object]:
    """A record byte by byte, its fields, and the line that Kafka's tools print of it.

    Parameters
    ----------
    fields : mapping
        ``key``, ``value``: bytes in hex or base64; a value that is empty or ``null`` is a tombstone. ``release``: of
        the tools.

    Examples
    --------
    >>> said = record({"key": "0001000762696c6c696e6700066f726465727300000003"})
    >>> said["text"].splitlines()[0]
    "offset commit, key version 1: {'group': 'billing', 'topic': 'orders', 'partition': 3}"
    """
    key, value = bytes_field(fields, "key"), bytes_field(fields, "value")
    if key is None:
        raise KafkaLearnError("key is empty: paste the bytes of a record's key, in hex or in base64")
    found = decode(key, value)
    lines = [f"{found.type.words}, key version {int.from_bytes(key[:2])}: {dict(found.key)}"]
    lines.append("no value: a tombstone" if found.is_tombstone else f"value: {found.value}")
    printed = formatter_line(key, value, text_field(fields, "release", DEFAULT_RELEASE))
    if printed is not None:
        lines.append(f"the console consumer prints: {printed}")
    said = {"text": "\n".join(lines)}
    if max(len(key), len(value or b"")) > MOST_BYTES:
        return said
    return said | played(animation(record_bytes(key, value), draw_record_bytes, describe_record_bytes))


def segment(fields: Mapping[str, object]) -> dict[str, object]:
    """The records of a segment file of ``__consumer_offsets``.

    Parameters
    ----------
    fields : mapping
        ``file``: its name, whose number is the base offset; ``data``: its bytes in base64.

    Examples
    --------
    >>> segment({"file": "00000000000000000000.log", "data": ""})["text"]
    '0 records in 0 batches'
    """
    name = text_field(fields, "file")
    try:
        data = base64.b64decode(str(fields.get("data") or ""), validate=True)
    except (ValueError, binascii.Error) as error:
        raise KafkaLearnError(f"the file did not come through whole: {error}") from error
    if len(data) > MOST_FILE_BYTES:
        raise KafkaLearnError(f"a file may have {MOST_FILE_BYTES >> 20} MiB here, {name} has {len(data) >> 20}")
    number = re.match(r"(\d{20})\.log$", name)
    read = parse_segment(data, base_offset=int(number[1]) if number else 0)
    rows = [
        {"offset": each.offset, **_row(each.key, each.value)}
        for batch in read.batches
        if not batch.is_control
        for each in batch.records
    ]
    words = f"{counted(len(rows), 'record')} in {counted(len(read.batches), 'batch', 'batches')}"
    if read.rest is not None:
        words += f"; reading stopped: {read.rest.reason}"
    return {"text": words, "html": rows_html(rows)}


def _row(key: bytes | None, value: bytes | None) -> dict[str, object]:
    try:
        found = decode(key or b"", value)
    except Undecodable as error:
        return {"record": f"no record of __consumer_offsets: {error}", "key": (key or b"").hex(" "), "value": ""}
    value_words = "null: a tombstone" if found.is_tombstone else str(found.value)
    return {"record": found.type.words, "key": str(dict(found.key)), "value": value_words[:300]}
