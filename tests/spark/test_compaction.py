"""Compaction on Spark leaves what the simulated cleaner leaves, record for record and reason for reason."""

import random
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.log import (
    Append,
    Clean,
    MoveLogStart,
    NewBatch,
    Record,
    Retain,
    Roll,
    SetHighWatermark,
    Settings,
    log_from_records,
    simulate,
    step,
)
from kafkalearn.log.model import SegmentsDeleted, ends_of
from kafkalearn.log.retention import REASONS
from kafkalearn.spark import compaction
from kafkalearn.spark.columns import RECORD_SCHEMA
from kafkalearn.spark.compaction import HORIZON, SEGMENT_SCHEMA, compact, count_reasons, with_retention
from kafkalearn.spark.data.datasets import customers
from tests.log.test_recorded_cases import clean_ms, settings_of
from tests.recorded import recorded

pytestmark = pytest.mark.spark


OFTEN = Settings("compact", min_cleanable_dirty_ratio=0.0, delete_retention_ms=1000)
SCHEMA = f"{RECORD_SCHEMA}, {HORIZON} BIGINT"


def table_of(spark, rows):
    """Records as DataFrame, of (partition, offset, key, value, horizon)."""
    full = [
        (key, value, "customers", partition, offset, None, 0, horizon)
        for partition, offset, key, value, horizon in rows
    ]
    return spark.createDataFrame(full, SCHEMA)


def rows_of(df):
    """The records of a DataFrame as (partition, offset, key, value, horizon), sorted."""
    found = [row.asDict() for row in df.collect()]
    binary = ((None if each[name] is None else bytes(each[name]) for name in ("key", "value")) for each in found)
    return sorted(
        (each["partition"], each["offset"], *pair, each.get(HORIZON)) for each, pair in zip(found, binary, strict=True)
    )


def simulated(rows, now_ms=0):
    """What the simulator's cleaner leaves of each partition, and its reasons."""
    kept, reasons = [], Counter()
    for partition in sorted({row[0] for row in rows}):
        mine = sorted(row for row in rows if row[0] == partition)
        records = [Record(offset, key, value, 0) for _, offset, key, value, _ in mine]
        log = log_from_records(records, {offset: horizon for _, offset, _, _, horizon in mine if horizon is not None})
        cleaned = step(OFTEN, log, Clean(now_ms, is_forced=True))
        for batch in cleaned.batches:
            for each in batch.records:
                horizon = batch.delete_horizon_ms if each.value is None else None
                kept.append((partition, each.offset, each.key, each.value, horizon))
        (done,) = cleaned.effects
        reasons.update((each.reason.split(" by offset")[0], each.is_kept) for each in done.decisions)
    return kept, reasons


