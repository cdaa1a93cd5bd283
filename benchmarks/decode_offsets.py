"""Decoding raw records of ``__consumer_offsets`` in Spark, beside counting their bytes and beside Kafka's own tool.

Run it with ``python benchmarks/decode_offsets.py [--rows 10000000] [--rounds 5] [--slow-rows 500000] [--go-on]``. The
Python UDF decodes fewer rows, and so does Kafka's DumpLogSegments with ``--offsets-decoder``: as many, from a segment
file that is written here. From the same file we read and decode too, and decode what was read before; the time that
Java takes to start, measured with a file of one record, is a line of its own, to be taken off. Where Kafka's jars
cannot be had, its line says so.

The limit, as processor time beside counting the bytes (10 million records, three rounds beside other work): without
Python 2.9 for what a commit says and 8.0 for all 20 columns, with Python 7.7 and 12.9. Of a thousand records 2 need
Python, yet each of the others is copied into Spark's queue and out again, too. Tried: two readings of the input, one
for the plain rows alone and one for the rest, take 5.7 and 12.7. It is not done: an input that is read twice, a topic
that grows or a query with a random part, may say two different things, and a row would be lost or there twice without
a word.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

from _dump_log import dump_log
from _measure import Way, machine, measure, parser
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.offsets import decode
from kafkalearn.spark.data.groups import offsets_records
from kafkalearn.spark.offsets.decode import DECODED_SCHEMA, OF_EVERY_RECORD, decode_offsets
from kafkalearn.spark.offsets.segments import segments_df
from kafkalearn.spark.offsets.state import latest_state
from kafkalearn.spark.session.spark_session import get_spark
from tests.formats.writing import batch

RECORDS_PER_BATCH = 10  # a commit of a few partitions
COMMIT = ("group_id", "committed_topic", "committed_partition", "committed_offset", "commit_ms", "error")


def needing(rows: DataFrame, names: tuple[str, ...]):
    """A query that needs every row's columns, and hands back one row. Sums of numbers would overflow."""
    types = {field.name: field.dataType.simpleString() for field in DECODED_SCHEMA}
    needs = [
        sf.sum(sf.octet_length(name)) if types[name] == "string" else sf.bit_xor(sf.col(name).cast("bigint"))
        for name in names
    ]
    return lambda: rows.agg(*needs).collect()


def in_python(records: DataFrame) -> DataFrame:
    """The committed offset by kafkalearn's scalar function, called once for each row."""

    def offset(key: bytes, value: bytes | None) -> int | None:
        try:
            record = decode(bytes(key), value and bytes(value))
        except KafkaLearnError:
            return None
        return (record.value or {}).get("offset")

    return records.withColumn("committed_offset", sf.udf(offset, "bigint")("key", "value"))


def segment_of(records: DataFrame, folder: Path) -> Path:
    """Records as a segment file of one partition, in batches as a coordinator writes them."""
    path = folder / "__consumer_offsets-0" / f"{0:020}.log"
    path.parent.mkdir(parents=True)
    rows = records.select(sf.unix_millis("timestamp").alias("ms"), "key", "value").toLocalIterator()
    numbered = ((offset, row.ms, row.key, row.value) for offset, row in enumerate(rows))
    with path.open("wb") as file:
        for of_batch in iter(lambda: list(islice(numbered, RECORDS_PER_BATCH)), []):
            file.write(batch(of_batch[0][0], of_batch))
    return path


def beside_kafka(spark: SparkSession, records: DataFrame, folder: Path) -> list[Way]:
    """From the bytes of a segment file to what each record says: Kafka's tool, and ours."""
    path, little = (segment_of(rows, folder / name) for name, rows in (("all", records), ("one", records.limit(1))))
    names = tuple(DECODED_SCHEMA.names)
    read = segments_df(spark, path.parent)
    before = read.select("key", "value").persist()
    before.count()
    compiled, compiled_before = (rows.transform(decode_offsets, has_python=False) for rows in (read, before))

    def kafka(of: Path):
        return lambda: subprocess.run(dump_log(of, "--offsets-decoder"), stdout=subprocess.DEVNULL, check=True)

    return [
        Way("Kafka's DumpLogSegments", kafka(path)),
        Way("Java's start, DumpLogSegments of one record", kafka(little)),
        Way("segments_df, then decode_offsets: all 20 columns", needing(read.transform(decode_offsets), names)),
        Way("segments_df, then decode_offsets without Python: all 20 columns", needing(compiled, names)),
        Way("decode_offsets of what was read before: all 20 columns", needing(before.transform(decode_offsets), names)),
        Way("the same without Python", needing(compiled_before, names)),
    ]


def main(argv: list[str]) -> None:
    """Measure and print."""
    arguments = parser(__doc__.splitlines()[0], rows=10_000_000, rounds=5, warm_up=2)
    arguments.add_argument("--slow-rows", type=int, default=500_000)
    options = arguments.parse_args(argv)
    spark = get_spark("kafkalearn benchmark")
    records = offsets_records(spark, options.rows)
    few = offsets_records(spark, options.slow_rows)
    decoded, compiled = records.transform(decode_offsets), records.transform(decode_offsets, has_python=False)
    size = sf.length("key") + sf.coalesce(sf.length("value"), sf.lit(0))
    ways = [
        Way("count the bytes of keys and values", lambda: records.agg(sf.sum(size)).collect()),
        Way("decode_offsets: what keys say", needing(decoded, OF_EVERY_RECORD)),
        Way("decode_offsets: what a commit says, and errors", needing(decoded, COMMIT)),
        Way("decode_offsets: all 20 columns", needing(decoded, tuple(DECODED_SCHEMA.names))),
        Way("decode_offsets without Python: what a commit says, and errors", needing(compiled, COMMIT)),
        Way("decode_offsets without Python: all 20 columns", needing(compiled, tuple(DECODED_SCHEMA.names))),
        Way("decode_offsets, then the last record of each key", lambda: decoded.transform(latest_state).count()),
    ]
    measure("decode_offsets", f"decoding {options.rows:,} raw records", machine(spark), ways, options)
    slow = [
        Way("count the bytes of keys and values", lambda: few.agg(sf.sum(size)).collect()),
        Way("decode_offsets: what a commit says, and errors", needing(few.transform(decode_offsets), COMMIT)),
        Way("Python UDF, kafkalearn's decode", needing(in_python(few), ("committed_offset",)), is_slow=True),
    ]
    print()
    measure("decode_offsets_python", f"the same with {options.slow_rows:,} records", machine(spark), slow, options)
    print()
    with tempfile.TemporaryDirectory(prefix="kafkalearn-decode-") as name:
        ways = beside_kafka(spark, few, Path(name))
        measure("decode_offsets_kafka", f"a segment of {options.slow_rows:,} records", machine(spark), ways, options)


if __name__ == "__main__":
    main(sys.argv[1:])
