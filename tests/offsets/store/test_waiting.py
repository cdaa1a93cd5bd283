"""Commits that the replicas do not have yet: who is answered what and when, and what a crash leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.offsets.store import (
    Commit,
    Elect,
    Fetch,
    LeaderCrashed,
    Load,
    LoadBuffer,
    Replicated,
    Resign,
    Settings,
    Sweep,
    TimeReached,
    check,
    simulate,
    start,
    step,
)
from kafkalearn.offsets.store.simulator import entry_bytes
from kafkalearn.releases import history
from tests.recorded import recorded

RECORDED = recorded("coordinator-settings")
FETCH = Fetch("billing", "orders", 0)


def commit(offset, now_ms=0, is_in_flight=False, metadata=""):
    return Commit("billing", "orders", 0, offset, now_ms, metadata=metadata, is_in_flight=is_in_flight)


def answers(settings, *events):
    return [moment.state.effects for moment in simulate(settings, events)[1:]]


def fetched(settings, *events):
    return simulate(settings, [*events, FETCH])[-1].state.effects[0].offset


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["name"])
def test_commits_with_a_follower_that_stands_still_end_as_on_a_broker(case):
    settings = Settings(case["release"], commit_timeout_ms=case["timeout_ms"], required_acks=case["required_acks"])
    events = [commit(case["before"]), commit(case["then"], 100, is_in_flight=True)]
    waited = TimeReached(100 + case["timeout_ms"])

    (answer,) = [each for effects in answers(settings, *events, waited)[1:] for each in effects]

    assert answer.error == case["error"]
    assert fetched(settings, *events, waited) == case["fetched_meanwhile"]
    assert fetched(settings, *events, waited, Replicated()) == case["fetched_afterwards"]


@pytest.mark.parametrize("case", RECORDED["metadata"], ids=lambda case: str(case["length"]))
def test_metadata_are_refused_as_by_a_broker(case):
    settings = Settings(metadata_max_bytes=case["metadata_max_bytes"])

    assert answers(settings, commit(1, metadata="x" * case["length"]))[-1][0].error == case["error"]


def test_before_its_time_nobody_is_answered_and_nobody_twice():
    events = [commit(7), commit(8, 100, is_in_flight=True), TimeReached(5099), TimeReached(5100), TimeReached(9999)]
    found = answers(Settings(), *events)

    assert [len(each) for each in found] == [1, 0, 0, 1, 0]
    assert answers(Settings(), *events, Replicated())[-1] == ()


def test_up_to_3_9_a_commit_that_was_given_up_is_found_by_the_next_load_only():
    events = [commit(7), commit(8, is_in_flight=True), TimeReached(5000), Replicated()]

    assert answers(Settings("3.9"), *events)[2][0].error == "REQUEST_TIMED_OUT"
    assert fetched(Settings("3.9"), *events) == 7
    assert fetched(Settings("3.9"), *events, Resign(), Elect(), Load()) == 8


def test_with_acks_1_a_commit_counts_at_once_and_dies_with_the_leader():
    settings, events = Settings("3.9", required_acks=1), [commit(7), commit(8, is_in_flight=True)]

    assert answers(settings, *events)[-1][0].error == "NONE"
    assert fetched(settings, *events) == 8
    assert fetched(settings, *events, LeaderCrashed(), Load()) == 7
    assert fetched(settings, *events, Replicated(), LeaderCrashed(), Load()) == 8


def test_since_4_0_the_setting_changes_nothing():
    assert answers(Settings("4.0", required_acks=1), commit(8, is_in_flight=True)) == [()]


@pytest.mark.parametrize("acks", [-2, 2, 3])
def test_acks_that_no_commit_passes_with_are_refused(acks):
    with pytest.raises(KafkaLearnError, match="required_acks must be -1, 0 or 1"):
        Settings("3.9", required_acks=acks)


def test_nothing_is_in_memory_after_a_crash_before_the_load():
    store = simulate(Settings(), [commit(7), LeaderCrashed()])[-1].state

    assert (store.status, store.groups, len(store.log)) == ("loading", (), 1)
    with pytest.raises(IllegalEvent, match="the partition is loading"):
        step(Settings(), store, LeaderCrashed())


@given(buffer_bytes=st.integers(1, 2000), count=st.integers(0, 30))
def test_reads_of_any_size_load_what_one_read_loads(buffer_bytes, count):
    settings = Settings(load_buffer_bytes=buffer_bytes)
    store = simulate(settings, [*(commit(offset, offset) for offset in range(count)), Resign(), Elect()])[-1].state
    whole = step(settings, store, Load())
    while store.status == "loading":
        before, store = store.read_count, step(settings, store, LoadBuffer())
        read = store.log[before : store.read_count]
        assert len(read) <= 1 or sum(map(entry_bytes, read)) <= buffer_bytes
        assert len(read) >= 1 or count == 0

    assert store == whole


EVENTS = st.lists(
    st.one_of(
        st.builds(commit, st.integers(0, 9), st.integers(0, 9999), st.booleans()),
        st.builds(TimeReached, st.integers(0, 20_000)),
        st.builds(Sweep, st.integers(0, 10**9)),
        st.sampled_from([Replicated(), LeaderCrashed(), Load(), FETCH]),
    ),
    max_size=12,
)


@given(events=EVENTS, release=st.sampled_from(["2.0", "3.9", "4.0", "4.3"]), acks=st.sampled_from([-1, 0, 1]))
def test_whatever_waits_and_dies_the_store_keeps_its_invariants(events, release, acks):
    settings = Settings(release, required_acks=acks)
    store = start(settings)
    for event in events:
        try:
            after = step(settings, store, event)
        except IllegalEvent:
            continue
        check(settings, after)
        store = after


def test_the_defaults_are_those_of_the_released_classes():
    names = {
        "metadata_max_bytes": "offset.metadata.max.bytes",
        "commit_timeout_ms": "offsets.commit.timeout.ms",
        "required_acks": "offsets.commit.required.acks",
        "load_buffer_bytes": "offsets.load.buffer.size",
    }
    for name, setting in names.items():
        assert history(setting, "broker")[0] == ("0.8.2", getattr(Settings("0.8.2"), name))
        assert {value for _, value in history(setting, "broker") if isinstance(value, int)} == {
            getattr(Settings(), name)
        }