def random_rows(seed, count, key_count, has_horizons=False):
    rng = random.Random(seed)
    rows = []
    for partition in range(3):
        offset = 0
        for _ in range(count // 3):
            offset += rng.choice((1, 1, 1, 2, 9))
            key = rng.choice(
                [None, b"", b"\x00", *(rng.randbytes(3)[:2] for _ in range(3)), b"user-%d" % rng.randrange(key_count)]
            )
            value = rng.choice([None, b"", b"v%d" % offset])
            horizon = rng.choice([None, 500, 5000]) if has_horizons and value is None else None
            rows.append((partition, offset, key, value, horizon))
    return rows


LOOK_FIRST = {"spark.sql.autoBroadcastJoinThreshold": "-1"}  # else files so small are sent without a look at them
WAYS = {
    "the bitmap on every worker": {"spark.sql.adaptive.autoBroadcastJoinThreshold": "10m"},
    "records shuffled by word": {"spark.sql.adaptive.autoBroadcastJoinThreshold": "-1"},
    "not adaptive": {"spark.sql.adaptive.enabled": "false"},
}


@contextmanager
def session_settings(spark, conf):
    before = {name: spark.conf.get(name, None) for name in conf}
    try:
        for name, value in conf.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


@pytest.fixture(params=WAYS)
def way(request, spark):
    with session_settings(spark, LOOK_FIRST | WAYS[request.param]):
        yield request.param


@pytest.mark.parametrize("key_count", [3, 100])
def test_random_logs_with_null_keys_and_gaps_keep_what_the_simulator_keeps(spark, way, key_count):
    rows = random_rows(7, 1500, key_count)
    kept, _ = simulated(rows)

    assert rows_of(table_of(spark, rows).drop(HORIZON).transform(compact)) == [(*row[:4], None) for row in kept]


def shuffles_of(kept):
    """How often rows were shuffled in the end, and whether the bitmap was sent to every worker."""
    kept.collect()
    plan = kept._jdf.queryExecution().executedPlan().toString().partition("== Initial Plan ==")[0]
    nodes = [line.lstrip(" +-:*()0123456789") for line in plan.splitlines()]
    return sum(node.startswith("Exchange hashpartitioning(") for node in nodes), "BroadcastHashJoin" in plan


def test_no_record_is_shuffled_where_the_bitmap_goes_to_every_worker(spark, way):
    table = table_of(spark, random_rows(7, 1500, 100)).drop(HORIZON)
    for bound in (None, 100):
        shuffles, is_sent = shuffles_of(table.transform(compact, first_uncleanable=bound))
        assert is_sent == (way == "the bitmap on every worker")
        assert is_sent == (shuffles == 2), shuffles  # keys, and words; what counts them reads the same


@pytest.mark.parametrize(("most_bytes", "is_sent"), [(24, True), (23, False)])
def test_spark_decides_from_the_real_size_of_the_words(spark, most_bytes, is_sent):
    threshold = {"spark.sql.adaptive.autoBroadcastJoinThreshold": str(most_bytes), "spark.sql.shuffle.partitions": "50"}
    table = table_of(spark, [(0, offset, b"a", b"%d" % offset, None) for offset in range(4)]).drop(HORIZON)
    with session_settings(spark, LOOK_FIRST | threshold):
        kept = table.transform(compact)
        assert shuffles_of(kept)[1] == is_sent
        assert rows_of(kept) == [(0, 3, b"a", b"3", None)]


one_log = st.lists(
    st.tuples(
        st.integers(1, 130),
        st.sampled_from([None, b"", b"a", b"b", b"customer 12"]),
        st.sampled_from([None, b"", b"v"]),
    ),
    max_size=25,
)


HASHES = compaction._hashes
SOME_ALIKE = {
    "none": HASHES,
    "the first": lambda key: (sf.lit(1).alias("_hash"), HASHES(key)[1]),
    "the other": lambda key: (HASHES(key)[0], sf.lit(1).alias("_other_hash")),
}


@given(
    logs=st.lists(one_log, min_size=1, max_size=40),
    bound=st.none() | st.integers(0, 1500),
    alike=st.sampled_from(sorted(SOME_ALIKE)),
)
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_logs_keep_what_the_simulator_keeps_even_where_all_keys_share_a_hash(spark, way, logs, bound, alike):
    rows = []
    for partition, log in enumerate(logs):
        offsets = accumulate(step for step, _, _ in log)
        rows += [(partition, offset, key, value, None) for offset, (_, key, value) in zip(offsets, log, strict=True)]
    cleaned = [row for row in rows if bound is None or row[1] < bound]
    kept = [(*row[:4], None) for row in [*simulated(cleaned)[0], *(row for row in rows if row not in cleaned)]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compaction, "_hashes", SOME_ALIKE[alike])
        table = table_of(spark, rows).drop(HORIZON)
        assert rows_of(table.transform(compact, first_uncleanable=bound)) == sorted(kept, key=lambda row: row[:2])


def test_the_log_is_read_twice_and_no_more(spark):
    rows = random_rows(12, 300, 20)
    seen = spark.sparkContext.accumulator(0)

    def counted(batches):
        for batch in batches:
            seen.add(batch.num_rows)
            yield batch

    table = table_of(spark, rows).drop(HORIZON)
    read = table.mapInArrow(counted, table.schema)
    for bound in (None, 100):
        seen.value = 0
        assert rows_of(read.transform(compact, first_uncleanable=bound)) == rows_of(
            table.transform(compact, first_uncleanable=bound)
        )
        assert seen.value == 2 * len(rows)


def test_a_topic_without_keys_keeps_what_is_not_cleaned(spark):
    table = table_of(spark, [(0, offset, None, b"x", None) for offset in range(4)])

    assert rows_of(table.transform(compact)) == []
    assert [row[1] for row in rows_of(table.transform(compact, first_uncleanable=3))] == [3]


def test_tombstones_go_in_two_phases_as_in_the_simulator(spark):
    rows = random_rows(8, 900, 20, has_horizons=True)
    kept, reasons = simulated(rows, now_ms=700)
    table = table_of(spark, rows)

    assert rows_of(table.transform(compact, now_ms=700, delete_retention_ms=1000)) == kept
    counted = table.transform(count_reasons, now_ms=700).collect()
    assert {(row.reason, row.is_kept): row.records for row in counted} == reasons


def test_two_passes_one_after_the_other_are_those_of_the_simulator(spark):
    rows = random_rows(9, 600, 20)
    first, _ = simulated(rows, now_ms=100)
    once = table_of(spark, rows).drop(HORIZON).transform(compact, now_ms=100, delete_retention_ms=1000).cache()
    assert rows_of(once) == first

    for now_ms in (1099, 1100):
        assert rows_of(once.transform(compact, now_ms=now_ms, delete_retention_ms=1000)) == simulated(first, now_ms)[0]


def test_what_is_not_cleanable_stays_and_is_no_evidence(spark):
    rows = [(0, 0, b"a", b"1", None), (0, 1, b"a", b"2", None), (0, 2, b"a", b"3", None), (0, 3, None, b"x", None)]
    rows += [(1, offset, key, value, None) for _, offset, key, value, _ in rows]
    table = table_of(spark, rows)

    def left(bound):
        return [(row[0], row[1]) for row in rows_of(table.transform(compact, now_ms=0, first_uncleanable=bound))]

    assert left(None) == [(0, 2), (1, 2)]
    assert left(2) == [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]
    assert left({0: 3}) == [(0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)]
    counts = table.transform(count_reasons, first_uncleanable={0: 3, 1: 4}).collect()
    assert {row.reason: row.records for row in counts} == {
        "behind what the map has seen": 1,
        "overtaken": 4,
        "last of its key": 2,
        "no key": 1,
    }


NOW_MS = 10**15


def passes_of_a_real_broker():
    """Every recorded pass, as the records before it, where it stopped, and what was on the disk after it.

    Where the checkpoint did not move nothing was dirty, and no pass was made.
    """
    for script in recorded("compaction")["cases"]:
        settings, on_disk, horizons, checkpoint = settings_of(script), [], {}, 0
        for phase in script["phases"]:
            shift = NOW_MS - clean_ms(settings, phase)  # so that the clocks of all passes can be one
            written = [
                [batch["base_offset"] + at, key, value]
                for batch in phase["batches"]
                for at, (key, value) in enumerate(batch["records"])
            ]
            before = [
                (*each, horizons[each[0]] + shift if horizons.get(each[0]) else None) for each in on_disk + written
            ]
            if phase["first_uncleaned_offset"] > checkpoint:
                yield before, phase["first_uncleaned_offset"], phase["survivors"]
            checkpoint = phase["first_uncleaned_offset"]
            on_disk = phase["survivors"]
            headers = [batch for segment in phase["segments"] for batch in segment["batches"]]
            horizons = {
                offset: each["delete_horizon"] for each in headers for offset in range(each["base"], each["last"] + 1)
            }


def encoded(text):
    return None if text is None else text.encode()


def test_all_recorded_passes_leave_what_a_real_broker_left_on_its_disk(spark):
    assert len(recorded("compaction")["cases"]) == 30
    passes = list(passes_of_a_real_broker())
    rows = [
        (number, offset, encoded(key), encoded(value), horizon)
        for number, (before, _, _) in enumerate(passes)
        for offset, key, value, horizon in before
    ]
    bounds = {number: end for number, (_, end, _) in enumerate(passes)}
    kept = rows_of(table_of(spark, rows).transform(compact, now_ms=NOW_MS, first_uncleanable=bounds))

    assert len(passes) == 70
    assert [row[:4] for row in kept] == [
        (number, offset, encoded(key), encoded(value))
        for number, (_, _, survivors) in enumerate(passes)
        for offset, key, value in survivors
    ]


@pytest.mark.parametrize("count", [2_000, pytest.param(20_000, marks=pytest.mark.nightly)])
def test_the_customers_of_the_shop_are_compacted_as_by_the_simulator(spark, count):
    topic = customers(spark, count)
    rows = [(*row[:4], None) for row in rows_of(topic)]
    kept, reasons = simulated(rows)

    assert rows_of(topic.transform(compact)) == [(*row[:4], None) for row in kept]
    assert {(row.reason, row.is_kept): row.records for row in topic.transform(count_reasons).collect()} == reasons


def test_the_topic_customers_counts_its_offsets_without_gaps_and_is_the_same_however_it_is_cut(spark):
    topic = customers(spark, 1000, partition_count=7)
    places = sorted((row.partition, row.offset) for row in topic.select("partition", "offset").collect())

    assert places == [(number, offset) for number in range(7) for offset in range(143 if number < 6 else 142)]
    assert {int(bytes(row.key).decode().split("-")[1]) % 7 == row.partition for row in topic.collect()} == {True}
    assert rows_of(topic.repartition(5).transform(compact)) == rows_of(topic.transform(compact))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"now_ms": "1"}, "now_ms must be"),
        ({"delete_retention_ms": -1}, "delete_retention_ms must be"),
        ({"first_uncleanable": "all"}, "from partition to offset, got 'all'"),
        ({"first_uncleanable": {0: -1}}, r"first_uncleanable\[0\] must be"),
    ],
)
def test_what_cannot_be_compacted_is_refused_before_anything_runs(spark, options, message):
    table = table_of(spark, [(0, 0, b"a", b"1", None)])
    with pytest.raises(KafkaLearnError, match=message):
        compact(table, **options)
    with pytest.raises(KafkaLearnError, match="'offset' must be bigint, it is int; cast it"):
        compact(table.withColumn("offset", table["offset"].cast("int")))


