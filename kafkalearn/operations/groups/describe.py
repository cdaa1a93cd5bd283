"""``kafka-consumer-groups --describe``: offsets, members, state of a group, in the columns of each release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from kafkalearn.base import checks
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.java import hash_order, utf16_key
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.consuming.describe import DescribedPartition, describe_group
from kafkalearn.groups.defaults import DEAD, REBALANCING_STATES
from kafkalearn.offsets.replay import CLASSIC, Group, Member
from kafkalearn.releases.lines import DEFAULT_RELEASE, Release, at_least


@dataclass(frozen=True, slots=True)
class PartitionLog(checks.Checked):
    """The log of one partition.

    Attributes
    ----------
    end : int
        The offset that the next record will get.
    start : int
        The first offset that is still there.
    times : tuple of (int, int)
        Offset and timestamp of records, by offset. What is not in it has no timestamp that anybody asks for.
    """

    end: checks.Offset
    start: checks.Offset = 0
    times: tuple[tuple[checks.Offset, checks.Millis], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a log that ends before it begins."""
        checks.check_fields(self)
        if self.end < self.start:
            raise KafkaLearnError(f"a log that begins at {self.start} cannot end at {self.end}: the end comes after")

    def offset_at(self, at_ms: int) -> int | None:
        """The first offset whose record is not older than a time; None: there is none (ListOffsets answers -1).

        >>> PartitionLog(3, times=[(0, 1000), (1, 5000), (2, 4000)]).offset_at(3000)
        1
        """
        return next((offset for offset, time_ms in self.times if time_ms >= at_ms and offset >= self.start), None)


Topics: TypeAlias = Mapping[str, Sequence[PartitionLog]]
"""The logs of each topic, by partition."""


def log_of(topics: Topics, at: TopicPartition) -> PartitionLog | None:
    """The log of a partition; None: there is no such partition.

    >>> log_of({"orders": [PartitionLog(7)]}, TopicPartition("orders", 0)).end
    7
    """
    logs = topics.get(at.topic, ())
    return logs[at.partition] if at.partition < len(logs) else None


def checked_topics(topics: object) -> Topics:
    """Topics given by the user: a mapping from names to logs."""
    given: Mapping[Any, Any] = checks.mapping("topics", topics, of="name to PartitionLog of each partition")
    for name, logs in given.items():
        checks.text("a name of topics", name)
        for place, each in enumerate(checks.sequence(f"topics[{name!r}]", logs, of="PartitionLog(...)")):
            if not isinstance(each, PartitionLog):
                raise KafkaLearnError(f"topics[{name!r}][{place}] must be PartitionLog(end), got {shown(each)}")
    return given


OWNER_COLUMNS = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "OWNER")
OWNER_WIDTHS = (30, 30, 10, 15, 15, 15, 0)
EPOCH_COLUMNS = (
    *("GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"),
    *("CONSUMER-ID", "HOST", "CLIENT-ID"),
)


