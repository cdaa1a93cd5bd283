"""Code of a student's, run within bounds: lines of Python, and characters printed. Nothing here looks at a clock.

So the same function gets the same sentence on a slow machine, in a notebook and in a page of the book.

What is beyond it: one step in C that does not come back (``10**10**9``, ``time.sleep(1e9)``, some patterns of `re`),
or that takes all memory; what is printed past `sys.stdout`; and threads that the code starts, for only the thread of
the check is bounded. A generator runs when it is read: who reads it here does so within bounds.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import TypeVar

from kafkalearn.exercises.kit.given.line_counting import TooManyLines, line_counter

Value = TypeVar("Value")

LINES = 3_000_000
CHARACTERS = 100_000


class Spent(Exception):  # noqa: N818  (it says what happened; no fault of the library)
    """A bound was reached; the message goes on after "it"."""


class Bounds:
    """What some code may still do; calls with the same bounds share what is left.

    Parameters
    ----------
    lines : int
        Lines of Python that may be run; `LINES` if not said.
    characters : int
        How much may be printed; `CHARACTERS` if not said.

    Examples
    --------
    >>> def never_ends():
    ...     while True:
    ...         pass
    >>> Bounds(lines=1000).run(never_ends)
    Traceback (most recent call last):
    ...
    kafkalearn.exercises.kit.given.limits.Spent: was stopped after 1,000 lines of Python: a loop in it may never end
    """

    def __init__(self, lines: int | None = None, characters: int | None = None) -> None:
        """Nothing of it is used up yet."""
        self.lines = LINES if lines is None else lines
        self.characters = CHARACTERS if characters is None else characters
        self._counter = line_counter(self.lines)
        self._room = self.characters

    def run(self, function: Callable[..., Value], *arguments: object) -> Value:
        """What the function returns. What it prints is shown when it has ended.

        Raises
        ------
        Spent
            If a bound was reached. The function's own exceptions pass through, `SystemExit` as well.
        """
        printed = _Printed(self._room)
        try:
            with redirect_stdout(printed), redirect_stderr(printed):
                return self._counter.run(function, *arguments)
        except TooManyLines:
            words = f"was stopped after {self.lines:,} lines of Python: a loop in it may never end"
        except _TooMuchPrinted:
            words = f"was stopped after it had printed {self.characters:,} characters: a loop in it may never end"
        finally:
            self._room -= len(printed.getvalue())
            print(printed.getvalue(), end="", flush=True)
        raise Spent(words)


class _TooMuchPrinted(BaseException):
    """Raised by `print` in the code, and again each time that it prints."""


class _Printed(io.StringIO):
    """Takes what is printed, up to so many characters."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def write(self, text: str) -> int:
        room = self.most - self.tell()
        super().write(text[:room])
        if len(text) > room:
            raise _TooMuchPrinted
        return len(text)
