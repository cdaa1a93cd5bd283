"""How far groups are, as one look at them shows it: pasted from a tool, read from segments, asked of a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator.leaders import OFFSETS_TOPIC
from kafkalearn.formats.batches import Batch
from kafkalearn.formats.census import HEADERS, RECORDS, LogCensus, count_log
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES
from kafkalearn.formats.segments import read_file
from kafkalearn.formats.wire import Undecodable
from kafkalearn.offsets.records import decode_key
from kafkalearn.offsets.replay import SHARE, replay
from kafkalearn.oncall.xray_given import GivenLog, beside, given_logs, newest_ms
from kafkalearn.oncall.xray_logs import SIMULATED_BYTES
from kafkalearn.oncall.xray_report import committed_rows

if TYPE_CHECKING:
    from kafkalearn.live.cluster import Cluster

MOST_READ = 100_000  # offsets of a lag whose records are counted one by one
MOST_BATCHES = 2000  # that are read for it


@dataclass(frozen=True, slots=True)
class Seen:
    """One partition of one group at one look; None: this source does not show it."""

    group: str
    at: TopicPartition
    committed: int | None  # None: nothing is committed
    end: int | None  # of what a consumer may read: the high watermark
    lag: int | None  # as it was printed, or the end minus what is committed
    member: str | None  # who owns the partition; None: nobody
    is_share: bool = False  # a share group has a start offset in place of a committed one
    start: int | None = None  # where the log begins
    stable: int | None = None  # the last stable offset, up to which read_committed reads
    left_count: int | None = None  # records of applications from the committed offset on
    removed_ms: int | None = None  # when a tombstone took its committed offset away
    has_records: bool | None = None  # whether the log has any offset at all


@dataclass(frozen=True, slots=True)
class Look:
    """What one look shows."""

    source: str
    partitions: tuple[Seen, ...]
    has_mirror_maker: bool = False  # its internal topics are there
    rebalancing: tuple[str, ...] = ()  # groups that the tool says are rebalancing


# What ``kafka-consumer-groups --describe`` prints, of any release; what ``kafka-share-groups --describe`` does.

_NUMBER = r"(-?\d+|-|unknown|\(unknown\))"
_MIRROR_MAKER = re.compile(r"mm2-offset-syncs\..*\.internal|.*\.checkpoints\.internal")
_WARNED = re.compile(r"Warning: Consumer group '(.*)' is rebalancing")
_NAMED = re.compile(r"Consumer group [`'](.*?)[`'] ")


def described_look(text: str, group: str | None = None) -> Look:
    """The rows of a tool's text; `group` names the group where the text has no such column (1.0 to 2.2).

    >>> (row,) = described_look('''TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
    ... orders 0 5 9 4 c-1 /10.0.0.7 c''', "billing").partitions
    >>> row.group, row.committed, row.lag, row.member
    ('billing', 5, 4, 'c-1')

    Raises
    ------
    KafkaLearnError
        If no row is found, or nothing names the group.
    """
    columns: list[str] = []
    found: list[Seen] = []
    named = group
    for line in text.splitlines():
        words = [each.strip().upper().replace(" ", "-") for each in line.split(",")] if ", " in line else line.split()
        if "PARTITION" in words and "LAG" in words:
            columns = words
            continue
        named = match[1] if (match := _NAMED.search(line)) else named
        row = _row(line, columns, named) if columns else None
        if row is not None and (group is None or row.group == group):
            found.append(row)
    if not found:
        raise KafkaLearnError(
            f"describe has no row{'' if group is None else f' of group {group!r}'}: paste what kafka-consumer-groups "
            "--describe prints, its line of names (TOPIC, PARTITION, ..., LAG) included"
        )
    return Look("describe", tuple(found), rebalancing=tuple(_WARNED.findall(text)))


def _row(line: str, columns: Sequence[str], named: str | None) -> Seen | None:
    first, last = columns.index("PARTITION"), columns.index("LAG")
    blank = r",?\s+"
    pattern = rf"(.*?){blank}(\d+){blank}" + blank.join([_NUMBER] * (last - first)) + rf"(?:{blank}(.*))?$"
    match = re.match(pattern, line.strip())
    if match is None:
        return None
    before, partition, *cells = match.groups()
    *numbers, rest = cells
    values = dict(zip(columns[first + 1 : last + 1], map(_number, numbers), strict=True))
    group, topic = named, before.rstrip(",")
    if "GROUP" in columns[:first]:
        group, _, topic = (each.rstrip(", ") for each in re.split(r"(,?\s+)(?=\S+$)", topic, maxsplit=1))
    if group is None:
        raise KafkaLearnError("describe does not name its group (a tool before 2.3); say which with group (--group)")
    is_share = "START-OFFSET" in values
    owner = (rest or "-").split()[0]
    return Seen(
        group,
        TopicPartition(topic, int(partition)),
        values.get("START-OFFSET" if is_share else "CURRENT-OFFSET"),
        values.get("LOG-END-OFFSET"),
        values.get("LAG"),
        None if owner in ("-", "none") else owner,
        is_share,
    )


def _number(written: str) -> int | None:
    return int(written) if written.lstrip("-").isdecimal() else None


# The files of a broker: its part of the offsets topic, and the logs of the partitions that lie beside it.


def files_look(paths: str | Path | Iterable[str | Path], group: str | None = None) -> Look:
    """What the offsets topic among segment files says of groups, and what the logs beside it hold.

    Raises
    ------
    KafkaLearnError
        If the offsets topic is not among the files, or the group not in it.
    """
    logs = given_logs([paths] if isinstance(paths, str | Path) else paths)
    now_ms = newest_ms(logs)
    by_place: dict[TopicPartition, GivenLog] = {}
    for log in logs:
        by_place.setdefault(log.at, log)
    ours = [log for log in by_place.values() if log.at.topic == OFFSETS_TOPIC]
    if not ours:
        raise KafkaLearnError(f"no segment of {OFFSETS_TOPIC} is among the files: what groups committed stands there")
    rows = [row for log in ours for row in _committed_rows(log, now_ms)]
    replayed = replay((row.key, row.value) for row in rows)
    shared = {each.group_id for each in replayed.groups if each.kind == SHARE}
    owners = {
        each.group_id: {at: one.member_id for one in each.members for at in one.assigned} for each in replayed.groups
    }
    offsets = {each.group_id: {one.at: one.offset for one in each.offsets} for each in replayed.groups}
    removed = _removed(rows)
    found = []
    for name in sorted({*owners, *removed} - shared if group is None else {group} - shared):
        owner, there, gone = owners.get(name, {}), offsets.get(name, {}), removed.get(name, {})
        for at in sorted({*owner, *there, *gone}):
            when = None if at in there else gone.get(at)
            seen = Seen(name, at, there.get(at), None, None, owner.get(at), removed_ms=when)
            found.append(_with_log(seen, by_place[at], now_ms) if at in by_place else seen)
    if not found:
        raise KafkaLearnError(f"no {'group' if group is None else f'group {group!r}'} has offsets in these files")
    mirrored = any(_MIRROR_MAKER.fullmatch(at.topic) for at in by_place)
    return Look("segments", tuple(found), mirrored)


def _committed_rows(log: GivenLog, now_ms: int) -> Iterator[Any]:
    census = count_log(log.files, RECORDS, future_ms=now_ms, keeps_markers=True)
    return committed_rows(log, census, beside(log), None, BATCH_LIMIT_BYTES)


def _removed(rows: Iterable[Any]) -> dict[str, dict[TopicPartition, int]]:
    """By group the committed offsets that tombstones took away, each with the last tombstone's time."""
    found: dict[str, dict[TopicPartition, int]] = {}
    for row in rows:
        if row.key is None or row.value is not None or int.from_bytes(row.key[:2], "big") > 1:
            continue
        try:
            fields: Mapping[str, Any] = decode_key(row.key)[1]
        except Undecodable:
            continue
        found.setdefault(fields["group"], {})[TopicPartition(fields["topic"], fields["partition"])] = row.timestamp_ms
    return found


