"""Timers on Spark: a busy load costs what the wheels say, and the data are what they say."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.purgatory.wheel import Load, wheel_cost
from kafkalearn.spark.waiting import HOUR_MS, KINDS, generate_request_timers, request_timers, with_wheel_moves

SCHEMA = "added_ms long, timeout_ms int, done_ms long"


def test_a_busy_millisecond_by_millisecond_load_costs_what_the_counted_wheels_say(spark):
    loads = [Load(at, 1 + at * 37 % 900, at + at * 13 % 400 if at % 3 else None) for at in range(2_000)]
    rows = spark.createDataFrame([(load.added_ms, load.timeout_ms, load.done_ms) for load in loads], SCHEMA)
    # a timer that is due in every millisecond keeps the clock of the wheels at the real time
    ticking = [Load(at - 1, 1) for at in range(1, 4_000)]

    assert sum(row.moves for row in rows.transform(with_wheel_moves).collect()) == wheel_cost(loads + ticking).move


def test_the_timers_are_the_same_however_spark_is_cut(spark):
    whole = generate_request_timers(spark, 5_000, 42)
    cut = whole.repartition(7).orderBy("timer")
    assert cut.collect() == whole.orderBy("timer").collect()


def test_the_timers_are_those_of_a_broker(spark):
    timers = request_timers(spark, "small")
    by_kind = {row["kind"]: row for row in timers.groupBy("kind").agg({"timer": "count", "done_ms": "count"}).collect()}
    for share, kind, *_ in KINDS:
        assert by_kind[kind]["count(timer)"] == 100 * share
    assert timers.where(f"added_ms < 0 or added_ms >= {HOUR_MS}").count() == 0
    assert timers.where("done_ms < added_ms or done_ms >= added_ms + timeout_ms").count() == 0
    expired = 1 - by_kind["fetch"]["count(done_ms)"] / by_kind["fetch"]["count(timer)"]
    assert expired == pytest.approx(0.15, abs=0.01)


def test_wheels_that_cannot_be_are_refused(spark):
    with pytest.raises(KafkaLearnError, match="wheel_size must be at least 2"):
        spark.createDataFrame([], SCHEMA).transform(with_wheel_moves, wheel_size=1)
