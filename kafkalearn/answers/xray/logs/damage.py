"""What no broker has written: bytes that are no batches, timestamps of another century."""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn.answers.units import moment, year
from kafkalearn.answers.xray.findings import (
    CENTURY,
    DAMAGE,
    FUTURE,
    TORN_TAIL,
    Finding,
)
from kafkalearn.answers.xray.given import GivenLog
from kafkalearn.phrases import counted
from kafkalearn.segments.census.log_census import LogCensus

OLDEST_YEAR, NEWEST_YEAR = 2000, 2099
DAMAGES_SHOWN = 3  # of one file


def damage(log: GivenLog, census: LogCensus) -> Iterator[Finding]:
    """What of the files cannot be read, and how far they can be."""
    for file in census.files:
        name = file.file.path.name
        tail = file.unread[-1] if file.unread else None
        is_tail = tail is not None and file.file.is_last and tail.position + tail.size_bytes == file.size_bytes
        in_the_middle = file.unread[:-1] if is_tail else file.unread
        for each in in_the_middle[:DAMAGES_SHOWN]:
            behind = "a broker that reads the file to its end cuts the log there"
            where = f"{name} from byte {each.position}, {counted(each.size_bytes, 'byte')}"
            yield Finding(DAMAGE, log.name, f"{where}: {each.reason}; what follows can be read, {behind}")
        if len(in_the_middle) > DAMAGES_SHOWN:
            more = counted(len(in_the_middle) - DAMAGES_SHOWN, "more damaged part")
            yield Finding(DAMAGE, log.name, f"{name} has {more}")
        if is_tail:
            readable = f"{name} can be read up to byte {tail.position} of {file.size_bytes:,}"
            yield Finding(TORN_TAIL, log.name, f"{readable}: {tail.reason}; a broker that starts cuts it off there")


def strange_times(log: GivenLog, census: LogCensus) -> Iterator[Finding]:
    """Timestamps of another century, or later than the files themselves."""
    for stamp in dict.fromkeys((census.oldest, census.newest)):
        if stamp is not None and not OLDEST_YEAR <= (year(stamp.timestamp_ms) or 0) <= NEWEST_YEAR:
            words = f"the batch at offset {stamp.offset} has {moment(stamp.timestamp_ms)}{_unit(stamp.timestamp_ms)}"
            yield Finding(CENTURY, log.name, words)
    if census.first_future is not None:
        first = census.first_future
        words = (
            f"{counted(census.future_batch_count, 'batch', 'batches')} with a timestamp later than these files, first "
            f"at offset {first.offset}: {moment(first.timestamp_ms)}; retention.ms counts from it"
        )
        yield Finding(FUTURE, log.name, words)


def _unit(timestamp_ms: int) -> str:
    """What the timestamp may have been meant as, if another unit makes sense of it."""
    for unit, factor in (("seconds", 1000), ("microseconds", 1 / 1000), ("nanoseconds", 1 / 1_000_000)):
        if OLDEST_YEAR <= (year(int(timestamp_ms * factor)) or 0) <= NEWEST_YEAR:
            return f"; as {unit} it is {moment(int(timestamp_ms * factor))}"
    return ""
