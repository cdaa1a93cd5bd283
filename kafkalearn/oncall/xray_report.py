"""The answer to `xray`: as data, in words, and the groups of the offsets topic in it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from kafkalearn.base.errors import counted, listed, unknown_name
from kafkalearn.base.tables import text_table
from kafkalearn.formats import metadata_log
from kafkalearn.formats.batches import Header
from kafkalearn.formats.census import RECORDS, Largest, LogCensus, blocks, span_of
from kafkalearn.formats.file_bytes import opened
from kafkalearn.formats.metadata_log import ClusterMetadata
from kafkalearn.formats.segments import Unread
from kafkalearn.formats.transaction_log import ReplayedTransactions, TransactionalId
from kafkalearn.formats.wire import Undecodable
from kafkalearn.groups.defaults import EMPTY
from kafkalearn.offsets.records import OFFSET_TYPES, decode_key
from kafkalearn.offsets.replay import CLASSIC, Group, replay
from kafkalearn.offsets.store.requests import expires_ms
from kafkalearn.oncall.answer import Answer, Outcome, cut, lasting, moment, size, text_width, wrapped
from kafkalearn.oncall.settings import MASK, is_secret
from kafkalearn.oncall.xray_contents import RecordXray
from kafkalearn.oncall.xray_given import CHANGED, BesideLog, Finding, GivenLog
from kafkalearn.oncall.xray_logs import OF_ITS_BROKER, LogXray
from kafkalearn.oncall.xray_shares import ShareXray, shares_words

if TYPE_CHECKING:
    from kafkalearn.oncall.shapes import ClusterData, TransactionalIdData, XrayData, XrayGroup

SHOWN = 12  # rows of a table in words; all are in the data
REASONS_SHOWN = 3


@dataclass(frozen=True)
class Xray(Answer):
    """The answer to `xray`."""

    logs: tuple[LogXray, ...]  # by topic, partition and log dir
    findings: tuple[Finding, ...]  # what may have lost records first
    groups: GroupsXray | None  # None: no partition of the offsets topic was read
    transactions: ReplayedTransactions | None  # None: none of the transactions' topic
    now_ms: int  # the moment of which the files tell
    has_records: bool  # False: headers alone were read
    is_fast: bool  # whether NumPy has read the records
    clusters: tuple[ClusterXray, ...] = ()  # what KRaft's metadata say that lie beside the logs
    records: tuple[RecordXray, ...] = ()  # those that were asked for
    shares: tuple[ShareXray, ...] | None = None  # None: none of the share groups' topic

    @property
    def outcome(self) -> Outcome:
        """Found: there is a finding; cannot tell: nothing was read, or not all that is there."""
        censuses = [each.census for each in self.logs]
        if not any(
            each.magic_counts and each.older_compressed_count < sum(each.magic_counts.values()) for each in censuses
        ):
            return Outcome.CANNOT_TELL
        if any(each.kind != CHANGED for each in self.findings):
            return Outcome.FOUND
        if self.findings:
            return Outcome.CANNOT_TELL
        return Outcome.CANNOT_TELL if any(each.older_compressed_count for each in censuses) else Outcome.FINE

    def as_data(self) -> XrayData:
        """As `Answer.as_data`."""
        return {
            "now_ms": self.now_ms,
            "has_records": self.has_records,
            "findings": [asdict(each) for each in self.findings],
            "logs": [each.as_data() for each in self.logs],
            "groups": None if self.groups is None else [*map(_group_data, self.groups.groups)],
            "gone_group_count": None if self.groups is None else self.groups.gone_count,
            "clusters": [each.as_data() for each in self.clusters],
            "records": [each.as_data() for each in self.records],
            "share_partitions": None if self.shares is None else [each.as_data() for each in self.shares],
            "transactional_ids": None
            if self.transactions is None
            else [*map(_transactional_id_data, self.transactions.ids)],
        }

    def __str__(self) -> str:
        """What was found, what is there, and why it is as large as it is."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        censuses = [log.census for log in self.logs]
        files = sum(len(each.files) for each in censuses)
        depth = "checksums computed" if self.has_records else "headers alone, which are believed"
        yield wrapped(
            f"{counted(len(self.logs), 'log')} in {counted(files, 'file')}, "
            f"{size(sum(each.size_bytes for each in censuses))}, as of {moment(self.now_ms)}: "
            f"{counted(sum(each.batch_count for each in censuses), 'batch', 'batches')}, "
            f"{counted(sum(each.record_count for each in censuses), 'record')}; {depth}."
        )
        if self.findings:
            yield ""
            yield from _findings_words(self.findings)
        yield ""
        largest_first = sorted(self.logs, key=lambda each: (-each.census.size_bytes, each.given.name))
        yield from table([_log_row(each) for each in largest_first], "log")
        yield from _log_words(largest_first)
        if self.groups is not None:
            yield ""
            yield from _groups_words(self.groups)
        if self.transactions is not None:
            yield ""
            yield from _transactions_words(self.transactions, self.now_ms)
        if self.shares:
            yield ""
            yield from shares_words(self.shares)
        topics = {log.given.at.topic for log in self.logs}
        for each in self.clusters:
            yield from _cluster_words(each, topics)
        for name, records in groupby(self.records, key=lambda each: each.log):
            yield ""
            yield wrapped(f"Records of {name}:")
            yield from (each.words() for each in records)


