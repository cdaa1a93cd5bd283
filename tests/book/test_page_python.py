"""The pages' Python in Node, with the runtime that the book has: the chapters' cells, and the core's own tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import combinations

import pytest

from kafkalearn.base.errors import listed
from tools.book.core_tests import FileResult, run_files
from tools.book.core_tests.folders import LEFT_OUT, NOT_THE_CORES, files_in, folders
from tools.book.core_tests.page import COMMAND, PAGE, row_of
from tools.book.count import FAILED, OTHER, RECORDED, run_chapter
from tools.book.live.in_node import page_python
from tools.book.live.packages import NotFetched
from tools.chapters import chapter_paths
from tools.environment import ROOT
from tools.pages import part_of

QUICK = ("00", "01", "02", "03", "06", "07", "08", "09", "14")
ASKS_A_KAFKA = "cell-3-ask"  # its line says when: recorded in a page, now in a notebook


@pytest.fixture(scope="module")
def python():
    try:
        with page_python() as python:
            yield python
    except NotFetched as error:
        pytest.skip(str(error))


def test_the_pages_python_has_nothing_but_its_own_modules_and_kafkalearn(python):
    others = "('numpy', 'pandas', 'pyspark', 'micropip')"

    assert python.run(f"import importlib.util as u; str([name for name in {others} if u.find_spec(name)])") == "[]"
    assert python.run("import kafkalearn; kafkalearn.offsets_partition('test-group')") == 12


@pytest.mark.nightly
def test_the_cells_of_quick_chapters_run_and_show_what_is_committed(python):
    ran = [each for path in chapter_paths() if path.stem[:2] in QUICK for each in run_chapter(python, path)]

    wrong = [each for each in ran if each.outcome in (FAILED, OTHER) and each.cell != ASKS_A_KAFKA]
    assert [(each.chapter, each.cell, each.words) for each in wrong] == []
    assert sum(each.outcome != RECORDED for each in ran) >= 240
    needs = {"Spark", "pandas", "figures", "a real Kafka", "JupyterLab"}
    assert {each.words for each in ran if each.outcome == RECORDED} <= {
        *needs,
        *(listed(sorted(several)) for count in (2, 3) for several in combinations(needs, count)),
    }


@pytest.mark.nightly
def test_the_cores_own_tests_pass_in_the_pages_python():
    files = ["tests/formats/test_wire.py", *files_in("tests/coordinator"), "tests/oncall/test_spark.py"]
    try:
        results = list(run_files(files))
    except NotFetched as error:
        pytest.skip(str(error))

    assert [each.failed for each in results] == [{}] * len(files)
    *own, spark = results
    assert [each.left_out for each in own] == [{}] * len(own)
    assert not [each for each in own if not each.passed], "a file of which nothing ran"
    assert set(spark.left_out.values()) == {"Spark"}


def test_each_folder_of_tests_is_run_in_the_pages_python_or_says_why_not():
    assert set(NOT_THE_CORES) <= {path.name for path in (ROOT / "tests").iterdir()}
    assert all(files_in(folder) for folder in folders())
    assert not [name for name in LEFT_OUT if not (ROOT / name.partition("::")[0]).exists()]


def test_the_recorded_table_names_folders_of_the_core_and_its_sum_is_right():
    lines = part_of(PAGE, COMMAND).splitlines()
    *rows, together = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]

    names = [row[0] for row in rows]
    assert names == folders()
    for column in (1, 2, 3):
        counts = [int(row[column].partition(":")[0].replace(",", "")) for row in (*rows, together)]
        assert sum(counts[:-1]) == counts[-1]
    assert together[2] == "0", "a failed test of the core in the page's Python is a bug of ours"


MIXED = """
import subprocess
import pytest

def test_that_passes(): pass
def test_that_fails(): assert "seen" == "given"
def test_of_spark(spark): pass
def test_of_pandas(): import pandas
def test_of_numpy(): pytest.importorskip("numpy")
def test_of_another_package(): import nbformat.v4
def test_of_python_itself(): import _not_there, ssl
def test_of_another_process(): raise OSError(138, "emscripten does not support processes.")
def test_of_several(): raise ExceptionGroup("", [ValueError(), OSError(138, "emscripten does not support processes.")])
@pytest.mark.long
def test_for_minutes(): pass
def test_that_is_named(): raise AssertionError
@pytest.mark.skip(reason="needs a sea")
def test_that_skips_itself(): pass
"""
RUN = """
import sys
from tools.book.core_tests import in_the_page
sys.modules.update(dict.fromkeys(["pyspark", "pandas", "numpy", "nbformat"]))  # as if they were not there
print("RESULT", in_the_page.run(sys.argv[1], '{"test_mixed.py::test_that_is_named": "a reason"}'))
print("RESULT", in_the_page.run("test_empty.py", "{}"))
"""


def test_what_a_test_asks_for_is_counted_and_what_fails_is_kept(tmp_path):
    """In this Python: what is copied into the page's."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = long: takes minutes\n")
    (tmp_path / "test_mixed.py").write_text(MIXED)
    (tmp_path / "test_empty.py").write_text("")
    command = [sys.executable, "-c", RUN, "test_mixed.py"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    mixed, empty = [json.loads(line[7:]) for line in ended.stdout.splitlines() if line.startswith("RESULT")]

    assert mixed["passed"] == 1
    assert list(mixed["failed"]) == ["test_mixed.py::test_that_fails"]
    assert "given" in mixed["failed"]["test_mixed.py::test_that_fails"]
    assert {name.partition("::test_")[2]: why for name, why in mixed["left_out"].items()} == {
        "of_spark": "Spark",
        **dict.fromkeys(["of_pandas", "of_numpy"], "pandas"),
        **dict.fromkeys(["of_another_package", "of_python_itself"], "other packages"),
        **dict.fromkeys(["of_another_process", "of_several"], "another process"),
        "for_minutes": "minutes",
        "that_is_named": "a reason",
        "that_skips_itself": "needs a sea",
    }
    assert list(empty["failed"]) == ["test_empty.py"]


def test_a_row_counts_what_was_left_out_by_its_reason():
    one = FileResult("tests/a/test_a.py", 1200, {}, {"test_x": "Spark", "test_y": "Spark"}, 1.5)
    two = FileResult("tests/a/test_b.py", 3, {"test_z": "assert 1 == 2"}, {"test_b": "pandas"}, 2.0)

    assert list(row_of("tests/a", [one, two]).values()) == ["tests/a", "1,203", "1", "3: 2 Spark, 1 pandas", "4"]
