"""Values in the text of a message: their kind, and themselves in one line, the same in every run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized

from kafkalearn import phrases
from kafkalearn.exercises.kit.given.function import GivenFunction
from kafkalearn.exercises.kit.given.intake import LabelledValues, Strange, taken

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
    """The value as Python writes it, cut where it is long.

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
    return value.__name__ if isinstance(value, type) else phrases.shown(value, longest=1_000_000)


def _between(brackets: str, texts: Iterable[str]) -> str:
    return f"{brackets[0]}{', '.join(texts)}{brackets[1]}"
