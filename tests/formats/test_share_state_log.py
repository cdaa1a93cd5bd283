"""Records of __share_group_state, to the byte and back, as brokers wrote them and their tools print them."""

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.share_state_log import (
    SNAPSHOT,
    STATES,
    UPDATE,
    SharePartition,
    StateBatch,
    batch_fields,
    combine_batches,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
    replay,
)
from kafkalearn.formats.share_state_pairs import combine_pairs
from kafkalearn.formats.wire import Undecodable
from tests.recorded import recorded, unhex

WRITTEN = [(key, value) for _, key, value, *_ in recorded("share-state-log")["states"]]
ORDERS = SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", 2)
KEY = encode_key(UPDATE, ORDERS)


def test_the_recordings_hold_every_kind_of_record_of_three_releases():
    for part, kinds in (("states", {0, 1}), ("groups", set(range(10, 16)))):
        seen = {(case[0], int(case[1][:4], 16)) for case in recorded("share-state-log")[part]}
        assert seen == {(release, kind) for release in ("4.2.1", "4.3.1", "4.4.0") for kind in kinds}
    assert any(value is None for _, value in WRITTEN)
    states = {batch["deliveryState"] for key, value in WRITTEN if value for batch in batches_in(key, value)}
    assert states == {0, 2, 4}


def batches_in(key, value):
    return decode_value(decode_key(unhex(key))[0], unhex(value))[1]["stateBatches"]


# What is written is read, and what is no record is refused.

OFFSETS = st.integers(0, 40)
BATCHES = st.lists(
    st.builds(
        lambda first, more, state, count: StateBatch(first, first + more, state, count),
        OFFSETS,
        st.integers(0, 9),
        st.sampled_from([0, 2, 3, 4]),
        st.integers(1, 4),
    ),
    max_size=7,
)
WHOSE = st.builds(
    SharePartition,
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.just("A6AUkuaxQAm4bUDDQCKT_A"),
    st.integers(0, 2**31 - 1),
)
INTS, LONGS = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)


@given(WHOSE, INTS, INTS, LONGS, st.none() | INTS, BATCHES)
def test_what_is_written_is_read(whose, snapshot_epoch, leader_epoch, start, count, batches):
    fields = {"snapshotEpoch": snapshot_epoch, "leaderEpoch": leader_epoch, "startOffset": start}
    fields |= {} if count in (None, -1) else {"deliveryCompleteCount": count}
    update = fields | {"stateBatches": batch_fields(batches)}
    snapshot = update | {"stateEpoch": 7, "createTimestamp": start, "writeTimestamp": 0}
    for kind, value in ((UPDATE, update), (SNAPSHOT, snapshot)):
        assert decode_key(encode_key(kind, whose)) == (kind, whose)
        assert decode_value(kind, encode_value(kind, value)) == (0, value)


@given(st.data(), st.sampled_from([each for each in WRITTEN if each[1]]))
def test_any_bytes_are_read_or_refused(data, written):
    key, value = (bytearray(unhex(each)) for each in written)
    for given_bytes in (key, value):
        for _ in range(data.draw(st.integers(0, 3))):
            given_bytes[data.draw(st.integers(0, len(given_bytes) - 1))] = data.draw(st.integers(0, 255))
        del given_bytes[data.draw(st.integers(0, len(given_bytes))) :]
    with suppress(Undecodable):
        kind, _ = decode_key(bytes(key))
        decode_value(kind, bytes(value))
    replay([(bytes(key), bytes(value))])


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (b"\x00\x02", r"key: record type 2 at byte 0 is unknown; known are 0 \(snapshot\) and 1 \(update\)"),
        (KEY[:-1], "ShareUpdateKey: partition: value at byte 27 needs 4 bytes, 3 of 30 are left"),
        (KEY + b"\x00", "ShareUpdateKey: the message ends before byte 31, 1 more byte follows"),
        (b"", "needs 2 bytes"),
    ],
)
def test_a_key_that_is_none_is_refused_with_its_place(key, words):
    with pytest.raises(Undecodable, match=words):
        decode_key(key)


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (UPDATE, b"\x00\x01", "ShareUpdateValue: version 1 at byte 0 is unknown; known is 0"),
        (SNAPSHOT, b"\x00\x00\x00", "ShareSnapshotValue version 0: snapshotEpoch"),
        (2, b"\x00\x00", "unknown record type 2 of __share_group_state; known are 0"),
        (True, b"", "unknown record type True"),
    ],
)
def test_a_value_that_is_none_is_refused(kind, value, words):
    with pytest.raises(KafkaLearnError, match=words):
        decode_value(kind, value)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((5, 4, 0, 1), "last must be at least 5, got 4"),
        ((0, 4, 200, 1), "state must be .*127.*, got 200"),
        ((0, 4, 0, 40_000), "count must be at most 32,767, got 40000"),
        ((0.5, 4, 0, 1), "first must be a whole number"),
    ],
)
def test_a_batch_that_no_record_can_hold_is_refused(numbers, words):
    with pytest.raises(KafkaLearnError, match=words):
        StateBatch(*numbers)


