"""What the load of a partition reads, what it keeps in memory, and how long that takes.

A load reads every record that is in the log, and keeps the last of each key. So the cleaner shortens the load and
changes nothing of what is known after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafkalearn.arguments import number
from kafkalearn.fields import Checked, Count
from kafkalearn.offsets.pairs import Pair, key_values
from kafkalearn.offsets.records.codec import decode
from kafkalearn.offsets.replay import replay
from kafkalearn.segments.files import Segment
from kafkalearn.segments.records import Record
from kafkalearn.wire.reader import Undecodable


@dataclass(frozen=True, slots=True)
class LoadSize:
    """A load of one partition.

    Attributes
    ----------
    record_count, byte_count : int
        Read: records of the log, and the bytes of their keys and values.
    offset_count, group_count : int
        Kept in memory.
    unreadable_count : int
        Records that are no records of this topic, or are damaged: brokers ignore a type that they do not know since
        3.4.1, and one of any other kind ends the load.
    """

    record_count: int
    byte_count: int
    offset_count: int
    group_count: int
    unreadable_count: int = 0


@dataclass(frozen=True, slots=True)
class Rate(Checked):
    """How fast a broker loads; yours says so in its log: "Finished loading ... in 2481ms ... Loaded 400010 records"."""

    records_per_s: Count


MEASURED = Rate(160_000)
"""A broker of 4.3.1 just started, on two cores shared with others; what was measured lies between 38,000 and 175,000.

Kafka's own benchmark of the code that replays, without a disk and long warmed up, has 4 million (apache/kafka#20547).
"""


def load_size(records: Iterable[Pair | Record | Segment]) -> LoadSize:
    """What the load of a partition reads and keeps.

    Parameters
    ----------
    records : iterable of (bytes, bytes or None), of Record, or of Segment
        Of one partition of ``__consumer_offsets``, in the order of their offsets, without those of aborted
        transactions.

    Examples
    --------
    >>> from kafkalearn.offsets.records.codec import encode_key, encode_value
    >>> key = encode_key("OFFSET_COMMIT", {"group": "billing", "topic": "orders", "partition": 0})
    >>> values = (encode_value("OFFSET_COMMIT", 3, {"offset": each, "leaderEpoch": -1, "metadata": "",
    ...                                             "commitTimestamp": 1000}) for each in range(100))
    >>> size = load_size((key, value) for value in values)
    >>> size.record_count, size.offset_count, size.group_count
    (100, 1, 1)
    """
    pairs = list(key_values(records))
    groups = replay(pairs).groups
    return LoadSize(
        len(pairs),
        sum(len(key or b"") + len(value or b"") for key, value in pairs),
        sum(len(group.offsets) for group in groups),
        len(groups),
        sum(not _is_readable(key, value) for key, value in pairs),
    )


def _is_readable(key: bytes | None, value: bytes | None) -> bool:
    if key is None:
        return False
    try:
        decode(key, value)
    except Undecodable:
        return False
    return True


def load_seconds(record_count: float, rate: Rate = MEASURED) -> float:
    """How long a load of so many records takes: until then the partition's groups cannot commit or join.

    Loads of one broker go one after the other, so the records of all its partitions count together.

    >>> round(load_seconds(100_000_000) / 60)
    10
    """
    return number("record_count", record_count, at_least=0) / rate.records_per_s
