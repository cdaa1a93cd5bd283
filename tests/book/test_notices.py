"""The notices of what the wheel and the book carry of others: current, and whole."""

import re
from fnmatch import fnmatch

import pytest

from tools.book.face import NOTICES
from tools.book.live.packages import ACE, PYODIDE, NotFetched, files
from tools.environment import ROOT
from tools.notices import COMMAND, LIBRARIES, NoEntry, carried, fonts_of, libraries_in, notices


@pytest.fixture(scope="module", autouse=True)
def fetched():
    try:
        for package in (PYODIDE, ACE):
            files(package)
    except NotFetched as error:
        pytest.skip(str(error))


PYTHON = ("runtime.js", "snapshot.js")
NOT_TEXT = {".woff2", ".ttf", ".gz", ".zip", ".png"}


def test_the_file_is_what_the_command_writes():
    assert NOTICES.read_text(encoding="utf-8") == notices(), f"run {COMMAND}"


def test_each_library_is_found_by_what_stands_in_python_itself():
    (wasm,) = files(PYODIDE, "pyodide.asm.wasm").values()
    assert libraries_in(wasm) == list(LIBRARIES)
    marked = [each for each in LIBRARIES if each.mark]
    assert [each for each in libraries_in(b"") if each.mark] == []
    assert [each for each in libraries_in(marked[0].mark) if each.mark] == marked[:1]


def test_a_library_that_nobody_named_stops_the_command():
    with pytest.raises(NoEntry, match="has OpenSSL: give it an entry"):
        libraries_in(b"built with OpenSSL 3.5")


def test_a_font_that_nobody_named_stops_the_command(tmp_path):
    (tmp_path / "font-greek.woff2").write_bytes(b"")
    with pytest.raises(NoEntry, match=r"font-greek\.woff2: name in"):
        fonts_of(tmp_path)


def test_no_file_of_the_package_has_the_copyright_of_others_but_the_notices_of_fonts():
    theirs = re.compile(rb"Copyright (\(c\)|\xc2\xa9|[12]\d\d\d)|@licen[sc]e|SPDX-License", re.IGNORECASE)
    found = {
        path.name
        for path in (ROOT / "kafkalearn").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in NOT_TEXT
        if theirs.search(path.read_bytes())
    }
    assert found == {"font-licences.txt"}


def test_whoever_a_file_of_the_book_names_as_its_owner_has_a_section(made_book):
    """Read where a sheet or a script says so; what is inside Python's image is found by `libraries_in`."""
    said, found = notices(), set()
    for path in (each for each in made_book.rglob("*") if each.suffix in (".css", ".js") and each.name not in PYTHON):
        lines = re.findall(r"Copyright (?:\(c\)|\xa9)?[\d, -]*([^\n.|*,]+)", path.read_text(encoding="utf-8"))
        found |= {line.strip() for line in lines}
    assert found >= {"Jupyter Development Team", "PhosphorJS Contributors", "The Bootstrap Authors", "Twitter"}
    assert [owner for owner in sorted(found) if owner not in said] == []


OURS = ("*.html", ".made-of.json", "card.png", "reference/reference.css", "search-index.js")
OURS += ("live/page.*", "live/notebook-*.js", "live/NOTICES.txt")


def test_every_file_of_the_book_is_ours_or_has_a_section(made_book):
    named = {word.strip(",:") for each in carried() for word in each.where.split() if word.startswith("live/")}
    assert len(named) == 4  # two of Python's, Ace's folder, the style sheets
    names = [path.relative_to(made_book).as_posix() for path in made_book.rglob("*") if path.is_file()]
    names = [name for name in names if not name.startswith("files/")]  # the project's, where a chapter leads to them
    known = (*OURS, *named, *(f"{each}/*" for each in named))
    assert [name for name in names if not any(fnmatch(name, each) for each in known)] == []
    assert [each for each in known[: -len(named)] if not any(fnmatch(name, f"{each}*") for name in names)] == []
