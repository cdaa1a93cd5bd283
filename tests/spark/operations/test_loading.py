"""Loads of the offsets topic on Spark: as the core counts them, partition by partition."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator import offsets_partition
from kafkalearn.offsets.store import Commit, DeleteGroup, Settings, StoreGroup, simulate
from kafkalearn.operations.loading import Rate, load_size
from kafkalearn.spark.data.groups import offsets_records
from kafkalearn.spark.operations import load_of_brokers, load_sizes

pytestmark = pytest.mark.spark

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
    found = load_sizes(
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


def test_a_broker_loads_all_that_it_leads(logs, sizes):
    of_brokers = {row.broker: row for row in load_of_brokers(sizes[0], [1, 2, 1, 2, 1]).collect()}
    for broker, partitions in ((1, (0, 2, 4)), (2, (1, 3))):
        assert of_brokers[broker].record_count == sum(len(logs.get(each, ())) for each in partitions)


def test_the_records_of_a_shop_are_read_a_hundred_times_faster_once_cleaned(spark):
    total = load_sizes(offsets_records(spark, "small")).agg(
        {"record_count": "sum", "cleaned_record_count": "sum", "group_count": "sum"}
    )
    row = total.first()
    assert row["sum(record_count)"] == 100_000
    assert row["sum(cleaned_record_count)"] < 10_000
    assert row["sum(group_count)"] > 400


def test_bad_input_is_refused(spark):
    with pytest.raises(KafkaLearnError, match="records have the columns"):
        load_sizes(spark.createDataFrame([("a", "b", 0, 0)], "key string, value string, partition int, offset bigint"))
