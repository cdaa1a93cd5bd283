"""A group as ``kafka-consumer-groups --describe`` prints it, to the character, by release."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafkalearn.base.checks import Checked, Index, Offset, one_of, text
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java import hash_order
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.defaults import DEAD, EMPTY, REBALANCING_STATES, STABLE
from kafkalearn.releases.lines import DEFAULT_RELEASE, Release, at_least

STATES = (STABLE, EMPTY, *REBALANCING_STATES, DEAD)
"""The states that a group can be described in."""

_SINCE_2_3 = (
    *("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"),
)
_WIDTHS = {"GROUP": 15, "TOPIC": 15, "PARTITION": 10, "CONSUMER-ID": 15, "HOST": 15, "CLIENT-ID": 0}
_FIXED = {**_WIDTHS, "TOPIC": 30, "LAG": 10, "CONSUMER-ID": 50, "HOST": 30}  # 0.10.2 to 1.0
_GROWING = ("GROUP", "TOPIC", "CONSUMER-ID", "HOST")
_NUMBER_WIDTH = 15


@dataclass(frozen=True, slots=True)
class DescribedPartition(Checked):
    """One partition of a group: owned by a member, or with a committed offset, or both.

    Without topic and partition it is a member that owns nothing, which tools show up to 1.0.
    """

    topic: str | None
    partition: Index | None
    current_offset: Offset | None = None  # the committed offset; None: none
    log_end_offset: Offset | None = None  # None: unknown
    consumer_id: str | None = None  # None: nobody owns it
    host: str | None = None  # the member's address with a leading slash
    client_id: str | None = None

    @property
    def place(self) -> TopicPartition:
        """Where it stands in a list; a member that owns nothing stands first."""
        return TopicPartition(self.topic or "", self.partition or 0)

    @property
    def lag(self) -> int | None:
        """Log end minus committed offset; it may be negative."""
        if self.current_offset is None or self.log_end_offset is None:
            return None
        return self.log_end_offset - self.current_offset


def lag_columns(release: str | Release = DEFAULT_RELEASE) -> tuple[str, ...]:
    """The columns that ``--describe`` prints, by release.

    >>> lag_columns("2.2")[0], lag_columns()[0]
    ('TOPIC', 'GROUP')
    """
    if not at_least("0.10.2", release):
        raise KafkaLearnError(f"what --describe printed is modelled since 0.10.2, got release {release!s}")
    return _SINCE_2_3 if at_least("2.3", release) else _SINCE_2_3[1:]


def describe_group(
    group_id: str,
    partitions: Iterable[DescribedPartition],
    state: str = STABLE,
    release: str | Release = DEFAULT_RELEASE,
) -> str:
    """What ``kafka-consumer-groups --describe --group`` prints on standard output.

    Parameters
    ----------
    group_id : str
        The group.
    partitions : iterable of DescribedPartition
        In any order. As in Kafka, members that own nothing are not shown since 1.1, nor are partitions that nobody
        owns and for which nothing is committed.
    state : str
        A name in `STATES`; for a dead group the tool prints only an error. (What it prints about an empty or
        rebalancing group goes to standard error.)
    release : str or Release
        Of the tool, at least 0.10.2.

    Returns
    -------
    str
        With the empty line in front and the line break at the end.

    Examples
    --------
    >>> owned = DescribedPartition("test", 0, 100, 105, "consumer-1-6f1e", "/127.0.0.1", "consumer-1")
    >>> unowned = DescribedPartition("test", 1, 7, 7)
    >>> print(describe_group("test-group", [unowned, owned]).strip())
    GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST  \
          CLIENT-ID
    test-group      test            0          100             105             5               consumer-1-6f1e \
/127.0.0.1      consumer-1
    test-group      test            1          7               7               0               -               -     \
          -

    References
    ----------
    Apache Kafka 0.10.2 to 4.3, ``ConsumerGroupCommand`` (``printAssignment``, ``printOffsets``).
    """
    columns = lag_columns(release)
    text("group_id", group_id)
    one_of("state", state, STATES)
    if state == DEAD:
        return f"\nError: Consumer group '{group_id}' does not exist.\n"
    rows = [_cells(group_id, partition) for partition in _in_printed_order(list(partitions), release)]
    if not rows and at_least("1.1", release):
        return ""
    widths = _widths(columns, rows, release)
    rows = [dict(zip(columns, columns, strict=True)), *rows]
    after_id = " " if at_least("1.1", release) else ""  # the old format leaves the blank out there
    last = "" if at_least("3.9", release) and not at_least("4.0", release) else "\n"  # 3.9 forgets it
    return "".join(f"\n{_line(row, columns, widths, after_id)}" for row in rows) + last


def _in_printed_order(partitions: list[DescribedPartition], release: str | Release) -> list[DescribedPartition]:
    """Members with the most partitions first; then what nobody owns."""
    by_member: dict[str | None, list[DescribedPartition]] = {}
    for each in partitions:
        if (each.consumer_id is not None and each.topic is not None) or each.current_offset is not None:
            by_member.setdefault(each.consumer_id, []).append(each)
    members = sorted(by_member, key=lambda member: -len(by_member[member]))
    owned = [each for member in members if member is not None for each in _of_one_member(by_member[member], release)]
    idle = [] if at_least("1.1", release) else [each for each in partitions if each.topic is None]
    return [*owned, *idle, *_of_one_member(by_member.get(None, []), release)]


def _of_one_member(partitions: list[DescribedPartition], release: str | Release) -> list[DescribedPartition]:
    """Since 4.2 by topic and number; before by number, which 3.9 to 4.1 put into a HashMap, and so in its order.

    Left out: up to 3.8 more than four of them are in the order of a Scala map.
    """
    if at_least("4.2", release):
        return sorted(partitions, key=lambda each: each.place)
    by_number = sorted(partitions, key=lambda each: each.place.partition)
    if not at_least("3.9", release):
        return by_number
    found = {each.place: each for each in by_number}
    return [found[at] for at in hash_order(found)]


def _cells(group_id: str, partition: DescribedPartition) -> dict[str, str]:
    values = {
        "GROUP": group_id,
        "TOPIC": partition.topic,
        "PARTITION": partition.partition,
        "CURRENT-OFFSET": partition.current_offset,
        "LOG-END-OFFSET": partition.log_end_offset,
        "LAG": partition.lag,
        "CONSUMER-ID": partition.consumer_id,
        "HOST": partition.host,
        "CLIENT-ID": partition.client_id,
    }
    return {name: "-" if value is None else str(value) for name, value in values.items()}


def _widths(columns: tuple[str, ...], rows: list[dict[str, str]], release: str | Release) -> dict[str, int]:
    if not at_least("1.1", release):
        return {name: _FIXED.get(name, _NUMBER_WIDTH) for name in columns}
    widths = {name: _WIDTHS.get(name, _NUMBER_WIDTH) for name in columns}
    longest = {name: max(len(row[name]) for row in rows) for name in _GROWING}
    return {name: max(width, longest.get(name, 0)) for name, width in widths.items()}


def _line(cells: dict[str, str], columns: tuple[str, ...], widths: dict[str, int], after_id: str) -> str:
    filled = [cells[name].ljust(widths[name]) + (after_id if name == "CONSUMER-ID" else " ") for name in columns]
    return "".join(filled).removesuffix(" ")
