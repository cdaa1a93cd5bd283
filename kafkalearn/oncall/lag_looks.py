"""How far groups are, as one look at them shows it: pasted from a tool, read from segments, asked of a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkalearn.base.errors import KafkaLearnError, counted, listed, shown
from kafkalearn.base.internal_topics import OFFSETS_TOPIC, SHARE_STATE_TOPIC
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.batches import Batch
from kafkalearn.formats.census import HEADERS, RECORDS, LogCensus, count_log
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES
from kafkalearn.formats.segments import read_file
from kafkalearn.formats.wire import Undecodable
from kafkalearn.offsets.records import decode_key
from kafkalearn.offsets.replay import SHARE, replay
from kafkalearn.oncall.lag_json import rows_of
from kafkalearn.oncall.share_groups import DescribedShare, described_share, share_states, share_topic_names
from kafkalearn.oncall.xray_given import GivenLog, beside, given_logs, newest_ms
from kafkalearn.oncall.xray_logs import SIMULATED_BYTES
from kafkalearn.oncall.xray_report import committed_rows

if TYPE_CHECKING:
    from kafkalearn.live.cluster import Cluster

MOST_READ = 100_000  # offsets of a lag whose records are counted one by one
MOST_BATCHES = 2000  # that are read for it


class Seen(NamedTuple):
    """One partition of one group at one look; None: this source does not show it."""

    group: str
    at: TopicPartition
    committed: int | None  # None: nothing is committed
    end: int | None  # of what a consumer may read: the high watermark
    lag: int | None  # as it was printed, or the end minus what is committed
    member: str | None  # who owns the partition; None: nobody, or it is not known
    is_share: bool = False  # a share group has a start offset in place of a committed one
    start: int | None = None  # where the log begins
    stable: int | None = None  # the last stable offset, up to which read_committed reads
    left_count: int | None = None  # records of applications from the committed offset on
    removed_ms: int | None = None  # when a tombstone took its committed offset away
    has_records: bool | None = None  # whether the log has any offset at all
    is_owner_known: bool = True  # False: the source does not say who owns partitions


@dataclass(frozen=True, slots=True)
class Look:
    """What one look shows."""

    source: str
    partitions: tuple[Seen, ...]
    has_mirror_maker: bool = False  # its internal topics are there
    rebalancing: tuple[str, ...] = ()  # groups that the tool says are rebalancing


# What ``kafka-consumer-groups --describe`` prints, of any release, ``kafka-share-groups --describe``, and other tools'
# tables of the same: columns are known by their names, and a table whose names are not known is refused.

_COLUMNS = {
    "GROUP": ("GROUP", "CONSUMER-GROUP", "GROUP-ID", "GROUPID", "CONSUMERGROUP", "CONSUMER-GROUP-ID"),
    "TOPIC": ("TOPIC", "TOPIC-NAME"),
    "PARTITION": ("PARTITION", "PARTITION-ID", "PID"),
    "CURRENT-OFFSET": (
        "CURRENT-OFFSET", "COMMITTED-OFFSET", "COMMITTED", "CONSUMER-OFFSET", "GROUP-OFFSET", "COMMIT-OFFSET", "OFFSET",
    ),
    "LOG-END-OFFSET": (
        "LOG-END-OFFSET", "LATEST-OFFSET", "END-OFFSET", "NEWEST-OFFSET", "HIGH-WATERMARK", "LOGSIZE", "LOG-SIZE",
        "LAST-OFFSET",
    ),
    "LOG-START-OFFSET": (
        "LOG-START-OFFSET", "OLDEST-OFFSET", "EARLIEST-OFFSET", "BEGIN-OFFSET", "LOW-WATERMARK",
        "FIRST-OFFSET",
    ),
    "START-OFFSET": ("START-OFFSET",),
    "LAG": ("LAG", "CONSUMER-LAG", "MESSAGES-BEHIND"),
    "CONSUMER-ID": ("CONSUMER-ID", "MEMBER-ID", "OWNER", "CONSUMER", "MEMBER"),
}  # fmt: skip
"""Each column by Kafka's name, and what tools call it: rpk, kafkactl, ConsumerOffsetChecker, ksqlDB, AKHQ, others."""

