"""Each chapter has notes for the instructor, with times for its sections."""

import nbformat
import pytest

from tools.book.instructor import NOTES, OPENING, Timing, notes_path
from tools.chapters import chapter_paths

PARTS = ("## Questions to ask", "## What goes wrong in class", "## If time is short")
CHAPTERS = {path.stem: path for path in chapter_paths()}


def prose(stem):
    cells = nbformat.read(CHAPTERS[stem], as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def notes(stem):
    return notes_path(stem).read_text(encoding="utf-8")


def test_every_chapter_has_notes_and_every_note_a_chapter():
    assert sorted(path.stem for path in NOTES.glob("[0-9]*.md")) == sorted(CHAPTERS)


@pytest.mark.parametrize("stem", CHAPTERS)
def test_each_time_is_that_of_a_section_of_the_chapter(stem):
    headings = {
        line.removeprefix("## ") for text in prose(stem) for line in text.splitlines() if line.startswith("## ")
    }

    assert {*Timing.read(notes(stem)).sections} - {OPENING} <= headings


@pytest.mark.parametrize("stem", CHAPTERS)
def test_the_notes_have_questions_traps_and_what_to_leave_out(stem):
    lines = notes(stem).splitlines()

    assert lines[0].endswith(": notes for the instructor")
    assert [line for line in lines if line in PARTS] == list(PARTS)