def test_a_place_that_does_not_fit_into_a_number_ends_the_query_and_is_not_mixed_up(spark):
    table = table_of(spark, [(1 << 16, 0, b"a", b"1", None)])
    with pytest.raises(Exception, match="out of range"):
        table.transform(compact).collect()


RETENTION_NOW_MS = 1_000


def random_log(settings, draw):
    """A log with segments of all ages and sizes; some of it not replicated, some below the log start."""
    events = []
    for _ in range(draw.randrange(12)):
        at_ms = draw.randrange(RETENTION_NOW_MS)
        events.append(Append((NewBatch((("k", "v" * draw.randrange(200), at_ms),)),)))
        events += [Roll()] * (draw.random() < 0.6)
    log = simulate(settings, events)[-1].state
    if draw.random() < 0.5:
        log = step(settings, log, SetHighWatermark(draw.randint(0, log.log_end_offset)))
    return step(settings, log, MoveLogStart(draw.randint(0, log.high_watermark)))


def rows_of_retention(log, partition):
    ends = ends_of(log.segments, log.log_end_offset)
    for segment, end in zip(log.segments, ends, strict=True):
        facts = segment.base_offset, end, segment.size_bytes, segment.largest_timestamp_ms
        yield partition, *facts, log.log_start_offset, log.high_watermark


