"""Rebalances a batch of Arrow rows at a time: what Spark's workers run for `kafkalearn.spark.rebalances.costs`.

The workers get these functions by `kafkalearn.spark.session.worker_code.for_workers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from kafkalearn.assignor import Member, compare
from kafkalearn.assignor.judging.random_rebalances import random_rebalance

Batches = Iterator[pa.RecordBatch]

MEMBERS = pa.list_(pa.struct([("member", pa.string()), ("topics", pa.list_(pa.string()))]))
REBALANCE = pa.schema(
    [
        ("rebalance", pa.int64()),
        ("what", pa.string()),
        ("who", pa.string()),
        ("is_alike", pa.bool_()),
        ("topics", pa.list_(pa.struct([("topic", pa.string()), ("partitions", pa.int32())]))),
        ("before", MEMBERS),
        ("after", MEMBERS),
    ]
)
"""A rebalance as a row."""

_COUNTS = ("member_count", "partition_count", "moved", "fewest", "revoked_eager", "revoked_cooperative", "spread")
COST = pa.schema([("rebalance", pa.int64()), ("assignor", pa.string()), *((name, pa.int32()) for name in _COUNTS)])
"""What it costs by one assignor, as a row."""


def drawing(settings: dict[str, object]) -> Callable[[Batches], Batches]:
    """From rows with an ``id`` to the rebalances of these numbers."""

    def draw(batches: Batches) -> Batches:
        for batch in batches:
            numbers = batch.column("id").to_pylist()
            yield pa.RecordBatch.from_pylist([rebalance_row(number, settings) for number in numbers], REBALANCE)

    return draw


def costs(assignors: list[str]) -> Callable[[Batches], Batches]:
    """From rebalances to a row for each of them and each assignor."""

    def measure(batches: Batches) -> Batches:
        for batch in batches:
            rows = [cost for row in batch.to_pylist() for cost in cost_rows(row, assignors)]
            yield pa.RecordBatch.from_pylist(rows, COST)

    return measure


def rebalance_row(number: int, settings: dict[str, object]) -> dict[str, object]:
    """One drawn rebalance."""
    drawn = random_rebalance(number, **settings)
    return {
        "rebalance": number,
        "what": drawn.what,
        "who": drawn.who,
        "is_alike": drawn.is_alike,
        "topics": [{"topic": topic, "partitions": count} for topic, count in drawn.partition_counts.items()],
        "before": _member_rows(drawn.before),
        "after": _member_rows(drawn.after),
    }


def cost_rows(row: dict[str, object], assignors: list[str]) -> list[dict[str, object]]:
    """What one rebalance costs by each assignor."""
    counts = {each["topic"]: each["partitions"] for each in row["topics"]}
    before, after = _members(row["before"]), _members(row["after"])
    subscribed = {topic for member in after for topic in member.topics}
    size = {
        "rebalance": row["rebalance"],
        "member_count": len(after),
        "partition_count": sum(count for topic, count in counts.items() if topic in subscribed),
    }
    return [
        {
            **size,
            "assignor": each["assignor"],
            "moved": each["moved"],
            "fewest": each["fewest"],
            "revoked_eager": each["revoked, eager"],
            "revoked_cooperative": each["revoked, cooperative"],
            "spread": each["spread"],
        }
        for each in compare(assignors, counts, before, after)
    ]


def _member_rows(members: tuple[Member, ...]) -> list[dict[str, object]]:
    return [{"member": member.member_id, "topics": list(member.topics)} for member in members]


def _members(rows: list[dict[str, object]]) -> list[Member]:
    return [Member(each["member"], each["topics"]) for each in rows]
