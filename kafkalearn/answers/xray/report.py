"""The answer to `xray`, in words and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from kafkalearn.answers.answer import Answer, Outcome, text_width, wrapped
from kafkalearn.answers.xray.checkpoints import BesideLog
from kafkalearn.answers.xray.cleaning import CleaningXray, RetentionXray
from kafkalearn.answers.xray.findings import Finding
from kafkalearn.answers.xray.given import GivenLog
from kafkalearn.answers.xray.groups import GroupsXray, GroupXray, OffsetXray
from kafkalearn.answers.xray.units import lasting, moment, size
from kafkalearn.log.settings import Settings
from kafkalearn.phrases import counted, listed
from kafkalearn.segments.census.counting import Largest, LogCensus
from kafkalearn.tables.text import text_table
from kafkalearn.transaction_log.replay import ReplayedTransactions, TransactionalId

REASONS_SHOWN = 3
SHOWN = 12  # rows of a table in words; all are in the data
NAME_WIDTH = 12  # of the first column of a table, at least
LESS_NEEDED = ("an hour", "last commit", "members")  # columns, the first to go before the others


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

    def as_data(self) -> dict[str, object]:
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
            "oldest": census.oldest and census.oldest._asdict(),
            "newest": census.newest and census.newest._asdict(),
            "future_batch_count": census.future_batch_count,
            "horizon_batch_count": census.horizon_batch_count,
            "earliest_horizon_ms": census.earliest_horizon_ms,
            "latest_horizon_ms": census.latest_horizon_ms,
            "producer_count": census.producer_count,
            "open_transactions": [asdict(each) for each in census.open_transactions],
            "leader_epochs": [[*each] for each in census.epochs],
            "checkpoints": self.beside.offsets,
            "leader_epoch_checkpoint": self.beside.epochs and [[*each] for each in self.beside.epochs],
            "cleanup_policy": self.settings.cleanup_policy,
            "cleaning": self.cleaning and _cleaning_data(self.cleaning),
            "retention": self.retention and {**asdict(self.retention), "reasons": [*self.retention.reasons]},
            "why": [*self.why],
        }


def _file_data(file: object) -> dict[str, object]:
    return {
        "path": str(file.file.path),
        "base_offset": file.file.base_offset,
        "size_bytes": file.size_bytes,
        "readable_bytes": file.readable_bytes,
        "batch_count": file.batch_count,
        "unread": [asdict(each) for each in file.unread],
    }


def _cleaning_data(cleaning: CleaningXray) -> dict[str, object]:
    found = cleaning.found
    return {
        "dirty_ratio": found.ratio,
        **asdict(found),
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

    @property
    def outcome(self) -> Outcome:
        """Found: there is a finding; cannot tell: nothing but files that cannot be read."""
        if any(each.census.size_bytes for each in self.logs) and not any(
            each.census.magic_counts for each in self.logs
        ):
            return Outcome.CANNOT_TELL
        return Outcome.FOUND if self.findings else Outcome.FINE

    def as_data(self) -> dict[str, object]:
        """As `Answer.as_data`."""
        return {
            "now_ms": self.now_ms,
            "has_records": self.has_records,
            "findings": [asdict(each) for each in self.findings],
            "logs": [each.as_data() for each in self.logs],
            "groups": self.groups and [*map(_group_data, self.groups.groups)],
            "gone_group_count": self.groups and self.groups.gone_count,
            "transactional_ids": self.transactions and [*map(_id_data, self.transactions.ids)],
        }

    def __str__(self) -> str:
        """What was found, what is there, and why it is as large as it is."""
        return "\n".join(_lines(self))


def _group_data(each: GroupXray) -> dict[str, object]:
    own = {"member_count": each.member_count, "offset_count": each.offset_count, "is_dead": each.is_dead}
    lists = {"members": [*map(asdict, each.members)], "offsets": [*map(asdict, each.offsets)]}
    return {**asdict(each), **own, **lists}


def _id_data(each: TransactionalId) -> dict[str, object]:
    return {**asdict(each), "partitions": [str(at) for at in each.partitions]}


def _lines(answer: Xray) -> Iterator[str]:
    censuses = [log.census for log in answer.logs]
    files = sum(len(each.files) for each in censuses)
    depth = "checksums computed" if answer.has_records else "headers alone, which are believed"
    yield wrapped(
        f"{counted(len(answer.logs), 'log')} in {counted(files, 'file')}, "
        f"{size(sum(each.size_bytes for each in censuses))}, as of {moment(answer.now_ms)}: "
        f"{counted(sum(each.batch_count for each in censuses), 'batch', 'batches')}, "
        f"{counted(sum(each.record_count for each in censuses), 'record')}; {depth}."
    )
    if answer.findings:
        yield ""
        yield from _findings(answer.findings)
    yield ""
    yield from _table([_row(log) for log in _largest_first(answer.logs)], "log")
    yield from _details(answer)
    if answer.groups is not None:
        yield ""
        yield from _groups(answer.groups)
    if answer.transactions is not None:
        yield ""
        yield from _transactions(answer.transactions, answer.now_ms)


def _findings(findings: tuple[Finding, ...]) -> Iterator[str]:
    yield f"Found {counted(len(findings), 'thing')}:"
    for each in findings[: 2 * SHOWN]:
        yield wrapped(f"{each.kind}, {each.where}: {each.words}", indent="  - ")
    if len(findings) > 2 * SHOWN:
        kinds = Counter(each.kind for each in findings[2 * SHOWN :])
        more = listed(f"{count} x {kind}" for kind, count in kinds.items())
        yield wrapped(f"and {more}; --json has them all", indent="  - ")


def _largest_first(logs: tuple[LogXray, ...]) -> list[LogXray]:
    return sorted(logs, key=lambda each: (-each.census.size_bytes, each.given.name))


def _table(rows: list[dict[str, object]], what: str) -> Iterator[str]:
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
        row[first] = row[first] if len(row[first]) <= longest else f"{row[first][: longest - 3]}..."
    yield text_table(shown)
    if len(rows) > SHOWN:
        yield f"and {counted(len(rows) - SHOWN, f'more {what}')}; --json has them all"


def _row(log: LogXray) -> dict[str, object]:
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


def _details(answer: Xray) -> Iterator[str]:
    """What the largest log holds, and what the cleaner would do."""
    log = _largest_first(answer.logs)[0]
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
    for each in _largest_first(answer.logs)[:SHOWN]:
        sentences = [*_cleaning(each), *each.why, *_retention(each, is_only=len(answer.logs) == 1)]
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


def _groups(found: GroupsXray) -> Iterator[str]:
    dead = [each for each in found.groups if each.is_dead]
    yield wrapped(
        f"{counted(len(found.groups), 'group')}, {len(dead)} of them dead but kept: nobody is in them, and their "
        "offsets have not expired."
    )
    if found.groups:
        yield from _table([_group_row(each) for each in found.groups], "group")
    if found.gone_count:
        yield wrapped(
            f"Of {counted(found.gone_count, 'group')} that {'is' if found.gone_count == 1 else 'are'} gone, records of "
            f"{size(found.gone_bytes)} wait for the cleaner."
        )
    why = Counter(each.kept_because for each in dead)
    if len(found.groups) == 1 and found.groups[0].offsets:
        yield from _table([*map(_offset_row, found.groups[0].offsets)], "offset")
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


def _transactions(found: ReplayedTransactions, now_ms: int) -> Iterator[str]:
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
        yield from _table(rows, "transaction")
