"""What a check says: an outcome and sentences, as plain text, Markdown and HTML, the same on every machine."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kafkalearn.exercises.kit.sentences import Block, Said, ours

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
    sentences : tuple of str, Sentence or Block
        What is said after the headline, one thought each. A str is Markdown of ours, without values in it.

    Examples
    --------
    >>> Result(WRONG, ("The partition is not right.",))
    Not right yet. The partition is not right.
    >>> bool(Result(RIGHT)), bool(Result(OPEN))
    (True, False)
    """

    outcome: str
    sentences: tuple[Said | str, ...] = ()

    def __bool__(self) -> bool:
        """Whether the answer is right."""
        return self.outcome == RIGHT

    def __repr__(self) -> str:
        """Headline and first sentence in one line, each further sentence in its own."""
        return "\n".join(self._paragraphs(self.headline, "plain"))

    @property
    def headline(self) -> str:
        """The outcome in words."""
        return _HEADLINES[self.outcome]

    @property
    def html(self) -> str:
        """What a page shows: paragraphs, and the student's values as text in them."""
        paragraphs = self._paragraphs(f"<strong>{self.headline}</strong>", "html")
        return "\n".join(each if each.startswith("<pre>") else f"<p>{each}</p>" for each in paragraphs)

    def _repr_html_(self) -> str:
        return self.html

    def _repr_markdown_(self) -> str:
        return "\n\n".join(self._paragraphs(f"**{self.headline}**", "markdown"))

    def _paragraphs(self, headline: str, form: str) -> list[str]:
        """Headline and first sentence together, then one for each sentence; a block stands alone."""
        said = [ours(each) if isinstance(each, str) else each for each in self.sentences]
        beside = 0 if not said or isinstance(said[0], Block) else 1
        first = " ".join((headline, *(getattr(each, form) for each in said[:beside])))
        return [first, *(getattr(each, form) for each in said[beside:])]

    def adding(self, *sentences: Said | str) -> Result:
        """The same outcome with more said."""
        return replace(self, sentences=(*self.sentences, *sentences))


@dataclass(frozen=True, slots=True, repr=False)
class Note:
    """A text of ours in Markdown that a notebook renders and a terminal prints.

    >>> Note("Hint 1 of 2: look at the *sign*.")
    Hint 1 of 2: look at the *sign*.
    """

    text: str

    def __repr__(self) -> str:
        """The text itself, as a terminal shows it."""
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text
