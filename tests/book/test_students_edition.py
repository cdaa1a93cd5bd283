"""The students' edition is the book without what is the instructor's: not in its pages, not in its search."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from html import unescape

import nbformat
import pytest

from kafkalearn.exercises.kit.functions import Open
from kafkalearn.predictions.questions import all_predictions
from tests.book.browsers import wait_for
from tests.book.conftest import chosen
from tests.book.test_exercises_in_the_page import code_of
from tests.exercises.every_exercise import ALL, one_of_each_form
from tools import book
from tools.book import is_edition_of, students, students_folder
from tools.book.live.runtime import CORE
from tools.book.live.septets import bytes_of, object_in
from tools.book.pages import faults
from tools.book.search import INDEX, rows_of

NUMBERS = [path.stem[:2] for path in chosen()]
ASKED = {name: each for name, each in ALL.items() if name.split(".")[0] in NUMBERS}


@pytest.fixture(scope="module")
def edition(made_book):
    return students_folder(made_book)


def letters(text):
    """Text without markup and blanks, so that it is found however it is set."""
    return re.sub(r"[\s`*]", "", unescape(re.sub(r"<[^>]+>", "", text)))


def pages(folder):
    return {path.name: letters(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}


def solution(exercise):
    """A piece of it that is long enough to be nothing else."""
    return letters(re.sub(r"```\w*", "", exercise.reasoning))[:60]


def test_the_book_has_each_solution_and_the_edition_has_none(made_book, edition):
    whole, without = pages(made_book), pages(edition)

    for name, exercise in ASKED.items():
        found = [page for page, text in whole.items() if solution(exercise) in text]
        assert found, f"the book has no solution of {name}"
        assert [page for page, text in without.items() if solution(exercise) in text] == [], name


def test_no_page_of_the_edition_is_the_instructors_and_every_link_leads_somewhere(made_book, edition):
    missing = {path.relative_to(made_book).as_posix() for path in made_book.rglob("*.html")}
    missing -= {path.relative_to(edition).as_posix() for path in edition.rglob("*.html")}

    assert {f"{path.stem}.instructor.html" for path in chosen()} <= missing
    assert all(students.NOT_FOR_STUDENTS.fullmatch(name) for name in missing)
    assert list(faults(edition)) == []


def test_its_search_finds_chapters_and_no_answers(made_book, edition):
    def files(folder):
        return {row[0] for row in rows_of((folder / INDEX).read_text(encoding="utf-8"))}

    assert {path.stem + ".html" for path in chosen()} <= files(edition)
    assert files(made_book) - files(edition)
    assert all(students.NOT_FOR_STUDENTS.fullmatch(name) for name in files(made_book) - files(edition))
    found = letters((edition / INDEX).read_text(encoding="utf-8"))
    assert [name for name, exercise in ASKED.items() if solution(exercise) in found] == []


def test_it_is_made_with_the_book_and_again_where_it_is_gone(made_book, edition, tmp_path):
    assert is_edition_of(made_book, edition)

    copy = tmp_path / "edition"
    (copy / "old").mkdir(parents=True)
    (copy / "old" / "page.html").write_text("from before")
    assert students.write(made_book, copy) == []
    assert not (copy / "old" / "page.html").exists()
    assert {path.relative_to(copy) for path in copy.rglob("*") if path.is_file()} == {
        path.relative_to(edition) for path in edition.rglob("*") if path.is_file()
    }
    alone = tmp_path / "book"  # the book itself is read by other tests meanwhile
    shutil.copytree(made_book, alone)
    assert not students_folder(alone).exists()
    assert book.make(chosen(), alone) == []
    assert is_edition_of(alone, students_folder(alone))


def test_no_notes_show_raw_markdown(made_book):
    for path in made_book.glob("*.instructor.html"):
        html = path.read_text(encoding="utf-8")
        assert re.findall(r"<p>[^<]*(?:```|\n\s*[-|*] |\| ---)", html[html.index("<main") :]) == [], path.name


ASKED_OF_IT = """
import io, json, sys
from contextlib import redirect_stdout
sys.path.insert(0, sys.argv[1])
from tools.page import answer
for line in sys.stdin:
    name, payload = json.loads(line)
    with redirect_stdout(io.StringIO()):
        said = answer(name, json.dumps(payload))
    print(said)
"""


@pytest.fixture(scope="module")
def core(edition, tmp_path_factory):
    """What the edition's Python unpacks of kafkalearn."""
    folder, script = tmp_path_factory.mktemp("core"), (edition / students.RUNTIME).read_text(encoding="utf-8")
    parts = object_in(script[script.index("{") :].rstrip().removesuffix(";"))["parts"]
    with zipfile.ZipFile(io.BytesIO(gzip.decompress(bytes_of(parts[CORE])))) as archive:
        archive.extractall(folder)
    return folder


def ask(core, *questions):
    """What the edition's Python answers, in a process that knows no other kafkalearn."""
    lines = "\n".join(map(json.dumps, questions))
    words = [sys.executable, "-I", "-S", "-c", ASKED_OF_IT, str(core)]
    ended = subprocess.run(words, input=lines, capture_output=True, text=True, encoding="utf-8", check=True)
    return [json.loads(line)["result"] for line in ended.stdout.splitlines()]


