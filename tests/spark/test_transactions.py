"""Transactions on Spark: the queries against the simulator, and the made topic against its own rules."""

import random

import pytest
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark import transactions
from kafkalearn.transactions import EndTxn, InitProducerId, Produce, Settings, TimePassed, start
from kafkalearn.transactions.partition import committed_records
from kafkalearn.transactions.reader import open_first
from kafkalearn.transactions.simulator import markers_due, simulate, step

pytestmark = pytest.mark.spark

NAMES = ("orders-0", "orders-1")
PRODUCERS = ("x", "y", "z")


def random_run(seed, count):
    """A run of three producers with their transactions, records without one, markers that come late, and time."""
    chance, settings = random.Random(seed), Settings(partitions=NAMES)
    events = [InitProducerId(each, timeout_ms=30_000) for each in PRODUCERS]
    state, sequences = start(settings), {}
    for event in events:
        state = step(settings, state, event)
    while len(events) < count:
        name, partition = chance.choice(PRODUCERS), chance.choice(NAMES)
        held = state.transaction(name)
        who = (held.producer_id, held.epoch)
        due = markers_due(state)
        kind = chance.choice(("send", "send", "send", "plain", "end", "marker", "marker", "time"))
        if kind == "send":
            event = Produce(
                name, partition, *who, sequences.get((*who, partition), 0), tuple("r" * chance.randint(1, 3))
            )
        elif kind == "plain":
            event = Produce(None, partition, is_transactional=False)
        elif kind == "end":
            event = EndTxn(name, *who, chance.random() < 0.7)
        elif kind == "marker" and due:
            event = chance.choice(due)
        else:
            event = TimePassed(chance.choice((400, 700, 3_000)))
        state = step(settings, state, event)
        if kind == "send" and state.effects[0].error == "NONE":
            sequences[*who, partition] = sequences.get((*who, partition), 0) + len(event.records)
        events.append(event)
    return settings, simulate(settings, events)


@pytest.fixture(scope="module")
def runs():
    return [random_run(seed, 260)[1] for seed in range(3)]


@pytest.fixture(scope="module")
def rows(spark, runs):
    found = [transactions.log_rows(spark, run).where("topic = 'orders'") for run in runs]
    # One topic a run: all three in one query.
    named = [each.withColumn("topic", sf.lit(f"run-{at}")) for at, each in enumerate(found)]
    together = named[0].unionByName(named[1]).unionByName(named[2])
    return together.cache()


@pytest.fixture(scope="module")
def found(rows):
    return rows.transform(transactions.transactions_of).cache()


@pytest.mark.equal("transactions.transactions_of")
def test_each_transaction_is_found_with_its_end(runs, found):
    for at, run in enumerate(runs):
        mine = found.where(f"topic = 'run-{at}'").collect()
        for number, name in enumerate(NAMES):
            log = run[-1].state.partition(name)
            aborted = {(each.producer_id, each.first_offset, each.last_offset) for each in log.aborted}
            still = {(each.producer_id, each.first_offset) for each in log.producers if each.first_offset >= 0}
            here = [row for row in mine if row.partition == number]

            assert {
                (row.producer_id, row.first_offset, row.marker_offset)
                for row in here
                if row.outcome == transactions.ABORTED
            } == aborted
            assert {(row.producer_id, row.first_offset) for row in here if row.outcome == transactions.OPEN} == still
            assert sum(row.outcome == transactions.COMMITTED for row in here) > 3


def test_the_last_stable_offset_and_who_holds_it_are_those_of_the_simulator(runs, rows, found):
    every_ms, compared = 1_000, 0
    for row in transactions.stable_offsets(rows, every_ms, found).collect():
        run = runs[int(row.topic.removeprefix("run-"))]
        state = [frame.state for frame in run if frame.state.now_ms <= row.at_ms][-1]
        log = state.partition(NAMES[row.partition])
        holder = open_first(log)

        assert (row.end_offset, row.stable_offset) == (log.end_offset, log.last_stable_offset)
        assert row.held_by == (holder[0] if holder else None)
        assert row.held_back == row.end_offset - row.stable_offset
        compared += holder is not None
    assert compared > 50


@pytest.mark.equal("transactions.waits")
def test_a_record_can_be_read_when_the_simulators_reader_can(runs, rows, found):
    waited = transactions.waits(rows, found).collect()
    for at, run in enumerate(runs):
        for number, name in enumerate(NAMES):
            mine = {row.offset: row for row in waited if (row.topic, row.partition) == (f"run-{at}", number)}
            log = run[-1].state.partition(name)
            read = [row for row in mine.values() if row.wait_ms is not None and row.outcome == transactions.COMMITTED]
            assert len(read) == len(committed_records(log))
            for offset, row in mine.items():
                above = [frame.state for frame in run if frame.state.partition(name).last_stable_offset > offset]
                there = [frame.state for frame in run if frame.state.partition(name).end_offset > offset]
                wait_ms = above[0].now_ms - there[0].now_ms if above else None
                assert row.wait_ms == wait_ms


def test_the_made_topic_has_what_it_says_and_is_the_same_however_it_is_cut(spark):
    made = transactions.generate_topic(spark, 24_000, 5)
    cut = transactions.generate_topic(spark, 24_000, 5).repartition(3)
    found = made.transform(transactions.transactions_of).cache()
    counts = {row.outcome: row["count"] for row in found.groupBy("outcome").count().collect()}
    lost = found.where("outcome = 'OPEN'").orderBy("first_ms").first()

    assert made.exceptAll(cut).count() == 0
    assert 0.02 < counts[transactions.ABORTED] / (counts[transactions.ABORTED] + counts[transactions.COMMITTED]) < 0.07
    assert (lost.partition, lost.producer_id, lost.record_count) == (7, 59, 1)
    assert made.groupBy("partition").agg(sf.max("offset") + 1 == sf.count("*")).distinct().count() == 12
    # Each marker ends a transaction: none comes where nothing is open.
    assert made.where("control IS NOT NULL").count() == counts[transactions.ABORTED] + counts[transactions.COMMITTED]


def test_stable_offsets_of_no_interval_are_refused(spark):
    with pytest.raises(KafkaLearnError, match="every_ms must be at least 1"):
        transactions.stable_offsets(transactions.generate_topic(spark, 24, 5), 0)
