"""Ten million records of ``__share_group_state`` decoded on Spark, the newest states and the lag; equal to the scalar.

    python -m benchmarks.decode_share_states [ROWS]

Records are generated: of 1,000 share-partitions, one in 500 a snapshot, with 0 to 4 batches each. A sample of them is
decoded by the scalar functions too, and compared. Printed: seconds, and millions of rows a second.
"""

from __future__ import annotations

import sys
from time import perf_counter

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
from kafkalearn.spark.session import get_spark
from kafkalearn.spark.share_states import decode_share_row, decode_share_states, latest_share_states, share_lag_of

TOPIC, PLACES, ROWS, SAMPLE = "A6AUkuaxQAm4bUDDQCKT_A", 1000, 10_000_000, 500


def generated(spark: SparkSession, count: int) -> DataFrame:
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
    is_snapshot = number % 500 < 1
    first = number < PLACES  # each begins with a snapshot
    kind = sf.when(is_snapshot | first, sf.lit(b"\x00\x00")).otherwise(sf.lit(b"\x00\x01"))
    which = sf.when(is_snapshot | first, number % 5).otherwise(5 + number % 5)
    return spark.range(count).select(
        number.alias("offset"),
        sf.concat(kind, sf.get(keys, (number % PLACES).cast("int"))).alias("key"),
        sf.get(values, which.cast("int")).alias("value"),
    )


def main(words: list[str]) -> int:
    """Decode, take the newest, join the log ends; print what each took."""
    count = int(words[0]) if words else ROWS
    spark = get_spark()
    rows = generated(spark, count)
    decoded = rows.transform(decode_share_states)
    for row in decoded.where(sf.col("offset") % max(1, count // SAMPLE) == 3).collect():
        told = row.asDict(recursive=True)
        assert {name: told[name] for name in decode_share_row(row.key, row.value)} == decode_share_row(
            row.key, row.value
        )
    ends = spark.range(PLACES).select(
        sf.lit(TOPIC).alias("topic_id"), sf.col("id").cast("int").alias("share_partition"), sf.lit(100).alias("log_end")
    )
    ways = {
        "generated alone": rows,
        "decoded": decoded,
        "newest states and lag": share_lag_of(latest_share_states(decoded), ends),
    }
    for name, df in ways.items():
        began = perf_counter()
        df.write.format("noop").mode("overwrite").save()
        took = perf_counter() - began
        print(f"{name}: {count:,} rows in {took:.1f} s, {count / took / 1e6:.2f} million a second")
    found = ways["newest states and lag"].count()
    print(f"share-partitions: {found:,}; errors: {decoded.where('error IS NOT NULL').count()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
