"""The rules that find faults are the same on Spark and without it, and find what was planted."""

import random
from itertools import pairwise

import pytest

from kafkalearn.assignors import Member, assign
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.consuming.nearest import zone_traffic
from kafkalearn.coordinator import offsets_partition
from kafkalearn.offsets.store import Commit, DeleteGroup, Settings, StoreGroup, simulate
from kafkalearn.operations import faults, leadership
from kafkalearn.operations.faults import find_faults as find_without_spark
from kafkalearn.operations.faults.findings import SAMPLE_MS, START_MS
from kafkalearn.operations.faults.planting import BatchRow
from kafkalearn.operations.incident import play
from kafkalearn.operations.leadership import Load, Moved, partition_of
from kafkalearn.operations.loading import Rate, load_size
from kafkalearn.operations.placement import place_shifted
from kafkalearn.operations.reassignment import Target
from kafkalearn.spark import operations
from kafkalearn.spark.data.groups import offsets_records
from kafkalearn.spark.data.logs import cluster_tables, tables_of
from kafkalearn.spark.zones import COMPARED, crossing, random_zones, with_owner_racks

pytestmark = pytest.mark.spark


@pytest.mark.equal("faults.progress", "faults.hanging_consumers", "faults.kept_groups", "faults.future_records")
@pytest.mark.equal("faults.hot_partitions", "faults.stopped_cleaners", "faults.leaders_on_one_broker")
@pytest.mark.equal("faults.frozen_followers", "faults.finding", "faults.lasting")
@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.nightly), 8])
def test_both_ways_find_the_same_and_all_that_was_planted(spark, seed):
    planted = faults.plant(seed, fault_count=len(faults.KINDS))
    logs = faults.cluster_logs(seed, planted)
    found = operations.as_findings(operations.find_faults(tables_of(spark, logs)))

    assert found == find_without_spark(logs)
    assert faults.judge(found, planted).is_perfect


def test_a_cluster_without_faults_gives_no_finding(spark):
    assert operations.as_findings(operations.find_faults(tables_of(spark, faults.cluster_logs(4, faults=[])))) == ()


def test_the_records_are_those_of_the_batches(spark):
    logs = faults.cluster_logs(2, faults.plant(2))
    records = tables_of(spark, logs).records
    ends = {(row.topic, row.partition): row.base_offset + row.record_count for row in logs.batches}

    assert records.count() == sum(row.record_count for row in logs.batches)
    found = records.groupBy("topic", "partition").agg({"offset": "max"}).collect()
    assert {(row[0], row[1]): row[2] + 1 for row in found} == ends


def test_a_hot_partition_of_the_largest_size_has_more_records_in_five_minutes_than_an_int_has_milliseconds(spark):
    many = BatchRow("orders", 0, 1, START_MS, 5_000, 50_000, START_MS)
    logs = faults.ClusterLogs((many,), (), (), ())
    last = tables_of(spark, logs).records.orderBy("offset").tail(1)[0]
    assert (last.appended_ms, last.offset) == (START_MS + SAMPLE_MS - 6, 54_999)


def test_rows_that_are_no_records_are_refused(spark):
    tables = cluster_tables(spark, "small", seed=1)
    with pytest.raises(KafkaLearnError, match="no column 'timestamp_ms'"):
        operations.find_faults(tables._replace(records=tables.records.drop("timestamp_ms")))


@pytest.mark.equal("operations.without_coordinator")
def test_the_groups_without_a_coordinator_are_those_whose_partition_has_no_replica_left(spark):
    ids = [f"group-{number}" for number in range(200)]
    placement = place_shifted([1, 2, 3], 50, 1)
    groups = spark.createDataFrame([(each,) for each in ids], "group_id string")

    found = {row.group_id for row in operations.without_coordinator(groups, placement, dead=[2]).collect()}
    assert found == {each for each in ids if placement[offsets_partition(each, 50)] == (2,)}
    assert operations.without_coordinator(groups, place_shifted([1, 2, 3], 50, 2), dead=[2]).count() == 0


