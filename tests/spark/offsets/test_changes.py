"""How far each commit moves its group: the query against the scalar rule, and a day against the simulator."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.commits.changes import committed_at
from kafkalearn.spark.data.commits import PER_DAY, REFUSED_EVERY, TIMES, generate_day_of_commits, one_partition
from kafkalearn.spark.offsets.changes import with_moved_by

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def day(spark):
    return generate_day_of_commits(spark, 27, seed=7).cache()


@pytest.mark.parametrize("partition", [0, 4, 8, 13, 25])
def test_each_hour_of_a_partition_is_what_the_simulator_commits_with_its_log_ends_and_refusals(day, partition):
    for hour in (0, 6, 23):
        ends, refused, committed = one_partition(day, partition, hour)
        is_retried = partition % 25 % 5 == 0
        assert len(ends) == 720
        assert committed == committed_at(ends, refused=refused, is_retried=is_retried)


def test_a_day_has_every_pace_and_refuses_so_often_as_it_says(day):
    found = day.selectExpr("committed_partition AS p", "committed_offset AS c", "records_per_day AS pace", "is_retried")
    by_partition = found.groupBy("p", "pace", "is_retried").agg({"c": "max", "*": "count"}).collect()
    assert {row.p: row.pace for row in by_partition} == {at: PER_DAY[at % 9] for at in range(27)}
    for row in by_partition:
        assert abs(row["max(c)"] - row.pace) <= row.pace * 9 // TIMES + 2
        missing = TIMES - row["count(1)"]
        assert missing == 0 if row.is_retried else 0 < missing < 4 * TIMES / REFUSED_EVERY / 2


def test_only_groups_that_send_again_go_back_and_by_no_more_than_comes_in_five_seconds(day):
    back = day.transform(with_moved_by).where("moved_by < 0").collect()
    assert back
    for row in back:
        assert row.is_retried
        assert -row.moved_by <= row.records_per_day * 9 // TIMES + 1


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda day: one_partition(day, 99, 0), "no commit of partition 99 in hour 0"),
        (lambda day: one_partition(day, 0, 24), "no commit of partition 0 in hour 24"),
    ],
)
def test_what_cannot_be_worked_out_is_refused(day, ask, said):
    with pytest.raises(KafkaLearnError, match=said):
        ask(day)
