"""A value as text, as a notebook writes it: containers that are too long for a line get a line for each item."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from types import MappingProxyType

WIDTH = 79
MOST_ITEMS = 1000


def pretty(value: object) -> str:
    """The text of a value.

    >>> pretty({"a": 1}), pretty((1,)), pretty("text")
    ("{'a': 1}", '(1,)', "'text'")
    >>> print(pretty({"numbers": list(range(10)), "again": list(range(10, 25))}))
    {'numbers': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
     'again': [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]}
    """
    return _laid_out(value, 0, 0, 0, ())


def _laid_out(value: object, indent: int, column: int, behind: int, inside: tuple[int, ...]) -> str:
    """The text of a value that begins at `column`; its items are indented as those of what it stands in, and more.

    `behind` characters follow on its last line.
    """
    flat = repr(value)
    if "\n" not in flat and column + len(flat) + behind <= WIDTH and _is_shown_whole(value):
        return flat
    ends = _ends(value)
    if ends is None or id(value) in inside:
        return flat
    opening, closing = ends
    is_single = isinstance(value, tuple) and len(value) == 1
    closing = "," * is_single + closing
    indent, column = indent + len(opening), column + len(opening)
    lines, left = [], len(value)
    for label, item in _items(value):
        left -= 1
        follows = 1 if left else behind + len(closing)
        lines.append(label + _laid_out(item, indent, column + len(label), follows, (*inside, id(value))))
        column = indent
        if len(lines) == MOST_ITEMS and left:
            lines.append("...")
            break
    return opening + (",\n" + " " * indent).join(lines) + closing


def _is_shown_whole(value: object) -> bool:
    return not hasattr(value, "__len__") or isinstance(value, str) or len(value) <= MOST_ITEMS


def _ends(value: object) -> tuple[str, str] | None:
    """What stands before and after the items, or None for what has no items to show in lines."""
    return _ENDS[type(value)] if type(value) in _ENDS and value else None


def _items(value: object) -> Iterator[tuple[str, object]]:
    """Each item with what stands before it."""
    if isinstance(value, dict | MappingProxyType):
        ordered = value.most_common() if isinstance(value, Counter) else value.items()
        yield from ((f"{key!r}: ", item) for key, item in ordered)
    elif isinstance(value, set | frozenset):
        try:
            yield from (("", item) for item in sorted(value))
        except TypeError:
            yield from (("", item) for item in value)
    else:
        yield from (("", item) for item in value)


_ENDS = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    dict: ("{", "}"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    deque: ("deque([", "])"),
    Counter: ("Counter({", "})"),
    MappingProxyType: ("mappingproxy({", "})"),
}