def test_cleaned_partitions_are_smaller_and_a_plan_copies_them_whole(spark):
    records = offsets_records(spark, "small")
    grown, cleaned = operations.sizes(records, has_cleaner=False), operations.sizes(records)
    assert sum(row.size_bytes for row in cleaned.collect()) < sum(row.size_bytes for row in grown.collect())

    before, after = place_shifted([1, 2, 3], 50, 1), place_shifted([1, 2, 3], 50, 3)
    copied = operations.bytes_to_copy(cleaned, before, after).collect()
    assert sum(row.size_bytes for row in copied) == 2 * sum(row.size_bytes for row in cleaned.collect())


@pytest.mark.equal("operations.sizes", "operations.bytes_to_copy")
def test_the_stages_measured_are_those_of_the_simulators(spark):
    ids = [f"group-{number}" for number in range(300)]
    groups = spark.createDataFrame([(each,) for each in ids], "group_id string")
    measured = operations.measure(offsets_records(spark, "small"), groups)
    played = play()

    assert [each.name for each in measured] == [each.name for each in played]
    for each in ("cleaner", "replica_count", "lost_groups"):
        assert [getattr(stage, each) for stage in measured] == [getattr(stage, each) for stage in played]
    grows = [[one.record_count < other.record_count for one, other in pairwise(run)] for run in (measured, played)]
    assert grows[0] == grows[1] == [True, False, False, False, False, False]


BROKERS = range(1, 7)


@pytest.fixture(scope="module")
def drawn():
    """300 partitions, some replicas out of the ISR, some leaders not the preferred ones."""
    chance = random.Random(7)
    partitions = []
    for number in range(300):
        replicas = chance.sample(BROKERS, 3)
        led = partition_of("orders", number, replicas, chance.choice(replicas), chance.randrange(10**9))
        in_sync = {led.leader, *chance.sample(replicas, 2)}
        partitions.append(led._replace(isr=tuple(sorted(in_sync))))
    partitions[5] = partitions[5]._replace(leader=None, isr=(partitions[5].replicas[0],))
    return partitions


@pytest.fixture(scope="module")
def plan(drawn):
    chance = random.Random(8)
    return [Target(each.topic, each.partition, tuple(chance.sample(BROKERS, 3))) for each in drawn[::2] if each.leader]


@pytest.mark.equal("operations.with_leader_without", "operations.load_without")
def test_leaders_and_load_are_those_of_the_simulator_for_every_dead_broker(spark, drawn):
    rows = operations.partition_rows(spark, drawn)
    for dead in ((), (3,), (1, 2)):
        found = [
            Load(*row) for row in rows.transform(operations.load_without, dead=dead).orderBy("broker_id").collect()
        ]
        assert found == list(leadership.load_without(drawn, dead))


@pytest.mark.equal("operations.move_seconds")
def test_moved_bytes_and_their_time_are_those_of_the_simulator(spark, drawn, plan):
    moved = operations.moved_bytes(operations.partition_rows(spark, drawn), operations.plan_rows(spark, plan))
    by_hand = leadership.moved_bytes(drawn, plan)
    assert [Moved(*row) for row in moved.orderBy("broker_id").collect()] == list(by_hand)
    for produced in (0, 400, 1_000):
        expected = leadership.move_seconds(by_hand, 1_000, produced)
        (row,) = operations.move_seconds(moved, 1_000, produced).collect()
        assert row.seconds == (None if expected is None else pytest.approx(float(expected)))


PARTITION_COUNT = 5
SCHEMA = "key binary, value binary, partition int, offset bigint"


@pytest.fixture(scope="module")
def logs():
    """For each partition the records that a coordinator has written for its groups."""
    found = {}
    for number in range(12):
        group_id = f"group-{number}"
        events = [Commit(group_id, "orders", each % 4, each, each) for each in range(5 * number)]
        events += [StoreGroup(group_id, 1, 9000)] if number % 3 == 0 else []
        events += [DeleteGroup(group_id)] if number == 5 else []
        entries = simulate(Settings(), events)[-1].state.log
        partition = found.setdefault(offsets_partition(group_id, PARTITION_COUNT), [])
        partition += [(entry.key, entry.value) for entry in entries]
    return found


@pytest.fixture(scope="module")
def sizes(spark, logs):
    rows = [(*record, p, offset) for p, records in logs.items() for offset, record in enumerate(records)]
    found = operations.load_sizes(
        spark.createDataFrame(rows, SCHEMA), partition_count=PARTITION_COUNT, rate=Rate(100)
    ).localCheckpoint()
    return found, {row.partition: row for row in found.collect()}


