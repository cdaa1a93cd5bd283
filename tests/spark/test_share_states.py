"""Decoding __share_group_state in whole columns gives what the scalar functions give, record by record."""

import random
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.cloudpickle import list_registry_pickle_by_value, unregister_pickle_by_value

from kafkalearn.coordinator.share_states import (
    Delete,
    Initialize,
    Read,
    Settings,
    SharePartition,
    StateBatch,
    Write,
    simulate,
)
from kafkalearn.formats.share_state_log import SNAPSHOT, UPDATE, batch_fields, encode_key, encode_value, replay
from kafkalearn.spark.data.share_states import GROUP_COUNT, share_log_ends, share_state_records
from kafkalearn.spark.share_states import (
    DECODED_SCHEMA,
    decode_share_row,
    decode_share_states,
    latest_share_states,
    share_lag_of,
)
from tests.coordinator.test_share_states import bytes_of
from tests.formats.test_share_state_log import BATCHES, INTS, LONGS, WHOSE
from tests.recorded import recorded, unhex

pytestmark = pytest.mark.spark

WRITTEN = [(unhex(key), unhex(value)) for _, key, value, *_ in recorded("share-state-log")["states"]]
TOPIC = "A6AUkuaxQAm4bUDDQCKT_A"


def decoded(spark, records):
    rows = [(index, key, value) for index, (key, value) in enumerate(records)]
    return spark.createDataFrame(rows, "offset bigint, key binary, value binary").transform(decode_share_states)


def in_order(df):
    rows = df.orderBy("offset").drop("offset", "key", "value").collect()
    return [row.asDict(recursive=True) for row in rows]


def expected(key, value):
    return dict.fromkeys(DECODED_SCHEMA.names) | decode_share_row(key, value)


@pytest.mark.usefixtures("route")
def test_every_record_of_real_brokers_is_decoded_as_by_the_scalar_functions(spark):
    assert in_order(decoded(spark, WRITTEN)) == [expected(*each) for each in WRITTEN]


def unusual():
    """Records that no expression reads, or at the edge of those that one does."""
    whose = SharePartition("größe 😀", TOPIC, 2**31 - 1)
    key, fields = encode_key(UPDATE, whose), {"snapshotEpoch": -1, "leaderEpoch": 2**31 - 1, "startOffset": -(2**63)}
    for count in (0, 1, 3, 4, 5, 126, 127, 300):
        batches = batch_fields([StateBatch(each, each, each % 5, each % 300 - 9) for each in range(count)])
        for more in ({}, {"deliveryCompleteCount": -5}):
            yield key, encode_value(UPDATE, fields | more | {"stateBatches": batches})
    value = encode_value(UPDATE, fields | {"stateBatches": batch_fields([StateBatch(-9, 2**62, -7, 1)])})
    yield from ((key, value[:-1] + b"\x02"), (key, value + b"\x00"), (key[:-1], value), (key + b"\x00", value))
    yield from ((None, value), (b"", None), (b"\x00", value), (b"\x00\x02" + key[2:], value), (key, b"\x00\x01"))
    yield key, value[:-2] + b"\x01" + value[-1:]  # a batch with a tagged field that is not there
    yield encode_key(UPDATE, SharePartition("", TOPIC, 0)), value
    yield b"\x00\x01\x00\x01\xff" + bytes(20), value  # no UTF-8


def test_unusual_records_are_decoded_as_by_the_scalar_functions(spark):
    records = list(unusual())
    assert in_order(decoded(spark, records)) == [expected(*each) for each in records]
    assert {each["error"] is None for each in (expected(*one) for one in records)} == {True, False}


def test_mutated_records_keep_their_row_and_get_the_scalar_functions_reason(spark):
    drawn, records = random.Random(17), []
    for key, value in WRITTEN * 3:
        parts = [bytearray(key), bytearray(value or b"")]
        for part in parts:
            for _ in range(drawn.randint(0, 2)):
                if part:
                    part[drawn.randrange(len(part))] = drawn.randrange(256)
            if drawn.random() < 0.2:
                del part[drawn.randrange(len(part) + 1) :]
        records.append((bytes(parts[0]), None if value is None else bytes(parts[1])))
    rows = in_order(decoded(spark, records))
    assert rows == [expected(*each) for each in records]
    assert 100 < sum(each["error"] is not None for each in rows) < len(rows)


@st.composite
def generated(draw):
    """A record as a coordinator may write it; some with other bytes, some cut."""
    kind = draw(st.sampled_from([SNAPSHOT, UPDATE]))
    fields = {"snapshotEpoch": draw(INTS), "leaderEpoch": draw(INTS), "startOffset": draw(LONGS)}
    fields |= {"stateBatches": batch_fields(draw(BATCHES))}
    if (count := draw(st.none() | INTS)) is not None:
        fields["deliveryCompleteCount"] = count
    if kind == SNAPSHOT:
        fields |= {"stateEpoch": draw(INTS), "createTimestamp": draw(LONGS), "writeTimestamp": draw(LONGS)}
    parts = [bytearray(encode_key(kind, draw(WHOSE))), bytearray(encode_value(kind, fields))]
    for part in parts:
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            part[draw(st.integers(0, len(part) - 1))] = draw(st.integers(0, 255))
        del part[draw(st.sampled_from([len(part)] * 3 + [*range(len(part))])) :]
    return bytes(parts[0]), draw(st.sampled_from([bytes(parts[1])] * 9 + [None]))


