from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.errors import IllegalEvent, KafkaLearnError
from kafkalearn.offsets.groups import Member
from kafkalearn.offsets.records.codec import decode
from kafkalearn.offsets.store import (
    FAILED,
    LOADING,
    NOT_OWNED,
    OWNED,
    Answer,
    Commit,
    DeleteGroup,
    DeleteOffset,
    DeleteTopic,
    Elect,
    EndTransaction,
    Fetch,
    Load,
    Produce,
    Replicated,
    Resign,
    Settings,
    StateChanged,
    Store,
    StoreGroup,
    Sweep,
    check,
    lasting,
    reloaded,
    step,
)
from kafkalearn.trace import run

DAY_MS = 86_400_000
ALICE = Member("alice", subscribed=("orders",), assigned=(("orders", 0),))
STABLE_GROUP = StoreGroup("g", 1, 1000, (ALICE,), protocol="range", leader="alice")
COMMIT = Commit("g", "orders", 0, 7, 1000)
FETCH = Fetch("g", "orders", 0)


def after(*events, release="4.3"):
    trace = run(partial(step, Settings(release)), Store(), events)
    for frame in trace:
        check(frame.state)
    return trace[-1].state


def written(store):
    """Record type, value version and tombstone of each entry of the log."""
    records = [decode(entry.key, entry.value) for entry in store.log if entry.marker is None]
    return [(record.type.number, record.version) for record in records]


def test_a_commit_is_what_the_next_fetch_is_answered():
    assert after(COMMIT, FETCH).answer == Answer(offset=7)


def test_a_group_or_partition_that_nobody_committed_is_answered_minus_one_and_no_error():
    assert after(FETCH).answer == Answer(offset=-1)
    assert after(COMMIT, Fetch("g", "orders", 1)).answer == Answer(offset=-1)


@pytest.mark.parametrize(
    ("release", "versions"),
    [("0.8.2", (0, 0)), ("0.9.0", (1, 1)), ("2.0", (1, 1)), ("2.1", (1, 3)), ("4.0", (1, 3)), ("4.1", (1, 4))],
)
def test_a_release_writes_commits_in_its_own_version(release, versions):
    assert written(after(COMMIT, release=release)) == [versions]


@pytest.mark.parametrize(("release", "version"), [("0.10.0", 0), ("0.10.1", 1), ("2.1", 2), ("2.3", 3), ("4.3", 3)])
def test_a_release_writes_groups_in_its_own_version(release, version):
    assert written(after(STABLE_GROUP, release=release)) == [(2, version)]


def test_an_ordinary_commit_since_4_1_is_written_to_the_byte_as_kafka_does():
    commit = Commit("test-group", "test", 0, 100, 1516353600000, leader_epoch=5, topic_id="AAAAAAAAAAEAAAAAAAAAAQ")
    (entry,) = after(commit).log
    assert entry.key.hex() == "0001000a746573742d67726f757000047465737400000000"
    assert entry.value.hex() == "000400000000000000640000000501000001610db7ba0001001000000000000000010000000000000001"


def test_a_commit_with_its_own_retention_is_version_1_in_any_release():
    store = after(Commit("g", "orders", 0, 7, 1000, retention_ms=500))
    assert written(store) == [(1, 1)]
    assert store.group("g").offset("orders", 0).expire_ms == 1500


