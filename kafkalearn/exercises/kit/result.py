"""What a check says: an outcome and sentences, as plain text and as Markdown, the same on every machine."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    sentences : tuple of str
        What is said after the headline, one thought each.

    Examples
    --------
    >>> Result(WRONG, ("The partition is not right.",))
    Not right yet. The partition is not right.
    >>> bool(Result(RIGHT)), bool(Result(OPEN))
    (True, False)
    """

    outcome: str
    sentences: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether the answer is right."""
        return self.outcome == RIGHT

    def __repr__(self) -> str:
        """Headline and first sentence in one line, each further sentence in its own."""
        first, *others = (_HEADLINES[self.outcome], *self.sentences)
        return "\n".join((" ".join((first, *others[:1])), *others[1:]))

    def _repr_markdown_(self) -> str:
        return "\n\n".join((" ".join((f"**{_HEADLINES[self.outcome]}**", *self.sentences[:1])), *self.sentences[1:]))

    def adding(self, *sentences: str) -> Result:
        """The same outcome with more said."""
        return replace(self, sentences=(*self.sentences, *sentences))


@dataclass(frozen=True, slots=True, repr=False)
class Note:
    """A text in Markdown that a notebook renders and a terminal prints.

    >>> Note("Hint 1 of 2: look at the *sign*.")
    Hint 1 of 2: look at the *sign*.
    """

    text: str

    def __repr__(self) -> str:
        """The text itself, as a terminal shows it."""
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text