def describe_offsets(
    group: Group, topics: Topics, release: str | Release = DEFAULT_RELEASE, *, is_verbose: bool = False
) -> str:
    """What the tool prints on standard output about the offsets of a group.

    Up to 0.10.1 it listed only what members owned, with an owner in place of member, host and client; of an empty group
    it knew nothing, though its offsets were there. From 0.10.2 to 1.0, before there was ``--members``, members that own
    nothing had a line of their own; up to 2.0 no member was shown before the group's first commit.

    Parameters
    ----------
    group : Group
        As the store of offsets keeps it (`kafkalearn.offsets`), members in the order in which the broker has them.
    topics : mapping of str to sequence of PartitionLog
        Where the logs end.
    release : str or Release
        Of the tool, at least 0.9.
    is_verbose : bool
        ``--verbose`` (since 4.0): with the leader epochs of the commits.

    Returns
    -------
    str
        To the character, with all its empty lines; without what goes to standard error.

    Examples
    --------
    >>> from kafkalearn.offsets.replay import Committed, Member
    >>> from kafkalearn.operations.groups import PartitionLog
    >>> member = Member("c1-3f", "c1", "/10.0.0.7", assigned=(TopicPartition("orders", 0),))
    >>> group = Group("billing", state="Stable", members=(member,), offsets=(Committed("orders", 0, 5),))
    >>> logs = {"orders": [PartitionLog(7)]}
    >>> print(describe_offsets(group, logs, "0.9.0"), end="")
    GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER
    billing, orders, 0, 5, 7, 2, c1_/10.0.0.7
    >>> describe_offsets(group, logs).split()[-9:]
    ['billing', 'orders', '0', '5', '7', '2', 'c1-3f', '/10.0.0.7', 'c1']

    References
    ----------
    Apache Kafka 0.9 to 4.3, ``ConsumerGroupCommand``.
    """
    checked_topics(topics)
    if checks.flag("is_verbose", is_verbose) and not at_least("4.0", release):
        raise KafkaLearnError(f"--describe with --verbose shows leader epochs since 4.0, got release {release!s}")
    if not at_least("0.10.2", release):
        return _with_owners(group, topics, release)
    if not is_known(group, release):
        return unknown_group(group.group_id, release)
    partitions = list(described_partitions(group, topics, release))
    owned = [each for each in partitions if each.topic is not None]
    if is_verbose and owned:
        return _with_epochs(group, owned)
    return describe_group(group.group_id, partitions, group.state, release)


def described_partitions(
    group: Group, topics: Topics, release: str | Release = DEFAULT_RELEASE
) -> Iterator[DescribedPartition]:
    """What members own, the member with most first; then what only has an offset.

    Since 4.2 by topic and partition; from 3.9 to 4.1 in the order of Java's HashMap. Before, a Scala map of more than
    four has an order of its own: here they are by partition.
    """
    if not group.offsets and not at_least("2.1", release):
        return
    owned: set[TopicPartition] = set()
    for member in sorted(group.members, key=lambda each: -len(each.assigned)):
        owned.update(member.assigned)
        owner = (member.member_id, member.client_host, member.client_id)
        yield from (_partition(group, topics, at, *owner) for at in _in_order(member.assigned, release))
        if not member.assigned:
            yield DescribedPartition(None, None, None, None, *owner)
    left = _in_order((each.at for each in group.offsets if each.at not in owned), release)
    yield from (_partition(group, topics, at) for at in left)


def _in_order(places: Iterable[TopicPartition], release: str | Release) -> list[TopicPartition]:
    if at_least(IN_ORDER, release):
        return sorted(places)
    by_partition = sorted(places, key=lambda at: (at.partition, at.topic))
    return hash_order(by_partition) if at_least("3.9", release) else by_partition


def _partition(group: Group, topics: Topics, at: TopicPartition, *owner: str) -> DescribedPartition:
    committed, log = group.offset(*at), log_of(topics, at)
    offset, end = None if committed is None else committed.offset, None if log is None else log.end
    return DescribedPartition(*at, offset, end, *owner)


def _with_epochs(group: Group, partitions: list[DescribedPartition]) -> str:
    rows = []
    for each in partitions:
        committed = None if each.topic is None or each.partition is None else group.offset(each.topic, each.partition)
        epoch = None if committed is None else committed.leader_epoch
        numbers = (epoch, each.current_offset, each.log_end_offset, each.lag)
        owner = (each.consumer_id, each.host, each.client_id)
        rows.append((group.group_id, each.topic, each.partition, *numbers, *owner))
    group_width, topic, _, _, _, _, _, consumer, host, _ = (
        widest(15, ["-" if each is None else each for each in column]) for column in zip(*rows, strict=True)
    )
    widths = (group_width, topic, 10, 15, 15, 15, 15, consumer, host, 0)
    return "".join(f"\n{line(row, widths)}" for row in (EPOCH_COLUMNS, *rows)) + "\n"


