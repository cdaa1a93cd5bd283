"""What holds of transactions whatever is asked, in which order and at which version."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from kafkalearn.transactions import (
    AddOffsetsToTxn,
    AddPartitionsToTxn,
    BrokerRestarted,
    CoordinatorLoaded,
    EndTxn,
    InitProducerId,
    LeaderCameBack,
    LeaderWentAway,
    OffsetCommit,
    Produce,
    Settings,
    TimePassed,
    TxnOffsetCommit,
    broken,
    check,
    start,
    step,
)
from kafkalearn.transactions.model import CoordinatorCrashed
from kafkalearn.transactions.partition import committed_records
from kafkalearn.transactions.simulator import NO_ID_STUCK, NOBODY_HELD_BACK, markers_due, settled

IDS = st.sampled_from(("x1", "x2"))
PARTITIONS = st.sampled_from(("t-0", "t-1"))
WHO = {"producer_id": st.integers(0, 3), "epoch": st.integers(0, 4)}
OFFSETS = st.tuples(st.tuples(PARTITIONS, st.integers(0, 9)))
REQUESTS = st.one_of(
    st.builds(InitProducerId, IDS, st.sampled_from((4, 5)), st.sampled_from((600, 60_000))),
    st.builds(AddPartitionsToTxn, IDS, partitions=st.tuples(PARTITIONS), version=st.sampled_from((1, 3, 5)), **WHO),
    st.builds(AddOffsetsToTxn, IDS, group=st.just("g"), version=st.sampled_from((1, 3)), **WHO),
    st.builds(Produce, IDS, PARTITIONS, sequence=st.integers(0, 3), version=st.sampled_from((9, 11, 12)), **WHO),
    st.builds(Produce, st.none(), PARTITIONS, sequence=st.integers(0, 3), is_transactional=st.just(False), **WHO),
    st.builds(TxnOffsetCommit, IDS, group=st.just("g"), offsets=OFFSETS, version=st.sampled_from((3, 4, 5)), **WHO),
    st.builds(OffsetCommit, st.just("g"), OFFSETS),
    st.builds(EndTxn, IDS, commit=st.booleans(), version=st.sampled_from((1, 4, 5)), **WHO),
    st.builds(TimePassed, st.sampled_from((15_000, 75_000, 700_000_000))),
    st.just(CoordinatorCrashed()),
    st.just(LeaderWentAway(("t-1",))),
    st.just(LeaderCameBack(("t-1",))),
    st.just(CoordinatorLoaded()),
    st.builds(BrokerRestarted, st.booleans()),
)
SETTINGS = st.builds(
    Settings,
    release=st.sampled_from(("4.0", "4.3")),
    transaction_version=st.integers(0, 2),
    verification=st.booleans(),
)


def run_through(settings, requests, markers):
    """The state after each request; a marker arrives at once where the drawn flags say so."""
    state = start(settings)
    states = [state]
    for request, comes in zip(requests, markers, strict=False):
        state = step(settings, state, request)
        states.append(state)
        while comes and markers_due(state):
            state = step(settings, state, markers_due(state)[0])
            states.append(state)
    return states


RUNS = {
    "settings": SETTINGS,
    "requests": st.lists(REQUESTS, max_size=40),
    "markers": st.lists(st.booleans(), min_size=40),
}


@given(**RUNS)
def test_the_invariants_hold_after_every_request(settings, requests, markers):
    states = run_through(settings, requests, markers)
    for before, state in pairwise(states):
        check(settings, state, before)


@given(**RUNS, passed=st.lists(st.sampled_from((1, 9_999, 10_000, 61_000, 604_800_000)), min_size=1, max_size=4))
def test_time_that_passes_at_once_or_in_pieces_leads_to_the_same(settings, requests, markers, passed):
    state = run_through(settings, requests, markers)[-1]
    at_once = step(settings, state, TimePassed(sum(passed)))
    for each in passed:
        state = step(settings, state, TimePassed(each))

    assert replace(at_once, effects=()) == replace(state, effects=())


@given(**RUNS)
def test_an_error_changes_no_log_of_records(settings, requests, markers):
    """But a refused Produce may have begun the transaction: that stands in ``__transaction_state`` alone."""
    state = start(settings)
    for request in requests:
        after = step(settings, state, request)
        if after.effects[0].error != "NONE":
            assert [each.batches for each in after.partitions] == [each.batches for each in state.partitions]
        state = after


@given(**RUNS)
def test_what_a_committed_reader_was_given_is_never_taken_back(settings, requests, markers):
    read = {}
    for state in run_through(settings, requests, markers):
        for partition in state.partitions:
            records = committed_records(partition)
            assert records[: len(read.get(partition.name, ()))] == read.get(partition.name, ())
            read[partition.name] = records


@given(requests=RUNS["requests"], markers=RUNS["markers"], release=st.sampled_from(("4.0", "4.3")))
def test_with_version_2_and_verification_nothing_hangs(requests, markers, release):
    settings = Settings(release)
    state = settled(settings, replace(run_through(settings, requests, markers)[-1], away=frozenset()))
    assert broken(settings, state, names=[NOBODY_HELD_BACK, NO_ID_STUCK]) == ()


@given(**RUNS)
@examples(max_examples=50)
def test_a_coordinator_that_is_loaded_knows_all_that_was_decided(settings, requests, markers):
    state = run_through(settings, requests, markers)[-1]
    loaded = settled(settings, replace(step(settings, state, CoordinatorLoaded()), away=frozenset()))
    ended = settled(settings, replace(state, away=frozenset()))
    for held in ended.transactions:
        if not held.pending and held.status in ("CompleteCommit", "CompleteAbort"):
            again = loaded.transaction(held.id)
            assert (again.status, again.producer_id, again.epoch) == (held.status, held.producer_id, held.epoch)
