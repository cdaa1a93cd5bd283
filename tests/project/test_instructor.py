"""Each chapter has notes for the instructor, whose times add up and fit into a lesson."""

import re

import nbformat
import pytest

from tools.book.instructor import MOST_MINUTES, NOTES, Timing, notes_path
from tools.chapters import chapter_paths

PARTS = ("## Questions to ask", "## What goes wrong in class", "## If time is short")
SYLLABUS = NOTES / "README.md"
CHAPTERS = {path.stem: path for path in chapter_paths()}


def prose(stem):
    cells = nbformat.read(CHAPTERS[stem], as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def notes(stem):
    return notes_path(stem).read_text(encoding="utf-8")


def test_every_chapter_has_notes_and_every_note_a_chapter():
    assert sorted(path.stem for path in NOTES.glob("[0-9]*.md")) == sorted(CHAPTERS)


def test_the_minutes_of_a_day_a_week_and_a_term_are_those_of_the_notes():
    by_number = {stem.split("_")[0]: Timing.read(notes(stem)) for stem in CHAPTERS}
    rows = re.findall(
        r"^\| (a [^|]+) \| ([^|]+) \| (\d+) \| (\d+) \|$", SYLLABUS.read_text(encoding="utf-8"), re.MULTILINE
    )

    assert [name.split(",")[0] for name, *_ in rows] == ["a day", "a week", "a term"]
    for name, lessons, without, together in rows:
        timings = [by_number[each] for each in lessons.split(", ")]
        said = (sum(each.without for each in timings), sum(each.together for each in timings))
        assert said == (int(without), int(together)), name
    assert set(rows[-1][1].split(", ")) == set(by_number)


@pytest.mark.parametrize("stem", CHAPTERS)
def test_the_times_add_up_to_what_the_chapter_says(stem):
    timing = Timing.read(notes(stem))

    assert timing.without == sum(timing.sections.values()) <= MOST_MINUTES
    assert timing.together == timing.without + timing.exercises
    announced = re.search(r"About (\d+)\sminutes", prose(stem)[0] + "\n" + prose(stem)[1])
    assert announced, "the chapter does not say how many minutes it takes"
    assert int(announced[1]) == timing.without


@pytest.mark.parametrize("stem", CHAPTERS)
def test_each_time_is_that_of_a_section_of_the_chapter(stem):
    headings = {
        line.removeprefix("## ") for text in prose(stem) for line in text.splitlines() if line.startswith("## ")
    }

    assert set(Timing.read(notes(stem)).sections) <= headings


@pytest.mark.parametrize("stem", CHAPTERS)
def test_the_notes_have_questions_traps_and_what_to_leave_out(stem):
    lines = notes(stem).splitlines()

    assert lines[0].endswith(": notes for the instructor")
    assert [line for line in lines if line in PARTS] == list(PARTS)
