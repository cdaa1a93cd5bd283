"""Ten million sends with retries, cuts and epochs: what each producer makes of the same accidents.

A row is a burst: five records that an application sends at once, and the accident that happens to it, if any. Every
producer has the same bursts with the same accidents, so that only settings differ. `with_requests` has the producer's
side, which requests reach the leader, in which order and with which numbers; `with_log` the leader's, which of them
it writes, recognises, or refuses; `with_results` what each record ends as. All are expressions over columns: a burst
has all that its results need, so no row meets another. `kafkalearn.delivery.bursts` has the same as events of the
simulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.delivery.bursts import BURST, BURST_PRODUCERS, Accident, check_producer
from kafkalearn.delivery.model import NETWORK_EXCEPTION, TIMEOUT, ProducerSettings
from kafkalearn.log.sequences import LAST_SEQUENCE, window_of
from kafkalearn.replication.events import NONE
from kafkalearn.spark.columns import quotient, rule
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.generate import hash_of
from kafkalearn.spark.delivery import result_column

PIECE_COUNT = 16
CUTS, DEATHS, TIMES_OVER = 60, 10, 10
"""Of a thousand bursts, those in which the connection breaks, the leader dies, the first batch's time is over."""
AGAIN_ONE_IN = 4
"""Of so many cuts one is followed by a second."""

_ACCIDENT = "struct<arrived:int,answered:int,copied:int,arrived_again:int,answered_again:int,is_time_over:boolean>"
_SETTINGS = "struct<acks:string,retries:int,max_in_flight:int,is_idempotent:boolean,puts_aside:boolean>"
_NUMBERS = "array<int>"


