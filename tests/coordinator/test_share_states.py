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
    step,
)
from kafkalearn.formats.share_state_log import (
    SNAPSHOT,
    STATES,
    UPDATE,
    batch_fields,
    encode_key,
    encode_value,
    replay,
)
from tests.every import every_case
from tests.recorded import recorded

CASES = recorded("share-coordinator")["cases"]
ORDERS = SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", 0)


def event_of(request, asked):
    topic, _, number = asked["partition"].partition("-")
    whose = SharePartition("g1", topic, int(number))
    match request:
        case "InitializeShareGroupState":
            return Initialize(whose, asked["stateEpoch"], asked["startOffset"])
        case "ReadShareGroupState":
            return Read(whose, asked["leaderEpoch"])
        case "ReadShareGroupStateSummary":
            return Summarize(whose, asked["leaderEpoch"])
        case "DeleteShareGroupState":
            return Delete(whose)
    batches = tuple(StateBatch(*each) for each in asked["stateBatches"])
    count = asked.get("deliveryCompleteCount", -1)
    return Write(whose, asked["stateEpoch"], asked["leaderEpoch"], asked["startOffset"], batches, count)


def told(request, version, answer):
    """An answer as the recording has it."""
    if answer.error != "NONE":
        return {"error": answer.error, "message": answer.message}
    said = {"error": "NONE", "startOffset": answer.start_offset, "stateEpoch": answer.state_epoch}
    if request == "ReadShareGroupState":
        batches = [[each.first, each.last, each.state, each.count] for each in answer.batches]
        return said | {"stateBatches": batches}
    if request == "ReadShareGroupStateSummary":
        said |= {"leaderEpoch": answer.leader_epoch}
        return said | ({"deliveryCompleteCount": answer.complete_count} if version >= 1 else {})
    return {"error": "NONE"}


def written(effect):
    """A record as the recording has it."""
    if isinstance(effect, Tombstone):
        return [effect.name, None]
    of = effect.state if isinstance(effect, Snapshot) else effect
    fields = {"snapshotEpoch": of.snapshot_epoch, "leaderEpoch": of.leader_epoch, "startOffset": of.start_offset}
    fields["stateBatches"] = [[each.first, each.last, STATES[each.state], each.count] for each in of.batches]
    if of.complete_count != -1:
        fields["deliveryCompleteCount"] = of.complete_count
    if isinstance(effect, Snapshot):
        fields |= {"stateEpoch": of.state_epoch, "rewritten": of.created_ms != of.written_ms}
    return [effect.name, fields]


@every_case("case", recorded("share-coordinator")["cases"], ids=lambda case: f"{case['name']} on {case['kafka']}")
def test_every_recorded_request_is_answered_and_written_as_by_the_broker(case):
    settings = Settings(case["partitions"], case["kafka"], case["updatesPerSnapshot"])
    state = start(settings)
    for number, (request, version, asked, answer, records) in enumerate(case["steps"]):
        before, state = state, step(settings, state, event_of(request, asked))
        if answer["error"] != "NONE":
            answer = {name: answer[name] for name in ("error", "message")}  # the rest of a refusal says nothing
        assert told(request, version, state.answer) == answer, (number, request, asked)
        assert [written(each) for each in state.effects] == records, (number, request, asked)
        check(settings, state, before)


def test_the_recordings_hold_what_a_simpler_coordinator_gets_wrong():
    steps = [(case["kafka"], *each) for case in CASES for each in case["steps"]]
    assert {case["kafka"] for case in CASES} == {"4.2.1", "4.3.1", "4.4.0"}
    assert len(steps) == 1555
    errors = {answer["error"] for *_, answer, _ in steps}
    assert errors == {
        "NONE", "INVALID_REQUEST", "FENCED_LEADER_EPOCH", "FENCED_STATE_EPOCH", "UNKNOWN_TOPIC_OR_PARTITION",
    }  # fmt: skip
    by_write = [each for each in steps if each[1] == "WriteShareGroupState"]
    assert sum(bool(records) and records[0][0] == "ShareSnapshot" for *_, records in by_write) > 30
    by_read = [records for _, request, *_, records in steps if request == "ReadShareGroupState"]
    assert any(by_read), "a new leader epoch is written"


@every_case("case", recorded("share-places")["cases"])
def test_a_share_partition_is_kept_where_brokers_wrote_it(case):
    _, group_id, topic_id, number, partition = case
    assert state_partition(SharePartition(group_id, topic_id, number)) == partition


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