@pytest.mark.parametrize(
    ("before", "commit", "error"),
    [
        ((), Commit("g", "t", 0, 1, 0, generation=3), "ILLEGAL_GENERATION"),
        ((STABLE_GROUP,), COMMIT, "UNKNOWN_MEMBER_ID"),
        ((STABLE_GROUP,), Commit("g", "t", 0, 1, 0, member_id="bob", generation=1), "UNKNOWN_MEMBER_ID"),
        ((STABLE_GROUP,), Commit("g", "t", 0, 1, 0, member_id="alice", generation=2), "ILLEGAL_GENERATION"),
        ((STABLE_GROUP,), Commit("g", "t", 0, 1, 0, member_id="alice", generation=1), "NONE"),
        (
            (STABLE_GROUP, StateChanged("g", "CompletingRebalance")),
            Commit("g", "t", 0, 1, 0, member_id="alice", generation=1),
            "REBALANCE_IN_PROGRESS",
        ),
        (
            (STABLE_GROUP, StateChanged("g", "PreparingRebalance")),
            Commit("g", "t", 0, 1, 0, member_id="alice", generation=1),
            "NONE",
        ),
        ((), Commit("g", "t", 0, 1, 0, metadata="ü" * 4096), "NONE"),
        ((), Commit("g", "t", 0, 1, 0, metadata="😀" * 2049), "OFFSET_METADATA_TOO_LARGE"),
        ((Resign(),), COMMIT, "NOT_COORDINATOR"),
        ((Resign(), Elect()), COMMIT, "COORDINATOR_LOAD_IN_PROGRESS"),
    ],
)
def test_a_commit_that_may_not_be_is_answered_with_kafkas_error(before, commit, error):
    store = after(*before, commit)
    assert store.answer.error == error
    assert len(store.log) == len(after(*before).log) + (error == "NONE")


def test_a_commit_in_flight_is_not_seen_and_keeps_its_group_alive():
    in_flight = Commit("g", "orders", 0, 9, 2000, is_in_flight=True)
    assert after(COMMIT, in_flight, FETCH).answer == Answer(offset=7)
    assert after(COMMIT, in_flight, Replicated(), FETCH).answer == Answer(offset=9)
    assert after(COMMIT, in_flight, Sweep(1000 + 8 * DAY_MS)).group("g").offset("orders", 0).offset == 7


@pytest.mark.parametrize(("is_commit", "offset"), [(True, 8), (False, 7)])
def test_offsets_of_a_transaction_wait_for_its_marker(is_commit, offset):
    inside = Commit("g", "orders", 0, 8, 2000, producer_id=5)
    assert after(COMMIT, inside, FETCH).answer == Answer(offset=7)
    assert after(COMMIT, inside, Fetch("g", "orders", 0, True)).answer == Answer("UNSTABLE_OFFSET_COMMIT")
    store = after(COMMIT, inside, EndTransaction(5, is_commit), FETCH)
    assert store.answer == Answer(offset=offset)
    assert reloaded(Settings(), store).groups == store.groups


def test_a_later_commit_or_tombstone_overtakes_what_a_transaction_still_holds():
    inside = Commit("g", "orders", 0, 8, 2000, producer_id=5)
    end = EndTransaction(5, is_commit=True)
    assert after(inside, Commit("g", "orders", 0, 9, 3000), end, FETCH).answer == Answer(offset=9)
    assert after(COMMIT, inside, DeleteOffset("g", "orders", 0), end, FETCH).answer == Answer(offset=-1)


def test_a_group_dies_at_the_sweep_when_it_is_empty_and_its_last_offset_expires():
    empty = StoreGroup("g", 2, 2000)
    commit = Commit("g", "orders", 0, 7, 1500, member_id="alice", generation=1)
    just_before, at = Sweep(2000 + 7 * DAY_MS - 1), Sweep(2000 + 7 * DAY_MS)
    alive, dead = after(STABLE_GROUP, commit, empty, just_before), after(STABLE_GROUP, commit, empty, just_before, at)

    assert alive.group("g").offset("orders", 0).offset == 7
    assert dead.group("g") is None
    assert written(dead)[len(alive.log) :] == [(1, None), (2, None)]


def test_an_active_consumer_lost_idle_offsets_up_to_2_0_and_keeps_them_since():
    commit = Commit("g", "orders", 0, 7, 1500, member_id="alice", generation=1)
    events = (STABLE_GROUP, commit, Sweep(1500 + 30 * DAY_MS), FETCH)
    assert [after(*events, release=release).answer.offset for release in ("1.0", "2.0", "2.1", "4.3")] == [-1, -1, 7, 7]


