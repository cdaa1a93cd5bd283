"""Backlogs by Spark: the same as those of the simulator that goes record by record."""

from random import Random

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming.push import Process, Produce, Settings, missed_by_pull, simulate
from kafkalearn.spark.lag import backlogs

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(("queue_limit", "retention"), [(5, 7), (3, 40), (60, 6), (200, 200)])
def test_each_consumer_stands_where_the_simulator_has_it(spark, queue_limit, retention):
    chance = Random(queue_limit)
    rates = {f"c{number}": number for number in range(7)}
    arriving = [chance.randrange(9) for _ in range(40)]
    settings = Settings(tuple(rates), queue_limit=queue_limit, prefetch=2, retention=retention)
    work = [Process(consumer, rate) for consumer, rate in rates.items() if rate]
    brokers = simulate(settings, [event for count in arriving for event in (*[Produce()] * count, *work)])[-1].state

    arrivals = spark.createDataFrame(list(enumerate(arriving)), "interval int, record_count int")
    consumers = spark.createDataFrame(list(rates.items()), "consumer string, rate int")
    found = backlogs(consumers, arrivals, queue_limit, retention).collect()

    expected = {}
    for reader, queue in zip(brokers.readers, brokers.queues, strict=True):
        lag = brokers.log_end - reader.position
        of_queue = (len(queue.held), queue.dropped_count, queue.read_count)
        expected[reader.consumer] = (*of_queue, lag, missed_by_pull(brokers, reader), reader.read_count)
    assert {
        row.consumer: (row.held, row.dropped, row.pushed, row.lag, row.missed, row.pulled) for row in found
    } == expected
    assert all(row.most_held >= row.held for row in found)


def test_without_limits_nothing_is_lost(spark):
    arrivals = spark.range(50).selectExpr("id AS interval", "7 AS record_count")
    consumers = spark.range(1, 10).selectExpr("id AS consumer", "id AS rate")
    for row in backlogs(consumers, arrivals).collect():
        assert (row.dropped, row.missed) == (0, 0)
        assert (row.held, row.pushed) == (row.lag, row.pulled)
        assert row.held + row.pushed == 350


@pytest.mark.parametrize(
    ("options", "said"),
    [({"queue_limit": 0}, "queue_limit must be at least 1"), ({"retention": 0}, "retention must be at least 1")],
)
def test_what_can_hold_nothing_is_refused(spark, options, said):
    with pytest.raises(KafkaLearnError, match=said):
        backlogs(spark.range(1), spark.range(1), **options)
    with pytest.raises(KafkaLearnError, match="no column 'rate'"):
        backlogs(spark.range(1).selectExpr("id AS consumer"), spark.range(1))