def _with_log(seen: Seen, log: GivenLog, now_ms: int) -> Seen:
    census = count_log(log.files, HEADERS, future_ms=now_ms)
    start = max(census.base_offset, beside(log).log_start or 0)
    whole = replace(
        seen, end=census.end_offset, start=start, stable=census.last_stable_offset,
        lag=None if seen.committed is None else census.end_offset - seen.committed,
        has_records=census.end_offset > start,
    )  # fmt: skip
    return replace(whole, left_count=_left_in(log, census, whole))


def _left_in(log: GivenLog, census: LogCensus, seen: Seen) -> int | None:
    if seen.committed is None or not seen.lag or seen.lag < 0 or census.size_bytes > SIMULATED_BYTES:
        return None
    segments = (read_file(each, False, True, BATCH_LIMIT_BYTES) for each in log.files)
    return left_count((batch for segment in segments for batch in segment.batches), seen.committed)


def left_count(batches: Iterable[Batch], start: int) -> int:
    """How many records of applications stand from an offset on: no markers, nothing that was aborted, no holes.

    What an open transaction has written counts: it may still be committed.
    """
    count = 0
    undecided: dict[int, int] = {}  # by producer id: what its marker decides
    for batch in batches:
        records = [each for each in batch.records if each.offset >= start]
        if batch.is_control:
            decided = undecided.pop(batch.producer_id, 0)
            count += decided if any(each.control == "COMMIT" for each in batch.records) else 0
        elif batch.is_transactional:
            undecided[batch.producer_id] = undecided.get(batch.producer_id, 0) + len(records)
        else:
            count += len(records)
    return count + sum(undecided.values())