def _group_data(each: GroupXray) -> XrayGroup:
    return {
        "group_id": each.group_id,
        "kind": each.kind,
        "state": each.state,
        "members": [*map(asdict, each.members)],
        "offsets": [*map(asdict, each.offsets)],
        "commit_count": each.commit_count,
        "commits_an_hour": each.commits_an_hour,
        "last_commit_ms": each.last_commit_ms,
        "size_bytes": each.size_bytes,
        "share": each.share,
        "kept_until_ms": each.kept_until_ms,
        "first_expiry_ms": each.first_expiry_ms,
        "kept_because": each.kept_because,
        "member_count": each.member_count,
        "offset_count": each.offset_count,
        "is_dead": each.is_dead,
    }


def _transactional_id_data(each: TransactionalId) -> TransactionalIdData:
    return {
        "transactional_id": each.transactional_id,
        "producer_id": each.producer_id,
        "producer_epoch": each.producer_epoch,
        "state": each.state,
        "partitions": [*map(str, each.partitions)],
        "timeout_ms": each.timeout_ms,
        "updated_ms": each.updated_ms,
        "started_ms": each.started_ms,
    }


def _findings_words(findings: Sequence[Finding]) -> Iterator[str]:
    yield f"Found {counted(len(findings), 'thing')}:"
    for each in findings[: 2 * SHOWN]:
        yield wrapped(f"{each.kind}, {each.where}: {each.words}", indent="  - ")
    if len(findings) > 2 * SHOWN:
        kinds = Counter(each.kind for each in findings[2 * SHOWN :])
        more = listed(f"{count} x {kind}" for kind, count in kinds.items())
        yield wrapped(f"and {more}; --json has them all", indent="  - ")


# Logs in words: what is in them, and what the cleaner or retention would do.