_CANONICAL = {other: name for name, others in _COLUMNS.items() for other in others}
_OFFSETS = ("CURRENT-OFFSET", "LOG-END-OFFSET", "START-OFFSET")
_NUMERIC = frozenset({*_OFFSETS, "LOG-START-OFFSET", "LAG", "LEADER-EPOCH"})
_IN_A_HEADER = ("PARTITION", "PID")  # one of these is in every line of names
_MAY_BE_NUMBER = re.compile(r"-?[0-9]+|-|unknown|\(unknown\)|none")
_NUMBER = re.compile(r"-?[0-9]+")
MOST_DIGITS = 19  # of an offset
_MIRROR_MAKER = re.compile(r"mm2-offset-syncs\..*\.internal|.*\.checkpoints\.internal")
_WARNED = re.compile(r"Warning: Consumer group '(.{1,300}?)' is rebalancing")
_NAMED = re.compile(r"Consumer group [`'](.{0,300}?)[`'] ")
_LABELLED = re.compile(  # above a table of ksqlDB's
    r"(Consumer Group|Kafka topic)\s{0,40}+:\s{0,9}+(\S{1,300}+)(?: \(partitions: \d{1,9}, replication: \d{1,5}\))?"
)
_KAF_GROUP = re.compile(r"Group ID:\s{1,40}+(\S{1,300}+)")  # kaf's, with the topics' names in lines of their own
_KAF_TOPIC = re.compile(r"([\w.-]{1,249}+):")
_OF_KAF = "of kaf"
_GROUP_LINE = re.compile(r"GROUP\s+(\S+)")  # above a table of rpk's, with lines for its state and members
_STATE_LINE = re.compile(r"STATE\s+(\S+)")
_BARS = re.compile(r"[|\u2502\u2503]")
_GAPS = re.compile(r"\t|\s{2,}")
_TABS = re.compile(r"\t")
_COMMAS = re.compile(r"\"?,\"?")
FEWEST_COMMAS = 3  # in a line of names that is CSV


@dataclass(frozen=True, slots=True)
class _Table:
    """A line of names: the columns by Kafka's names, and how its rows are parted."""

    columns: tuple[str, ...]
    gap: re.Pattern[str] | None  # None: by blanks, where a name may have some
    first: int  # the place of the partition
    numeric: tuple[int, ...]  # the places of the other numbers behind it, from there
    count: int  # of cells from the partition to the last number
    owner: int | None  # behind the last number, how many cells before the one of the owner; None: there is none


def described_look(text: str, group: str | None = None) -> Look:
    """The rows of a tool's text; `group` names the group where the text has no such column (1.0 to 2.2).

    Tables with bars between their columns (tickets, wikis) are read, too, what ksqlDB says of a group, and JSON.

    >>> (row,) = described_look('''TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
    ... orders 0 5 9 4 c-1 /10.0.0.7 c''', "billing").partitions
    >>> row.group, row.committed, row.lag, row.member
    ('billing', 5, 4, 'c-1')

    Raises
    ------
    KafkaLearnError
        If no row is found, a table's columns are not known, nothing names the group, or a partition is there twice.
    """
    in_json = rows_of(text, _column)
    rows = _rows(text, group) if in_json is None else (_seen(each, group, "CONSUMER-ID" in each) for each in in_json)
    found = _found(rows, group)
    share = described_share(text)
    if not found and (share.groups or share.states):
        said = listed(sorted({*share.groups, *share.states})[:10])
        raise KafkaLearnError(
            f"describe has members or states of share groups ({said}) and no offsets: put what kafka-share-groups "
            "--describe --offsets prints into the same text, that has their lag"
        )
    if not found:
        raise KafkaLearnError(
            f"describe has no row{'' if group is None else f' of group {group!r}'}: paste what kafka-consumer-groups "
            "--describe prints, its line of names (TOPIC, PARTITION, ..., LAG) included"
        )
    said = tuple(_with_members(each, share) if each.is_share else each for each in found.values())
    return Look("describe", said, rebalancing=tuple(_WARNED.findall(text)))


