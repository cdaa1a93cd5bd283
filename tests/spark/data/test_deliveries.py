"""What crashes cost over many runs: the query against the simulator, run by run."""

from dataclasses import replace

import pytest

from kafkalearn.commits import STRATEGIES, Toll, replay
from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.data.deliveries import RECORDS_PER_PAIR, deliveries, generate_deliveries, one_run
from kafkalearn.spark.crash_cost import OBSERVED, tolls

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
    strategies = [*(STRATEGIES[name] for name in OBSERVED), *OWN]
    told = small.transform(tolls, strategies).collect()
    record_count = {row.run: row["count"] for row in small.groupBy("run").count().collect()}
    shortest = sorted(record_count, key=record_count.get)[:3]

    assert len(told) == len(record_count) * len(strategies)
    for run in shortest:
        seen, crashed_ms = one_run(small, run)
        replayed = {each.name: replay(each, seen, crashed_ms)[1] for each in strategies}
        assert {
            row.strategy: Toll(row.lost_count, row.doubled_count, row.commit_count) for row in told if row.run == run
        } == replayed


def test_deliveries_are_what_a_consumer_can_see(small):
    for run in (0, 5):
        seen, crashed_ms = one_run(small, run)
        assert [each.offset for each in seen] == list(range(len(seen)))
        times = [each.processed_ms for each in seen if each.processed_ms is not None]
        assert times == sorted(times)
        assert all(each.polled_ms <= (each.processed_ms or crashed_ms) for each in seen)
        assert all(each.processed_ms is None or each.processed_ms < crashed_ms for each in seen)
        ends = {each.poll: each.processed_ms for each in seen}
        assert all(each.polled_ms == ends[each.poll - 1] for each in seen if each.poll)


def test_the_rows_are_the_same_however_spark_cuts_them(spark, small):
    again = generate_deliveries(spark, 4, seed=7).repartition(7)
    assert again.exceptAll(small).count() == small.exceptAll(again).count() == 0
    assert generate_deliveries(spark, 1, seed=8).exceptAll(small).count() > 0


def test_a_size_is_rounded_up_to_whole_pairs_of_runs(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKALEARN_DATA_DIR", str(tmp_path))
    rows = deliveries(spark, RECORDS_PER_PAIR + 1)
    assert rows.count() == 2 * RECORDS_PER_PAIR
    assert rows.select("run").distinct().count() == 4


def test_what_deliveries_cannot_tell_is_refused(small):
    with pytest.raises(KafkaLearnError, match="cannot be told"):
        small.transform(tolls, ["auto, other threads"])
    with pytest.raises(KafkaLearnError, match="cannot be told"):
        small.transform(tolls, ["offset in the sink"])
    with pytest.raises(KafkaLearnError, match="strategies is empty"):
        small.transform(tolls, [])
    with pytest.raises(KafkaLearnError, match="no column 'crashed_ms'"):
        small.drop("crashed_ms").transform(tolls)
    with pytest.raises(KafkaLearnError, match="there is no run 99"):
        one_run(small, 99)
    with pytest.raises(KafkaLearnError, match="commit_ms must be at least 0"):
        small.transform(tolls, commit_ms=-1)
