"""Progress is reported while a job runs, and never falls."""

import threading

import pytest

from kafkalearn.spark.session.interrupts import job_progress

pytestmark = pytest.mark.spark


def slow_count(spark):
    """Some work in eight tasks, then a shuffle."""
    rows = spark.range(0, 800_000, 1, numPartitions=8).selectExpr("sha2(string(id), 512) as text", "id % 3 as part")
    return rows.groupBy("part").agg({"text": "max"}).collect()


def test_progress_rises_to_the_whole(spark):
    updates = []
    with job_progress(spark, lambda done, total: updates.append((done, total))):
        slow_count(spark)

    assert len(updates) >= 2
    assert updates == sorted(updates)
    assert all(done <= total for done, total in updates)
    assert updates[-1][0] == updates[-1][1] >= 8


def test_only_the_jobs_of_the_block_count_and_groups_and_tags_of_the_reader_stay(spark):
    context, updates = spark.sparkContext, []
    before = context.getJobTags()
    context.setJobGroup("ours", "before and after")
    spark.range(0, 10, 1, numPartitions=7).collect()
    with job_progress(spark, lambda *numbers: updates.append(numbers)):
        assert len(context.getJobTags()) == len(before) + 1
        assert context.getLocalProperty("spark.jobGroup.id") == "ours"
        spark.range(0, 10, 1, numPartitions=3).collect()

    assert updates[-1] == (3, 3)
    assert context.getJobTags() == before
    assert context.getLocalProperty("spark.jobGroup.id") == "ours"
    context.setLocalProperty("spark.jobGroup.id", None)


def test_a_failed_job_is_not_said_to_be_done_and_no_thread_stays(spark):
    updates, before = [], threading.active_count()
    with pytest.raises(RuntimeError, match="on purpose"), job_progress(spark, lambda *numbers: updates.append(numbers)):
        raise RuntimeError("on purpose")

    assert updates == []
    assert threading.active_count() == before


def test_nobody_need_listen(spark):
    with job_progress(spark, None):
        assert spark.range(3).count() == 3
