"""Bursts of sends: the query against the simulator's run of each, and the leader's memory against the scalar rule."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.delivery import ProducerSettings, Settings, record_results, simulate
from kafkalearn.delivery.bursts import BURST, BURST_PRODUCERS, TWO_BROKERS, burst_events
from kafkalearn.delivery.model import DuplicateRecognised
from kafkalearn.spark import bursts as rules
from kafkalearn.spark import delivery

pytestmark = pytest.mark.spark

OTHERS = {
    "two in flight": ProducerSettings(acks=1, max_in_flight=2),
    "three in flight": ProducerSettings(is_idempotent=False, max_in_flight=3),
    "ten in flight": ProducerSettings(acks=1, is_idempotent=False, max_in_flight=10),
    "no retries, one in flight": ProducerSettings(retries=0, max_in_flight=1),
    "acks=0, two in flight": ProducerSettings(acks=0, max_in_flight=2),
    "idempotent, two in flight": ProducerSettings(max_in_flight=2),
    "idempotent, three in flight": ProducerSettings(max_in_flight=3),
    "idempotent, one in flight": ProducerSettings(max_in_flight=1, retries=2),
    "puts aside": ProducerSettings(acks=1, puts_failures_aside=True),
}
PRODUCERS = {**BURST_PRODUCERS, **OTHERS}


def played(producer, accident):
    """Log, results, callbacks and duplicates by the simulator."""
    settings = Settings(TWO_BROKERS, producer)
    trace = simulate(settings, burst_events(settings, accident))
    found = record_results(trace[-1].state)
    effects = [effect for frame in trace for effect in frame.state.effects]
    return {
        "log": [int(record.value[1:]) for record in trace[-1].state.partition.leader.log.records],
        "results": [each.result for each in found],
        "callbacks": [each.callback for each in found],
        "duplicate_count": sum(isinstance(effect, DuplicateRecognised) for effect in effects),
    }


@pytest.fixture(scope="module")
def queried(spark):
    """A burst of every accident that is drawn, for every producer."""
    rows = rules.bursts(spark, 10_000 * BURST * len(PRODUCERS), seed=7, producers=PRODUCERS)
    rows = rows.dropDuplicates(["producer", "accident"]).cache()
    return rows.transform(rules.with_requests).transform(rules.with_log).transform(rules.with_results).cache()


def test_every_accident_ends_for_every_producer_as_in_the_simulator(queried):
    seen = queried.collect()
    kinds = set()
    for row in seen:
        accident = rules.accident_of(row.accident)
        expected = played(PRODUCERS[row.producer], accident)
        assert {name: row[name] for name in expected} == expected, (row.producer, accident)
        assert row.refused_count == 0
        if accident is not None:
            kinds.add((accident.copied is not None, accident.again is not None, accident.is_time_over))
    assert kinds == {(False, False, False), (False, False, True), (False, True, False), (True, False, False)}
    assert len(seen) > 100 * len(PRODUCERS)


def test_the_two_tables_of_chapter_10_give_the_same_results(queried):
    named = queried.selectExpr("concat(producer, '/', monotonically_increasing_id()) AS run", "*").cache()
    sent = named.selectExpr("run", "posexplode(callbacks) AS (at, callback)").selectExpr(
        "run", "at + 1 AS number", "callback"
    )
    log = named.selectExpr("run", "posexplode(log) AS (offset, number)")
    expected = named.selectExpr("run", "posexplode(results) AS (at, result)").selectExpr(
        "run", "at + 1 AS number", "result"
    )
    found = delivery.results_of(sent, log).select("run", "number", "result")
    assert found.exceptAll(expected).count() == expected.exceptAll(found).count() == 0


@pytest.mark.equal("bursts.record_rows")
def test_producers_have_the_same_accidents_and_each_setting_its_results(spark):
    rows = rules.bursts(spark, "small")
    assert (
        rows.groupBy("burst").agg({"accident": "count", "*": "count"}).where("`count(accident)` % 7 != 0").count() == 0
    )
    found = rows.transform(rules.with_requests).transform(rules.with_log).transform(rules.with_results)
    counts = found.transform(rules.record_rows).transform(delivery.result_counts).collect()
    ends = {
        row.producer: {name for name, count in row.asDict().items() if count and name != "producer"} for row in counts
    }
    assert ends == {
        "acks=0": {"safe", "lost"},
        "acks=1, no retries": {"safe", "lost", "rejected", "rejected, yet written"},
        "acks=1": {"safe", "lost", "doubled", "out of order", "rejected", "rejected, yet written"},
        "acks=all": {"safe", "doubled", "out of order", "rejected", "rejected, yet written"},
        "acks=all, 1 in flight": {"safe", "doubled", "rejected", "rejected, yet written"},
        "acks=all, idempotent": {"safe", "rejected", "rejected, yet written"},
        "idempotent, puts aside": {"safe", "doubled", "out of order"},
    }
    again = rules.bursts(spark, "small").repartition(3)
    assert rows.exceptAll(again).count() == again.exceptAll(rows).count() == 0
    assert rules.bursts(spark, "small", seed=1).exceptAll(rows).count() > 0


def test_what_is_not_modelled_is_refused(spark):
    with pytest.raises(KafkaLearnError, match="retries must be 0 or at least 2"):
        rules.bursts(spark, 70, producers={"one": ProducerSettings(acks=1, retries=1)})
    with pytest.raises(KafkaLearnError, match="producers is empty"):
        rules.bursts(spark, 70, producers={})
