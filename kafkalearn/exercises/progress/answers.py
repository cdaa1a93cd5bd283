"""An answer as JSON and back: what JSON has no word for is a dict with one known name, ``{"set": [1, 2]}``.

Nothing is run when it is read: a function stays text, and of classes only events and other dataclasses of kafkalearn
are made, those of modules that are loaded.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

from kafkalearn.errors import KafkaLearnError
from kafkalearn.exercises.kit.given.function import GivenFunction
from kafkalearn.exercises.kit.given.intake import LabelledValues, Strange, taken
from kafkalearn.exercises.kit.given.limits import Bounds
from kafkalearn.exercises.progress.source import NoSource, source_of

LONGEST_TEXT = 20_000
_MOST_EXACT = 2**53  # above, other readers of JSON round


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A function as it was handed in."""

    name: str
    source: str


def encoded(answer: object) -> object:
    """The answer in values that `json` writes.

    >>> encoded({"lose": {"a"}, "share": float("inf")})
    {'dict': [['lose', {'set': ['a']}], ['share', {'float': 'inf'}]]}
    """
    answer = taken(answer)
    match answer:
        case None | bool():
            return answer
        case str():
            return answer[:LONGEST_TEXT]
        case int():
            return answer if abs(answer) < _MOST_EXACT else {"int": hex(answer)}
        case float():
            return answer if math.isfinite(answer) else {"float": repr(answer)}
        case bytes():
            return {"bytes": answer.hex()}
        case complex() | Fraction():
            return {type(answer).__name__.lower(): str(answer)}
        case LabelledValues():
            return encoded(answer.by_label)
        case list():
            return [encoded(each) for each in answer]
        case tuple():
            return {"tuple": [encoded(each) for each in answer]}
        case set() | frozenset():
            return {"set": sorted(map(encoded, answer), key=repr)}
        case Mapping():
            return {"dict": [[encoded(name), encoded(part)] for name, part in answer.items()]}
        case GivenFunction():
            return _encoded_function(answer)
        case Strange(kind, text):
            return {"strange": [kind, text]}
        case type():
            return {"class": _dotted(answer)}
    if answer is ...:
        return {"blank": True}
    assert is_dataclass(answer)  # what is taken is nothing else
    given = {each.name: encoded(getattr(answer, each.name)) for each in fields(answer) if each.init}
    return {"made": _dotted(type(answer)), "of": given}


def _encoded_function(answer: GivenFunction) -> object:
    try:
        name, source = Bounds().run(source_of, answer.function)
    except NoSource as reason:
        return {"strange": ["a function", f"a function that is not kept as text: {reason}"]}
    except KeyboardInterrupt:  # the student's own: the cell is to end
        raise
    except BaseException:  # an object that can be called may do anything when it is looked at
        return {"strange": ["a function", "a function that is not kept as text: it has no source"]}
    return {"function": name, "source": source}


def decoded(words: object) -> Any:
    """The answer that `encoded` wrote; a function is a `FunctionSource`.

    Raises
    ------
    KafkaLearnError
        If it is none.

    Examples
    --------
    >>> decoded(encoded(("a", 2.5, {1: b"key"})))
    ('a', 2.5, {1: b'key'})
    """
    if isinstance(words, list):
        return [decoded(each) for each in words]
    if not isinstance(words, dict):
        return words
    for name, read in _READERS.items():
        if name in words:
            try:
                return read(words)
            except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
                raise KafkaLearnError(f"this is no answer as it is kept in a file: {str(words)[:200]}") from error
    raise KafkaLearnError(f"this is no answer as it is kept in a file: {str(words)[:200]}")


def _dotted(kind: type) -> str:
    return f"{kind.__module__}.{kind.__name__}"


def _class_named(dotted: str) -> type:
    module, _, name = dotted.rpartition(".")
    kind = getattr(sys.modules.get(module), name, None) if module.startswith("kafkalearn.") else None
    if not (isinstance(kind, type) and is_dataclass(kind)):
        raise ValueError(f"no event or setting of kafkalearn is called {dotted}")
    return kind


_READERS: dict[str, Callable[[dict], object]] = {
    "int": lambda words: int(words["int"], 16),
    "float": lambda words: float(words["float"]),
    "bytes": lambda words: bytes.fromhex(words["bytes"]),
    "complex": lambda words: complex(words["complex"]),
    "fraction": lambda words: Fraction(words["fraction"]),
    "tuple": lambda words: tuple(map(decoded, words["tuple"])),
    "set": lambda words: frozenset(map(decoded, words["set"])),
    "dict": lambda words: {decoded(name): decoded(part) for name, part in words["dict"]},
    "function": lambda words: FunctionSource(str(words["function"]), str(words["source"])),
    "strange": lambda words: Strange(str(words["strange"][0]), str(words["strange"][1])),
    "class": lambda words: _class_named(words["class"]),
    "made": lambda words: _class_named(words["made"])(**{name: decoded(part) for name, part in words["of"].items()}),
    "blank": lambda words: ...,
}
"""How a dict with one of these names is read."""
