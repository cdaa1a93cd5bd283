"""The questions of the course, by the id of the cell that asks: ``questions/NN.toml``, a table for each.

A cell's id is its own in the whole course, so a question goes where its cell goes, into whichever chapter; the files
only group them for those who write them. A table has one of

``choice``
    What may be said, as texts. The first is so; readers see them in another order, numbers by their size.
``number``
    The number that is so; ``within`` is how far a prediction may be from it and still be right, nothing if not said.
``order``
    Texts in the order that is so.
``point``
    As ``choice``, and each text can also be clicked where it stands in the picture above the question.
``marks``
    A table of names and numbers: readers drag a mark for each of them along an axis, from the first to the second
    number of ``scale``; ``unit`` is written at the axis. One name may be empty.
``cells``
    Texts that are drawn as a row of cells, a log's offsets or a topic's partitions; ``hit`` are those that readers have
    to press, one or several, and ``unit`` says what they are.

and ``so``, the one line that says what is so. ``shown`` has texts that what the chapter computes below the question
shows, its outputs and its checks; ``prose``, where nothing computes it, texts of the prose there. The tests look for
them.
"""

from __future__ import annotations

import json
import re
import tomllib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.hashing import java_string_hash

FOLDER = Path(__file__).parent / "questions"
_ENDS_HERE = re.compile(r"[:;]|[.,](?! ?\d)")
KINDS = ("choice", "number", "order", "point", "marks", "cells")
_ALSO = {"marks": {"scale", "unit"}, "cells": {"hit", "unit"}}


@dataclass(frozen=True, slots=True)
class Prediction:
    """One question.

    Attributes
    ----------
    id : str
        Of the cell that asks.
    kind : str
        One of `KINDS`.
    options : tuple of str
        What may be said, in the order that readers see; the names of marks; empty for a number.
    right : str
        What is so, as a record has it: an option, a number as text, texts in order with `` > `` between them, marks as
        ``range: 9, sticky: 5``, cells as ``2, 4``.
    within : float
        How far a number may be from it, each one of marks.
    so : str
        The line that says what is so.
    shown, prose : tuple of str
        What the chapter's outputs and checks, or its prose, must hold.
    """

    id: str
    kind: str
    options: tuple[str, ...]
    right: str
    within: float
    so: str
    shown: tuple[str, ...]
    prose: tuple[str, ...]
    scale: tuple[float, float] | None = None
    """The ends of the axis of marks."""
    unit: str = ""
    """What the numbers of an axis are, or the cells of a row."""

    def is_right(self, said: str) -> bool:
        """Whether a prediction, as a record has it, is right.

        >>> all_predictions()["c01-002"].is_right("negative")
        True
        """
        if self.kind not in ("number", "marks"):
            return self.right == said
        numbers, rights = _numbers(said), _numbers(self.right)
        return len(numbers) == len(rights) and all(
            number is not None and right is not None and abs(number - right) <= self.within
            for number, right in zip(numbers, rights, strict=True)
        )

    @property
    def told(self) -> tuple[str, str, str]:
        """What is so, with the answer: the words before it, the answer, and the words after it.

        The answer is said by itself, unless `so` begins with just its words.

        >>> all_predictions()["cell-04-4"].told[:2], all_predictions()["c01-002"].told[:2]
        (('The answer: ', '4'), ('', 'Negative'))
        """
        begin, rest = self.so[: len(self.right)], self.so[len(self.right) :]
        if begin.lower() == self.right.lower() and _ENDS_HERE.match(rest):
            return "", begin, rest
        return "The answer: ", self.right, f". {self.so}"

    def for_the_page(self) -> dict[str, object]:
        """Serialize for the page's script, as plain data; the answer is sealed, so that nobody reads it by chance."""
        known = {"right": self.right, "within": self.within, "so": self.so, "told": self.told}
        closed = sealed(json.dumps(known, ensure_ascii=False), self.id)
        drawn = {"scale": self.scale, "unit": self.unit} if self.kind in _ALSO else {}
        return {"id": self.id, "kind": self.kind, "options": list(self.options), "sealed": closed, **drawn}


def sealed(text: str, key: str) -> str:
    """A text that a reader of the page's source or of a notebook's file does not meet in words.

    It keeps no secret: a page judges by itself, so its script has all that opens this one
    (``kafkalearn/lab/kafkalearn-lab/predictions.js``).

    >>> sealed("negative", "c01-002"), sealed("negative", "c01-006")
    ('91rNxQ+zOms=', '9PkAq1Kxc90=')
    """
    state = java_string_hash(key) % 2**32
    return b64encode(bytes(each ^ byte for each, byte in zip(text.encode(), _bytes_from(state), strict=False))).decode()


