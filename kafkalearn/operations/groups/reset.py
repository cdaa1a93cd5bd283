"""``kafka-consumer-groups --reset-offsets``, ``--delete`` and ``--delete-offsets``: what is done, refused, printed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from kafkalearn.base.checks import LARGEST_LONG, one_of, sequence, text, whole_number
from kafkalearn.base.errors import KafkaLearnError, shown, unknown_name
from kafkalearn.base.java import hash_order, utf16_key
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.defaults import DEAD, EMPTY
from kafkalearn.offsets.replay import Group
from kafkalearn.offsets.store.model import Commit, DeleteGroup, DeleteOffset, Settings, Store
from kafkalearn.offsets.store.simulator import step
from kafkalearn.operations.groups.describe import (
    IN_ORDER,
    NEW_TEXTS,
    PartitionLog,
    Topics,
    checked_topics,
    is_3_9,
    log_of,
    table,
    widest,
)
from kafkalearn.releases.lines import DEFAULT_RELEASE, Release, at_least

# The scenarios of ``--reset-offsets``: which offset each of them gives to a partition.

SCENARIOS = (
    "to-earliest", "to-latest", "to-offset", "shift-by", "by-duration", "to-datetime", "to-current", "from-file",
)  # fmt: skip
"""The options of the tool, without their dashes."""

WITH_VALUE = ("to-offset", "shift-by", "by-duration", "to-datetime", "from-file")

_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?\d+)D)?"
    r"(?:T(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?(?:(?P<seconds>[-+]?\d+(?:\.\d{1,9})?)S)?)?",
    re.IGNORECASE,
)
_MILLIS = {"days": 86_400_000, "hours": 3_600_000, "minutes": 60_000, "seconds": 1000}


class Chosen(NamedTuple):
    """The offset that a scenario gives, and what the tool says of it."""

    offset: int
    is_fallback: bool = False  # it is the log's end for want of a record
    asked: int | None = None  # it lay outside the log, and was moved to its nearer end


def choose(scenario: str, value: object, group: Group, at: TopicPartition, log: PartitionLog, now_ms: int) -> Chosen:
    """The offset of one partition by a scenario; by-file is for the whole plan, not for one partition.

    An offset outside the log is moved to its nearer end. A time that no record has reached gives the log's end.

    Raises
    ------
    KafkaLearnError
        If a shift is asked for where nothing is committed, or the value is no offset, time or duration.
    """
    committed = group.offset(*at)
    if scenario == "to-earliest":
        return Chosen(log.start)
    if scenario == "to-latest" or (scenario == "to-current" and committed is None):
        return Chosen(log.end)
    if scenario == "to-current" and committed is not None:
        return Chosen(committed.offset)
    if scenario == "to-offset":
        return moved_into(log, whole_number("the offset", value, -LARGEST_LONG))
    if scenario == "shift-by":
        if committed is None:
            raise KafkaLearnError(
                f"Cannot shift offset for partition {at} since there is no current committed offset; name the "
                "partitions that have one: orders:0,1"
            )
        return moved_into(log, committed.offset + whole_number("the shift", value, -LARGEST_LONG))
    at_ms = now_ms - duration_ms(value) if scenario == "by-duration" else datetime_ms(value)
    found = log.offset_at(at_ms)
    return Chosen(log.end, is_fallback=True) if found is None else Chosen(found)


def moved_into(log: PartitionLog, offset: int) -> Chosen:
    """An offset, moved to the nearer end of the log where it lies outside; `asked` is where it was then.

    >>> moved_into(PartitionLog(10, start=3), 7), moved_into(PartitionLog(10, start=3), 99)
    (Chosen(offset=7, is_fallback=False, asked=None), Chosen(offset=10, is_fallback=False, asked=99))
    """
    within = min(max(offset, log.start), log.end)
    return Chosen(within, asked=None if within == offset else offset)


def warning(at: TopicPartition, chosen: Chosen, release: str | Release = DEFAULT_RELEASE) -> str | None:
    """What the tool's logger writes of an offset that it has moved; None: it has not.

    >>> print(warning(TopicPartition("orders", 0), moved_into(PartitionLog(10, start=3), 1)))
    New offset (1) is lower than earliest offset for topic partition orders-0. Value will be set to 3.

    References
    ----------
    Apache Kafka 0.11 to 4.4, ``ConsumerGroupCommand.checkOffsetsRange``, since 4.2 ``OffsetsUtils``, in 4.4
    ``GroupOffsetsResetter``, whose sentence ends with a full stop.
    """
    if chosen.asked is None:
        return None
    where = "higher than latest" if chosen.asked > chosen.offset else "lower than earliest"
    end = "." if at_least("4.4", release) else ""
    return (
        f"New offset ({chosen.asked}) is {where} offset for topic partition {at}. "
        f"Value will be set to {chosen.offset}{end}"
    )


def duration_ms(written: object) -> int:
    """The length of an ISO 8601 duration, as ``--by-duration`` takes it.

    >>> duration_ms("PT1H30M"), duration_ms("P7D")
    (5400000, 604800000)

    References
    ----------
    Java SE API, ``Duration.parse``: days, hours, minutes and seconds; no months.
    """
    found = _DURATION.fullmatch(text("the duration", written))
    parts = {name: found[name] for name in _MILLIS if found[name]} if found else {}
    if found is None or not parts or str(written).upper().endswith("T"):
        raise KafkaLearnError(f"the duration must be like 'PT1H30M' or 'P7D', got {shown(written)}")
    total = sum(int(float(number) * _MILLIS[name]) for name, number in parts.items())
    return -total if found["sign"] == "-" else total


def datetime_ms(written: object) -> int:
    """The time that ``--to-datetime`` takes, in milliseconds; without a zone it is UTC.

    >>> datetime_ms("2023-11-14T22:13:20.000"), datetime_ms("2023-11-14T23:13:20.000+01:00")
    (1700000000000, 1700000000000)

    References
    ----------
    Apache Kafka, ``Utils.getDateTime``.
    """
    given = text("the time", written)
    if "T" not in given:
        raise KafkaLearnError(
            f"the time must be like '2026-01-31T09:00:00.000', got {shown(written)}: the T is missing"
        )
    try:
        moment = datetime.fromisoformat(given.replace("Z", "+00:00"))
    except ValueError:
        raise KafkaLearnError(f"the time must be like '2026-01-31T09:00:00.000', got {shown(written)}") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // _MILLISECOND


_MILLISECOND = datetime(1970, 1, 1, 0, 0, 0, 1000) - datetime(1970, 1, 1)


def read_csv(written: object, group_ids: Iterable[str]) -> Mapping[str, Mapping[TopicPartition, int]]:
    """The plan of ``--from-file``: lines ``topic,partition,offset``, or with the group in front.

    Parameters
    ----------
    written : str
        The content of the file.
    group_ids : iterable of str
        The groups that are asked for. Lines without a group are for a single one.

    Raises
    ------
    KafkaLearnError
        If a line has neither form.

    Examples
    --------
    >>> read_csv("orders,0,7", ["billing"])
    {'billing': {TopicPartition(topic='orders', partition=0): 7}}
    """
    names = list(group_ids)
    found: dict[str, dict[TopicPartition, int]] = {}
    for number, line in enumerate(filter(None, text("the file", written).splitlines()), start=1):
        cells = [cell.strip() for cell in line.split(",")]
        group_id = names[0] if len(cells) == 3 and len(names) == 1 else cells[0]
        if len(cells) not in (3, 4) or (len(cells) == 3 and len(names) != 1):
            raise KafkaLearnError(
                f"line {number} must be topic,partition,offset, or with several groups group,topic,partition,offset; "
                f"got {shown(line)}"
            )
        topic, partition, offset = cells[-3:]
        if not (partition.isdecimal() and offset.lstrip("-").isdecimal()):
            raise KafkaLearnError(f"line {number} has a partition or an offset that is not a number: {shown(line)}")
        found.setdefault(group_id, {})[TopicPartition(topic, int(partition))] = int(offset)
    return found


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
        A name in `kafkalearn.operations.groups.reset.SCENARIOS`.
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
    >>> from kafkalearn.offsets.replay import Committed
    >>> from kafkalearn.operations.groups import PartitionLog
    >>> billing = Group("billing", offsets=(Committed("orders", 0, 5),))
    >>> found = reset_offsets(billing, {"orders": [PartitionLog(7, start=2)]}, "shift-by", -10)
    >>> print(found.printed.strip())
    GROUP           TOPIC           PARTITION  NEW-OFFSET
    billing         orders          0          2
    >>> print(*found.warned)
    New offset (-5) is lower than earliest offset for topic partition orders-0. Value will be set to 2.
    >>> found.commits(now_ms=1000)[0].offset
    2

    References
    ----------
    Apache Kafka 0.11 (KIP-122) to 4.4, ``ConsumerGroupCommand.resetOffsets``, since 4.2 also ``OffsetsUtils``.
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
    warned = tuple(said for at in in_order if (said := warning(at, chosen[at], release)) is not None)
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
    if at_least(IN_ORDER, release):
        widths = (widest(15, [group_id]), widest(15, [row[1] for row in rows]), 10, 0)
    lines: list[tuple[object, ...]] = [COLUMNS, *rows]
    if not at_least("2.3", release):  # one group at a time, and not named
        lines, widths = [row[1:] for row in lines], widths[1:]
    return table(lines, widths, release)


# ``--delete`` and ``--delete-offsets``: what goes, what is refused, and what the tool prints of it.

_PACKAGE = "org.apache.kafka.common.errors"
EXCEPTIONS = {
    "NON_EMPTY_GROUP": f"{_PACKAGE}.GroupNotEmptyException: The group is not empty.",
    "GROUP_ID_NOT_FOUND": f"{_PACKAGE}.GroupIdNotFoundException: The group id does not exist.",
    "GROUP_SUBSCRIBED_TO_TOPIC": f"{_PACKAGE}.GroupSubscribedToTopicException: Deleting offsets of a topic is "
    "forbidden while the consumer group is actively subscribed to it.",
    "NOT_COORDINATOR": f"{_PACKAGE}.NotCoordinatorException: This is not the correct coordinator.",
    "COORDINATOR_LOAD_IN_PROGRESS": f"{_PACKAGE}.CoordinatorLoadInProgressException: The coordinator is loading and "
    "hence can't process requests.",
}
"""What Java's client says of each error that a coordinator answers."""

