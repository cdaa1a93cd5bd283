"""The incidents of chapter 02: order broken by a new partition, and one partition that has most of the records."""

from __future__ import annotations

import json
from functools import cache

from kafkalearn.datafiles import data_file
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.values import Value
from kafkalearn.partitioning.keyed import partition_for_key
from kafkalearn.partitioning.resizing import moved_share

_ORDERS = tuple(f"order-{number}" for number in range(1001, 1013))
_BEFORE, _AFTER = 6, 7


def _one_more_partition() -> dict[str, object]:
    moved = frozenset(order for order in _ORDERS if _placed(order, _BEFORE) != _placed(order, _AFTER))
    return {"moved": moved, "share": float(moved_share(_BEFORE, _AFTER))}


def _placed(order: str, partition_count: int) -> int:
    return partition_for_key(order.encode(), partition_count)


def _those_in_the_new_partition() -> frozenset[str]:
    return frozenset(order for order in _ORDERS if _placed(order, _AFTER) == _BEFORE)


one_more_partition = Exercise(
    name="one_more_partition",
    asks=(
        "**Incident.** `orders` had 6 partitions and got a seventh, while 12 orders were open: `order-1001` to "
        "`order-1012`, the key of every record of an order. Soon `shipping` sent a parcel for an order that it had "
        "not yet seen as paid. Which of the 12 have their older records in another partition than their newer ones? "
        "And what share of all keys is it, in the long run, 0.01 off allowed?"
    ),
    start='answer = {"moved": ..., "share": ...}  # a set of keys, a number between 0 and 1\n'
    "exercises.one_more_partition.check(answer)",
    judge=Value(_one_more_partition, within=0.01),
    solve=_one_more_partition,
    hints=(
        "Old records stay where they are; only new ones go by the new count.",
        "Compare `partition_for_key(key, 6)` and `partition_for_key(key, 7)` for each order.",
        "A key stays only if its masked hash leaves the same remainder by 6 and by 7: how many of 42 do?",
    ),
    reasoning=(
        f"{len(_one_more_partition()['moved'])} of the 12 orders are split: their newer records lie in another "
        "partition, which another member may read sooner. Remainders by 6 and by 7 repeat every 42 hashes and agree "
        "for 6 of them, so 36 of 42 keys move, 6 in 7. From n to n + 1 it is always n in n + 1; from n to 2 n it is "
        "half.\n\n"
        "Order holds per partition, and a key had one partition only as long as the count stood still. Remedies: "
        "choose enough partitions at the start; or make a new topic and switch over when the old one is read to its "
        "end."
    ),
    misconceptions=(
        Misconception(
            {"share": 1 / 7}, "1 in 7 is what the new partition receives; the other partitions swap keys as well."
        ),
        Misconception(
            {"moved": _those_in_the_new_partition()},
            "Those went to the new partition; look at what the six old ones exchanged among themselves.",
        ),
        Misconception({"moved": frozenset(_ORDERS)}, "Not all of them: some hashes leave the same remainder twice."),
    ),
    moral="For `hash % n` every new partition count is a new order of things.",
)

_FLIGHT_PARTITIONS = 12


@cache
def _flights_by_carrier() -> dict[str, int]:
    by_key = json.loads(data_file("flights").read_text(encoding="utf-8"))
    return {carrier: flight_count for carrier, flight_count, _ in by_key["carrier"]}


def _hot_key() -> dict[str, object]:
    by_carrier = _flights_by_carrier()
    by_partition = [0] * _FLIGHT_PARTITIONS
    for carrier, flight_count in by_carrier.items():
        by_partition[partition_for_key(carrier.encode(), _FLIGHT_PARTITIONS)] += flight_count
    total = sum(by_partition)
    return {
        "busiest": max(by_partition) / total,
        "empty": by_partition.count(0),
        "at best": max(by_carrier.values()) / total,
    }


hot_key = Exercise(
    name="hot_key",
    asks=(
        'The 336,776 flights of `data_file("flights")` are records with the carrier as key, UTF-8, in a topic with '
        "12 partitions. (Under `carrier` the JSON file has each carrier with its flights in the year.) What share of "
        "all records is in the busiest partition? How many partitions have none? And how small can the share of the "
        "busiest partition become at best, however many partitions there are? Shares between 0 and 1; 0.005 off will "
        "do."
    ),
    start='answer = {"busiest": ..., "empty": ..., "at best": ...}\nexercises.hot_key.check(answer)',
    judge=Value(_hot_key, within=0.005),
    solve=_hot_key,
    hints=(
        "Read the counts of the 16 carriers first, with `json.loads`; then each carrier is one key to place.",
        "16 keys over 12 partitions: that one gets three of them and another none is nothing strange.",
        "All records of a key are in one partition: what does that say about the busiest key?",
    ),
    reasoning=(
        "Placing the 16 carriers with their flights gives: a quarter of all records in the busiest partition, "
        "where 8 % would be even, and 4 partitions with none. All flights of a carrier share a partition, so the "
        "busiest never comes below the share of the biggest carrier, UA with 17 %: more partitions cannot split a "
        "key.\n\n"
        "The aircraft as key, 4,043 of them, spreads nearly evenly. The question is only which records must stay in "
        "order with each other."
    ),
    misconceptions=(
        Misconception(
            {"busiest": 1 / _FLIGHT_PARTITIONS}, "A hash spreads keys evenly, not records, and 16 keys are very few."
        ),
        Misconception({"at best": 0}, "A key is never split, so its partition has at least all of its records."),
        Misconception({"empty": 0}, "No rule gives each partition a key; with 16 keys some partitions get none."),
    ),
    moral="Skew comes from the keys: no partitioner that keeps a key together can remove it.",
)
