"""From raw segment files to the state of every group, in Spark: what the broker itself said of them."""

import random
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator.places import PLACES, PlaceCost, place_cost
from kafkalearn.exercises.chapter07 import who_died
from kafkalearn.formats.disk import committed_records, read_disk, source_rows
from kafkalearn.formats.wire import Undecodable
from kafkalearn.offsets import decode, encode_key, encode_value, replay
from kafkalearn.offsets.replay import classic_group
from kafkalearn.spark.data.groups import offsets_records
from kafkalearn.spark.offsets import group_members
from kafkalearn.spark.offsets.decode import decode_offsets
from kafkalearn.spark.offsets.segments import only_committed, segments_df
from kafkalearn.spark.offsets.state import (
    MEMBER_SCHEMA,
    commits_per_second,
    dead_groups,
    group_states,
    lag_of,
    latest_state,
    place_costs,
)
from tests.formats.disk import FOLDER, RUNS, admin, replayed, segments
from tests.offsets.generated import group_values, offset_records
from tests.running.night import at_night

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def disk(spark):
    return segments_df(spark, FOLDER / "disk").cache()


@pytest.fixture(scope="module")
def latest(disk):
    return disk.transform(only_committed).transform(decode_offsets).transform(latest_state).cache()


@pytest.mark.equal("offsets.segments.only_committed")
def test_segment_files_become_the_rows_that_the_scalar_reader_gives(disk):
    columns = ["key", "value", "topic", "partition", "offset", "timestampType"]
    rows = disk.where("control IS NULL").orderBy("partition", "offset").select(columns).collect()

    assert [tuple(row) for row in rows] == [
        tuple(row[column] for column in columns) for row in source_rows(segments("disk"))
    ]
    kept = disk.transform(only_committed).orderBy("partition", "offset").select("key", "value").collect()
    assert [tuple(row) for row in kept] == [(each.key, each.value) for each in committed_records(segments("disk"))]
    assert sorted(row.control for row in disk.where("control IS NOT NULL").collect()) == ["ABORT", "COMMIT"]


def test_timestamps_are_those_of_the_records(disk):
    rows = (
        disk.where("control IS NULL")
        .orderBy("partition", "offset")
        .selectExpr("unix_millis(timestamp) AS ms")
        .collect()
    )
    said = [record.timestamp_ms for each in segments("disk") for batch in each.batches for record in batch.records
            if record.control is None]  # fmt: skip
    assert [row.ms for row in rows] == said


def test_a_torn_file_gives_its_records_and_a_row_that_says_where_it_ends(spark, tmp_path):
    shutil.copytree(FOLDER / "disk/__consumer_offsets-9", tmp_path / "__consumer_offsets-9")
    file = next((tmp_path / "__consumer_offsets-9").glob("*.log"))
    file.write_bytes(file.read_bytes()[:-10])
    (whole,) = read_disk(tmp_path)
    torn = segments_df(spark, tmp_path)

    (tail,) = torn.where("tail IS NOT NULL").collect()
    assert (tail.tail, tail.offset, tail.key) == (whole.rest.reason, whole.batches[-1].last_offset + 1, None)
    assert torn.count() == 1 + sum(len(batch.records) for batch in whole.batches)
    with pytest.raises(KafkaLearnError, match="there is no directory"):
        segments_df(spark, tmp_path / "none")


@pytest.mark.equal("offsets.state.last")
def test_the_latest_offsets_are_those_the_broker_gave(latest):
    rows = latest.where("NOT is_tombstone AND committed_offset IS NOT NULL").collect()
    found = {
        (row.group_id, row.committed_topic, row.committed_partition): (row.committed_offset, row.leader_epoch)
        for row in rows
    }
    said = {
        (each["group"], topic, partition): (offset, epoch)
        for each in admin("disk")["offsets"]
        for topic, partition, offset, _, epoch in each["offsets"]
    }
    assert found == said


def committed_in(latest):
    """What Spark says of each committed offset, as `kafkalearn.offsets.replay` says it."""
    rows = latest.where("NOT is_tombstone AND committed_offset IS NOT NULL").collect()
    return {
        (row.group_id, row.committed_topic, row.committed_partition): (
            row.committed_offset,
            row.metadata,
            row.commit_ms,
            row.leader_epoch,
            row.expire_ms,
            row.topic_id,
        )
        for row in rows
    }


def committed_by(groups):
    return {
        (group.group_id, *each.at): (
            each.offset,
            each.metadata,
            each.commit_ms,
            each.leader_epoch,
            each.expire_ms,
            each.topic_id,
        )
        for group in groups
        for each in group.offsets
    }


