"""Groups that are followed live: killed at any moment of a batch, the state is that of one look at all records."""

import json
import os
import shutil
import struct
import subprocess
import sys
from datetime import datetime

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import Window
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.spark.columns import RECORD_SCHEMA
from kafkalearn.spark.compaction import compact
from kafkalearn.spark.lag import log_ends
from kafkalearn.spark.offsets import decode_offsets
from kafkalearn.spark.offsets.live import Done, _refuse_gaps, follow, followed, groups_now, lag_now
from kafkalearn.spark.offsets.state import group_states, lag_of, latest_state
from kafkalearn.spark.real_topic import ORDERS, shop_orders, topics_of
from tests.running.night import at_night

pytestmark = pytest.mark.spark

BATCH_COUNT = 16  # ten runs do fourteen of them at most
KILLED = ("before the state", "within the state", "before the mark", "within the mark", "after the mark") * 2

CHILD = """
import os, signal, sys, threading
from pyspark.sql.readwriter import DataFrameWriter
from kafkalearn.spark.offsets import live
from kafkalearn.spark.session import gateway, get_spark
from tests.spark.offsets.test_live import stream_of

source, folder, dies = sys.argv[1:]
spark = get_spark(**{"spark.sql.shuffle.partitions": "2"})
begun = 0

def die():
    gateway.java_process().kill()
    os.kill(os.getpid(), signal.SIGKILL)

write = DataFrameWriter.parquet

def parquet(writer, path, *words, **options):
    global begun
    what = "state" if "/state/" in path else "mark"
    begun += what == "state"
    if begun < 2:  # the first batch of each run is done
        return write(writer, path, *words, **options)
    if dies == f"before the {what}":
        die()
    if dies == f"within the {what}":
        threading.Timer(0.1, die).start()
    write(writer, path, *words, **options)
    if dies == f"after the {what}" or dies == f"within the {what}":
        die()

DataFrameWriter.parquet = parquet
live.follow(stream_of(spark, source), folder, availableNow=True).awaitTermination()
"""


def stream_of(spark, source):
    """A file a batch, in the order of their times: what a topic has, its bytes and offsets."""
    return spark.readStream.schema(RECORD_SCHEMA).option("maxFilesPerTrigger", 1).parquet(source)


def rows_of(df):
    return sorted(map(repr, df.collect()))


@pytest.fixture(scope="module")
def records(spark):
    """The recorded topic of a real broker, three times over with later offsets, and the orders that its groups read."""
    topics = topics_of(spark, None)
    real, orders = topics.read(OFFSETS_TOPIC, 4), topics.read("orders", 3)
    rows = real.withColumn("offset", sf.col("offset") + 1000)
    for times in (2, 3):  # once more, with a group's last words in between
        rows = rows.unionAll(real.withColumn("offset", sf.col("offset") + 1000 * times))
    first = real.select("key", "partition").where("value is not null and hex(key) like '0001%'").limit(5)
    gone = first.selectExpr("key", "cast(null as binary) AS value", f"'{OFFSETS_TOPIC}' AS topic", "partition")
    gone = gone.selectExpr(
        "*", "1000000L + monotonically_increasing_id() AS offset", "timestamp'2026-01-01' AS timestamp"
    )
    return rows.unionAll(gone.withColumn("timestampType", sf.lit(0))).unionAll(orders).cache()


@pytest.fixture(scope="module")
def source(records, tmp_path_factory):
    """The records in the order of their offsets, in as many files as there are to be batches."""
    place = tmp_path_factory.mktemp("source") / "records"
    rows = records.withColumn(
        "part", sf.ntile(BATCH_COUNT).over(Window.orderBy("offset", "topic", "partition"))
    ).cache()
    for part in range(1, BATCH_COUNT + 1):
        rows.where(f"part = {part}").drop("part").coalesce(1).write.mode("append").parquet(str(place))
    for at, path in enumerate(sorted(place.glob("*.parquet"), key=lambda each: each.stat().st_mtime_ns)):
        os.utime(path, (1_700_000_000 + at, 1_700_000_000 + at))
    return str(place)


def assert_same_as_at_once(spark, records, folder):
    commits = records.where(sf.col("topic") == OFFSETS_TOPIC).transform(decode_offsets)
    latest = latest_state(commits).where("NOT is_tombstone")
    assert latest.count() < latest_state(commits).count()  # some keys are gone
    columns = latest.columns
    assert rows_of(followed(spark, folder).select(columns)) == rows_of(latest)
    assert rows_of(groups_now(spark, folder)) == rows_of(group_states(latest))
    ends = log_ends(records.where(sf.col("topic") != OFFSETS_TOPIC))
    assert rows_of(lag_now(spark, folder)) == rows_of(lag_of(latest, ends)) != []


def test_a_stream_that_was_not_disturbed_knows_what_one_look_at_all_records_finds(spark, records, source, tmp_path):
    folder = str(tmp_path / "groups")
    with pytest.raises(KafkaLearnError, match="no batch is done yet"):
        groups_now(spark, folder)
    assert follow(stream_of(spark, source), folder, availableNow=True).awaitTermination(300)
    assert_same_as_at_once(spark, records, folder)

    shutil.rmtree(tmp_path / "groups" / "checkpoint")
    with pytest.raises(KafkaLearnError, match="has the state of an earlier stream and no checkpoint"):
        follow(stream_of(spark, source), folder)


