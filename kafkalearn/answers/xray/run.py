"""One x-ray while it is made: each log counted and judged, copies compared, internal topics replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from kafkalearn.answers.xray import cleaning
from kafkalearn.answers.xray.findings import (
    RECORDS,
    UNREADABLE,
    Finding,
)
from kafkalearn.answers.xray.given import CLEANED, GivenLog
from kafkalearn.answers.xray.groups import GroupsXray, xray_groups
from kafkalearn.answers.xray.logs import checkpoints, transactions
from kafkalearn.answers.xray.logs.checkpoints import BesideLog, beside
from kafkalearn.answers.xray.logs.copies import compare_copies
from kafkalearn.answers.xray.logs.damage import damage, strange_times
from kafkalearn.answers.xray.report import LogXray, Xray
from kafkalearn.answers.xray.rows import CommittedRow, committed_rows
from kafkalearn.answers.xray.settings import XraySettings
from kafkalearn.coordinator.leaders import OFFSETS_TOPIC
from kafkalearn.errors import KafkaLearnError
from kafkalearn.segments.census.blocks import HEADERS
from kafkalearn.segments.census.blocks import RECORDS as WITH_RECORDS
from kafkalearn.segments.census.log_census import LogCensus
from kafkalearn.segments.census.reading import count_log
from kafkalearn.segments.census.side_by_side import has_columns
from kafkalearn.transaction_log.codec import TOPIC as TRANSACTIONS_TOPIC
from kafkalearn.transaction_log.replay import ReplayedTransactions, replay

FUTURE_MS = 3_600_000  # later than the files by more than message.timestamp.after.max.ms of 4.0

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Run:
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
        """All of it: every log, then what only several together say."""
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
        self.findings += damage(log, census)
        self.findings += strange_times(log, census)
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
