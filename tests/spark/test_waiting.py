"""Requests that wait, as queries: each waits as long as the simulator makes it wait."""

from bisect import bisect_left

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.purgatory import ConsumerFetch, SizedProduce, requests
from kafkalearn.purgatory.requests import ConsumerAnswered
from kafkalearn.replication import Produce, Settings, TimePassed
from kafkalearn.spark import waiting
from kafkalearn.spark.data.logs import UNTIL_MS

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def writes(logs):
    return waiting.acks_all_waits(logs.fetches, logs.appends, logs.changes, UNTIL_MS).cache()


def test_each_write_waits_until_the_simulated_high_watermark_passes_it(logs, writes, played):
    rows = writes.orderBy("partition", "at_ms").collect()
    assert len(rows) == logs.appends.count()
    assert {row.error for row in rows} == {None, waiting.TIMED_OUT}
    for partition, marks in played.items():
        high_watermarks = [each.high_watermark for each in marks]
        for row in (row for row in rows if row.partition == partition):
            at = bisect_left(high_watermarks, row.leader_end)
            committed_ms = marks[at].at_ms if at < len(marks) else None
            assert row.committed_ms == committed_ms
            due_ms = row.at_ms + 30_000
            is_late = committed_ms is None or committed_ms >= due_ms
            answered_ms = due_ms if is_late else committed_ms
            assert row.waited_ms == (answered_ms - row.at_ms if answered_ms <= UNTIL_MS else None)
            assert row.error == (waiting.TIMED_OUT if is_late and due_ms <= UNTIL_MS else None)


def answered(commits, row, min_bytes, max_wait_ms):
    """When and with how much the simulator answers the fetch; its partition has one replica, so all is committed."""
    settings = Settings(replica_count=1)
    events = [SizedProduce(Produce(record_count=row.fetch_offset, acks=1))] if row.fetch_offset else []
    events += [ConsumerFetch("c1", row.fetch_offset, min_bytes, max_wait_ms)]
    now_ms, end = row.asked_ms, row.fetch_offset
    for committed_ms, offset in commits:
        if committed_ms > row.asked_ms and offset > end:
            produce = SizedProduce(Produce(record_count=offset - end, acks=1))
            events += [TimePassed(committed_ms - now_ms), produce]
            now_ms, end = committed_ms, offset
    trace = requests.simulate(settings, [*events, TimePassed(max_wait_ms)])
    for frame in trace:
        for effect in frame.state.effects:
            if isinstance(effect, ConsumerAnswered):
                return min(frame.state.partition.now_ms, max_wait_ms), 100 * len(effect.records)
    raise AssertionError("nobody was answered")


@pytest.mark.parametrize(("min_bytes", "max_wait_ms"), [(1, 500), (2_500, 3_000), (100_000, 400)])
def test_each_consumer_waits_as_long_as_the_simulated_one_and_gets_as_much(writes, min_bytes, max_wait_ms):
    waits = writes.where("partition < 2").transform(waiting.fetch_waits, min_bytes=min_bytes, max_wait_ms=max_wait_ms)
    rows = waits.orderBy("partition", "asked_ms").collect()
    commits = writes.where("partition < 2 AND committed_ms IS NOT NULL").orderBy("committed_ms", "leader_end")
    by_partition = {number: {} for number in range(2)}
    for row in commits.collect():
        by_partition[row.partition][row.committed_ms] = row.leader_end  # one fetch may commit several writes
    assert len(rows) > 100
    for row in rows[::9]:
        near = [each for each in by_partition[row.partition].items() if each[0] <= row.asked_ms + max_wait_ms]
        assert (row.waited_ms, row.bytes) == answered(near, row, min_bytes, max_wait_ms)
        assert row.is_enough == (row.bytes >= min_bytes)


def test_numbers_that_make_no_sense_are_refused(logs, writes):
    with pytest.raises(KafkaLearnError, match="timeout_ms must be at least 1"):
        waiting.acks_all_waits(logs.fetches, logs.appends, logs.changes, UNTIL_MS, timeout_ms=0)
    with pytest.raises(KafkaLearnError, match="min_bytes must be at least 1"):
        writes.transform(waiting.fetch_waits, min_bytes=0)


@pytest.mark.equal("waiting.latency_counts")
def test_the_counts_are_those_of_the_rows_and_the_shares_those_of_the_counts(spark):
    rows = waiting.round_trips(spark, 3_000, seed=5).cache()
    shares = {(row["acks"], row["replicas"]): row for row in waiting.latency_table(rows)}
    for acks, replicas in waiting.CASES:
        waited = sorted(row.latency_us for row in rows.transform(waiting.with_latency, acks, replicas).collect())
        assert (
            shares[str(acks), replicas]["50 % within, ms"] * 1000
            == (waited[1499] // waiting.BUCKET_US + 1) * waiting.BUCKET_US
        )
    assert {
        row["sum(records)"] for row in waiting.latency_counts(rows).groupBy("acks", "replicas").sum("records").collect()
    } == {3_000}


def test_the_rows_are_the_same_however_spark_cuts_them(spark):
    rows = waiting.round_trips(spark, 1_000, seed=7)
    assert rows.exceptAll(waiting.round_trips(spark, 1_000, seed=7).repartition(5)).count() == 0
    assert rows.exceptAll(waiting.round_trips(spark, 1_000, seed=8)).count() > 900


def test_what_does_not_fit_is_refused(spark):
    rows = waiting.round_trips(spark, 1)
    with pytest.raises(KafkaLearnError, match="acks"):
        waiting.with_latency(rows, 2)
    with pytest.raises(KafkaLearnError, match="replica_count"):
        waiting.with_latency(rows, "all", 6)