A_DAY = datetime(2026, 1, 1)
KEY = struct.pack(">h", 1) + b"".join(struct.pack(">h", len(name)) + name for name in (b"billing", b"orders"))


def commits(spark, place, number):
    """A file with the commits of one batch, three partitions each, and the file's time."""
    value = struct.pack(">hqihq", 3, 100 + number, -1, 0, 1_790_000_000_000)
    rows = [
        (bytearray(KEY + struct.pack(">i", at)), bytearray(value), OFFSETS_TOPIC, 0, 3 * number + at, A_DAY, 0)
        for at in range(3)
    ]  # fmt: skip
    spark.createDataFrame(rows, RECORD_SCHEMA).coalesce(1).write.mode("append").parquet(str(place))
    newest = max(place.glob("*.parquet"), key=lambda each: each.stat().st_mtime_ns)
    os.utime(newest, (1_700_000_000 + number,) * 2)


def run(spark, source, folder):
    assert follow(stream_of(spark, str(source)), str(folder), availableNow=True).awaitTermination(300)


@pytest.fixture(scope="module")
def five_done(spark, tmp_path_factory):
    """A stream with five batches done, and its source; each test works on a copy at the same place."""
    place = tmp_path_factory.mktemp("five")
    for number in range(5):
        commits(spark, place / "source", number)
    run(spark, place / "source", place / "groups")
    shutil.copytree(place, place.with_name("five-kept"))
    return place


@pytest.fixture
def five(five_done):
    yield five_done
    shutil.rmtree(five_done)
    shutil.copytree(five_done.with_name("five-kept"), five_done)


def lose(folder, *logs, count=1):
    """The newest files of a checkpoint's logs go, with the sums that Hadoop keeps beside them."""
    for log in logs:
        numbers = sorted((int(each.name) for each in (folder / log).iterdir() if each.name.isdigit()), reverse=True)
        for number in numbers[:count]:
            (folder / log / str(number)).unlink()
            (folder / log / f".{number}.crc").unlink(missing_ok=True)


def test_a_batch_that_was_done_and_not_noted_by_spark_comes_again_and_counts_once(spark, five):
    lose(five / "groups" / "checkpoint", "commits")
    commits(spark, five / "source", 5)
    run(spark, five / "source", five / "groups")
    assert {row["offset"] for row in followed(spark, str(five / "groups")).collect()} == {15, 16, 17}


@pytest.mark.nightly
def test_a_folder_with_a_colon_in_its_name_is_one_as_any_other(spark, tmp_path):
    """Hadoop takes what stands before a colon for a scheme where a pattern is expanded."""
    folder = tmp_path / "groups: of 10:30"
    for number in range(3):
        commits(spark, tmp_path / "source", number)
        run(spark, tmp_path / "source", folder)
    assert {row["offset"] for row in followed(spark, str(folder)).collect()} == {6, 7, 8}


@pytest.mark.parametrize("name", ["groups[1]", "groups*", "groups?", "{groups}"])
def test_a_folder_that_spark_takes_for_a_pattern_is_refused(spark, name, tmp_path):
    stream = spark.readStream.schema(RECORD_SCHEMA).parquet("/nowhere*")
    with pytest.raises(KafkaLearnError, match="for which Spark takes a path for a pattern: choose another name"):
        follow(stream, str(tmp_path / name))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("count", [*at_night(1, 2), 4])
def test_a_checkpoint_from_a_backup_is_refused(spark, five, count):
    lose(five / "groups" / "checkpoint", "commits", "offsets", count=count)
    with pytest.raises(
        KafkaLearnError, match=f"state after batch 4, and its checkpoint is at batch {4 - count}: the checkp"
    ):
        run(spark, five / "source", five / "groups")
    assert {row["offset"] for row in followed(spark, str(five / "groups")).collect()} == {12, 13, 14}


def test_a_checkpoint_that_has_only_its_name_is_refused(spark, five):
    for log in ("offsets", "commits", "sources"):
        shutil.rmtree(five / "groups" / "checkpoint" / log)
    with pytest.raises(
        KafkaLearnError, match="state after batch 4, and its checkpoint is at batch -1: the checkpoint is"
    ):
        run(spark, five / "source", five / "groups")


def test_the_checkpoint_of_another_stream_is_refused(spark, five):
    metadata = five / "groups" / "checkpoint" / "metadata"
    query = json.loads(metadata.read_text())["id"]
    metadata.write_text('{"id":"another"}')
    metadata.with_name(".metadata.crc").unlink()
    with pytest.raises(KafkaLearnError, match=f"has the state of stream {query} and the checkpoint of another"):
        run(spark, five / "source", five / "groups")


