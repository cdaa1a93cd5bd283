"""``--reset-offsets``: shown by default, executed on request, refused while the group has members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafkalearn.arguments import one_of, sequence, text, whole_number
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.group_states import DEAD, EMPTY
from kafkalearn.java_collections import hash_order
from kafkalearn.offsets.groups import Group
from kafkalearn.offsets.store.events import Commit
from kafkalearn.operations.groups.columns import NEW_TEXTS, table, widest
from kafkalearn.operations.groups.scenarios import SCENARIOS, WITH_VALUE, Chosen, choose, moved_into, read_csv, warning
from kafkalearn.operations.groups.topic_logs import PartitionLog, Topics, checked_topics, log_of
from kafkalearn.phrases import shown
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least

COLUMNS = ("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET")


@dataclass(frozen=True, slots=True)
class Reset:
    """What a reset is about to do, or has refused.

    Attributes
    ----------
    group_id : str
        The group.
    offsets : tuple of (TopicPartition, int)
        The new offset of each partition, in the order in which the tool prints them.
    printed : str
        What the tool prints on standard output.
    is_refused : bool
        Whether the group is in use: then there is nothing to execute.
    warned : tuple of str
        What its logger writes on standard error, without time and level: a sentence for each offset that lay outside
        the log and was moved to its nearer end.
    """

    group_id: str
    offsets: tuple[tuple[TopicPartition, int], ...]
    printed: str
    is_refused: bool = False
    warned: tuple[str, ...] = ()

    def commits(self, now_ms: int) -> tuple[Commit, ...]:
        """What ``--execute`` sends: a commit for each partition, of no member and no generation.

        They are events for `kafkalearn.offsets.store`. Without them it was a dry run.
        """
        return tuple(Commit(self.group_id, *at, offset, now_ms) for at, offset in self.offsets)


def reset_offsets(
    group: Group,
    topics: Topics,
    scenario: str,
    value: object = None,
    *,
    scope: Sequence[str] | None = None,
    now_ms: int = 0,
    release: str | Release = DEFAULT_RELEASE,
) -> Reset:
    """What ``kafka-consumer-groups --reset-offsets`` plans for one group.

    Parameters
    ----------
    group : Group
        As the store of offsets keeps it. A group that nobody knows is ``Group(group_id, state="Dead")``.
    topics : mapping of str to sequence of PartitionLog
        The logs.
    scenario : str
        A name in `kafkalearn.operations.groups.scenarios.SCENARIOS`.
    value : int or str
        Of ``to-offset``, ``shift-by`` (numbers), ``by-duration`` (``"PT1H"``), ``to-datetime``, ``from-file`` (the
        content of the file).
    scope : sequence of str or None
        As after ``--topic``: ``"orders"``, or ``"orders:0,3"``. None: ``--all-topics``, all that has an offset.
    now_ms : int
        The clock, for ``by-duration``.
    release : str or Release
        Of the tool, at least 0.11.

    Raises
    ------
    KafkaLearnError
        If a scenario lacks its value, a topic is unknown, or a shift is asked for where nothing is committed.

    Examples
    --------
    >>> from kafkalearn.offsets.groups import Committed
    >>> from kafkalearn.operations.groups import PartitionLog
    >>> billing = Group("billing", offsets=(Committed("orders", 0, 5),))
    >>> found = reset_offsets(billing, {"orders": [PartitionLog(7, start=2)]}, "shift-by", -10)
    >>> print(found.printed.strip())
    GROUP           TOPIC           PARTITION  NEW-OFFSET
    billing         orders          0          2
    >>> print(*found.warned)
    New offset (-5) is lower than earliest offset for topic partition orders-0. Value will be set to 2
    >>> found.commits(now_ms=1000)[0].offset
    2

    References
    ----------
    Apache Kafka 0.11 (KIP-122) to 4.3, ``ConsumerGroupCommand.resetOffsets``, since 4.2 also ``OffsetsUtils``.
    """
    if not at_least("0.11.0", release):
        raise KafkaLearnError(f"--reset-offsets is known since 0.11, got release {release!s}")
    checked_topics(topics)
    one_of("scenario", scenario, SCENARIOS)
    whole_number("now_ms", now_ms, 0)
    if (value is None) == (scenario in WITH_VALUE):
        raise KafkaLearnError(f"--{scenario} {'needs a value' if value is None else 'takes no value'}")
    if group.state not in (EMPTY, DEAD):
        blank = "\n" if at_least("2.3", release) else ""
        refused = (
            f"{blank}Error: Assignments can only be reset if the group '{group.group_id}' is inactive, but the current "
            f"state is {group.state}.\n"
        )
        return Reset(group.group_id, (), refused + _table(group.group_id, [], release), is_refused=True)
    chosen = _of_file(group, topics, value) if scenario == "from-file" else _of_scope(
        group, topics, scenario, value, scope, now_ms
    )  # fmt: skip
    in_order = hash_order(chosen) if at_least("3.9", release) else list(chosen)
    warnings = "".join(
        f"\nWarn: Partition {at.partition} from topic {at.topic} is empty. Falling back to latest known offset.\n"
        for at in in_order
        if chosen[at].is_fallback and at_least("3.0", release)
    )
    offsets = tuple((at, chosen[at].offset) for at in in_order)
    warned = tuple(said for at in in_order if (said := warning(at, chosen[at])) is not None)
    return Reset(group.group_id, offsets, warnings + _table(group.group_id, offsets, release), warned=warned)


def export_offsets(reset: Reset) -> str:
    """What ``--export`` prints in place of the table: lines that ``--from-file`` takes again.

    >>> export_offsets(Reset("billing", ((TopicPartition("orders", 0), 7),), ""))
    'orders,0,7\\n\\n'
    """
    return "".join(f"{at.topic},{at.partition},{offset}\n" for at, offset in reset.offsets) + "\n"


def places_in(scope: Sequence[str], topics: Topics) -> list[TopicPartition]:
    """The partitions that ``--topic`` names: those with their numbers first, then whole topics.

    >>> from kafkalearn.operations.groups import PartitionLog
    >>> [str(at) for at in places_in(["orders", "payments:2"], {"orders": [PartitionLog(0)] * 2})]
    ['payments-2', 'orders-0', 'orders-1']
    """
    single: list[TopicPartition] = []
    whole: list[str] = []
    for word in sequence("scope", scope, of="topics, such as 'orders' or 'orders:0,3'"):
        topic, colon, numbers = text("a topic of scope", word).partition(":")
        if colon:
            single += [TopicPartition(topic, _number(each, word)) for each in numbers.split(",")]
        elif topic not in topics:
            raise unknown_name("topic", topic, topics)
        else:
            whole.append(topic)
    return single + [TopicPartition(topic, number) for topic in whole for number in range(len(topics[topic]))]


def _number(written: str, word: str) -> int:
    if not (written.isascii() and written.isdecimal()):
        raise KafkaLearnError(f"Invalid partition {shown(written)} in {shown(word)}; write numbers: 'orders:0,3'")
    return int(written)


def _of_scope(
    group: Group, topics: Topics, scenario: str, value: object, scope: Sequence[str] | None, now_ms: int
) -> dict[TopicPartition, Chosen]:
    places = [each.at for each in group.offsets] if scope is None else places_in(scope, topics)
    return {at: choose(scenario, value, group, at, _known(topics, at), now_ms) for at in places}


def _of_file(group: Group, topics: Topics, written: object) -> dict[TopicPartition, Chosen]:
    plan = read_csv(written, [group.group_id]).get(group.group_id, {})
    return {at: moved_into(_known(topics, at), offset) for at, offset in plan.items()}


def _known(topics: Topics, at: TopicPartition) -> PartitionLog:
    log = log_of(topics, at)
    if log is None:
        raise KafkaLearnError(f"there is no partition {at}; topics has {sorted(topics)}")
    return log


def _table(group_id: str, offsets: Iterable[tuple[TopicPartition, int]], release: str | Release) -> str:
    rows = [(group_id, at.topic, at.partition, offset) for at, offset in offsets]
    widths = (30, 30, 10, 15)
    if at_least(NEW_TEXTS, release):
        widths = (widest(15, [group_id]), widest(15, [row[1] for row in rows]), 10, 0)
    lines: list[tuple[object, ...]] = [COLUMNS, *rows]
    if not at_least("2.3", release):  # one group at a time, and not named
        lines, widths = [row[1:] for row in lines], widths[1:]
    return table(lines, widths, release)
