"""What a reader of a partition gets, where it stands, and its lags; the picture of what it reads."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.chapter15 import delivered
from kafkalearn.transactions import EndTxn, InitProducerId, MarkerArrived, Produce, Settings, TimePassed, simulate
from kafkalearn.transactions.partition import committed_records
from kafkalearn.transactions.picture import CELL, describe_transactions, draw_transactions
from kafkalearn.transactions.reader import (
    ABORTED,
    ISOLATION_LEVELS,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    fate,
    lag,
    offset_for_time,
    poll,
    readable_to,
)
from kafkalearn.transactions.simulator import settled, step

NAMES = ("t-0", "t-1")
STEPS = st.one_of(
    st.tuples(st.just("send"), st.sampled_from(("x", "y")), st.sampled_from(NAMES), st.integers(1, 3)),
    st.tuples(st.just("plain"), st.just(None), st.sampled_from(NAMES), st.integers(1, 2)),
    st.tuples(st.sampled_from(("commit", "abort")), st.sampled_from(("x", "y")), st.just(""), st.just(0)),
)


def logs_of(steps):
    """The partitions after well-behaved producers of version 2 did these steps."""
    settings = Settings()
    state, number = settings_state(settings), 0
    sequences = {}
    for kind, name, partition, count in steps:
        records = tuple(f"r{number + each}" for each in range(count))
        number += count
        if kind == "plain":
            state = step(settings, state, Produce(None, partition, records=records, is_transactional=False))
        elif kind == "send":
            held = state.transaction(name)
            who = (held.producer_id, held.epoch)
            sequence = sequences.get((*who, partition), 0)
            state = step(settings, state, Produce(name, partition, *who, sequence, records))
            assert state.effects[0].error == "NONE"
            sequences[*who, partition] = sequence + count
        else:
            held = state.transaction(name)
            end = EndTxn(name, held.producer_id, held.epoch, kind == "commit")
            state = settled(settings, step(settings, state, end))
    return [state.partition(each) for each in NAMES]


def settings_state(settings):
    return simulate(settings, [InitProducerId("x"), InitProducerId("y")])[-1].state


@given(st.lists(STEPS, max_size=16), st.integers(1, 4))
@examples(max_examples=60, deadline=None)
def test_polls_give_what_the_partition_says_is_committed_however_they_are_cut(steps, most):
    for log in logs_of(steps):
        read, passed, position = [], [], 0
        while True:
            got = poll(log, position, READ_COMMITTED, most)
            read += got.records
            passed += got.passed
            if got.position == position:
                break
            position = got.position
        whole = poll(log, max_records=10_000)

        assert tuple(record for _, record in read) == committed_records(log)
        assert (tuple(read), tuple(passed)) == (whole.records, whole.passed)
        assert position == log.last_stable_offset
        assert sorted(offset for offset, _ in (*read, *passed)) == list(range(position))


@given(st.lists(STEPS, max_size=16))
@examples(max_examples=40, deadline=None)
def test_the_exercise_filters_as_the_library_does(steps):
    for log in logs_of(steps):
        batches = [(each.offset, each.producer_id, each.kind, list(each.records)) for each in log.batches]
        aborted = [(each.producer_id, each.first_offset) for each in log.aborted]

        assert tuple(delivered(batches, aborted, log.last_stable_offset)) == committed_records(log)


@given(st.lists(STEPS, max_size=16))
@examples(max_examples=40, deadline=None)
def test_the_default_reader_gets_all_but_markers_and_is_held_back_by_nobody(steps):
    for log in logs_of(steps):
        got = poll(log, 0, READ_UNCOMMITTED, 10_000)
        behind = lag(log, got.position, isolation_level=READ_UNCOMMITTED)

        assert [record for _, record in got.records] == [each for batch in log.batches for each in batch.records]
        assert all(why in ("COMMIT", "ABORT") for _, why in got.passed)
        assert (behind.by_the_tool, behind.by_the_client, behind.records_to_come) == (0, 0, 0)
        assert (behind.held_back, behind.held_by) == (0, None)


@given(st.lists(STEPS, max_size=16))
@examples(max_examples=40, deadline=None)
def test_every_batch_has_the_fate_that_the_poll_gives_it(steps):
    for log in logs_of(steps):
        got = poll(log, max_records=10_000)
        read, passed = {offset for offset, _ in got.records}, dict(got.passed)
        for batch in log.batches:
            found = fate(log, batch)
            if batch.offset in read:
                assert found == "read"
            elif batch.offset in passed:
                assert found == passed[batch.offset]
            else:
                assert found in ("open", "held back", ABORTED, "COMMIT", "ABORT")
                assert batch.offset >= log.last_stable_offset


HELD = [
    InitProducerId("x"),
    TimePassed(1_000),
    Produce("x", "t-0", 0, 0, 0),
    TimePassed(1_000),
    Produce(None, "t-0", is_transactional=False),
]


def test_the_tools_lag_grows_while_the_metric_is_0():
    log = simulate(Settings(), HELD)[-1].state.partition("t-0")
    behind = lag(log, poll(log).position)

    assert (behind.by_the_tool, behind.by_the_client) == (2, 0)
    assert (behind.records_to_come, behind.held_back, behind.held_by) == (2, 2, 0)


def test_a_time_beyond_the_last_stable_offset_is_none_for_a_committed_reader():
    trace = simulate(Settings(), HELD)
    ended = simulate(Settings(), [EndTxn("x", 0, 0, commit=False), MarkerArrived("x", "t-0")], trace[-1].state)
    whole = (*trace, *ended[1:])

    assert [offset_for_time(trace, "t-0", 1_500, each) for each in ISOLATION_LEVELS] == [1, None]
    assert [offset_for_time(whole, "t-0", 500, each) for each in ISOLATION_LEVELS] == [0, 0]  # it is aborted
    assert offset_for_time(whole, "t-0", 9_999) is None


def test_what_a_reader_cannot_ask_for_is_refused():
    log = simulate(Settings(), HELD)[-1].state.partition("t-0")

    with pytest.raises(KafkaLearnError, match="beyond the end of t-0, 2"):
        poll(log, 3)
    with pytest.raises(KafkaLearnError, match=r"unknown isolation\.level 'committed'"):
        readable_to(log, "committed")
    with pytest.raises(KafkaLearnError, match="no partition 't-9'"):
        offset_for_time(simulate(Settings(), HELD), "t-9", 0)


def test_the_picture_says_who_holds_back_and_whether_a_coordinator_knows():
    settings = Settings()
    trace = simulate(settings, HELD)
    drawn = draw_transactions(settings, trace[-1], trace[-2])

    assert "LSO 0" in drawn
    assert "x holds back 2 for 1 s" in drawn
    assert "cannot be read yet" in drawn
    assert drawn.size[1] <= 590
    gone = replace(trace[-1], state=replace(trace[-1].state, transactions=()))
    assert "no coordinator knows of it" in draw_transactions(settings, gone)


def test_the_mark_of_the_last_stable_offset_crosses_the_log_at_its_place():
    """It stood below the line once and pointed down, away from it."""
    settings = Settings(partitions=("t-0",))
    drawn = draw_transactions(settings, simulate(settings, [Produce(None, "t-0", is_transactional=False)])[-1])
    ((mark, top, foot),) = re.findall(r'<line x1="([\d.]+)" y1="([\d.]+)" x2="\1" y2="([\d.]+)"', drawn)
    ((left, row),) = re.findall(r'<line x1="([\d.]+)" y1="([\d.]+)" x2="[\d.]+" y2="\2"', drawn)

    assert float(top) < float(row) < float(foot)
    assert float(mark) == float(left) + CELL


def test_every_event_has_its_own_words():
    said = [describe_transactions(Settings(), frame, None) for frame in simulate(Settings(), HELD)]

    assert len(set(said)) == len(said) - 1  # a second passes twice
    assert not any("(" in each for each in said)
