"""What Burrow answers about a group over HTTP, as the rows of a table.

References
----------
Burrow 1.0 and later, ``/v3/kafka/CLUSTER/consumer/GROUP/lag`` and ``.../status``: ``protocol.ConsumerGroupStatus``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.formats.wire import read_json


def rows_of(text: str) -> list[dict[str, str]] | None:
    """The partitions by the names that Kafka's own columns have; None: the text is no answer of Burrow's.

    >>> rows_of('''{"status": {"group": "billing", "partition_count": 1, "partitions": [{"topic": "orders",
    ... "partition": 0, "owner": "", "end": {"offset": 5, "lag": 3}, "current_lag": 4}]}}''')
    [{'GROUP': 'billing', 'TOPIC': 'orders', 'PARTITION': '0', 'CURRENT-OFFSET': '5', 'LAG': '4'}]

    Raises
    ------
    KafkaLearnError
        If it has not all partitions of the group, or something in it is not as Burrow writes it.
    """
    if not text.lstrip().startswith("{"):
        return None
    try:
        content = read_json(text)
    except (ValueError, RecursionError):
        return None
    status = content.get("status") if isinstance(content, Mapping) else None
    if not (isinstance(status, Mapping) and "group" in status and isinstance(status.get("partitions"), list)):
        return None
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
