"""What is said to a student: our words in Markdown, and between them the student's values, which are never Markdown.

A sentence keeps the two apart, so that a value looks the same in a terminal, in Markdown and in HTML, whatever is in
it: ``<img onerror=...>``, dollars, stars, backticks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from kafkalearn.exercises.kit.shown import THIS, shown
from kafkalearn.phrases import capitalised


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words with values in them; made by `say`.

    Parameters
    ----------
    words : str
        Markdown of ours, with ``{}`` for each value: code in backticks, stars for stress.
    values : tuple
        What stands there: text that is shown as code, or a sentence.
    """

    words: str
    values: tuple[str | Sentence, ...] = ()

    def __str__(self) -> str:
        """As a terminal shows it."""
        return self.plain

    @property
    def plain(self) -> str:
        """For a terminal: the values as they are."""
        return self._filled(self.words, str, lambda each: each.plain)

    @property
    def markdown(self) -> str:
        """For a notebook: the values as code."""
        return self._filled(self.words, _code_in_markdown, lambda each: each.markdown)

    @property
    def html(self) -> str:
        """For a notebook and a page: the values as code, the words with their code and their stress."""
        return self._filled(_in_html(self.words), lambda text: f"<code>{escape(text)}</code>", lambda each: each.html)

    def _filled(self, words: str, of_text: Callable[[str], str], of_sentence: Callable[[Sentence], str]) -> str:
        filled = [of_sentence(each) if isinstance(each, Sentence) else of_text(each) for each in self.values]
        return words.format(*filled)


@dataclass(frozen=True, slots=True)
class Block:
    """Several lines that keep their shape: a group, and what an assignor gives it."""

    text: str

    def __str__(self) -> str:
        """As a terminal shows it."""
        return self.plain

    @property
    def plain(self) -> str:
        """The lines themselves."""
        return self.text

    @property
    def markdown(self) -> str:
        """The lines as a block of code."""
        fence = "`" * max(3, 1 + _longest_row_of_backticks(self.text))
        return f"{fence}text\n{self.text}\n{fence}"

    @property
    def html(self) -> str:
        """The lines as a block of code."""
        return f"<pre>{escape(self.text)}</pre>"


Said: TypeAlias = Sentence | Block


def say(words: str, *values: object) -> Sentence:
    """A sentence with values in it, each as Python writes it; one that is a sentence already stands as it is.

    >>> sentence = say("{} is *text*, and a whole number is wanted.", "<b>`$1`")
    >>> print(sentence.plain)
    '<b>`$1`' is *text*, and a whole number is wanted.
    >>> print(sentence.markdown)
    ``'<b>`$1`'`` is *text*, and a whole number is wanted.
    >>> print(sentence.html)
    <code>&#x27;&lt;b&gt;`$1`&#x27;</code> is <em>text</em>, and a whole number is wanted.
    """
    return Sentence(words, tuple(each if isinstance(each, Sentence) else _value(each) for each in values))


def _value(value: object) -> str | Sentence:
    text = shown(value)
    return Sentence(text) if text == THIS else text


def ours(words: str) -> Sentence:
    """A sentence of ours without values: braces in it are braces.

    >>> ours("Give a set such as `{1, 2}`.").plain
    'Give a set such as `{1, 2}`.'
    """
    return Sentence(words.replace("{", "{{").replace("}", "}}"))


def as_words(text: str) -> Sentence:
    """Text that is not ours and no value of Python: what an exception says, a line of code, a name.

    >>> as_words("unsupported operand type(s) for *").markdown
    '`unsupported operand type(s) for *`'
    """
    return Sentence("{}", (" ".join(text.split()),))


def joined(sentences: Iterable[Sentence], between: str = " ") -> Sentence:
    """Several sentences as one.

    >>> joined([say("{}", 1), say("{}", 2)], ", ").plain
    '1, 2'
    """
    parts = tuple(sentences)
    return Sentence(between.join("{}" for _ in parts), parts)


def names(values: Iterable[object]) -> Sentence:
    """Values in a row, with commas.

    >>> names(["group", "topic"]).markdown
    "`'group'`, `'topic'`"
    """
    return joined((say("{}", each) for each in values), ", ")


def finished(sentence: Sentence) -> Sentence:
    """The same with a large letter first and a full stop at its end.

    >>> finished(ours("two are missing")).plain, finished(say("{} is text", "a")).plain
    ('Two are missing.', "'a' is text.")
    """
    return Sentence("{}.", (_with_capital(sentence),))


def _with_capital(sentence: Sentence) -> Sentence:
    first = sentence.values[0] if sentence.words.startswith("{}") else None
    if isinstance(first, Sentence):
        return Sentence(sentence.words, (_with_capital(first), *sentence.values[1:]))
    return Sentence(capitalised(sentence.words), sentence.values)


def _code_in_markdown(text: str) -> str:
    fence = "`" * (1 + _longest_row_of_backticks(text))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def _longest_row_of_backticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _in_html(markdown: str) -> str:
    """Our own words: code, strong and stressed, and nothing else."""
    parts = re.split(r"(`[^`]+`)", markdown)
    return "".join(f"<code>{escape(part[1:-1])}</code>" if at % 2 else _stressed(part) for at, part in enumerate(parts))


def _stressed(words: str) -> str:
    words = re.sub(r"(?<!\w)\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\w)", r"<strong>\1</strong>", escape(words))
    return re.sub(r"(?<![\w*])\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?![\w*])", r"<em>\1</em>", words)
