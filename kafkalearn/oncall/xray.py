"""What is in my segment files: records, damage, the cleaner, groups, open transactions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from pathlib import Path
from time import monotonic
from typing import Any

from kafkalearn.base.checks import flag, mapping, whole_number
from kafkalearn.base.errors import KafkaLearnError, shown, unknown_name
from kafkalearn.base.internal_topics import OFFSETS_TOPIC, SHARE_STATE_TOPIC, TRANSACTIONS_TOPIC
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.formats.batches import HAS_WHEEL
from kafkalearn.formats.census import HEADERS, RECORDS, LogCensus, count_log
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES
from kafkalearn.formats.file_bytes import Changed
from kafkalearn.formats.metadata_log import FOLDER as METADATA_FOLDER
from kafkalearn.formats.metadata_log import TOPIC as METADATA_TOPIC
from kafkalearn.formats.metadata_log import ClusterMetadata, KnownTopic, read_metadata
from kafkalearn.formats.pieces import has_columns
from kafkalearn.formats.transaction_log import ReplayedTransactions, replay
from kafkalearn.log.model import Settings as LogSettings
from kafkalearn.oncall import xray_given, xray_logs, xray_report
from kafkalearn.oncall.answer import FORMATS, key_from, lasting
from kafkalearn.oncall.options import file_argument
from kafkalearn.oncall.share_groups import share_states, share_topic_names
from kafkalearn.oncall.xray_contents import RecordXray, WantedRecords, contents
from kafkalearn.oncall.xray_given import BesideLog, Finding, GivenLog
from kafkalearn.oncall.xray_report import LogXray, Xray
from kafkalearn.oncall.xray_shares import ShareXray, xray_shares
from kafkalearn.releases.defaults import default
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least, parse_release

__all__ = ["xray"]


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
    records: int | None = None,
    from_offset: int = 0,
    key: str | bytes | None = None,
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
        the topic's own as ``__cluster_metadata-0`` beside its partition has them, else Kafka's defaults for such a
        topic. A topic that the cleaner's checkpoint names counts as compacted.
    release : str
        Of the broker.
    now_ms : int, optional
        The moment of which the files tell; without one, when any of them was written last. An open transaction that is
        young then is named with the time after which it hangs.
    records : int, optional
        So many records of each log are shown, too: headers, key and value as text where they are text; those of
        ``__consumer_offsets``, ``__transaction_state``, ``__share_group_state`` and ``__cluster_metadata`` decoded,
        secrets hidden.
    from_offset : int
        Of the records shown the first may have this offset.
    key : str or bytes, optional
        Only records with this key are shown.
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
        topics, and what was found. Files may grow meanwhile: each is read as it was when it was opened; a log of
        which a file was cut or went meanwhile is named and not judged. Memory is that of a block (some 60 MB, however
        large the files, of batches that decode to more than that some times such a batch), of the keys of an internal
        topic, and of the simulator for logs up to `kafkalearn.oncall.xray_logs.SIMULATED_BYTES`.

    Raises
    ------
    KafkaLearnError
        If nothing can be x-rayed: no such file, no segment in it, settings that no broker has.

    Examples
    --------
    >>> from kafkalearn.base.files import data_directory
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
    asked = None
    if records is not None:
        count, first = (
            whole_number("records", records, at_least=1),
            whole_number("from_offset", from_offset, at_least=0),
        )
        asked = WantedRecords(count, first, key.encode() if isinstance(key, str) else key)
    elif key is not None or from_offset:
        raise KafkaLearnError("from_offset and key choose among the records shown: say how many (records, --records)")
    if group is not None:
        if (topic, partition, headers_only) != (None, None, False):
            raise KafkaLearnError("a group is in one partition, in its records: give no topic, partition, headers_only")
        topic, partition = OFFSETS_TOPIC, offsets_partition(group, offsets_partition_count)
    logs = xray_given.given_logs([paths] if isinstance(paths, str | Path) else paths, topic, partition)
    is_guessed = now_ms is None
    now_ms = xray_given.newest_ms(logs) if now_ms is None else whole_number("now_ms", now_ms, at_least=0)
    run = Run(known, now_ms, is_guessed, headers_only, is_fast, batch_limit_bytes, progress, logs, group, asked)
    return run.answer()


# One x-ray while it is made: each log counted and judged, copies compared, internal topics replayed.

FUTURE_MS = 3_600_000  # later than the files by more than message.timestamp.after.max.ms of 4.0
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Run:
    """One x-ray while it is being made."""

    settings: XraySettings
    now_ms: int
    is_guessed: bool  # whether it is when the files were written last
    headers_only: bool
    is_fast: bool | None
    batch_limit_bytes: int
    progress: Progress
    given: tuple[GivenLog, ...]
    group: str | None
    asked: WantedRecords | None = None
    clusters: dict[Path, ClusterMetadata | None] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    read_bytes: int = 0

    def answer(self) -> Xray:
        """All of it: every log, then what only several together say."""
        stats = (xray_given.file_stat(each.path) for log in self.given for each in log.files)
        all_bytes = sum(each.st_size for each in stats if each is not None)
        counted = [(log, census) for log in self.given if (census := self._count(log, all_bytes)) is not None]
        if not counted:
            words = "; ".join(dict.fromkeys(each.words for each in self.findings))
            raise KafkaLearnError(f"none of these files can be read: {words}")
        read = [(log, census, xray_given.beside(log)) for log, census in counted]
        known = self._transactions(read)
        by_id = {each.producer_id: each for each in known.ids} if known else {}
        logs = [
            replace(
                self._log(*each), waiting=tuple(xray_logs.waiting_words(*each[:2], by_id, self.now_ms, self.is_guessed))
            )
            for each in read
        ]
        for log, census in counted:
            self.findings += xray_logs.open_findings(log, census, by_id, self.now_ms)
        self._compare([(log, census, self._comparable_from(log, census, said)) for log, census, said in read])
        groups = self._groups(read)
        return Xray(
            tuple(logs),
            tuple(sorted(self.findings, key=lambda each: each.rank)),
            groups,
            known,
            self.now_ms,
            not self.headers_only,
            has_columns() if self.is_fast is None else self.is_fast,
            tuple(
                xray_report.ClusterXray(str(at), each) for at, each in sorted(self.clusters.items()) if each is not None
            ),
            tuple(self._contents([log for log, _ in counted])),
            self._shares(read),
        )

    def _contents(self, logs: Iterable[GivenLog]) -> Iterator[RecordXray]:
        if self.asked is not None:
            for log in logs:
                yield from contents(log, self.asked, self.batch_limit_bytes)

    def _cluster(self, log: GivenLog) -> ClusterMetadata | None:
        """What the metadata beside a log say; those of another log dir, if they are the only ones given."""
        beside = [each for each in self.given if each.at.topic == METADATA_TOPIC]
        if not (log.around / METADATA_FOLDER).is_dir() and len(beside) == 1:
            (log,) = beside
        folder = log.around / METADATA_FOLDER
        if folder not in self.clusters:
            try:
                self.clusters[folder] = read_metadata(folder)
            except (KafkaLearnError, OSError) as error:
                self.clusters[folder] = None
                self.findings.append(Finding(xray_given.UNREADABLE, str(folder), str(error)))
            else:
                found = self.clusters[folder]
                self._note_problems(str(folder), found.problems if found else ())
        return self.clusters[folder]

    def _count(self, log: GivenLog, all_bytes: int) -> LogCensus | None:
        def progress(read_bytes: int) -> None:
            self.read_bytes += read_bytes
            self.progress(self.read_bytes, max(all_bytes, self.read_bytes))

        try:
            census = count_log(
                log.files,
                HEADERS if self.headers_only else RECORDS,
                is_fast=self.is_fast,
                future_ms=self.now_ms + FUTURE_MS,
                keeps_markers=log.at.topic in (OFFSETS_TOPIC, TRANSACTIONS_TOPIC),
                batch_limit_bytes=self.batch_limit_bytes,
                progress=progress,
            )
        except (KafkaLearnError, OSError) as error:
            kind = xray_given.CHANGED if isinstance(error, Changed) else xray_given.UNREADABLE
            self.findings.append(Finding(kind, log.name, str(error)))
            return None
        self.findings += xray_logs.damage(log, census)
        self.findings += xray_logs.strange_times(log, census)
        self.findings += xray_logs.old_formats(log, census)
        return census

    def _log(self, log: GivenLog, census: LogCensus, said: BesideLog) -> LogXray:
        self.findings += xray_given.disagreements(log, census, said)
        cluster = self._cluster(log)
        known = None if cluster is None else cluster.topics.get(log.at.topic)
        own = {} if known is None else known.settings
        settings = self.settings.of_log(log.at.topic, said.cleaned_to is not None, own)
        cleaned = deleted = None
        why: tuple[str, ...] = ()
        if log.at.topic == METADATA_TOPIC:  # snapshots make room in it, neither a cleaner nor retention.ms
            return LogXray(log, census, said, settings, None, None, why)
        if settings.is_compacted:
            cleaned = xray_logs.xray_cleaning(log, census, said, settings, self.now_ms, self.batch_limit_bytes)
            self.findings += xray_logs.cleaning_findings(log, census, said, settings, cleaned, self.now_ms)
            why = tuple(xray_logs.why_not_smaller(census, said, settings, cleaned, self.now_ms))
        if settings.is_deleted:
            deleted = xray_logs.xray_retention(census, said, settings, self.now_ms)
            self.findings += xray_logs.retention_findings(log, census, settings, self.now_ms)
        return LogXray(log, census, said, settings, cleaned, deleted, why, policy_from=self.settings.policy_from(known))

    def _comparable_from(self, log: GivenLog, census: LogCensus, said: BesideLog) -> int | None:
        """From which offset on no cleaner has rewritten a batch; None: that is not known."""
        is_cleaned = said.cleaned_to is not None or census.gap_count or census.horizon_batch_count
        if not is_cleaned and not self.settings.of_log(log.at.topic, is_compacted=False).is_compacted:
            return 0
        return (said.cleaned_to or 0) if said.is_there(xray_given.CLEANED) else None

    def _compare(self, logs: Sequence[tuple[GivenLog, LogCensus, int | None]]) -> None:
        for _, copies in groupby(logs, key=lambda each: each[0].at):
            known = [(log, census, since) for log, census, since in copies if since is not None]
            if len(known) > 1:
                self.findings += xray_logs.compare_copies(known)

    def _rows(
        self, logs: Sequence[tuple[GivenLog, LogCensus, BesideLog]], topic: str
    ) -> Iterator[xray_report.CommittedRow]:
        """The records that count of a topic, of each partition the longest copy."""
        of_topic = [each for each in logs if each[0].at.topic == topic]
        for _, copies in groupby(of_topic, key=lambda each: each[0].at):
            log, census, said = max(copies, key=lambda each: each[1].end_offset)
            yield from xray_report.committed_rows(log, census, said, self.is_fast, self.batch_limit_bytes)

    def _groups(self, logs: Sequence[tuple[GivenLog, LogCensus, BesideLog]]) -> xray_report.GroupsXray | None:
        if self.headers_only or not any(log.at.topic == OFFSETS_TOPIC for log, _, _ in logs):
            return None
        rows = self._rows(logs, OFFSETS_TOPIC)
        found = xray_report.xray_groups(rows, self.settings.retention_ms, self.settings.release, self.now_ms)
        self._note_problems(OFFSETS_TOPIC, found.problems)
        return found if self.group is None else found.only(self.group)

    def _transactions(self, logs: Sequence[tuple[GivenLog, LogCensus, BesideLog]]) -> ReplayedTransactions | None:
        if self.headers_only or not any(log.at.topic == TRANSACTIONS_TOPIC for log, _, _ in logs):
            return None
        found = replay((row.key, row.value) for row in self._rows(logs, TRANSACTIONS_TOPIC))
        self._note_problems(TRANSACTIONS_TOPIC, found.problems)
        self.findings += xray_logs.overdue_findings(found.ids, TRANSACTIONS_TOPIC, self.now_ms)
        return found

    def _shares(self, logs: Sequence[tuple[GivenLog, LogCensus, BesideLog]]) -> tuple[ShareXray, ...] | None:
        if self.headers_only or not any(log.at.topic == SHARE_STATE_TOPIC for log, _, _ in logs):
            return None
        names = share_topic_names((row.key, row.value) for row in self._rows(logs, OFFSETS_TOPIC))
        states, problems = share_states(((row.key, row.value) for row in self._rows(logs, SHARE_STATE_TOPIC)), names)
        self._note_problems(SHARE_STATE_TOPIC, problems)
        ends = {log.at: census.end_offset for log, census, _ in logs}
        found = xray_shares(states, ends)
        return found if self.group is None else tuple(each for each in found if each.group == self.group)

    def _note_problems(self, topic: str, problems: Sequence[str]) -> None:
        if problems:
            more = f"; {len(problems) - 1} more" if len(problems) > 1 else ""
            self.findings.append(Finding(xray_given.UNREADABLE_RECORDS, topic, f"{problems[0]}{more}"))


# The settings that an x-ray judges by: what the reader says, else what Kafka has for such a topic by default.

CLEANUP_POLICY = "cleanup.policy"
RETENTION, EXPIRATION = "offsets.retention.minutes", "transactional.id.expiration.ms"
INTERNAL = {OFFSETS_TOPIC: "offsets.topic.segment.bytes", TRANSACTIONS_TOPIC: "transaction.state.log.segment.bytes"}
"""The topics that a broker makes, and the setting that gives them their segments' size."""

