"""The ways of running: quick names files that are there, any order is a seed's, and laws are tried as often as said."""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.every import FIRST_ALONE, SHOWN, every_case
from tests.running import long, one_java, quick
from tests.running.any_order import shuffled
from tests.running.costs import Costs
from tools import costs, nightly
from tools.environment import ROOT
from tools.pages import part_of


def is_there(path: str, test: str = "") -> bool:
    return (ROOT / path).exists() and (not test or f"\ndef {test}(" in (ROOT / path).read_text(encoding="utf-8"))


def test_what_quick_leaves_out_is_there_and_each_stands_once():
    names = [name for names in quick.LEFT_OUT.values() for name in names]

    assert [name for name in names if not is_there(*name.split("::"))] == []
    assert len({*names}) == len(names)
    assert quick.is_left_out(ROOT / "tests" / "spark" / "test_coordinator.py")
    assert not quick.is_left_out(Path(__file__))


def test_what_is_kept_of_what_takes_long_and_what_is_left_out_is_there():
    kept = [(place, name) for place, names in long.KEPT.items() for name in names]
    paths = [(place, name) if place.endswith(".py") else (f"{place}/{name}",) for place, name in kept]

    assert [each for each in paths if not is_there(*each)] == []
    assert [name for names in long.LEFT_OUT.values() for name in names if not is_there(name)] == []


@pytest.mark.parametrize(
    ("nodeid", "is_long"),
    [
        ("tests/live/test_groups.py::test_join", False),
        ("tests/live/test_spark.py::test_read", True),
        ("notebooks/00_start.ipynb::Cell 1", False),
        ("notebooks/01_coordinator.ipynb::Cell 1", True),
        ("tests/spark/test_partitioning.py::test_keys", False),
        ("kafkalearn/spark/lag.py::kafkalearn.spark.lag.lag_of", True),
        ("tests/project/test_setup.py::test_the_first_run_installs_and_the_next_one_goes_straight_on", False),
        ("tests/project/test_setup.py::test_another_lock_is_installed_at_the_next_run", True),
        ("tests/project/test_running.py::test_join", False),
    ],
)
def test_what_takes_long_is_told_by_its_name(nodeid, is_long):
    assert long.is_long(nodeid) is is_long


def test_a_law_that_asks_for_many_examples_is_tried_with_few():
    tried = []

    @settings(max_examples=300)
    @given(st.integers())
    def law(number):
        tried.append(number)

    quick.tried_with_few_examples(law)
    quick.tried_with_few_examples(test_what_quick_leaves_out_is_there_and_each_stands_once)  # no law: nothing happens
    law()

    assert 1 < len(tried) <= quick.EXAMPLES


def items(*names):
    return [SimpleNamespace(path=Path(name.partition("::")[0]), nodeid=name) for name in names]


TESTS = items(*(f"tests/test_{file}.py::test_{name}" for file in "abcde" for name in "wxyz"))


