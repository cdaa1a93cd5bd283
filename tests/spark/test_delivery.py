"""What crashes cost, and the results of records: the queries against the simulator, over many runs."""

from dataclasses import replace

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.commits import STRATEGIES, CrashCost, replay
from kafkalearn.delivery import (
    RESULTS,
    AnswerArrived,
    ConnectionLost,
    GaveUp,
    ProducerSettings,
    RequestArrived,
    RequestSent,
    Send,
    SendAgain,
    Settings,
    TopicSettings,
)
from kafkalearn.delivery.search import ends, rows_of
from kafkalearn.replication import BrokerCrashed, BrokerStarted, Fetch, SessionExpired
from kafkalearn.spark import delivery
from kafkalearn.spark.data.logs import generate_deliveries, one_run

pytestmark = pytest.mark.spark


OWN = (
    replace(STRATEGIES["each record"], name="every 100 records", every=100),
    replace(STRATEGIES["each batch"], name="after 300 ms", interval_ms=300),
    replace(STRATEGIES["auto"], name="auto, 700 ms", interval_ms=700),
)


@pytest.fixture(scope="module")
def small(spark):
    return generate_deliveries(spark, 4, seed=7).cache()


def test_each_strategy_costs_in_the_query_what_it_costs_in_the_simulator(small):
    strategies = [*(STRATEGIES[name] for name in delivery.OBSERVED), *OWN]
    rows = small.transform(delivery.crash_costs, strategies).collect()
    record_count = {row.run: row["count"] for row in small.groupBy("run").count().collect()}
    shortest = sorted(record_count, key=record_count.get)[:3]

    assert len(rows) == len(record_count) * len(strategies)
    for run in shortest:
        seen, crashed_ms = one_run(small, run)
        replayed = {each.name: replay(each, seen, crashed_ms)[1] for each in strategies}
        of_run = [row for row in rows if row.run == run]
        costs = {row.strategy: CrashCost(row.lost_count, row.doubled_count, row.commit_count) for row in of_run}
        assert costs == replayed


def test_what_deliveries_do_not_show_is_refused(small):
    with pytest.raises(KafkaLearnError, match="do not say what the strategy 'auto, other threads' costs"):
        small.transform(delivery.crash_costs, ["auto, other threads"])
    with pytest.raises(KafkaLearnError, match="do not say what the strategy 'offset in the sink' costs"):
        small.transform(delivery.crash_costs, ["offset in the sink"])
    with pytest.raises(KafkaLearnError, match="strategies is empty"):
        small.transform(delivery.crash_costs, [])
    with pytest.raises(KafkaLearnError, match="commit_ms must be at least 0"):
        small.transform(delivery.crash_costs, commit_ms=-1)


TRAFFIC = [Send, SendAgain, RequestSent, RequestArrived, AnswerArrived, Fetch]
FAILURES = [ConnectionLost, BrokerCrashed, SessionExpired, BrokerStarted, GaveUp]
LIMITS = {Send: 2, ConnectionLost: 1, BrokerCrashed: 1, GaveUp: 1, Fetch: 3}
SENT, AGAIN, LOG = (
    "run string, number int, callback string",
    "run string, number int, callback string, attempt int",
    "run string, number int, offset int",
)
PRODUCERS = [ProducerSettings(acks=0), ProducerSettings(acks=1), ProducerSettings(is_idempotent=False)]


@pytest.fixture(scope="module")
def simulated():
    """All quiet ends of short schedules, as the three tables."""
    two, one = TopicSettings(replica_count=2, fetch_wait_max_ms=0), TopicSettings(replica_count=1)
    schedules = [(Settings(two, producer), [*TRAFFIC, *FAILURES], 6) for producer in [*PRODUCERS, ProducerSettings()]]
    schedules.append((Settings(one, PRODUCERS[1]), [*TRAFFIC[:5], ConnectionLost], 9))
    aside = ProducerSettings(puts_failures_aside=True)
    schedules.append((Settings(one, aside), [*TRAFFIC[:5], ConnectionLost, GaveUp], 9))
    return rows_of(
        (f"{at}-{index}", end.delivery)
        for at, (settings, kinds, length) in enumerate(schedules)
        for index, end in enumerate(ends(settings, kinds, length, LIMITS))
    )


def test_the_query_finds_for_every_end_of_every_short_schedule_the_results_of_the_simulator(spark, simulated):
    sent, log, results = simulated
    found = delivery.results_of(spark.createDataFrame(sent, AGAIN), spark.createDataFrame(log, LOG))

    assert {(row.run, row.number, row.result) for row in found.collect()} == set(results)
    assert {result for _, _, result in results} == set(RESULTS)
    assert {attempt for *_, attempt in sent} == {1, 2}
    assert found.count() == len(results) > 300


@pytest.fixture(scope="module")
def day_of_producers(spark):
    return delivery.generate_sends(spark, 40, seed=7).cache()


@pytest.mark.equal("delivery.result_counts", "delivery.sent_of", "delivery.log_of")
def test_a_day_of_producers_shows_what_each_setting_lets_happen(day_of_producers):
    rows = [
        row.asDict()
        for row in delivery.results_of(delivery.sent_of(day_of_producers), delivery.log_of(day_of_producers))
        .transform(delivery.result_counts)
        .collect()
    ]
    counts = {row.pop("producer"): row for row in rows}

    assert {producer: {name for name, count in row.items() if count} for producer, row in counts.items()} == {
        "acks=0": {"safe", "lost"},
        "acks=1": {"safe", "lost", "doubled", "out of order"},
        "acks=all": {"safe", "doubled", "out of order", "rejected", "rejected, yet written"},
        "acks=all, idempotent": {"safe", "rejected", "rejected, yet written"},
        "idempotent, puts aside": {"safe", "doubled", "out of order"},
    }
    assert {sum(row.values()) for row in counts.values()} == {8 * delivery.RUN_LENGTH}


def test_the_rows_are_the_same_however_spark_cuts_them(spark, day_of_producers):
    again = delivery.generate_sends(spark, 40, seed=7).repartition(5)
    assert again.exceptAll(day_of_producers).count() == day_of_producers.exceptAll(again).count() == 0
    assert delivery.generate_sends(spark, 1, seed=8).exceptAll(day_of_producers).count() > 0


def test_what_nobody_has_sent_is_left_out_and_other_columns_stay(spark):
    sent = spark.createDataFrame([("a", 1, "NONE", 7)], SENT + ", colour int")
    log = spark.createDataFrame([("a", 1, 0), ("b", 1, 1)], LOG)
    (row,) = delivery.results_of(sent, log).collect()
    assert row.asDict() == {"run": "a", "number": 1, "callback": "NONE", "colour": 7, "copy_count": 1, "result": "safe"}


def test_a_size_is_rounded_up_to_whole_runs(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKALEARN_DATA_DIR", str(tmp_path))
    assert delivery.sends(spark, delivery.RUN_LENGTH + 1).count() == 2 * delivery.RUN_LENGTH


def test_attempts_are_counted(spark):
    with pytest.raises(KafkaLearnError, match="'attempt' must be"):
        delivery.results_of(spark.createDataFrame([], f"{SENT}, attempt string"), spark.createDataFrame([], LOG))
