"""Real and generated partitions, read from their files and compacted on Spark: what the cleaner leaves, old tombstones
and new, aborted transactions and markers."""

import random
from collections import Counter

import pytest
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import read_disk
from kafkalearn.log import Append, Clean, Cleaned, EndTransaction, NewBatch, Roll, Settings, read_log, step
from kafkalearn.spark.compaction import HORIZON, compact, count_reasons
from kafkalearn.spark.offsets.segments import only_committed, segments_df
from tests.log.partitions import PASSES, clean_ms, logs_of
from tests.log.schedules import after, possible
from tests.recorded import recorded
from tests.segments.writing import MARKER_VALUE, write_log

pytestmark = pytest.mark.spark

NOW_MS = 10**15


def kept_rows(df):
    """The records that are left: partition, offset, key, value, and the horizon of tombstones and markers."""
    names = ("partition", "offset", "key", "value", HORIZON, "control")
    return sorted((tuple(row)[:5] if waits(row) else (*tuple(row)[:4], None)) for row in df.select(*names).collect())


def waits(row):
    return row.value is None or row.control is not None


# Real partitions: what was on disk before a pass is compacted, and held against what was there after it.


def real_passes(folder):
    """Each pass that cleaned, as a partition of its own; where it stopped, its clock, and the files it left."""
    found = []
    for number, each in enumerate(PASSES):
        before, real = logs_of(each, folder / "passes" / str(number))
        if each.cleaned_to != each.cleaned_to_before:
            place = folder / "topic" / f"mixed-{len(found)}"
            place.mkdir(parents=True)
            for name, data in each.before.items():
                (place / name).write_bytes(data)
            found.append((each, clean_ms(each, before, real), folder / "passes" / str(number) / "after"))
    return found


def shifted(df, clocks_ms):
    """The rows with horizons counted from a clock that all passes share."""
    shift = sf.lit(None).cast("bigint")
    for partition, now_ms in enumerate(clocks_ms):
        shift = sf.when(sf.col("partition") == partition, NOW_MS - now_ms).otherwise(shift)
    return df.withColumn(HORIZON, sf.col(HORIZON) + shift)


def left_on_disk(folder, partition, shift_ms):
    for segment in read_disk(folder):
        for batch in segment.batches:
            for each in batch.records:
                horizon = batch.delete_horizon_ms if each.value is None or each.control else None
                yield partition, each.offset, each.key, each.value, None if horizon is None else horizon + shift_ms


@pytest.mark.parametrize("retention_ms", [300, 600_000])
def test_real_partitions_are_compacted_to_what_the_real_cleaner_left(spark, tmp_path, retention_ms):
    assert len(recorded("cleaned-partitions")["cases"]) == 4
    passes = real_passes(tmp_path)
    chosen = [at for at, (each, _, _) in enumerate(passes) if each.settings.delete_retention_ms == retention_ms]
    rows = shifted(segments_df(spark, tmp_path / "topic"), [now_ms for _, now_ms, _ in passes])
    bounds = {at: passes[at][0].cleaned_to for at in chosen}
    options = {"now_ms": NOW_MS, "delete_retention_ms": retention_ms, "first_uncleanable": bounds}
    kept = rows.where(sf.col("partition").isin(chosen)).transform(compact, **options)

    expected = [row for at in chosen for row in left_on_disk(passes[at][2], at, NOW_MS - passes[at][1])]
    assert kept_rows(kept) == sorted(expected)
    assert len(chosen) > 2
    assert any(row[4] is not None and row[3] == MARKER_VALUE for row in expected)


# Generated partitions: the simulator's pass over the log is the same as Spark's over its files.

SETTINGS = Settings("compact", min_cleanable_dirty_ratio=0.0, delete_retention_ms=100, segment_bytes=400)


def random_log(seed):
    """A log with plain and transactional batches, ended and open transactions, and passes in between."""
    rng, events = random.Random(seed), []
    for _ in range(rng.randrange(5, 40)):
        rows = tuple(
            (rng.choice("abcdef"), rng.choice([None, "", "v" * rng.randrange(1, 30)]), rng.randrange(500))
            for _ in range(rng.randrange(1, 4))
        )
        producer = rng.choice([-1, -1, 1, 2, 3])
        batch = NewBatch(rows, producer_id=producer, is_transactional=producer in (1, 2))
        end = EndTransaction(rng.choice((1, 2)), rng.random() < 0.5, rng.randrange(500))
        events.append(rng.choice([Append((batch,)), Append((batch,)), end, Roll(), Clean(rng.randrange(1000))]))
    events += [EndTransaction(producer, rng.random() < 0.5, 500) for producer in (1, 2) if rng.random() < 0.8]
    return after(SETTINGS, *possible(SETTINGS, [*events, Roll()]))


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Generated logs as partitions of a topic on disk, and each log after the simulator's pass over what was read."""
    folder, cleaned = tmp_path_factory.mktemp("generated"), []
    for seed in range(60):
        write_log(random_log(seed), folder, "topic", seed)
        log = read_log(folder, "topic", seed)
        cleaned.append(step(SETTINGS, log, Clean(1000, is_forced=True)))
    return folder, cleaned


