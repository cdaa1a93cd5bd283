"""`kafkalearn.tiny` can be read in one sitting."""

import io
import tokenize
from pathlib import Path

import nbformat

from kafkalearn import tiny
from tests.tiny.test_recorded import KINDS
from tools.environment import ROOT

TEXT = Path(tiny.__file__).read_text(encoding="utf-8")
WORDS_A_MINUTE, SECONDS_A_LINE, MOST_MINUTES = 180, 3, 25


def prose_and_code(text: str) -> tuple[int, int]:
    """Words of comments and docstrings, and lines of code; examples in docstrings are code."""
    words, lines, is_begun = 0, set(), True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            words += len(token.string.split()) - 1
        elif token.type == tokenize.STRING and is_begun:  # a statement that is only a text
            told, shown = _docstring(token.string)
            words += told
            lines |= {token.start[0] + number for number in shown}
        elif token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            lines.add(token.start[0])
            is_begun = False
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            is_begun = True
    return words, len(lines)


def _docstring(text: str) -> tuple[int, list[int]]:
    words, shown, is_example = 0, [], False
    for number, line in enumerate(text.strip('"').splitlines()):
        is_example = line.strip().startswith(">>>") or (is_example and bool(line.strip()))
        if is_example:
            shown.append(number)
        else:
            words += len(line.split())
    return words, shown


def test_it_is_read_aloud_in_less_than_twenty_five_minutes():
    words, code_lines = prose_and_code(TEXT)
    minutes = words / WORDS_A_MINUTE + code_lines * SECONDS_A_LINE / 60
    assert minutes < MOST_MINUTES, f"{words} words and {code_lines} lines take {minutes:.1f} minutes"


def test_its_chapter_says_how_long_it_is_and_how_many_answers_hold_it():
    cells = nbformat.read(ROOT / "notebooks" / "00b_one_sitting.ipynb", as_version=4).cells
    words, code_lines = prose_and_code(TEXT)
    said = " ".join(" ".join(cell.source for cell in cells).split())
    assert f"Read aloud the file takes {words / WORDS_A_MINUTE + code_lines * SECONDS_A_LINE / 60:.0f} minutes" in said
    assert f"{sum(count for count, _ in KINDS.values()):,} answers" in said


def test_it_has_four_to_five_hundred_lines_and_ten_questions():
    lines = TEXT.splitlines()
    asked = [line for line in lines for number in range(1, 11) if f"{number}. " in line and "?" in line]
    assert 400 <= len(lines) <= 500
    assert len(asked) == 10


def test_both_kinds_of_lines_are_counted():
    text = '"""One two.\n\n>>> 1 + 1\n2\n"""\n# three four\nx = "a b"  # five\n'
    assert prose_and_code(text) == (5, 3)
