"""The scenarios of ``--reset-offsets``: which offset each of them gives to a partition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from kafkalearn.arguments import LARGEST_LONG, text, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.offsets.groups import Group
from kafkalearn.operations.groups.topic_logs import PartitionLog
from kafkalearn.phrases import shown
from kafkalearn.topic_partition import TopicPartition

SCENARIOS = (
    *("to-earliest", "to-latest", "to-offset", "shift-by", "by-duration", "to-datetime", "to-current", "from-file"),
)
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


def warning(at: TopicPartition, chosen: Chosen) -> str | None:
    """What the tool's logger writes of an offset that it has moved; None: it has not.

    >>> print(warning(TopicPartition("orders", 0), moved_into(PartitionLog(10, start=3), 1)))
    New offset (1) is lower than earliest offset for topic partition orders-0. Value will be set to 3

    References
    ----------
    Apache Kafka 0.11 to 4.3, ``ConsumerGroupCommand.checkOffsetsRange``, since 4.2 ``OffsetsUtils``.
    """
    if chosen.asked is None:
        return None
    where = "higher than latest" if chosen.asked > chosen.offset else "lower than earliest"
    return (
        f"New offset ({chosen.asked}) is {where} offset for topic partition {at}. Value will be set to {chosen.offset}"
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
            raise KafkaLearnError(f"line {number} has a partition or an offset that is no number: {shown(line)}")
        found.setdefault(group_id, {})[TopicPartition(topic, int(partition))] = int(offset)
    return found