def test_no_file_of_its_python_has_an_answer_in_words(core):
    texts = {path: letters(path.read_bytes().decode("latin-1")) for path in core.rglob("*") if path.is_file()}
    told = {f"the solution of {name}": solution(each) for name, each in ALL.items()}
    told |= {f"a cure in {name}": letters(cure.cure) for name, each in ALL.items() for cure in each.misconceptions}
    told |= {f"what is so of {name}": letters(each.so) for name, each in all_predictions().items()}
    told = {name: text.encode().decode("latin-1") for name, text in told.items()}

    assert len(texts) > 200
    assert [(name, path.name) for path, text in texts.items() for name, each in told.items() if each in text] == []


def test_who_prints_a_module_or_asks_for_a_solution_in_a_page_gets_none(core):
    code = """import inspect
import kafkalearn.exercises.chapter01 as m
print(open(m.__file__).read())
print(inspect.getsource(m))
print(m.same_partition.solution(), m.same_partition.solve(), m.same_partition.reasoning)
"""
    _, said = ask(
        core,
        ["cells.open", {"page": "01_coordinator", "cells": [{"id": "a", "source": code}]}],
        ["cells.run", {"page": "01_coordinator", "cell": "a", "source": code, "sources": {"a": code}}],
    )
    printed = letters(json.dumps(said["outputs"]))

    assert "packed" in printed
    assert letters("This edition has no solutions: ask your instructor, who has them. None") in printed
    exercise = ALL["01.same_partition"]
    told = [solution(exercise), *(letters(each.cure) for each in exercise.misconceptions)]
    assert [each for each in told if each in printed] == []


def test_its_judge_knows_what_the_books_knows(core):
    tried = [(each, each.solve(), "") for each in one_of_each_form()]
    tried += [(each, wrong.wrong, wrong.cure) for each in one_of_each_form() for wrong in each.misconceptions[:1]]
    questions = [
        ["exercises.check", {"exercise": each.progress.exercise, "code": code_of(each, answer)}]
        for each, answer, _ in tried
    ]

    for (each, _, cure), said in zip(tried, ask(core, *questions), strict=True):
        right = "open" if isinstance(each.judge, Open) else "right"
        assert said["outcome"] == (right if not cure else "wrong"), (each.name, said)
        assert letters(cure) in letters(said["html"])


def test_no_question_of_its_pages_has_the_answer_in_words(edition):
    asked = {}
    for path in edition.glob("*.html"):
        html = path.read_text(encoding="utf-8")
        found = re.findall(r'data-asks="([^"]+)"><script type="application/json">(.*?)</script>', html, re.DOTALL)
        asked |= {name: json.loads(text) for name, text in found}

    assert len(asked) > 20
    for name, form in asked.items():
        drawn = {"scale", "unit"} if form["kind"] in ("marks", "cells") else set()  # the axis, and what it counts
        assert form.keys() == {"id", "kind", "options", "sealed"} | drawn
        assert all_predictions()[name].so not in json.dumps(form, ensure_ascii=False)


def test_no_file_of_the_edition_says_an_answer_that_its_chapter_does_not_say_itself(edition):
    own = "".join(letters(cell.source) for path in chosen() for cell in nbformat.read(path, as_version=4).cells)
    told = {f"the solution of {name}": solution(each) for name, each in ASKED.items()}
    told |= {f"a cure of {name}": letters(cure.cure) for name, each in ASKED.items() for cure in each.misconceptions}
    told |= {f"what is so of {name}": letters(each.so) for name, each in all_predictions().items()}
    told = {name: words for name, words in told.items() if len(words) > 12 and words not in own}
    files = [path for path in edition.rglob("*") if path.suffix in (".html", ".js", ".css", ".txt")]
    texts = {path: letters(path.read_text(encoding="utf-8", errors="replace")) for path in files}

    assert len(told) > 300
    assert [(name, path.name) for path, text in texts.items() for name, words in told.items() if words in text] == []


@pytest.mark.browser
def test_its_exercises_are_judged_as_in_the_book(shown, edition):
    """Without a solution below it, an exercise still takes hints and answers."""
    shown.open((edition / f"{chosen()[0].stem}.html").as_uri())

    wait_for(shown, "() => document.documentElement.dataset.answers")
    box = "document.querySelector('.exercise[data-exercise]')"
    assert shown.run(f"() => {box}.querySelectorAll('details.hint').length") > 0
    assert shown.run("() => document.querySelectorAll('details.solution').length") == 0
    shown.run(f"() => {box}.querySelector('details.hint').open = true")
    shown.run(f"() => {box}.querySelector('[data-do=run]').click()")
    wait_for(shown, f"() => {box}.querySelector('[data-part=result]').textContent.trim()")
    assert shown.seen.errors == []
    assert shown.seen.outside == []

    shown.open((edition / "playground.html").as_uri() + "#place.coordinator?group=billing&brokers=3&partitions=50")
    wait_for(shown, "() => document.querySelector('.said .words')?.textContent.includes('it coordinates billing')")
    assert shown.seen.errors == []
