"""Writes the chapters as pages that need no kernel and no network: book/index.html, book-students/index.html.

    python3 run.py book          with the outputs that are committed; a chapter without outputs is run first
    python3 run.py book --run    with outputs of its own: each chapter is run unless nothing has changed since it was

The second is the same without solutions, for a class (`tools.book.students`). What is as it was is not made again
(`tools.book.made`). The committed notebooks are not touched. Python runs in the pages, in the reader's browser:
`tools.book.live`.
"""

from __future__ import annotations

from pathlib import Path

from tools.book.made import RECORD, Made, digest
from tools.environment import ROOT

BOOK = ROOT / "book"
_SOURCES = (
    "kafkalearn",
    "data",
    "docs/glossary.md",
    "docs/instructor",
    "tools/book",
    "tools/chapters.py",
    "tools/claims.py",
    "tools/sections.py",
)


def make(paths: list[Path], folder: Path = BOOK, *, anew: bool = False) -> list[str]:
    """Write what has changed of the book, and return what is wrong with it.

    Parameters
    ----------
    paths : list of Path
        The chapters.
    folder : Path, optional
        Where the book goes.
    anew : bool, optional
        Whether the chapters are run, each if it or the package has changed since it was run for this folder.
    """
    made = Made(folder, digest(*(ROOT / name for name in _SOURCES), ROOT / "requirements.lock"))
    chapters = digest(str(anew), *paths)
    edition = students_folder(folder)
    if made.is_whole(chapters) and is_edition_of(folder, edition):
        return []
    from tools.book import students  # seconds of imports, which a book that is finished does not need
    from tools.book.writing import write

    return write(paths, made, chapters, anew=anew) or students.write(folder, edition)


def students_folder(book: Path) -> Path:
    """Where the students' edition of a book goes: beside it.

    >>> students_folder(Path("book")).name
    'book-students'
    """
    return book.with_name(f"{book.name}-students")


EDITION = ".edition-of"
"""Where a students' edition says which book it was made from."""


def is_edition_of(book: Path, edition: Path) -> bool:
    """Whether the students' edition in a folder was made from this book as it is."""
    said = edition / EDITION
    return said.is_file() and said.read_text(encoding="utf-8") == record_of(book)


def record_of(book: Path) -> str:
    """A digest of all that a finished book was made of; by its words, for it may lie where files do not count."""
    return digest((book / RECORD).read_text(encoding="utf-8"))
