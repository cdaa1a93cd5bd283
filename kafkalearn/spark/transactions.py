"""A topic with transactions, tens of millions of its records at once: who held readers back, and how long.

Rows have the columns of Spark's Kafka source and, beside them, what `kafkalearn.spark.offsets.segments_df` reads of a
batch: ``producer_id``, ``is_transactional``, and ``control``, which is COMMIT or ABORT for a marker and null for a
record. Spark's Kafka source leaves markers out, so it does not do alone; the segment files do.

`transactions_of` finds each transaction of each partition, `stable_offsets` the last stable offset over time and who
holds it, `waits` how long each record was hidden from a ``read_committed`` reader. `kafkalearn.transactions` says the
same for one partition, request by request; the tests compare both.

Times are taken from ``timestamp``, as the log has them: a topic with ``message.timestamp.type=LogAppendTime``, where
they rise with the offsets.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from kafkalearn.base.checks import whole_number
from kafkalearn.base.trace import Trace
from kafkalearn.spark.columns import NUMBERS, TEXT, WHOLE_NUMBERS, quotient, rule
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import FIRST_ORDER_MS, SEED, rows_of
from kafkalearn.spark.data.generate import hash_of
from kafkalearn.spark.session.interrupts import Update
from kafkalearn.transactions.model import Cluster, Event
from kafkalearn.transactions.reader import written_ms

__all__ = [
    "log_rows",
    "stable_offsets",
    "transactional_topic",
    "transactions_of",
    "waits",
]

COMMITTED, ABORTED, OPEN = "COMMIT", "ABORT", "OPEN"
"""How a transaction ended: the kind of its marker, or that it has none."""

PARTITION = ("topic", "partition")
PRODUCER = (*PARTITION, "producer_id")

VERSION = 1
TOPIC, PARTITION_COUNT, PRODUCER_COUNT = "orders", 12, 8
FRIDAY_NOON_MS = FIRST_ORDER_MS + 36 * 3_600_000
RECORD_MS = 300  # between two records of a partition
ROUND = 50  # records between two markers of a producer
BLOCK, SLOW_ONE_IN = 20, 97  # rounds; one block of so many of a producer is a single transaction
ABORTED_PERCENT = 4
LOST_PARTITION, LOST_PRODUCER, LOST_SHARE = 7, 3, 0.1
"""Where a producer is gone for good, and after which share of the log."""

_REMEDY = "read segment files with kafkalearn.spark.offsets.segments_df, or make rows with transactional_topic"

_ROWS = {
    "topic": TEXT,
    "partition": NUMBERS,
    "offset": WHOLE_NUMBERS,
    "timestamp": ("timestamp",),
    "producer_id": WHOLE_NUMBERS,
    "is_transactional": ("boolean",),
    "control": TEXT,
}


def _ms(column: str = "timestamp") -> Column:
    return sf.unix_millis(column)


@rule(_ROWS, remedy=_REMEDY)
def transactions_of(rows: DataFrame) -> DataFrame:
    """Each transaction of each partition: where and when it began and ended there, how, and with how many records.

    Parameters
    ----------
    rows : DataFrame
        As the module says. A transaction whose first records are not among the rows is not found.

    Returns
    -------
    DataFrame
        ``topic``, ``partition``, ``producer_id``, ``first_offset``, ``first_ms``, ``record_count``, ``outcome``
        (COMMIT, ABORT or OPEN), ``marker_offset`` and ``marker_ms`` (null where it is open). Nothing is kept whole: one
        worker has the records of a producer in a partition in order, about 150 bytes each, on disk if need be.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = get_spark().sql('''
    ...     SELECT 'orders' topic, 0 partition, id offset, timestamp_millis(1000 * id) timestamp, producer producer_id,
    ...            true is_transactional, control
    ...     FROM VALUES (0L, 7L, NULL), (1L, 8L, NULL), (2L, 7L, NULL), (3L, 7L, 'ABORT') AS t(id, producer, control)
    ... ''')
    >>> columns = ["producer_id", "first_offset", "record_count", "outcome", "marker_offset"]
    >>> [tuple(row) for row in rows.transform(transactions_of).select(columns).orderBy("first_offset").collect()]
    [(7, 0, 2, 'ABORT', 3), (8, 1, 1, 'OPEN', None)]
    """
    is_marker = sf.col("control").isin(COMMITTED, ABORTED)
    mine = rows.where(sf.col("is_transactional") & (sf.col("control").isNull() | is_marker))
    before = Window.partitionBy(*PRODUCER).orderBy("offset").rowsBetween(Window.unboundedPreceding, -1)
    number = sf.coalesce(sf.sum(is_marker.cast("bigint")).over(before), sf.lit(0))
    data, marker = sf.col("control").isNull(), sf.col("control").isNotNull()
    found = (
        mine.select(*PRODUCER, "offset", "control", _ms().alias("at_ms"), number.alias("number"))
        .groupBy(*PRODUCER, "number")
        .agg(
            sf.min(sf.when(data, sf.col("offset"))).alias("first_offset"),
            sf.min(sf.when(data, sf.col("at_ms"))).alias("first_ms"),
            sf.count_if(data).alias("record_count"),
            sf.coalesce(sf.max("control"), sf.lit(OPEN)).alias("outcome"),
            sf.max(sf.when(marker, sf.col("offset"))).alias("marker_offset"),
            sf.max(sf.when(marker, sf.col("at_ms"))).alias("marker_ms"),
        )
    )
    # A marker where nothing was open ends no transaction: one that came twice, or of a partition without a record.
    return found.where("record_count > 0").drop("number")


@rule(_ROWS, remedy=_REMEDY)
def stable_offsets(rows: DataFrame, every_ms: int, transactions: DataFrame | None = None) -> DataFrame:
    """End, last stable offset, and who holds it, of each partition at regular moments.

    Parameters
    ----------
    rows : DataFrame
        As the module says.
    every_ms : int
        The moments: multiples of it, from the first at which a partition has a record to the last of all rows.
    transactions : DataFrame, optional
        Those of `transactions_of`, if they are there already.

    Returns
    -------
    DataFrame
        ``topic``, ``partition``, ``at_ms``, ``end_offset``, ``stable_offset``, ``held_back`` (offsets between the two),
        ``held_by`` (the producer id of the oldest open transaction; null: none is open) and ``held_ms``, its age. What
        is written at a moment is part of it. Nothing is kept whole: one worker has the moments of a partition in order,
        on disk if need be; an open transaction is a row for each of its moments.
    """
    whole_number("every_ms", every_ms, at_least=1)
    found = rows.transform(transactions_of) if transactions is None else transactions
    moment = quotient(_ms() + (every_ms - 1), every_ms)
    ends = rows.groupBy(*PARTITION, moment.alias("moment")).agg((sf.max("offset") + 1).alias("new_end"))
    last = ends.agg(sf.max("moment").alias("last_moment"))
    grid = (
        ends.groupBy(*PARTITION)
        .agg(sf.min("moment").alias("first_moment"))
        .crossJoin(sf.broadcast(last))
        .select(*PARTITION, sf.explode(sf.sequence("first_moment", "last_moment")).alias("moment"))
    )
    by_time = Window.partitionBy(*PARTITION).orderBy("moment")
    end = sf.last("new_end", ignorenulls=True).over(by_time)
    ends = grid.join(ends, [*PARTITION, "moment"], "left").select(*PARTITION, "moment", end.alias("end_offset"))
    # A transaction is open at the moments from its first record to before its marker: most at none.
    opened = quotient(sf.col("first_ms") + (every_ms - 1), every_ms)
    closed = quotient(sf.col("marker_ms") + (every_ms - 1), every_ms) - 1
    spans = found.crossJoin(sf.broadcast(last)).withColumn("closed", sf.coalesce(closed, "last_moment"))
    spans = spans.withColumn("opened", opened).where("opened <= closed")
    oldest = sf.min(sf.struct("first_offset", "producer_id", "first_ms")).alias("oldest")
    held = (
        spans.select(*found.columns, sf.explode(sf.sequence("opened", "closed")).alias("moment"))
        .groupBy(*PARTITION, "moment")
        .agg(oldest)
    )
    at_ms = sf.col("moment") * every_ms
    stable = sf.coalesce(sf.col("oldest.first_offset"), sf.col("end_offset"))
    return ends.join(held, [*PARTITION, "moment"], "left").select(
        *PARTITION,
        at_ms.alias("at_ms"),
        "end_offset",
        stable.alias("stable_offset"),
        (sf.col("end_offset") - stable).alias("held_back"),
        sf.col("oldest.producer_id").alias("held_by"),
        (at_ms - sf.col("oldest.first_ms")).alias("held_ms"),
    )


@rule(_ROWS, remedy=_REMEDY)
def waits(rows: DataFrame, transactions: DataFrame | None = None) -> DataFrame:
    """The records with ``outcome`` and ``wait_ms``: how long the log hid each from a ``read_committed`` reader.

    A record can be read once every transaction has ended that began at or before it. ``outcome`` is that of the
    record's own transaction, COMMIT where it has none; ``wait_ms`` is null where it is hidden still.

    Parameters
    ----------
    rows, transactions : DataFrame
        As for `stable_offsets`.

    Returns
    -------
    DataFrame
        ``topic``, ``partition``, ``offset``, ``producer_id``, ``outcome``, ``wait_ms``; without markers. Nothing is
        kept whole: one worker has all records of a partition in order, about 140 bytes each, on disk if need be.
    """
    found = rows.transform(transactions_of) if transactions is None else transactions
    never = sf.lit(2**62)
    begun = found.select(
        *PARTITION,
        sf.col("first_offset").alias("offset"),
        "producer_id",
        sf.coalesce("marker_ms", never).alias("ends_ms"),
        sf.col("outcome").alias("begins"),
    )
    records = rows.select(*PARTITION, "offset", "producer_id", _ms().alias("at_ms"), "is_transactional", "control")
    # A partition in one place; where a transaction begins is a row of its own, in front of its first record.
    both = records.unionByName(begun, allowMissingColumns=True).repartition(*PARTITION)
    in_turn = ("offset", sf.col("at_ms").isNotNull())
    so_far = Window.partitionBy(*PARTITION).orderBy(*in_turn)
    of_producer = Window.partitionBy(*PRODUCER).orderBy(*in_turn)
    own = sf.last("begins", ignorenulls=True).over(of_producer)
    return (
        both.withColumn("readable_ms", sf.greatest("at_ms", sf.max("ends_ms").over(so_far)))
        .withColumn("outcome", sf.when(sf.col("is_transactional"), own).otherwise(COMMITTED))
        .where("at_ms IS NOT NULL AND control IS NULL")
        .select(
            *PARTITION,
            "offset",
            "producer_id",
            "outcome",
            sf.when(sf.col("readable_ms") < never, sf.col("readable_ms") - sf.col("at_ms")).alias("wait_ms"),
        )
    )


def transactional_topic(
    spark: SparkSession, size: str | int = "class", *, seed: int = SEED, update: Update | None = None
) -> DataFrame:
    """A topic of twelve partitions from Friday noon on, in each of them eight producers with transactions.

    Beside their records are some without a transaction. Four of a hundred transactions are aborted, a few are open for
    twenty times as long as others; and in one partition a producer is gone before its transaction has ended.

    Parameters
    ----------
    spark, size, seed, update
        As in `kafkalearn.spark.data.datasets.group_ids`.

    Returns
    -------
    DataFrame
        The columns of Spark's Kafka source, and ``producer_id`` (-1: none), ``is_transactional``, ``control``.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = transactional_topic(get_spark(), "small")
    >>> rows.count(), rows.transform(transactions_of).where("outcome = 'OPEN' AND partition = 7").count() > 0
    (100000, True)
    """
    row_count = rows_of(size)
    recipe = Recipe("transactional_topic", row_count, (("seed", seed), ("v", VERSION)), bytes_per_row=12)
    return kept(spark, recipe, lambda: generate_topic(spark, row_count, seed), update)


def generate_topic(spark: SparkSession, row_count: int, seed: int) -> DataFrame:
    """The rows of `transactional_topic`: each from its number and the seed alone."""
    whole_number("row_count", row_count, at_least=1)
    partition, offset = sf.col("partition"), sf.col("offset")
    place, round_ = offset % ROUND, quotient(offset, ROUND)
    # In each round the sixth, twelfth, ... record is a producer's marker, the one before it surely its record.
    in_turn = quotient(place, 6)
    is_turn = in_turn < PRODUCER_COUNT
    is_marker_place, is_last_place = is_turn & (place % 6 == 5), is_turn & (place % 6 == 4)
    drawn = sf.pmod(hash_of(seed, "producer", sf.col("id")), sf.lit(PRODUCER_COUNT + 1))
    chosen = sf.when(is_marker_place | is_last_place, in_turn).otherwise(drawn)
    lost_round = int(row_count // PARTITION_COUNT * LOST_SHARE) // ROUND
    is_loser = (partition == LOST_PARTITION) & (sf.col("chosen") == LOST_PRODUCER)
    # Its last marker is in that round; then comes one record more.
    is_lost = is_loser & (offset > lost_round * ROUND + 6 * LOST_PRODUCER + 5)
    is_first_lost = is_lost & (round_ == lost_round + 1) & is_last_place
    numbered = quotient(round_, BLOCK) * 1_000 + partition * PRODUCER_COUNT + sf.col("chosen")
    is_slow = sf.pmod(hash_of(seed, "slow", numbered), sf.lit(SLOW_ONE_IN)) == 0
    is_slow = is_slow & ~(is_loser & (round_ == lost_round))
    is_plain = (sf.col("chosen") == PRODUCER_COUNT) | (is_lost & ~is_first_lost)
    is_aborted = sf.pmod(hash_of(seed, "outcome", sf.col("id")), sf.lit(100)) < ABORTED_PERCENT
    kind = sf.when(is_aborted, ABORTED).otherwise(COMMITTED)
    marker_key = sf.when(sf.col("control") == COMMITTED, sf.unhex(sf.lit("00000001"))).otherwise(
        sf.unhex(sf.lit("00000000"))
    )
    words = sf.concat(sf.lit("order-"), sf.col("id")).cast("binary")
    return (
        spark.range(row_count)
        .withColumn("partition", (sf.col("id") % PARTITION_COUNT).cast("int"))
        .withColumn("offset", quotient(sf.col("id"), PARTITION_COUNT))
        .withColumn("chosen", chosen)
        .withColumn("is_transactional", ~is_plain)
        .withColumn("control", sf.when(is_marker_place & ~is_slow & ~is_plain, kind))
        .select(
            sf.when(sf.col("control").isNotNull(), marker_key).alias("key"),
            sf.when(sf.col("control").isNotNull(), sf.unhex(sf.lit("000000000000"))).otherwise(words).alias("value"),
            sf.lit(TOPIC).alias("topic"),
            "partition",
            "offset",
            sf.timestamp_millis(offset * RECORD_MS + FRIDAY_NOON_MS).alias("timestamp"),
            sf.lit(1).alias("timestampType"),  # LogAppendTime
            sf.when(is_plain, sf.lit(-1))
            .otherwise(partition * PRODUCER_COUNT + sf.col("chosen"))
            .cast("bigint")
            .alias("producer_id"),
            "is_transactional",
            "control",
        )
    )


def log_rows(spark: SparkSession, trace: Trace[Cluster, Event]) -> DataFrame:
    """The logs of a run of `kafkalearn.transactions` at its end, as rows: what the queries are compared with.

    Parameters
    ----------
    spark : SparkSession
        Where the rows are made.
    trace : Trace
        A run; a partition is called ``topic-number``.

    Returns
    -------
    DataFrame
        ``topic``, ``partition``, ``offset``, ``timestamp``, ``producer_id``, ``is_transactional``, ``control``.
    """
    rows = []
    for each in trace[-1].state.partitions:
        topic, _, number = each.name.rpartition("-")
        written = written_ms(trace, each.name)
        for batch in each.batches:
            control = None if batch.kind == "data" else batch.kind
            for offset in range(batch.offset, batch.last_offset + 1):
                at_ms = written[batch.offset]
                rows.append((topic, int(number), offset, at_ms, batch.producer_id, batch.is_transactional, control))
    columns = (
        "topic string, partition int, offset bigint, at_ms bigint, producer_id bigint, is_transactional boolean, "
        "control string"
    )
    return spark.createDataFrame(rows, columns).select(
        *PARTITION, "offset", sf.timestamp_millis("at_ms").alias("timestamp"), "producer_id", "is_transactional",
        "control",
    )  # fmt: skip