_OF_LOG = {field.name.replace("_", "."): field for field in fields(LogSettings) if field.name != "release"}
OF_BROKER = (RETENTION, EXPIRATION)
NAMES = (*_OF_LOG, *OF_BROKER)


@dataclass(frozen=True, slots=True)
class XraySettings:
    """What was said, by Kafka's names; all else is by default."""

    given: Mapping[str, Any]
    release: str = DEFAULT_RELEASE

    def of_log(self, topic: str, is_compacted: bool, of_topic: Mapping[str, str] | None = None) -> LogSettings:
        """The settings of a topic; `is_compacted` is whether its files say that the cleaner was there.

        `of_topic` are its own, as the cluster's metadata have them.
        """
        own: dict[str, Any] = {"release": self.release}
        if topic in INTERNAL:
            own["segment_bytes"] = default(INTERNAL[topic], self.release, "broker")
        if topic == SHARE_STATE_TOPIC:  # its coordinator deletes what a newer snapshot replaces, no more
            own["segment_bytes"] = default("share.coordinator.state.topic.segment.bytes", "4.2", "broker")
            own["retention_ms"] = -1
        elif topic in INTERNAL or is_compacted:
            own["cleanup_policy"] = "compact"
        for name, value in (of_topic or {}).items():
            if name in _OF_LOG:
                own[name.replace(".", "_")] = _number(name, value) if name != CLEANUP_POLICY else value
        given = {name.replace(".", "_"): value for name, value in self.given.items() if name in _OF_LOG}
        return LogSettings(**own | given)

    def policy_from(self, topic: KnownTopic | None) -> str | None:
        """Where the policy of a topic is known from; None: nowhere, it is the default or a guess."""
        if CLEANUP_POLICY in self.given:
            return "given"
        if topic is None:
            return None
        return xray_logs.OF_ITS_OWN if CLEANUP_POLICY in topic.settings else xray_logs.OF_ITS_BROKER

    @property
    def retention_ms(self) -> int:
        """How long offsets of a group without members are kept."""
        return 60_000 * self._of_broker(RETENTION)

    @property
    def expiration_ms(self) -> int:
        """How long a transactional id is kept that does nothing."""
        return self._of_broker(EXPIRATION)

    def _of_broker(self, name: str) -> int:
        given = self.given.get(name)
        return int(str(default(name, self.release) if given is None else given))


