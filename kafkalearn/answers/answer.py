"""What every question is answered with: an outcome, a few lines of plain words, and the same as data."""

from __future__ import annotations

import shutil
import textwrap
from enum import IntEnum

WIDTH, NARROWEST = 80, 40  # columns of text: as wide as the terminal, but no wider and no narrower than these


class Outcome(IntEnum):
    """How a question ended; the number is the exit code of the command.

    >>> int(Outcome.FOUND)
    1
    """

    FINE = 0  # answered, and there is nothing to worry about
    FOUND = 1  # answered, and something was found that needs a person
    CANNOT_TELL = 2  # the question cannot be answered from what was given


class Answer:
    """What an answer can do; the answers are frozen dataclasses that inherit from it.

    ``outcome`` is a field or a property. ``str(answer)`` is for a person: short plain words, no line wider than
    `text_width`. `as_data` is for a program. A notebook shows the words.
    """

    __slots__ = ()

    outcome: Outcome

    def as_data(self) -> dict[str, object]:
        """The answer as a dict that `json.dumps` takes as it is; its keys are stable."""
        raise NotImplementedError(f"{type(self).__name__} lacks as_data()")

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        """In a notebook, the words, line by line."""
        printer.text(str(self))


def text_width() -> int:
    """The columns that an answer's words may have: those of the terminal, at most 80.

    >>> NARROWEST <= text_width() <= WIDTH
    True
    """
    return max(NARROWEST, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))


def wrapped(text: str, indent: str = "", hanging: str | None = None) -> str:
    """A sentence over as many lines as it needs; a long name or path is cut only where it is wider than a line.

    Parameters
    ----------
    text : str
        A sentence; its own line breaks count as blanks.
    indent, hanging : str
        What begins the first line, and the others; None: blanks as wide as `indent`.

    Examples
    --------
    >>> print(wrapped("not committed: the member left before it could", indent="  - "))
      - not committed: the member left before it could
    """
    others = " " * len(indent) if hanging is None else hanging
    return textwrap.fill(
        " ".join(text.split()),
        text_width(),
        initial_indent=indent,
        subsequent_indent=others,
        break_on_hyphens=False,
        break_long_words=False,  # a path stays whole: it is copied
    )
