"""A table of contents inside each page, from its own headings, and headings as plain text or with their code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape

_HEADING = re.compile(r'<h([23])\b[^>]*?\bid="([^"]+)"[^>]*>(.*?)</h\1>', re.DOTALL)
_ANCHOR = re.compile(r'<a class="anchor-link".*?</a>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page."""

    level: int  # 2 or 3
    anchor: str
    html: str  # its words, code in them marked

    @property
    def words(self) -> str:
        """Its words as text."""
        return unescape(re.sub(r"<[^>]+>", "", self.html)).strip()


def headings(html: str) -> Iterator[Heading]:
    """The headings of a page, second and third level, in order.

    >>> list(headings('<h2 id="One">One<a class="anchor-link" href="#One">¶</a></h2>'))
    [Heading(level=2, anchor='One', html='One')]
    """
    for level, anchor, inner in _HEADING.findall(html):
        yield Heading(int(level), anchor, re.sub(r"</?(?!code\b)\w+[^>]*>", "", _ANCHOR.sub("", inner)).strip())


def contents(html: str) -> str:
    """A page's table of contents, folded; nothing for a page of fewer than two headings."""
    found = list(headings(html))
    if len(found) < 2:
        return ""
    items, is_inside = [], False
    for each in found:
        if (each.level == 3) != is_inside:
            items.append("<li><ol>" if each.level == 3 else "</ol></li>")
            is_inside = each.level == 3
        items.append(f'<li><a href="#{each.anchor}">{each.html}</a></li>')
    items += ["</ol></li>"] if is_inside else []
    listed = "\n".join(items)
    return (
        f'<nav class="contents" aria-label="On this page"><details><summary>On this page</summary><ol>\n{listed}\n</ol>'
        "</details></nav>"
    )


def with_contents(html: str) -> str:
    """The page with its table of contents before its first cell."""
    return html.replace('<div class="book-cell', f'{contents(html)}\n<div class="book-cell', 1)


def inline_html(markdown: str) -> str:
    """One line of Markdown: its code marked, and nothing else.

    >>> inline_html("What is inside `__consumer_offsets` & co?")
    'What is inside <code>__consumer_offsets</code> &amp; co?'
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(markdown, quote=False))