def _rows(text: str, group: str | None) -> Iterator[Seen]:
    """The rows of tables, with what stands above them; nothing else has a number where a table has its partition."""
    table: _Table | None = None
    named, above, is_empty = group, None, False
    labelled: dict[str, str] = {}
    for written in text.splitlines():
        line = written.strip().removeprefix("# ").lstrip()  # as in a comment of a script
        if table is not None:
            row = _row(line, table, named, labelled.get("Kafka topic"), is_empty)
            if row is not None:
                yield row
                continue
        if (header := _header(line, "Kafka topic" in labelled)) is not None:
            table, named, above = header, above or labelled.get("Consumer Group") or group, None
            continue
        if match := _LABELLED.fullmatch(line):
            labelled = {match[1]: match[2]} if match[1] == "Consumer Group" else {**labelled, match[1]: match[2]}
            table = None
            continue
        if match := _KAF_GROUP.fullmatch(line):
            labelled, table = {"Consumer Group": match[1], _OF_KAF: match[1]}, None
            continue
        if _OF_KAF in labelled and (match := _KAF_TOPIC.fullmatch(line)):
            labelled, table = {**labelled, "Kafka topic": match[1]}, None
            continue
        if match := _NAMED.search(line) or _GROUP_LINE.fullmatch(line):
            above, is_empty = match[1], False
            table = table if _NAMED.search(line) else None
            if table is not None and "GROUP" not in table.columns:
                named = above
            continue
        if match := _STATE_LINE.fullmatch(line):
            is_empty = match[1] in ("Empty", "Dead")


def _found(rows: Iterable[Seen | None], group: str | None) -> dict[tuple[str, TopicPartition], Seen]:
    """By group and partition: the rows of one group, or of all."""
    found: dict[tuple[str, TopicPartition], Seen] = {}
    for row in rows:
        if row is None or group not in (None, row.group):
            continue
        known = found.setdefault((row.group, row.at), row)
        if known is not row and known != row:
            raise KafkaLearnError(
                f"describe has {row.at} of group {row.group!r} twice, with other numbers: give what was printed at "
                "each time as a text of its own"
            )
    return found


def _with_members(seen: Seen, share: DescribedShare) -> Seen:
    """A row of a share group with those who have the partition, if the other forms were pasted, too."""
    return seen._replace(member=share.owner(seen.group, seen.at), is_owner_known=share.knows_members(seen.group))


def _header(line: str, has_topic: bool = False) -> _Table | None:
    """The columns in a line of names; None: it is none. A line has no blanks around it."""
    upper = line.upper()
    if not any(each in upper for each in _IN_A_HEADER):
        return None
    if _BARS.search(line):
        gap: re.Pattern[str] | None = _BARS
        cells = [each for each in map(str.strip, _BARS.split(line)) if each]
    elif ", " in line:
        gap, cells = None, [each.strip() for each in line.split(",")]
    elif line.count(",") >= FEWEST_COMMAS:
        gap, cells = _COMMAS, _COMMAS.split(line)
    else:
        gap, cells = _GAPS, _GAPS.split(line)
        if "\t" in line:
            gap = _TABS  # a cell may be empty
        elif not (any(" " in each for each in cells) and "PARTITION" in map(_column, cells)):
            gap, cells = None, line.split()
    columns = _columns(cells)
    if "PARTITION" not in columns or not {"LAG", *_OFFSETS} & {*columns} or any(each.isdigit() for each in cells):
        return None
    is_share = "START-OFFSET" in columns
    lacks = [] if is_share or "CURRENT-OFFSET" in columns else ["CURRENT-OFFSET"]
    lacks += [] if is_share or {"LOG-END-OFFSET", "LAG"} & {*columns} else ["LOG-END-OFFSET"]
    lacks += [] if "TOPIC" in columns or has_topic else ["TOPIC"]
    twice = [each for each in _COLUMNS if each != "CONSUMER-ID" and columns.count(each) > 1]
    if lacks or twice:
        of_what = f"lacks {listed(lacks)}" if lacks else f"has {listed(twice)} twice"
        raise KafkaLearnError(
            f"a table with the columns {listed(cells)} {of_what}, as far as their names are known: call them TOPIC, "
            "PARTITION, CURRENT-OFFSET (the committed one), LOG-END-OFFSET and LAG, as kafka-consumer-groups does"
        )
    first = columns.index("PARTITION")
    numeric = tuple(at for at, name in enumerate(columns[first:]) if name in _NUMERIC)
    count = max(numeric, default=0) + 1
    behind = columns[first + count :]
    return _Table(columns, gap, first, numeric, count, behind.index("CONSUMER-ID") if "CONSUMER-ID" in behind else None)


