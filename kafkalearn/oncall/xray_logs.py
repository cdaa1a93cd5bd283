"""Each log of an x-ray: what it holds, what is wrong with it, what the cleaner and retention would do to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from kafkalearn.base.errors import KafkaLearnError, counted, listed
from kafkalearn.formats.batches import Header, read_header
from kafkalearn.formats.census import FileCensus, LogCensus, OpenTransaction, span_of
from kafkalearn.formats.file_bytes import opened
from kafkalearn.formats.segments import Unread, read_file, walk
from kafkalearn.formats.transaction_log import COMPLETE_ABORT, COMPLETE_COMMIT, TransactionalId
from kafkalearn.log import model
from kafkalearn.log.cleaner import OVERTAKEN, cleanable, next_clean
from kafkalearn.log.from_segments import log_from_segments
from kafkalearn.log.model import Log, Settings
from kafkalearn.log.retention import retain
from kafkalearn.log.simulator import step
from kafkalearn.oncall.answer import lasting, moment, size, year
from kafkalearn.oncall.xray_given import (
    CENTURY,
    CLEANED,
    COPIES,
    DAMAGE,
    FUTURE,
    NOT_CLEANED,
    NOT_DELETED,
    NOT_SHRINKING,
    OLD_FORMAT,
    OPEN_TRANSACTION,
    OVERDUE,
    TORN_TAIL,
    BesideLog,
    Finding,
    GivenLog,
)

if TYPE_CHECKING:
    from kafkalearn.oncall.shapes import CleaningData, FileData, LogData

# One log as data.

OF_ITS_OWN = "its own, by __cluster_metadata"
OF_ITS_BROKER = "log.cleanup.policy of its broker, which no file here has"
"""Where a topic's cleanup.policy is from, if the cluster's metadata were read."""


@dataclass(frozen=True, slots=True)
class CleaningXray:
    """What the cleaner would do to a log."""

    found: model.Cleanable
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


@dataclass(frozen=True, slots=True)
class LogXray:
    """One log: a partition in one log dir."""

    given: GivenLog
    census: LogCensus
    beside: BesideLog
    settings: Settings
    cleaning: CleaningXray | None  # None: it is not compacted
    retention: RetentionXray | None  # None: nothing deletes it
    why: tuple[str, ...]  # what keeps a compacted log as large as it is
    waiting: tuple[str, ...] = ()  # its open transactions that hang, if it is later than the files say
    policy_from: str | None = None  # where cleanup.policy is known from; None: nowhere

    def as_data(self) -> LogData:
        """As `Answer.as_data`."""
        census = self.census
        return {
            "topic": self.given.at.topic,
            "partition": self.given.at.partition,
            "log_dir": self.given.log_dir,
            "files": [_file_data(each) for each in census.files],
            "size_bytes": census.size_bytes,
            "log_start_offset": max(census.base_offset, self.beside.log_start or 0),
            "log_end_offset": census.end_offset,
            "last_stable_offset": census.last_stable_offset,
            "batch_count": census.batch_count,
            "magic_counts": {str(magic): count for magic, count in census.magic_counts.items()},
            "batches_by_codec": census.batches_by_codec,
            "bytes_by_codec": census.bytes_by_codec,
            "transactional_batch_count": census.transactional_batch_count,
            "control_records": census.controls,
            "record_count": census.record_count,
            "null_key_count": census.null_key_count,
            "tombstone_count": census.tombstone_count,
            "key_bytes": census.key_bytes,
            "value_bytes": census.value_bytes,
            "largest_keys": [each._asdict() for each in census.largest_keys],
            "largest_values": [each._asdict() for each in census.largest_values],
            "oldest": None if census.oldest is None else census.oldest._asdict(),
            "newest": None if census.newest is None else census.newest._asdict(),
            "future_batch_count": census.future_batch_count,
            "horizon_batch_count": census.horizon_batch_count,
            "earliest_horizon_ms": census.earliest_horizon_ms,
            "latest_horizon_ms": census.latest_horizon_ms,
            "producer_count": census.producer_count,
            "open_transactions": [asdict(each) for each in census.open_transactions],
            "waiting": [*self.waiting],
            "leader_epochs": [[*each] for each in census.epochs],
            "checkpoints": self.beside.offsets,
            "leader_epoch_checkpoint": None if self.beside.epochs is None else [[*each] for each in self.beside.epochs],
            "cleanup_policy": self.settings.cleanup_policy,
            "cleanup_policy_from": self.policy_from,
            "cleaning": None if self.cleaning is None else _cleaning_data(self.cleaning),
            "retention": None if self.retention is None else asdict(self.retention),
            "why": [*self.why],
        }


def _file_data(file: FileCensus) -> FileData:
    return {
        "path": str(file.file.path),
        "base_offset": file.file.base_offset,
        "size_bytes": file.size_bytes,
        "readable_bytes": file.readable_bytes,
        "batch_count": file.batch_count,
        "unread": [asdict(each) for each in file.unread],
    }


def _cleaning_data(cleaning: CleaningXray) -> CleaningData:
    found = cleaning.found
    return {
        "dirty_ratio": found.ratio,
        "first_dirty_offset": found.first_dirty_offset,
        "first_uncleanable_offset": found.first_uncleanable_offset,
        "clean_bytes": found.clean_bytes,
        "cleanable_bytes": found.cleanable_bytes,
        "must_clean": found.must_clean,
        "is_eligible": found.is_eligible,
        "active_bytes": cleaning.active_bytes,
        "next_ms": cleaning.next_ms,
        "missing_bytes": cleaning.missing_bytes,
        "is_simulated": cleaning.is_simulated,
        "reasons": dict(cleaning.reasons),
        "removed_count": cleaning.removed_count,
        "kept_count": cleaning.kept_count,
        "freed_bytes": cleaning.freed_bytes,
        "stopped": cleaning.stopped,
    }


# What no broker has written: bytes that are no batches, timestamps of another century.

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


_OF_OLD = {
    0: "wrote; they have no time, so that retention.ms counts from when their file was written, anew after each copy",
    1: "wrote; they have neither a leader epoch nor a producer, so that nothing of KIP-98 and KIP-101 holds for them",
}
_FIRST_WITHOUT = {0: "0.10.0", 1: "0.11.0"}


def old_formats(log: GivenLog, census: LogCensus) -> Iterator[Finding]:
    """Messages of formats 0 and 1 (KIP-32, KIP-98)."""
    for magic, words in _OF_OLD.items():
        if count := census.magic_counts.get(magic, 0):
            said = (
                f"{counted(count, 'message')} of format {magic}, which releases before {_FIRST_WITHOUT[magic]} {words}"
            )
            yield Finding(OLD_FORMAT, log.name, said)


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


# What the cleaner and retention would do, when, and why a log does not shrink.
#
# When is a question of segments: the rules of `kafkalearn.log` are asked with an outline of the log, two batches for
# each file, whatever its size. What would go is a question of records: there the simulator cleans the reader's own
# segments, as long as they are not larger than `SIMULATED_BYTES`.

SIMULATED_BYTES = 16 << 20  # of a log's files and of its keys and values; as Python's objects they take some ten times
OVERTAKEN_BY = OVERTAKEN.format("a later record of its key")
IS_LATE_MS = 3_600_000  # a cleaner looks every 15 s, log.cleaner.backoff.ms


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


def outline(census: LogCensus, said: BesideLog) -> Log:
    """The log as far as segments go: of each file the first batch, and all others as one; without records."""
    return Log(
        tuple(map(_segment, census.files)),
        log_start_offset=max(census.base_offset, said.log_start or 0),
        log_end_offset=census.end_offset,
        checkpoint=said.cleaned_to,
        transactions=tuple(model.Transaction(each.producer_id, each.first_offset) for each in census.open_transactions),
    )


def _segment(file: FileCensus) -> model.Segment:
    base = file.file.base_offset
    first = model.Batch(base, base, (), 0, file.first_batch_ms)
    others = model.Batch(base, max(file.last_offset, base), (), file.size_bytes, file.largest_ms)
    return model.Segment(base, (first, others) if file.batch_count else (), file.modified_ms, file.modified_ms)


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
    return before, step(settings, before, model.Clean(now_ms, is_forced=True))


def _with_effects(known: CleaningXray, before: Log, after: Log) -> CleaningXray:
    known = replace(known, is_simulated=True, removed_count=0, kept_count=0, freed_bytes=0)
    for effect in after.effects:
        if isinstance(effect, model.CleanerStopped):
            known = replace(known, stopped=effect.reason)
        if isinstance(effect, model.Cleaned):
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


def cleaning_findings(
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


def xray_retention(census: LogCensus, said: BesideLog, settings: Settings, now_ms: int) -> RetentionXray:
    """What retention would delete of a log at a time."""
    log = outline(census, said)
    retained = retain(settings, replace(log, effects=()), now_ms)
    reasons = tuple(
        reason for each in retained.effects if isinstance(each, model.SegmentsDeleted) for reason in each.reasons
    )
    gone = census.files[: len(reasons)]
    left = [each for each in census.files[len(reasons) :] if each.batch_count]
    next_ms = _segment(left[0]).largest_timestamp_ms + settings.retention_ms if left else None
    gone_bytes = sum(each.size_bytes for each in gone)
    return RetentionXray(len(reasons), gone_bytes, reasons, None if settings.retention_ms < 0 else next_ms)


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


# Copies of one partition: where their batches stop being the same.
#
# Copies may end at different offsets, and cleaners take records out at different times. But two batches that begin at
# one offset, and that no cleaner has rewritten, must be the same bytes; else the logs have diverged.


def compare_copies(logs: Sequence[tuple[GivenLog, LogCensus, int]]) -> Iterator[Finding]:
    """Where copies of one partition differ, each compared with the longest one.

    Parameters
    ----------
    logs : sequence of (GivenLog, LogCensus, int)
        The copies, each with the offset up to which its cleaner has come.
    """
    longest = max(logs, key=lambda each: (each[1].end_offset, each[0].log_dir))
    other, its_census, its_cleaned_to = longest
    for each in logs:
        if each is longest:
            continue
        log, census, cleaned_to = each
        from_offset = max(cleaned_to, its_cleaned_to, census.base_offset, its_census.base_offset)
        if (found := _first_difference(log, other, from_offset)) is not None:
            here, there = found
            words = (
                f"the batch at offset {here.base_offset} is of leader epoch {here.leader_epoch} and ends at "
                f"{here.last_offset}, in {other.log_dir} it is of epoch {there.leader_epoch} and ends at "
                f"{there.last_offset}: the logs have diverged there"
            )
            yield Finding(COPIES, log.name, words)


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
        if file.end_offset > from_offset:
            with opened(file.path) as data:
                for each in walk(data, span_of(file, data), read_header):
                    if not isinstance(each, Unread) and each.base_offset >= from_offset:
                        yield each


# Open transactions: those that the segments of a topic show, and those that the coordinator's own topic knows.

LONGEST_MS = 15 * 60_000  # transaction.max.timeout.ms, the default: no client may ask for more
PARTITIONS_SHOWN = 4


def open_findings(
    given: GivenLog, census: LogCensus, known: Mapping[int, TransactionalId], now_ms: int
) -> Iterator[Finding]:
    """The open transactions of a log that are older than any transaction may be, or that their coordinator has ended.

    Parameters
    ----------
    given : GivenLog
        The log.
    census : LogCensus
        What it holds.
    known : mapping of int to TransactionalId
        What the coordinator's topic says, if it was given, by producer id.
    now_ms : int
        The moment of which the files tell.
    """
    for each in census.open_transactions:
        of = known.get(each.producer_id)
        if now_ms - each.begun_ms > _limit_ms(of) or _is_left(each, of):
            since = f"{moment(each.begun_ms)}, {lasting(now_ms - each.begun_ms)}" if each.begun_ms >= 0 else "?"
            yield Finding(OPEN_TRANSACTION, given.name, _words(given, each, of, census, f"open since {since}"))


def _is_left(each: OpenTransaction, of: TransactionalId | None) -> bool:
    """Whether its coordinator has written that a transaction of its producer is complete, under a later epoch.

    It does so after the last marker; without one here the marker was given up (KAFKA-20734), or is still to be copied.
    Of a client before KIP-890, which has one epoch for all its transactions, the time alone tells.
    """
    return (
        of is not None
        and of.state in (COMPLETE_COMMIT, COMPLETE_ABORT)
        and of.producer_epoch > each.producer_epoch
        and of.updated_ms >= each.begun_ms
    )


def _limit_ms(of: TransactionalId | None) -> int:
    return LONGEST_MS if of is None else of.timeout_ms


def waiting_words(
    given: GivenLog, census: LogCensus, known: Mapping[int, TransactionalId], now_ms: int, is_guessed: bool
) -> Iterator[str]:
    """The open transactions that are young as long as nothing is known of the time: files that were copied stay as old.

    Parameters
    ----------
    given, census, known, now_ms
        As for `open_findings`.
    is_guessed : bool
        Whether `now_ms` is when the files were written last; of a time that was said there is nothing to add.
    """
    for each in census.open_transactions if is_guessed else ():
        limit_ms = _limit_ms(known.get(each.producer_id))
        if now_ms - each.begun_ms <= limit_ms and not _is_left(each, known.get(each.producer_id)):
            until = moment(each.begun_ms + limit_ms)
            hangs = f"open since {moment(each.begun_ms)}, and if now is later than {until}, it hangs"
            yield f"{OPEN_TRANSACTION}, {_words(given, each, known.get(each.producer_id), census, hangs)}"


TOOL = "kafka-transactions.sh --bootstrap-server HOST:9092"


def _words(given: GivenLog, each: OpenTransaction, of: TransactionalId | None, census: LogCensus, since: str) -> str:
    who = f"producer {each.producer_id}, epoch {each.producer_epoch}"
    if of is not None:
        who += f" ({of.transactional_id!r}, which its coordinator has as {of.state})"
    holds = (
        f"consumers with read_committed stop at offset {census.last_stable_offset} of {census.end_offset}"
        if each.first_offset == census.last_stable_offset
        else f"it begins at offset {each.first_offset}"
    )
    call = f"{TOOL} abort --topic {given.at.topic} --partition {given.at.partition} --start-offset {each.first_offset}"
    if of is None:
        hanging = f"; if no coordinator has it as Ongoing, this ends it: {call}"
    elif _is_left(each, of):
        hanging = (
            f"; completed at {moment(of.updated_ms)} without a marker here, as brokers since 4.3 do where a partition "
            "has no leader (KAFKA-20734), if this copy has all that its leader has; the next transaction of "
            f"{of.transactional_id!r} that writes here ends it, as it ends itself"
        )
        if of.state == COMPLETE_COMMIT:
            hanging += ": let one commit, as an abort takes these records from such readers, and so does the tool"
        else:
            hanging += f", and so does this: {call}"
    else:
        hanging = "" if of.is_open else f"; its coordinator will not end it, this does: {call}"
    batches = counted(each.batch_count, "batch", "batches")
    return f"{who}: {since}, {batches}, {size(each.size_bytes)}; {holds}{hanging}"


def overdue_findings(ids: Sequence[TransactionalId], where: str, now_ms: int) -> Iterator[Finding]:
    """The transactions that their coordinator should have ended already."""
    for each in ids:
        if each.started_ms is not None and each.is_overdue(now_ms):
            partitions = [str(at) for at in each.partitions]
            more = len(partitions) - PARTITIONS_SHOWN
            shown = listed([*partitions[:PARTITIONS_SHOWN], *([f"{more} more"] if more > 0 else [])])
            words = (
                f"{each.transactional_id!r}, producer {each.producer_id}, epoch {each.producer_epoch}: Ongoing since "
                f"{moment(each.started_ms)} on {shown}, and its time-out is {lasting(each.timeout_ms)}; a coordinator "
                f"that runs aborts it. To have it aborted now (a tool of 4.3 can, one of 4.0 cannot): {TOOL} "
                f"forceTerminateTransaction --transactionalId {each.transactional_id}"
            )
            yield Finding(OVERDUE, where, words)
