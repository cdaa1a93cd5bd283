"""An accident at every point: which strategies lose, which double, and what the three cures hold."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.commits import (
    ACCIDENTS,
    STRATEGIES,
    Crash,
    Start,
    Workload,
    at_worst,
    by_record,
    check,
    shortest,
    summary,
    sweep,
    undisturbed,
)
from kafkalearn.commits.strategies import settings_for

AFTER = ("each record", "each batch", "each second", "auto", "async", "async, retried", "last, not next")
CURES = ("idempotent sink", "offset as a lock", "checkpoints")

workloads = st.builds(
    Workload,
    record_count=st.integers(0, 8),
    max_poll_records=st.integers(1, 5),
    process_ms=st.sampled_from([0, 100, 1000, 4000]),
    refused=st.sets(st.integers(0, 3), max_size=2).map(lambda numbers: tuple(sorted(numbers))),
)
each_accident = pytest.mark.parametrize("accident", ACCIDENTS)


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(workload=workloads, accident=st.sampled_from(list(ACCIDENTS)))
@settings(max_examples=12)
def test_every_record_is_applied_or_lost_and_every_moment_keeps_what_always_holds(strategy, workload, accident):
    for outcome in sweep(strategy, workload, accident):
        end = outcome.trace[-1].state
        applied = {each.offset for each in end.sink.writes}
        assert applied | set(outcome.lost) == set(range(workload.record_count))
        assert not applied & set(outcome.lost)
        for frame in outcome.trace:
            check(settings_for(strategy, workload), frame.state)
            assert (frame.state.committed or 0) <= frame.state.polled


@pytest.mark.parametrize("strategy", AFTER)
@given(workload=workloads)
@settings(max_examples=12)
def test_who_commits_after_processing_loses_nothing_in_a_crash(strategy, workload):
    assert all(outcome.lost == () for outcome in sweep(strategy, workload))


@given(workload=workloads)
@settings(max_examples=30)
def test_who_commits_before_processing_doubles_nothing_in_a_crash(workload):
    assert all(outcome.doubled == () for outcome in sweep("before the batch", workload))


@each_accident
@pytest.mark.parametrize("strategy", CURES)
@given(workload=workloads)
@settings(max_examples=12)
def test_an_idempotent_sink_and_a_lock_hold_every_result_once_whatever_happens(strategy, accident, workload):
    for outcome in sweep(strategy, workload, accident):
        assert (outcome.lost, outcome.doubled) == ((), ())


@each_accident
def test_an_offset_in_the_sink_holds_against_everything_but_a_zombie(accident):
    row = summary(sweep("offset in the sink", accident=accident))
    assert row["lose"] == 0
    assert (row["double"] > 0) == (accident == "pause")


@given(workload=workloads, strategy=st.sampled_from(["each record", "each batch", "auto", "before the batch"]))
@settings(max_examples=60)
def test_what_a_crash_costs_is_the_distance_between_processed_and_committed(workload, strategy):
    for outcome in sweep(strategy, workload):
        at = outcome.trace[outcome.after].state
        done = at.consumer("A").done
        assert outcome.doubled == tuple(range(at.committed, done))
        assert outcome.lost == tuple(range(done, at.committed))


def test_auto_commit_loses_what_is_unprocessed_when_it_is_closed_or_when_other_threads_have_it():
    assert summary(sweep("auto"))["lose"] == 0
    assert summary(sweep("auto", accident="close"))["lost at worst"] == 3
    assert summary(sweep("auto, other threads"))["lose"] > 0


def test_a_retried_commit_goes_back_and_one_that_is_left_alone_does_not():
    workload = Workload(refused=(1,))
    offsets = {
        name: [each.offset for each in undisturbed(name, workload)[-1].state.written]
        for name in ("async", "async, retried")
    }
    assert offsets == {"async": [3, 9], "async, retried": [3, 9, 6]}
    if_newest = replace(STRATEGIES["async, retried"], retries="if newest")
    assert [each.offset for each in undisturbed(if_newest, workload)[-1].state.written] == [3, 9]


def test_a_commit_at_the_end_helps_when_there_is_one_and_not_in_a_crash():
    assert summary(sweep("async", accident="close"))["double"] > 0
    assert summary(sweep("async, sync at the end", accident="close"))["double"] == 0
    assert summary(sweep("async, sync at the end"))["double"] > 0


def test_committing_the_last_record_doubles_one_even_after_a_clean_end():
    last = sweep("last, not next", accident="close")[-1]
    assert last.doubled == (8,)


def test_the_shortest_witness_ends_with_the_crash_that_does_it():
    found = shortest(sweep("before the batch"), "lost")
    events = [type(frame.event) for frame in found.trace[1:]]
    assert events[found.after : found.after + 2] == [Crash, Start]
    assert found.lost == (0, 1, 2)
    assert shortest(sweep("before the batch"), "doubled") is None


@given(st.sampled_from(sorted(STRATEGIES)), workloads, st.sampled_from(sorted(ACCIDENTS)))
@settings(max_examples=25)
def test_what_happens_to_each_record_is_what_the_sweep_counts(strategy, workload, accident):
    outcomes = sweep(strategy, workload, accident)
    places = by_record(outcomes)

    assert len(places) == len(outcomes)
    for each, records in zip(outcomes, places.values(), strict=True):
        lost = {at for at in range(workload.record_count) if records[f"record {at}"] == "lost"}
        twice = {at for at in range(workload.record_count) if records[f"record {at}"] == "twice"}
        assert (lost, twice) == ({*each.lost}, {*each.doubled} - {*each.lost})
    assert (at_worst(outcomes) == "none") == (not any(each.lost or each.doubled for each in outcomes))


def test_names_that_are_not_known_are_answered_with_those_that_are():
    with pytest.raises(KafkaLearnError, match="did you mean 'each batch'"):
        sweep("each bach")
    with pytest.raises(KafkaLearnError, match="Known: 'crash', 'close'"):
        sweep("auto", accident="fire")
    with pytest.raises(KafkaLearnError, match="unknown result"):
        shortest(sweep("auto"), "gone")
    with pytest.raises(KafkaLearnError, match="record_count must be at least 0"):
        Workload(record_count=-1)
