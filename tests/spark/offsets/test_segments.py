"""Segment files on Spark: in pieces, with their batches and producers, one copy at a time, and nothing left out."""

import random
import shutil
from collections import Counter

import pytest
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import committed_records, read_disk, transaction_outcomes
from kafkalearn.log import Append, Clean, Cleaned, EndTransaction, NewBatch, Roll, Settings, read_log, step
from kafkalearn.spark.compaction import HORIZON, compact, count_reasons
from kafkalearn.spark.offsets.decode import decode_offsets
from kafkalearn.spark.offsets.segments import only_committed, segments_df
from kafkalearn.spark.offsets.state import commits_per_second, latest_state
from tests.formats.disk import FOLDER
from tests.formats.test_segments import mutated
from tests.formats.writing import MARKER_VALUE, batch, write_log
from tests.log.partitions import PASSES, clean_ms, logs_of, write
from tests.log.schedules import after, possible
from tests.recorded import recorded

pytestmark = pytest.mark.spark


OF_BATCH = ("producer_id", "producer_epoch", "base_sequence", "is_transactional", "delete_horizon_ms")


def rows_of(df):
    """The records of a DataFrame as (log dir, partition, offset, key, value, facts of the batch, how it ended)."""
    names = ("log_dir", "partition", "offset", "key", "value", "timestamp_ms", "timestampType")
    names += ("batch_base_offset", "batch_last_offset", *OF_BATCH, "control", "transaction")
    found = df.where("tail IS NULL AND skipped IS NULL").select(*names).collect()
    return sorted((tuple(row) for row in found), key=lambda row: row[:3])


def rows_of_disk(segments):
    """The same, from the reader without Spark."""
    logs, rows = {}, []
    for each in segments:
        logs.setdefault((each.log_dir, each.partition), []).extend(each.batches)
    for place, batches in logs.items():
        for one, outcome in zip(batches, transaction_outcomes(batches), strict=True):
            facts = one.base_offset, one.last_offset, *(getattr(one, name) for name in OF_BATCH)
            rows += [
                (*place, each.offset, each.key, each.value, each.timestamp_ms, int(one.is_log_append_time), *facts,
                 each.control, outcome)
                for each in one.records
            ]  # fmt: skip
    return sorted(rows, key=lambda row: row[:3])


@pytest.fixture(scope="module")
def brokers(tmp_path_factory):
    """Every recorded moment of real partitions, as the log dir of one broker each."""
    folder = tmp_path_factory.mktemp("brokers")
    for number, each in enumerate(PASSES):
        write(folder / f"broker-{number}", each.before, each.cleaned_to_before)
    shutil.copytree(FOLDER / "cleaned", folder / "cleaned")
    return folder


@pytest.mark.parametrize("piece_bytes", [12_000, 1 << 20])
def test_records_carry_their_batch_their_producer_and_how_their_transaction_ended(spark, brokers, piece_bytes):
    found = segments_df(spark, brokers, piece_bytes=piece_bytes)
    expected = rows_of_disk(read_disk(brokers))

    assert rows_of(found) == expected
    assert {row[-1] for row in expected} == {"ABORT", "COMMIT", "OPEN", None}


def test_a_file_that_does_not_fit_a_piece_is_read_by_several_tasks(spark, brokers):
    found = segments_df(spark, brokers / "cleaned/before", piece_bytes=4000)
    sizes = [path.stat().st_size for path in (brokers / "cleaned/before").rglob("*.log")]
    records_by_task = found.groupBy(sf.spark_partition_id()).count().collect()

    assert len(records_by_task) > len(sizes)
    assert sum(row["count"] for row in records_by_task) == 292


def test_copies_are_told_apart_by_their_log_dir(spark, brokers):
    found = segments_df(spark, brokers / "cleaned").groupBy("log_dir").count().collect()
    assert {row.log_dir: row["count"] for row in found} == {"before": 292, "after-pass-1": 70, "after-pass-2": 46}

    one = segments_df(spark, brokers / "cleaned", log_dir="after-pass-1")
    assert rows_of(one) == rows_of_disk(read_disk(brokers / "cleaned", log_dir="after-pass-1"))


@pytest.mark.parametrize("helper", [only_committed, compact, count_reasons])
def test_what_needs_one_copy_refuses_several_whatever_was_done_to_the_rows(spark, brokers, helper):
    copies = segments_df(spark, brokers / "cleaned")
    for rows in (copies, copies.where("partition = 0").withColumn("more", copies["offset"] + 1), copies.union(copies)):
        with pytest.raises(KafkaLearnError, match=r"lies in 3 log dirs, .* log_dir='after-pass-1'"):
            helper(rows)
    helper(segments_df(spark, brokers / "cleaned", log_dir="before"))


@pytest.mark.parametrize("helper", [latest_state, commits_per_second])
def test_what_groups_say_is_not_counted_from_several_copies(spark, brokers, helper):
    with pytest.raises(KafkaLearnError, match=r"lies in 3 log dirs, .* log_dir='after-pass-1'"):
        segments_df(spark, brokers / "cleaned").transform(decode_offsets).transform(helper)


