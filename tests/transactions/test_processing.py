"""Offset and output go together: with both parts of KIP-447, and with neither of them alone."""

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.transactions import model
from kafkalearn.transactions.processing import (
    AT_MOST_ONCE,
    PARTITION,
    Assigned,
    Ended,
    OffsetFetched,
    OffsetsSent,
    Processed,
    Settings,
    broken,
    check,
    results,
    simulate,
)
from kafkalearn.transactions.search import REBALANCE, find_twice
from kafkalearn.transactions.simulator import markers_due

WITHOUT_ABORTS = tuple(each for each in REBALANCE if getattr(each, "commit", True))
ONCE = {Assigned: 2, OffsetFetched: 1}
VERSIONS = (0, 2)


def settings(version=2, **changes):
    cluster = model.Settings(transaction_version=version, partitions=("in-0", "out-0"))
    return Settings(cluster, **{"record_count": 1, **changes})


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("waits", "names_member"), [(False, False), (False, True), (True, False)])
def test_one_part_alone_lets_a_record_be_processed_twice(version, waits, names_member):
    chosen = settings(version, waits=waits, names_member=names_member)
    found = find_twice(chosen, WITHOUT_ABORTS, at_most=ONCE)

    assert found.broken == (AT_MOST_ONCE,)
    assert len(found.trace) - 1 == 10
    assert results(found.trace[-1].state) == (0, 0)


@pytest.mark.parametrize("version", VERSIONS)
def test_both_parts_together_leave_nothing_to_find(version):
    found = find_twice(settings(version), WITHOUT_ABORTS, at_most=ONCE)

    assert found.outcome == "nothing left"
    assert found.state_count > 100


@pytest.mark.parametrize("version", VERSIONS)
def test_an_id_for_each_partition_does_without_either_part(version):
    chosen = settings(version, id_per=PARTITION, waits=False, names_member=False)
    found = find_twice(chosen, WITHOUT_ABORTS, at_most={**ONCE, Assigned: 3})

    assert found.outcome == "nothing left"


def test_two_records_and_aborts_keep_both_promises_as_far_as_is_looked():
    found = find_twice(settings(record_count=2), at_most={Assigned: 2, Ended: 3, OffsetFetched: 1}, budget=20_000)

    assert found.trace is None


def played(chosen, events):
    trace = simulate(chosen, events)
    for frame in trace:
        check(chosen, frame.state)
    return trace


def test_a_worker_of_old_is_refused_and_begins_again_where_the_group_stands():
    both = [Assigned("a"), Processed("a"), Assigned("b"), OffsetsSent("a")]
    trace = played(settings(), both)

    assert trace[-1].state.effects[0].error == "UNKNOWN_MEMBER_ID"
    after = played(settings(), [*both, Ended("a", commit=False), Processed("b"), OffsetsSent("b"), Ended("b")])
    state = after[-1].state
    while due := markers_due(state.cluster):
        state = simulate(settings(), [due[0]], state)[-1].state
    assert results(state) == (0,)
    assert state.cluster.group("billing").offset("in-0") == 1
    assert broken(settings(), state) == ()


def test_the_new_owner_waits_and_reads_on_after_the_marker():
    ended = [Assigned("a"), Processed("a"), OffsetsSent("a"), Ended("a"), Assigned("b")]
    state = played(settings(), ended)[-1].state

    assert state.effects[0].error == "UNSTABLE_OFFSET_COMMIT"
    assert state.worker("b").position is None
    while due := markers_due(state.cluster):
        state = simulate(settings(), [due[0]], state)[-1].state
    state = simulate(settings(), [OffsetFetched("b")], state)[-1].state
    assert state.worker("b").position == 1


def test_what_makes_no_sense_is_refused():
    for events in (
        [Processed("a")],
        [Assigned("a"), OffsetsSent("a")],
        [Assigned("a"), Processed("a"), Ended("a")],
        [Assigned("a"), Processed("a"), Assigned("a")],
        [Assigned("a"), OffsetFetched("a")],
        [Assigned("a"), Processed("a"), Processed("a")],
    ):
        with pytest.raises(IllegalEvent):
            simulate(settings(), events)
    with pytest.raises(KafkaLearnError, match="unknown id_per 'topic'"):
        Settings(id_per="topic")