_WRAPPED = "java.util.concurrent.ExecutionException: "  # in front of it up to 4.0


def delete_groups(
    settings: Settings, store: Store, group_ids: Sequence[str], release: str | Release = DEFAULT_RELEASE
) -> tuple[Store, str]:
    """The store after ``--delete`` of some groups, and what the tool prints.

    Parameters
    ----------
    settings, store
        Of `kafkalearn.offsets.store`: the partition of the offsets topic that has the groups.
    group_ids : sequence of str
        As after ``--group``.
    release : str or Release
        Of the tool, at least 2.0.

    Examples
    --------
    >>> from kafkalearn.offsets.store import Commit, simulate
    >>> store = simulate(Settings(), [Commit("billing", "orders", 0, 5, now_ms=0)])[-1].state
    >>> store, printed = delete_groups(Settings(), store, ["billing"])
    >>> printed, store.groups
    ("Deletion of requested consumer groups ('billing') was successful.\\n", ())

    References
    ----------
    Apache Kafka 2.0 to 4.3, ``ConsumerGroupCommand.deleteGroups``.
    """
    if not at_least("2.0", release):
        raise KafkaLearnError(f"what --delete prints is modelled since 2.0, got release {release!s}")
    errors: dict[str, str] = {}
    for group_id in sequence("group_ids", group_ids, of="group ids"):
        if text("group id", group_id) not in errors:
            store = step(settings, store, DeleteGroup(group_id))
            errors[group_id] = store.effects[-1].error
    in_order = hash_order(errors) if at_least("3.9", release) else list(errors)
    done = [group_id for group_id in in_order if errors[group_id] == "NONE"]
    failed = [group_id for group_id in in_order if errors[group_id] != "NONE"]
    if not failed:
        return store, f"Deletion of requested consumer groups ({_names(done, release)}) was successful.\n"
    blank = "\n" if at_least("2.3", release) else ""
    lines = [f"{blank}Error: Deletion of some consumer groups failed:"]
    lines += [f"* Group '{each}' could not be deleted due to: {_exception(errors[each], release)}" for each in failed]
    if done:
        lines.append(f"\nThese consumer groups were deleted successfully: {_deleted(done, release)}")
    return store, "".join(f"{each}\n" for each in lines)


