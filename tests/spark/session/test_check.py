"""The install check says what is there, and what to do where it does not suffice."""

import sys
import threading

import pytest

from kafkalearn.base.java_runtime import JavaNotFound
from kafkalearn.spark.session import check
from kafkalearn.spark.session.check import check_environment
from kafkalearn.spark.session.interrupts import job_progress

pytestmark = pytest.mark.spark

ALL = [
    "Python",
    "pyspark",
    "pandas",
    "pyarrow",
    "numpy",
    "Memory",
    "Java",
    "Spark starts",
    "Spark answers",
    "Python on Spark's workers",
]


def failing(checks):
    return {each.name: each for each in checks if not each.ok}


def refuse(error):
    def raise_it(*arguments, **settings):
        raise error

    return raise_it


def test_here_all_is_well(spark):
    checks = check_environment()
    assert [each.name for each in checks] == ALL
    assert failing(checks) == {}
    assert {each.remedy for each in checks} == {""}


def test_without_java_two_lines_say_what_to_do(monkeypatch):
    error = JavaNotFound("Spark needs Java 17 to 25; looked at nothing; install one")
    monkeypatch.setattr(check, "find_java", refuse(error))
    monkeypatch.setattr(check, "get_spark", refuse(error))
    checks = check_environment()

    assert list(failing(checks)) == ["Java", "Spark starts"]
    assert {each.remedy for each in failing(checks).values()} == {str(error)}
    assert [each.name for each in checks] == ALL[:8]  # nothing is asked of a Spark that does not run


def test_little_memory_an_old_python_and_a_wrong_package_say_what_to_do(spark, monkeypatch):
    monkeypatch.setattr(check, "machine_memory_bytes", lambda: 2 * 2**30)
    monkeypatch.setattr(check, "PACKAGES", {"pyspark": ("3.5",), "no-such-package": ()})
    monkeypatch.setattr(sys, "version_info", (3, 10, 1))
    lines = failing(check_environment())

    assert {name: (line.wanted, line.remedy) for name, line in lines.items()} == {
        "Python": ("3.11 or newer", "install a newer Python, then `make lab`"),
        "pyspark": ("3.5.x", "pip install 'pyspark==3.5.*'"),
        "no-such-package": ("any", "pip install no-such-package"),
        "Memory": ("4 GiB", "close other programs, and take size='small' where a chapter says 'class'"),
    }
    assert lines["Memory"].found == "2.0 GiB, of which Spark takes up to 1.0"


def test_a_question_that_fails_or_is_answered_wrong_is_a_line_too(spark, monkeypatch):
    monkeypatch.setattr(check, "_count", lambda session: 3)
    monkeypatch.setattr(check, "_through_python", refuse(OSError("no numpy on the workers\nat line 7")))
    lines = failing(check_environment())

    assert {name: line.found for name, line in lines.items()} == {
        "Spark answers": "wrong answer",
        "Python on Spark's workers": "no numpy on the workers",
    }


# Progress is reported while a job runs, and never falls.


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


def test_rows_are_counted_in_each_stage(spark):
    updates = []
    with job_progress(spark, lambda *numbers: updates.append(numbers), row_count=800_000):
        slow_count(spark)

    assert updates == sorted(updates)
    assert updates[-1][0] == updates[-1][1] >= 1_600_000
    assert updates[-1][1] % 800_000 == 0


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