def _with_owners(group: Group, topics: Topics, release: str | Release) -> str:
    """The tool of 0.9 to 0.10.1."""
    if not at_least("0.9.0", release):
        raise KafkaLearnError(f"what --describe printed of groups in Kafka is modelled since 0.9, got {release!s}")
    is_unknown = group.state == DEAD or not group.members
    if not at_least("0.10.1", release):
        if is_unknown or group.state in REBALANCING_STATES:
            return f"Consumer group `{group.group_id}` does not exist or is rebalancing.\n"
    elif group.state == DEAD:
        return f"Consumer group `{group.group_id}` does not exist.\n"
    elif is_unknown or group.state in REBALANCING_STATES:
        return f"Consumer group `{group.group_id}` is rebalancing.\n"
    rows = list(_owner_rows(group, topics))
    if not at_least("0.10.0", release):
        header = ", ".join(name.replace("-", " ") for name in OWNER_COLUMNS)
        return "".join(f"{each}\n" for each in (header, *(", ".join(map(str, row)) for row in rows)))
    return "".join(f"{line(row, OWNER_WIDTHS)}\n" for row in (OWNER_COLUMNS, *rows))


def _owner_rows(group: Group, topics: Topics) -> Iterable[tuple[object, ...]]:
    for member in group.members:
        for at in sorted(member.assigned, key=lambda each: each.partition):
            found = _partition(group, topics, at)
            numbers = (found.current_offset, found.log_end_offset, found.lag)
            shown = ("unknown" if each is None else each for each in numbers)
            yield (group.group_id, *at, *shown, f"{member.client_id}_{member.client_host}")


# ``--members``: who is in a group and what each member has.

SHORTEST, SHORTEST_INSTANCE_ID, SHORTEST_ASSIGNMENT = 15, 17, 20
EPOCHS = ("CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT")


def describe_members(group: Group, release: str | Release = DEFAULT_RELEASE, *, is_verbose: bool = False) -> str:
    """What ``--members`` prints on standard output, with ``--verbose`` what each member is assigned.

    Parameters
    ----------
    group : Group
        Members in the order in which the broker has them.
    release : str or Release
        Of the tool, at least 1.1.
    is_verbose : bool
        ``--verbose``. Since 4.0 with epochs and target, which members of the classic protocol do not have.

    Examples
    --------
    >>> from kafkalearn.offsets.replay import Member
    >>> orders = tuple(TopicPartition("orders", number) for number in (10, 9))
    >>> group = Group("billing", state="Stable", members=(Member("c1-3f", "c1", "/10.0.0.7", assigned=orders),))
    >>> describe_members(group, "2.2", is_verbose=True).splitlines()[2].split()
    ['c1-3f', '/10.0.0.7', 'c1', '2', 'orders(9,10)']
    >>> describe_members(group, is_verbose=True).splitlines()[2].split()
    ['billing', 'c1-3f', '/10.0.0.7', 'c1', '2', '-', 'orders:9,10', '-', '-']

    References
    ----------
    Apache Kafka 1.1 to 4.3, ``ConsumerGroupCommand.printMembers``. Left out: the column ``UPGRADED`` of a group whose
    members are of both protocols.
    """
    if not at_least("1.1", release):
        raise KafkaLearnError(f"--members is known since 1.1, got release {release!s}")
    if not is_known(group, release):
        only_header = describe_members(Group(group.group_id), release, is_verbose=is_verbose)
        is_odd = is_3_9(release)  # an error, and the header all the same
        return unknown_group(group.group_id, release) + (only_header if is_odd else "")
    if not group.members and not at_least("3.9", release):
        return ""
    columns = _columns(group, release)
    widths = [widest(least, [cell_of(group, each) for each in group.members]) for _, least, cell_of in columns]
    lines = [[name for name, _, _ in columns]]
    lines += [[cell_of(group, each) for _, _, cell_of in columns] for each in group.members]
    fixed = [f"{line(cells, widths)} " for cells in lines]
    ends = _assignments(group, release) if checks.flag("is_verbose", is_verbose) else [""] * len(lines)
    return "\n" + "".join(f"{begin}{end}\n" for begin, end in zip(fixed, ends, strict=True))


