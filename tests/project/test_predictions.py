"""Every question of the chapters has a form; its answer is what the chapter computes; what tells it is closed."""

import html
import re

import nbformat
import pytest

from kafkalearn.predictions.marking import ASKS, MARK, marked
from kafkalearn.predictions.questions import all_predictions
from tests.every import every_case
from tools.chapters import chapter_paths

CHAPTERS = chapter_paths()
_NOT_SHOWN = re.compile(r"<(style)\b.*?</\1>", re.DOTALL)


def marked_cells(path):
    """The cells of a chapter with their marks, and those marks."""
    return [(cell, cell.metadata.get(MARK, {})) for cell in marked(nbformat.read(path, as_version=4)).cells]


def plain(text):
    """Words as a reader sees them: no tags, no breaks, no runs of spaces."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", _NOT_SHOWN.sub("", text))))


def computed(cell):
    """What a code cell shows, and what it checks."""
    shown = [cell.source] if "assert " in cell.source else []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        shown += [output.get("text", ""), data.get("text/plain", ""), data.get("text/html", "")]
        shown += [data.get("image/svg+xml", "")]
    return " ".join(shown)


def closed_by_question():
    """For each question what is closed with it: what is computed there, and what is told."""
    found = {}
    for path in CHAPTERS:
        for cell, marks in marked_cells(path):
            if "predict" in marks:
                found[cell.id] = ["", ""]
            elif "after" in marks:
                is_told = cell.cell_type == "markdown"
                found[marks["after"]][is_told] += " " + plain(cell.source if is_told else computed(cell))
    return found


def test_every_question_has_its_answer_and_every_answer_its_question():
    asked = [
        cell.id
        for path in CHAPTERS
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "markdown" and ASKS.search(cell.source)
    ]

    assert sorted(asked) == sorted(all_predictions())
    assert len(asked) > 250


@pytest.fixture(scope="module")
def closed():
    return closed_by_question()


@every_case("name", all_predictions())
def test_what_is_so_stands_in_what_the_chapter_shows(closed, name):
    question, (shown, told) = all_predictions()[name], closed[name]
    assert question.shown or question.prose, "nothing says where the answer comes from"
    missing = [each for each in question.shown if plain(each).strip() not in shown]
    missing += [each for each in question.prose if plain(each).strip() not in told]
    assert missing == []


def test_most_answers_are_held_against_what_is_computed():
    held = [each for each in all_predictions().values() if each.shown]

    assert len(held) > 0.75 * len(all_predictions())


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_all_from_a_question_to_the_next_or_to_a_heading_is_closed(path):
    asking = ""
    for cell, marks in marked_cells(path):
        if cell.cell_type == "markdown" and (ASKS.search(cell.source) or re.match(r"#{1,6} ", cell.source)):
            asking = cell.id if "predict" in marks else ""
            assert "after" not in marks
        elif asking:
            assert marks["after"] == asking
            is_whole = cell.cell_type == "markdown" or re.search("^assert ", cell.source, re.MULTILINE)
            assert marks["closed"] == "whole" or not is_whole
        else:
            assert "after" not in marks


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_marks_lose_no_word_and_leave_the_chapter_as_it_was(path):
    notebook = nbformat.read(path, as_version=4)
    before = nbformat.writes(notebook)
    copy = marked(notebook)

    assert nbformat.writes(notebook) == before
    assert "".join("".join(cell.source.split()) for cell in copy.cells) == "".join(
        "".join(cell.source.split()) for cell in notebook.cells
    )
    assert len({cell.id for cell in copy.cells}) == len(copy.cells)
    nbformat.validate(copy)


@every_case("name", all_predictions())
def test_what_is_right_is_among_what_may_be_said_and_something_else_is_too(name):
    question = all_predictions()[name]
    assert question.so.count("\n") == 0
    assert [each for each in (question.so, *question.options) if re.search(r"\*\w", re.sub("`[^`]*`", "", each))] == []
    if question.kind in ("number", "marks"):
        assert question.is_right(question.right)
        assert not question.is_right(re.sub(r"[\d.,]*\d", "-1234567", question.right))
        assert not question.is_right("-1234567")
    elif question.kind == "cells":
        assert question.is_right(question.right)
        assert {*question.right.split(", ")} < {*question.options}
    elif question.kind == "order":
        assert question.is_right(question.right)
        assert not question.is_right(" > ".join(question.options))
    else:
        assert [option for option in question.options if question.is_right(option)] == [question.right]


@every_case("name", all_predictions())
def test_the_answer_is_said_in_every_verdict_and_once(name):
    """It was left out where its letters stood anywhere in the sentence: "0, 1, 2 and 4" for 4."""
    question = all_predictions()[name]
    before, answer, after = question.told

    assert question.so in "".join(question.told)
    assert answer.lower() == question.right.lower()
    assert (before, after[:2]) == ("The answer: ", ". ") or (before, answer + after) == ("", question.so)


def test_the_longest_of_the_choices_is_no_hint_and_many_predictions_are_made_in_a_picture():
    asked = all_predictions().values()
    choices = [each for each in asked if each.kind == "choice"]

    def is_longest(question):
        lengths = sorted(map(len, question.options))
        return len(question.right) == lengths[-1] > lengths[-2]

    chance = sum(1 / len(each.options) for each in choices) / len(choices)
    assert sum(map(is_longest, choices)) / len(choices) <= chance
    assert sum(each.kind in ("point", "marks", "cells") for each in asked) >= 60
