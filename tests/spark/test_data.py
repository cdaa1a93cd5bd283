"""Commits that are made up from the records of a topic."""

import json
import os
import re
import shutil
from datetime import UTC
from types import SimpleNamespace

import pytest
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.partitioning.keyed import partition_for_key
from kafkalearn.spark.columns import RECORD_SCHEMA
from kafkalearn.spark.data import cache, datasets
from kafkalearn.spark.data.cache import MANIFEST, Recipe, is_whole
from kafkalearn.spark.data.datasets import orders
from kafkalearn.spark.data.generate import (
    CONSOLE_IDS,
    HEAD_COUNT,
    generate_group_ids,
    generate_keys,
    generate_orders,
    uniform,
    zipf_rank,
)
from kafkalearn.spark.data.groups import BILLING, DAY_MS, Pace, generate_group_logs, with_commits
from kafkalearn.spark.data.logs import RECORDS_PER_PAIR, deliveries, generate_deliveries, one_run
from kafkalearn.spark.group_logs import EVENT_SCHEMA, rebalances
from kafkalearn.spark.lag import lag_by_partition, log_ends
from kafkalearn.spark.session.start import OWNER
from tools.chapters import chapter_paths, execute

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def some_orders(spark):
    return orders(spark, "small")


def test_made_commits_are_whole_batches_by_the_pace_of_the_group(some_orders):
    paces = [Pace("quick", 0), Pace("slow", 0, {3: 2.0}), Pace("stopped", 0, stops_after_ms=600_000)]
    commits = some_orders.transform(with_commits, paces, batch_size=200)
    lag = {(row.group_id, row.partition): row.lag for row in lag_by_partition(some_orders, commits).collect()}
    ends = {row.partition: row.log_end for row in some_orders.transform(log_ends).collect()}

    assert commits.where("offset % 200 != 0 OR offset = 0").count() == 0
    assert all(0 <= lag["quick", partition] < 200 for partition in range(12))
    assert lag["slow", 3] > 0.4 * ends[3]
    assert all(lag["slow", partition] == lag["quick", partition] for partition in range(12) if partition != 3)
    assert all(lag["stopped", partition] > 0.5 * ends[partition] for partition in range(12))
    assert (
        commits.where("committed_at > timestamp_millis(1767225600000 + 600000 + 20) AND group_id = 'stopped'").count()
        == 0
    )


@pytest.mark.parametrize(
    ("paces", "said"),
    [([], "paces is empty"), ([Pace("g"), Pace("g")], "two paces have the same group id")],
)
def test_each_group_has_one_pace(some_orders, paces, said):
    with pytest.raises(KafkaLearnError, match=said):
        some_orders.transform(with_commits, paces)


def test_nobody_reads_faster_than_records_come():
    with pytest.raises(KafkaLearnError, match=r"partition 1 is slow by 0\.5; a factor is at least 1"):
        Pace("g", slow={1: 0.5})


