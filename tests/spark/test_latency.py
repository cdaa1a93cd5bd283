"""How long records wait, on Spark: the query against the simulator, and the counts against the rows."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.delivery.cost import Trip, latency, timed_run
from kafkalearn.spark.waiting import BUCKET_US, CASES, latency_counts, latency_table, round_trips, with_latency

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(("acks", "replicas"), [(0, 3), *CASES])
def test_every_record_waits_as_long_as_in_a_run_of_the_simulator(spark, acks, replicas):
    for row in round_trips(spark, 40, seed=3).transform(with_latency, acks, replicas).collect():
        trip = Trip(row[0], row[1], tuple(row[2 : 1 + replicas]))
        called = [each.state.partition.now_ms for each in timed_run(acks, trip) if each.state.producer.callbacks]
        assert row.latency_us == latency(acks, trip) == called[0]


def test_the_counts_are_those_of_the_rows_and_the_shares_those_of_the_counts(spark):
    rows = round_trips(spark, 3_000, seed=5).cache()
    shares = {(row["acks"], row["replicas"]): row for row in latency_table(rows)}
    for acks, replicas in CASES:
        waited = sorted(row.latency_us for row in rows.transform(with_latency, acks, replicas).collect())
        assert shares[str(acks), replicas]["50 % within, ms"] * 1000 == (waited[1499] // BUCKET_US + 1) * BUCKET_US
    assert {
        row["sum(records)"] for row in latency_counts(rows).groupBy("acks", "replicas").sum("records").collect()
    } == {3_000}


def test_the_rows_are_the_same_however_spark_cuts_them(spark):
    rows = round_trips(spark, 1_000, seed=7)
    assert rows.exceptAll(round_trips(spark, 1_000, seed=7).repartition(5)).count() == 0
    assert rows.exceptAll(round_trips(spark, 1_000, seed=8)).count() > 900


def test_what_does_not_fit_is_refused(spark):
    rows = round_trips(spark, 1)
    with pytest.raises(KafkaLearnError, match="acks"):
        with_latency(rows, 2)
    with pytest.raises(KafkaLearnError, match="replica_count"):
        with_latency(rows, "all", 6)
    with pytest.raises(KafkaLearnError, match="no column 'back_us'"):
        with_latency(rows.drop("back_us"))
