"""What crashes cost over many runs: the query against the simulator, run by run."""

from dataclasses import replace

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.commits import STRATEGIES, CrashCost, replay
from kafkalearn.spark.data.logs import generate_deliveries, one_run
from kafkalearn.spark.delivery import OBSERVED, crash_costs

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
    rows = small.transform(crash_costs, strategies).collect()
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
        small.transform(crash_costs, ["auto, other threads"])
    with pytest.raises(KafkaLearnError, match="do not say what the strategy 'offset in the sink' costs"):
        small.transform(crash_costs, ["offset in the sink"])
    with pytest.raises(KafkaLearnError, match="strategies is empty"):
        small.transform(crash_costs, [])
    with pytest.raises(KafkaLearnError, match="no column 'crashed_ms'"):
        small.drop("crashed_ms").transform(crash_costs)
    with pytest.raises(KafkaLearnError, match="commit_ms must be at least 0"):
        small.transform(crash_costs, commit_ms=-1)
