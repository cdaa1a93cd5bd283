"""The share coordinator: what brokers answered to requests by hand, step by step, and what they wrote."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator import find_coordinator
from kafkalearn.coordinator.share_model import ANSWERS_FOR, Snapshot, Tombstone
from kafkalearn.coordinator.share_place import state_partition
from kafkalearn.coordinator.share_states import (
    Delete,
    Initialize,
    Read,
    Settings,
    SharePartition,
    SnapshotCold,
    StateBatch,
    Summarize,
    Write,
    broken,
    check,
    simulate,
    start,
)
from kafkalearn.formats.share_state_log import (
    SNAPSHOT,
    UPDATE,
    batch_fields,
    encode_key,
    encode_value,
    replay,
)
from tests.recorded import recorded

CASES = recorded("share-coordinator")["cases"]
ORDERS = SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", 0)


def test_the_recordings_hold_what_a_simpler_coordinator_gets_wrong():
    steps = [(each["event"]["op"], each["expect"]) for case in CASES for each in case["steps"]]
    assert {case["release"] for case in CASES} == {"4.2.1", "4.3.1", "4.4.0"}
    assert len(steps) == 1555
    errors = {expected["answer"]["error"] for _, expected in steps}
    assert errors == {
        "NONE", "INVALID_REQUEST", "FENCED_LEADER_EPOCH", "FENCED_STATE_EPOCH", "UNKNOWN_TOPIC_OR_PARTITION",
    }  # fmt: skip
    by_write = [expected["effects"] for request, expected in steps if request == "Write"]
    assert sum(bool(records) and records[0]["op"] == "Snapshot" for records in by_write) > 30
    by_read = [expected["effects"] for request, expected in steps if request == "Read"]
    assert any(by_read), "a new leader epoch is written"


def test_a_share_coordinator_is_found_as_a_group_s_by_the_key_of_the_share_partition():
    for number in range(20):
        whose = replace(ORDERS, partition=number)
        assert state_partition(whose) == find_coordinator(str(whose), brokers=[1, 2, 3]).partition


# Laws.

EPOCHS, PARTS = st.integers(-1, 3), st.integers(0, 1)
BATCHES = st.lists(
    st.builds(
        lambda first, more, state, count: StateBatch(first, first + more, state, count),
        st.integers(0, 12),
        st.integers(0, 5),
        st.sampled_from([0, 2, 4]),
        st.integers(1, 3),
    ),
    max_size=3,
).map(tuple)
PLACES = st.builds(lambda number: replace(ORDERS, partition=number), PARTS)
EVENTS = st.lists(
    st.one_of(
        st.builds(Initialize, PLACES, EPOCHS, st.integers(-1, 5)),
        st.builds(Read, PLACES, EPOCHS),
        st.builds(Write, PLACES, EPOCHS, EPOCHS, st.integers(-1, 8), BATCHES, st.integers(-1, 9)),
        st.builds(Summarize, PLACES),
        st.builds(Delete, PLACES),
        st.builds(SnapshotCold, st.integers(0, 400_000)),
    ),
    max_size=25,
)
RELEASES = st.sampled_from(["4.2", "4.3", "4.4"])


def bytes_of(effect):
    """An effect as the record that a broker writes."""
    if isinstance(effect, Tombstone):
        return encode_key(SNAPSHOT, effect.share_partition), None
    if not isinstance(effect, Snapshot):
        return encode_key(UPDATE, effect.share_partition), encode_value(UPDATE, effect.fields())
    of = effect.state
    fields = {
        "snapshotEpoch": of.snapshot_epoch,
        "stateEpoch": of.state_epoch,
        "leaderEpoch": of.leader_epoch,
        "startOffset": of.start_offset,
        "createTimestamp": of.created_ms,
        "writeTimestamp": of.written_ms,
        "stateBatches": batch_fields(of.batches),
    } | ({} if of.complete_count == -1 else {"deliveryCompleteCount": of.complete_count})
    return encode_key(SNAPSHOT, of.share_partition), encode_value(SNAPSHOT, fields)


@given(EVENTS, st.integers(0, 4))
def test_what_a_coordinator_of_4_4_knows_is_what_its_records_say(events, updates):
    settings = Settings({ORDERS.topic_id: 2}, "4.4", updates)
    trace = simulate(settings, events)
    records = [bytes_of(effect) for frame in trace for effect in frame.state.effects]
    assert replay(records).states == tuple(each.state for each in trace[-1].state.kept)
    assert trace[-1].state.record_count == len(records)


@given(EVENTS, RELEASES, st.integers(0, 4))
def test_the_invariants_hold_whatever_is_asked(events, release, updates):
    settings = Settings({ORDERS.topic_id: 2}, release, updates)
    before = None
    for frame in simulate(settings, events):
        check(settings, frame.state, before)
        before = frame.state


@given(EVENTS)
def test_since_4_4_the_start_never_goes_back(events):
    settings, before = Settings({ORDERS.topic_id: 2}), None
    for frame in simulate(settings, events):
        if before is not None and not isinstance(frame.event, Initialize | Delete):
            assert "the start of a state epoch never goes back" not in broken(settings, frame.state, before)
        before = frame.state


def test_before_4_4_a_late_writer_takes_the_start_back():
    events = [Initialize(ORDERS, 2, 0), Write(ORDERS, 2, 0, 9), Write(ORDERS, 2, 0, 4)]
    starts = {}
    for release in ("4.2", "4.3", "4.4"):
        settings = Settings({ORDERS.topic_id: 1}, release)
        *_, before, last = simulate(settings, events)
        starts[release] = last.state.state_of(ORDERS).start_offset, broken(settings, last.state, before.state)
    back = ("the start of a state epoch never goes back",)
    assert starts == {"4.2": (4, back), "4.3": (4, back), "4.4": (9, ())}


def test_an_initialisation_does_not_count_as_a_snapshot_of_the_updates():
    settings = Settings({ORDERS.topic_id: 1}, updates_per_snapshot=2)
    write = Write(ORDERS, 3, 0, 0, (StateBatch(0, 0, 2, 1),))
    trace = simulate(
        settings, [Initialize(ORDERS, 2), replace(write, state_epoch=2), Initialize(ORDERS, 3), write, write]
    )
    names = [effect.name for frame in trace for effect in frame.state.effects]
    assert names == ["ShareSnapshot", "ShareUpdate", "ShareSnapshot", "ShareUpdate", "ShareSnapshot"]


def test_a_cold_state_gets_a_snapshot_once():
    settings = Settings({ORDERS.topic_id: 1}, cold_ms=1000)
    events = [Initialize(ORDERS, 2), SnapshotCold(999), SnapshotCold(1000), SnapshotCold(9000)]
    *_, early, cold, again = simulate(settings, events)
    assert [len(frame.state.effects) for frame in (early, cold, again)] == [0, 1, 0]
    (written_again,) = cold.state.effects
    assert (written_again.state.snapshot_epoch, written_again.state.created_ms, written_again.state.written_ms) == (
        1, 0, 1000,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given_settings", "words"),
    [
        ({"release": "4.1"}, r"coordinator.share_states answers for 4.2 to 4.4, not 4.1: share groups are for"),
        ({"partition_counts": {"a": 0}}, "the number of partitions of 'a' must be at least 1"),
        ({"partition_counts": 7}, "partition_counts"),
        ({"partition_counts": (1,)}, "partition_counts must be a .*, got tuple"),
        ({"partition_counts": ("a",)}, "partition_counts must be a .*, got tuple"),
        ({"updates_per_snapshot": 501}, "updates_per_snapshot must be .* 500, got 501"),
        ({"cold_ms": 0}, "cold_ms must be at least 1"),
    ],
)
def test_settings_that_no_broker_has_are_refused(given_settings, words):
    with pytest.raises(KafkaLearnError, match=words):
        Settings(**{"partition_counts": {"a": 1}} | given_settings)
    assert "4.2" in ANSWERS_FOR


def test_what_is_not_there_is_named():
    settings = Settings({ORDERS.topic_id: 1})
    with pytest.raises(KeyError, match="billing:A6AUkuaxQAm4bUDDQCKT_A:0"):
        start(settings).state_of(ORDERS)
