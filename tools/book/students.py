"""The students' edition: the book without what is the instructor's, made from the finished book beside it.

Left out are the notes for the instructor with the answers, the solutions below the exercises and in the pages' Python,
the reference of the modules that hold the exercises, the table of a class, and all of it in the search.

What is promised: no solution and no reasoning is in the edition, and what else knows an answer (what is so of a
prediction, the judge of an exercise, what cures a wrong answer) stands in no page's source and in no module's text in
words. It is sealed or packed, not secret: a page without a server judges by itself, and who takes it apart finds out.
What a chapter itself tells below a question stands in its page, closed until there is a prediction, as on a book's next
page.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from tools.book import EDITION, is_edition_of, record_of
from tools.book.live import FOLDER as LIVE
from tools.book.live import with_policy, without_policy
from tools.book.live.runtime import core_archive, with_core
from tools.book.made import RECORD
from tools.book.pages import faults
from tools.book.playground import PAGE as PLAYGROUND
from tools.book.playground import with_python_beside
from tools.book.search import INDEX, as_script, rows_of
from tools.book.without_answers import core_for_students

RUNTIME = f"{LIVE}/runtime.js"
NOT_FOR_STUDENTS = re.compile(r".*\.instructor\.html|class\.html|reference/kafkalearn\.exercises\.\w+\.html")
_SOLUTION = re.compile(r'<details class="solution">.*?</details>\n?', re.DOTALL)
_LINK = re.compile(r'<a\b[^>]*\bhref="(?:\.\./)?([^"#]*)[^"]*"[^>]*>(.*?)</a>', re.DOTALL)
_EMPTY_ITEM = re.compile(r"<li>\s*</li>\s*")


def write(book: Path, folder: Path) -> list[str]:
    """Write the edition if the book has changed since, and return what is wrong with it.

    Parameters
    ----------
    book : Path
        The finished book.
    folder : Path
        Where the edition goes; what is in it and not of the edition is removed.
    """
    if is_edition_of(book, folder):
        return []
    stamp = folder / EDITION
    stamp.unlink(missing_ok=True)
    files = {path.relative_to(book).as_posix(): path for path in _files(book)}
    for name, path in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = _changed(name, path)
        if text is None:
            shutil.copyfile(path, folder / name)
        else:
            (folder / name).write_text(text, encoding="utf-8")
    for old in folder.rglob("*"):
        if old.is_file() and old.relative_to(folder).as_posix() not in files:
            old.unlink()
    wrong = list(faults(folder))
    if not wrong:
        stamp.write_text(record_of(book), encoding="utf-8")
    return wrong


def _files(book: Path) -> Iterator[Path]:
    """What of the book is a student's."""
    record = json.loads((book / RECORD).read_text(encoding="utf-8"))
    names = {name for group in record.values() for name in [*group.get("files", ()), *group.get("copies", ())]}
    yield from (book / name for name in sorted(names) if not NOT_FOR_STUDENTS.fullmatch(name))
    yield from (path for path in sorted((book / LIVE).rglob("*")) if path.is_file())


def _changed(name: str, path: Path) -> str | None:
    """The text of a file as the edition has it; None: as it is."""
    if name == PLAYGROUND:
        return for_students(with_python_beside(path.read_text(encoding="utf-8")))
    if name == RUNTIME:
        return with_core(path.read_text(encoding="utf-8"), core_archive(core_for_students()))
    if name == INDEX:
        rows = rows_of(path.read_text(encoding="utf-8"))
        return as_script([row for row in rows if not NOT_FOR_STUDENTS.fullmatch(row[0])])
    return for_students(path.read_text(encoding="utf-8")) if name.endswith(".html") else None


def for_students(html: str) -> str:
    """A page without solutions, and without links to what a student does not have; the words of those in a text stay.

    >>> for_students('<nav><a href="class.html">Class</a></nav><p>As <a href="class.html">here</a></p>')
    '<nav></nav><p>As here</p>'
    """
    has_policy = "Content-Security-Policy" in html
    html = _SOLUTION.sub("", without_policy(html) if has_policy else html)
    html = re.sub(r"<nav\b.*?</nav>", lambda nav: _without_links(nav[0], has_words=False), html, flags=re.DOTALL)
    html = _EMPTY_ITEM.sub("", _without_links(html, has_words=True))
    return with_policy(html) if has_policy else html


def _without_links(html: str, *, has_words: bool) -> str:
    def kept(link: re.Match[str]) -> str:
        is_gone = NOT_FOR_STUDENTS.fullmatch(link[1]) or NOT_FOR_STUDENTS.fullmatch(f"reference/{link[1]}")
        return link[2] * has_words if is_gone else link[0]

    return _LINK.sub(kept, html)
