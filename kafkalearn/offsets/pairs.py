"""Keys and values of the offsets topic, however they come: as pairs, as records of a segment, or as whole segments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from kafkalearn.arguments import iterable
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown
from kafkalearn.segments.files import Segment
from kafkalearn.segments.records import Record
from kafkalearn.segments.transactions import committed_records

Pair: TypeAlias = tuple[bytes | None, bytes | None]

_BYTES = (bytes, bytearray, memoryview)


def key_values(records: Iterable[Pair | Record | Segment]) -> Iterator[Pair]:
    """Key and value of each record, in the same order; of segments the records that count.

    Parameters
    ----------
    records : iterable of (bytes, bytes or None), of Record, or of Segment
        Records as `kafkalearn.segments.committed_records` gives them, segments as `kafkalearn.segments.read_disk`.

    Raises
    ------
    KafkaLearnError
        If something else comes, or segments that do not make one log: several copies, or damage in the middle.

    Examples
    --------
    >>> list(key_values([Record(7, 1000, b"key", None), (b"key", b"value")]))
    [(b'key', None), (b'key', b'value')]
    """
    segments: list[Segment] = []
    for each in iterable("records", records, of="(key, value), of records or of segments"):
        match each:
            case Record():
                if each.control is None:
                    yield each.key, each.value
            case Segment():
                segments.append(each)
            case (key, value) if _is_bytes(key) and _is_bytes(value):
                yield key, value
            case _:
                came = f"{type(each).__name__} {shown(each)}"
                raise KafkaLearnError(f"records must be (key, value) in bytes, records or segments, got {came}")
    for record in committed_records(segments):
        yield record.key, record.value


def _is_bytes(value: object) -> bool:
    return value is None or isinstance(value, _BYTES)