def xray_settings(given: Mapping[str, object] | None, release: str) -> XraySettings:
    """The settings by Kafka's names, checked; numbers may be written as text.

    Raises
    ------
    KafkaLearnError
        If a name is unknown, or a value is none for it.

    Examples
    --------
    >>> settings = xray_settings({"min.cleanable.dirty.ratio": "0.1"}, "4.3")
    >>> settings.of_log("orders", is_compacted=True).min_cleanable_dirty_ratio, settings.retention_ms
    (0.1, 604800000)
    """
    parse_release(release)
    if not at_least("0.11.0", release):
        raise KafkaLearnError(f"segments of format 2 are read, which came with Kafka 0.11.0; the release is {release}")
    checked: dict[str, object] = {}
    for name, value in mapping("settings", {} if given is None else given, of="setting to value").items():
        if name not in NAMES:
            raise unknown_name("setting of a log, of offsets or of transactions", name, NAMES)
        checked[name] = _number(name, value) if name != CLEANUP_POLICY else value
    for name in OF_BROKER:
        if name in checked:
            whole_number(name, checked[name], at_least=1, at_most=2**53)
    settings = XraySettings(checked, release)
    settings.of_log("", is_compacted=False)
    return settings


def _number(name: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return float(value) if name in ("min.cleanable.dirty.ratio", "load.factor") else int(value)
    except ValueError:
        raise KafkaLearnError(f"{name} must be a number, got {shown(value)}") from None


# The command line.

SILENT_S, AGAIN_S = 1.0, 0.5  # a quick answer needs no progress


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this subcommand's arguments to the parser."""
    file_argument(
        parser, "paths", nargs="+", metavar="PATH", help="segment files, partitions' folders, data directories"
    )
    parser.add_argument("--topic", help="only this topic")
    parser.add_argument("--partition", type=int, metavar="N", help="only this partition")
    parser.add_argument("--group", help="only this group: the one partition of the offsets topic that holds it is read")
    parser.add_argument("--offsets-partitions", type=int, default=50, metavar="N", help="offsets.topic.num.partitions")
    parser.add_argument("--headers", action="store_true", help="headers of batches alone: quick, no keys, no checksums")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the topic or broker, as in --set min.cleanable.dirty.ratio=0.1; else Kafka's default",
    )
    shown = parser.add_argument_group("records, those of Kafka's own topics decoded")
    shown.add_argument("--records", type=int, metavar="N", help="show so many of each log")
    shown.add_argument("--from", dest="from_offset", type=int, default=0, metavar="OFFSET", help="from this one on")
    shown.add_argument("--key", help="only those with this key")
    shown.add_argument("--format", choices=[*FORMATS], default="text", help="how the key is written; text is UTF-8")
    parser.add_argument("--release", default=DEFAULT_RELEASE, help="of the broker")
    parser.add_argument("--now", type=int, metavar="MS", help="the time to judge by; else when a file was last written")


