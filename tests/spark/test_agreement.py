"""How long old consumers take to agree: whole months of groups, and groups that cannot be."""

import pytest

from kafkalearn.spark.agreement import GROUP_SCHEMA, with_agreement
from kafkalearn.spark.data.month import changes
from kafkalearn.zookeeper.eras import newcomer

pytestmark = pytest.mark.spark


def test_columns_of_the_same_names_are_written_anew_and_others_stay(spark):
    drawn = [("a", 6, [0, 0, 0], [5, 0, 7]), ("b", 6, [0, 0, 3001], [0, 0, 0]), ("c", 1, [0], [1])]
    rows = spark.createDataFrame(drawn, GROUP_SCHEMA).repartition(5)  # some workers get no rows
    once = rows.transform(with_agreement)
    assert sorted(once.transform(with_agreement).collect()) == sorted(once.collect())
    assert once.columns == [*rows.columns, "agreement_ms", "failed_attempts", "given_up", "unread", "read_twice"]


@pytest.mark.parametrize(
    ("partition_count", "pause_ms", "words"),
    [(6, [], "pause_ms is empty"), (6, [0, None], "a null in it"), (6, None, "pause_ms is empty"), (0, [0], "below 1")],
)
def test_a_group_that_cannot_be_is_refused(spark, partition_count, pause_ms, words):
    groups = spark.createDataFrame([("a", partition_count, pause_ms, [0])], GROUP_SCHEMA)
    with pytest.raises(Exception, match=words):
        groups.transform(with_agreement).collect()


def test_the_groups_of_a_month_take_what_the_simulator_says(spark):
    month = changes(spark, 40).transform(with_agreement).orderBy("group_id", "at_ms")
    rows = month.where("member_count <= 6").limit(40).collect()
    slow = month.where("array_max(pause_ms) > 0 AND member_count <= 12").limit(12).collect()
    assert (len(rows), len(slow)) == (40, 12)
    for row in rows + slow:
        cost = row.agreement_ms, row.failed_attempts, row.given_up, row.unread
        assert cost == newcomer(row.pause_ms, row.partition_count), row
