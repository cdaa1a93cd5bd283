"""The result of a check: outcome and sentences, rendered as plain text, Markdown and HTML, the same on every machine.

A sentence is our words in Markdown, and between them the student's values, which are never Markdown. It keeps the two
apart, so that a value looks the same in a terminal, in Markdown and in HTML, whatever is in it: ``<img onerror=...>``,
dollars, stars, backticks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass, replace
from html import escape
from typing import TypeAlias

from kafkalearn.base import errors
from kafkalearn.base.marked import in_html
from kafkalearn.exercises.kit.given import GivenFunction, LabelledValues, Strange, taken

THIS = "this"  # a function or a DataFrame: its repr says nothing
_KINDS = (
    (bool, "True or False"),
    (int, "a whole number"),
    (float, "a number"),
    (complex, "a complex number"),
    (str, "text"),
    (bytes, "bytes"),
    (Mapping, "a dict"),
    ((set, frozenset), "a set"),
    (LabelledValues, "a Series"),
    (list, "a list"),
    (tuple, "a tuple"),
    (GivenFunction, "a function"),
)


def kind_of(value: object) -> str:
    """The kind of a value in words.

    >>> kind_of(3), kind_of("3"), kind_of(frozenset()), kind_of(print)
    ('a whole number', 'text', 'a set', 'a function')
    """
    value = taken(value)
    if isinstance(value, Strange):
        return value.kind
    known = next((words for kind, words in _KINDS if isinstance(value, kind)), None)
    if known is not None:
        return known
    name = type(value).__name__
    return "a class" if name == "type" else f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def shown(value: object, longest: int = 60) -> str:
    """The repr of a value, truncated where it is long.

    >>> shown("x" * 255)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx... (255 long)"
    >>> shown({"b", "a"}), shown(10**5000), shown([print])
    ("{'a', 'b'}", 'a whole number of about 5,001 digits', '[a function]')
    """
    value = taken(value)
    if isinstance(value, GivenFunction) or kind_of(value) == "a DataFrame":
        return THIS
    text = _text(value)
    if len(text) <= longest:
        return text
    size = f" ({len(value):,} long)" if isinstance(value, Sized) else ""
    return f"{text[: longest - 20]}...{size}"


def _text(value: object) -> str:
    if isinstance(value, Strange):
        return value.text
    if isinstance(value, GivenFunction):
        return "a function"
    if isinstance(value, dict):
        return _between("{}", (f"{_text(name)}: {_text(part)}" for name, part in value.items()))
    if isinstance(value, set | frozenset) and value:
        return _between("{}", sorted(map(_text, value)))
    if isinstance(value, list):
        return _between("[]", map(_text, value))
    if isinstance(value, tuple):
        return f"({_text(value[0])},)" if len(value) == 1 else _between("()", map(_text, value))
    return value.__name__ if isinstance(value, type) else errors.shown(value, longest=1_000_000)


def _between(brackets: str, texts: Iterable[str]) -> str:
    return f"{brackets[0]}{', '.join(texts)}{brackets[1]}"


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
        return self._filled(in_html(self.words), lambda text: f"<code>{escape(text)}</code>", lambda each: each.html)

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
    return Sentence(errors.capitalised(sentence.words), sentence.values)


def _code_in_markdown(text: str) -> str:
    fence = "`" * (1 + _longest_row_of_backticks(text))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def _longest_row_of_backticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


RIGHT = "right"
WRONG = "wrong"
NOT_ATTEMPTED = "not attempted"
ERROR = "error"
OPEN = "open"

_HEADLINES = {
    RIGHT: "Right.",
    WRONG: "Not right yet.",
    NOT_ATTEMPTED: "Not attempted yet.",
    ERROR: "This cannot be checked.",
    OPEN: "Noted.",
}


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The outcome of one check. It is true in ``if`` and ``assert`` when the answer is right.

    Parameters
    ----------
    outcome : str
        ``"right"``, ``"wrong"``, ``"not attempted"``, ``"error"``, or ``"open"`` for a question that no program
        can judge.
    sentences : tuple of str, Sentence or Block
        What is said after the headline, one thought each. A str is Markdown of ours, without values in it.

    Examples
    --------
    >>> Result(WRONG, ("The partition is not right.",))
    Not right yet. The partition is not right.
    >>> bool(Result(RIGHT)), bool(Result(OPEN))
    (True, False)
    """

    outcome: str
    sentences: tuple[Said | str, ...] = ()

    def __bool__(self) -> bool:
        """Whether the answer is right."""
        return self.outcome == RIGHT

    def __repr__(self) -> str:
        """Headline and first sentence in one line, each further sentence in its own."""
        return "\n".join(self._paragraphs(self.headline, "plain"))

    @property
    def headline(self) -> str:
        """The outcome in words."""
        return _HEADLINES[self.outcome]

    @property
    def html(self) -> str:
        """What a page shows: paragraphs, and the student's values as text in them."""
        paragraphs = self._paragraphs(f"<strong>{self.headline}</strong>", "html")
        return "\n".join(each if each.startswith("<pre>") else f"<p>{each}</p>" for each in paragraphs)

    def _repr_html_(self) -> str:
        return self.html

    def _repr_markdown_(self) -> str:
        return "\n\n".join(self._paragraphs(f"**{self.headline}**", "markdown"))

    def _paragraphs(self, headline: str, form: str) -> list[str]:
        """Headline and first sentence together, then one for each sentence; a block stands alone."""
        said = [ours(each) if isinstance(each, str) else each for each in self.sentences]
        beside = 0 if not said or isinstance(said[0], Block) else 1
        first = " ".join((headline, *(getattr(each, form) for each in said[:beside])))
        return [first, *(getattr(each, form) for each in said[beside:])]

    def adding(self, *sentences: Said | str) -> Result:
        """The same outcome with more said."""
        return replace(self, sentences=(*self.sentences, *sentences))


@dataclass(frozen=True, slots=True, repr=False)
class Note:
    """A text of ours in Markdown that a notebook renders and a terminal prints.

    >>> Note("Hint 1 of 2: look at the *sign*.")
    Hint 1 of 2: look at the *sign*.
    """

    text: str

    def __repr__(self) -> str:
        """The text itself, as a terminal shows it."""
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text