def answer(options: argparse.Namespace) -> Xray:
    """Ask `kafkalearn.oncall.xray`."""
    show = _Progress(sys.stderr.write) if sys.stderr is not None and sys.stderr.isatty() else None
    progress: dict[str, Any] = {} if show is None else {"progress": show}
    try:
        return xray(
            options.paths,
            topic=options.topic,
            partition=options.partition,
            group=options.group,
            offsets_partition_count=options.offsets_partitions,
            headers_only=options.headers,
            settings=dict(map(_setting, options.set)),
            release=options.release,
            now_ms=options.now,
            records=options.records,
            from_offset=options.from_offset,
            key=None if options.key is None else key_from(options.key, options.format),
            **progress,
        )
    finally:
        if show is not None:
            show.clear()


def _setting(written: str) -> tuple[str, str]:
    name, equals, value = written.partition("=")
    if not equals:
        raise KafkaLearnError(f"--set takes NAME=VALUE, got {written!r}")
    return name.strip(), value.strip()


class _Progress:
    """One line on a terminal: how far the files are read, and how long it will still take."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.write = write
        self.began_s = self.shown_s = monotonic()
        self.width = 0

    def __call__(self, read_bytes: int, all_bytes: int) -> None:
        """Show it, if it takes longer than a moment."""
        now_s = monotonic()
        if now_s - self.began_s < SILENT_S or now_s - self.shown_s < AGAIN_S or not read_bytes:
            return
        self.shown_s = now_s
        left_ms = int(1000 * (now_s - self.began_s) * (all_bytes - read_bytes) / read_bytes)
        quicker = "" if has_columns() and HAS_WHEEL else "; quicker with pip install 'kafkalearn[fast]'"
        words = f"{100 * read_bytes // all_bytes} % read, about {lasting(left_ms // 1000 * 1000)} left{quicker}"
        self.write(f"\r{words:{self.width}}")
        self.width = len(words)
        sys.stderr.flush()

    def clear(self) -> None:
        """Leave an empty line behind."""
        if self.width:
            self.write(f"\r{'':{self.width}}\r")
            sys.stderr.flush()
