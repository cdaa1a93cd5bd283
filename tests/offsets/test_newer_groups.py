"""Groups of the newer protocols in the store: what is written of them, and the clock of their offsets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.offsets import decode
from kafkalearn.offsets.replay import Group, Member
from kafkalearn.offsets.store import (
    Commit,
    DeleteGroup,
    DeleteOffset,
    Fetch,
    Settings,
    StoreGroup,
    Sweep,
    check,
    start,
    step,
)
from kafkalearn.offsets.store.entries import group_tombstones
from kafkalearn.offsets.store.model import Answer
from kafkalearn.offsets.store.requests import is_expired, open_partitions
from kafkalearn.offsets.store.simulator import reloaded
from tests.offsets.store_events import DAY_MS, after, lasting, newer_event, newer_releases
from tests.offsets.test_store_expiry import RECORDS
from tests.schedules import sensible_run

ALICE = Member("alice", subscribed=("orders",))
NEWER = ["consumer", "streams"]
ON_DISK = [(record.key, record.value) for record in RECORDS]


def log_of(store):
    return [(entry.key, entry.value) for entry in store.log]


def records_of(log, group):
    """Record type of each record of a group, with a T for a tombstone."""
    records = [decode(key, value) for key, value in log]
    return [f"{each.type.number}{'T' * each.is_tombstone}" for each in records if each.group == group]


def commits(kind, now_ms=1000):
    """One for each of two topics, of which a member subscribes to the first."""
    who = {} if kind == "standalone" else {"member_id": "alice", "generation": 1}
    return [Commit("g", topic, 0, 7, now_ms, **who) for topic in ("orders", "clicks")]


def life(kind, left_ms):
    """A group that commits at second 1, and whose member leaves."""
    if kind == "standalone":
        return commits(kind)
    return [StoreGroup("g", 1, 0, (ALICE,), kind=kind), *commits(kind), StoreGroup("g", 2, left_ms, kind=kind)]


def gone_after_days(kind, topic, left_ms, days=range(40)):
    """The first of some days on whose sweep the offset goes."""
    for now_ms in (1000 + day * DAY_MS for day in days):
        known = [event for event in life(kind, left_ms) if event.now_ms <= now_ms]
        if after(*known, Sweep(now_ms), Fetch("g", topic, 0)).effects == (Answer(offset=-1),):
            return (now_ms - 1000) // DAY_MS
    return None


@pytest.mark.parametrize(("kind", "name"), [("consumer", "kip848-leaves"), ("streams", "streams-leaves")])
def test_the_records_and_their_order_are_those_of_a_real_broker(kind, name):
    store = after(*life(kind, 2000), Sweep(2000 + 8 * DAY_MS))
    assert records_of(log_of(store), "g") == records_of(ON_DISK, name)


@pytest.mark.parametrize(("kind", "name"), [("consumer", "own-time-kip848"), ("streams", "own-time-streams")])
def test_a_plain_group_gets_its_tombstone_when_a_member_of_a_newer_protocol_joins_and_keeps_its_offsets(kind, name):
    own_time = [Commit("g", topic, 0, 5, 500, retention_ms=4000) for topic in ("orders", "clicks")]
    store = after(*own_time, StoreGroup("g", 1, 1000, (ALICE,), kind=kind), Sweep(5000))
    assert records_of(log_of(store), "g") == records_of(ON_DISK, name)
    assert [str(each.at) for each in store.group("g").offsets] == ["orders-0"]


@pytest.mark.parametrize(
    ("kind", "left_day", "orders", "clicks"),
    [
        ("classic", 1, 8, 8),
        ("consumer", 1, 7, 7),
        ("streams", 1, 7, 7),
        ("standalone", 1, 7, 7),
        ("classic", 20, 27, 7),
        ("consumer", 20, 20, 7),
        ("streams", 20, 20, 7),
        ("standalone", 20, 7, 7),
    ],
)
def test_the_kind_of_group_decides_from_when_an_offset_counts(kind, left_day, orders, clicks):
    left_ms = 1000 + left_day * DAY_MS
    assert gone_after_days(kind, "orders", left_ms) == orders
    assert gone_after_days(kind, "clicks", left_ms) == clicks


@pytest.mark.parametrize("kind", ["classic", *NEWER])
def test_the_group_dies_with_its_last_offset_and_leaves_nothing_to_load(kind):
    store = after(*life(kind, 2000), Sweep(2000 + 8 * DAY_MS))
    assert store.groups == reloaded(Settings(), store).groups == ()


@pytest.mark.parametrize("kind", NEWER)
def test_an_empty_group_changes_its_kind_and_takes_its_offsets_along(kind):
    store = after(*life(kind, 2000), StoreGroup("g", 1, 3000, (ALICE,)))
    assert (store.group("g").kind, len(store.group("g").offsets)) == ("classic", 2)
    assert reloaded(Settings(), store).groups == store.groups


@pytest.mark.parametrize(
    ("commit", "error"),
    [
        (Commit("g", "orders", 0, 1, 5, member_id="alice", generation=1), "NONE"),
        (Commit("g", "orders", 0, 1, 5, member_id="alice", generation=0), "STALE_MEMBER_EPOCH"),
        (Commit("g", "orders", 0, 1, 5, member_id="bob", generation=1), "UNKNOWN_MEMBER_ID"),
        (Commit("g", "orders", 0, 1, 5), "UNKNOWN_MEMBER_ID"),
        (Commit("g", "orders", 0, 1, 5, member_id="alice", generation=1, retention_ms=9), "UNSUPPORTED_VERSION"),
        (DeleteGroup("g"), "NON_EMPTY_GROUP"),
        (DeleteOffset("g", "orders", 0), "GROUP_SUBSCRIBED_TO_TOPIC"),
        (DeleteOffset("g", "clicks", 0), "NONE"),
    ],
)
@pytest.mark.parametrize("kind", NEWER)
def test_requests_to_a_group_of_a_newer_protocol_are_answered_as_by_kafka(kind, commit, error):
    assert after(StoreGroup("g", 1, 0, (ALICE,), kind=kind), commit).effects == (Answer(error),)


def play(release, events):
    """The states of a run, without the events that make no sense where they come."""
    settings = Settings(release)
    return settings, [frame.state for frame in sensible_run(step, settings, start(settings), events)]


@settings(max_examples=100)
@given(newer_releases, st.lists(newer_event, max_size=25))
def test_the_reloaded_cache_equals_the_one_that_was_lost_for_groups_of_every_kind(release, events):
    of_release, states = play(release, events)
    for store in states:
        check(of_release, store)
        assert lasting(reloaded(of_release, store).groups) == lasting(store.groups)


@given(newer_releases, st.lists(newer_event, max_size=25), st.integers(0, 20 * DAY_MS))
def test_a_sweep_takes_what_the_rule_calls_expired_and_nothing_else(release, events, now_ms):
    of_release, states = play(release, events)
    store = states[-1]
    pending = open_partitions(of_release, store)
    swept = step(of_release, store, Sweep(now_ms))
    kept = {(group.group_id, each.at) for group in swept.groups for each in group.offsets}
    for group in store.groups:
        for each in group.offsets:
            is_open = (group.group_id, *each.at) in pending
            gone = is_expired(group, each, now_ms, of_release.retention_ms, release, is_open)
            assert gone == ((group.group_id, each.at) not in kept)


@pytest.mark.parametrize(("release", "error"), [("4.3", "ILLEGAL_GENERATION"), ("4.4", "STALE_MEMBER_EPOCH")])
def test_a_wrong_epoch_in_a_transaction_has_its_own_error_since_4_4(release, error):
    """As brokers answered in vectors/transactions/told-cases.json: version 6 of the request knows the newer one."""
    late = Commit("g", "orders", 0, 1, 5, member_id="alice", generation=0, producer_id=7)
    assert play(release, [StoreGroup("g", 1, 0, (ALICE,), kind=NEWER[0]), late])[1][-1].effects == (Answer(error),)


@pytest.mark.parametrize(("release", "error"), [("4.3", "ILLEGAL_GENERATION"), ("4.4", "GROUP_ID_NOT_FOUND")])
def test_a_group_that_is_not_there_has_its_own_error_in_a_transaction_since_4_4(release, error):
    """As 4.4.0 answered conform, and 4.3.1 a told case: version 6 of TxnOffsetCommit knows the newer one."""
    commit = Commit("nobody", "orders", 0, 1, 5, member_id="alice", generation=0, producer_id=7)
    assert play(release, [commit])[1][-1].effects == (Answer(error),)


@pytest.mark.parametrize(("release", "types"), [("4.0", ["12T", "9T", "11T"]), ("4.1", ["12T", "15T", "11T"])])
def test_a_deleted_share_group_leaves_the_tombstones_of_its_target_its_state_and_itself(release, types):
    """ShareGroup.createGroupTombstoneRecords."""
    entries = group_tombstones(Settings(release), Group("g", "share"))
    assert records_of([(each.key, each.value) for each in entries], "g") == types