@pytest.mark.parametrize("run", [*RUNS, "expiry"])
def test_the_latest_offsets_are_those_that_are_replayed_with_metadata_epochs_and_topic_ids(spark, run):
    state = segments_df(spark, FOLDER / run).transform(only_committed).transform(decode_offsets).transform(latest_state)
    assert committed_in(state) == committed_by(replayed(run).groups)


@settings(max_examples=5)
@given(st.lists(offset_records, min_size=1, max_size=100))
def test_mixed_records_of_types_0_and_1_leave_the_offsets_that_are_replayed(spark, records):
    rows = [(offset, key, value) for offset, (key, value) in enumerate(records)]
    df = spark.createDataFrame(rows, "offset bigint, key binary, value binary").coalesce(2)
    state = df.transform(decode_offsets).transform(latest_state)
    assert committed_in(state) == committed_by(replay(records).groups)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0)])
def test_a_tombstone_of_one_type_ends_a_commit_of_the_other(spark, first, second):
    keys = [encode_key(number, {"group": "billing", "topic": "orders", "partition": 0}) for number in (first, second)]
    value = encode_value(first, 3 * first, {"offset": 7, "metadata": "", "commitTimestamp": 1})
    rows = [(5, keys[0], value), (9, keys[1], None)]
    df = spark.createDataFrame(rows, "offset bigint, key binary, value binary")
    (row,) = df.transform(decode_offsets).transform(latest_state).collect()

    assert (row.record_type, bytes(row.key)[:2], row.offset, row.is_tombstone) == (1, b"\x00\x01", 9, True)
    assert row.committed_offset is None


@pytest.mark.equal("offsets.state.group_states")
def test_the_living_groups_are_those_the_broker_listed_in_the_states_it_reported(latest):
    found = {row.group_id: row.state for row in group_states(latest).collect()}
    said = {each["group"]: each for each in admin("disk")["list_groups"]}

    assert set(found) == set(said)
    classic = {group for group, each in said.items() if each["type"] == "Classic"}
    assert {group: found[group] for group in classic} == {group: said[group]["state"] for group in classic}
    assert {found[group] for group in set(said) - classic} == {None}


@pytest.mark.equal("offsets.state.dead_groups")
def test_the_dead_groups_are_those_of_which_only_tombstones_are_left(latest):
    assert {row.group_id for row in dead_groups(latest).collect()} == who_died.solve()


@pytest.mark.equal("offsets.state.lag_of")
def test_the_lag_is_the_log_end_less_what_was_committed(spark, latest):
    ends = spark.createDataFrame([("orders", 0, 100), ("orders", 1, 5)], "topic string, partition int, log_end bigint")
    rows = {(r.group_id, r.topic, r.partition): (r.committed_offset, r.lag) for r in lag_of(latest, ends).collect()}

    assert rows["auto-idle", "orders", 0] == (10, 90)
    assert rows["auto-idle", "orders", 1] == (10, -5)
    assert rows["auto-idle", "orders", 2] == (10, None)


@pytest.mark.equal("offsets.state.commits_per_second")
def test_commits_a_second_are_those_between_the_first_and_the_last(spark):
    key = encode_key(1, {"group": "billing", "topic": "orders", "partition": 0})
    values = [
        encode_value(1, 4, {"offset": at, "metadata": "", "commitTimestamp": at * 500, "leaderEpoch": -1})
        for at in range(5)
    ]
    rows = spark.createDataFrame([(key, value) for value in values], "key binary, value binary")
    (row,) = rows.transform(decode_offsets).transform(commits_per_second).collect()

    assert (row.group_id, row.commit_count, row.first_ms, row.last_ms, row.commits_per_second) == (
        "billing",
        5,
        0,
        2000,
        2.0,
    )