def bursts(
    spark: SparkSession,
    size: str | int = "class",
    *,
    seed: int = SEED,
    producers: Mapping[str, ProducerSettings] = BURST_PRODUCERS,
) -> DataFrame:
    """Bursts of five sends, the same ones for each producer, and what happens to them; made when they are read.

    In eight bursts of a hundred something happens. Mostly the connection breaks, sometimes twice; one accident in
    eight is the death of the leader, one in eight a first batch whose time is over.

    Parameters
    ----------
    spark, size, seed
        As in `kafkalearn.spark.data.datasets.group_ids`; a record is a row there, and bursts are made whole for all.
    producers : mapping of str to ProducerSettings
        As `kafkalearn.delivery.bursts.check_producer` allows them.

    Returns
    -------
    DataFrame
        ``burst``, ``producer``, its ``settings``, and ``accident``, with the fields of
        `kafkalearn.delivery.bursts.Accident`; null: nothing happens.

    Raises
    ------
    KafkaLearnError
        If a producer is not allowed, or there is none.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = bursts(get_spark(), 70)
    >>> rows.count(), rows.where("burst = 0").count()
    (14, 7)
    """
    if not producers:
        raise KafkaLearnError("producers is empty: give settings by name, or leave it away")
    for each in producers.values():
        check_producer(each)
    names, settings = sf.array(*map(sf.lit, producers)), sf.array(*map(_settings, producers.values()))
    burst, at = quotient(sf.col("id"), len(producers)), (sf.col("id") % len(producers) + 1).cast("int")
    burst_count = -(-rows_of(size) // (BURST * len(producers)))
    return (
        spark.range(0, burst_count * len(producers), 1, PIECE_COUNT)
        .select(burst.alias("burst"), at.alias("at"))
        .select(
            "burst",
            sf.element_at(names, sf.col("at")).alias("producer"),
            sf.element_at(settings, sf.col("at")).alias("settings"),
            _accident(seed, sf.col("burst")).alias("accident"),
        )
    )


def _settings(settings: ProducerSettings) -> Column:
    return sf.struct(
        sf.lit(str(settings.acks)).alias("acks"),
        sf.lit(settings.retries).alias("retries"),
        sf.lit(settings.max_in_flight).alias("max_in_flight"),
        sf.lit(settings.is_idempotent).alias("is_idempotent"),
        sf.lit(settings.puts_failures_aside).alias("puts_aside"),
    )


def _accident(seed: int, burst: Column) -> Column:
    def drawn(purpose: str, below: Column | int) -> Column:
        most = sf.lit(below) if isinstance(below, int) else below
        return sf.pmod(hash_of(seed, purpose, burst), most).cast("int")

    def answered(purpose: str, arrived: Column) -> Column:
        return drawn(purpose, sf.least(arrived, sf.lit(BURST - 1)) + 1)

    chance = drawn("accident", 1000)
    arrived, again = drawn("arrived", BURST + 1), drawn("arrived again", BURST + 1)
    dies = (chance >= CUTS) & (chance < CUTS + DEATHS)
    is_time_over = (chance >= CUTS + DEATHS) & (chance < CUTS + DEATHS + TIMES_OVER)
    is_again = (chance < CUTS) & (chance % AGAIN_ONE_IN == 0)
    fields = {
        "arrived": sf.when(is_time_over, arrived % 2).otherwise(arrived),
        "answered": sf.when(is_time_over, 0).otherwise(answered("answered", arrived)),
        "copied": sf.when(dies, drawn("copied", arrived + 1)),
        "arrived_again": sf.when(is_again, again),
        "answered_again": sf.when(is_again, answered("answered again", again)),
        "is_time_over": is_time_over,
    }
    happens = chance < CUTS + DEATHS + TIMES_OVER
    return sf.when(happens, sf.struct(*(column.cast(_type(name)).alias(name) for name, column in fields.items())))


def _type(name: str) -> str:
    return "boolean" if name.startswith("is_") else "int"


def accident_of(row: Any) -> Accident | None:
    """A collected ``accident``, as `kafkalearn.delivery.bursts.burst_events` takes it.

    >>> from pyspark.sql import Row
    >>> accident_of(
    ...     Row(arrived=2, answered=0, copied=None, arrived_again=1, answered_again=0, is_time_over=False)
    ... )
    Accident(arrived=2, answered=0, copied=None, again=(1, 0), is_time_over=False)
    """
    if row is None:
        return None
    again = None if row["arrived_again"] is None else (row["arrived_again"], row["answered_again"])
    return Accident(row["arrived"], row["answered"], row["copied"], again, row["is_time_over"])


# The producer's side.


@rule({"accident": (_ACCIDENT,), "settings": (_SETTINGS,)}, remedy="give the rows of kafkalearn.spark.bursts.bursts")
def with_requests(df: DataFrame) -> DataFrame:
    """What reaches the log that is left, in order, and what the callbacks get.

    Parameters
    ----------
    df : DataFrame
        As `bursts` makes them.

    Returns
    -------
    DataFrame
        With ``numbers``, the records that arrive, each as often as it does; ``epochs`` and ``sequences``, the numbers
        on them, null without idempotence; ``cut_off``, records that only the leader had which died; ``callbacks``, the
        last error of each of the five, or ``"NONE"``. Row by row: nothing is kept.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = bursts(get_spark(), "small").where("accident.arrived = 2 AND accident.answered = 0")
    >>> rows = rows.where("accident.copied IS NULL AND accident.arrived_again IS NULL")
    >>> rows = rows.where("producer IN ('acks=1', 'acks=all, 1 in flight', 'acks=all, idempotent')")
    >>> for row in rows.transform(with_requests).limit(3).collect():
    ...     print(row.numbers)
    [1, 2, 5, 4, 3, 2, 1]
    [1, 1, 2, 3, 4, 5]
    [1, 2, 1, 2, 3, 4, 5]

    References
    ----------
    As `kafkalearn.delivery.bursts.burst_events`; Apache Kafka 4.3, the clients' ``RecordAccumulator.reenqueue``.
    """
    accident, acks = sf.col("accident"), sf.col("settings.acks")
    nothing, is_time_over = accident.isNull(), accident["is_time_over"]
    is_idempotent = sf.col("settings.is_idempotent")
    is_retried = (sf.col("settings.retries") > 0) & (acks != "0")
    is_aside = sf.col("settings.puts_aside") & is_retried
    all_of_them, none = _array(range(1, BURST + 1)), sf.array().cast(_NUMBERS)

    cut = _first_cut(accident, acks)
    rows = df.withColumn("cut", cut).withColumn("flying", _flying(all_of_them, sf.col("cut")))
    rows = rows.withColumn("left", sf.concat(_back("flying", is_retried), _behind(all_of_them, sf.col("cut"))))
    rows = rows.withColumn("cut_again", _second_cut(accident, acks))
    rows = rows.withColumn("flying_again", _flying(sf.col("left"), sf.col("cut_again")))
    again = sf.concat(
        sf.slice("left", sf.lit(1), sf.col("cut_again.arrived")),
        _back("flying_again", is_retried),
        _behind(sf.col("left"), sf.col("cut_again")),
    )
    first_alone = sf.slice(_array([1]), sf.lit(1), accident["arrived"])
    after = sf.concat(_array(range(2, BURST + 1)), sf.when(is_aside, _array([1])).otherwise(none))
    numbers = (
        sf.when(nothing, all_of_them)
        .when(is_time_over, sf.concat(first_alone, after))
        .when(sf.col("cut_again").isNull(), sf.concat(_written_before(all_of_them), sf.col("left")))
        .otherwise(sf.concat(_written_before(all_of_them), again))
    )
    failed = (
        sf.when(nothing | (acks == "0"), none)
        .when(is_time_over, sf.when(is_aside, none).otherwise(_array([1])))
        .when(is_retried, none)
        .otherwise(sf.concat(sf.col("flying"), sf.coalesce("flying_again", none)))
    )
    error = sf.when(is_retried, TIMEOUT).otherwise(NETWORK_EXCEPTION)
    cut_off = sf.slice(all_of_them, sf.col("cut.copied") + 1, sf.col("cut.arrived") - sf.col("cut.copied"))
    rows = rows.withColumns({"numbers": numbers, "failed": failed})
    epochs = (
        sf.when(nothing, _array([0] * BURST))
        .when(is_time_over, sf.concat(_repeat(0, sf.size(first_alone)), _repeat(1, sf.size(after))))
        .otherwise(_repeat(0, sf.size("numbers")))
    )
    # After an epoch was raised the second record has 0, and the first, if it comes again, what follows the last.
    counted = sf.slice(_array(range(BURST)), sf.lit(1), sf.size(after))
    sequences = (
        sf.when(nothing, _array(range(BURST)))
        .when(is_time_over, sf.concat(sf.slice(_array([0]), sf.lit(1), accident["arrived"]), counted))
        .otherwise(sf.transform("numbers", lambda number: number - 1))
    )
    callbacks = sf.array(
        *(sf.when(sf.array_contains("failed", at), error).otherwise(NONE) for at in range(1, BURST + 1))
    )
    return rows.select(
        *df.columns,
        "numbers",
        sf.when(is_idempotent, epochs).alias("epochs"),
        sf.when(is_idempotent, sequences).alias("sequences"),
        sf.when(nothing | is_time_over, none).otherwise(cut_off).alias("cut_off"),
        callbacks.alias("callbacks"),
    )


def _array(numbers: Any) -> Column:
    return sf.array(*map(sf.lit, numbers)).cast(_NUMBERS)


def _repeat(number: int, count: Column) -> Column:
    return sf.array_repeat(sf.lit(number), count)


def _window() -> Column:
    return sf.least(sf.col("settings.max_in_flight"), sf.lit(BURST))


def _first_cut(accident: Column, acks: Column) -> Column:
    """What has arrived, was answered and is copied as it happens, and how many are in flight behind the answered."""
    window, copied = _window(), accident["copied"]
    waits = (acks == "all") & copied.isNotNull()  # the leader answers what is copied, and works on one more at most
    answered = (
        sf.when(acks == "0", accident["arrived"])  # there are no answers: what has arrived is done with
        .when(waits, sf.least(accident["answered"], copied))
        .otherwise(accident["answered"])
    )
    most = sf.when(waits, copied + 1).otherwise(BURST)
    arrived = sf.least(accident["arrived"], most, answered + sf.when(acks == "0", 0).otherwise(window))
    copies = sf.coalesce(sf.least(copied, arrived), arrived)
    return _cut(~accident["is_time_over"], arrived, answered, copies, window)


def _second_cut(accident: Column, acks: Column) -> Column:
    """The same of what was left; an idempotent producer sends again only what is next in line."""
    window, left = _window(), sf.size("left")
    answered = sf.least(sf.when(acks == "0", accident["arrived_again"]).otherwise(accident["answered_again"]), left)
    is_next_alone = sf.col("settings.is_idempotent") & (answered < window - 1)
    in_flight = sf.when(is_next_alone, 1).otherwise(window)
    most = answered + sf.when(acks == "0", 0).otherwise(in_flight)
    arrived = sf.least(accident["arrived_again"], left, most)
    return _cut(accident["arrived_again"].isNotNull(), arrived, answered, arrived, in_flight)


def _cut(happens: Column, arrived: Column, answered: Column, copied: Column, in_flight: Column) -> Column:
    numbers = {"arrived": arrived, "answered": answered, "copied": copied, "in_flight": in_flight}
    return sf.when(happens, sf.struct(*(each.cast("int").alias(name) for name, each in numbers.items())))


def _flying(order: Column, cut: Column) -> Column:
    return sf.slice(order, cut["answered"] + 1, cut["in_flight"])


def _behind(order: Column, cut: Column) -> Column:
    return sf.slice(order, cut["answered"] + cut["in_flight"] + 1, sf.lit(BURST))


def _back(flying: str, is_retried: Column) -> Column:
    """What fails together goes back one by one, each to the front; an idempotent producer puts it in its place."""
    is_turned = ~sf.col("settings.is_idempotent")
    back = sf.when(is_turned, sf.reverse(flying)).otherwise(sf.col(flying))
    return sf.when(is_retried, back).otherwise(sf.array().cast(_NUMBERS))


def _written_before(all_of_them: Column) -> Column:
    return sf.slice(all_of_them, sf.lit(1), sf.col("cut.copied"))


# The leader's side.


@rule(dict.fromkeys(("numbers", "epochs", "sequences"), (_NUMBERS,)), remedy="with_requests makes them")
def with_log(df: DataFrame) -> DataFrame:
    """What a leader writes of the requests that reach it, one after the other.

    Parameters
    ----------
    df : DataFrame
        With ``numbers``, ``epochs`` and ``sequences``, as `with_requests` makes them: arrays of one length, a batch of
        one record each. Null ``sequences``: no idempotent producer, and all is written.

    Returns
    -------
    DataFrame
        With ``log``, the numbers of the records in it; ``duplicate_count``, batches that the leader remembers and
        does not write again; ``refused_count``, those whose number leaves a gap or whose epoch is old. Row by row:
        nothing is kept.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> arrays = "array(0,1,2,3,4,0,5,0,1,7) numbers, array_repeat(0, 10) epochs, array(0,1,2,3,4,0,5,0,1,7) sequences"
    >>> row = get_spark().sql(f"SELECT {arrays}").transform(with_log).first()
    >>> row.log, row.duplicate_count, row.refused_count
    ([0, 1, 2, 3, 4, 5], 2, 2)

    References
    ----------
    As `kafkalearn.log.sequences.judge` and `kafkalearn.log.sequences.remember`.
    """
    start = _memory(sf.lit(-1), sf.lit(-1), sf.lit(0), sf.array().cast(_NUMBERS), sf.lit(0), sf.lit(0))
    arrivals = sf.arrays_zip("numbers", "epochs", "sequences")
    plain = _memory(sf.lit(-1), sf.lit(-1), sf.lit(0), sf.col("numbers"), sf.lit(0), sf.lit(0))
    judged = sf.when(sf.col("sequences").isNull(), plain).otherwise(sf.aggregate(arrivals, start, _judged))
    found = df.withColumn("memory", judged)
    counts = {name: sf.col(f"memory.{name}") for name in ("log", "duplicate_count", "refused_count")}
    return found.withColumns(counts).drop("memory")


def _memory(epoch: Column, last: Column, known: Column, log: Column, duplicates: Column, refused: Column) -> Column:
    """What a leader knows of a producer: its epoch, its last number, how many batches it remembers."""
    return sf.struct(
        epoch.cast("int").alias("epoch"),
        last.cast("bigint").alias("last"),
        known.cast("int").alias("known"),
        log.alias("log"),
        duplicates.cast("int").alias("duplicate_count"),
        refused.cast("int").alias("refused_count"),
    )


def _judged(memory: Column, batch: Column) -> Column:
    """The memory after one more batch."""
    sequence, epoch, numbers = batch["sequences"].cast("bigint"), batch["epochs"], LAST_SEQUENCE + 1
    is_known, is_same = memory["known"] > 0, memory["epoch"] == epoch
    back = sf.pmod(memory["last"] - sequence, sf.lit(numbers))
    is_duplicate = is_known & is_same & (back < memory["known"])
    follows = sequence == (memory["last"] + 1) % numbers
    is_written = ~is_known | (is_same & follows) | ((epoch > memory["epoch"]) & (sequence == 0))
    is_written = is_written & ~is_duplicate
    known = sf.when(is_known & is_same, sf.least(memory["known"] + 1, sf.lit(window_of()))).otherwise(1)
    return _memory(
        sf.when(is_written, epoch).otherwise(memory["epoch"]),
        sf.when(is_written, sequence).otherwise(memory["last"]),
        sf.when(is_written, known).otherwise(memory["known"]),
        sf.when(is_written, sf.array_append(memory["log"], batch["numbers"])).otherwise(memory["log"]),
        memory["duplicate_count"] + is_duplicate.cast("int"),
        memory["refused_count"] + (~is_written & ~is_duplicate).cast("int"),
    )


# What each record ends as.


@rule({"log": (_NUMBERS,), "callbacks": ("array<string>",)}, remedy="with_requests and with_log make them")
def with_results(df: DataFrame) -> DataFrame:
    """What each of a burst's records ends as.

    Parameters
    ----------
    df : DataFrame
        With ``log`` and ``callbacks``.

    Returns
    -------
    DataFrame
        With ``results``, for each of the five a name in `kafkalearn.delivery.RESULTS`. Row by row: nothing is kept.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> arrays = "array(2, 1, 2, 4, 3) log, array('NONE', 'NONE', 'NONE', 'NONE', 'NONE') callbacks"
    >>> get_spark().sql(f"SELECT {arrays}").transform(with_results).first().results
    ['out of order', 'doubled', 'out of order', 'safe', 'lost']

    References
    ----------
    As `kafkalearn.delivery.record_results`; `kafkalearn.spark.delivery.results_of` has the same of any two tables.
    """
    numbers = range(1, BURST + 1)
    places = sf.array(*(sf.array_position("log", number) for number in numbers))  # from 1; 0: it is not there
    results = []
    for number in numbers:
        place = sf.get("places", sf.lit(number - 1))
        copy_count = sf.size("log") - sf.size(sf.array_remove("log", number))
        later = [_there(sf.get("places", sf.lit(each - 1))) for each in numbers if each > number]
        first_later = sf.least(*later) if len(later) > 1 else later[0] if later else sf.lit(None).cast("bigint")
        is_overtaken = sf.coalesce(place > first_later, sf.lit(False))
        results.append(result_column(sf.get("callbacks", sf.lit(number - 1)), copy_count, is_overtaken))
    return df.withColumn("places", places).withColumn("results", sf.array(*results)).drop("places")


def _there(place: Column) -> Column:
    return sf.when(place > 0, place)


@rule({"burst": ("bigint",), "producer": ("string",), "results": ("array<string>",)}, remedy="with_results makes them")
def record_rows(df: DataFrame) -> DataFrame:
    """A row for each record of the bursts: ``burst``, ``producer``, ``number`` from 1, and its ``result``.

    `kafkalearn.spark.delivery.result_counts` counts them. Row by row: nothing is kept.

    >>> from kafkalearn.spark.session import get_spark
    >>> rows = get_spark().sql("SELECT 7L burst, 'mine' producer, array('safe', 'lost') results")
    >>> [tuple(row) for row in rows.transform(record_rows).collect()]
    [(7, 'mine', 1, 'safe'), (7, 'mine', 2, 'lost')]
    """
    # An inner explode would have Spark filter by the array first, and work all of it out twice, in one expression.
    rows = df.select("burst", "producer", sf.posexplode_outer("results").alias("place", "result"))
    return rows.select("burst", "producer", (sf.col("place") + 1).alias("number"), "result")
