"""The book is made again only where something has changed."""

from __future__ import annotations

import shutil
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.book.conftest import chosen
from tools import book
from tools.book.made import Made, digest
from tools.environment import ROOT


def files_of(folder):
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.rglob("*") if path.is_file()}


def test_a_second_call_writes_nothing(made_book):
    before = files_of(made_book)

    assert book.make(chosen(), made_book) == []
    assert files_of(made_book) == before
    assert len(before) > 30


def test_a_book_that_is_finished_needs_none_of_what_makes_pages(made_book):
    """So the second call takes the time to read what the book is made of, and no more."""
    code = (
        "import sys, pathlib; from tools import book; from tools.chapters import chapter_paths\n"
        "paths = [path for path in chapter_paths() if path.stem in sys.argv[2:]]\n"
        "print(book.make(paths, pathlib.Path(sys.argv[1])), 'pdoc' in sys.modules, 'nbconvert' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(made_book), *(path.stem for path in chosen())]

    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.split("\n")[-2] == "[] False False"


@pytest.fixture
def made(tmp_path):
    return lambda made_of="sources": Made(tmp_path, made_of)


def finish(made, made_of="chapters", faults=()):
    return made.finish(made_of, lambda folder: list(faults))


def never():
    raise AssertionError("made again")


def test_each_group_is_kept_while_what_it_is_made_of_is_the_same(made, tmp_path):
    first = made()
    first.keep("one", "a", lambda: [("one.html", "1"), ("in/two.html", "2")])
    first.keep("other", "b", lambda: [("other.html", "3")])
    assert (finish(first), first.written) == ([], ["one.html", "in/two.html", "other.html"])
    assert made().is_whole("chapters")

    second = made()
    second.keep("one", "a", never)
    second.keep("other", "changed", lambda: [("other.html", "4")])
    assert (finish(second), second.written) == ([], ["other.html"])
    assert (tmp_path / "other.html").read_text() == "4"


def test_a_fault_is_said_until_it_is_gone(made):
    """Also by a run that writes nothing, since the one before has."""
    for _ in range(2):
        again = made()
        again.keep("one", "a", lambda: [("one.html", "1")])
        assert finish(again, faults=["one.html links nowhere"]) == ["one.html links nowhere"]
    assert again.written == []


@pytest.mark.parametrize("change", ["sources", "chapters", "a file is gone", "a copy is old", "faults", "cut off"])
def test_a_book_is_not_whole_if_anything_is_other(made, tmp_path, change):
    source = ROOT / "LICENSE"
    first = made()
    first.keep("one", "a", lambda: [("one.html", first.copy(source))])
    finish(first, faults=["dead link"] if change == "faults" else [])
    if change == "a file is gone":
        (tmp_path / "one.html").unlink()
    elif change == "a copy is old":
        (tmp_path / "files" / "LICENSE").write_text("older")
    elif change == "cut off":
        with pytest.raises(AssertionError):
            made().keep("one", "b", never)

    assert not made("new" if change == "sources" else "sources").is_whole("new" if change == "chapters" else "chapters")
    again = made("new" if change == "sources" else "sources")
    if change in ("a file is gone", "a copy is old", "cut off", "sources"):
        again.keep("one", "a", lambda: [("one.html", again.copy(source))])
        assert again.written == ["one.html"]
    assert (tmp_path / "files" / "LICENSE").read_text() in (source.read_text(), "older")


def test_what_no_group_has_any_more_goes(made, tmp_path):
    first = made()
    first.keep("old", "a", lambda: [("old.html", first.copy(ROOT / "LICENSE"))])
    finish(first)
    second = made()
    second.keep("new", "a", lambda: [("new.html", "1")])
    finish(second)

    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [".made-of.json", "new.html"]


def test_a_digest_tells_contents_names_and_order_apart(tmp_path):
    (tmp_path / "a").write_text("1")
    before = digest(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    assert digest(tmp_path, "x", "y") != digest(tmp_path, "y", "x")
    shutil.move(tmp_path / "a", tmp_path / "b")

    assert digest(tmp_path) != before


@pytest.fixture
def chapter(tmp_path):
    path = tmp_path / "01_one.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("6 * 7", execution_count=1), new_code_cell("")]), path)
    return path


def test_a_chapter_that_is_executed_is_not_run(chapter, made, monkeypatch):
    from tools.book import writing

    monkeypatch.setattr(writing, "execute", lambda path: never())
    one = writing.Chapter.read(chapter)

    assert writing.with_outputs(one, made(), anew=False).cells[0].execution_count == 1
    with pytest.raises(AssertionError, match="made again"):
        writing.with_outputs(one, made(), anew=True)


def test_a_chapter_that_is_not_executed_is_run_once(chapter, made, monkeypatch):
    from tools.book import writing

    notebook, runs = nbformat.read(chapter, as_version=4), []
    notebook.cells[0].execution_count = None
    nbformat.write(notebook, chapter)
    monkeypatch.setattr(writing, "execute", lambda path: runs.append(path) or nbformat.read(path, as_version=4))
    one = writing.Chapter.read(chapter)
    for made_of in ("sources", "sources", "other sources"):
        writing.with_outputs(one, made(made_of), anew=False)

    assert runs == [chapter] * 2