# Batches over one another.


def by_offset(batches, start=-1):
    """At each offset the count and the state that win, looked up one by one."""
    offsets = {each for batch in batches for each in range(batch.first, batch.last + 1) if each >= start}
    return {
        each: max((batch.count, batch.state) for batch in batches if batch.first <= each <= batch.last)
        for each in offsets
    }


@given(BATCHES, BATCHES, st.integers(-1, 45))
def test_combined_the_greater_count_and_then_the_greater_state_wins_at_each_offset(there, more, start):
    combined = combine_batches(there, more, start)
    wanted = by_offset([*there, *more], start)
    assert by_offset(combined) == wanted
    assert sum(each.last - each.first + 1 for each in combined) == len(wanted), "they do not overlap"
    for one, other in pairwise(combined):
        assert one.last < other.first
        assert (one.last + 1, one.state, one.count) != (other.first, other.state, other.count), "alike: one batch"
    assert combine_batches(combined, start_offset=start) == combined


@given(BATCHES, BATCHES, st.integers(-1, 45))
def test_pair_by_pair_the_offsets_are_in_the_same_states(there, more, start):
    combined = combine_pairs(there, more, start)
    assert by_offset(combined) == by_offset([*there, *more], start)
    assert combine_batches(combined) == combine_batches(there, more, start)


# What records describe.


def test_replayed_the_records_are_what_a_coordinator_answers_of_each_share_partition():
    of_4_4 = [(unhex(key), unhex(value)) for release, key, value, *_ in recorded("share-state-log")["states"]]
    replayed = replay(of_4_4)
    assert len(replayed.states) > 20
    assert {each.share_partition for each in replayed.states} <= {decode_key(key)[1] for key, _ in of_4_4}
    assert all(STATES[batch.state] for each in replayed.states for batch in each.batches)


def snapshot(**fields):
    whole = {"snapshotEpoch": 0, "stateEpoch": 2, "leaderEpoch": 0, "startOffset": 0, "deliveryCompleteCount": 0}
    whole |= {"createTimestamp": 5, "writeTimestamp": 5, "stateBatches": []} | fields
    return encode_key(SNAPSHOT, ORDERS), encode_value(SNAPSHOT, whole)


def update(*batches, **fields):
    whole = {"snapshotEpoch": 0, "leaderEpoch": -1, "startOffset": -1} | fields
    return KEY, encode_value(UPDATE, whole | {"stateBatches": batch_fields(batches)})


def test_an_update_says_only_what_has_changed():
    one, two = StateBatch(0, 1, 2, 1), StateBatch(3, 4, 0, 1)
    (state,) = replay([snapshot(leaderEpoch=3), update(one, deliveryCompleteCount=2), update(two)]).states
    assert (state.leader_epoch, state.start_offset, state.state_epoch) == (3, 0, 2)
    assert state.complete_count == -1, "an update without a count says that it is not known"
    assert (state.batches, state.in_flight, state.lag(9)) == ((one, two), 2, -1)


def test_a_start_cuts_what_lies_below_it():
    (state,) = replay([snapshot(), update(StateBatch(0, 4, 2, 1)), update(startOffset=3)]).states
    assert state.batches == (StateBatch(3, 4, 2, 1),)


def test_a_tombstone_forgets_and_a_snapshot_begins_anew():
    assert replay([snapshot(), (encode_key(SNAPSHOT, ORDERS), None)]).states == ()
    (state,) = replay([snapshot(), update(StateBatch(0, 1, 2, 1)), snapshot(snapshotEpoch=1, startOffset=9)]).states
    assert (state.snapshot_epoch, state.start_offset, state.batches) == (1, 9, ())


def test_what_cannot_be_used_is_named():
    replayed = replay([update(), (None, b""), (b"\x00\x09", None), (KEY, b"\x00"), (KEY, None)])
    assert replayed.states == ()
    assert len(replayed.problems) == 5
    assert "has no snapshot before this update" in replayed.problems[0]
    assert "it is null" in replayed.problems[1]


def test_the_states_of_one_group_are_found():
    other = SharePartition("other", ORDERS.topic_id, 0)
    value = snapshot()[1]
    replayed = replay([snapshot(), (encode_key(SNAPSHOT, other), value)])
    assert [each.share_partition for each in replayed.of("other")] == [other]
    assert len(replayed.states) == 2