@pytest.mark.parametrize(("release", "tombstones"), [("3.9", [(1, None)]), ("4.0", [(1, None), (2, None)])])
def test_a_group_that_only_stored_offsets_gets_a_tombstone_of_its_own_since_4_0(release, tombstones):
    assert written(after(COMMIT, DeleteGroup("g"), release=release))[1:] == tombstones


def test_up_to_0_10_0_a_group_was_gone_with_its_last_member():
    assert written(after(STABLE_GROUP, StoreGroup("g", 2, 2000), release="0.10.0"))[1:] == [(2, None)]
    assert after(STABLE_GROUP, StoreGroup("g", 2, 2000), release="0.10.0").groups == ()
    assert after(STABLE_GROUP, StoreGroup("g", 2, 2000), release="0.10.1").group("g").state == "Empty"


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (DeleteGroup("g"), "NON_EMPTY_GROUP"),
        (DeleteGroup("other"), "GROUP_ID_NOT_FOUND"),
        (DeleteOffset("g", "orders", 0), "GROUP_SUBSCRIBED_TO_TOPIC"),
        (DeleteOffset("g", "payments", 0), "NONE"),
        (DeleteOffset("other", "orders", 0), "GROUP_ID_NOT_FOUND"),
        (Produce(b"k", b"v"), "INVALID_TOPIC_EXCEPTION"),
    ],
)
def test_what_an_admin_may_not_do_is_answered_with_kafkas_error(event, error):
    store = after(STABLE_GROUP, event)
    assert store.answer == Answer(error)
    assert store.log == after(STABLE_GROUP).log


def test_a_deleted_topic_takes_its_offsets_along_and_since_4_3_only_its_own():
    old = Commit("g", "orders", 0, 7, 1000, topic_id="AAAAAAAAAAEAAAAAAAAAAQ")
    delete = DeleteTopic("orders", topic_id="AAAAAAAAAAIAAAAAAAAAAg")
    assert [after(old, delete, FETCH, release=release).answer.offset for release in ("4.2", "4.3")] == [-1, 7]
    assert after(COMMIT, delete, FETCH).answer.offset == -1


def test_a_resignation_writes_nothing_and_forgets_all():
    store = after(COMMIT, Resign())
    assert (store.status, store.groups, len(store.log)) == (NOT_OWNED, (), 1)


def test_a_load_reads_the_log_record_by_record_and_tombstones_forget():
    events = (COMMIT, Commit("h", "orders", 0, 3, 1000), DeleteGroup("g"), Resign(), Elect())
    trace = run(partial(step, Settings()), after(*events), [Load(1)] * 4)

    assert [[group.group_id for group in frame.state.groups] for frame in trace] == [
        [],
        ["g"],
        ["g", "h"],
        ["h"],
        ["h"],
    ]
    assert [frame.state.status for frame in trace] == [LOADING] * 4 + [OWNED]


@pytest.mark.parametrize("garbage", [Produce(None, b"v", "__admin_client"), Produce(b"\x00", b"v", "__admin_client")])
@pytest.mark.parametrize(
    ("release", "status", "found"), [("0.10.0", OWNED, 7), ("3.9", OWNED, -1), ("4.3", FAILED, None)]
)
def test_one_record_that_cannot_be_read_breaks_the_load_each_era_in_its_way(garbage, release, status, found):
    store = reloaded(Settings(release), after(COMMIT, garbage, release=release))
    assert store.status == status
    assert step(Settings(release), store, FETCH).answer.offset == found


@pytest.mark.parametrize(("release", "found"), [("3.4.0", -1), ("3.4.1", 7), ("4.3", 7)])
def test_a_record_type_of_the_future_broke_the_load_until_3_4_1(release, found):
    future = Produce(b"\x00\x63\x00\x01a", b"\x00\x00", "__admin_client")
    store = reloaded(Settings(release), after(COMMIT, future, release=release))
    assert step(Settings(release), store, FETCH).answer.offset == found


