"""The groups of ``__consumer_offsets``: who commits how often, who is dead but kept, and until when.

A commit stays in the topic until the cleaner comes, so that the records behind its checkpoint tell how often each group
commits; in front of it only the last commit of each partition is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kafkalearn.answers.units import lasting, moment
from kafkalearn.answers.xray.rows import CommittedRow
from kafkalearn.errors import unknown_name
from kafkalearn.group_states import EMPTY
from kafkalearn.offsets.groups import CLASSIC, Group
from kafkalearn.offsets.records.codec import decode_key
from kafkalearn.offsets.records.record_types import OFFSET_TYPES
from kafkalearn.offsets.replay import replay
from kafkalearn.offsets.store.expiry import expires_ms
from kafkalearn.wire.reader import Undecodable

SHORTEST_MS = 60_000  # of a time that gives a rate
_OFFSET_PREFIXES = tuple(number.to_bytes(2, "big") for number in OFFSET_TYPES)


@dataclass(slots=True)
class _Commits:
    """The commits of one group in the log."""

    count: int = 0  # records that are no tombstones
    recent_count: int = 0  # of them behind what was cleaned
    first_ms: int | None = None  # of these
    last_ms: int | None = None  # of all
    size_bytes: int = 0  # keys and values of all its records


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
                    self._count(self.by_group.setdefault(group, _Commits()), row)
            yield row.key, row.value

    def _group_of(self, key: bytes) -> str | None:
        if key not in self.groups:
            try:
                _, fields = decode_key(key)
                self.groups[key] = fields["group"] if "group" in fields else fields["groupId"]
            except Undecodable:
                self.groups[key] = None
        return self.groups[key]

    @staticmethod
    def _count(commits: _Commits, row: CommittedRow) -> None:
        commits.size_bytes += len(row.key) + len(row.value or b"")
        if row.value is None or row.key[:2] not in _OFFSET_PREFIXES:
            return
        commits.count += 1
        commits.last_ms = max(row.timestamp_ms, -1 if commits.last_ms is None else commits.last_ms)
        if row.is_recent:
            commits.recent_count += 1
            commits.first_ms = row.timestamp_ms if commits.first_ms is None else min(commits.first_ms, row.timestamp_ms)


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
        _xray(group, tally.by_group.get(group.group_id, _Commits()), total, retention_ms, release, now_ms)
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


def _xray(group: Group, commits: _Commits, total: int, retention_ms: int, release: str, now_ms: int) -> GroupXray:
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