def _columns(cells: Sequence[str]) -> tuple[str, ...]:
    """The columns by Kafka's names; what another one beside it shows to be meant otherwise is called so."""
    columns = [*map(_column, cells)]
    if "CURRENT-OFFSET" in columns and "START-OFFSET" in columns:  # ksqlDB's, of the log; a share group has no other
        columns[columns.index("START-OFFSET")] = "LOG-START-OFFSET"
    if "TOPIC" not in columns and "NAME" in columns:  # AKHQ's
        columns[columns.index("NAME")] = "TOPIC"
    return tuple(columns)


def _column(written: str) -> str:
    name = re.sub(r"[\s_]+", "-", written.strip().upper())
    return _CANONICAL.get(name, name)


def _row(line: str, table: _Table, named: str | None, topic: str | None, is_empty: bool) -> Seen | None:
    cells = _cells_by_blanks(line, table) if table.gap is None else _cells_between(line, table)
    if cells is not None and topic is not None:
        cells.setdefault("TOPIC", topic)
    return None if cells is None else _seen(cells, named, is_empty or "CONSUMER-ID" in table.columns)


def _seen(cells: Mapping[str, str], named: str | None, is_owner_known: bool) -> Seen | None:
    """The partition of a row; None: it is none."""
    written = cells.get("PARTITION", "")
    if not _is_digits(written) or (partition := _number(written)) is None:
        return None
    group = cells.get("GROUP", named)
    if group is None:
        raise KafkaLearnError("describe does not name its group (a tool before 2.3); say which with group (--group)")
    values = {name: _number(each) for name, each in cells.items() if name in _NUMERIC}
    is_share = "START-OFFSET" in values
    committed, end = values.get("START-OFFSET" if is_share else "CURRENT-OFFSET"), values.get("LOG-END-OFFSET")
    lag = values.get("LAG")
    if lag is None and "LAG" not in cells and committed is not None and end is not None:
        lag = end - committed
    if end is None and "LOG-END-OFFSET" not in cells and committed is not None and lag is not None and not is_share:
        end = committed + lag
    owner = cells.get("CONSUMER-ID", "-") or "-"
    return Seen(
        group,
        TopicPartition(cells["TOPIC"], partition),
        committed,
        end,
        lag,
        None if owner in ("-", "none") else owner,
        is_share,
        start=values.get("LOG-START-OFFSET"),
        is_owner_known=is_owner_known,
    )


def _cells_between(line: str, table: _Table) -> dict[str, str] | None:
    """The cells of a row whose columns are parted by bars or wide gaps."""
    assert table.gap is not None, "else by blanks"
    parts = table.gap.split(line)
    if table.gap is _BARS and len(parts) > len(table.columns):
        parts = parts[1:] if not parts[0] else parts
        parts = parts[:-1] if not parts[-1] else parts
    if len(parts) != len(table.columns):
        parts = line.split()
    if len(parts) == len(table.columns) - 1 and table.columns[-1] == "METADATA":
        parts.append("")  # kaf's last column, which is mostly empty
    if len(parts) != len(table.columns):
        return None
    return dict(zip(table.columns, map(str.strip, parts), strict=True))


def _cells_by_blanks(line: str, table: _Table) -> dict[str, str] | None:
    """The cells of a row of Kafka's own: a group, a topic before, a client behind the numbers may have blanks in it."""
    columns, first, count = table.columns, table.first, table.count
    has_group = "GROUP" in columns[:first]
    words = line.split()
    if "," in line:
        words = [each.removesuffix(",") for each in words]
    at = _first_number(words, table.numeric) if table.numeric else None
    if at is None or at <= has_group:
        return None
    found = dict(zip(columns[first : first + count], words[at:], strict=False))
    found["TOPIC"] = words[at - 1]
    if has_group:
        found["GROUP"] = words[0] if at == 2 else line.rsplit(None, len(words) - at + 1)[0].removesuffix(",")
    elif at > 1:
        found["TOPIC"] = line.rsplit(None, len(words) - at)[0].removesuffix(",")
    if len(words) > at + count and table.owner is not None:
        found["CONSUMER-ID"] = words[min(at + count + table.owner, len(words) - 1)]
    return found


def _first_number(words: list[str], numeric: tuple[int, ...]) -> int | None:
    """The place of the partition: the first whole number behind which other numbers stand where they must."""
    for at in range(1, len(words) - numeric[-1]):
        if _is_digits(words[at]):
            others = [words[at + place] for place in numeric]
            if _is_digits("".join(others)) or all(map(_MAY_BE_NUMBER.fullmatch, others)):
                return at
    return None