@pytest.mark.parametrize(
    ("events", "release", "message"),
    [
        ((Load(),), "4.3", "only after Elect there is something to load"),
        ((Elect(),), "4.3", "the broker is the leader already"),
        ((Resign(), Sweep(5)), "4.3", "the partition is not owned; possible now are Elect"),
        ((StateChanged("g", "PreparingRebalance"),), "4.3", "a classic group of the cache may go to"),
        ((STABLE_GROUP,), "0.8.2", "has no groups in its offsets topic"),
        ((StoreGroup("g", 0, 5),), "3.9", "the first generation that Kafka 3.9 stores is 1"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused_and_says_what_is_possible(events, release, message):
    with pytest.raises(IllegalEvent, match=message):
        after(*events, release=release)


def test_settings_that_no_broker_takes_are_refused():
    with pytest.raises(KafkaLearnError, match="retention_minutes must be at least 1, got 0"):
        Settings(retention_minutes=0)
    with pytest.raises(KafkaLearnError, match="unknown release '5'"):
        Settings("5")


group_ids, topics, times = st.sampled_from("gh"), st.sampled_from(["orders", "clicks"]), st.integers(0, 20 * DAY_MS)
members = st.sampled_from([(), (ALICE,), (ALICE, Member("bob", "c", "/h", None, subscribed=("clicks",)))])
offsets, of_alice = st.integers(0, 99), {"member_id": st.just("alice"), "generation": st.just(1)}
any_event = (
    st.builds(Commit, group_ids, topics, st.integers(0, 1), offsets, times, metadata=st.sampled_from(["", "ü"]))
    | st.builds(Commit, group_ids, topics, st.just(0), offsets, times, retention_ms=st.just(DAY_MS))
    | st.builds(Commit, group_ids, topics, st.just(0), offsets, times, producer_id=st.integers(1, 2))
    | st.builds(Commit, group_ids, topics, st.just(0), offsets, times, **of_alice)
    | st.builds(StoreGroup, group_ids, st.integers(1, 2), times, members)
    | st.builds(EndTransaction, st.integers(1, 2), st.booleans())
    | st.builds(Sweep, times)
    | st.builds(DeleteGroup, group_ids)
    | st.builds(DeleteOffset, group_ids, topics, st.integers(0, 1))
    | st.builds(DeleteTopic, topics)
    | st.builds(Fetch, group_ids, topics, st.integers(0, 1))
)
releases = st.sampled_from(["0.9.0", "0.10.1", "2.0", "2.1", "2.4", "3.9", "4.0", "4.1", "4.3"])


@settings(max_examples=150)
@given(releases, st.lists(any_event, max_size=25))
def test_the_reloaded_cache_equals_the_one_that_was_lost(release, events):
    for frame in run(partial(step, Settings(release)), Store(), events):
        check(frame.state)
        assert reloaded(Settings(release), frame.state).groups == lasting(frame.state.groups)


@given(releases, st.lists(any_event, max_size=25), st.integers(1, 5))
def test_a_load_in_pieces_ends_where_a_load_at_once_does(release, events, piece):
    lost = run(partial(step, Settings(release)), Store(), [*events, Resign(), Elect()])[-1].state
    pieces = run(partial(step, Settings(release)), lost, [Load(piece)] * max(1, -(-len(lost.log) // piece)))
    assert pieces[-1].state == step(Settings(release), lost, Load())


@given(releases, st.lists(any_event, max_size=25), times)
def test_a_second_sweep_at_the_same_time_does_nothing(release, events, now_ms):
    once = run(partial(step, Settings(release)), Store(), [*events, Sweep(now_ms)])[-1].state
    assert step(Settings(release), once, Sweep(now_ms)) == once