@given(st.lists(generated(), min_size=40, max_size=80))
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_bytes_are_decoded_as_by_the_scalar_functions(spark, records):
    assert in_order(decoded(spark, records)) == [expected(*each) for each in records]


def history(seed, release):
    """What a share coordinator writes that is asked at random."""
    drawn = random.Random(f"{seed} {release}")
    places = [SharePartition(f"g{number % 3}", TOPIC, number) for number in range(4)]
    events = [Initialize(each, 3, -1) for each in places]
    for _ in range(150):
        whose, what = drawn.choice(places), drawn.random()
        if what < 0.1:
            events.append(Initialize(whose, 3, drawn.choice([-1, 0, 4])))
        elif what < 0.2:
            events.append(Read(whose, drawn.randint(3, 5)))
        elif what < 0.22:
            events.append(Delete(whose))
        else:
            first = drawn.randint(0, 20)
            batches = (StateBatch(first, first + drawn.randint(0, 4), drawn.choice([0, 2, 4]), drawn.randint(1, 3)),)
            sent, count = drawn.choice([-1, 0, 3, 9]), drawn.choice([-1, 0, 2])
            events.append(Write(whose, drawn.choice([3, 3, 2]), 5, sent, batches, count))
    trace = simulate(Settings({TOPIC: 4}, release, updates_per_snapshot=5), events)
    return [bytes_of(effect) for frame in trace for effect in frame.state.effects]


@pytest.mark.equal("share_states.share_lag_of")
@pytest.mark.parametrize("release", ["4.2", "4.4"])
def test_the_newest_states_and_their_lag_are_those_of_the_scalar_replay(spark, release):
    records = history(5, release)
    states = replay(records).states
    latest = latest_share_states(decoded(spark, records))
    ends = spark.createDataFrame(
        [(TOPIC, number, 30) for number in range(3)], "topic_id string, share_partition int, log_end int"
    )
    rows = share_lag_of(latest, ends).orderBy("group_id", "topic_id", "share_partition").collect()
    assert len(records) > 60
    assert len(rows) == len(states) >= 2
    for row, state in zip(rows, states, strict=True):
        whose = state.share_partition
        assert (row.group_id, row.topic_id, row.share_partition) == (whose.group_id, whose.topic_id, whose.partition)
        assert (row.snapshot_epoch, row.state_epoch, row.leader_epoch, row.start_offset, row.written_ms) == (
            state.snapshot_epoch, state.state_epoch, state.leader_epoch, state.start_offset, state.written_ms,
        )  # fmt: skip
        assert (-1 if row.complete_count is None else row.complete_count) == state.complete_count
        is_known = whose.partition < 3 and state.start_offset != -1 and state.complete_count != -1
        assert row.lag == (state.lag(30) if is_known else None)


def test_a_deleted_state_and_an_update_alone_are_no_state(spark):
    whose = SharePartition("g", TOPIC, 0)
    update = (
        encode_key(UPDATE, whose),
        encode_value(UPDATE, {"snapshotEpoch": 0, "leaderEpoch": 0, "startOffset": 0, "stateBatches": []}),
    )
    assert latest_share_states(decoded(spark, [update])).collect() == []
    settings = Settings({TOPIC: 1})
    trace = simulate(settings, [Initialize(whose, 1, 0), Delete(whose)])
    gone = [bytes_of(effect) for frame in trace for effect in frame.state.effects]
    assert latest_share_states(decoded(spark, gone)).collect() == []
    assert latest_share_states(decoded(spark, gone[:1])).count() == 1


def test_both_modules_that_unusual_records_are_read_with_go_to_the_workers(spark):
    """A worker that has nothing but the core could not import the one whose function is used here."""
    modules = {"kafkalearn.spark.share_states", "kafkalearn.spark.offsets.decode"}
    for name in modules & set(list_registry_pickle_by_value()):
        unregister_pickle_by_value(sys.modules[name])

    decode_share_states(spark.createDataFrame([], "key binary, value binary"))

    assert modules <= set(list_registry_pickle_by_value())


def test_made_records_have_the_lag_that_the_scalar_replay_says(spark):
    rows = share_state_records(spark, 5_000)
    replayed = replay((bytes(row.key), bytes(row.value)) for row in rows.orderBy("offset").collect())
    ends = share_log_ends(spark, 5_000)
    end = ends.first().log_end

    told = share_lag_of(latest_share_states(decode_share_states(rows)), ends).collect()

    assert not replayed.problems
    states = [each for number in range(GROUP_COUNT) for each in replayed.of(f"group-{number}")]
    assert {(each.share_partition.group_id, each.share_partition.partition): each.lag(end) for each in states} == {
        (row.group_id, row.share_partition): row.lag for row in told
    }
    assert len(told) == 1_000
    assert min(row.lag for row in told) > 0


def test_a_made_share_partition_is_replayed_over_its_snapshots(spark):
    rows = share_state_records(spark, 1_100_000).where("offset % 1000 = 7").orderBy("offset").collect()
    (state,) = replay((bytes(row.key), bytes(row.value)) for row in rows).of("group-7")

    assert (len(rows), state.share_partition.partition) == (1100, 7)
    assert [(each.first, each.last) for each in state.batches] == [
        (state.start_offset + 1, state.start_offset + state.complete_count)
    ]