def cleaned(records):
    """The last record of each key, in order."""
    last = {key: place for place, (key, _) in enumerate(records)}
    return [record for place, record in enumerate(records) if last[record[0]] == place]


def test_each_partition_reads_and_keeps_what_the_core_says_before_and_after_cleaning(logs, sizes):
    rows = sizes[1]
    assert rows.keys() == logs.keys()
    for partition, records in logs.items():
        row, grown, left = rows[partition], load_size(records), load_size(cleaned(records))
        assert (row.record_count, row.byte_count) == (grown.record_count, grown.byte_count)
        assert (row.cleaned_record_count, row.cleaned_byte_count) == (left.record_count, left.byte_count)
        assert (row.offset_count, row.group_count) == (grown.offset_count, grown.group_count)
        assert (left.offset_count, left.group_count) == (grown.offset_count, grown.group_count)
        assert (row.seconds, row.cleaned_seconds) == (grown.record_count / 100, left.record_count / 100)


@pytest.mark.equal("operations.load_of_brokers")
def test_a_broker_loads_all_that_it_leads(logs, sizes):
    of_brokers = {row.broker: row for row in operations.load_of_brokers(sizes[0], [1, 2, 1, 2, 1]).collect()}
    for broker, partitions in ((1, (0, 2, 4)), (2, (1, 3))):
        assert of_brokers[broker].record_count == sum(len(logs.get(each, ())) for each in partitions)


def test_the_records_of_a_shop_are_read_a_hundred_times_faster_once_cleaned(spark):
    total = operations.load_sizes(offsets_records(spark, "small")).agg(
        {"record_count": "sum", "cleaned_record_count": "sum", "group_count": "sum"}
    )
    row = total.first()
    assert row["sum(record_count)"] == 100_000
    assert row["sum(cleaned_record_count)"] < 10_000
    assert row["sum(group_count)"] > 400


# Traffic between zones, as queries: the bytes that the core counts group by group.
GROUPS = 4


@pytest.mark.equal("zones.with_owner_racks")
def test_each_assignor_sends_as_many_bytes_through_zones_as_the_core_counts(spark):
    groups = random_zones(spark, GROUPS, seed=5).cache()
    found = {row.assignor: row for row in groups.transform(with_owner_racks).transform(crossing).collect()}
    assert set(found) == set(COMPARED)
    drawn = groups.collect()
    for name in COMPARED:
        assert found[name].partition_count == GROUPS * 500
        for reads_nearest, column in (False, "from_leaders"), (True, "from_nearest"):
            counted = [in_core(row, name, reads_nearest=reads_nearest) for row in drawn]
            assert found[name][column] == sum(each.crossing_bytes for each in counted)
            assert found[name].read_bytes == sum(each.crossing_bytes + each.near_bytes for each in counted)
    assert found["uniform, racks"].from_nearest > 10 * found["range, racks"].from_nearest
    assert found["range"].leaders_price == pytest.approx(found["range"].from_leaders / 1e9 * 0.02)


def in_core(row, name, *, reads_nearest):
    assignor, _, names_racks = name.partition(", ")
    topics = {"orders": row.orders, "clicks": row.clicks}
    racks = {topic: [each.racks for each in places] for topic, places in topics.items()}
    sizes = {TopicPartition(t, n): each.bytes for t, places in topics.items() for n, each in enumerate(places)}
    zones = {f"m{number:02}": zone for number, zone in enumerate(row.member_racks)}
    members = [Member(each, list(topics), rack=zone if names_racks else None) for each, zone in zones.items()]
    owned = assign(assignor, {topic: len(each) for topic, each in topics.items()}, members, replica_racks=racks)
    return zone_traffic(owned, zones, racks, sizes, reads_nearest=reads_nearest)


def test_replicas_are_in_different_zones_and_other_groups_are_refused(spark):
    row = random_zones(spark, 1, replica_count=3).first()
    assert all(sorted(each.racks) == ["a", "b", "c"] for each in row.orders)
    with pytest.raises(KafkaLearnError, match="unknown assignor"):
        with_owner_racks(random_zones(spark, 1), ["rang"])
