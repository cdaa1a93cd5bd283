"""A state taken apart for one step: its parts, each read and replaced by its place.

Most simulators replace fields of their state. Where a state is large and a search tries millions of steps, the step
works on `Parts` instead: whoever runs it can watch which parts it reads, and reuse the answer wherever these are the
same (`kafkalearn.explore`). The rules do not notice who is watching.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable


class Parts:
    """The parts of a state while a step is worked out.

    >>> parts = Parts(["leader", 7])
    >>> parts.write(1, parts.read(1) + 1)
    >>> parts.all()
    ('leader', 8)
    """

    __slots__ = ("_parts",)

    def __init__(self, parts: Iterable[Hashable]) -> None:
        """Begin with the parts as they are before the event."""
        self._parts = list(parts)

    def read(self, place: int) -> Hashable:
        """The part at a place."""
        return self._parts[place]

    def write(self, place: int, part: Hashable) -> None:
        """Replace the part at a place."""
        self._parts[place] = part

    def all(self) -> tuple[Hashable, ...]:
        """All parts as they are now."""
        return tuple(self._parts)
