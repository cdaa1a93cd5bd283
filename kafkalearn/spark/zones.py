"""A million partitions in three zones: what a group reads from another zone, by assignor, in bytes and in money.

`random_zones` draws groups with the racks of their members and of their partitions' replicas, as rows.
`with_owner_racks` asks an assignor who gets what (in Python, a batch of groups at a time) and keeps only the rack of
each partition's owner; all else is expressions over columns: `crossing`, which `kafkalearn.consuming.nearest` has
for one group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from kafkalearn.assignors import Member, assign
from kafkalearn.assignors.registry import find_assignor
from kafkalearn.base.checks import whole_number
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.consuming.nearest import GIGABYTE
from kafkalearn.spark.columns import rule
from kafkalearn.spark.data.generate import hash_of, uniform
from kafkalearn.spark.session.worker_code import for_workers

Batches = Iterator[pa.RecordBatch]

ZONES = ("a", "b", "c")
PARTITIONS = 500  # of a group, in two topics
MEMBERS = 20
PIECE_COUNT = 16
COMPARED = ("range", "sticky", "range, racks", "sticky, racks", "uniform, racks")
"""Assignors; with racks, where the members name theirs."""

PARTITION = pa.struct([("racks", pa.list_(pa.string())), ("bytes", pa.int64())])
ZONES_SCHEMA = pa.schema(
    [
        ("group_id", pa.string()),
        ("member_racks", pa.list_(pa.string())),
        ("orders", pa.list_(PARTITION)),
        ("clicks", pa.list_(PARTITION)),
    ]
)
"""A group: the zone of each member, and of each partition of its two topics the replicas' racks (the leader's first)
and the bytes that are read in an hour."""

OWNERS = ("owner_racks", pa.map_(pa.string(), pa.list_(pa.string())))
"""By assignor the rack of each partition's owner: orders 0, 1, ..., then clicks."""


def random_zones(
    spark: SparkSession, group_count: int, *, replica_count: int = 2, seed: int = 0, zones: Sequence[str] = ZONES
) -> DataFrame:
    """Groups of 20 members and 500 partitions in two topics, with columns as `ZONES_SCHEMA`.

    The replicas of a partition are in different zones, as the controller places them; the members are dealt over the
    zones, and a few have moved. The bytes of a partition are anything up to 20 MB, most of them little.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> row = random_zones(get_spark(), 1).first()
    >>> len(row.member_racks), len(row.orders), len(row.clicks), sorted(set(row.member_racks))
    (20, 300, 200, ['a', 'b', 'c'])
    """
    whole_number("group_count", group_count, at_least=0)
    whole_number("replica_count", replica_count, at_least=1, at_most=len(zones))
    names = sf.array(*map(sf.lit, zones))

    def zone(number: Column) -> Column:
        return sf.get(names, sf.pmod(number, sf.lit(len(zones))).cast("int"))

    def partitions(topic: str, count: int) -> Column:
        def one(place: Column) -> Column:
            number = sf.col("id") * 1000 + place
            first = hash_of(seed, f"{topic} leader", number)
            step = sf.lit(1) + sf.pmod(hash_of(seed, f"{topic} step", number), sf.lit(2))
            racks = sf.array(*(zone(sf.pmod(first, sf.lit(len(zones))) + step * each) for each in range(replica_count)))
            size = sf.pow(uniform(seed, f"{topic} bytes", number), sf.lit(4.0)) * 20_000_000
            return sf.struct(racks.alias("racks"), size.cast("bigint").alias("bytes"))

        return sf.transform(sf.sequence(sf.lit(0), sf.lit(count - 1)), one).alias(topic)

    def member(place: Column) -> Column:
        number = sf.col("id") * 1000 + place
        moved = sf.pmod(hash_of(seed, "moved", number), sf.lit(8)) == 0
        return zone(place + sf.when(moved, 1).otherwise(0))

    members = sf.transform(sf.sequence(sf.lit(0), sf.lit(MEMBERS - 1)), member)
    drawn = spark.range(0, group_count, 1, PIECE_COUNT)
    return drawn.select(
        sf.format_string("group-%06d", "id").alias("group_id"),
        members.alias("member_racks"),
        partitions("orders", 300),
        partitions("clicks", 200),
    )


