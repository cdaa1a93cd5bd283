"""What tools answer about a group in JSON, as the rows of a table: Burrow's answer, and partitions by their names.

References
----------
Burrow 1.0 and later, ``/v3/kafka/CLUSTER/consumer/GROUP/lag`` and ``.../status``: ``protocol.ConsumerGroupStatus``.
AKHQ, ``/api/CLUSTER/group/GROUP``; Confluent's REST API, ``/kafka/v3/.../consumer-groups/GROUP/lags``; Kafbat UI,
``/api/clusters/CLUSTER/consumer-groups/GROUP``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from kafkalearn.base.errors import KafkaLearnError, counted, listed
from kafkalearn.formats.wire import read_json

DEEPEST = 6  # objects in objects that are gone through


def rows_of(text: str, column: Callable[[str], str] = str.upper) -> list[dict[str, str]] | None:
    """The partitions by the names that Kafka's own columns have; None: the text is no such answer.

    Parameters
    ----------
    text : str
        JSON.
    column : callable
        The name that Kafka's column has, of a name with blanks or hyphens between its words.

    Raises
    ------
    KafkaLearnError
        If Burrow's answer has not all partitions of the group, something in it is not as Burrow writes it, or an
        object with a partition has no offset of the group by a name that is known.

    Examples
    --------
    >>> rows_of('''{"status": {"group": "billing", "partition_count": 1, "partitions": [{"topic": "orders",
    ... "partition": 0, "owner": "", "end": {"offset": 5, "lag": 3}, "current_lag": 4}]}}''')
    [{'GROUP': 'billing', 'TOPIC': 'orders', 'PARTITION': '0', 'CURRENT-OFFSET': '5', 'LAG': '4'}]
    >>> rows_of('{"group": "g", "rows": [{"topic": "t", "partition": 0, "currentOffset": 5, "lag": 4}]}')
    [{'GROUP': 'g', 'TOPIC': 't', 'PARTITION': '0', 'CURRENT-OFFSET': '5', 'LAG': '4'}]
    """
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        content = read_json(text)
    except (ValueError, RecursionError):
        return None
    status = content.get("status") if isinstance(content, Mapping) else None
    if not (isinstance(status, Mapping) and "group" in status and isinstance(status.get("partitions"), list)):
        named = cache(lambda name: column(_words(name)))  # a name stands in each row again
        return _with_offsets([*_by_names(content, {}, named, 0)])
    partitions, count = status["partitions"], status.get("partition_count")
    if isinstance(count, int) and count > len(partitions):
        raise KafkaLearnError(
            f"Burrow names {len(partitions)} of {counted(count, 'partition')} of the group: /status has those alone "
            "that are in trouble; give what /v3/kafka/CLUSTER/consumer/GROUP/lag answers"
        )
    try:
        return [*_rows(str(status["group"]), partitions)]
    except (KeyError, TypeError, AttributeError):
        raise KafkaLearnError(
            "this looks like Burrow's answer, and its partitions are not as Burrow writes them"
        ) from None


def _rows(group: str, partitions: list[Any]) -> Iterator[dict[str, str]]:
    for each in partitions:
        end = each.get("end")
        row = {
            "GROUP": group,
            "TOPIC": str(each["topic"]),
            "PARTITION": str(each["partition"]),
            "CURRENT-OFFSET": "-" if end is None else str(end["offset"]),
            "LAG": "-" if end is None else str(each.get("current_lag", end["lag"])),
        }
        owner = each.get("client_id") or each.get("owner")
        yield {**row, "CONSUMER-ID": str(owner)} if owner else row


def _with_offsets(rows: list[dict[str, str]]) -> list[dict[str, str]] | None:
    """Those that say how far the group is; others are an assignment."""
    wanted = {"TOPIC", "CURRENT-OFFSET"}
    kept = [each for each in rows if wanted <= each.keys() and ("LAG" in each or "LOG-END-OFFSET" in each)]
    if rows and not kept:
        raise KafkaLearnError(
            f"an object with a partition has the names {listed(name.lower() for name in rows[0])}, and not a topic, "
            "an offset of the group, and an end or a lag, as far as their names are known: call them topic, "
            "current_offset, log_end_offset and lag"
        )
    return kept or None


def _by_names(
    content: object, above: Mapping[str, str], named: Callable[[str], str], depth: int
) -> Iterator[dict[str, str]]:
    """The objects with a partition, each with the group and the topic that stand in those around it."""
    if depth > DEEPEST:
        return
    if isinstance(content, list):
        for each in content:
            yield from _by_names(each, above, named, depth + 1)
    if not isinstance(content, Mapping):
        return
    by_name = {named(str(name)): each for name, each in content.items()}
    own = {name: _text(each) for name, each in by_name.items() if not isinstance(each, list | dict)}
    if own.get("PARTITION", "").isdigit():
        member = by_name.get("CONSUMER-ID")
        yield {**above, **own, **({"CONSUMER-ID": _text(member.get("id"))} if isinstance(member, Mapping) else {})}
        return
    inside = {name for name, each in by_name.items() if isinstance(each, list)}
    group, topic = own.get("GROUP"), own.get("TOPIC")
    if group is None and "OFFSETS" in inside:
        group = own.get("ID")  # AKHQ's
    if topic is None and "PARTITIONS" in inside and "GROUP" in above:
        topic = own.get("NAME")  # kafkactl's
    around = {**above, **({} if group is None else {"GROUP": group}), **({} if topic is None else {"TOPIC": topic})}
    for each in content.values():
        yield from _by_names(each, around, named, depth + 1)


def _words(name: str) -> str:
    """``currentOffset`` as ``current-offset``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name)


def _text(value: object) -> str:
    return "-" if value is None or value == "" else str(value)