MAKERS = {
    "group_ids": lambda spark: generate_group_ids(spark, 5000, 42),
    "keys": lambda spark: generate_keys(spark, 5000, 300, 1.0, 42),
    "orders": lambda spark: generate_orders(spark, 5000, 12, 50, 1.0, 42),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty place for datasets, with a space in its name."""
    place = tmp_path / "made data"
    monkeypatch.setenv(cache.FOLDER_VARIABLE, str(place))
    return place


def rows_of(df):
    return sorted(map(tuple, df.collect()), key=repr)


@pytest.mark.parametrize("name", MAKERS)
def test_rows_do_not_depend_on_how_spark_is_cut(spark, name):
    def rows(partition_count):
        cut = SimpleNamespace(range=lambda count: spark.range(0, count, 1, partition_count))
        return rows_of(MAKERS[name](cut))

    assert len(rows(1)) == 5000
    assert rows(1) == rows(7)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("group_ids", ("console-consumer-42",)),
        ("keys", (b"user-22", "user-22")),
        ("orders", (b"user-1", b'{"order":0,"step":"created","cents":4685}')),
    ],
)
def test_rows_are_the_same_on_every_machine(spark, name, first):
    made = MAKERS[name](spark)
    row = made.orderBy("timestamp").first() if name == "orders" else made.first()
    assert tuple(row)[: len(first)] == first


def test_another_seed_makes_other_rows(spark):
    assert rows_of(generate_keys(spark, 100, 50, 0.0, seed=1)) != rows_of(generate_keys(spark, 100, 50, 0.0, seed=2))


def test_group_ids_are_distinct_and_of_all_kinds(spark):
    ids = [row.group_id for row in generate_group_ids(spark, 20_000, 42).collect()]

    assert len(set(ids)) == 20_000
    assert sum(each.startswith("console-consumer-") for each in ids) == 200
    assert sum(each.startswith("connect-") for each in ids) == 18 * 200
    assert sum(not each.isascii() for each in ids) == 3 * 200
    assert any(ord(character) > 0xFFFF for each in ids for character in each)


def test_console_consumers_draw_each_number_once_and_then_no_more(spark):
    hundredfold = SimpleNamespace(range=lambda count: spark.range(0, count, 100))  # the rows that are theirs
    ids = generate_group_ids(hundredfold, 100 * CONSOLE_IDS + 1000, 7).where("group_id like 'console%'")

    assert ids.count() == ids.distinct().count() == CONSOLE_IDS


def test_orders_are_records_as_kafka_keeps_them(spark):
    made = generate_orders(spark, 5000, 12, 50, 1.0, 42)
    records = sorted(made.collect(), key=lambda record: record.timestamp)

    assert made.schema.simpleString() == spark.createDataFrame([], RECORD_SCHEMA).schema.simpleString()
    assert all(record.partition == partition_for_key(bytes(record.key), 12) for record in records)
    for partition in range(12):
        offsets = [record.offset for record in records if record.partition == partition]
        assert offsets == list(range(len(offsets)))
    steps = [json.loads(record.value)["step"] for record in records[:8]]
    assert steps == ["created", "paid", "packed", "shipped"] * 2


def test_a_dataset_is_made_once_and_then_read(spark, folder):
    told = []
    first = datasets.keys(spark, 1000, update=lambda *numbers: told.append(numbers))
    (kept,) = folder.iterdir()
    written_ns = (kept / MANIFEST).stat().st_mtime_ns
    again = datasets.keys(spark, 1000, update=lambda *numbers: told.append("made again"))

    assert rows_of(first) == rows_of(again) == rows_of(generate_keys(spark, 1000, 100, 0.0, 42))
    assert (kept / MANIFEST).stat().st_mtime_ns == written_ns
    assert told[-1][0] == told[-1][1]
    assert "made again" not in told


def test_other_sizes_seeds_and_exponents_are_other_datasets(spark, folder):
    for arguments in ({}, {"size": 200}, {"seed": 1}, {"exponent": 1}, {"exponent": 1.0}, {"key_count": 3}):
        datasets.keys(spark, **({"size": 100} | arguments))
    assert len(list(folder.iterdir())) == 5  # 1 and 1.0 are one exponent


MANIFESTS = {
    "cut off": "{",
    "of another version": '{"version": 0, "dataset": NAME, "files": FILES}',
    "of a later version": '{"version": "1", "dataset": NAME, "files": FILES}',
    "of another dataset": '{"version": 1, "dataset": "keys", "files": FILES}',
    "a list": "[]",
    "a number": "7",
    "nothing": "",
    "without files": '{"version": 1, "dataset": NAME}',
    "with no file": '{"version": 1, "dataset": NAME, "files": {}}',
    "with files in a list": '{"version": 1, "dataset": NAME, "files": [1]}',
    "with a file elsewhere": '{"version": 1, "dataset": NAME, "files": {"../x": {}}}',
    "with sizes alone": '{"version": 1, "dataset": NAME, "files": {"part-0.parquet": 7}}',
    "with texts for numbers": '{"version": 1, "dataset": NAME, "files": TEXTS}',
    "in deep brackets": "[" * 100_000,
    "no text at all": "\udcff",
}
"""Manifests that are none, by what is wrong; the capitals stand for what would be right."""


def damage(kept, how):
    """Do to a dataset what a crash, a full disk, or a hand can do to it."""
    part = max(kept.glob("*.parquet"), key=lambda path: path.stat().st_size)
    match how:
        case "a file cut short":
            part.write_bytes(part.read_bytes()[:-10])
        case "a file gone":
            part.unlink()
        case "a file too many":
            shutil.copyfile(part, kept / "part-of-another.parquet")
        case "another content of the same length":
            part.write_bytes(part.read_bytes()[::-1])
        case "a checksum of Hadoop spoilt":
            checksum = kept / f".{part.name}.crc"
            checksum.write_bytes(checksum.read_bytes()[::-1])
        case "no manifest":
            (kept / MANIFEST).unlink()
        case _:
            files = json.loads((kept / MANIFEST).read_text())["files"]
            texts = {name: {key: str(value) for key, value in each.items()} for name, each in files.items()}
            given = {"NAME": json.dumps(kept.name), "FILES": json.dumps(files), "TEXTS": json.dumps(texts)}
            text = re.sub("NAME|FILES|TEXTS", lambda found: given[found[0]], MANIFESTS[how])
            (kept / MANIFEST).write_text(text, errors="surrogateescape")


DAMAGES = (
    "a file cut short",
    "a file gone",
    "a file too many",
    "another content of the same length",
    "a checksum of Hadoop spoilt",
    "no manifest",
)


@pytest.mark.parametrize("how", [*DAMAGES, *MANIFESTS])
def test_what_is_not_as_it_was_written_counts_as_damaged(spark, made_once, tmp_path, how):
    kept = shutil.copytree(made_once, tmp_path / made_once.name)
    assert is_whole(kept)

    damage(kept, how)

    assert not is_whole(kept)


@pytest.fixture(scope="module")
def made_once(spark, tmp_path_factory):
    """The folder of a small dataset."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.FOLDER_VARIABLE, str(tmp_path_factory.mktemp("made")))
        datasets.group_ids(spark, 500)
        return next(cache.data_folder().iterdir())


@pytest.mark.parametrize("how", ["another content of the same length", "a file too many", "a list"])
def test_a_damaged_dataset_is_made_again(spark, folder, how):
    whole = rows_of(datasets.group_ids(spark, 500))
    (kept,) = folder.iterdir()
    damage(kept, how)

    assert rows_of(datasets.group_ids(spark, 500)) == whole
    assert list(folder.iterdir()) == [kept]
    assert is_whole(kept)


def test_a_dataset_that_was_copied_is_not_made_again(spark, folder, monkeypatch):
    datasets.group_ids(spark, 500)
    (kept,) = folder.iterdir()
    for path in kept.iterdir():
        os.utime(path, (0, 0))  # as a copy has other times

    monkeypatch.setattr(cache, "_write", lambda *arguments: pytest.fail("it was made again"))
    assert datasets.group_ids(spark, 500).count() == 500


def test_an_interrupted_dataset_leaves_nothing(spark, folder, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(cache, "_put_in_place", interrupted)
    with pytest.raises(KeyboardInterrupt):
        datasets.keys(spark, 100)
    assert list(folder.iterdir()) == []


def test_the_draft_of_a_killed_process_is_cleared_by_the_next_dataset_whichever_it_is(spark, folder):
    folder.mkdir()
    draft, other = folder / "kafkalearn-draft-abcdefgh", folder / "notes-of-mine"
    for each in (draft, other):
        (each / "keys-100").mkdir(parents=True)
    (draft / OWNER).touch()  # and nobody holds it

    datasets.keys(spark, 100)

    assert other.is_dir()
    assert not draft.exists()


def test_of_two_kernels_that_make_the_same_the_first_wins(spark, folder, monkeypatch):
    write = cache._put_in_place

    def after_another(draft, place):
        shutil.copytree(draft, place)
        write(draft, place)

    monkeypatch.setattr(cache, "_put_in_place", after_another)
    assert datasets.keys(spark, 100).count() == 100
    assert len(list(folder.iterdir())) == 1


def test_a_full_disk_is_told_before_anything_is_written(spark, folder, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=5_000_000))
    with pytest.raises(KafkaLearnError) as caught:
        datasets.group_ids(spark, "big")

    assert "50,000,000 rows of group_ids need" in str(caught.value)
    assert f"MB in {folder}, 5 MB are free; free some, take a smaller size, or set KAFKALEARN_DATA_DIR" in str(
        caught.value
    )
    assert not folder.exists()


def test_a_disk_that_becomes_full_is_told_with_the_folder_and_what_to_do(spark, folder):
    def make():
        full = sf.raise_error(sf.lit("java.io.IOException: No space left on device"))
        return spark.range(10).select(sf.when(sf.col("id") == 7, full).otherwise(sf.col("id")).alias("id"))

    with pytest.raises(KafkaLearnError) as caught:
        cache.kept(spark, Recipe("keys", 10, (), 1), make, None)

    said = str(caught.value)
    assert f"10 rows of keys cannot be written to {folder}: No space left on device; " in said
    assert "MB are free there, " in said
    assert said.endswith("take a smaller size, or set KAFKALEARN_DATA_DIR and TMPDIR to folders with room")
    assert list(folder.iterdir()) == []


def test_rows_that_cannot_be_made_are_not_taken_for_a_disk_that_is_full(spark, folder):
    broken = lambda: spark.range(10).select(sf.raise_error(sf.lit("on purpose")).cast("int").alias("id"))  # noqa: E731

    with pytest.raises(Exception, match="on purpose") as caught:
        cache.kept(spark, Recipe("keys", 10, (), 1), broken, None)

    assert not isinstance(caught.value, KafkaLearnError)
    assert list(folder.iterdir()) == []


def test_a_file_in_the_way_is_named_and_left_alone(spark, folder):
    folder.write_text("of the reader")
    with pytest.raises(KafkaLearnError, match=f"{folder} is a file, where a folder should be: move it away"):
        datasets.keys(spark, 100)
    assert folder.read_text() == "of the reader"

    folder.unlink()
    folder.mkdir()
    name = next(iter(datasets.keys(spark, 100) and folder.iterdir()))
    shutil.rmtree(name)
    name.write_text("of the reader")
    with pytest.raises(KafkaLearnError, match=f"{name} is a file, where a folder should be: move it away"):
        datasets.keys(spark, 100)
    assert name.read_text() == "of the reader"


def test_a_folder_where_nobody_may_write_is_named(spark, monkeypatch):
    monkeypatch.setenv(cache.FOLDER_VARIABLE, "/dev/null/data")
    with pytest.raises(KafkaLearnError, match=r"cannot be written to /dev/null/data: .*; set KAFKALEARN_DATA_DIR to a"):
        datasets.keys(spark, 100)


@pytest.mark.parametrize(
    ("size", "said"),
    [("clas", "did you mean 'class'"), (0, "size must be at least 1, got 0"), (1.5, "must be a whole number")],
)
def test_a_size_is_a_name_or_a_number_of_rows(spark, size, said):
    with pytest.raises(KafkaLearnError, match=said):
        datasets.keys(spark, size)


def test_a_weak_machine_gets_its_lessons_in_a_smaller_size(monkeypatch):
    monkeypatch.setenv(datasets.LESSON_SIZE, "small")
    assert datasets.rows_of("class") == datasets.SIZES["small"]
    assert datasets.rows_of("big") == datasets.SIZES["big"]
    monkeypatch.setenv(datasets.LESSON_SIZE, "smal")
    with pytest.raises(KafkaLearnError, match="did you mean 'small'"):
        datasets.rows_of("class")


@pytest.fixture(scope="module")
def small(spark):
    return generate_deliveries(spark, 4, seed=7).cache()


def test_deliveries_are_what_a_consumer_can_see(small):
    for run in (0, 5):
        seen, crashed_ms = one_run(small, run)
        assert [each.offset for each in seen] == list(range(len(seen)))
        times = [each.processed_ms for each in seen if each.processed_ms is not None]
        assert times == sorted(times)
        assert all(each.polled_ms <= (each.processed_ms or crashed_ms) for each in seen)
        assert all(each.processed_ms is None or each.processed_ms < crashed_ms for each in seen)
        ends = {each.poll: each.processed_ms for each in seen}
        assert all(each.polled_ms == ends[each.poll - 1] for each in seen if each.poll)


def test_the_rows_are_the_same_however_spark_cuts_them(spark, small):
    again = generate_deliveries(spark, 4, seed=7).repartition(7)
    assert again.exceptAll(small).count() == small.exceptAll(again).count() == 0
    assert generate_deliveries(spark, 1, seed=8).exceptAll(small).count() > 0


def test_a_size_is_rounded_up_to_whole_pairs_of_runs(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKALEARN_DATA_DIR", str(tmp_path))
    rows = deliveries(spark, RECORDS_PER_PAIR + 1)
    assert rows.count() == 2 * RECORDS_PER_PAIR
    assert rows.select("run").distinct().count() == 4


def test_a_run_that_is_not_there_is_refused(small):
    with pytest.raises(KafkaLearnError, match="there is no run 99"):
        one_run(small, 99)


def test_made_logs_do_not_depend_on_how_spark_is_cut_and_hold_together(spark):
    def rows(partition_count):
        cut = SimpleNamespace(range=lambda count: spark.range(0, count, 1, partition_count))
        return sorted(map(tuple, generate_group_logs(cut, 60, 42).collect()), key=repr)

    made = rows(1)
    assert made == rows(5)
    assert len(made) > 60 * 20
    first_day = {row[2].astimezone(UTC).date().isoformat() for row in made}
    assert first_day == {"2026-03-01"}

    logs = spark.createDataFrame(made, EVENT_SCHEMA)
    assert logs.schema.simpleString() == generate_group_logs(spark, 1, 42).schema.simpleString()
    table = logs.transform(rebalances).collect()
    assert all(0 < row.duration_ms < DAY_MS for row in table)
    assert all(row.generation_after == row.generation_before + 1 for row in table)
    assert len(table) == sum(row[3] == "PreparingRebalance" for row in made)
    cluster, group_id, trouble_count, _ = BILLING
    billing = [row for row in table if row.group_id == group_id]
    assert len(billing) == 2 * trouble_count
    assert {row.trouble for row in billing} == {"poll interval exceeded"}
    assert {row.cluster for row in billing} == {cluster}


ROWS = 1 << 20


def ranks_of_evenly_spaced_chances(spark, key_count, exponent):
    """How many of a million chances, spread without luck over [0, 1), fall on each rank."""
    chance = (sf.col("id") + 0.5) / ROWS
    drawn = spark.range(ROWS).select(zipf_rank(chance, key_count, exponent).alias("rank")).groupBy("rank").count()
    return {row["rank"]: row["count"] for row in drawn.collect()}


@pytest.mark.parametrize("exponent", [0, 0.5, 1, 1.5])
@pytest.mark.parametrize("key_count", [1, 5, HEAD_COUNT, HEAD_COUNT + 1, 1000])
def test_every_rank_has_its_share_of_the_chances(spark, key_count, exponent):
    counts = ranks_of_evenly_spaced_chances(spark, key_count, exponent)

    total = sum(rank**-exponent for rank in range(1, key_count + 1))
    due = {rank: ROWS * rank**-exponent / total for rank in range(1, key_count + 1)}
    assert {rank: abs(counts[rank] - due[rank]) <= 1.5 + 0.0006 * due[rank] for rank in counts} == dict.fromkeys(
        range(1, key_count + 1), True
    )


def test_chances_are_spread_evenly_and_stay_below_one(spark):
    chances = spark.range(100_000).select(uniform(42, "test", sf.col("id")).alias("chance"))
    lowest, highest, in_first_tenth = chances.selectExpr("min(chance)", "max(chance)", "count_if(chance < 0.1)").first()

    assert 0 <= lowest < 0.001
    assert 0.999 < highest < 1
    assert abs(in_first_tenth - 10_000) < 500  # five standard deviations


@pytest.mark.parametrize(
    ("key_count", "exponent", "said"),
    [(0, 1, "key_count must be at least 1, got 0"), (5, -1, "exponent must be from 0 .* to 10, got -1")],
)
def test_a_law_that_is_none_is_refused(spark, key_count, exponent, said):
    with pytest.raises(KafkaLearnError, match=said):
        zipf_rank(sf.lit(0.5), key_count, exponent)


# Every chapter on a weak machine: it runs through at the small size, and what it asserts holds there too.


@pytest.mark.nightly
@pytest.mark.parametrize("path", chapter_paths(), ids=lambda path: path.stem)
def test_a_chapter_holds_at_the_small_size(path):
    notebook = execute(path, "small")

    assert [cell.id for cell in notebook.cells if cell.cell_type == "code" and cell.execution_count is None] == []