def test_any_order_is_one_order_a_seed_and_keeps_files_together():
    one, again, other = (shuffled(given, seed) for given, seed in ((TESTS, "1"), (TESTS[::-1], "1"), (TESTS, "2")))

    assert one == again
    assert sorted(map(id, one)) == sorted(map(id, other)) == sorted(map(id, TESTS))
    assert one != other
    assert {one.index(each) // 4 == one.index(TESTS[at - at % 4]) // 4 for at, each in enumerate(TESTS)} == {True}


def test_cells_of_a_chapter_keep_their_order():
    cells = items(*(f"notebooks/01.ipynb::Cell {number}" for number in range(12)))

    assert shuffled([*cells, *TESTS], "3").index(cells[-1]) - shuffled([*cells, *TESTS], "3").index(cells[0]) == 11
    assert [each for each in shuffled([*cells, *TESTS], "3") if each in cells] == cells


# Many cases in one test: each is run, each that fails is named, and none fails without a word.


def test_every_case_is_run_and_each_that_failed_is_named(monkeypatch):
    monkeypatch.delenv(FIRST_ALONE, raising=False)
    ran = []

    @every_case("number", range(20), ids=lambda number: f"n{number}")
    def holds(number):
        ran.append(number)
        assert number % 2 == 0, f"{number} is odd"

    with pytest.raises(ExceptionGroup) as raised:
        holds()

    assert ran == [*range(20)]
    head, *named = str(raised.value).partition(" (")[0].splitlines()
    assert head == "10 of 20 cases failed:"
    assert named == [f"{odd}: n{odd}" for odd in range(1, 20, 2)]
    assert len(raised.value.exceptions) == SHOWN
    assert raised.value.exceptions[0].__notes__ == ["in case 1: n1"]

    ran.clear()
    monkeypatch.setenv(FIRST_ALONE, "1")
    with pytest.raises(ExceptionGroup, match="1 of 20 cases failed"):
        holds()
    assert ran == [0, 1]


def test_what_holds_says_nothing_and_two_multiply():
    ran = []

    @every_case("letter", "ab")
    @every_case("number, square", [(1, 1), (2, 4)])
    def holds(number, square, letter):
        ran.append((letter, number, square))

    assert holds() is None
    assert ran == [("a", 1, 1), ("a", 2, 4), ("b", 1, 1), ("b", 2, 4)]


@every_case("number", [1, 2])
def test_fixtures_and_parameters_of_pytest_come_beside_the_cases(number, tmp_path, request):
    assert tmp_path.is_dir()
    assert request.node.name == "test_fixtures_and_parameters_of_pytest_come_beside_the_cases"
    assert inspect.signature(request.function).parameters.keys() == {"tmp_path", "request"}


@pytest.mark.parametrize("stop", [pytest.fail, pytest.skip])
def test_a_case_that_stops_by_word_has_failed(stop):
    @every_case("number", [1, 2])
    def stops(number):
        if number == 2:
            stop("no reason")

    with pytest.raises(BaseExceptionGroup, match="1 of 2 cases failed"):
        stops()


def test_no_cases_are_no_test():
    with pytest.raises(AssertionError, match="there are no cases"):
        every_case("number", [])


# One Java for the chapters of a worker.


@pytest.fixture
def java(monkeypatch):
    """A Java side that only notes what is asked of it, and the plugin that has it."""
    seen = []
    started = SimpleNamespace(port=4711, secret="word")
    start = "kafkalearn.spark.session.start"
    monkeypatch.setattr(f"{start}.start_jvm", lambda launch: seen.append("start") or started)
    monkeypatch.setattr(f"{start}.stop_jvm", lambda jvm: seen.append("stop"))
    monkeypatch.setattr(one_java, "_end_context", lambda port, secret: seen.append(f"end {port} {secret}"))
    for name in one_java.VARIABLES:
        monkeypatch.setenv(name, "")  # put back afterwards
        monkeypatch.delenv(name)
    return one_java.OneJava(), seen


def begin(plugin, *names):
    for name in names:
        plugin.pytest_runtest_setup(SimpleNamespace(path=Path(name)))


def test_chapters_share_a_java_whose_context_ends_between_them_and_which_leaves_before_other_tests(java):
    plugin, seen = java

    begin(plugin, "notebooks/01.ipynb", "notebooks/01.ipynb")
    assert (seen, [os.environ[name] for name in one_java.VARIABLES]) == (["start"], ["4711", "word", sys.executable])
    begin(plugin, "notebooks/02.ipynb")
    assert seen == ["start", "end 4711 word"]
    begin(plugin, "tests/test_a.py")
    assert seen == ["start", "end 4711 word", "stop"]
    assert not {*one_java.VARIABLES} & {*os.environ}
    plugin.pytest_unconfigure()
    assert seen[3:] == []


def test_the_first_chapter_starts_a_java_of_its_own_as_a_reader_does(java):
    plugin, seen = java

    begin(plugin, f"notebooks/{one_java.AS_A_READER}")
    assert (seen, {*one_java.VARIABLES} & {*os.environ}) == ([], set())
    begin(plugin, "notebooks/01.ipynb", f"notebooks/{one_java.AS_A_READER}")
    assert (seen, {*one_java.VARIABLES} & {*os.environ}) == (["start"], set())
    plugin.pytest_unconfigure()
    assert seen == ["start", "stop"]


# What each file costs, and when each part of the night has passed: the two tables of docs/testing.md.


def test_what_a_file_costs_is_written_with_its_set_up(tmp_path):
    kept = Costs(tmp_path / "new" / "costs.json")
    for when, seconds in (("setup", 2.0), ("call", 1.0), ("teardown", 0.5)):
        kept.pytest_runtest_logreport(SimpleNamespace(nodeid="tests/a.py::test", when=when, duration=seconds))
    kept.pytest_sessionfinish()

    written = json.loads((tmp_path / "new" / "costs.json").read_text())
    assert written["files"] == {"tests/a.py": {"all": 3.5, "setup": 2.5, "tests": 1}}


def test_the_table_says_what_a_part_protects_in_its_own_words():
    each = {"all": 4.0, "setup": 1.0, "tests": 3}
    said = costs.table({"tests/project/test_running.py": each, "notebooks/01.ipynb": each}, clock=4)

    assert said.startswith("4 s of the clock, 8 of two workers, 2 of them set-up; 6 tests.")
    assert "| tests/project/test_running.py | 3 | 4 | 1 | The ways of running: quick names files" in said


def page_with(tmp_path, monkeypatch, exit_code):
    page = tmp_path / "testing.md"
    page.write_text(f"# Tests\n\n<!-- written by {nightly.COMMAND} -->\n<!-- end -->\n")
    monkeypatch.setattr(nightly, "PAGE", page)
    monkeypatch.setattr(
        nightly.subprocess, "run", lambda *words, **more: SimpleNamespace(returncode=exit_code, stdout="abc")
    )
    nightly.write({"fuzz": ("2026-01-01", "old", "9.0")})
    return page


def test_a_part_of_the_night_that_passes_has_its_day_and_commit(tmp_path, monkeypatch):
    page = page_with(tmp_path, monkeypatch, 0)

    assert nightly.main(["page"]) == 0
    day, commit, _ = nightly.last_passed()["page"]
    assert (re.fullmatch(r"\d{4}-\d\d-\d\d", day) is not None, commit) == (True, "abc")
    assert nightly.last_passed()["fuzz"] == ("2026-01-01", "old", "9.0")
    assert page.read_text().count("| not yet |") == len(nightly.PARTS) - 2


def test_a_part_of_the_night_that_fails_leaves_its_line(tmp_path, monkeypatch):
    page_with(tmp_path, monkeypatch, 1)

    assert nightly.main(["fuzz"]) == 1
    assert nightly.last_passed() == {"fuzz": ("2026-01-01", "old", "9.0")}
    assert nightly.main(["sparks"]) == 2


def test_docs_have_a_line_for_each_part_of_the_night():
    assert {line.split(" | ")[0].strip("| ") for line in part_of(nightly.PAGE, nightly.COMMAND).splitlines()[2:]} == {
        part.name for part in nightly.PARTS
    }
