"""Inline Markdown for our own sentences: code in backticks, emphasis in stars, and nothing else.

They stand alone because two who may not know each other show them so: tables, and what a check of an exercise says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

_CODE = re.compile(r"(`[^`]+`)")
_STRONG = re.compile(r"(?<!\w)\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\w)")
_STRESSED = re.compile(r"(?<![\w*])\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?![\w*])")


@dataclass(frozen=True, slots=True, order=True)
class Marked:
    """One line that a notebook shows with its marks and a terminal without; a value of a table may be one.

    >>> words = Marked("`x % 50` is *not* a remainder of 50 * x")
    >>> print(words, words.html, sep="\\n")
    x % 50 is not a remainder of 50 * x
    <code>x % 50</code> is <em>not</em> a remainder of 50 * x
    """

    markdown: str

    def __str__(self) -> str:
        """The words without the marks."""
        parts = _CODE.split(self.markdown)
        return "".join(part[1:-1] if at % 2 else _stressed(part, r"\1", r"\1") for at, part in enumerate(parts))

    @property
    def html(self) -> str:
        """The words, with code, strong and stressed ones as elements."""
        return in_html(self.markdown)


def in_html(markdown: str) -> str:
    """Render our own sentence as HTML.

    >>> in_html("`a < b` is **not** said")
    '<code>a &lt; b</code> is <strong>not</strong> said'
    """
    parts = _CODE.split(markdown)
    return "".join(
        f"<code>{escape(part[1:-1])}</code>"
        if at % 2
        else _stressed(escape(part), r"<strong>\1</strong>", r"<em>\1</em>")
        for at, part in enumerate(parts)
    )


def _stressed(words: str, strong: str, stressed: str) -> str:
    return _STRESSED.sub(stressed, _STRONG.sub(strong, words))
