"""A search over all pages of the book that works from a folder: an index as a classic script, and a page that reads it.

``search-index.js`` has each section of each page: where it is, its heading, and its words as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

from tools.book.shell import shell_page

PAGE, INDEX = "search.html", "search-index.js"
_SKIPPED = {"script", "style", "svg", "nav", "textarea", "details"}
_PASSED = {"jp-OutputPrompt", "jp-InputPrompt", "anchor-link", "jp-Cell-outputWrapper"}
MOST_LETTERS = 6000  # of a section


def search_page() -> str:
    """The page with the field."""
    body = """
<form class="tools" role="search" id="search"><label>Search the book
<input type="search" name="words" autocomplete="off" spellcheck="false"></label><button>Search</button></form>
<p id="count" role="status"></p>
<div id="results"></div>
"""
    head = f'<script src="{INDEX}"></script>'
    script = Path(__file__).with_name("search.js").read_text(encoding="utf-8")
    return shell_page("Search", body, [script], head=head)


def index_script(pages: Iterable[tuple[str, str, str]], entries: Iterable[tuple[str, str, str, str, str]] = ()) -> str:
    """The index.

    Parameters
    ----------
    pages : iterable of (str, str, str)
        File, title and HTML of each page.
    entries : iterable of (str, str, str, str, str), optional
        What is known without a page: file, title, anchor, heading and text.
    """
    rows = [
        [file, title, anchor, heading, text] for file, title, html in pages for anchor, heading, text in sections(html)
    ]
    rows += [[*place, " ".join(as_prose(text).split())[:MOST_LETTERS]] for *place, text in entries]
    return as_script(rows)


_UNDERLINED = re.compile(r"^[ \t]*(\S[^\n]*?)[ \t]*\n[ \t]*-{3,}[ \t]*$", re.MULTILINE)
_OF_DOCSTRINGS = {
    "Attributes",
    "Examples",
    "Notes",
    "Parameters",
    "Raises",
    "References",
    "Returns",
    "See Also",
    "Yields",
}


def as_prose(docstring: str) -> str:
    """A docstring's words without what only sets them: the names of its usual parts, lines below headings, backticks.

    >>> as_prose("What ``x`` is.\\n\\nParameters\\n----------\\nx : int\\n\\nOur words\\n---------\\n`x` is.")
    'What x is.\\n\\n\\nx : int\\n\\nOur words.\\nx is.'
    """
    text = _UNDERLINED.sub(lambda found: "" if found[1] in _OF_DOCSTRINGS else f"{found[1]}.", docstring)
    return text.replace("`", "")


_BEFORE = "window.KAFKALEARN_SEARCH = "


def as_script(rows: list[list[str]]) -> str:
    """Rows of the index, file, title, anchor, heading and text each, as the page loads them."""
    return f"{_BEFORE}{json.dumps(rows, ensure_ascii=False, separators=(',', ':'))};\n"


def rows_of(script: str) -> list[list[str]]:
    """The rows that `as_script` has written.

    >>> rows_of(as_script([["a.html", "A", "a", "One", "text"]]))
    [['a.html', 'A', 'a', 'One', 'text']]
    """
    return json.loads(script.removeprefix(_BEFORE).rstrip().removesuffix(";"))


def sections(html: str) -> Iterator[tuple[str, str, str]]:
    """Anchor, heading and text of each part of a page that has a heading; the first part is that of the first heading.

    >>> list(sections('<main><h1 id="a">A</h1><p>One &amp; two</p><h2 id="b">B</h2><p>three</p></main>'))
    [('a', 'A', 'One & two'), ('b', 'B', 'three')]
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    for anchor, heading, words in reader.found:
        text = re.sub(r"\s+", " ", "".join(words)).strip()
        yield anchor, re.sub(r"\s+", " ", "".join(heading)).strip(), unescape(text)[:MOST_LETTERS]


class _Reader(HTMLParser):
    """The text of a page's main part, in sections."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, list[str], list[str]]] = []
        self._stack: list[tuple[str, bool]] = []  # of open tags: whether what is in them is passed over
        self._in_heading = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in ("br", "img", "input", "link", "meta", "hr", "path", "rect", "line", "circle"):
            return
        classes = set((values.get("class") or "").split())
        is_passed = tag in _SKIPPED or bool(classes & _PASSED) or bool(self._stack and self._stack[-1][1])
        self._stack.append((tag, is_passed))
        if re.fullmatch("h[1-4]", tag) and values.get("id") and not is_passed:
            self.found.append((values["id"], [], []))
            self._in_heading = True
        self._put(" ")

    def handle_endtag(self, tag: str) -> None:
        while self._stack and self._stack.pop()[0] != tag:
            pass
        if re.fullmatch("h[1-4]", tag):
            self._in_heading = False
        if tag in ("p", "li", "td", "th", "div", "pre", "tr"):
            self._put(" ")

    def handle_data(self, data: str) -> None:
        if not (self._stack and self._stack[-1][1]):
            self._put(data)

    def _put(self, text: str) -> None:
        if self.found:
            self.found[-1][1 if self._in_heading else 2].append(text)
