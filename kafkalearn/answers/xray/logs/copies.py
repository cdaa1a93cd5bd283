"""Several copies of one partition, as the brokers' disks have them: where their batches stop being the same.

Copies may end at different offsets, and cleaners take records out at different times. But two batches that begin at one
offset, and that no cleaner has rewritten, must be the same bytes; else the logs have diverged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkalearn.answers.xray.findings import COPIES, Finding
from kafkalearn.answers.xray.given import GivenLog
from kafkalearn.segments.batches import Header, read_header
from kafkalearn.segments.census.log_census import LogCensus
from kafkalearn.segments.census.reading import mapped, span_of
from kafkalearn.segments.walk import Unread, walk


def compare_copies(logs: Sequence[tuple[GivenLog, LogCensus, int]]) -> Iterator[Finding]:
    """Where copies of one partition differ, each compared with the longest one.

    Parameters
    ----------
    logs : sequence of (GivenLog, LogCensus, int)
        The copies, each with the offset up to which its cleaner has come.
    """
    longest = max(logs, key=lambda each: (each[1].end_offset, each[0].log_dir))
    for each in logs:
        if each is longest:
            continue
        from_offset = max(each[2], longest[2], each[1].base_offset, longest[1].base_offset)
        found = _first_difference(each[0], longest[0], from_offset)
        if found is not None:
            here, there = found
            words = (
                f"the batch at offset {here.base_offset} is of leader epoch {here.leader_epoch} and ends at "
                f"{here.last_offset}, in {longest[0].log_dir} it is of epoch {there.leader_epoch} and ends at "
                f"{there.last_offset}: the logs have diverged there"
            )
            yield Finding(COPIES, each[0].name, words)


def _first_difference(one: GivenLog, other: GivenLog, from_offset: int) -> tuple[Header, Header] | None:
    """The first batches at one offset that are not the same, from an offset on; None: there are none."""
    theirs = _headers(other, from_offset)
    there = next(theirs, None)
    for here in _headers(one, from_offset):
        while there is not None and there.base_offset < here.base_offset:
            there = next(theirs, None)
        if there is None:
            return None
        if there.base_offset == here.base_offset and _facts(here) != _facts(there):
            return here, there
    return None


def _facts(header: Header) -> tuple[int, ...]:
    return header.last_offset, header.leader_epoch, header.crc


def _headers(log: GivenLog, from_offset: int) -> Iterator[Header]:
    for file in log.files:
        if file.end_offset <= from_offset:
            continue
        with mapped(file.path) as data:
            for each in walk(data, span_of(file, data), read_header):
                if not isinstance(each, Unread) and each.base_offset >= from_offset:
                    yield each
