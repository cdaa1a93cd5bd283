"""The records of an internal topic that count, one after the other: not those of aborted or open transactions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from kafkalearn.answers.xray.given import GivenLog
from kafkalearn.answers.xray.logs.checkpoints import BesideLog
from kafkalearn.segments.batches import Header
from kafkalearn.segments.census.blocks import RECORDS, blocks
from kafkalearn.segments.census.log_census import LogCensus
from kafkalearn.segments.census.reading import mapped, span_of
from kafkalearn.segments.walk import Unread


class CommittedRow(NamedTuple):
    """A record that counts."""

    key: bytes | None
    value: bytes | None  # None: a tombstone
    timestamp_ms: int
    is_recent: bool  # behind what was cleaned


def committed_rows(
    given: GivenLog, census: LogCensus, said: BesideLog, is_fast: bool | None, batch_limit_bytes: int
) -> Iterator[CommittedRow]:
    """The records of a log that count, in the order of their offsets.

    Parameters
    ----------
    given : GivenLog
        Its files.
    census : LogCensus
        What they hold, the markers of transactions among it.
    said : BesideLog
        For how far the cleaner has come.
    is_fast, batch_limit_bytes : bool or None, int
        As in `kafkalearn.segments.census.blocks.blocks`.
    """
    cleaned_to = said.cleaned_to or 0
    for file in given.files:
        with mapped(file.path) as data:
            for block in blocks(data, span_of(file, data), RECORDS, is_fast, batch_limit_bytes):
                if isinstance(block, Unread):
                    continue
                last: Header | None = None
                counts = True
                for header, offset, timestamp_ms, key, value in block.rows():
                    if header is not last:
                        last, counts = header, not header.is_transactional or _is_committed(header, census)
                    if counts:
                        yield CommittedRow(key, value, timestamp_ms, offset >= cleaned_to)


def _is_committed(header: Header, census: LogCensus) -> bool:
    """Whether the first marker of its producer behind the batch is COMMIT."""
    markers = census.markers.get(header.producer_id, ())
    place = bisect_right(markers, (header.base_offset, "~"))
    return place < len(markers) and markers[place][1] == "COMMIT"