def owner_racks(row: dict[str, Any], name: str) -> list[str]:
    """The rack of each partition's owner in one group, by one of `COMPARED`.

    >>> each = {"racks": ["a", "b"], "bytes": 1}
    >>> owner_racks({"member_racks": ["b", "c"], "orders": [each] * 2, "clicks": []}, "range")
    ['b', 'c']
    """
    assignor, _, with_racks = name.partition(", ")
    racks = {topic: [each["racks"] for each in row[topic]] for topic in ("orders", "clicks")}
    counts = {topic: len(each) for topic, each in racks.items()}
    zones = {f"m{number:02}": zone for number, zone in enumerate(row["member_racks"])}
    members = [Member(each, list(counts), rack=zone if with_racks else None) for each, zone in zones.items()]
    owners = assign(assignor, counts, members, replica_racks=racks).owners()
    return [zones[owners[TopicPartition(topic, number)]] for topic, count in counts.items() for number in range(count)]


def _owning(names: list[str]) -> Callable[[Batches], Batches]:
    schema = pa.schema([*ZONES_SCHEMA, OWNERS])

    def own(batches: Batches) -> Batches:
        for batch in batches:
            owners = [[(name, owner_racks(row, name)) for name in names] for row in batch.to_pylist()]
            yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(owners, OWNERS[1])], schema=schema)

    return own


_GROUPS = {field.name: (field.dataType.simpleString(),) for field in from_arrow_schema(ZONES_SCHEMA)}
_REMEDY = "see kafkalearn.spark.zones.random_zones, and with_owner_racks"


@rule(_GROUPS, remedy=_REMEDY)
def with_owner_racks(groups: DataFrame, assignors: Sequence[str] = COMPARED) -> DataFrame:
    """Each group with ``owner_racks``, the rack of each partition's owner by each of `assignors`.

    Row by row: a worker's Python has one batch of groups at a time, 10,000 at most.

    Parameters
    ----------
    groups : DataFrame
        With the columns of `ZONES_SCHEMA`.
    assignors : sequence of str
        Names, with ``, racks`` behind it where the members name their racks.
    """
    for name in assignors:
        find_assignor(name.partition(", ")[0])  # what it refuses is refused here, not in a worker
    own = for_workers(groups.sparkSession, _owning(list(assignors)))
    return groups.select(*ZONES_SCHEMA.names).mapInArrow(own, from_arrow_schema(pa.schema([*ZONES_SCHEMA, OWNERS])))


@rule({**_GROUPS, OWNERS[0]: ("map<string,array<string>>",)}, remedy=_REMEDY)
def crossing(owned: DataFrame, *, price_per_gigabyte: float = 0.02) -> DataFrame:
    """The bytes that cross zones, by assignor, and what they cost: an expression over each partition.

    Parameters
    ----------
    owned : DataFrame
        As `with_owner_racks` gives it.
    price_per_gigabyte : float
        For 1,000,000,000 bytes that go from one zone to another; clouds that take money for both ways: both.

    Returns
    -------
    DataFrame
        ``assignor``, ``partition_count``, ``read_bytes``; ``from_leaders`` and ``from_nearest``, the crossing bytes
        where all read from leaders, and where each reads from a replica in its zone, if there is one; their
        ``leaders_price`` and ``nearest_price``. What is kept is a row for each assignor.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> found = random_zones(get_spark(), 4).transform(with_owner_racks, ["range", "range, racks"]).transform(crossing)
    >>> rows = {row.assignor: row for row in found.collect()}
    >>> rows["range"].from_nearest // rows["range, racks"].from_nearest
    14
    """
    by_assignor = owned.select(sf.concat("orders", "clicks").alias("places"), sf.explode("owner_racks"))
    pairs = sf.explode(sf.arrays_zip("places", sf.col("value").alias("owner"))).alias("one")
    each = by_assignor.select(sf.col("key").alias("assignor"), pairs)
    place, owner = sf.col("one")["places"], sf.col("one")["owner"]
    size = place["bytes"]
    counted = each.groupBy("assignor").agg(
        sf.count("*").alias("partition_count"),
        sf.sum(size).alias("read_bytes"),
        sf.sum(sf.when(sf.get(place["racks"], sf.lit(0)) != owner, size).otherwise(0)).alias("from_leaders"),
        sf.sum(sf.when(~sf.array_contains(place["racks"], owner), size).otherwise(0)).alias("from_nearest"),
    )
    per_byte = price_per_gigabyte / GIGABYTE
    return counted.select(
        "*",
        (sf.col("from_leaders") * per_byte).alias("leaders_price"),
        (sf.col("from_nearest") * per_byte).alias("nearest_price"),
    )
