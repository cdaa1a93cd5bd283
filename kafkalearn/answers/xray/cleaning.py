"""What the cleaner and retention would do to a log, when, and why a log does not shrink.

When is a question of segments: the rules of `kafkalearn.log` are asked with an outline of the log, two batches for each
file, whatever its size. What would go is a question of records: there the simulator cleans the reader's own segments,
as long as they are not larger than `SIMULATED_BYTES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kafkalearn.answers.units import lasting, moment, size
from kafkalearn.answers.xray.findings import NOT_CLEANED, NOT_DELETED, NOT_SHRINKING, Finding
from kafkalearn.answers.xray.given import CLEANED, GivenLog
from kafkalearn.answers.xray.logs.checkpoints import BesideLog
from kafkalearn.errors import KafkaLearnError
from kafkalearn.log.cleaner.eligibility import cleanable
from kafkalearn.log.cleaner.keep_rule import OVERTAKEN
from kafkalearn.log.cleaner.next_clean import next_clean
from kafkalearn.log.effects import Cleanable, Cleaned, CleanerStopped, SegmentsDeleted
from kafkalearn.log.events import Clean
from kafkalearn.log.from_segments import log_from_segments
from kafkalearn.log.retention import retain
from kafkalearn.log.settings import Settings
from kafkalearn.log.simulator import step
from kafkalearn.log.state import Batch, Log, Segment, Transaction
from kafkalearn.phrases import counted
from kafkalearn.segments.census.log_census import FileCensus, LogCensus
from kafkalearn.segments.files import read_file

SIMULATED_BYTES = 16 << 20  # of a log's files and of its keys and values; as Python's objects they take some ten times
OVERTAKEN_BY = OVERTAKEN.format("a later record of its key")
IS_LATE_MS = 3_600_000  # a cleaner looks every 15 s, log.cleaner.backoff.ms


@dataclass(frozen=True, slots=True)
class CleaningXray:
    """What the cleaner would do to a log."""

    found: Cleanable
    active_bytes: int  # of the active segment, which is never cleaned
    next_ms: int | None  # when the log becomes eligible by the passing of time alone; None: never
    missing_bytes: int | None  # more of them in closed segments would make it eligible at once
    is_simulated: bool  # whether the next four are known
    reasons: tuple[tuple[str, int], ...] = ()  # why records would stay or go, each with how many
    removed_count: int | None = None
    kept_count: int | None = None
    freed_bytes: int | None = None
    stopped: str | None = None  # what would stop the cleaner


@dataclass(frozen=True, slots=True)
class RetentionXray:
    """What retention would do to a log."""

    deleted_count: int  # segments that would go now
    deleted_bytes: int
    reasons: tuple[str, ...]
    next_ms: int | None  # after which retention.ms deletes the oldest segment that is left; None: never


def outline(census: LogCensus, said: BesideLog) -> Log:
    """The log as far as segments go: of each file the first batch, and all others as one; without records."""
    return Log(
        tuple(map(_segment, census.files)),
        log_start_offset=max(census.base_offset, said.log_start or 0),
        log_end_offset=census.end_offset,
        checkpoint=said.cleaned_to,
        transactions=tuple(Transaction(each.producer_id, each.first_offset) for each in census.open_transactions),
    )


def _segment(file: FileCensus) -> Segment:
    base, last = file.file.base_offset, max(file.last_offset, file.file.base_offset)
    batches: tuple[Batch, ...] = ()
    if file.batch_count:
        batches = (
            Batch(base, base, (), 0, file.first_batch_ms),
            Batch(base, last, (), file.size_bytes, file.largest_ms),
        )
    return Segment(base, batches, file.modified_ms, file.modified_ms)


def xray_cleaning(
    given: GivenLog, census: LogCensus, said: BesideLog, settings: Settings, now_ms: int, batch_limit_bytes: int
) -> CleaningXray:
    """What the cleaner would do to a log at a time."""
    log = outline(census, said)
    found, coming = cleanable(settings, log, now_ms), next_clean(settings, log, now_ms)
    known = CleaningXray(found, census.files[-1].size_bytes, coming.at_ms, coming.missing_bytes, False)
    if not can_simulate(census):
        return known
    try:
        before, after = simulate_cleaning(given, said, settings, now_ms, batch_limit_bytes)
    except KafkaLearnError as error:
        return replace(known, stopped=str(error))
    return _with_effects(known, before, after)


def can_simulate(census: LogCensus) -> bool:
    """Whether the log is small enough for the simulator, and its records were read."""
    content_bytes = (census.key_bytes or 0) + (census.value_bytes or 0)
    return census.has_records and max(census.size_bytes, content_bytes) <= SIMULATED_BYTES


def simulate_cleaning(
    given: GivenLog, said: BesideLog, settings: Settings, now_ms: int, batch_limit_bytes: int
) -> tuple[Log, Log]:
    """The reader's log, and what one pass of the cleaner leaves of it, whether it is dirty enough or not.

    Raises
    ------
    KafkaLearnError
        If the files are not one log.
    """
    segments = [read_file(file, True, True, batch_limit_bytes) for file in given.files]
    before = log_from_segments(
        [replace(each, rest=None) for each in segments],
        checkpoint=said.cleaned_to,
        log_start_offset=said.log_start,
        now_ms=now_ms,
        release=settings.release,
    )
    return before, step(settings, before, Clean(now_ms, is_forced=True))


def _with_effects(known: CleaningXray, before: Log, after: Log) -> CleaningXray:
    known = replace(known, is_simulated=True, reasons=(), removed_count=0, kept_count=0, freed_bytes=0)
    for effect in after.effects:
        if isinstance(effect, CleanerStopped):
            known = replace(known, stopped=effect.reason)
        if isinstance(effect, Cleaned):
            gone = sum(not each.is_kept for each in effect.decisions)
            known = replace(
                known,
                reasons=tuple(Counter(_reason(each.reason) for each in effect.decisions).most_common()),
                removed_count=gone,
                kept_count=len(effect.decisions) - gone,
                freed_bytes=_bytes_of(before) - _bytes_of(after),
            )
    return known


def _reason(reason: str) -> str:
    return OVERTAKEN_BY if reason.startswith(OVERTAKEN.format("")) else reason


def _bytes_of(log: Log) -> int:
    return sum(each.size_bytes for each in log.segments)


def xray_retention(census: LogCensus, said: BesideLog, settings: Settings, now_ms: int) -> RetentionXray:
    """What retention would delete of a log at a time."""
    log = outline(census, said)
    retained = retain(settings, replace(log, effects=()), now_ms)
    reasons = tuple(reason for each in retained.effects if isinstance(each, SegmentsDeleted) for reason in each.reasons)
    gone = census.files[: len(reasons)]
    left = [each for each in census.files[len(reasons) :] if each.batch_count]
    next_ms = _segment(left[0]).largest_timestamp_ms + settings.retention_ms if left else None
    return RetentionXray(
        len(reasons), sum(each.size_bytes for each in gone), reasons, None if settings.retention_ms < 0 else next_ms
    )


def findings(
    given: GivenLog, census: LogCensus, said: BesideLog, settings: Settings, found: CleaningXray, now_ms: int
) -> Iterator[Finding]:
    """What is wrong with how the log is cleaned."""
    damaged = [each for each in census.files[:-1] if each.unread]
    if damaged:
        name = damaged[0].file.path.name
        ends = "leaves this partition out from then on" if settings.has("2.1") else "ends with it, for all partitions"
        yield Finding(NOT_CLEANED, given.name, f"{name} is damaged: a cleaner that comes to it stops and {ends}")
    late_ms = _late_ms(census, found)
    is_known = said.is_there(CLEANED)
    if is_known and found.found.is_eligible and late_ms is not None and now_ms - late_ms > IS_LATE_MS:
        since = f"could have been cleaned since {moment(late_ms)}, {lasting(now_ms - late_ms)} before these files end"
        yield Finding(
            NOT_CLEANED, given.name,
            f"{since}, and was not: {100 * found.found.ratio:.0f} % of it is dirty. By these settings the cleaner of "
            "this broker is dead, leaves the partition out, or does not come to it: look for 'uncleanable' and for "
            "errors in log-cleaner.log",
        )  # fmt: skip
    held = census.last_stable_offset
    if census.open_transactions and held < census.files[-1].file.base_offset:
        behind = sum(each.size_bytes for each in census.files if each.file.end_offset > held)
        yield Finding(
            NOT_SHRINKING, given.name,
            f"an open transaction holds the last stable offset at {held}: {size(behind)} behind it cannot be cleaned",
        )  # fmt: skip


def _late_ms(census: LogCensus, found: CleaningXray) -> int | None:
    """When the last segment that could be cleaned was surely closed: the first timestamp behind it."""
    first = found.found.first_uncleanable_offset
    behind = [each.first_batch_ms for each in census.files if each.file.base_offset >= first and each.batch_count]
    closed = [each.largest_ms for each in census.files if each.file.base_offset < first]
    return max([*closed, *behind[:1]], default=None) if closed else None


def why_not_smaller(
    census: LogCensus, said: BesideLog, settings: Settings, found: CleaningXray, now_ms: int
) -> Iterator[str]:
    """In words, what keeps the log as large as it is."""
    if not said.is_there(CLEANED):
        yield f"{CLEANED} is not beside these files, so that it counts as never cleaned"
    if found.active_bytes and not found.found.cleanable_bytes:
        full = size(settings.segment_bytes)
        yield (
            f"{size(found.active_bytes)} of {size(census.size_bytes)} are in the active segment, which is never "
            f"cleaned; it is closed when it has {full}, or by a record that is {lasting(settings.roll_ms)} younger"
        )
    closed_bytes = census.size_bytes - found.active_bytes
    if closed_bytes and not found.found.is_eligible and found.found.cleanable_bytes:
        least = 100 * settings.min_cleanable_dirty_ratio
        words = f"{100 * found.found.ratio:.0f} % of the closed segments is dirty, more than {least:.0f} % is asked for"
        missing = "" if found.missing_bytes is None else f"; {size(found.missing_bytes)} more would do"
        by_time = "" if found.next_ms is None else f"; else it is cleaned from {moment(found.next_ms)} on"
        yield f"{words}{missing}{by_time}"
    if settings.min_compaction_lag_ms:
        young = [each for each in census.files if each.largest_ms > now_ms - settings.min_compaction_lag_ms]
        if young:
            yield (
                f"min.compaction.lag.ms protects {counted(len(young), 'segment')} with records younger than "
                f"{lasting(settings.min_compaction_lag_ms)}"
                + (", some of them from the future" if census.future_batch_count else "")
            )
    if census.latest_horizon_ms is not None and census.latest_horizon_ms > now_ms:
        yield (
            f"tombstones in {counted(census.horizon_batch_count, 'batch', 'batches')} wait for their delete horizon, "
            f"the last until {moment(census.latest_horizon_ms)}, and for the cleaning after it"
        )


def retention_findings(given: GivenLog, census: LogCensus, settings: Settings, now_ms: int) -> Iterator[Finding]:
    """What keeps segments from being deleted by time."""
    if settings.retention_ms < 0:
        return
    ahead = [each for each in census.files if each.largest_ms > now_ms + 86_400_000]
    if ahead:
        first = ahead[0]
        behind = sum(each.size_bytes for each in census.files if each.file.base_offset >= first.file.base_offset)
        words = f"a record of {moment(first.largest_ms)} keeps {first.file.path.name} and all behind it"
        yield Finding(
            NOT_DELETED, given.name, f"{words}, {size(behind)}, from being deleted by retention.ms until after that"
        )
