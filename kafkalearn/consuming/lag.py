"""Consumer lag: by partition, by member, and in all; which groups there are, and where logs end.

`kafkalearn.consuming.describe` prints lags as a tool does; here are the lists of groups and of log ends, by release.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafkalearn.base.checks import LARGEST_LONG, Checked, flag, iterable, sequence, text, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java import hash_order
from kafkalearn.base.trace import Trace
from kafkalearn.consuming.describe import DescribedPartition
from kafkalearn.consuming.simulator import Committed, ConsumingEvent, Topic
from kafkalearn.groups.defaults import EMPTY, STABLE
from kafkalearn.releases.lines import DEFAULT_RELEASE, Release, at_least


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """One partition of one group."""

    group_id: str
    partition: int
    member_id: str | None  # None: nobody owns it
    committed: int | None  # None: the group has committed nothing there
    log_end: int

    @property
    def lag(self) -> int | None:
        """Log end minus committed offset; None where nothing is committed."""
        return None if self.committed is None else self.log_end - self.committed


def lags(topic: Topic, group_id: str) -> tuple[PartitionLag, ...]:
    """The lag of a group in each partition.

    Lag as the tools count it: the offset of the next record to be written minus the committed offset, which is the next
    to be read. (What a client sees of the log's end is the high watermark; a topic here has but one copy.)

    Raises
    ------
    KafkaLearnError
        If nobody has ever joined such a group.

    Examples
    --------
    >>> from kafkalearn.consuming import Join, Poll, Produce, Settings, simulate
    >>> events = [Join("billing", "b0"), *[Produce("order")] * 5, Poll("billing", "b0", most=2)]
    >>> topic = simulate(Settings(partition_count=2), events)[-1].state
    >>> [(each.partition, each.committed, each.log_end, each.lag) for each in lags(topic, "billing")]
    [(0, 2, 3, 1), (1, None, 2, None)]

    References
    ----------
    Apache Kafka, ``ConsumerGroupCommand``: the column ``LAG``.
    """
    group = topic.existing_group(group_id)
    return tuple(
        PartitionLag(group_id, number, group.owner(number), group.committed[number], len(log))
        for number, log in enumerate(topic.logs)
    )


def lags_by_member(topic: Topic, group_id: str) -> dict[str, int]:
    """The records that each member has before it: of its partitions all that is not committed.

    Where the group has committed nothing yet, all from where it will begin counts.
    """
    group = topic.existing_group(group_id)
    return {
        member_id: sum(len(topic.logs[number]) - group.position(number) for number in group.owned(member_id))
        for member_id in group.member_ids
    }


def described(topic: Topic, group_id: str, host: str = "/127.0.0.1") -> tuple[DescribedPartition, ...]:
    """A group's partitions as `kafkalearn.consuming.describe_group` takes them."""
    return tuple(
        DescribedPartition(
            topic.name,
            each.partition,
            each.committed,
            each.log_end,
            *(() if each.member_id is None else (each.member_id, host, f"{group_id}-client")),
        )
        for each in lags(topic, group_id)
    )


def commit_rows(trace: Trace[Topic, ConsumingEvent]) -> list[dict[str, object]]:
    """Every commit of a run as a plain row, as ``__consumer_offsets`` keeps them; the moment is the frame's number.

    Examples
    --------
    >>> from kafkalearn.consuming import Join, Poll, Produce, Settings, simulate
    >>> events = [Join("billing", "b0"), Produce("A1"), Poll("billing", "b0")]
    >>> commit_rows(simulate(Settings(partition_count=1), events))
    [{'group_id': 'billing', 'topic': 'orders', 'partition': 0, 'offset': 1, 'committed_at': 3}]
    """
    return [
        {
            "group_id": effect.group_id,
            "topic": frame.state.name,
            "partition": effect.partition,
            "offset": effect.offset,
            "committed_at": frame.index,
        }
        for frame in trace
        for effect in frame.state.effects
        if isinstance(effect, Committed)
    ]


# ``kafka-consumer-groups --list`` asks every broker for the groups that it coordinates. The answer has groups of all
# kinds: those of Kafka Connect, for example, have another protocol type and are left out. The names are walked as Java
# walks a HashMap, so their order follows from the names; before 2.1 they came as the brokers answered.

CONSUMER_PROTOCOL = "consumer"
ONLY_OFFSETS = ""  # the protocol type of a group without members ever: somebody has committed under its name
_SHORTEST_COLUMN, _MORE_SINCE_3_8, _OTHER_COLUMNS_SINCE_3_8 = 15, 10, 20


@dataclass(frozen=True, slots=True)
class ListedGroup(Checked):
    """A group as a broker lists it (ListGroups)."""

    group_id: str
    type: str = "classic"  # or "consumer" (KIP-848); empty: the broker is too old to say
    state: str = STABLE
    protocol_type: str = CONSUMER_PROTOCOL  # "connect", ...; empty: it has only committed offsets


def listed(topic: Topic) -> tuple[ListedGroup, ...]:
    """The groups of a simulated topic as their broker lists them.

    >>> from kafkalearn.consuming import Join, Settings, simulate
    >>> listed(simulate(Settings(partition_count=2), [Join("billing", "b0")])[-1].state)
    (ListedGroup(group_id='billing', type='classic', state='Stable', protocol_type='consumer'),)
    """
    return tuple(ListedGroup(each.group_id, state=STABLE if each.member_ids else EMPTY) for each in topic.groups)


def list_groups(
    groups: Iterable[ListedGroup],
    release: str | Release = DEFAULT_RELEASE,
    *,
    has_state: bool = False,
    has_type: bool = False,
) -> str:
    """What ``kafka-consumer-groups --list`` prints on standard output.

    Parameters
    ----------
    groups : iterable of ListedGroup
        Every group of the cluster, in the order in which the brokers answered.
    release : str or Release
        Of the tool, at least 0.9 (before, it listed what ZooKeeper had).
    has_state, has_type : bool
        Whether ``--state`` (since 2.6) and ``--type`` (since 3.8) were given, without a value.

    Returns
    -------
    str
        One line a group, each with its line break; with a state or a type, a line with the columns' names first.

    Raises
    ------
    KafkaLearnError
        If the release did not know an option, or what is given are no groups.

    Examples
    --------
    >>> groups = [ListedGroup("billing"), ListedGroup("audit", state="Empty")]
    >>> groups += [ListedGroup("etl", protocol_type="connect")]
    >>> print(list_groups(groups), end="")
    audit
    billing
    >>> print(list_groups(groups, "3.7", has_state=True), end="")
    GROUP           STATE
    audit           Empty
    billing         Stable

    References
    ----------
    Apache Kafka 0.9 to 4.3, ``ConsumerGroupCommand.listGroups``; ``AdminClient`` (to 2.0), since then
    ``KafkaAdminClient.listConsumerGroups``.
    """
    for name, given, since in (("has_state", has_state, "2.6"), ("has_type", has_type, "3.8")):
        if flag(name, given) and not at_least(since, release):
            option = name.replace("has_", "--")
            raise KafkaLearnError(f"--list knows {option} since {since}, got release {release!s}")
    rows = [
        {"GROUP": each.group_id, "TYPE": each.type.capitalize() or "Unknown", "STATE": each.state or "Unknown"}
        for each in _in_printed_order(groups, release)
    ]
    if not has_state and not has_type:
        return "".join(f"{row['GROUP']}\n" for row in rows)
    columns = ["GROUP", *["TYPE"] * has_type, *["STATE"] * has_state]
    lines = [dict(zip(columns, columns, strict=True)), *rows]
    longest = max(_SHORTEST_COLUMN, *(len(row["GROUP"]) for row in lines))
    if not at_least("3.8", release):
        return "".join(f"{row['GROUP']:<{longest}} {row['STATE']}\n" for row in lines)
    wide = {"GROUP": longest + _MORE_SINCE_3_8}
    return "".join(
        " ".join(row[name].ljust(wide.get(name, _OTHER_COLUMNS_SINCE_3_8)) for name in columns) + "\n" for row in lines
    )


def _in_printed_order(groups: object, release: str | Release) -> list[ListedGroup]:
    """The groups of consumers; of two with one name the one that came later."""
    if not at_least("0.9.0", release):
        raise KafkaLearnError(f"what --list printed of groups in Kafka is modelled since 0.9, got release {release!s}")
    kinds = (CONSUMER_PROTOCOL, ONLY_OFFSETS) if at_least("1.0", release) else (CONSUMER_PROTOCOL,)
    found: dict[str, ListedGroup] = {}
    for each in iterable("groups", groups, of="ListedGroup"):
        if not isinstance(each, ListedGroup):
            raise KafkaLearnError(f"groups must be ListedGroup(...), one for each group; got {type(each).__name__}")
        if each.protocol_type in kinds:
            found[each.group_id] = each
    return [found[group_id] for group_id in (hash_order(found) if at_least("2.1", release) else found)]


def log_end_lines(topic: str, offsets: Sequence[int | None], release: str | Release = DEFAULT_RELEASE) -> str:
    """Where the logs of a topic end, as ``GetOffsetShell`` prints it on standard output: ``topic:partition:offset``.

    Today the tool is ``kafka-get-offsets.sh``, once ``kafka-run-class.sh kafka.tools.GetOffsetShell``. A topic with
    more than ten partitions tells the release: since 3.7 the lines are sorted as text.

    Parameters
    ----------
    topic : str
        Its name.
    offsets : sequence of int or None
        ``offsets[p]`` is the offset of partition `p`: with ``--time -1`` (latest, the default) the offset that the next
        record will get. None: no record has the time that was asked for. A partition without a leader is not printed
        either; the tool says so on standard error.
    release : str or Release
        Of the tool, at least 0.8.2.

    Returns
    -------
    str
        One line a partition, each with its line break.

    Raises
    ------
    KafkaLearnError
        If an argument is not as described.

    Examples
    --------
    >>> print(log_end_lines("orders", [60, 0, 0]), end="")
    orders:0:60
    orders:1:0
    orders:2:0
    >>> [line.split(":")[1] for line in log_end_lines("orders", [0] * 12).splitlines()]
    ['0', '1', '10', '11', '2', '3', '4', '5', '6', '7', '8', '9']

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``GetOffsetShell``.
    """
    if not at_least("0.8.2", release):
        raise KafkaLearnError(f"what GetOffsetShell printed is modelled since 0.8.2, got release {release!s}")
    text("topic", topic)
    given = sequence("offsets", offsets, of="offsets, one for each partition")
    for partition, offset in enumerate(given):
        if offset is not None:
            whole_number(f"offsets[{partition}]", offset, 0, LARGEST_LONG)
    partitions = range(len(given))
    if at_least("3.7", release):
        partitions = sorted(partitions, key=str)
    if at_least("3.2", release):
        partitions = [each for each in partitions if given[each] is not None]
    return "".join(f"{topic}:{each}:{'' if given[each] is None else given[each]}\n" for each in partitions)
