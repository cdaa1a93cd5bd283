"""The cells of a page, asked as the page's script asks them; here without a browser."""

from __future__ import annotations

import builtins
import json

import pytest

from kafkalearn.exercises import chapter00
from tools.page import answer, cells
from tools.page.cells import open_chapter, run

NO_PAGE_HAS = ("pyspark", "pandas", "matplotlib", "anywidget", "numpy")


@pytest.fixture
def chapter(monkeypatch):
    """An open chapter, and how to run a cell of it; as in a page, only Python's own packages are there."""
    real = builtins.__import__

    def import_as_in_a_page(name, *rest, **more):
        package = next((each for each in (*NO_PAGE_HAS, "kafkalearn.spark") if f"{name}.".startswith(f"{each}.")), None)
        if package:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", import_as_in_a_page)
    monkeypatch.setattr(cells.controls, "find_spec", lambda name: True)  # this Python keeps its own widgets
    sources = {
        "a": "x = 6",
        "b": "y = x * 7\ny",
        "c": "from pyspark.sql import functions as F\nz = F.lit(1)",
        "d": "z, x",
    }
    open_chapter({"page": "p", "cells": [{"id": name, "source": text} for name, text in sources.items()]})

    def run_cell(cell, source=None):
        return run({"page": "p", "cell": cell, "source": sources[cell] if source is None else source})

    return run_cell


def shown(answered):
    return [part["shown"]["text/plain"] for part in answered["outputs"] if "shown" in part]


def error(answered):
    return answered["outputs"][-1]["error"]


def test_cells_share_their_names_and_the_last_line_is_shown(chapter):
    assert chapter("a") == {"outputs": [], "needs": "", "above": 0}
    assert shown(chapter("b")) == ["42"]
    assert shown(chapter("b", "y;")) == []
    assert shown(chapter("b", "display(1, 'two')\nprint('three')\n4")) == ["1", "'two'", "4"]


def test_a_page_opened_again_has_no_values(chapter):
    chapter("a")
    open_chapter({"page": "p", "cells": [{"id": "b", "source": "x"}]})

    assert error(chapter("b"))["kind"] == "NameError"


def test_what_needs_spark_is_not_run_nor_what_stands_on_it(chapter):
    chapter("a")

    assert [chapter(cell)["needs"] for cell in ("c", "d")] == ["Spark", "Spark"]
    assert shown(chapter("d", "x")) == ["6"]
    assert error(chapter("d", "import nothing_of_this_name"))["words"].startswith("No module named")


def test_what_is_needed_is_named_once_however_far_it_came(chapter):
    chapter("a", "from pyspark.sql import functions\nimport matplotlib.pyplot as plt\none = functions, plt")
    chapter("b", "two = one, functions")

    assert chapter("c", "one, two, functions")["needs"] == "Spark and figures"
    assert error(chapter("d", "del two\nprint(unknown)"))["kind"] == "NameError"


def test_a_name_that_spark_made_is_back_when_the_reader_makes_it(chapter):
    chapter("c")

    assert shown(chapter("d", "z = 3\nz")) == ["3"]
    assert shown(chapter("d", "z + 1")) == ["4"]


def test_an_import_beside_one_that_is_not_to_be_had_is_done(chapter):
    answered = chapter("a", "from math import pi\nimport numpy as np\nround(pi, 2)")

    assert (shown(answered), answered["needs"]) == (["3.14"], "")
    assert chapter("b", "np.zeros(3)")["needs"] == "pandas"


def test_a_name_of_a_cell_that_was_not_run_is_explained(chapter):
    assert "Run to here" in error(chapter("b"))["words"]


def test_an_error_has_its_line_in_the_cell(chapter):
    answered = error(
        chapter("a", "from kafkalearn.coordinator import look_up\n\ndef f():\n    return look_up('g', [])\n\nf()")
    )
    broken = error(chapter("a", "x = (1,"))

    assert (answered["kind"], answered["line"], answered["source"]) == ("KafkaLearnError", 4, "return look_up('g', [])")
    assert (broken["kind"], broken["line"]) == ("SyntaxError", 1)


def test_a_table_used_as_a_dataframe_says_that_it_needs_pandas(chapter):
    source = "from kafkalearn.base.tables import PlainTable\nPlainTable(('a',), ((1,),)).groupby('a')"

    assert chapter("a", source)["needs"] == "pandas"


def test_a_flood_of_output_is_cut(chapter):
    (part,) = chapter("a", "for _ in range(10**5):\n    print('x' * 100)")["outputs"]

    assert len(part["printed"]) < 300_000
    assert part["printed"].endswith("left out")


def test_sys_exit_ends_the_cell_alone(chapter):
    (part,) = chapter("a", "import sys\nprint('before')\nsys.exit(1)")["outputs"]

    assert part["printed"] == "before\n"


def test_what_is_shown_comes_as_html_with_nothing_of_the_readers_in_it(chapter):
    answered = chapter("a", "print('<b>')\ndisplay('</pre><script>')\n1 / 0 # <i>")

    html = [part["html"] for part in answered["outputs"]]
    assert html[0] == '<pre class="live-printed">&lt;b&gt;\n</pre>'
    assert "&lt;script&gt;" in html[1]
    assert "<code>Line 3: 1 / 0 # &lt;i&gt;</code>" in html[2]


