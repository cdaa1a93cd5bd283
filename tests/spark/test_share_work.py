"""A share group's work on Spark: the simulator's deliveries on a sample, and a plain fold for a consumer group."""

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.sharing.shifts import ACCEPTED, DONE, Settings, work_off
from kafkalearn.spark.share_work import (
    OUTCOMES,
    RUSH,
    SESSION_MS,
    TRIES,
    jobs_of,
    summed,
    with_deliveries,
    work,
    worked_off,
)

pytestmark = pytest.mark.spark

PARTITIONS, PARTITION = 24, 7


@pytest.fixture(scope="module")
def records(spark):
    """Two rushes with much trouble: a fifth of the records, and of the tries, is heavy, fails, or kills."""
    rows = work(spark, 2 * RUSH)

    def worse(each, nth):
        draw = sf.pmod(sf.xxhash64("rush", "place", nth), sf.lit(20))
        end = sf.when(draw == 0, 2).when((draw == 1) | (sf.col("place") % 37 == 0), 1).otherwise(0)
        took = sf.when((draw == 2) | (sf.col("place") % 31 == 0), 10_000 + each["work_ms"] * 9)
        return sf.struct(sf.coalesce(took, each["work_ms"]).cast("int").alias("work_ms"), end.alias("end"))

    return rows.withColumn("tries", sf.transform("tries", worse)).localCheckpoint()


@pytest.fixture(scope="module")
def sample(records):
    return jobs_of(records.where(f"rush = 1 AND place % {PARTITIONS} = {PARTITION}").collect())


def of_the_sample(deliveries):
    rows = deliveries.where(f"rush = 1 AND place % {PARTITIONS} = {PARTITION}").orderBy("began_ms", "place").collect()
    return [
        (each.place // PARTITIONS, each.delivery_count, each.began_ms, each.ended_ms, OUTCOMES[each.outcome])
        for each in rows
    ]


@pytest.mark.parametrize(("seats", "lock_ms", "limit"), [(1, 30_000, 5), (3, 15_000, 5), (3, 30_000, 2)])
def test_every_delivery_is_the_simulator_s(records, sample, seats, lock_ms, limit):
    chosen = Settings(member_count=seats, lock_ms=lock_ms, delivery_limit=limit)
    options = {"partition_count": PARTITIONS, "lock_ms": lock_ms, "delivery_limit": limit}
    by_query = of_the_sample(records.transform(worked_off, members=seats * PARTITIONS, **options))
    assert by_query == [tuple(each) for each in work_off(chosen, sample)]
    assert len(by_query) > len(sample)


def test_a_record_alone_is_delivered_as_often_as_among_others(records):
    alone = records.transform(with_deliveries, lock_ms=15_000)
    among = (
        records.transform(worked_off, members=30, partition_count=12, lock_ms=15_000)
        .groupBy("rush", "place")
        .agg(
            sf.max("delivery_count").alias("delivery_count"),
            (sf.min("outcome") > 0).alias("is_given_up"),
            sf.sum(sf.col("ended_ms") - sf.col("began_ms")).alias("busy_ms"),
        )
    )
    columns = ["rush", "place", "delivery_count", "is_given_up", "busy_ms"]
    assert alone.select(columns).exceptAll(among.select(columns)).count() == 0
    counted = alone.agg(sf.count_if("is_given_up"), sf.max("processed_count"), sf.count("*")).first()
    assert counted[0] > 0
    assert tuple(counted[1:]) == (5, 2 * RUSH)


def test_a_lock_may_be_a_column(records):
    both = records.withColumn("lock_ms", sf.explode(sf.lit([15_000, 60_000]))).transform(
        with_deliveries, lock_ms="lock_ms"
    )
    for lock_ms in (15_000, 60_000):
        alone = records.transform(with_deliveries, lock_ms=lock_ms)
        assert both.where(f"lock_ms = {lock_ms}").drop("lock_ms").exceptAll(alone).count() == 0


def in_order(jobs):
    """A consumer of one partition: it tries again itself, and skips what has failed five times."""
    now_ms, done = 0, []
    for offset, job in enumerate(jobs):
        now_ms = max(now_ms, job.arrived_ms)
        for count, each in enumerate(job.tries, start=1):
            done.append((offset, count, now_ms, now_ms + each.work_ms))
            now_ms += each.work_ms + (SESSION_MS if each.end == "dies" else 0)
            if each.end == DONE:
                break
    return done


def test_a_consumer_group_goes_in_order_and_members_without_a_partition_do_not_help(records, sample):
    twelve, many = (
        of_the_sample(records.transform(worked_off, members=each, partition_count=PARTITIONS, protocol="consumer"))
        for each in (PARTITIONS, 200)
    )
    assert twelve == many
    assert [each[:4] for each in twelve] == in_order(sample)
    assert [each[0] for each in twelve] == sorted(each[0] for each in twelve)


@pytest.mark.equal("share_work.summed")
def test_the_sums_are_those_of_the_rows(records):
    rows = records.transform(worked_off, members=60, partition_count=PARTITIONS, lock_ms=15_000)
    row, all_rows = rows.transform(summed).first(), rows.collect()
    first = [each for each in all_rows if each.delivery_count == 1]
    assert row.record_count == len(first) == 2 * RUSH
    assert row.redelivered_count == len(all_rows) - len(first)
    accepted = {(each.rush, each.place) for each in all_rows if OUTCOMES[each.outcome] == ACCEPTED}
    assert row.given_up_count == 2 * RUSH - len(accepted) > 0
    assert row.wait_s == pytest.approx(sum(each.began_ms - each.arrived_ms for each in first) / 1000 / len(first))
    took_s = sum(max(each.ended_ms for each in all_rows if each.rush == rush) for rush in (0, 1)) / 1000
    assert row.per_second == pytest.approx(2 * RUSH / took_s)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"members": 12, "partition_count": 7}, "must divide 1200"),
        ({"members": 11, "partition_count": 12}, r"at least partition_count \(12\), got 11"),
        (
            {"members": 12, "partition_count": 12, "protocol": "classic"},
            "one of 'share', 'consumer'",
        ),
        ({"members": 12, "partition_count": 12, "delivery_limit": TRIES + 1}, "delivery_limit"),
    ],
)
def test_what_makes_no_sense_is_refused(records, options, message):
    with pytest.raises(KafkaLearnError, match=message):
        records.transform(worked_off, **options)


def test_rows_that_do_not_lie_together_are_refused(records):
    with pytest.raises(PySparkException, match=r"must lie together|whole rushes"):
        records.where("place != 3").transform(worked_off, members=12, partition_count=12).count()
