"""Code with known faults, and each fault's repair as a change of text: find-the-bug exercises from one source."""

from __future__ import annotations

import inspect
import linecache
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FaultyCode:
    """A function that is wrong in ways that are known.

    Parameters
    ----------
    function : callable
        Its source must run on its own, with `math` alone imported.
    repairs : tuple of (str, str)
        For each fault the text with it and the text without it.

    Examples
    --------
    >>> def half(n):
    ...     return n / 2
    >>> code = FaultyCode(half, (("n / 2", "n // 2"),))
    >>> code.function(5), code.repaired()(5)
    (2.5, 2)
    """

    function: Callable[..., object]
    repairs: tuple[tuple[str, str], ...]

    @property
    def source(self) -> str:
        """The faulty function as text, for the student to copy."""
        return inspect.getsource(self.function)

    def repaired(self, *numbers: int) -> Callable[..., object]:
        """The function with the repairs of these numbers (from 0) made, or with all of them."""
        source = self.source
        for number in numbers or range(len(self.repairs)):
            source = source.replace(*self.repairs[number])
        name = f"<{self.function.__name__} with repairs {numbers or 'all'}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)  # so that it can be shown
        namespace: dict[str, Any] = {"math": math, "__name__": __name__}
        exec(compile(source, name, "exec"), namespace)  # our own text, a few lines changed
        return namespace[self.function.__name__]

    def diff(self) -> str:
        """All repairs in Markdown, as lines taken out and put in."""
        lines = (f"- {faulty.strip()}\n+ {fixed.strip()}" for faulty, fixed in self.repairs)
        return "```diff\n" + "\n\n".join(lines) + "\n```"