def delete_offsets(
    settings: Settings,
    store: Store,
    group_id: str,
    scope: Sequence[str],
    topics: Topics,
    release: str | Release = DEFAULT_RELEASE,
) -> tuple[Store, str]:
    """The store after ``--delete-offsets`` of a group, and what the tool prints.

    Parameters
    ----------
    settings, store, group_id
        As in `delete_groups`, of one group.
    scope : sequence of str
        As after ``--topic``: ``"orders"``, or ``"orders:0,3"``. What has no offset is deleted successfully.
    topics : mapping of str to sequence of PartitionLog
        How many partitions each topic has.
    release : str or Release
        Of the tool, at least 2.4 (KIP-496).

    Examples
    --------
    >>> from kafkalearn.offsets.store import Commit, simulate
    >>> from kafkalearn.operations.groups import PartitionLog
    >>> store = simulate(Settings(), [Commit("billing", "orders", 0, 5, now_ms=0)])[-1].state
    >>> print(delete_offsets(Settings(), store, "billing", ["orders"], {"orders": [PartitionLog(9)]})[1], end="")
    Request succeeded for deleting offsets from group billing.
    <BLANKLINE>
    TOPIC           PARTITION  STATUS
    orders          0          Successful

    References
    ----------
    Apache Kafka 2.4 to 4.3, ``ConsumerGroupCommand.deleteOffsets``.
    """
    if not at_least("2.4", release):
        raise KafkaLearnError(f"--delete-offsets is known since 2.4, got release {release!s}")
    checked_topics(topics)
    errors: dict[TopicPartition, str] = {}
    for at in places_in(scope, topics):
        store = step(settings, store, DeleteOffset(group_id, *at))
        errors[at] = store.effects[-1].error
    overall = next((error for error in errors.values() if error != "NONE"), "NONE")
    return store, _verdict(overall, group_id, scope, release) + _statuses(errors, release)


