"""The pages' Python in Node, with the runtime that the book has: the chapters' cells, and the core's own tests."""

from __future__ import annotations

from itertools import combinations

import pytest

from kafkalearn.phrases import listed
from tools.book.core_tests import run_tests
from tools.book.count import FAILED, OTHER, RECORDED, run_chapter
from tools.book.live.in_node import page_python
from tools.book.live.packages import NotFetched
from tools.chapters import chapter_paths

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


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.parametrize("folder", ["tests/wire", "tests/coordinator"])
def test_the_cores_own_tests_pass_in_the_pages_python(folder):
    try:
        result = run_tests(folder)
    except NotFetched as error:
        pytest.skip(str(error))

    assert result.failed == ()
    assert result.passed > 0
    assert result.left_out == ()
