"""What five minutes of fetches say about LEO, HW and ISR: as a query, and stepped through by the simulator."""

from itertools import pairwise
from types import SimpleNamespace

import pytest
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark import replication
from kafkalearn.spark.data.logs import ROUND_COUNT, UNTIL_MS, generate_appends, generate_fetches

pytestmark = pytest.mark.spark


EVERY_MS = 5_000
SCHEMA = "topic string, partition int, leader int, broker int, at_ms bigint, fetch_offset bigint, leader_end bigint"
WRITTEN = "topic string, partition int, leader int, at_ms bigint, base_offset bigint, leader_end bigint"


def test_rows_do_not_depend_on_how_spark_is_cut(spark):
    for make in (generate_fetches, generate_appends):
        one, seven = (
            sorted(
                map(tuple, make(SimpleNamespace(range=lambda n, cut=cut: spark.range(0, n, 1, cut)), 2, 7).collect())
            )
            for cut in (1, 7)
        )
        assert one == seven


def test_the_log_has_all_kinds_of_trouble(logs):
    """Broker 5 misses 173 rounds, broker 2 misses 74, a laggard makes one of 20, and one follower stops."""
    counts = {row["count"] for row in logs.fetches.groupBy("partition", "broker").count().collect()}
    usual = {ROUND_COUNT, ROUND_COUNT - 173, ROUND_COUNT - 74, ROUND_COUNT // 20}
    assert usual < counts
    assert len(counts - usual) == 1


def test_leo_isr_and_hw_of_every_partition_are_those_of_the_simulator_at_every_moment(logs, played):
    rows = replication.high_watermarks(logs.fetches, logs.appends, logs.changes, UNTIL_MS, every_ms=EVERY_MS).collect()
    seen = {(row.partition, row.at_ms): (row.leader_end, tuple(row.isr), row.high_watermark) for row in rows}

    assert len(seen) == len(rows) == len(played) * (UNTIL_MS // EVERY_MS + 1)
    for partition, at_ms in seen:
        assert seen[partition, at_ms] == tuple(replication.marks_at(played[partition], at_ms))[1:]


def test_who_leaves_the_isr_and_comes_back_is_to_the_millisecond_what_the_simulator_does(logs, played):
    found = {(row.partition, row.broker, row.at_ms, row.change == "expand") for row in logs.changes.collect()}
    expected = {
        (partition, broker, after.at_ms, broker in after.isr)
        for partition, marks in played.items()
        for before, after in pairwise(marks)
        for broker in {*before.isr} ^ {*after.isr}
    }

    assert found == expected
    assert {is_back for *_, is_back in found} == {True, False}


def test_a_fetch_asks_for_what_the_answer_before_left_it_with(logs):
    in_order = logs.fetches.where("partition = 3 and broker = 6").orderBy("at_ms").collect()
    assert [row.fetch_offset for row in in_order[1:]] == [row.leader_end for row in in_order[:-1]]


@pytest.mark.equal("replication.lag_counts")
def test_lags_are_counted_by_powers_of_two(spark):
    ends = [(0, 0), (5, 6), (5, 7), (5, 8), (5, 9)]
    rows = [("orders", 0, 1, 2, at, offset, end) for at, (offset, end) in enumerate(ends)]
    counts = spark.createDataFrame(rows, SCHEMA).transform(replication.lag_counts).collect()
    assert sorted((row.step, row.fetch_count) for row in counts) == [(0, 1), (1, 1), (2, 2), (3, 1)]


@pytest.mark.equal("replication.remote_ends")
def test_the_remote_leo_is_that_of_the_last_fetch_even_if_it_went_down(spark):
    log = spark.createDataFrame([("orders", 0, 1, 2, 5, 9, 9), ("orders", 0, 1, 2, 7, 4, 9)], SCHEMA)
    assert [(row.remote_end, row.fetched_ms) for row in replication.remote_ends(log).collect()] == [(4, 7)]


@pytest.mark.equal("replication.with_caught_up")
def test_a_follower_that_only_ever_has_what_was_there_before_counts_as_caught_up_then(spark):
    log = spark.createDataFrame(
        [("orders", 0, 1, 2, at, offset, offset + 5) for at, offset in ((10, 0), (20, 5), (30, 10), (40, 11))], SCHEMA
    )
    assert [row.caught_up_ms for row in replication.with_caught_up(log).orderBy("at_ms").collect()] == [0, 10, 20, 20]


def test_of_one_follower_the_ones_without_trouble_decide_when_it_is_back(spark):
    """Two replicas: nobody else is left, the high watermark is the leader's end."""
    fetches = [("orders", 0, 1, 2, at, offset, end) for at, offset, end in ((10, 0, 0), (50_000, 0, 4), (50_300, 4, 4))]
    log, written = spark.createDataFrame(fetches, SCHEMA), spark.createDataFrame([("orders", 0, 1, 20, 0, 4)], WRITTEN)
    changes = replication.isr_changes(log, written, 60_000)

    assert sorted((row.at_ms, row.change) for row in changes.collect()) == [(45_000, "shrink"), (50_300, "expand")]
    marks = replication.high_watermarks(log, written, changes, 60_000, every_ms=20_000).orderBy("at_ms").collect()
    assert [row.high_watermark for row in marks] == [0, 0, 0, 4]
    assert [list(row.isr) for row in marks] == [[1, 2]] * 4


def test_high_watermarks_of_no_interval_are_refused(logs):
    with pytest.raises(KafkaLearnError, match="every_ms must be at least 1"):
        replication.high_watermarks(logs.fetches, logs.appends, logs.changes, UNTIL_MS, every_ms=0)


def test_a_partition_that_the_logs_do_not_have_cannot_be_replayed(logs):
    with pytest.raises(KafkaLearnError, match="no fetch of orders-99"):
        replication.replayed(logs.fetches, logs.appends, "orders", 99, UNTIL_MS)


def test_a_log_that_no_follower_could_have_made_is_refused(logs):
    wrong = logs.fetches.withColumn("fetch_offset", sf.col("fetch_offset") + 1)
    with pytest.raises(KafkaLearnError, match="the log has a fetch from 1; this follower's LEO is 0"):
        replication.replayed(wrong, logs.appends, "orders", 0, UNTIL_MS)