def _columns(group: Group, release: str | Release) -> list[tuple[str, int, Callable[[Group, Member], object]]]:
    """Name, least width and cell of each column before the assignment."""
    has_instance_ids = at_least("2.6", release) and any(each.instance_id for each in group.members)
    instance_id = ("GROUP-INSTANCE-ID", SHORTEST_INSTANCE_ID, lambda _, member: member.instance_id or "")
    return [
        *[("GROUP", SHORTEST, lambda group, _: group.group_id)] * at_least("2.3", release),
        ("CONSUMER-ID", SHORTEST, lambda _, member: member.member_id),
        *[instance_id] * has_instance_ids,
        ("HOST", SHORTEST, lambda _, member: member.client_host),
        ("CLIENT-ID", SHORTEST, lambda _, member: member.client_id),
        ("#PARTITIONS", SHORTEST, lambda _, member: len(member.assigned)),
    ]


def _assignments(group: Group, release: str | Release) -> list[str]:
    if not at_least("4.0", release):
        return ["ASSIGNMENT", *(_in_brackets(each.assigned, release) for each in group.members)]
    rows = [_epochs(group, each, release) for each in group.members]
    current, target = (widest(SHORTEST_ASSIGNMENT, [row[place] for row in rows]) for place in (1, 3))
    return [line(row, (SHORTEST, current, SHORTEST, target)) for row in (EPOCHS, *rows)]


def _epochs(group: Group, member: Member, release: str | Release) -> tuple[object, str, object, str]:
    current = _with_colons(member.assigned, release)
    if group.kind == CLASSIC:
        return None, current, None, MISSING
    return member.epoch, current, group.target_epoch, _with_colons(member.target or (), release)


