"""What is closed below a question, what is folded, and questions that say what is wrong with them."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.predictions import questions
from kafkalearn.predictions.marking import marked


def words(source, name):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def code(source, name):
    return {"cell_type": "code", "id": name, "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def marks(*cells):
    """Of each cell what closes it, or that it asks."""
    seen = {}
    for cell in marked({"cells": list(cells)}, {})["cells"]:
        mark = cell["metadata"].get("kafkalearn", {})
        seen[cell["id"]] = "asks" if "predict" in mark else (mark["after"], mark["closed"]) if "after" in mark else None
    return seen


def test_below_a_question_code_stays_and_what_it_shows_and_tells_is_closed():
    cells = [
        words("Text.\n\n**Predict:** how many?", "asks"),
        code("count()", "one"),
        code("assert count() == 42", "two"),
    ]
    cells += [words("Forty-two.", "tells"), code("again()", "three"), words("Told.\n\n**Predict:** now?", "asks2")]
    cells += [code("now()", "last"), words("Seven.\n\n## Next\n\nMore.", "next"), code("free()", "free")]

    assert marks(*cells) == {
        "asks": "asks",
        "one": ("asks", "outputs"),
        "two": ("asks", "whole"),
        "tells": ("asks", "whole"),
        "three": ("asks", "whole"),
        "asks2-answer": ("asks", "whole"),
        "asks2": "asks",
        "last": ("asks2", "outputs"),
        "next-answer": ("asks2", "whole"),
        "next": None,
        "free": None,
    }


def test_a_heading_in_a_listing_is_none():
    assert marks(words("**Predict:** what?", "a"), words("```\n# no heading\n```", "b"))["b"] == ("a", "whole")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("assert 1 <\\\n  2\nassert True", "checked, 2 times"),
        ("x = 1\n" * 7, ""),
        ("x = 1\ny = 2\n" * 4, "8 lines of code: x, y"),
        ("x = 1\n" * 8 + "x", ""),
        ("%time 1\n" * 9, ""),
        ("def f(a):\n" + "    a += 1\n" * 8 + "    return a", "10 lines of code: f"),
        ("x = 1\n" * 8 + "exercises.one.check(x)", ""),
    ],
)
def test_code_that_checks_or_only_makes_is_folded_in_one_line(source, line):
    (cell,) = marked({"cells": [code(source, "a")]})["cells"]

    assert cell["metadata"].get("kafkalearn", {}).get("fold", "") == line


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[a]\nso = "x"', "it must have one of choice"),
        ('[a]\nchoice = ["x", "y"]\nnumber = 1\nso = "x"', "it must have one of choice"),
        ('[a]\nchoice = ["x", "x"]\nso = "x"', "each once"),
        ('[a]\nnumber = "many"\nso = "x"', "a number is asked for"),
        ('[a]\nchoice = ["x", "y"]\nsays = "x"\nso = "x"', "it must have one of choice"),
        ('[a]\nmarks = { x = 1 }\nso = "x"', "scale its two ends"),
        ('[a]\nmarks = { x = 9 }\nscale = [0, 5]\nso = "x"', "must lie on the scale from 0 to 5"),
        ('[a]\ncells = ["0", "1"]\nhit = ["2"]\nso = "x"', "hit some of them"),
        ('[a]\nchoice = ["x", "y"]\nhit = ["x"]\nso = "x"', "it must have one of choice"),
        ("[a", "cannot be read"),
    ],
)
def test_a_question_that_is_wrong_says_what_is(tmp_path, monkeypatch, text, says):
    (tmp_path / "01.toml").write_text(text)
    monkeypatch.setattr(questions, "FOLDER", tmp_path)
    with pytest.raises(KafkaLearnError, match=says):
        questions.all_predictions.__wrapped__()


def test_a_cell_asks_once(tmp_path, monkeypatch):
    for name in ("01.toml", "02.toml"):
        (tmp_path / name).write_text('[a]\nnumber = 1\nso = "x"')
    monkeypatch.setattr(questions, "FOLDER", tmp_path)
    with pytest.raises(KafkaLearnError, match="asks once"):
        questions.all_predictions.__wrapped__()


def test_numbers_are_right_however_they_are_written():
    question = questions._read("a", {"number": 1000, "within": 10, "so": "x"}, "01.toml")

    assert [question.is_right(said) for said in ("1,000", "1009", " 990 ", "989", "many", "")] == [
        *[True] * 3,
        *[False] * 3,
    ]