def deleted(settings, log):
    effects = step(settings, log, Retain(RETENTION_NOW_MS)).effects
    reasons = next((each.reasons for each in effects if isinstance(each, SegmentsDeleted)), ())
    return [*reasons, *[None] * (len(log.segments) - len(reasons))]


@pytest.mark.parametrize("release", ["4.3", "2.8"])
@pytest.mark.parametrize(
    ("policy", "retention_ms", "retention_bytes"),
    [("delete", 300, -1), ("delete", -1, 500), ("compact,delete", 300, 500), ("delete", 0, 0), ("compact", 0, 0)],
)
def test_the_segments_go_that_the_simulator_deletes(spark, release, policy, retention_ms, retention_bytes):
    draw = random.Random(f"{policy} {retention_ms} {retention_bytes}")
    topic = Settings(policy, release, retention_ms=retention_ms, retention_bytes=retention_bytes)
    logs = [random_log(replace(topic, cleanup_policy="delete"), draw) for _ in range(120)]
    rows = [row for partition, log in enumerate(logs) for row in rows_of_retention(log, partition)]
    segments = spark.createDataFrame(rows, f"{SEGMENT_SCHEMA}, log_start_offset BIGINT, high_watermark BIGINT")
    judged = segments.transform(with_retention, topic, RETENTION_NOW_MS).orderBy("partition", "base_offset").collect()

    assert [row.deleted_because for row in judged] == [each for log in logs for each in deleted(topic, log)]
    assert {row.deleted_because for row in judged} <= {None, *REASONS}
    assert len({row.deleted_because for row in judged}) > 1


def test_topics_are_told_apart_and_without_more_the_whole_log_is_replicated(spark):
    rows = [(name, 0, base, base + 1, 100, at_ms) for name, at_ms in (("a", 0), ("b", 990)) for base in range(3)]
    segments = spark.createDataFrame(rows, f"topic STRING, {SEGMENT_SCHEMA}")
    judged = segments.transform(with_retention, Settings(retention_ms=500), RETENTION_NOW_MS).collect()

    assert sorted({(row.topic, row.deleted_because) for row in judged}, key=str) == [
        ("a", "older than retention.ms"),
        ("b", None),
    ]


def test_rows_and_releases_that_do_not_fit_are_refused(spark):
    segments = spark.createDataFrame([], SEGMENT_SCHEMA)
    with pytest.raises(KafkaLearnError, match=r"before Kafka 0\.10\.1"):
        segments.transform(with_retention, Settings(release="0.10.0"), RETENTION_NOW_MS)
