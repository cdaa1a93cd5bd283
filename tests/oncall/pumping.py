"""Texts that make a regular expression work hardest: its own pieces, each over and over again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, groupby
from re import _constants as op  # no part of the language says what an expression is made of
from re import _parser

LARGE = 64 * 1024
"""Characters of a line, as the reader takes them at most."""

_CLASSES = {
    op.CATEGORY_DIGIT: "1",
    op.CATEGORY_NOT_DIGIT: "x",
    op.CATEGORY_WORD: "x",
    op.CATEGORY_NOT_WORD: "-",
    op.CATEGORY_SPACE: " ",
    op.CATEGORY_NOT_SPACE: "x",
}
NO_PART = "\0"
"""Behind a pumped piece: no expression goes on with it."""


def pumped(expression: str, flags: int = 0) -> Iterator[Callable[[int], str]]:
    """Lines of any size for one expression: each piece alone, behind what must stand before it, and with each other.

    >>> [make(8) for make in pumped("ab(c+)")][:3]
    ['abababab', 'abababa\\x00', 'ab\\x00ab\\x00ab']
    """
    seen: set[str] = set()
    for walk in map(_pieces, _walks(_parser.parse(expression, flags))):
        for make in _lines(walk):
            if (line := make(SAMPLE)) not in seen:
                seen.add(line)
                yield make
                yield lambda size, make=make: make(size - 1) + NO_PART


def _lines(walk: list[str]) -> Iterator[Callable[[int], str]]:
    pieces = [*dict.fromkeys(walk)]
    fronts = [*dict.fromkeys("".join(walk[:at]) for at in range(1, len(walk) + 1))]
    spans = [*dict.fromkeys("".join(walk[at:end]) for at in range(len(walk)) for end in range(at + 1, len(walk)))]
    for piece in [*(each + end for each in pieces for end in ("", NO_PART)), *fronts, *spans[:MOST_SPANS]]:
        yield partial(filled, piece)
    for front in fronts:
        for piece in pieces:
            yield lambda size, front=front, piece=piece: front + filled(piece, size - len(front))
    for one, two in combinations(pieces, 2):
        yield lambda size, one=one, two=two: filled(one, size // 2) + filled(two, size // 2)


MOST_SPANS = 60
SAMPLE = 600  # characters that tell one line from another


def filled(piece: str, size: int) -> str:
    """A piece over and over, so many characters in all."""
    return (piece * (size // len(piece) + 1))[:size]


def pieces_of(expression: str) -> set[str]:
    """The texts of which an expression is made."""
    return {piece for walk in _walks(_parser.parse(expression)) for piece in _pieces(walk)}


Walk = tuple[tuple[str, bool], ...]  # pieces of a text that an expression fits, and whether each is a letter of its own


def _walks(tree: Sequence) -> list[Walk]:
    """Texts that an expression fits: one for each branch of each choice, the first branch of all others in it."""
    walks: list[Walk] = [()]
    for kind, value in tree:
        first = walks[0]
        ways = _ways(kind, value)
        walks = [(*walk, *ways[0]) for walk in walks] + [(*first, *way) for way in ways[1:]]
    return walks


def _ways(kind: object, value: object) -> list[Walk]:
    match kind:
        case op.LITERAL:
            return [((chr(value), True),)]
        case op.NOT_LITERAL | op.ANY | op.IN:
            return [((_one_of(kind, value), False),)]
        case op.BRANCH:
            return [way for branch in value[1] for way in _walks(branch)]
        case op.SUBPATTERN:
            return _walks(value[3])
        case op.ATOMIC_GROUP:
            return _walks(value)
        case op.MAX_REPEAT | op.MIN_REPEAT | op.POSSESSIVE_REPEAT:
            times = max(1, value[0])
            return [(("".join(text for text, _ in way) * times, False),) for way in _walks(value[2])]
        case op.ASSERT if value[0] > 0:
            return _walks(value[1])
    return [()]


def _pieces(walk: Walk) -> list[str]:
    """Letters that follow each other are one piece."""
    found: list[str] = []
    for is_letter, run in groupby(walk, key=lambda each: each[1]):
        texts = [text for text, _ in run if text]
        found += ["".join(texts)] if is_letter else texts
    return [each for each in found if each]


def _one_of(kind: object, value: object) -> str:
    """A character that a class has."""
    if kind is op.ANY:
        return "x"
    if kind is op.NOT_LITERAL:
        return "x" if value != ord("x") else "y"
    (first, what), *others = value
    if first is op.NEGATE:
        return next(each for each in "x1 -,=/" if not any(_has(kind, inner, each) for kind, inner in others))
    return _CLASSES[what] if first is op.CATEGORY else chr(what[0] if first is op.RANGE else what)


def _has(kind: object, value: object, character: str) -> bool:
    if kind is op.CATEGORY:
        return (_CLASSES[value] == character) if character in "1 -" else _CLASSES[value] == "x"
    low, high = value if kind is op.RANGE else (value, value)
    return low <= ord(character) <= high
