"""What is in these segment files: the question `xray`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from kafkalearn.answers.xray import checkpoints, cleaning, transactions
from kafkalearn.answers.xray.checkpoints import BesideLog, beside
from kafkalearn.answers.xray.copies import compare_copies
from kafkalearn.answers.xray.findings import (
    CENTURY,
    DAMAGE,
    FUTURE,
    RECORDS,
    TORN_TAIL,
    UNREADABLE,
    Finding,
)
from kafkalearn.answers.xray.given import CLEANED, GivenLog, given_logs, newest_ms
from kafkalearn.answers.xray.groups import GroupsXray, xray_groups
from kafkalearn.answers.xray.report import LogXray, Xray
from kafkalearn.answers.xray.rows import CommittedRow, committed_rows
from kafkalearn.answers.xray.settings import XraySettings, xray_settings
from kafkalearn.answers.xray.units import moment, year
from kafkalearn.arguments import flag, whole_number
from kafkalearn.coordinator.leaders import OFFSETS_TOPIC
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import counted
from kafkalearn.segments.census.blocks import HEADERS, has_columns
from kafkalearn.segments.census.blocks import RECORDS as WITH_RECORDS
from kafkalearn.segments.census.counting import LogCensus
from kafkalearn.segments.census.reading import count_log
from kafkalearn.segments.compression import BATCH_LIMIT_BYTES
from kafkalearn.transaction_log.codec import TOPIC as TRANSACTIONS_TOPIC
from kafkalearn.transaction_log.replay import ReplayedTransactions, replay
from kafkalearn.versions.releases import DEFAULT_RELEASE

FUTURE_MS = 3_600_000  # later than the files by more than message.timestamp.after.max.ms of 4.0
OLDEST_YEAR, NEWEST_YEAR = 2000, 2099
DAMAGES_SHOWN = 3  # of one file

Progress = Callable[[int, int], None]


def xray(
    paths: str | Path | Iterable[str | Path],
    *,
    topic: str | None = None,
    partition: int | None = None,
    group: str | None = None,
    offsets_partition_count: int = 50,
    headers_only: bool = False,
    settings: Mapping[str, object] | None = None,
    release: str = DEFAULT_RELEASE,
    now_ms: int | None = None,
    is_fast: bool | None = None,
    batch_limit_bytes: int = BATCH_LIMIT_BYTES,
    progress: Progress = lambda read_bytes, all_bytes: None,
) -> Xray:
    """What is in segment files, and what is wrong with them; nothing is written.

    Parameters
    ----------
    paths : str, Path, or several of them
        Segment files, partitions' folders, brokers' data directories, or folders above several of these.
    topic, partition : str, int, optional
        Only these.
    group : str, optional
        Only the partition of the offsets topic that holds this group, and of its groups only this one.
    offsets_partition_count : int
        ``offsets.topic.num.partitions``, which says where a group is.
    headers_only : bool
        True: of each batch only the header is read, and believed: no keys, tombstones, checksums, groups.
    settings : mapping of str to object, optional
        Settings of the topics, ``offsets.retention.minutes`` and ``transactional.id.expiration.ms``, by Kafka's names;
        Kafka's defaults for such a topic else. A topic that the cleaner's checkpoint names counts as compacted.
    release : str
        Of the broker.
    now_ms : int, optional
        The moment of which the files tell; without one, when any of them was written last.
    is_fast : bool, optional
        Whether records are read with NumPy; None: if ``kafkalearn[fast]`` is installed. The answer is the same.
    batch_limit_bytes : int
        A batch that decodes to more is not read.
    progress : callable
        Called while files are read, with how many bytes of how many are done.

    Returns
    -------
    Xray
        Each log with its counts, what the cleaner or retention would do, groups and transactions of the internal
        topics, and what was found. Files may grow meanwhile: each is read as it was when it was opened. Memory is
        that of a block (about 200 MB), of the keys of an internal topic, and of the simulator for logs up to
        `kafkalearn.answers.xray.cleaning.SIMULATED_BYTES`.

    Raises
    ------
    KafkaLearnError
        If nothing can be x-rayed: no such file, no segment in it, settings that no broker has.

    Examples
    --------
    >>> from kafkalearn.datafiles import data_directory
    >>> found = xray(data_directory("offsets-topic") / "cleaned" / "before", partition=0, now_ms=1_795_176_700_000)
    >>> found.logs[0].census.record_count, found.logs[0].cleaning.found.cleanable_bytes, len(found.groups.groups)
    (119, 0, 1)

    References
    ----------
    Apache Kafka 0.11 to 4.3: ``DumpLogSegments`` and ``TransactionsCommand`` for what is shown, ``LogCleanerManager``,
    ``UnifiedLog`` and the coordinators for what it means.
    """
    flag("headers_only", headers_only)
    whole_number("batch_limit_bytes", batch_limit_bytes, at_least=1)
    known = xray_settings(settings, release)
    if group is not None:
        if (topic, partition, headers_only) != (None, None, False):
            raise KafkaLearnError("a group is in one partition, in its records: give no topic, partition, headers_only")
        topic, partition = OFFSETS_TOPIC, offsets_partition(group, offsets_partition_count)
    logs = given_logs([paths] if isinstance(paths, str | Path) else paths, topic, partition)
    now_ms = newest_ms(logs) if now_ms is None else whole_number("now_ms", now_ms, at_least=0)
    run = _Run(known, now_ms, headers_only, is_fast, batch_limit_bytes, progress, logs, group)
    return run.answer()


@dataclass(slots=True)
class _Run:
    """One x-ray while it is being made."""

    settings: XraySettings
    now_ms: int
    headers_only: bool
    is_fast: bool | None
    batch_limit_bytes: int
    progress: Progress
    given: tuple[GivenLog, ...]
    group: str | None
    findings: list[Finding] = field(default_factory=list)
    read_bytes: int = 0

    def answer(self) -> Xray:
        sizes = [_size_of(log) for log in self.given]
        read = [(log, census) for log in self.given if (census := self._count(log, sum(sizes))) is not None]
        if not read:
            words = "; ".join(dict.fromkeys(each.words for each in self.findings))
            raise KafkaLearnError(f"none of these files can be read: {words}")
        said = {id(log): beside(log) for log, _ in read}
        known = self._transactions([(log, census, said[id(log)]) for log, census in read])
        by_id = {each.producer_id: each for each in known.ids} if known else {}
        logs = [self._log(log, census, said[id(log)]) for log, census in read]
        for log, census in read:
            self.findings += transactions.open_findings(log, census, by_id, self.now_ms)
        self._compare([(log, census, self._comparable_from(log, census, said[id(log)])) for log, census in read])
        groups = self._groups([(log, census, said[id(log)]) for log, census in read])
        return Xray(
            tuple(logs),
            tuple(sorted(self.findings, key=lambda each: each.rank)),
            groups,
            known,
            self.now_ms,
            not self.headers_only,
            has_columns() if self.is_fast is None else self.is_fast,
        )

    def _count(self, log: GivenLog, all_bytes: int) -> LogCensus | None:
        def progress(read_bytes: int) -> None:
            self.read_bytes += read_bytes
            self.progress(self.read_bytes, max(all_bytes, self.read_bytes))

        try:
            census = count_log(
                log.files,
                HEADERS if self.headers_only else WITH_RECORDS,
                is_fast=self.is_fast,
                future_ms=self.now_ms + FUTURE_MS,
                keeps_markers=log.at.topic in (OFFSETS_TOPIC, TRANSACTIONS_TOPIC),
                batch_limit_bytes=self.batch_limit_bytes,
                progress=progress,
            )
        except (KafkaLearnError, OSError) as error:
            self.findings.append(Finding(UNREADABLE, log.name, str(error)))
            return None
        self.findings += _damage(log, census)
        self.findings += _strange_times(log, census)
        return census

    def _log(self, log: GivenLog, census: LogCensus, said: BesideLog) -> LogXray:
        self.findings += checkpoints.disagreements(log, census, said)
        settings = self.settings.of_log(log.at.topic, is_compacted=said.cleaned_to is not None)
        cleaned = deleted = None
        why: tuple[str, ...] = ()
        if settings.is_compacted:
            cleaned = cleaning.xray_cleaning(log, census, said, settings, self.now_ms, self.batch_limit_bytes)
            self.findings += cleaning.findings(log, census, said, settings, cleaned, self.now_ms)
            why = tuple(cleaning.why_not_smaller(census, said, settings, cleaned, self.now_ms))
        if settings.is_deleted:
            deleted = cleaning.xray_retention(census, said, settings, self.now_ms)
            self.findings += cleaning.retention_findings(log, census, settings, self.now_ms)
        return LogXray(log, census, said, settings, cleaned, deleted, why)

    def _comparable_from(self, log: GivenLog, census: LogCensus, said: BesideLog) -> int | None:
        """From which offset on no cleaner has rewritten a batch; None: that is not known."""
        is_cleaned = said.cleaned_to is not None or census.gap_count or census.horizon_batch_count
        if not is_cleaned and not self.settings.of_log(log.at.topic, is_compacted=False).is_compacted:
            return 0
        return (said.cleaned_to or 0) if said.is_there(CLEANED) else None

    def _compare(self, logs: Sequence[tuple[GivenLog, LogCensus, int | None]]) -> None:
        for _, copies in groupby(logs, key=lambda each: each[0].at):
            copies = [each for each in copies if each[2] is not None]
            if len(copies) > 1:
                self.findings += compare_copies(copies)

    def _rows(self, logs: Sequence[tuple[GivenLog, LogCensus, BesideLog]], topic: str) -> Iterator[CommittedRow]:
        """The records that count of a topic, of each partition the longest copy."""
        of_topic = [each for each in logs if each[0].at.topic == topic]
        for _, copies in groupby(of_topic, key=lambda each: each[0].at):
            log, census, said = max(copies, key=lambda each: each[1].end_offset)
            yield from committed_rows(log, census, said, self.is_fast, self.batch_limit_bytes)

    def _groups(self, logs: Sequence[tuple[GivenLog, LogCensus, BesideLog]]) -> GroupsXray | None:
        if self.headers_only or not any(log.at.topic == OFFSETS_TOPIC for log, _, _ in logs):
            return None
        rows = self._rows(logs, OFFSETS_TOPIC)
        found = xray_groups(rows, self.settings.retention_ms, self.settings.release, self.now_ms)
        self._note_problems(OFFSETS_TOPIC, found.problems)
        return found if self.group is None else found.only(self.group)

    def _transactions(self, logs: Sequence[tuple[GivenLog, LogCensus, BesideLog]]) -> ReplayedTransactions | None:
        if self.headers_only or not any(log.at.topic == TRANSACTIONS_TOPIC for log, _, _ in logs):
            return None
        found = replay((row.key, row.value) for row in self._rows(logs, TRANSACTIONS_TOPIC))
        self._note_problems(TRANSACTIONS_TOPIC, found.problems)
        self.findings += transactions.overdue_findings(found.ids, TRANSACTIONS_TOPIC, self.now_ms)
        return found

    def _note_problems(self, topic: str, problems: Sequence[str]) -> None:
        if problems:
            more = f"; {len(problems) - 1} more" if len(problems) > 1 else ""
            self.findings.append(Finding(RECORDS, topic, f"{problems[0]}{more}"))


def _size_of(log: GivenLog) -> int:
    return sum(each.path.stat().st_size for each in log.files if each.path.is_file())


def _damage(log: GivenLog, census: LogCensus) -> Iterator[Finding]:
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


def _strange_times(log: GivenLog, census: LogCensus) -> Iterator[Finding]:
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
