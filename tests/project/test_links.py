"""What points to another place points to one that is there: links between files, and sections named in words."""

import re

import nbformat
import pytest

from tests.every import every_case
from tools.chapters import chapter_paths
from tools.environment import ROOT

PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")
# A chapter linked by its number, and after it the headings in italics: [07](../notebooks/07_x.ipynb) *1 One*, *2 Two*.
PLACES = re.compile(r"\[(\d\d[bc]?)\]\(\.\./notebooks/(\w+)\.ipynb\)((?:,? \*[^*|]+\*)*)")
# "section 3", "section 5 of chapter 13", "chapter 07, section 5".
SECTION = re.compile(
    r"(?:(?:chapter|lesson) \[?(?P<before>\d\d[bc]?)(?:\]\([^)]*\))?, )?"
    r"section (?P<section>\d+)(?: of (?:chapter|lesson) \[?(?P<after>\d\d[bc]?))?"
)
CHAPTERS = {path.stem: nbformat.read(path, as_version=4).cells for path in chapter_paths()}


def prose(stem):
    return [cell.source for cell in CHAPTERS[stem] if cell.cell_type == "markdown"]


def headings(stem):
    return {line.lstrip("#").strip() for text in prose(stem) for line in text.splitlines() if line.startswith("##")}


def missing_places(text):
    """The headings that a page names after a chapter's link, and that the chapter has not."""
    named = [
        (number, stem, name)
        for number, stem, names in PLACES.findall(text)
        for name in re.findall(r"\*([^*]+)\*", names)
    ]
    return [name for number, stem, name in named if stem.split("_")[0] != number or name not in headings(stem)]


def missing_sections(stem, text):
    """The sections by number that a text of a chapter names, and that are not there; without a chapter, its own."""
    own, by_number = stem.split("_")[0], {each.split("_")[0]: each for each in CHAPTERS}
    found = []
    for named in SECTION.finditer(" ".join(text.split())):
        there = by_number.get(named["before"] or named["after"] or own)
        if there is None or not any(heading.startswith(f"{named['section']} ") for heading in headings(there)):
            found.append(named[0])
    return found


@every_case("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_has_its_file(page):
    linked = LINK.findall(page.read_text(encoding="utf-8"))

    assert [each for each in linked if not (page.parent / each).exists()] == []


def test_every_place_that_the_page_of_the_articles_names_is_a_heading():
    text = (ROOT / "docs" / "articles.md").read_text(encoding="utf-8")

    assert sum(names.count("*") // 2 for *_, names in PLACES.findall(text)) > 90
    assert missing_places(text) == []


@every_case("stem", CHAPTERS)
def test_a_section_that_a_chapter_names_by_number_is_there(stem):
    assert [each for text in prose(stem) for each in missing_sections(stem, text)] == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("goes on in section 5 of chapter 13", []),
        ("the sweep (chapter 07, section 5)", []),
        ("as in section 99 of chapter 13, and in\nsection 98", ["section 99 of chapter 13", "section 98"]),
        ("see chapter 99, section 1", ["chapter 99, section 1"]),
    ],
)
def test_what_is_not_there_is_found(text, missing):
    assert missing_sections("06_commits", text) == missing


def test_a_heading_that_is_not_there_is_found():
    link = "[07](../notebooks/07_offsets_topic.ipynb)"

    assert missing_places(f"{link} *2 Three kinds of records*, *2 Four kinds*; {link} only") == ["2 Four kinds"]
    assert missing_places("[08](../notebooks/07_offsets_topic.ipynb) *2 Three kinds of records*") != []
