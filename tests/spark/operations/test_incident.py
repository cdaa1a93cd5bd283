"""The steps of the incident on Spark: as the core counts them."""

from itertools import pairwise

import pytest

from kafkalearn.coordinator import offsets_partition
from kafkalearn.operations.incident import play
from kafkalearn.operations.placement import place_shifted
from kafkalearn.spark.data.groups import offsets_records
from kafkalearn.spark.operations import bytes_to_copy, measure, sizes, without_coordinator

pytestmark = pytest.mark.spark


def test_the_groups_without_a_coordinator_are_those_whose_partition_has_no_replica_left(spark):
    ids = [f"group-{number}" for number in range(200)]
    placement = place_shifted([1, 2, 3], 50, 1)
    groups = spark.createDataFrame([(each,) for each in ids], "group_id string")

    found = {row.group_id for row in without_coordinator(groups, placement, dead=[2]).collect()}
    assert found == {each for each in ids if placement[offsets_partition(each, 50)] == (2,)}
    assert without_coordinator(groups, place_shifted([1, 2, 3], 50, 2), dead=[2]).count() == 0


def test_cleaned_partitions_are_smaller_and_a_plan_copies_them_whole(spark):
    records = offsets_records(spark, "small")
    grown, cleaned = sizes(records, has_cleaner=False), sizes(records)
    assert sum(row.size_bytes for row in cleaned.collect()) < sum(row.size_bytes for row in grown.collect())

    before, after = place_shifted([1, 2, 3], 50, 1), place_shifted([1, 2, 3], 50, 3)
    copied = bytes_to_copy(cleaned, before, after).collect()
    assert sum(row.size_bytes for row in copied) == 2 * sum(row.size_bytes for row in cleaned.collect())


def test_the_stages_measured_are_those_of_the_simulators(spark):
    ids = [f"group-{number}" for number in range(300)]
    groups = spark.createDataFrame([(each,) for each in ids], "group_id string")
    measured = measure(offsets_records(spark, "small"), groups)
    played = play()

    assert [each.name for each in measured] == [each.name for each in played]
    for each in ("cleaner", "replica_count", "lost_groups"):
        assert [getattr(stage, each) for stage in measured] == [getattr(stage, each) for stage in played]
    grows = [[one.record_count < other.record_count for one, other in pairwise(run)] for run in (measured, played)]
    assert grows[0] == grows[1] == [True, False, False, False, False, False]