def passes_over(generated):
    """The effect of each pass that cleaned, by partition."""
    found = {at: log.effects[0] for at, log in enumerate(generated[1]) if isinstance(log.effects[0], Cleaned)}
    assert len(found) > 40
    return found


def test_generated_partitions_are_compacted_as_by_the_simulator(spark, generated):
    folder, cleaned = generated
    bounds = {at: cleaned[at].checkpoint for at in passes_over(generated)}
    options = {"now_ms": 1000, "delete_retention_ms": 100, "first_uncleanable": bounds}
    kept = kept_rows(segments_df(spark, folder).transform(compact, **options))

    def encoded(text):
        return None if text is None else text if isinstance(text, bytes) else text.encode()

    def is_in_the_cleaned_part(row):
        return row[1] < bounds.get(row[0], 0)

    expected = sorted(
        (at, each.offset, each.key, each.value, batch.delete_horizon_ms if each.value is None else None)
        for at, log in enumerate(cleaned)
        for batch in log.batches
        for each in batch.records
    )
    spark_says = [(*row[:2], None, None, row[4]) if row[3] == MARKER_VALUE else row for row in kept]
    assert [row[:4] for row in spark_says] == [(*row[:2], encoded(row[2]), encoded(row[3])) for row in expected]
    assert [row[4] for row in spark_says if is_in_the_cleaned_part(row)] == [
        row[4] for row in expected if is_in_the_cleaned_part(row)
    ]


def test_the_reasons_are_those_of_the_simulator(spark, generated):
    effects = passes_over(generated)
    bounds = {at: generated[1][at].checkpoint for at in effects}
    reasons = Counter(
        (decision.reason.split(" by offset")[0], decision.is_kept)
        for at, effect in effects.items()
        for decision in effect.decisions
        if decision.offset < bounds[at]
    )
    rows = segments_df(spark, generated[0])
    is_cleaned = sf.lit(False)
    for at, bound in bounds.items():
        is_cleaned = is_cleaned | ((sf.col("partition") == at) & (sf.col("offset") < bound))
    counted = rows.where(is_cleaned).transform(count_reasons, now_ms=1000, first_uncleanable=bounds).collect()

    assert {(row.reason, row.is_kept): row.records for row in counted} == reasons
    assert {"of an aborted transaction", "marker of a transaction", "tombstone, its horizon has passed"} <= {
        reason for reason, _ in reasons
    }


def test_committed_records_alone_know_old_tombstones_from_new(spark, generated):
    folder, cleaned = generated
    bounds = {at: cleaned[at].checkpoint for at in passes_over(generated)}
    rows = segments_df(spark, folder).transform(only_committed)
    kept = rows.transform(compact, now_ms=1000, delete_retention_ms=100, first_uncleanable=bounds)

    expected = {
        (at, each.offset)
        for at, log in enumerate(cleaned)
        for batch in log.batches
        if batch.marker is None
        for each in batch.records
        if each.offset < bounds.get(at, 0)
    }
    found = {(row.partition, row.offset) for row in kept.select("partition", "offset").collect()}
    assert {row for row in found if row[1] < bounds.get(row[0], 0)} == expected


# What makes no sense.


def test_an_open_transaction_in_the_part_that_is_cleaned_ends_the_query(spark, tmp_path):
    log = after(
        SETTINGS, Append((NewBatch((("a", "1", 0),)), NewBatch((("a", "2", 0),), producer_id=1, is_transactional=True)))
    )
    rows = segments_df(spark, write_log(log, tmp_path))

    with pytest.raises(Exception, match="partition-0, offset 1 is of an open transaction: a cleaner stops before it"):
        rows.transform(compact).collect()
    assert rows.transform(compact, first_uncleanable=1).count() == 2


def test_markers_are_not_judged_twice_from_rows_that_have_lost_what_they_need(spark, generated):
    once = segments_df(spark, generated[0]).transform(compact, now_ms=1000, first_uncleanable={})
    with pytest.raises(KafkaLearnError, match=r"a column 'control' and none 'has_data'.* leave markers out"):
        once.transform(compact, now_ms=2000)
    assert once.where("control IS NULL").drop("control").transform(compact, first_uncleanable={}).count() > 0


@pytest.mark.parametrize(("column", "kind"), [("control", "int"), ("transaction", "int"), ("has_data", "string")])
def test_a_column_of_another_type_is_refused(spark, generated, column, kind):
    rows = segments_df(spark, generated[0])
    with pytest.raises(KafkaLearnError, match=f"column '{column}' must be"):
        compact(rows.withColumn(column, sf.lit(None).cast(kind)))
