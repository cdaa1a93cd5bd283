"""Counts of partitions as the statistics want them."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.partitioning.skew import evenness
from kafkalearn.spark.columns import counts_by_partition

pytestmark = pytest.mark.spark


def test_every_partition_is_counted_the_empty_ones_too(spark):
    rows = spark.createDataFrame([(partition,) for partition in (4, 0, 4, None, 4)], "partition int")
    counts = counts_by_partition(rows, 6)

    assert counts == (1, 0, 0, 0, 3, 0)
    assert evenness(counts).largest_over_mean == 4.5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0, "p"), "partition_count must be at least 1"),
        ((6, "partition"), r"no column 'partition'; they have \['p', 'name'\]"),
        ((6, "name"), "column 'name' must be tinyint or smallint or int or bigint, it is string"),
        ((6, "p"), "column 'p' holds ids outside 0 to 5, the first is -48; was partition_count another"),
    ],
)
def test_bad_input_is_refused_with_what_came_and_what_to_do(spark, arguments, said):
    rows = spark.createDataFrame([(-48, "a"), (7, "b")], "p int, name string")
    with pytest.raises(KafkaLearnError, match=said):
        counts_by_partition(rows, *arguments)
