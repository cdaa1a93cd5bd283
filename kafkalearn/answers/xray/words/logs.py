"""Logs in words: what is in them, and what the cleaner or retention would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkalearn.answers.answer import wrapped
from kafkalearn.answers.units import moment, size
from kafkalearn.answers.xray.logs.log_xray import LogXray
from kafkalearn.answers.xray.words.tables import SHOWN
from kafkalearn.phrases import counted, listed
from kafkalearn.segments.census.log_census import Largest


def largest_first(logs: Sequence[LogXray]) -> list[LogXray]:
    """Logs in the order in which they are shown."""
    return sorted(logs, key=lambda each: (-each.census.size_bytes, each.given.name))


def row(log: LogXray) -> dict[str, object]:
    """A log as a row of the table."""
    census = log.census
    row = {
        "log": log.given.name,
        "size": size(census.size_bytes),
        "files": len(census.files),
        "batches": f"{census.batch_count:,}",
        "records": f"{census.record_count:,}",
        "offsets": "none" if census.first_offset is None else f"{census.first_offset} to {census.end_offset - 1}",
    }
    if census.has_records:
        row["no key"] = f"{census.null_key_count:,}"
        row["tombstones"] = f"{census.tombstone_count:,}"
    return row


def details(logs: Sequence[LogXray]) -> Iterator[str]:
    """What the largest log holds, and what the cleaner would do."""
    log = largest_first(logs)[0]
    census = log.census
    codecs = listed(f"{name} {count:,}" for name, count in census.batches_by_codec.items())
    controls = listed(f"{count:,} {name}" for name, count in census.controls.items())
    words = f"{log.given.name}: batches by codec: {codecs}; control records: {controls}"
    older = listed(f"{count:,} of format {magic}" for magic, count in census.magic_counts.items() if magic < 2)
    if older != "none":
        words += f"; {older}, of releases up to 0.10, which are counted and not read"
    if census.largest_keys:
        words += f"; largest key {_largest(census.largest_keys)}"
    if census.largest_values:
        words += f"; largest value {_largest(census.largest_values)}"
    if census.oldest and census.newest:
        words += f"; timestamps from {moment(census.oldest.timestamp_ms)} to {moment(census.newest.timestamp_ms)}"
    yield wrapped(f"{words}.")
    for each in largest_first(logs)[:SHOWN]:
        sentences = [*_cleaning(each), *each.why, *_retention(each, is_only=len(logs) == 1)]
        if sentences:
            yield wrapped(f"{each.given.name}: {'; '.join(sentences)}.")


def _largest(found: tuple[Largest, ...]) -> str:
    return f"{size(found[0].size_bytes)} at offset {found[0].offset}"


def _cleaning(log: LogXray) -> Iterator[str]:
    cleaning = log.cleaning
    if cleaning is None:
        return
    if cleaning.stopped:
        yield f"the cleaner would stop: {cleaning.stopped}"
    elif cleaning.is_simulated and cleaning.removed_count is not None and cleaning.reasons:
        when = "would remove now" if cleaning.found.is_eligible else "would remove, if it came now,"
        reasons = listed(f"{count:,} {reason}" for reason, count in cleaning.reasons)
        yield (
            f"the cleaner {when} {cleaning.removed_count:,} of {cleaning.removed_count + cleaning.kept_count:,} "
            f"records, {size(cleaning.freed_bytes)} ({reasons})"
        )
    elif not cleaning.is_simulated and cleaning.found.cleanable_bytes:
        yield f"{100 * cleaning.found.ratio:.0f} % of the closed segments is dirty; too large to be cleaned here"


def _retention(log: LogXray, is_only: bool) -> Iterator[str]:
    if log.retention is None:
        return
    if log.retention.next_ms is not None and is_only:
        yield f"retention.ms deletes its oldest segment after {moment(log.retention.next_ms)}"
    if log.retention.deleted_count:
        reasons = listed(dict.fromkeys(log.retention.reasons))
        count = counted(log.retention.deleted_count, "segment")
        yield f"{count}, {size(log.retention.deleted_bytes)}, would be deleted now: {reasons}"
