"""A company's topics: a million orders, and what ten thousand groups have committed of them; real, or made again.

On a real broker Spark's producer sends the orders and `kafkalearn.live.questions.Company` the commits. Where there is
no broker, `RemadeTopics` makes both topics again: keys and values from their generators, and from
``data/real-kafka/topics/company.json`` what no generator can know:

- of each customer the partition that the producer chose,
- of each group the partition of ``__consumer_offsets`` where the broker put its commits, and when it took them,
- the topic's id, which stands in the commits.

An offset is the number of records before it in its partition, as one task has sent them, and one connection. A checksum
of the keys, values, partitions and offsets of all records is recorded, too, so that what is made again is known to be
what the broker had; ``tests/live/test_spark.py`` compares the rows themselves with those of a broker that it starts.
Timestamps of orders are not made again: all have that of the first commit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError, listed
from kafkalearn.base.files import data_directory
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.offsets.records import encode_key, encode_value
from kafkalearn.spark.data.generate import generate_group_ids, generate_orders
from kafkalearn.spark.lag import log_ends
from kafkalearn.spark.offsets import decode_offsets
from kafkalearn.spark.real_topic import ORDERS, KafkaTopics, topics_of

ORDER_COUNT, CUSTOMER_COUNT, PARTITION_COUNT = 1_000_000, 10_000, 6
GROUP_COUNT, OFFSETS_PARTITION_COUNT = 10_000, 50
SEED = 42
SLOW_EACH, MOST_BEHIND = 10, 50_000
FILE = "company.json"


def company_orders(spark: SparkSession) -> DataFrame:
    """A million orders of ten thousand customers, some of whom order much: ``key`` and ``value``, bytes.

    They are in one task, so that they are sent in this order. Nothing is kept.
    """
    orders = generate_orders(spark, ORDER_COUNT, PARTITION_COUNT, CUSTOMER_COUNT, exponent=0.8, seed=SEED)
    return orders.select("key", "value").coalesce(1)


def company_commits(spark: SparkSession, ends: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """What each of ten thousand groups commits: an offset for each partition of ``orders``, whose log ends are given.

    Nine groups in ten have read all; the tenth lags in one partition, as `behind` says.
    """
    groups = [row.group_id for row in generate_group_ids(spark, GROUP_COUNT, SEED).collect()]
    return {
        group: tuple(end - behind(number, at) for at, end in enumerate(ends)) for number, group in enumerate(groups)
    }


def behind(number: int, partition: int) -> int:
    """How many records the group of this number has yet to read of a partition.

    >>> behind(10, 1), behind(10, 2), behind(11, 1)
    (29190, 0, 0)
    """
    is_slow = number % SLOW_EACH == 0 and number // SLOW_EACH % PARTITION_COUNT == partition
    return number * 7919 % MOST_BEHIND if is_slow else 0


def ends_of(orders: DataFrame) -> list[int]:
    """The log end of each partition of ``orders``, by its records; so many rows come to this Python."""
    ends = {row.partition: row.log_end for row in log_ends(orders).collect()}
    return [ends.get(at, 0) for at in range(PARTITION_COUNT)]


def company_topics(spark: SparkSession, address: str | None, jars: Iterable[Path] = ()) -> KafkaTopics | RemadeTopics:
    """The company's topics on a broker; without an address those that are made again.

    Parameters
    ----------
    spark, address, jars
        As in `kafkalearn.spark.real_topic.topics_of`.
    """
    if address is not None:
        topics = topics_of(spark, address, jars)
        assert isinstance(topics, KafkaTopics)
        return topics
    return RemadeTopics(spark, json.loads((data_directory("real-kafka") / "topics" / FILE).read_text(encoding="utf-8")))


class RemadeTopics:
    """The company's topics made again, from what `recording_of` has of a real broker.

    Parameters
    ----------
    spark : SparkSession
        Where they are made.
    recording : mapping
        As `recording_of` returns it.
    """

    def __init__(self, spark: SparkSession, recording: Mapping[str, Any]) -> None:
        """Remember it; nothing is made yet."""
        self.spark, self.recording = spark, recording

    def read(self, topic: str, partition_count: int, way: str | None = None) -> DataFrame:
        """All records of a topic, with the columns of Spark's Kafka source.

        Raises
        ------
        KafkaLearnError
            If it is neither of the two, or has another number of partitions.
        """
        made = {ORDERS: (PARTITION_COUNT, self._orders), OFFSETS_TOPIC: (OFFSETS_PARTITION_COUNT, self._offsets)}
        if topic not in made:
            raise KafkaLearnError(f"no topic {topic!r} is recorded of the company; there are {listed(made)}")
        count, make = made[topic]
        if partition_count != count:
            raise KafkaLearnError(f"{topic} has {count} partitions here, got partition_count={partition_count!r}")
        return make()

    def write(self, records: DataFrame, topic: str) -> None:
        """Nothing is sent: the recording knows what these records became.

        Raises
        ------
        KafkaLearnError
            If they are not the records that were sent to it.
        """
        if topic != ORDERS or checksum(records, "key", "value") != self.recording["sent"]:
            raise KafkaLearnError(f"other records were sent to {topic!r} there; these can be sent to a real Kafka only")

    def _orders(self) -> DataFrame:
        sent = company_orders(self.spark).withColumn("number", sf.monotonically_increasing_id())  # in one task: 0, 1, 2
        customer = sf.substring("key", len("user-") + 1, 20).cast("string").cast("int")
        rows = sent.select("*", _listed(self.recording["customers"], customer - 1).alias("partition"))
        offset = sf.row_number().over(Window.partitionBy("partition").orderBy("number")) - 1
        return _as_source(rows.withColumn("offset", offset), ORDERS, sf.lit(self.recording["began_ms"]))

    def _offsets(self) -> DataFrame:
        recording = self.recording
        next_offset = [0] * OFFSETS_PARTITION_COUNT
        rows = []
        commits = company_commits(self.spark, recording["ends"])
        for (group, offsets), at, later_ms in zip(
            commits.items(), recording["groups"], recording["later_ms"], strict=True
        ):
            commit_ms = recording["began_ms"] + later_ms
            for number, committed in enumerate(offsets):
                key = {"group": group, "topic": ORDERS, "partition": number}
                value = {"offset": committed, "metadata": "", "commitTimestamp": commit_ms}
                value["topicId"] = recording["topic_id"]
                data = encode_key(1, key), encode_value(1, recording["value_version"], value)
                rows.append((*data, at, next_offset[at], commit_ms))
                next_offset[at] += 1
        columns = "key binary, value binary, partition int, offset bigint, ms bigint"
        return _as_source(self.spark.createDataFrame(rows, columns), OFFSETS_TOPIC, sf.col("ms"))


def recording_of(spark: SparkSession, topics: KafkaTopics) -> dict[str, Any]:
    """What `RemadeTopics` needs of a broker on which the company's orders were sent and its groups have committed.

    Raises
    ------
    KafkaLearnError
        If a customer's orders or a group's commits are in several partitions, or a group's commits have several times.
    """
    orders = topics.read(ORDERS, PARTITION_COUNT).cache()
    customer = sf.substring("key", len("user-") + 1, 20).cast("string").cast("int")
    customers = _of_each(orders.select(customer.alias("name"), "partition"))
    commits = topics.read(OFFSETS_TOPIC, OFFSETS_PARTITION_COUNT).cache()
    decoded = commits.transform(decode_offsets)
    groups = _of_each(decoded.select(sf.col("group_id").alias("name"), "partition"))
    moments = _of_each(decoded.select(sf.col("group_id").alias("name"), "commit_ms"))
    names = list(company_commits(spark, [0] * PARTITION_COUNT))
    began_ms = min(moments.values())
    one = decoded.select("topic_id", "value_version").first()
    assert one is not None
    return {
        "sent": checksum(company_orders(spark), "key", "value"),
        "orders": checksum(orders),
        "commits": checksum(commits),
        "ends": ends_of(orders),
        "topic_id": one.topic_id,
        "value_version": one.value_version,
        "began_ms": began_ms,
        "customers": [customers.get(number, -1) for number in range(1, CUSTOMER_COUNT + 1)],  # -1: has ordered nothing
        "groups": [groups[name] for name in names],
        "later_ms": [moments[name] - began_ms for name in names],
    }


def checksum(records: DataFrame, *columns: str) -> str:
    """Of all records: how many there are, and the exclusive or of a hash of each; without columns of all that counts.

    What is kept is one row.
    """
    names = columns or ("key", "value", "partition", "offset")
    row = records.select(sf.xxhash64(*names).alias("hash")).agg(sf.count("*"), sf.bit_xor("hash")).first()
    assert row is not None
    return f"{row[0]}:{row[1] % 2**64:016x}"


def _of_each(pairs: DataFrame) -> dict[Any, int]:
    """The one number of each name."""
    found = pairs.distinct().collect()
    numbers = dict(map(tuple, found))
    if len(numbers) < len(found):
        raise KafkaLearnError(f"some of these have several {pairs.columns[1]}s: this cannot be made again")
    return numbers


def _listed(numbers: Sequence[int], index: Column) -> Column:
    """The number at an index; as one text, since a literal for each would be a call to Java."""
    return sf.get(sf.split(sf.lit(" ".join(map(str, numbers))), " "), index).cast("int")


def _as_source(rows: DataFrame, topic: str, ms: Column) -> DataFrame:
    return rows.select(
        "key",
        "value",
        sf.lit(topic).alias("topic"),
        "partition",
        sf.col("offset").cast("bigint").alias("offset"),
        sf.timestamp_millis(ms).alias("timestamp"),
        sf.lit(0).alias("timestampType"),
    )
