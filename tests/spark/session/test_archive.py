"""A session with an archive of classes answers the same, and one whose archive is broken starts all the same."""

import os

import pytest

from tests.spark.processes import run_python

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

ASK = """
    from kafkalearn.spark.session import gateway, get_spark
    spark = get_spark()
    with open(f"/proc/{gateway.java_process().pid}/cmdline") as file:
        is_used = "SharedArchiveFile" in file.read()
    groups = spark.range(10_000).selectExpr("id % 7 AS part", "id").groupBy("part").sum("id").orderBy("part")
    report([is_used, groups.toPandas().values.tolist()])
"""


def test_answers_are_the_same_with_an_archive_with_a_broken_one_and_without(tmp_path):
    place = {"KAFKALEARN_DATA_DIR": str(tmp_path)}
    (was_used, answer), printed = run_python(ASK, **place)
    assert not was_used

    made, said = run_python(
        "from kafkalearn.spark.session.archive import make_archive\nreport(make_archive())", **place
    )
    assert (made, said) == (True, "")
    assert run_python(ASK, **place) == ([True, answer], printed)

    (path,) = (tmp_path / "classes").glob("*.jsa")
    with path.open("rb+") as file:
        file.seek(path.stat().st_size // 3)
        file.write(os.urandom(1 << 20))
    assert run_python(ASK, **place) == ([True, answer], printed)  # Java sees it, and goes on without
    os.truncate(path, 1_000_000)
    assert run_python(ASK, **place) == ([False, answer], printed)