def _by_topic(assigned: Iterable[TopicPartition]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, partition in sorted(assigned):
        found.setdefault(topic, []).append(partition)
    return found


def _with_colons(assigned: Iterable[TopicPartition], release: str | Release) -> str:
    """4.0 sorts numbers as text: 10 comes before 6."""
    key = int if at_least(NEW_TEXTS, release) else str
    texts = [f"{topic}:{','.join(map(str, sorted(ids, key=key)))}" for topic, ids in _by_topic(assigned).items()]
    return ";".join(sorted(texts, key=utf16_key)) or MISSING


def _in_brackets(assigned: Iterable[TopicPartition], release: str | Release) -> str:
    """Up to 3.8 numbers in their order, with the topic; 3.9 sorts them as text, and forgets to name the topic."""
    if at_least("3.9", release):
        texts = [f"({','.join(sorted(map(str, numbers)))})" for numbers in _by_topic(assigned).values()]
    else:
        texts = [f"{topic}({','.join(map(str, numbers))})" for topic, numbers in _by_topic(assigned).items()]
    return ", ".join(sorted(texts, key=utf16_key)) or MISSING


# ``--state``: the state of a group and its coordinator.


@dataclass(frozen=True, slots=True)
class Coordinator(checks.Checked):
    """The broker that coordinates a group, as clients see it."""

    id: Annotated[int, checks.Whole(0, checks.LARGEST_INT)]
    host: str = "localhost"
    port: Annotated[int, checks.Whole(0, 65535)] = 9092


def describe_state(
    group: Group, coordinator: Coordinator, release: str | Release = DEFAULT_RELEASE, *, is_verbose: bool = False
) -> str:
    """What ``--state`` prints on standard output.

    Parameters
    ----------
    group : Group
        The group.
    coordinator : Coordinator
        Who answers for it.
    release : str or Release
        Of the tool, at least 1.1.
    is_verbose : bool
        ``--verbose`` (since 4.0): with the epochs of a KIP-848 group.

    Examples
    --------
    >>> group = Group("billing", state="Empty", protocol_type="consumer")
    >>> print(describe_state(group, Coordinator(2, "10.0.0.1")).strip())
    GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS
    billing         10.0.0.1:9092  (2)        -                    Empty                0

    References
    ----------
    Apache Kafka 1.1 to 4.3, ``ConsumerGroupCommand.printStates``.
    """
    if not at_least("1.1", release):
        raise KafkaLearnError(f"--state is known since 1.1, got release {release!s}")
    if checks.flag("is_verbose", is_verbose) and not at_least("4.0", release):
        raise KafkaLearnError(f"--state with --verbose shows epochs since 4.0, got release {release!s}")
    if not is_known(group, release):
        return unknown_group(group.group_id, release)
    blank = "  " if at_least("3.9", release) else " "
    at = f"{coordinator.host}:{coordinator.port}{blank}({coordinator.id})"
    cells = _cells(group, at, release, is_verbose)
    names, values, widths = zip(*cells, strict=True)
    return "".join(f"\n{line(each, widths)}" for each in (names, values)) + "\n"


def _cells(group: Group, at: str, release: str | Release, is_verbose: bool) -> list[tuple[str, object, int]]:
    """Name, value and width of each column.

    From 2.3 to 3.9 the width that the coordinator needs is given to the column GROUP, which came in front of it.
    """
    is_new = at_least("4.0", release)
    wide = widest(25, [at])
    strategy = group.protocol or (MISSING if is_new else "")
    has_epochs = group.kind != CLASSIC
    return [
        *[("GROUP", group.group_id, widest(15, [group.group_id]) if is_new else wide)] * at_least("2.3", release),
        ("COORDINATOR (ID)", at, wide if is_new or not at_least("2.3", release) else 25),
        ("ASSIGNMENT-STRATEGY", strategy, 25 if not at_least("2.3", release) else 20),
        ("STATE", group.state, 15 if at_least("2.3", release) and not is_new else 20),
        *[("GROUP-EPOCH", group.epoch if has_epochs else None, 15)] * is_verbose,
        *[("TARGET-ASSIGNMENT-EPOCH", group.target_epoch if has_epochs else None, 25)] * is_verbose,
        ("#MEMBERS", len(group.members), 0),
    ]


# In any case: text in columns, as Java's ``%-15s`` fills them, and what it says of an unknown group.

MISSING = "-"
NEW_TEXTS = "4.1"  # since then some sentences are other, and numbers are in their order
IN_ORDER = "4.2"  # since then partitions are in their order, and the columns of a reset as wide as they must be


def line(cells: Sequence[object], widths: Sequence[int]) -> str:
    """One line; a width of 0 leaves the cell as it is.

    >>> line(["a", 7, None], [3, 2, 0])
    'a   7  -'
    """
    shown = (MISSING if cell is None else str(cell) for cell in cells)
    return " ".join(cell.ljust(width) for cell, width in zip(shown, widths, strict=True))


def widest(least: int, cells: Sequence[object]) -> int:
    """The width of a column that grows with its longest cell.

    >>> widest(15, ["orders", "a-topic-with-a-long-name"])
    24
    """
    return max(least, *(len(str(cell)) for cell in cells)) if cells else least


def table(rows: Sequence[Sequence[object]], widths: Sequence[int], release: str | Release) -> str:
    """Rows below each other; the tool of 3.9 forgets the line breaks, and prints one long line.

    >>> table([["a"], ["b"]], [2], "3.8"), table([["a"], ["b"]], [2], "3.9")
    ('\\na \\nb \\n', '\\na b ')
    """
    lines = [line(row, widths) for row in rows]
    if is_3_9(release):
        return "\n" + "".join(lines)
    return "".join(f"\n{each}" for each in lines) + "\n"


def is_3_9(release: str | Release) -> bool:
    """Whether it is the one release whose tool, just written anew in Java, forgets line breaks."""
    return at_least("3.9", release) and not at_least("4.0", release)


def unknown_group(group_id: str, release: str | Release) -> str:
    """What the tool prints about a group that nobody knows.

    >>> unknown_group("g", "2.2"), unknown_group("g", "3.9")
    ("Error: Consumer group 'g' does not exist.\\n", "\\nError: Consumer group 'g' does not exist.\\n")
    """
    if at_least("4.0", release):
        error = f"org.apache.kafka.common.errors.GroupIdNotFoundException: Group {group_id} not found."
        return f"\nError: Executing consumer group command failed due to {error}\n"
    blank = "\n" if at_least("2.3", release) else ""
    return f"{blank}Error: Consumer group '{group_id}' does not exist.\n"


def is_known(group: Group, release: str | Release) -> bool:
    """Whether a tool finds a group: one of the newer protocol only since 3.8."""
    return group.state != DEAD and (group.kind == CLASSIC or at_least("3.8", release))
