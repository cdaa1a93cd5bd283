"""A word of the glossary is explained where it first stands in a chapter: pointing at it shows what it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from html import escape
from pathlib import Path

from nbformat import NotebookNode

from tools.environment import ROOT

GLOSSARY = ROOT / "docs" / "glossary.md"
_ROW = re.compile(r"^\| ([^|]+?) \| [^|]+ \| (.+?) \|$", re.MULTILINE)
_HEAD = "English"
_PLAIN_LINE = re.compile(r"(?![#|<>]|    |\s*```)")  # no heading, table, HTML or code
_MARKED = re.compile(r"(`[^`]*`|!?\[[^\]]*\]\([^)]*\)|<[^>]+>|\*+[^*]+\*+)")
"""What is left as it is inside a line: code, links, tags, words with stress."""

_EVERYDAY = re.compile(
    r"(?:arrow|gives the) keys|(?<!\ba )(?<!\bthe )(?<!\bno )\bwatch\b|watch lists"
    r"|batch jobs?|(?:that|which) records|members? of(?: the ISR|$)"
)
"""Words of the glossary that mean there what they mean every day, or what the sentence says."""


@cache
def meanings(glossary: Path = GLOSSARY) -> Mapping[str, str]:
    """What each word of the glossary means, as plain text; of a row with two words both mean it.

    >>> meanings()["high watermark"] == meanings()["HW"]
    True
    """
    rows = [row for row in _ROW.findall(glossary.read_text(encoding="utf-8")) if row[0] not in (_HEAD, "---")]
    return {word: re.sub(r"[`*]", "", meaning) for words, meaning in rows for word in words.split(", ")}


def with_meanings(notebook: NotebookNode) -> NotebookNode:
    """A copy with the meaning of each word at its first place in the text: not in headings, tables, code or links."""
    notebook, left = deepcopy(notebook), dict(meanings())
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and left:
            cell.source = _explained(cell.source, left)
    return notebook


def _explained(source: str, left: dict[str, str]) -> str:
    """The text of a cell; what it explains is taken from `left`."""
    lines, is_code, is_paragraph = [], False, True
    for line in source.split("\n"):
        is_code ^= line.lstrip().startswith("```")
        is_paragraph = _PLAIN_LINE.match(line) is not None and (is_paragraph or not lines[-1].strip())
        lines.append(_in_a_line(line, left) if is_paragraph and not is_code else line)
    return "\n".join(lines)


def _in_a_line(line: str, left: dict[str, str]) -> str:
    parts = _MARKED.split(line)
    for number in range(0, len(parts), 2):
        parts[number] = _in_plain_words(parts[number], left)
    return "".join(parts)


def _in_plain_words(words: str, left: dict[str, str]) -> str:
    """Words with the meaning of each that is still left, the longest first: "consumer group" before "consumer".

    >>> _in_plain_words("Step with the arrow keys, and watch.", {"key": "bytes", "watch": "a call"})
    'Step with the arrow keys, and watch.'
    >>> _in_plain_words("then the watch is gone", {"watch": "a call"})
    'then the <abbr class="term" title="a call">watch</abbr> is gone'
    """
    if not left:
        return words
    any_of = "|".join(re.escape(each) for each in sorted(left, key=len, reverse=True))
    made, end = [], 0
    everyday = [each.span() for each in _EVERYDAY.finditer(words)]
    for found in re.finditer(rf"(?<![\w.-])({any_of})(s?)(?![\w-])", words):
        if any(first <= found.start() < last for first, last in everyday):
            continue
        if meaning := left.pop(found[1], ""):
            made += [words[end : found.start()], f'<abbr class="term" title="{escape(meaning)}">{found[0]}</abbr>']
            end = found.end()
    return "".join([*made, words[end:]])
