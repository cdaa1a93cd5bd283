"""Exported exercises: a solution passes, what one begins with does not, and each grader finds its own cells."""

import contextlib
import io
import json
import sys
import types
from functools import cache

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises import export
from kafkalearn.exercises.kit.functions import Open
from tests.every import every_case

each_chapter = every_case("number", export.chapter_numbers())
files = cache(lambda form, number: export.files(form, [number]))  # solving takes a chapter's searches


def code_of(notebook):
    """The code cells of a notebook: name, source, what nbgrader reads there."""
    cells = [cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
    return [(cell["id"], "".join(cell["source"]), cell["metadata"].get("nbgrader")) for cell in cells]


def judged(number):
    return [each.name for each in export.chapter(number).exercises if not isinstance(each.judge, Open)]


class Grader:
    """As much of otter's notebook as a student's calls: it runs the test beside it on what the cells have made."""

    def __init__(self, made, number, namespace):
        self.files, self.number, self.namespace, self.passed = made, number, namespace, {}

    def check(self, name):
        test = {}
        exec(self.files[f"{self.number}/tests/{name}.py"], test)
        assert (test["OK_FORMAT"], test["name"], test["points"]) == (False, name, 1)
        try:
            test["test_answer"](**{name: self.namespace.get(name)})
            self.passed[name] = True
        except AssertionError:
            self.passed[name] = False


@pytest.fixture
def otter(monkeypatch):
    """A module by this name for the tests: `test_case` marks a function, and does no more."""
    fake = types.ModuleType("otter.test_files")
    fake.test_case = lambda **named: lambda function: function
    monkeypatch.setitem(sys.modules, "otter", types.ModuleType("otter"))
    monkeypatch.setitem(sys.modules, "otter.test_files", fake)


def graded_as_otter_does(number, path):
    made, namespace = files("otter", number), {}
    grader = Grader(made, number, namespace)
    (_, begin, _), *cells = code_of(made[path])
    sys.modules["otter"].Notebook = lambda name: grader if name == f"{number}.ipynb" else None
    with contextlib.redirect_stdout(io.StringIO()):
        for source in (begin, *(source for _, source, _ in cells)):
            exec(compile(source, path, "exec"), namespace)
    return grader.passed


@each_chapter
def test_otter_passes_what_is_solved_and_fails_what_one_begins_with(otter, number):
    assert graded_as_otter_does(number, f"solved/{number}.ipynb") == dict.fromkeys(judged(number), True)
    assert graded_as_otter_does(number, f"{number}/{number}.ipynb") == dict.fromkeys(judged(number), False)


def without_solution(source):
    head, _, rest = source.partition("### BEGIN SOLUTION\n")
    return head + rest.partition("### END SOLUTION\n")[2]


@pytest.mark.parametrize("number", ["01", "06"])  # values, games, functions, what is judged by what it holds
def test_nbgrader_passes_what_is_solved_and_fails_what_is_released(number):
    made = files("nbgrader", number)[f"source/{number}/{number}.ipynb"]
    cells = code_of(made)
    begin, tests = cells[0][1], {name: source for name, source, said in cells if said["grade"] and said["locked"]}
    assert [*tests] == [f"{name}-check" for name in judged(number)]

    solved, released = {}, {}
    for namespace in (solved, released):
        exec(begin, namespace)
    for name, source, said in cells[1:]:
        if said["solution"]:
            exec(compile(source, name, "exec"), solved)
            exec(compile(without_solution(source), name, "exec"), released)
        else:
            exec(compile(source, name, "exec"), solved)
            with pytest.raises(AssertionError, match=r"\."):
                exec(compile(source, name, "exec"), released)


@each_chapter
def test_what_is_released_is_the_cell_of_the_chapter_and_only_the_instructor_reads_the_rest(number):
    cells = code_of(files("nbgrader", number)[f"source/{number}/{number}.ipynb"])
    said = {name: (source, words) for name, source, words in cells}
    for each in export.chapter(number).exercises:
        source, words = said[each.name]
        assert without_solution(source) == each.start.rstrip()
        assert words["grade"] == isinstance(each.judge, Open)
    assert len({words["grade_id"] for _, words in said.values()}) == len(cells)


@each_chapter
def test_no_exercise_has_the_name_of_an_answer_to_another(number):
    found = export.chapter(number).exercises
    names = {each.name for each in found}

    assert not [each.name for each in found if export.answer_name(each) in names - {each.name}]


def test_the_folder_is_written_and_what_is_unknown_is_refused(tmp_path, capsys):
    assert export.main(["otter", "01", "--to", str(tmp_path)]) == 0
    assert (tmp_path / "01" / "tests" / "same_partition.py").is_file()
    assert export.main(["otter", "1", "--to", str(tmp_path)]) == 1
    assert "unknown chapter '1'" in capsys.readouterr().err
    with pytest.raises(KafkaLearnError, match="form"):
        export.files("gradescope", ["01"])