def _is_digits(word: str) -> bool:
    return word.isdigit() and word.isascii()


def _number(written: str) -> int | None:
    if written.isdigit() and written.isascii() and len(written) <= MOST_DIGITS:
        return int(written)
    plain = written.replace(",", "") if "," in written else written
    if not _NUMBER.fullmatch(plain):
        return None
    if len(plain) > MOST_DIGITS:
        raise KafkaLearnError(f"describe has the number {shown(written)}; an offset has at most {MOST_DIGITS} digits")
    return int(plain)


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
    found += _shares(by_place, [(row.key, row.value) for row in rows], now_ms, group)
    if not found:
        raise KafkaLearnError(f"no {'group' if group is None else f'group {group!r}'} has offsets in these files")
    mirrored = any(_MIRROR_MAKER.fullmatch(at.topic) for at in by_place)
    return Look("segments", tuple(found), mirrored)


def _shares(
    by_place: Mapping[TopicPartition, GivenLog], offsets: Iterable[tuple[Any, Any]], now_ms: int, group: str | None
) -> Iterator[Seen]:
    """The share-partitions whose states are among the files."""
    logs = [log for log in by_place.values() if log.at.topic == SHARE_STATE_TOPIC]
    states, _ = share_states(
        ((row.key, row.value) for log in logs for row in _committed_rows(log, now_ms)), share_topic_names(offsets)
    )
    for each, at in states:
        whose = each.share_partition.group_id
        if group in (None, whose):
            start = None if each.start_offset < 0 else each.start_offset
            seen = Seen(whose, at, start, None, None, None, is_share=True, is_owner_known=False)
            if at in by_place:
                census = count_log(by_place[at].files, HEADERS, future_ms=now_ms)
                lag = None if each.complete_count < 0 or start is None else each.lag(census.end_offset)
                seen = seen._replace(end=census.end_offset, lag=lag)
            yield seen


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
    whole = seen._replace(
        end=census.end_offset, start=start, stable=census.last_stable_offset,
        lag=None if seen.committed is None else census.end_offset - seen.committed,
        has_records=census.end_offset > start,
    )  # fmt: skip
    return whole._replace(left_count=_left_in(log, census, whole))


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
        if listed[name] == SHARE:
            found += _asked_share(cluster, name, topics)
            continue
        members = cluster.group(name).members
        owner = {at: each.member_id for each in members for at in each.assignment}
        offsets = {at: each.offset for at, each in cluster.committed(name).items()}
        for at in sorted({*owner, *offsets}):
            seen = Seen(name, at, offsets.get(at), None, None, owner.get(at))
            found.append(_asked(cluster, seen) if at.partition < topics.get(at.topic, 0) else seen)
    return Look("cluster", tuple(found), any(map(_MIRROR_MAKER.fullmatch, topics)))


def _asked_share(cluster: Cluster, group: str, topics: Mapping[str, int]) -> Iterator[Seen]:
    """A share group's partitions: what its coordinator says of them, and who has them."""
    owners: dict[TopicPartition, list[str]] = {}
    for each in cluster.group(group).members:
        for at in each.assignment:
            owners.setdefault(at, []).append(each.member_id)
    for at, offset in cluster.share_offsets(group).items():
        seen = Seen(
            group, at, offset.start_offset, None, offset.lag, " and ".join(owners.get(at, ())) or None, is_share=True
        )
        if at.partition < topics.get(at.topic, 0):
            end, start = cluster.high_watermark(*at), cluster.log_start_offset(*at)
            seen = seen._replace(end=end, start=start, has_records=end > start)
        yield seen


def _asked(cluster: Cluster, seen: Seen) -> Seen:
    end, start = cluster.high_watermark(*seen.at), cluster.log_start_offset(*seen.at)
    known = seen._replace(
        end=end, start=start, stable=cluster.last_stable_offset(*seen.at),
        lag=None if seen.committed is None else end - seen.committed, has_records=end > start,
    )  # fmt: skip
    if seen.committed is None or not 0 < end - seen.committed <= MOST_READ:
        return known
    batches = list(islice(cluster.batches(*seen.at, max(seen.committed, start)), MOST_BATCHES + 1))
    is_whole = len(batches) <= MOST_BATCHES
    return known._replace(left_count=left_count(batches, seen.committed) if is_whole else None)