def _verdict(error: str, group_id: str, scope: Sequence[str], release: str | Release) -> str:
    is_new = at_least(NEW_TEXTS, release)
    if error == "NONE":
        if is_new:
            return f"Request succeeded for deleting offsets from group {group_id}.\n"
        return f"Request succeed for deleting offsets with topic {', '.join(scope)} group {group_id}\n"
    if error == "GROUP_SUBSCRIBED_TO_TOPIC":
        said = "Encountered some partition-level error, see the follow-up details."
        said = said if is_new else "Encounter some partition level error, see the follow-up details:"
    elif is_new and error in ("GROUP_ID_NOT_FOUND", "NON_EMPTY_GROUP"):
        said = EXCEPTIONS[error].partition(": ")[2]
    elif error == "GROUP_ID_NOT_FOUND":
        said = f"'{group_id}' does not exist."
    elif error == "NON_EMPTY_GROUP":
        said = f"Deleting offsets of a consumer group '{group_id}' is forbidden if the group is not empty."
    else:
        said = f"Encounter{'ed' if is_new else ''} some unknown error: {error}"
    return f"\nError: {said}\n"


def _statuses(errors: dict[TopicPartition, str], release: str | Release) -> str:
    is_new = at_least(NEW_TEXTS, release)
    widths = (widest(15, [at.topic for at in errors]), 10, 15) if is_new else (30, 15, 15)
    colon = "Error: :" if is_3_9(release) else "Error: "
    rows: list[tuple[str, int | str, str]] = [("TOPIC", "PARTITION", "STATUS")]
    for at in sorted(errors, key=lambda at: utf16_key(f"{at.topic}{at.partition}")):
        error = errors[at]
        rows.append((at.topic, at.partition, "Successful" if error == "NONE" else f"{colon}{EXCEPTIONS[error]}"))
    return table(rows, widths, release)


def _exception(error: str, release: str | Release) -> str:
    return EXCEPTIONS[error] if at_least("4.0", release) else _WRAPPED + EXCEPTIONS[error]


def _names(group_ids: Sequence[str], release: str | Release) -> str:
    """Up to 3.8 and since 4.1 each in quotes; 3.9 and 4.0 put one pair around all."""
    if at_least("3.9", release) and not at_least(NEW_TEXTS, release):
        return f"'{', '.join(group_ids)}'"
    return ", ".join(f"'{each}'" for each in group_ids)


def _deleted(group_ids: Sequence[str], release: str | Release) -> str:
    if at_least("3.9", release) and not at_least(NEW_TEXTS, release):
        return "'{}', '".format("'".join(group_ids))  # the quotes are in the wrong places
    return _names(group_ids, release)
