"""The coordinator's store: what is written and answered, what a load finds, and what is promised."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.formats.records import batch_bytes
from kafkalearn.offsets.broker_settings import BATCH_BYTES, SETTINGS, coordinator_settings, effect_of, effects
from kafkalearn.offsets.records import decode, encode_key, encode_value
from kafkalearn.offsets.replay import Member
from kafkalearn.offsets.store import (
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
    StoreGroup,
    Sweep,
    TimeReached,
    broken,
    check,
    simulate,
    step,
)
from kafkalearn.offsets.store.model import FAILED, LOADING, NOT_OWNED, OWNED, Answer, Entry, Store
from kafkalearn.offsets.store.simulator import HANDOVER_SAFE, LOG_KNOWN, OFFSET_KEPT, reloaded
from kafkalearn.releases import RELEASES, default
from tests.every import every_case
from tests.offsets.store_events import ALICE, DAY_MS, after, any_event, lasting, possible, releases, times
from tests.recorded import recorded

STABLE_GROUP = StoreGroup("g", 1, 1000, (ALICE,), protocol="range", leader="alice")
COMMIT = Commit("g", "orders", 0, 7, 1000)
FETCH = Fetch("g", "orders", 0)


def answer(*events, release="4.3"):
    """What the last of some events is answered."""
    (answered,) = after(*events, release=release).effects
    return answered


def written(store):
    """Record type, value version and tombstone of each entry of the log."""
    records = [decode(entry.key, entry.value) for entry in store.log if entry.marker is None]
    return [(record.type.number, record.version) for record in records]


def test_a_commit_is_what_the_next_fetch_is_answered():
    assert answer(COMMIT, FETCH) == Answer(offset=7)


def test_a_group_or_partition_that_nobody_committed_is_answered_minus_one_and_no_error():
    assert answer(FETCH) == Answer(offset=-1)
    assert answer(COMMIT, Fetch("g", "orders", 1)) == Answer(offset=-1)


@pytest.mark.parametrize(
    ("release", "versions"),
    [("0.11.0", (1, 1)), ("2.0", (1, 1)), ("2.1", (1, 3)), ("4.0", (1, 3)), ("4.1", (1, 4))],
)
def test_a_release_writes_commits_in_its_own_version(release, versions):
    assert written(after(COMMIT, release=release)) == [versions]


@pytest.mark.parametrize(("release", "version"), [("0.11.0", 1), ("2.1", 2), ("2.3", 3), ("4.3", 3)])
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
        ((), Commit("g", "t", 0, 1, 0, generation=3), "GROUP_ID_NOT_FOUND"),
        ((), Commit("g", "t", 0, 1, 0, generation=3, retention_ms=1000), "ILLEGAL_GENERATION"),
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
    assert answer(*before, commit).error == error
    assert len(after(*before, commit).log) == len(after(*before).log) + (error == "NONE")


@pytest.mark.parametrize(("release", "error"), [("4.3", "NONE"), ("3.9", "NONE")])
def test_a_commit_whose_text_is_too_long_leaves_a_group_without_offsets(release, error):
    too_long = Commit("g", "t", 0, 1, 0, metadata="x" * 4097)
    assert after(too_long, release=release).log == ()
    assert answer(too_long, DeleteGroup("g"), release=release).error == error  # found by conform on 4.3
    assert answer(too_long, FETCH, release=release) == Answer(offset=-1)


def test_a_commit_in_flight_is_not_seen_and_keeps_its_group_alive():
    in_flight = Commit("g", "orders", 0, 9, 2000, is_in_flight=True)
    assert answer(COMMIT, in_flight, FETCH) == Answer(offset=7)
    assert answer(COMMIT, in_flight, Replicated(), FETCH) == Answer(offset=9)
    assert after(COMMIT, in_flight, Sweep(1000 + 8 * DAY_MS), release="3.9").group("g").offset("orders", 0).offset == 7


def test_since_4_0_the_sweep_sees_what_no_replica_has_and_waits_as_it_does():
    young = Commit("g", "orders", 0, 9, 1000 + 8 * DAY_MS, is_in_flight=True)
    old = Commit("g", "orders", 0, 9, 2000, is_in_flight=True)
    sweep = Sweep(1000 + 8 * DAY_MS)
    assert answer(COMMIT, young, sweep, Replicated(), FETCH) == Answer(offset=9)
    assert answer(COMMIT, old, sweep, FETCH) == Answer(offset=7)
    assert answer(COMMIT, old, sweep, Replicated(), FETCH) == Answer(offset=-1)


DELETIONS = {
    "the group": (DeleteGroup("g"),),
    "the offset": (DeleteOffset("g", "orders", 1), Replicated()),
    "the topic": (DeleteTopic("orders"), Replicated()),
}


@every_case("deletion", DELETIONS)
@pytest.mark.parametrize(("release", "found"), [("2.0", 9), ("3.9", 9), ("4.0", None), ("4.4", None)])
def test_a_deletion_over_a_commit_in_flight_wipes_it_out_since_4_0_and_leaves_it_to_the_next_load_before(
    deletion, release, found
):
    in_flight = Commit("g", "orders", 1, 9, 2000, is_in_flight=True)
    store = after(COMMIT, in_flight, *DELETIONS[deletion], release=release)
    assert step(Settings(release), store, Fetch("g", "orders", 1)).effects == (Answer(offset=-1),)
    loaded = reloaded(Settings(release), store).group("g")
    offset = None if loaded is None else loaded.offset("orders", 1)
    assert (None if offset is None else offset.offset) == found


@pytest.mark.parametrize(("release", "error"), [("3.9", "NONE"), ("4.4", "NONE")])
def test_a_group_that_a_commit_in_flight_has_made_can_be_deleted(release, error):
    in_flight = Commit("g", "orders", 1, 9, 2000, is_in_flight=True)
    assert answer(in_flight, DeleteGroup("g"), release=release).error == error


def test_what_was_given_up_after_its_time_is_not_known_up_to_3_9_but_in_the_log():
    in_flight = Commit("g", "orders", 0, 9, 2000, is_in_flight=True)
    store = after(COMMIT, in_flight, TimeReached(7000), Replicated(), release="3.9")
    assert (store.group("g").offset("orders", 0).offset, store.log[-1].is_given_up) == (7, True)
    assert LOG_KNOWN in broken(Settings("3.9"), store)


@pytest.mark.parametrize(("release", "generation"), [("2.0", 2), ("4.4", 0)])
def test_a_group_without_a_type_of_protocol_has_a_record_too(release, generation):
    """Since 4.0 the first JoinGroup writes one: generation 0, no type, no members."""
    store = after(StoreGroup("g", generation, 4000, protocol_type=""), release=release)
    assert store.group("g").is_blank
    assert reloaded(Settings(release), store).group("g") == store.group("g")


@pytest.mark.parametrize(("is_commit", "offset"), [(True, 8), (False, 7)])
def test_offsets_of_a_transaction_wait_for_its_marker(is_commit, offset):
    inside = Commit("g", "orders", 0, 8, 2000, producer_id=5)
    assert answer(COMMIT, inside, FETCH) == Answer(offset=7)
    assert answer(COMMIT, inside, Fetch("g", "orders", 0, True)) == Answer("UNSTABLE_OFFSET_COMMIT")
    store = after(COMMIT, inside, EndTransaction(5, is_commit), FETCH)
    assert store.effects == (Answer(offset=offset),)
    assert reloaded(Settings(), store).groups == store.groups


def test_a_later_commit_or_tombstone_overtakes_what_a_transaction_still_holds():
    inside = Commit("g", "orders", 0, 8, 2000, producer_id=5)
    end = EndTransaction(5, is_commit=True)
    assert answer(inside, Commit("g", "orders", 0, 9, 3000), end, FETCH) == Answer(offset=9)
    assert answer(COMMIT, inside, DeleteOffset("g", "orders", 0), end, FETCH) == Answer(offset=-1)


@pytest.mark.parametrize(("release", "found"), [("3.9", -1), ("4.0", 7)])
def test_an_open_transaction_keeps_the_offset_before_it_since_4_0_and_the_group_in_any_release(release, found):
    inside = Commit("g", "orders", 0, 8, 2000, producer_id=5)
    sweep = Sweep(1000 + 8 * DAY_MS)
    assert answer(COMMIT, inside, sweep, FETCH, release=release).offset == found
    assert after(COMMIT, inside, sweep, release=release).group("g") is not None


@pytest.mark.parametrize(("release", "error"), [("3.9", "UNSTABLE_OFFSET_COMMIT"), ("4.0", "NONE")])
def test_a_commit_in_flight_makes_the_offset_unstable_up_to_3_9(release, error):
    in_flight = Commit("g", "orders", 0, 9, 2000, is_in_flight=True)
    assert answer(COMMIT, in_flight, Fetch("g", "orders", 0, requires_stable=True), release=release).error == error


OF_0_8_2 = (
    encode_key(0, {"group": "g", "topic": "orders", "partition": 0}),
    encode_value(0, 0, {"offset": 3, "metadata": "", "commitTimestamp": 500}),
)


@pytest.mark.parametrize("events", [("legacy", "commit"), ("commit", "legacy")])
def test_types_0_and_1_are_one_offset_whatever_comes_last(events):
    legacy = Produce(*OF_0_8_2, "__admin_client")
    store = after(*({"legacy": legacy, "commit": COMMIT}[each] for each in events))
    assert [each.offset for each in reloaded(Settings(), store).group("g").offsets] == [
        {"commit": 7, "legacy": 3}[events[-1]]
    ]


def test_what_0_8_2_committed_is_gone_with_the_tombstone_of_a_later_release():
    old = Store(log=(Entry(*OF_0_8_2),))
    store = simulate(Settings(), [Resign(), Elect(), Load(), DeleteOffset("g", "orders", 0)], old)[-1].state
    assert [entry.key[:2].hex() for entry in store.log] == ["0000", "0001"]
    assert lasting(reloaded(Settings(), store).groups) == ()


def test_a_group_dies_at_the_sweep_when_it_is_empty_and_its_last_offset_expires():
    empty = StoreGroup("g", 2, 2000)
    commit = Commit("g", "orders", 0, 7, 1500, member_id="alice", generation=1)
    just_before, at = Sweep(2000 + 7 * DAY_MS - 1), Sweep(2000 + 7 * DAY_MS)
    alive, dead = after(STABLE_GROUP, commit, empty, just_before), after(STABLE_GROUP, commit, empty, just_before, at)

    assert alive.group("g").offset("orders", 0).offset == 7
    assert dead.group("g") is None
    assert written(dead)[len(alive.log) :] == [(1, None), (2, None)]


@pytest.mark.parametrize("release", ["2.0", "3.9", "4.3"])
def test_a_group_that_joined_left_and_committed_nothing_goes_with_the_next_sweep(release):
    """So does the group that the driver of a Spark query joins to learn which partitions there are."""
    swept = after(STABLE_GROUP, StoreGroup("g", 2, 2000), Sweep(2001), release=release)
    assert [number for number, _ in written(swept)] == [2, 2, 2]
    assert written(swept)[-1] == (2, None)
    assert swept.group("g") is None


def test_an_active_consumer_lost_idle_offsets_up_to_2_0_and_keeps_them_since():
    commit = Commit("g", "orders", 0, 7, 1500, member_id="alice", generation=1)
    events = (STABLE_GROUP, commit, Sweep(1500 + 30 * DAY_MS), FETCH)
    assert [answer(*events, release=release).offset for release in ("1.0", "2.0", "2.1", "4.3")] == [-1, -1, 7, 7]


@pytest.mark.parametrize(("release", "tombstones"), [("3.9", [(1, None)]), ("4.0", [(1, None), (2, None)])])
def test_a_group_that_only_stored_offsets_gets_a_tombstone_of_its_own_since_4_0(release, tombstones):
    assert written(after(COMMIT, DeleteGroup("g"), release=release))[1:] == tombstones


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
    assert answer(STABLE_GROUP, event) == Answer(error)
    assert after(STABLE_GROUP, event).log == after(STABLE_GROUP).log


def test_a_member_whose_topics_nobody_knows_counts_as_one_that_reads_them_all():
    """So does one whose subscription cannot be read: its offsets can be deleted when it has left."""
    nobody_knows = StoreGroup("g", 1, 1000, (Member("alice", subscribed=None),), protocol="range", leader="alice")
    reads_nothing = StoreGroup("g", 1, 1000, (Member("alice", subscribed=()),), protocol="range", leader="alice")
    commit, delete = Commit("g", "orders", 0, 7, 1500, member_id="alice", generation=1), DeleteOffset("g", "orders", 0)
    loads = (Resign(), Elect(), Load())
    assert answer(nobody_knows, commit, delete) == Answer("GROUP_SUBSCRIBED_TO_TOPIC")
    assert answer(nobody_knows, commit, *loads, delete) == Answer("GROUP_SUBSCRIBED_TO_TOPIC")
    assert answer(reads_nothing, commit, delete) == Answer("NONE")
    assert answer(nobody_knows, commit, StoreGroup("g", 2, 2000), delete) == Answer("NONE")


def test_a_deleted_topic_takes_its_offsets_along_and_since_4_3_only_its_own():
    old = Commit("g", "orders", 0, 7, 1000, topic_id="AAAAAAAAAAEAAAAAAAAAAQ")
    delete = DeleteTopic("orders", topic_id="AAAAAAAAAAIAAAAAAAAAAg")
    assert [answer(old, delete, FETCH, release=release).offset for release in ("4.2", "4.3")] == [-1, 7]
    assert answer(COMMIT, delete, FETCH).offset == -1


def test_a_resignation_writes_nothing_and_forgets_all():
    store = after(COMMIT, Resign())
    assert (store.status, store.groups, len(store.log)) == (NOT_OWNED, (), 1)


def test_a_load_reads_the_log_record_by_record_and_tombstones_forget():
    events = (COMMIT, Commit("h", "orders", 0, 3, 1000), DeleteGroup("g"), Resign(), Elect())
    trace = simulate(Settings(), [Load(1)] * 4, after(*events))

    assert [[group.group_id for group in frame.state.groups] for frame in trace] == [
        [],
        ["g"],
        ["g", "h"],
        ["g", "h"],
        ["h"],
    ]
    assert [frame.state.status for frame in trace] == [LOADING] * 4 + [OWNED]


@pytest.mark.parametrize("garbage", [Produce(None, b"v", "__admin_client"), Produce(b"\x00", b"v", "__admin_client")])
@pytest.mark.parametrize(("release", "status", "found"), [("3.9", OWNED, -1), ("4.3", FAILED, None)])
def test_one_record_that_cannot_be_read_breaks_the_load_each_era_in_its_way(garbage, release, status, found):
    store = reloaded(Settings(release), after(COMMIT, garbage, release=release))
    assert store.status == status
    (answered,) = step(Settings(release), store, FETCH).effects
    assert answered.offset == found


@pytest.mark.parametrize(("release", "found"), [("3.4.0", -1), ("3.4.1", 7), ("4.3", 7)])
def test_a_record_type_of_the_future_broke_the_load_until_3_4_1(release, found):
    future = Produce(b"\x00\x63\x00\x01a", b"\x00\x00", "__admin_client")
    store = reloaded(Settings(release), after(COMMIT, future, release=release))
    (answered,) = step(Settings(release), store, FETCH).effects
    assert answered.offset == found


PENDING = Commit("g", "orders", 0, 8, 2000, producer_id=5)


@pytest.mark.parametrize(
    ("events", "release", "message"),
    [
        ((Load(),), "4.3", "only after Elect there is something to load"),
        ((Elect(),), "4.3", "the broker is the leader already"),
        ((Resign(), Sweep(5)), "4.3", "the partition is not owned; possible now are Elect"),
        ((StateChanged("g", "PreparingRebalance"),), "4.3", "a classic group of the cache may go to"),
        ((PENDING, DeleteOffset("g", "orders", 0)), "3.9", "asked of 4.0 and later only, not of 3.9"),
        ((PENDING, DeleteGroup("g")), "3.9", "an open transaction holds offsets of g"),
        ((PENDING, DeleteTopic("orders")), "2.4", "end the transaction first"),
        ((StoreGroup("g", 0, 5),), "3.9", "the first generation that Kafka 3.9 stores is 1"),
        ((StoreGroup("g", 1, 5, kind="share"),), "4.3", "kinds of groups that commit offsets are classic, consumer"),
        ((StoreGroup("g", 1, 5, kind="consumer"),), "3.9", "Kafka 3.9 has no consumer groups; they came with 4.0"),
        ((StoreGroup("g", 1, 5, kind="streams"),), "4.1", "Kafka 4.1 has no streams groups; they came with 4.2"),
        ((StoreGroup("g", 0, 5, kind="consumer"),), "4.3", "the first generation that Kafka 4.3 stores is 1"),
        ((StoreGroup("g", 1, 5, (ALICE,), kind="consumer"),), "4.3", "leave leader and assigned out"),
        ((STABLE_GROUP, StoreGroup("g", 2, 5, kind="consumer")), "4.3", "g is a classic group with members"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused_and_says_what_is_possible(events, release, message):
    with pytest.raises(IllegalEvent, match=message):
        after(*events, release=release)


def test_a_group_with_a_member_twice_is_refused():
    with pytest.raises(KafkaLearnError, match="has 'alice' twice"):
        StoreGroup("g", 1, 5, (ALICE, ALICE))


def test_settings_that_no_broker_takes_are_refused():
    with pytest.raises(KafkaLearnError, match="unknown release '5'"):
        Settings("5")
    with pytest.raises(KafkaLearnError, match=r"offsets\.store answers for 0\.11\.0 to .*, not 0\.10\.2"):
        Settings("0.10.2")


@settings(max_examples=150)
@given(releases, st.lists(any_event, max_size=25))
def test_the_reloaded_cache_equals_the_one_that_was_lost(release, events):
    for frame in simulate(Settings(release), possible(release, events)):
        check(Settings(release), frame.state)
        assert lasting(reloaded(Settings(release), frame.state).groups) == lasting(frame.state.groups)


@given(releases, st.lists(any_event, max_size=25), st.integers(1, 5))
def test_a_load_in_pieces_ends_where_a_load_at_once_does(release, events, piece):
    lost = simulate(Settings(release), [*possible(release, events), Resign(), Elect()])[-1].state
    pieces = simulate(Settings(release), [Load(piece)] * max(1, -(-len(lost.log) // piece)), lost)
    assert pieces[-1].state == step(Settings(release), lost, Load())


@given(releases, st.lists(any_event, max_size=25), times)
def test_a_second_sweep_at_the_same_time_does_nothing(release, events, now_ms):
    once = simulate(Settings(release), [*possible(release, events), Sweep(now_ms)])[-1].state
    assert step(Settings(release), once, Sweep(now_ms)) == once


CONSUMING = (StoreGroup("g", 1, 1000, (ALICE,)), Commit("g", "orders", 0, 7, 1500, member_id="alice", generation=1))
GARBAGE = Produce(b"\x00", b"v", "__admin_client")


def breaks(*events, release="4.3"):
    """The promises that each step of a run breaks."""
    trace = simulate(Settings(release), events)
    pairs = zip((None, *trace), trace, strict=False)
    return [broken(Settings(release), frame.state, before and before.state) for before, frame in pairs]


@pytest.mark.parametrize(("release", "found"), [("0.11.0", True), ("2.0", True), ("2.1", False), ("4.3", False)])
def test_up_to_2_0_a_sweep_took_the_offset_of_a_consumer_that_was_there(release, found):
    assert breaks(*CONSUMING, Sweep(1500 + 30 * DAY_MS), release=release)[-1] == ((OFFSET_KEPT,) if found else ())


def test_a_deleted_topic_takes_the_offsets_of_those_who_consume_it():
    assert breaks(*CONSUMING, DeleteTopic("orders"))[-1] == (OFFSET_KEPT,)
    assert breaks(*CONSUMING, StoreGroup("g", 2, 2000), DeleteTopic("orders"))[-1] == ()


def test_a_record_that_cannot_be_read_does_its_harm_at_the_next_load():
    events = (*CONSUMING, GARBAGE, Resign(), Elect(), Load())
    assert breaks(*events)[-4:] == [(HANDOVER_SAFE,), (), (), (LOG_KNOWN,)]
    assert breaks(*events, release="3.9")[-4:] == [(HANDOVER_SAFE,), (), (), (LOG_KNOWN,)]


def test_a_record_of_somebody_else_that_can_be_read_is_not_known_until_the_next_load():
    entry = simulate(Settings(), [Commit("g", "orders", 0, 9, 2000)])[-1].state.log[0]
    found = breaks(*CONSUMING, Produce(entry.key, entry.value, "__admin_client"), Resign(), Elect(), Load())
    assert found[-4:] == [(LOG_KNOWN, HANDOVER_SAFE), (), (), ()]


@given(releases, st.lists(any_event, max_size=25))
def test_while_nobody_else_writes_the_log_is_known_and_can_be_handed_over(release, events):
    for frame in simulate(Settings(release), possible(release, events)):
        assert broken(Settings(release), frame.state, names=(LOG_KNOWN, HANDOVER_SAFE)) == ()


# The coordinator's settings: every row runs, and its two values end differently.
RECORDED = recorded("coordinator-settings")
NAMES = [each.name for each in SETTINGS]


def test_there_are_sixteen_settings_each_once():
    assert len(NAMES) == len(set(NAMES)) == 16
    assert [row["setting"] for row in coordinator_settings()] == NAMES
    assert [row["setting"] for row in effects()] == NAMES


@every_case("release", RELEASES)
def test_a_default_is_what_the_release_has(release):
    for row in coordinator_settings([release]):
        if row[release] == "-":
            with pytest.raises(KafkaLearnError, match=row["setting"]):
                default(row["setting"], release=release, side="broker")
        else:
            assert row[release] == default(row["setting"], release=release, side="broker")


@pytest.mark.parametrize("name", NAMES)
def test_two_values_of_a_setting_end_differently(name):
    first, second = effect_of(name)
    (tried,) = first.keys() - {name}

    assert first[name] != second[name]
    assert first[tried] != second[tried]


def test_an_unknown_setting_is_refused():
    with pytest.raises(KafkaLearnError, match=r"group\.max\.size"):
        effect_of("group.max.sise")


def test_the_sizes_by_codec_are_the_recorded_ones_and_without_codec_those_of_the_layout():
    assert {int(codec): size for codec, size in RECORDED["batch_bytes_by_codec"].items()} == BATCH_BYTES
    value = encode_value(1, 4, {"offset": 1, "metadata": "", "commitTimestamp": 0, "topicId": "AAAAAAAAAAEAAAAAAAAAAQ"})
    keys = [encode_key(1, {"group": "billing", "topic": "orders", "partition": number}) for number in range(100)]

    assert batch_bytes(0, 0, [(number, 0, key, value) for number, key in enumerate(keys)]) == BATCH_BYTES[0]
