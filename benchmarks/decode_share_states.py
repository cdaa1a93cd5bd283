"""Decoding raw records of ``__share_group_state`` on Spark, beside counting their bytes and beside one call a row.

Run it with ``python benchmarks/decode_share_states.py [--rows 10000000] [--rounds 3] [--slow-rows 200000] [--go-on]``.
Records are generated: of 1,000 share-partitions, one in 500 a snapshot, with 0 to 4 batches each. A sample of them is
decoded by the scalar functions too, and compared. The Python UDF decodes fewer rows.

Tried: an expression for each of the first four batches, in place of one over the array of all, took 78 and 86 s where
this takes 20 and 18 (2 million records in turns, beside other work); the newest states by a maximum for each column, in
place of one over a struct, took as long.
"""

from __future__ import annotations

import sys

from _measure import Way, machine, measure, parser
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.formats.share_state_log import (
    SNAPSHOT,
    UPDATE,
    SharePartition,
    StateBatch,
    batch_fields,
    encode_key,
    encode_value,
)
from kafkalearn.spark.session.spark_session import get_spark
from kafkalearn.spark.share_states import decode_share_row, decode_share_states, latest_share_states, share_lag_of

TOPIC, PLACES, SAMPLE = "A6AUkuaxQAm4bUDDQCKT_A", 1000, 500
SENT = ("group_id", "topic_id", "share_partition", "start_offset", "complete_count", "error")
"""What says how far a share group is."""


def generated(spark: SparkSession, rows: int) -> DataFrame:
    """Records whose keys and values Spark puts together from parts that the scalar codec has encoded."""
    places = [SharePartition(f"group-{number % 40}", TOPIC, number) for number in range(PLACES)]
    keys = sf.array(*(sf.lit(encode_key(UPDATE, each)[2:]) for each in places))
    epochs = {"snapshotEpoch": 0, "leaderEpoch": 0}
    tails = [
        encode_value(kind, fields | {"startOffset": 0, "stateBatches": batch_fields(batches)})
        for kind, fields in (
            (SNAPSHOT, epochs | {"stateEpoch": 2, "createTimestamp": 1, "writeTimestamp": 1}),
            (UPDATE, epochs | {"deliveryCompleteCount": 3}),
        )
        for size in range(5)
        for batches in ([StateBatch(10 * each, 10 * each + 4, 2, 1) for each in range(size)],)
    ]
    values = sf.array(*map(sf.lit, tails))
    number = sf.col("id")
    is_snapshot = (number % 500 < 1) | (number < PLACES)  # each begins with one
    kind = sf.when(is_snapshot, sf.lit(b"\x00\x00")).otherwise(sf.lit(b"\x00\x01"))
    which = sf.when(is_snapshot, number % 5).otherwise(5 + number % 5)
    return spark.range(rows).select(
        number.alias("offset"),
        sf.concat(kind, sf.get(keys, (number % PLACES).cast("int"))).alias("key"),
        sf.get(values, which.cast("int")).alias("value"),
    )


def log_ends(spark: SparkSession) -> DataFrame:
    """Where the log of each of the partitions ends."""
    number = sf.col("id").cast("int").alias("share_partition")
    return spark.range(PLACES).select(sf.lit(TOPIC).alias("topic_id"), number, sf.lit(100).alias("log_end"))


def needing(rows: DataFrame, names: tuple[str, ...]):
    """A query that needs every row's columns, and hands back one row."""
    types = {field.name: field.dataType.simpleString() for field in rows.schema}

    def need(name: str):
        if types[name] == "string":
            return sf.sum(sf.octet_length(name))
        if types[name].startswith("array"):
            return sf.bit_xor(sf.hash(name))
        return sf.bit_xor(sf.col(name).cast("bigint"))

    return lambda: rows.agg(*map(need, names)).collect()


def in_python(records: DataFrame) -> DataFrame:
    """The start offset by the scalar function, called once for each row."""

    def start(key: bytes, value: bytes | None) -> int | None:
        return decode_share_row(bytes(key), value and bytes(value)).get("start_offset")

    return records.withColumn("start_offset", sf.udf(start, "bigint")("key", "value"))


def hold_equal(decoded: DataFrame, rows: int) -> None:
    """A sample of the rows says what the scalar function says."""
    for row in decoded.where(sf.col("offset") % max(1, rows // SAMPLE) == 3).collect():
        told, wanted = row.asDict(recursive=True), decode_share_row(row.key, row.value)
        assert {name: told[name] for name in wanted} == wanted


def main(argv: list[str]) -> None:
    """Measure and print."""
    arguments = parser(__doc__.splitlines()[0], rows=10_000_000, rounds=3, warm_up=1)
    arguments.add_argument("--slow-rows", type=int, default=200_000)
    options = arguments.parse_args(argv)
    spark = get_spark("kafkalearn benchmark")
    records, few = generated(spark, options.rows), generated(spark, options.slow_rows)
    decoded = records.transform(decode_share_states)
    hold_equal(few.transform(decode_share_states), options.slow_rows)
    size = sf.length("key") + sf.length("value")
    count, progress = "count the bytes of keys and values", "decode_share_states: whose, start, what is done, errors"
    whole = tuple(name for name in decoded.columns if name not in records.columns)
    ways = [
        Way(count, lambda: records.agg(sf.sum(size)).collect()),
        Way(progress, needing(decoded, SENT)),
        Way(f"decode_share_states: all {len(whole)} columns, with the batches", needing(decoded, whole)),
        Way("decode_share_states, the newest states, their lag", lambda: (
            share_lag_of(latest_share_states(decoded), log_ends(spark)).collect())),
    ]  # fmt: skip
    measure("decode_share_states", f"decoding {options.rows:,} raw records", machine(spark), ways, options)
    slow = [
        Way(count, lambda: few.agg(sf.sum(size)).collect()),
        Way(
            "decode_share_states: whose, start, what is done, errors", needing(few.transform(decode_share_states), SENT)
        ),
        Way("Python UDF, decode_share_row", needing(in_python(few), ("start_offset",)), is_slow=True),
    ]
    print()
    measure("decode_share_states_python", f"the same with {options.slow_rows:,}", machine(spark), slow, options)


if __name__ == "__main__":
    main(sys.argv[1:])
