"""Segment files on Spark: in pieces, with their batches and producers, one copy at a time, and nothing left out."""

import random
import shutil

import pytest
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import committed_records, read_disk, transaction_outcomes
from kafkalearn.spark.compaction import compact, count_reasons
from kafkalearn.spark.offsets.decode import decode_offsets
from kafkalearn.spark.offsets.segments import only_committed, segments_df
from kafkalearn.spark.offsets.state import commits_per_second, latest_state
from tests.log.partitions import PASSES, write
from tests.segments.disk import FOLDER
from tests.segments.test_damage import mutated
from tests.segments.writing import batch

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