@pytest.fixture(scope="module")
def made(spark, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KAFKALEARN_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        yield offsets_records(spark, "small").cache()


def test_made_records_are_to_the_byte_what_the_codec_writes(made):
    rows = made.where("offset % 7 = 0").collect()
    assert len(rows) > 10_000
    damaged = 0
    for row in rows:
        try:
            record = decode(bytes(row.key), row.value and bytes(row.value))
        except Undecodable:
            damaged += 1
            continue
        assert encode_key(record.type, record.key) == row.key
        assert row.value is None or encode_value(record.type, record.version, record.value) == row.value
    assert damaged <= 2


def test_made_records_hold_dead_groups_tombstones_groups_and_damage(spark, made):
    decoded = made.transform(decode_offsets).cache()
    kinds = {
        (row.record_type, row.is_tombstone): row["count"]
        for row in decoded.groupBy("record_type", "is_tombstone").count().collect()
    }
    last = decoded.transform(latest_state).cache()

    assert {(1, False), (1, True), (2, False), (2, True), (24, False)} <= set(kinds)
    assert sorted(
        row.value_version
        for row in decoded.where("committed_offset IS NOT NULL").select("value_version").distinct().collect()
    ) == [1, 3, 4]
    assert decoded.where("error IS NOT NULL").count() == 2
    assert dead_groups(last).count() == 55
    assert group_states(last).count() == 498


GROUP_KEY = encode_key(2, {"group": "billing"})


def on_spark(spark, records):
    df = spark.createDataFrame(
        [(number, key, value) for number, (key, value) in enumerate(records)], "number int, key binary, value binary"
    )
    rows = df.transform(decode_offsets).transform(group_members).select("number", *MEMBER_SCHEMA.names).collect()
    assigned = [tuple((each.topic, each.partition) for each in row.assigned) for row in rows]
    subscribed = [None if row.subscribed is None else tuple(row.subscribed) for row in rows]
    return sorted(
        ((*row[:7], topics, places) for row, topics, places in zip(rows, subscribed, assigned, strict=True)), key=str
    )


def in_the_core(records):
    rows = []
    for number, (key, value) in enumerate(records):
        record = decode(key, value)
        if record.type.number != 2 or record.is_tombstone:
            continue
        rows += [
            (
                *(number, each.member_id, each.instance_id, each.client_id, each.client_host),
                *(each.rebalance_timeout_ms, each.session_timeout_ms),
                *(each.subscribed, tuple(map(tuple, each.assigned))),
            )
            for each in classic_group(record.group, record.value).members
        ]
    return sorted(rows, key=str)


def test_the_members_on_a_real_disk_are_those_that_the_core_decodes(spark, route):
    records = [(each.key, each.value) for each in committed_records(segments("disk"))]
    expected = in_the_core(records)

    assert len(expected) > 50
    assert on_spark(spark, records) == expected


@given(st.lists(group_values(), min_size=20, max_size=60))
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
def test_generated_members_of_every_version_are_those_that_the_core_decodes(spark, generated):
    records = [(GROUP_KEY, encode_value(2, version, values)) for version, values in generated]

    assert on_spark(spark, records) == in_the_core(records)


def test_records_of_other_kinds_tombstones_and_damaged_ones_have_no_members(spark):
    commit = encode_key(1, {"group": "billing", "topic": "orders", "partition": 0})
    empty = {"protocolType": "consumer", "generation": 1, "protocol": None, "leader": None, "members": []}
    records = [(commit, None), (GROUP_KEY, None), (GROUP_KEY, b"\x00"), (GROUP_KEY, encode_value(2, 3, empty))]

    df = spark.createDataFrame(records, "key binary, value binary")
    assert df.transform(decode_offsets).transform(group_members).count() == 0


# What places of offsets cost: over many groups on Spark, the sums of what the scalar rule gives for each.
SCHEMA = "group_id string, topic string, partition int, member_before string, member_after string"


def random_groups(count, seed):
    """(group id, before, after) of groups that have rebalanced."""
    rng = random.Random(seed)
    for number in range(count):
        group_id, topics = f"group-{number}", rng.sample(["orders", "payments", "returns"], rng.randint(1, 3))
        places = [TopicPartition(topic, index) for topic in topics for index in range(rng.randint(1, 8))]
        members = [f"{group_id}-c{index}" for index in range(rng.randint(1, 5))]
        yield group_id, *({at: rng.choice(members) for at in places} for _ in range(2))


@pytest.mark.parametrize("brokers", [*at_night(1, 3, 64), [7, 2, 40]], ids=str)
def test_the_sums_are_those_of_the_scalar_rule(spark, brokers):
    groups = list(random_groups(300, seed=7))
    rows = [(group_id, at.topic, at.partition, before[at], after[at]) for group_id, before, after in groups
            for at in before]  # fmt: skip
    expected = {
        place: sum((place_cost(place, *group, brokers=brokers) for group in groups), PlaceCost(0, 0, 0))
        for place in PLACES
    }

    found = spark.createDataFrame(rows, SCHEMA).transform(place_costs, brokers=brokers).collect()

    assert {row.place: PlaceCost(*row[1:]) for row in found} == expected
    assert [row.place for row in found] == list(PLACES)


def test_what_cannot_be_counted_is_refused(spark):
    rows = spark.createDataFrame([], SCHEMA)
    with pytest.raises(KafkaLearnError, match="broker_ids is empty"):
        place_costs(rows, brokers=[])