# A running cluster, which is only read.


def cluster_look(cluster: Cluster, group: str | None = None) -> Look:
    """What a cluster says of a group, or of all that it lists: offsets, owners, both ends of logs, what is left.

    Raises
    ------
    KafkaLearnError
        If there is no such group, or the cluster gives no answer.
    """
    listed = {each.group_id: each.type for each in cluster.groups()}
    if group is not None and group not in listed:
        raise KafkaLearnError(f"there is no group {group!r}; the cluster lists {counted(len(listed), 'group')}")
    topics = cluster.topics()
    found = []
    for name in [group] if group is not None else sorted(listed):
        if listed[name] == SHARE:  # its offsets are asked for with requests of its own
            found.append(Seen(name, TopicPartition("?", 0), None, None, None, None, is_share=True))
            continue
        members = cluster.group(name).members
        owner = {at: each.member_id for each in members for at in each.assignment}
        offsets = {at: each.offset for at, each in cluster.committed(name).items()}
        for at in sorted({*owner, *offsets}):
            seen = Seen(name, at, offsets.get(at), None, None, owner.get(at))
            found.append(_asked(cluster, seen) if at.partition < topics.get(at.topic, 0) else seen)
    return Look("cluster", tuple(found), any(map(_MIRROR_MAKER.fullmatch, topics)))


def _asked(cluster: Cluster, seen: Seen) -> Seen:
    end, start = cluster.high_watermark(*seen.at), cluster.log_start_offset(*seen.at)
    known = replace(
        seen, end=end, start=start, stable=cluster.last_stable_offset(*seen.at),
        lag=None if seen.committed is None else end - seen.committed, has_records=end > start,
    )  # fmt: skip
    if seen.committed is None or not 0 < end - seen.committed <= MOST_READ:
        return known
    batches = list(islice(cluster.batches(*seen.at, max(seen.committed, start)), MOST_BATCHES + 1))
    is_whole = len(batches) <= MOST_BATCHES
    return replace(known, left_count=left_count(batches, seen.committed) if is_whole else None)