def damaged_log(folder, changes):
    """A recorded log with some bytes changed, as (file, position)."""
    shutil.copytree(FOLDER / "cleaned/after-pass-1", folder, dirs_exist_ok=True)
    for name, position in changes:
        path = folder / name
        data = bytearray(path.read_bytes())
        data[position] ^= 0xFF
        path.write_bytes(data)
    return folder


FIRST, ACTIVE = (f"__consumer_offsets-0/{base:020}.log" for base in (0, 119))


@pytest.mark.parametrize("piece_bytes", [1500, 1 << 20])
@pytest.mark.parametrize("place", [(FIRST, 100), (FIRST, 8), (FIRST, -3)])
def test_a_damaged_batch_ends_the_query_with_the_reason_of_the_scalar_reader(spark, tmp_path, place, piece_bytes):
    folder = damaged_log(tmp_path, [place])
    (stopped, *_) = (each for each in read_disk(folder, partition=0) if each.rest)
    with pytest.raises(Exception, match="USER_RAISED_EXCEPTION") as raised:
        segments_df(spark, folder, piece_bytes=piece_bytes).count()

    assert stopped.rest.reason in str(raised.value)
    assert "skip_damaged=True" in stopped.rest.reason


@pytest.mark.parametrize("piece_bytes", [1500, 1 << 20])
def test_what_is_damaged_is_left_out_when_asked_and_is_a_row_with_the_reason(spark, tmp_path, piece_bytes):
    folder = damaged_log(tmp_path, [(FIRST, 100), (FIRST, -3), (ACTIVE, -3)])
    whole = read_disk(folder, skip_damaged=True)
    found = segments_df(spark, folder, skip_damaged=True, piece_bytes=piece_bytes)

    assert rows_of(found) == rows_of_disk(whole)
    reasons = found.where("skipped IS NOT NULL").select("skipped").collect()
    assert sorted(row.skipped for row in reasons) == sorted(rest.reason for each in whole for rest in each.skipped)
    tails = found.where("tail IS NOT NULL").select("tail", "offset", "topic", "partition").collect()
    assert [tuple(row) for row in tails] == [(whole[1].rest.reason, 119, "__consumer_offsets", 0)]
    assert found.transform(only_committed).count() == len(list(committed_records(whole)))


def test_mutated_files_give_what_the_scalar_reader_gives(spark, tmp_path):
    rng, paths = random.Random(5), sorted((FOLDER / "disk").rglob("*.log"))
    for number in range(40):
        place = tmp_path / f"mutated-{number}"
        place.mkdir()
        (place / f"{0:020}.log").write_bytes(mutated(rng, rng.choice(paths).read_bytes())[0])
    found = segments_df(spark, tmp_path, skip_damaged=True, piece_bytes=20_000)

    assert rows_of(found) == rows_of_disk(read_disk(tmp_path, skip_damaged=True))


def test_a_batch_beyond_the_limit_is_damage_and_the_limit_can_be_raised(spark, tmp_path):
    (tmp_path / "orders-0").mkdir()
    large = batch(0, [(0, 1000, b"key", bytes(50_000))]) + batch(1, [(1, 1000, b"key", b"")])
    (tmp_path / f"orders-0/{0:020}.log").write_bytes(large)

    small = segments_df(spark, tmp_path, batch_limit_bytes=40_000, skip_damaged=True)
    reason = small.where("skipped IS NOT NULL").first().skipped
    assert "more than the 40,000 bytes that one batch may have; raise batch_limit_bytes" in reason
    assert segments_df(spark, tmp_path, batch_limit_bytes=60_000).count() == 2


def test_a_timestamp_beyond_the_year_9999_is_null_and_its_number_is_there(spark, tmp_path):
    (tmp_path / "orders-0").mkdir()
    times_ms = (253_402_300_799_999, 253_402_300_800_000, 2**63 - 1, -(2**63), -1)
    data = b"".join(batch(at, [(at, at_ms, b"k", b"v")]) for at, at_ms in enumerate(times_ms))
    (tmp_path / f"orders-0/{0:020}.log").write_bytes(data)
    found = segments_df(spark, tmp_path).selectExpr("offset", "unix_millis(timestamp) AS ms", "timestamp_ms").collect()

    assert sorted(tuple(row) for row in found) == [
        (at, at_ms if at in (0, 4) else None, at_ms) for at, at_ms in enumerate(times_ms)
    ]


def test_an_empty_segment_has_no_rows_and_the_others_are_read(spark, tmp_path):
    damaged_log(tmp_path, [])
    (tmp_path / f"__consumer_offsets-0/{500:020}.log").write_bytes(b"")
    assert segments_df(spark, tmp_path).count() == 70


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"piece_bytes": 0}, "piece_bytes must be at least 1, got 0"),
        ({"topic": "orders"}, "no segment of topic 'orders' below"),
        ({"log_dir": "broker-9"}, "unknown log dir 'broker-9'; Known: 'after-pass-1', 'after-pass-2', 'before'"),
    ],
)
def test_what_cannot_be_read_is_said_before_anything_runs(spark, options, message):
    with pytest.raises(KafkaLearnError, match=message):
        segments_df(spark, FOLDER / "cleaned", **options)


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
        for one in segment.batches:
            for each in one.records:
                horizon = one.delete_horizon_ms if each.value is None or each.control else None
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
