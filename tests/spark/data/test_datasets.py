"""Made data: the same rows from the same seed, kept whole, made again when damaged."""

import json
import os
import shutil
import time
from types import SimpleNamespace

import pytest

from kafkalearn.errors import KafkaLearnError
from kafkalearn.partitioning.keyed import partition_for_key
from kafkalearn.spark.data import cache, datasets
from kafkalearn.spark.data.cache import MANIFEST, data_folder, is_whole
from kafkalearn.spark.columns.checks import RECORD_SCHEMA
from kafkalearn.spark.data.generate import CONSOLE_IDS, generate_group_ids, generate_keys, generate_orders

pytestmark = pytest.mark.spark

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


@pytest.mark.parametrize("damage", ["a file cut short", "a file gone", "no manifest", "a broken manifest"])
def test_a_damaged_dataset_is_made_again(spark, folder, damage):
    whole = rows_of(datasets.group_ids(spark, 500))
    (kept,) = folder.iterdir()
    part = max(kept.glob("*.parquet"), key=lambda path: path.stat().st_size)
    match damage:
        case "a file cut short":
            part.write_bytes(part.read_bytes()[:-10])
        case "a file gone":
            part.unlink()
        case "no manifest":
            (kept / MANIFEST).unlink()
        case "a broken manifest":
            (kept / MANIFEST).write_text("{")

    assert not is_whole(kept)
    assert rows_of(datasets.group_ids(spark, 500)) == whole
    assert list(folder.iterdir()) == [kept]


def test_an_interrupted_dataset_leaves_nothing(spark, folder, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(cache, "_put_in_place", interrupted)
    with pytest.raises(KeyboardInterrupt):
        datasets.keys(spark, 100)
    assert list(folder.iterdir()) == []


def test_the_draft_of_a_killed_process_is_cleared_when_it_is_old(spark, folder):
    name = datasets.keys(spark, 100) and next(folder.iterdir()).name
    shutil.rmtree(folder / name)
    young, old = folder / f".{name}.11111111", folder / f".{name}.22222222"
    for draft in (young, old):
        draft.mkdir()
    os.utime(old, (time.time() - 2 * cache.ABANDONED_AFTER_S,) * 2)

    datasets.keys(spark, 100)
    assert sorted(path.name for path in folder.iterdir()) == sorted([name, young.name])


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


def test_data_lies_in_the_checkout_or_else_in_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.delenv(cache.FOLDER_VARIABLE, raising=False)
    assert data_folder() == cache.REPOSITORY / "data" / "generated"

    monkeypatch.setattr(cache, "REPOSITORY", tmp_path)  # as where kafkalearn is installed
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.platform", "linux")
    assert data_folder() == tmp_path / "cache" / "kafkalearn"


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