def test_a_state_from_a_backup_is_refused(spark, five):
    for what in ("state", "done"):  # batch 4 is in slot 1, batch 3 in slot 0
        shutil.rmtree(five / "groups" / what / "1")
    lose(five / "groups" / "checkpoint", "commits")  # as if batch 4 had not ended: it begins again
    run(spark, five / "source", five / "groups")
    assert {row["offset"] for row in followed(spark, str(five / "groups")).collect()} == {12, 13, 14}
    for what in ("state", "done"):
        for slot in "10":
            shutil.rmtree(five / "groups" / what / slot)
    with pytest.raises(
        KafkaLearnError, match="state after batch 2, and its checkpoint is at batch 4: the state is older"
    ):
        run(spark, five / "source", five / "groups")
    shutil.rmtree(five / "groups" / "done")
    with pytest.raises(KafkaLearnError, match="has a checkpoint that is at batch 4, and no state"):
        run(spark, five / "source", five / "groups")


@pytest.mark.parametrize("damage", ["older", *at_night("part", "none")])
def test_a_state_that_is_not_the_one_that_was_written_is_refused(spark, five, damage):
    state = five / "groups" / "state"
    if damage == "part":
        max((state / "1").glob("*.parquet"), key=lambda each: each.stat().st_size).unlink()
    else:
        shutil.rmtree(state / "1")
    if damage == "older":
        shutil.copytree(state / "0", state / "1")
    with pytest.raises(KafkaLearnError, match=r"should have 3 rows after batch 4|after batch 4, cannot be read"):
        followed(spark, str(five / "groups"))
    commits(spark, five / "source", 5)
    with pytest.raises(StreamingQueryException, match="name a new folder"):
        run(spark, five / "source", five / "groups")


@pytest.mark.parametrize(
    ("newest", "says"),
    [
        (Done(7, "q", 1, frozenset({("t", 0, 1, 9)})), "batch 7, after which .* comes again with other records"),
        (Done(5, "q", 1, frozenset()), "batch 5, after which .* is followed by batch 7"),
        (Done(8, "q", 1, frozenset()), "batch 8, after which .* is followed by batch 7"),
        (Done(6, "r", 1, frozenset()), "has the state of stream r, and this is stream q"),
        (None, "has no state, and the stream goes on with batch 7"),
    ],
)
def test_a_batch_that_does_not_follow_is_refused(newest, says):
    with pytest.raises(KafkaLearnError, match=says):
        _refuse_gaps(newest, 7, "q", frozenset({("t", 0, 1, 10)}), "folder")


def test_a_batch_that_follows_or_comes_again_is_taken():
    ranges = frozenset({("t", 0, 1, 10)})
    assert not _refuse_gaps(None, 0, "q", ranges, "folder")
    assert not _refuse_gaps(Done(6, "q", 1, frozenset()), 7, "q", ranges, "folder")
    assert _refuse_gaps(Done(7, "q", 1, ranges), 7, "q", ranges, "folder")


@pytest.mark.nightly
def test_killed_again_and_again_no_record_is_lost_and_none_counts_twice(spark, records, source, tmp_path):
    folder = str(tmp_path / "groups")
    for dies in (*KILLED, "never"):
        run = subprocess.run(
            [sys.executable, "-c", CHILD, source, folder, dies],
            env={**os.environ, "KAFKALEARN_SPARK_FAST_START": "1"},
            capture_output=True,
            text=True,
        )
        assert run.returncode == (0 if dies == "never" else -9), run.stderr[-2000:]
    assert_same_as_at_once(spark, records, folder)


def test_a_recorded_group_that_dies_is_empty_in_the_table_and_its_lag_grows(spark, tmp_path):
    topics, folder = topics_of(spark, None), str(tmp_path / "groups")

    def billing():
        topics.write(shop_orders(spark), ORDERS)
        stream = topics.stream(OFFSETS_TOPIC, partition_count=4).unionAll(topics.stream(ORDERS))
        assert follow(stream, folder, availableNow=True).awaitTermination(300)
        group = groups_now(spark, folder).where("group_id = 'billing'").first()
        rows = lag_now(spark, folder).where("group_id = 'billing'").collect()
        return group.state, group.member_count, sum(row.lag for row in rows)

    assert billing() == ("Stable", 1, 0)
    assert billing() == ("Empty", 0, 300)
    assert topics.read(ORDERS, 3).count() == 600


@pytest.mark.parametrize("rule", [compact, latest_state, group_states])
def test_what_cannot_stream_is_refused_before_it_starts(spark, rule):
    stream = spark.readStream.schema(RECORD_SCHEMA).parquet("/nowhere*")
    with pytest.raises(KafkaLearnError, match=f"{rule.__name__} looks at all rows, and these are a stream"):
        stream.transform(rule)


def test_lag_of_a_stream_and_following_of_a_batch_are_refused(spark, records, tmp_path):
    stream = spark.readStream.schema(RECORD_SCHEMA).parquet("/nowhere*")
    with pytest.raises(KafkaLearnError, match="lag_of looks at all rows"):
        lag_of(stream, records)
    with pytest.raises(KafkaLearnError, match="these rows are all there is"):
        follow(records, str(tmp_path))