def prepare(cell, **texts):
    return json.loads(answer("cells.prepare", json.dumps({"page": "p", "cell": cell, "sources": {"b": "", **texts}})))


def test_a_picture_is_prepared_by_what_it_stands_on_and_once(chapter):
    count = "y = x * 7\nruns = [*globals().get('runs', []), y]"

    assert [prepare("b", b=count), prepare("b", b=count)] == [{"result": None}] * 2
    assert shown(chapter("d", "x, y, runs")) == ["(6, 42, [42])"]
    assert prepare("b", b=f"{count} ")["result"] is None  # another text: it is run anew
    assert shown(chapter("d", "runs")) == ["[42, 42]"]


def test_cells_that_stand_on_each_other_are_run_from_the_first_that_has_not_run_on(chapter):
    chapter("b", "x = 1")

    assert prepare("d", b="x += 1", d="x")["result"] is None
    assert shown(chapter("d", "x")) == ["7"]  # a, which makes x, then b


def test_a_picture_that_cannot_be_prepared_is_explained(chapter):
    assert "needs Spark" in prepare("c", c="import pyspark\npyspark.a")["error"]
    assert prepare("b", a="x = 1 / 0", b="x")["error"] == "A cell above does not run: division by zero"


STUB = "broker_id = ...\nexercises.predict_coordinator.check(broker_id)"
EXERCISE = {"id": "e", "source": STUB, "exercise": "00.predict_coordinator"}
FUNCTION = {
    "id": "f",
    "source": "def own(n):\n    return ...\nexercises.leader_of.check(own)",
    "exercise": "00.leader_of",
}


@pytest.fixture
def course(chapter):
    """A chapter with two exercises, and how to check one, as the page's script does."""
    cells = [{"id": "a", "source": "x = 3"}, {"id": "s", "source": "from pyspark import sql\nrows = sql.x"}]
    open_chapter({"page": "p", "cells": [*cells, EXERCISE, FUNCTION]})
    for each in (chapter00.predict_coordinator, chapter00.leader_of):
        each.progress.forget()  # what another test has answered in this process

    def check(cell, source, **texts):
        return run({"page": "p", "cell": cell, "source": source, "sources": texts, "record": ""})

    return check


def test_an_answer_sees_what_the_cells_above_make_though_none_was_run(course):
    said = course("e", "broker_id = x\nprint(x)\nexercises.predict_coordinator.check(broker_id)")

    assert (said["outcome"], said["outputs"][0]["printed"]) == ("wrong", "3\n")
    assert said["outputs"][1]["html"].startswith('<div class="jp-RenderedHTMLCommon"><p><strong>Not right yet.')
    assert json.loads(said["record"])["exercises"]["00.predict_coordinator"]["outcome"] == "wrong"


def test_the_cells_see_what_an_answer_has_made(chapter, course):
    course("e", "broker_id = 2\nexercises.predict_coordinator.check(broker_id)")

    assert shown(chapter("a", "broker_id + 1")) == ["3"]


def test_an_answer_sees_another_that_was_written_and_not_one_that_is_as_it_was(course):
    code = "exercises.leader_of.check(lambda *given: broker_id)"

    untouched = course("f", "print(broker_id)\n" + code)
    assert "broker_id is made by a cell above" in untouched["outputs"][0]["html"]
    written = course("f", "print(broker_id)\n" + code, e="broker_id = 2\nexercises.no_such.check(broker_id)")
    assert written["outputs"][0]["printed"] == "2\n"


def test_an_answer_that_needs_spark_says_so_and_is_not_judged(course):
    said = course("e", "broker_id = rows\nexercises.predict_coordinator.check(broker_id)")

    assert said == {"outputs": [], "needs": "Spark", "above": 1}


def test_an_error_above_an_answer_is_told_and_nothing_is_judged(course):
    said = course("e", "broker_id = x\nexercises.predict_coordinator.check(broker_id)", a="x = 1 / 0")

    assert error(said)["words"] == "A cell above does not run: division by zero"
    assert "outcome" not in said


def test_what_is_imported_beside_something_that_is_not_to_be_had_is_there(chapter):
    assert chapter("a", "from math import pi\nimport numpy as np\nz = np.zeros(3)")["needs"] == "pandas"
    assert shown(chapter("b", "round(pi, 2)")) == ["3.14"]


@pytest.mark.parametrize(
    ("name", "payload", "words"),
    [
        ("sells.run", {}, "did you mean 'cells'"),
        ("cells.jump", {}, "unknown function of cells"),
        ("cells.run", {"page": "never opened", "cell": "a", "source": ""}, "is not open"),
        ("cells.prepare", {"page": "q", "cell": "a", "sources": {}}, "is not open"),
        ("controls.turn", {"page": "p", "cell": "a", "at": 0, "values": []}, "has not been run"),
    ],
)
def test_a_question_that_makes_no_sense_is_answered_in_words(chapter, name, payload, words):
    answered = json.loads(answer(name, json.dumps(payload)))

    assert words in answered["error"]
    assert "trace" not in answered


def test_a_fault_of_ours_comes_with_its_trace():
    assert "Traceback" in json.loads(answer("cells.run", "{}"))["trace"]