def _bytes_from(state: int) -> Iterator[int]:
    """The bytes of a generator that two lines of any language have: Knuth's and Lewis', 32 bits."""
    while True:
        state = (1_664_525 * state + 1_013_904_223) % 2**32
        yield state >> 24


@cache
def all_predictions() -> Mapping[str, Prediction]:
    """Every question of the course, by the id of its cell.

    Raises
    ------
    KafkaLearnError
        If a file of them is damaged, or two have the same id: which, and what is wrong.
    """
    found: dict[str, Prediction] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise KafkaLearnError(f"{path.name} cannot be read: {error}") from error
        for cell, words in tables.items():
            if cell in found:
                raise KafkaLearnError(f"{path.name} asks at {cell} a second time; a cell asks once")
            found[cell] = _read(cell, words, path.name)
    return found


def _read(cell: str, words: Mapping[str, object], file: str) -> Prediction:
    kinds = [kind for kind in KINDS if kind in words]
    known = {*KINDS, "so", "within", "shown", "prose", *(_ALSO.get(kinds[0], ()) if kinds else ())}
    if len(kinds) != 1 or not isinstance(words.get("so"), str) or not words.keys() <= known:
        raise KafkaLearnError(
            f"{file}: {cell} has {', '.join(words)}; it must have one of {', '.join(KINDS)}, and so; "
            "within, shown and prose may be there"
        )
    (kind,) = kinds
    answer = words[kind]
    options, right = _drawn(cell, kind, words) if kind in _ALSO else _options(cell, kind, answer)
    ends = words.get("scale")
    return Prediction(
        id=cell,
        kind=kind,
        options=options,
        right=right,
        within=float(str(words.get("within", 0))),
        so=str(words["so"]),
        shown=_texts(words.get("shown", ())),
        prose=_texts(words.get("prose", ())),
        scale=(ends[0], ends[1]) if isinstance(ends, list) else None,
        unit=str(words.get("unit", "")),
    )


def _drawn(cell: str, kind: str, words: Mapping[str, object]) -> tuple[tuple[str, ...], str]:
    """The names of the marks or cells, and what is so."""
    if kind == "cells":
        cells, hit = _texts(words["cells"]), _texts(words.get("hit", ()))
        if len({*cells}) != len(cells) or not hit or not {*hit} <= {*cells} or len(hit) == len(cells):
            raise KafkaLearnError(
                f"{cell}: cells needs texts, each once, and hit some of them; {list(cells)}, {list(hit)} came"
            )
        return cells, ", ".join(each for each in cells if each in hit)
    marks, ends = words["marks"], words.get("scale")
    if not isinstance(marks, dict) or not marks or not isinstance(ends, list) or len(ends) != 2:
        raise KafkaLearnError(f"{cell}: marks needs names with numbers, and scale its two ends; {marks}, {ends} came")
    low, high = ends
    if not all(low <= number <= high and ", " not in name for name, number in marks.items()):
        raise KafkaLearnError(
            f"{cell}: each mark must lie on the scale from {low} to {high}, its name without a comma; {marks} came"
        )
    return tuple(marks), ", ".join(f"{name}: {number:,}".removeprefix(": ") for name, number in marks.items())


def _options(cell: str, kind: str, answer: object) -> tuple[tuple[str, ...], str]:
    """What readers see, in their order, and what is so."""
    if kind == "number":
        if _number(str(answer)) is None:
            raise KafkaLearnError(f"{cell}: a number is asked for, and {answer!r} is none")
        return (), str(answer)
    texts = _texts(answer)
    if len({*texts}) != len(texts) or len(texts) < 2:
        raise KafkaLearnError(f"{cell}: {kind} needs two texts or more, each once; {list(texts)} came")
    right = " > ".join(texts) if kind == "order" else texts[0]
    numbers = [_number(each.split()[0]) for each in texts]
    if kind != "order" and all(number is not None for number in numbers):
        return tuple(sorted(texts, key=lambda each: (_number(each.split()[0]) or 0, each))), right
    seen = sorted(texts, key=lambda each: sha256(f"{cell} {each}".encode()).digest())
    if kind == "order" and tuple(seen) == texts:
        seen = [*seen[1:], seen[0]]  # chance is not to give it away
    return tuple(seen), right


def _texts(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    return tuple(str(each) for each in given) if isinstance(given, Iterable) else ()


def _numbers(said: str) -> list[float | None]:
    """The numbers that a record says: of each mark what stands behind its name, or the one number that is all of it."""
    return [_number(each.rpartition(": ")[2]) for each in said.split(", ")]


def _number(text: str) -> float | None:
    """The number that a text is: 1,000 and 50 % and 3 x are numbers, too."""
    plain = text.replace(",", "").replace("%", "").rstrip("xX ").strip()
    try:
        return float(plain)
    except ValueError:
        return None