def _log_row(log: LogXray) -> dict[str, object]:
    census = log.census
    row: dict[str, object] = {
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


def _log_words(logs: Sequence[LogXray]) -> Iterator[str]:
    """What the first log, the largest, holds, and what the cleaner would do to the first few."""
    log = logs[0]
    census = log.census
    codecs = listed(f"{name} {count:,}" for name, count in census.batches_by_codec.items())
    controls = listed(f"{count:,} {name}" for name, count in census.controls.items())
    words = f"{log.given.name}: batches by codec: {codecs}; control records: {controls}"
    older = listed(f"{count:,} of format {magic}" for magic, count in census.magic_counts.items() if magic < 2)
    if older != "none":
        words += f"; {older}, of releases up to 0.10"
    if census.older_compressed_count:
        words += f"; {census.older_compressed_count:,} of these are compressed and hold others, which were not read"
    if not census.magic_counts:
        words += "; nothing was read"
    if census.largest_keys:
        words += f"; largest key {_largest(census.largest_keys)}"
    if census.largest_values:
        words += f"; largest value {_largest(census.largest_values)}"
    if census.oldest and census.newest:
        words += f"; timestamps from {moment(census.oldest.timestamp_ms)} to {moment(census.newest.timestamp_ms)}"
    yield wrapped(f"{words}.")
    for each in logs[:SHOWN]:
        sentences = [*each.waiting, *_cleaning(each), *each.why, *_retention(each, is_only=len(logs) == 1)]
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
        kept, freed = cleaning.kept_count or 0, cleaning.freed_bytes or 0
        when = "would remove now" if cleaning.found.is_eligible else "would remove, if it came now,"
        reasons = listed(f"{count:,} {reason}" for reason, count in cleaning.reasons)
        yield (
            f"the cleaner {when} {cleaning.removed_count:,} of {cleaning.removed_count + kept:,} "
            f"records, {size(freed)} ({reasons})"
        )
    elif not cleaning.is_simulated and cleaning.found.cleanable_bytes:
        yield f"{100 * cleaning.found.ratio:.0f} % of the closed segments is dirty; too large to be cleaned here"


def _retention(log: LogXray, is_only: bool) -> Iterator[str]:
    if log.retention is None:
        return
    if log.retention.next_ms is not None and is_only:
        by = {None: "unless it is compacted, ", OF_ITS_BROKER: f"unless {OF_ITS_BROKER}, is compact, "}
        unless = by.get(log.policy_from, f"cleanup.policy is {log.settings.cleanup_policy} ({log.policy_from}): ")
        yield f"{unless}retention.ms deletes its oldest segment after {moment(log.retention.next_ms)}"
    if log.retention.deleted_count:
        reasons = listed(dict.fromkeys(log.retention.reasons))
        count = counted(log.retention.deleted_count, "segment")
        yield f"{count}, {size(log.retention.deleted_bytes)}, would be deleted now: {reasons}"


# What is in the internal topics, in words.


def _groups_words(found: GroupsXray) -> Iterator[str]:
    """Groups and their offsets, and why dead ones are kept."""
    dead = [each for each in found.groups if each.is_dead]
    yield wrapped(
        f"{counted(len(found.groups), 'group')}, {len(dead)} of them dead but kept: nobody is in them, and their "
        "offsets have not expired."
    )
    if found.groups:
        yield from table([_group_row(each) for each in found.groups], "group")
    if found.gone_count:
        yield wrapped(
            f"Of {counted(found.gone_count, 'group')} that {'is' if found.gone_count == 1 else 'are'} gone, records of "
            f"{size(found.gone_bytes)} wait for the cleaner."
        )
    why = Counter(each.kept_because for each in dead)
    if len(found.groups) == 1 and found.groups[0].offsets:
        yield from table([*map(_offset_row, found.groups[0].offsets)], "offset")
    for because, count in why.most_common(REASONS_SHOWN):
        first = next(each.group_id for each in dead if each.kept_because == because)
        more = "" if count == 1 else f" and {count - 1} more"
        yield wrapped(f"Kept are {first}{more}: {because}.")


def _group_row(each: GroupXray) -> dict[str, object]:
    return {
        "group": each.group_id,
        "state": each.state,
        "members": each.member_count,
        "commits": f"{each.commit_count:,}",
        "last commit": "" if each.last_commit_ms is None else moment(each.last_commit_ms).removesuffix(" UTC"),
        "an hour": "" if each.commits_an_hour is None else f"{each.commits_an_hour:,.0f}",
        "share": f"{100 * each.share:.0f} %",
        "kept until": "" if each.kept_until_ms is None else moment(each.kept_until_ms).removesuffix(" UTC"),
    }


def _offset_row(each: OffsetXray) -> dict[str, object]:
    return {
        "partition": f"{each.topic}-{each.partition}",
        "offset": each.offset,
        "committed": "" if each.commit_ms < 0 else moment(each.commit_ms).removesuffix(" UTC"),
        "expires": "not while it is so" if each.expires_ms is None else moment(each.expires_ms).removesuffix(" UTC"),
    }


def _transactions_words(found: ReplayedTransactions, now_ms: int) -> Iterator[str]:
    """Transactional ids by their state, and the open ones."""
    states = Counter(each.state for each in found.ids)
    words = listed(f"{count} {state}" for state, count in sorted(states.items()))
    yield wrapped(f"{counted(len(found.ids), 'transactional id')}: {words}.")
    still_open = [each for each in found.ids if each.is_open]
    if still_open:
        rows = [
            {
                "transactional id": each.transactional_id,
                "producer": each.producer_id,
                "epoch": each.producer_epoch,
                "state": each.state,
                "since": "" if each.started_ms is None else lasting(now_ms - each.started_ms),
                "partitions": len(each.partitions),
            }
            for each in still_open
        ]
        yield from table(rows, "transaction")


TOPICS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class ClusterXray:
    """What KRaft's metadata say of the cluster."""

    folder: str
    known: ClusterMetadata

    def as_data(self) -> ClusterData:
        """As `Answer.as_data`; the values of settings that may be secrets are hidden."""
        known = self.known
        return {
            "folder": self.folder,
            "snapshot": known.snapshot,
            "end_offset": known.end_offset,
            "record_counts": dict(known.record_counts),
            "features": dict(known.features),
            "brokers": [{"id": each, "is_fenced": is_fenced} for each, is_fenced in known.brokers.items()],
            "broker_settings": {name: _unsecret(own) for name, own in known.broker_settings.items()},
            "topics": [
                {"name": each.name, "topic_id": each.topic_id, "partition_count": each.partition_count,
                 "settings": _unsecret(each.settings)}
                for each in known.topics.values()
            ],
        }  # fmt: skip


def _unsecret(settings: Mapping[str, str]) -> dict[str, str]:
    return {name: MASK if is_secret(name) else value for name, value in settings.items()}


def _cluster_words(found: ClusterXray, topics: Collection[str]) -> Iterator[str]:
    """What the metadata say, and whose settings are its own; of the topics given alone, if the metadata were not."""
    known = found.known
    is_whole = metadata_log.TOPIC in topics
    own = [each for each in known.topics.values() if each.settings and (is_whole or each.name in topics)]
    if is_whole or own:
        yield ""
    if is_whole:
        yield from _whole_cluster_words(found)
    elif own:
        yield wrapped(f"By {found.folder}, up to offset {known.end_offset}:")
    for each in own[:TOPICS_SHOWN]:
        written = ", ".join(f"{name}={value}" for name, value in sorted(_unsecret(each.settings).items()))
        yield wrapped(f"{each.name} has settings of its own: {written}", "  ", "    ")
    if len(own) > TOPICS_SHOWN:
        yield f"  and {counted(len(own) - TOPICS_SHOWN, 'more topic')}; --json has them all"


def _whole_cluster_words(found: ClusterXray) -> Iterator[str]:
    known = found.known
    fenced = sum(known.brokers.values())
    registered = counted(len(known.brokers), "broker") + (f" ({fenced} fenced)" if fenced else "")
    since = "" if known.snapshot is None else f", from snapshot {known.snapshot} on"
    features = listed(f"{name} {level}" for name, level in known.features.items())
    yield wrapped(
        f"{found.folder}, up to offset {known.end_offset}{since}: {counted(len(known.topics), 'topic')}, {registered}; "
        f"features: {features}."
    )
    for name, settings in known.broker_settings.items():
        written = ", ".join(f"{each}={value}" for each, value in sorted(_unsecret(settings).items()))
        yield wrapped(
            f"{f'broker {name} has' if name else 'all brokers have'} dynamic settings: {written}", "  ", "    "
        )


NAME_WIDTH = 12  # of the first column of a table, at least
LESS_NEEDED = ("an hour", "last commit", "members")  # columns, the first to go before the others


def table(rows: Sequence[Mapping[str, object]], what: str) -> Iterator[str]:
    """A table no wider than a terminal: columns that do not fit are left to --json, the first one's names are cut."""
    shown = [dict(row) for row in rows[:SHOWN]]
    first, *others = shown[0]
    taken = {name: 2 + max(len(str(each)) for each in (name, *(row[name] for row in shown))) for name in others}
    for name in LESS_NEEDED:
        if name in taken and sum(taken.values()) + NAME_WIDTH > text_width():
            del taken[name]
            shown = [{each: value for each, value in row.items() if each != name} for row in shown]
    longest = max(NAME_WIDTH, text_width() - sum(taken.values()))
    for row in shown:
        row[first] = cut(str(row[first]), longest)
    yield text_table(shown)
    if len(rows) > SHOWN:
        yield f"and {counted(len(rows) - SHOWN, f'more {what}')}; --json has them all"


# The groups of ``__consumer_offsets``: who commits how often, who is dead but kept, and until when.
#
# A commit stays in the topic until the cleaner comes, so that the records behind its checkpoint tell how often each
# group commits; in front of it only the last commit of each partition is left.

SHORTEST_MS = 60_000  # of a time that gives a rate
_OFFSET_PREFIXES = tuple(number.to_bytes(2, "big") for number in OFFSET_TYPES)


@dataclass(frozen=True, slots=True)
class OffsetXray:
    """A committed offset, and when it expires if nothing happens."""

    topic: str
    partition: int
    offset: int
    commit_ms: int
    expires_ms: int | None  # None: it does not


@dataclass(frozen=True, slots=True)
class MemberXray:
    """A member, as its record has it."""

    member_id: str
    client_id: str
    client_host: str


@dataclass(frozen=True, slots=True)
class GroupXray:
    """One group, and what it does to the topic."""

    group_id: str
    kind: str
    state: str
    members: tuple[MemberXray, ...]
    offsets: tuple[OffsetXray, ...]
    commit_count: int  # commits in the log; before a cleaning there were more
    commits_an_hour: float | None  # behind what was cleaned; None: there are too few to tell
    last_commit_ms: int | None
    size_bytes: int  # of keys and values of its records in the log
    share: float  # of all such bytes
    kept_until_ms: int | None  # when the last of its offsets expires if nothing happens; None: none expires so
    first_expiry_ms: int | None  # when the first does
    kept_because: str

    @property
    def member_count(self) -> int:
        """How many members it has."""
        return len(self.members)

    @property
    def offset_count(self) -> int:
        """For how many partitions it has committed an offset."""
        return len(self.offsets)

    @property
    def is_dead(self) -> bool:
        """Whether nobody is in it, while its offsets are kept."""
        return self.state == EMPTY and self.offset_count > 0


@dataclass(frozen=True, slots=True)
class GroupsXray:
    """All groups that a broker's offsets topic describes."""

    groups: tuple[GroupXray, ...]  # those with most bytes first
    problems: tuple[str, ...]  # records that could not be read
    gone_count: int = 0  # groups of which only records are left that no longer count
    gone_bytes: int = 0
    gone_commit_count: int = 0

    def only(self, group_id: str) -> GroupsXray:
        """The same with one group alone.

        Raises
        ------
        KafkaLearnError
            If it is not there; the message names the nearest.
        """
        found = tuple(each for each in self.groups if each.group_id == group_id)
        if not found:
            raise unknown_name("group in these files", group_id, [each.group_id for each in self.groups])
        return replace(self, groups=found)


def xray_groups(rows: Iterable[CommittedRow], retention_ms: int, release: str, now_ms: int) -> GroupsXray:
    """The groups that the rows of the offsets topic describe.

    Parameters
    ----------
    rows : iterable of CommittedRow
        Those that count, partition by partition, in the order of their offsets.
    retention_ms : int
        ``offsets.retention.minutes`` in milliseconds.
    release : str
        Of the broker.
    now_ms : int
        The moment of which the files tell.
    """
    tally = _Tally()
    replayed = replay(tally.passing(rows))
    total = sum(each.size_bytes for each in tally.by_group.values()) or 1
    found = [
        _xray_group(group, tally.by_group.get(group.group_id, _Commits()), total, retention_ms, release, now_ms)
        for group in replayed.groups
    ]
    there = {each.group_id for each in found}
    gone = [commits for group_id, commits in tally.by_group.items() if group_id not in there]
    return GroupsXray(
        tuple(sorted(found, key=lambda each: (-each.size_bytes, each.group_id))),
        replayed.problems,
        len(gone),
        sum(each.size_bytes for each in gone),
        sum(each.count for each in gone),
    )


@dataclass(slots=True)
class _Commits:
    """The commits of one group in the log."""

    count: int = 0  # records that are no tombstones
    recent_count: int = 0  # of them behind what was cleaned
    first_ms: int | None = None  # of these
    last_ms: int | None = None  # of all
    size_bytes: int = 0  # keys and values of all its records


class _Tally:
    """Counts commits while they pass by."""

    def __init__(self) -> None:
        self.by_group: dict[str, _Commits] = {}
        self.groups: dict[bytes, str | None] = {}

    def passing(self, rows: Iterable[CommittedRow]) -> Iterator[tuple[bytes | None, bytes | None]]:
        """The rows as keys and values, each counted."""
        for row in rows:
            if row.key is not None:
                group = self._group_of(row.key)
                if group is not None:
                    self._count(self.by_group.setdefault(group, _Commits()), row.key, row)
            yield row.key, row.value

    def _group_of(self, key: bytes) -> str | None:
        if key not in self.groups:
            try:
                _, fields = decode_key(key)
                self.groups[key] = str(fields["group"] if "group" in fields else fields["groupId"])
            except Undecodable:
                self.groups[key] = None
        return self.groups[key]

    @staticmethod
    def _count(commits: _Commits, key: bytes, row: CommittedRow) -> None:
        commits.size_bytes += len(key) + len(row.value or b"")
        if row.value is None or key[:2] not in _OFFSET_PREFIXES:
            return
        commits.count += 1
        commits.last_ms = max(row.timestamp_ms, -1 if commits.last_ms is None else commits.last_ms)
        if row.is_recent:
            commits.recent_count += 1
            commits.first_ms = row.timestamp_ms if commits.first_ms is None else min(commits.first_ms, row.timestamp_ms)


def _xray_group(group: Group, commits: _Commits, total: int, retention_ms: int, release: str, now_ms: int) -> GroupXray:
    expiries = [expires_ms(group, each, retention_ms, release) for each in group.offsets]
    dated = [each for each in expiries if each is not None]
    last_commits = [each.commit_ms for each in group.offsets if each.commit_ms >= 0]
    return GroupXray(
        group.group_id,
        group.kind,
        group.state,
        tuple(MemberXray(each.member_id, each.client_id, each.client_host) for each in group.members),
        tuple(
            OffsetXray(each.topic, each.partition, each.offset, each.commit_ms, expiry)
            for each, expiry in zip(group.offsets, expiries, strict=True)
        ),
        commits.count,
        _rate(commits),
        max(last_commits, default=commits.last_ms),
        commits.size_bytes,
        commits.size_bytes / total,
        max(dated) if dated and len(dated) == len(expiries) else None,
        min(dated, default=None),
        _because(group, dated, len(expiries), retention_ms, now_ms),
    )


def _rate(commits: _Commits) -> float | None:
    """Records of commits an hour; the first one only begins the time."""
    if commits.recent_count < 2 or commits.first_ms is None or commits.last_ms is None:
        return None
    span_ms = commits.last_ms - commits.first_ms
    return None if span_ms < SHORTEST_MS else 3_600_000 * (commits.recent_count - 1) / span_ms


def _because(group: Group, dated: list[int], offset_count: int, retention_ms: int, now_ms: int) -> str:
    """Why the group is still there."""
    if not offset_count:
        return "it has members" if group.members else "its record is still there, without an offset"
    if len(dated) < offset_count:
        without = offset_count - len(dated)
        return f"it has members; {without} of its {offset_count} offsets do not expire while they subscribe"
    if max(dated) <= now_ms:
        return f"its offsets are due since {moment(max(dated))}: the next sweep removes them"
    if group.members:
        counts_from = "from each commit: no member subscribes to these topics"
    elif group.kind == CLASSIC and group.protocol_type:
        since = "" if group.state_ms is None else f", at {moment(group.state_ms)}"
        counts_from = f"from when it became Empty{since}"
    else:
        counts_from = "from each commit"
    return f"offsets.retention.minutes, {lasting(retention_ms)}, counts {counts_from}"


# The records of an internal topic that count, one after the other: not those of aborted or open transactions.


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
        As in `kafkalearn.formats.census.blocks`.
    """
    cleaned_to = said.cleaned_to or 0
    for file in given.files:
        with opened(file.path) as data:
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
                del block  # it is large, and the next one is read now


def _is_committed(header: Header, census: LogCensus) -> bool:
    """Whether the first marker of its producer behind the batch is COMMIT."""
    markers = census.markers.get(header.producer_id, ())
    place = bisect_right(markers, (header.base_offset, "~"))
    return place < len(markers) and markers[place][1] == "COMMIT"
