"""A commit's path over the brokers of its partition, and what happens to a coordinator that dies or is elected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.trace import extend
from kafkalearn.offsets import replicated as stories
from kafkalearn.offsets.replicated import (
    ANSWERED_SURVIVE,
    CAN_BE_LOADED,
    INVARIANTS,
    Answered,
    Deferred,
    Elected,
    FollowerFetch,
    Loaded,
    NotReached,
    Resigned,
    SentTo,
    Settings,
    broken,
    check,
    simulate,
    start,
    step,
)
from kafkalearn.offsets.store import Commit, DeleteGroup, Fetch, Load, Produce, StoreGroup, Sweep
from kafkalearn.offsets.store import simulate as simulate_store
from kafkalearn.offsets.store.model import Answer
from kafkalearn.offsets.store.simulator import logged_groups
from kafkalearn.replication import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerStarted,
    BrokerStopped,
    BrokerThawed,
    IsrChecked,
    PowerLost,
    SessionExpired,
    TimePassed,
)
from kafkalearn.replication.simulator import INVARIANTS as PARTITION_INVARIANTS
from tests.recorded import recorded
from tests.schedules import sensible_steps

ALL_IN_SYNC = stories.replicated()
READ, STABLE_READ = stories.READ, stories.STABLE_READ


def commit(offset, group_id="billing", metadata=""):
    return Commit(group_id, "orders", 0, offset, 3000, metadata=metadata)


def answers(trace):
    """What clients were told, as (index of the frame, request, error, offset)."""
    return [
        (frame.index, type(each.request).__name__, each.answer.error, each.answer.offset)
        for frame in trace
        for each in frame.state.effects
        if isinstance(each, Answered)
    ]


def test_a_commit_is_answered_when_the_high_watermark_has_passed_it():
    trace = simulate(Settings(), [commit(7), *ALL_IN_SYNC])

    assert answers(trace) == [(5, "Commit", "NONE", None)]
    assert [frame.state.coordinator(1).confirmed.end_offset for frame in trace] == [0, 0, 0, 0, 0, 1]
    assert trace[1].state.effects[-1] == Deferred(1, commit(7), 1)


NAMES = {"Commit": "commit", "Fetch": "tool"}


@pytest.mark.parametrize("script", recorded("commit-path")["scripts"], ids=lambda each: each["name"])
def test_everybody_is_answered_what_a_real_cluster_answered(script):
    told, frozen, trace = [], set(), simulate(Settings(), [])
    for name, *values in script["steps"]:
        frozen = {"freeze": {2}, "thaw": set(), "elect": set()}.get(name, frozen)
        for event in events_of(name, *values, frozen=frozen):
            trace = extend(step, Settings(), trace, [event])
            told += [
                told_by(each, event) for each in trace[-1].state.effects if isinstance(each, (Answered, NotReached))
            ]

    assert told == [tuple(each) for each in script["answers"]]


def events_of(name, offset=None, *, frozen):
    """What a step of a recorded script is here; the followers that run then fetch until they have everything."""
    events = {
        "commit": [commit(offset or 0)],
        "tool": [READ],
        "consumer": [STABLE_READ],
        "tool of another broker": [SentTo(3, READ)],
        "freeze": [BrokerFrozen(2)],
        "thaw": [BrokerThawed(2), BrokerReconnected(2)],
        "time out": [TimePassed(5000)],
        "kill": [BrokerCrashed(1)],
        "elect": [BrokerThawed(2), BrokerReconnected(2), SessionExpired(1)],
        "load": [Load()],
    }[name]
    fetches = [FollowerFetch(each) for each in (2, 3, 2, 3) if each not in frozen]
    return [*events, *fetches] if name in ("commit", "thaw", "time out") else events


def told_by(effect, event):
    request = effect.request
    name = "consumer" if getattr(request, "requires_stable", False) else NAMES[type(request).__name__]
    if isinstance(event, SentTo):
        name = "tool of another broker"
    if isinstance(effect, NotReached):
        return name, None, None
    return name, effect.answer.error, effect.answer.offset


def test_one_replica_confirms_at_once():
    assert answers(simulate(Settings(replica_count=1), [commit(7), READ])) == [
        (1, "Commit", "NONE", None),
        (2, "Fetch", "NONE", 7),
    ]


def test_a_tool_reads_what_is_replicated_and_a_consumer_waits_for_what_is_not():
    trace = simulate(Settings(), [commit(7), *ALL_IN_SYNC, commit(8), READ, STABLE_READ, *ALL_IN_SYNC])

    assert answers(trace)[1:] == [
        (7, "Fetch", "NONE", 7),
        (12, "Commit", "NONE", None),
        (12, "Fetch", "NONE", 8),
    ]


def test_a_commit_that_is_refused_by_itself_waits_for_those_before_it_and_one_by_a_stranger_does_not():
    too_large = commit(8, metadata="x" * 4097)
    stranger = Commit("billing", "orders", 0, 9, 3000, member_id="x", generation=3)
    trace = simulate(Settings(), [commit(7), too_large, stranger, *ALL_IN_SYNC])

    assert [(index, error) for index, _, error, _ in answers(trace)] == [
        (3, "UNKNOWN_MEMBER_ID"),
        (7, "NONE"),
        (7, "OFFSET_METADATA_TOO_LARGE"),
    ]


def test_whoever_waits_too_long_is_told_to_look_for_the_coordinator_again_and_the_commit_stays_in_the_log():
    events = [BrokerFrozen(2), commit(7), STABLE_READ, TimePassed(4999), TimePassed(1)]
    trace = simulate(Settings(), events)

    assert answers(trace) == [
        (5, "Commit", "COORDINATOR_NOT_AVAILABLE", None),
        (5, "Fetch", "NOT_COORDINATOR", None),
    ]
    assert len(trace[-1].state.log(1)) == 1


def test_the_coordinator_does_not_wait_for_acknowledgements_of_a_minimum_of_replicas():
    """CoordinatorPartitionWriter appends with acks=1: min.insync.replicas is not asked."""
    shrunk = [BrokerCrashed(2), BrokerCrashed(3), SessionExpired(2), SessionExpired(3)]

    assert answers(simulate(Settings(), [*shrunk, commit(7)])) == [(5, "Commit", "NONE", None)]


def test_a_takeover_is_answered_with_not_coordinator_then_with_load_in_progress_then_with_the_offset():
    trace = simulate(Settings(), stories.takeover())
    of_reads = [(error, offset) for _, kind, error, offset in answers(trace) if kind == "Fetch"]

    assert of_reads == [
        ("NOT_COORDINATOR", None),
        ("COORDINATOR_LOAD_IN_PROGRESS", None),
        ("COORDINATOR_LOAD_IN_PROGRESS", None),
        ("NONE", 7),
        ("NONE", 8),
    ]
    kinds = [type(each) for frame in trace for each in frame.state.effects]
    assert [kind for kind in kinds if kind in (Resigned, Elected, Loaded)] == [Resigned, Elected, Loaded, Loaded]


def test_a_coordinator_that_resigns_tells_those_who_wait_and_one_that_is_dead_cannot():
    stopped = simulate(Settings(), [commit(7), BrokerStopped(1)])
    crashed = simulate(Settings(), [commit(7), BrokerCrashed(1)])

    assert answers(crashed) == []
    assert [type(each).__name__ for each in crashed[-1].state.effects] == ["Resigned", "NotReached"]
    assert {type(each).__name__ for each in stopped[-1].state.effects} >= {"Resigned", "Elected"}


@pytest.mark.parametrize(("key", "status"), [(None, "failed"), (bytes.fromhex("00630007"), "owned"), (b"?", "failed")])
def test_a_foreign_record_changes_nothing_before_the_next_load(key, status):
    trace = simulate(Settings(), stories.foreign_record(key))
    reads = [(error, offset) for _, kind, error, offset in answers(trace) if kind == "Fetch"]

    assert reads[0] == ("NONE", 7)
    assert trace[-1].state.status(2) == status
    assert reads[1] == (("NONE", 7) if status == "owned" else ("NOT_COORDINATOR", None))
    assert (CAN_BE_LOADED in broken(Settings(), trace[-1].state)) == (status == "failed")


def test_the_tombstones_of_a_sweep_count_when_they_are_replicated():
    trace = simulate(Settings(), stories.end_of_a_group())

    assert [offset for _, kind, _, offset in answers(trace) if kind == "Fetch"] == [7, -1]
    assert [entry.value for entry in trace[-1].state.log(1)][-2:] == [None, None]
    assert trace[-1].state.coordinator(1).confirmed.groups == ()


def test_a_week_is_not_over_on_the_sixth_day():
    trace = simulate(Settings(), stories.end_of_a_group(days=6))

    assert [offset for _, kind, _, offset in answers(trace) if kind == "Fetch"] == [7, 7]


def test_offsets_and_groups_are_deleted_only_when_nobody_uses_them():
    told = [
        (kind, error)
        for _, kind, error, _ in answers(simulate(Settings(), stories.deletions()))
        if kind.startswith("Delete")
    ]

    assert told == [
        ("DeleteOffset", "GROUP_SUBSCRIBED_TO_TOPIC"),
        ("DeleteGroup", "NON_EMPTY_GROUP"),
        ("DeleteOffset", "NONE"),
        ("DeleteGroup", "NONE"),
    ]


def test_a_power_cut_of_all_replicas_takes_an_answered_commit_away():
    gone = [*map(PowerLost, (2, 3, 1)), *map(BrokerStarted, (1, 2, 3))]
    trace = simulate(Settings(), [commit(7), *ALL_IN_SYNC, *gone])

    assert broken(Settings(), trace[5].state) == ()
    assert ANSWERED_SURVIVE in broken(Settings(), trace[-1].state)


def test_a_request_may_go_to_the_wrong_broker():
    assert answers(simulate(Settings(), [SentTo(2, READ)])) == [(1, "Fetch", "NOT_COORDINATOR", None)]


def test_a_release_with_the_older_coordinator_is_refused():
    with pytest.raises(KafkaLearnError, match=r"offsets\.replicated answers for 4\.0 to .*, not 3\.9"):
        Settings(release="3.9")


def test_nobody_can_sweep_where_nobody_coordinates():
    with pytest.raises(IllegalEvent, match="nobody leads"):
        simulate(Settings(), [BrokerCrashed(1), Sweep(1000)])


GROUPS = st.sampled_from(["billing", "shipping"])
REQUEST = st.one_of(
    st.builds(Commit, GROUPS, st.just("orders"), st.integers(0, 1), st.integers(0, 9), st.just(1000)),
    st.builds(Fetch, GROUPS, st.just("orders"), st.integers(0, 1), st.booleans()),
    st.builds(DeleteGroup, GROUPS),
    st.builds(StoreGroup, GROUPS, st.integers(1, 3), st.just(2000), st.sampled_from([(), (stories.MEMBER,)])),
)
HAPPENING = st.one_of(
    st.builds(FollowerFetch, st.integers(1, 3)),
    st.builds(BrokerCrashed, st.integers(1, 3)),
    st.builds(BrokerStarted, st.integers(1, 3)),
    st.builds(BrokerStopped, st.integers(1, 3)),
    st.builds(SessionExpired, st.integers(1, 3)),
    st.builds(TimePassed, st.sampled_from([100, 5000, 30_000])),
    st.builds(Load, st.sampled_from([None, 1])),
    st.builds(Sweep, st.sampled_from([3000, 9 * stories.DAY_MS])),
    st.just(IsrChecked()),
    st.builds(Produce, st.sampled_from([None, b"?", bytes.fromhex("00630007")]), st.none(), st.just("__admin_client")),
)


@given(st.lists(st.one_of(REQUEST, HAPPENING), max_size=25))
def test_whatever_happens_the_invariants_hold_and_no_answered_commit_is_lost_without_a_power_cut(events):
    settings = Settings()
    for before, _, after in sensible_steps(step, settings, start(settings), events):
        check(settings, after, before)
        assert ANSWERED_SURVIVE not in broken(settings, after)


@given(st.lists(REQUEST, max_size=12))
def test_with_time_to_replicate_the_brokers_answer_as_one_broker_does(requests):
    trace = simulate(Settings(), [event for each in requests for event in (each, *ALL_IN_SYNC)])
    alone = simulate_store(Settings().store, requests)

    told = [each.answer for frame in trace for each in frame.state.effects if isinstance(each, Answered)]
    assert told == [answer for frame in alone for answer in frame.state.effects if isinstance(answer, Answer)]
    assert trace[-1].state.log(1) == alone[-1].state.log
    assert trace[-1].state.coordinator(1).confirmed.groups == alone[-1].state.groups


@given(st.lists(REQUEST, min_size=1, max_size=8), st.integers(1, 4))
def test_whoever_takes_over_knows_what_its_own_log_says(requests, pieces):
    settings = Settings()
    state = simulate(settings, [*requests, FollowerFetch(2), BrokerCrashed(1), SessionExpired(1)])[-1].state
    while state.status(2) == "loading":
        state = step(settings, state, Load(pieces))

    assert state.coordinator(2).written.groups == logged_groups(state.log(2))


def test_the_partitions_own_invariants_are_among_them():
    assert PARTITION_INVARIANTS.keys() <= INVARIANTS.keys()
