"""Deliveries that are made up, as consumers could have seen them."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.data.logs import RECORDS_PER_PAIR, deliveries, generate_deliveries, one_run

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def small(spark):
    return generate_deliveries(spark, 4, seed=7).cache()


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


def test_a_run_that_is_not_there_is_refused(small):
    with pytest.raises(KafkaLearnError, match="there is no run 99"):
        one_run(small, 99)
