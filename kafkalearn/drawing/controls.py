"""Controls as data: what a reader may change beside a picture, rendered by one script in a notebook and on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafkalearn.base.errors import KafkaLearnError

_FORMS = (
    "give text, True or False, a whole number, (low, high) or (low, high, start) of whole numbers, slider(...), "
    "or a list of choices"
)


@dataclass(frozen=True, slots=True)
class Control:
    """One control: its kind, its name, and what it may stand at.

    Attributes
    ----------
    name : str
        The argument of the drawing function that it sets.
    kind : str
        ``"text"``, ``"tick"``, ``"number"``, ``"slider"`` or ``"choice"``.
    first : object
        What it stands at in the beginning.
    low, high : int
        The ends of a slider.
    options : tuple of object
        Those of a choice.
    words : tuple of (int, str)
        Values of a slider that mean something else, and what they mean.
    """

    name: str
    kind: str
    first: object
    low: int = 0
    high: int = 0
    options: tuple[object, ...] = ()
    words: tuple[tuple[int, str], ...] = ()

    @property
    def label(self) -> str:
        """The name as a reader sees it."""
        return self.name.replace("_", " ")

    @property
    def for_page(self) -> dict[str, object]:
        """Serialize the control for the script: plain data for JSON. A choice goes by its position."""
        data: dict[str, object] = {"name": self.name, "kind": self.kind, "label": self.label}
        if self.kind == "slider":
            data |= {"low": self.low, "high": self.high, "words": {str(value): words for value, words in self.words}}
        if self.kind == "choice":
            data["options"] = [spelt(option) for option in self.options]
        return data

    def to_page(self, value: object) -> object:
        """Serialize a value for the page."""
        return _position(self.options, value) if self.kind == "choice" else value

    def from_page(self, value: object) -> object:
        """Parse a value that the page has sent; an invalid one is refused as by `checked`."""
        if self.kind != "choice":
            return self.checked(value)
        if type(value) is not int or not 0 <= value < len(self.options):
            raise KafkaLearnError(f"{self.name} has {len(self.options)} choices, got number {value!r}")
        return self.options[value]

    def checked(self, value: object) -> object:
        """Validate a value of the control.

        >>> control("marked", (0, 49)).checked(50)
        Traceback (most recent call last):
            ...
        kafkalearn.base.errors.KafkaLearnError: marked goes from 0 to 49, got 50
        """
        if self.kind == "choice":
            if _position(self.options, value) is None:
                choices = ", ".join(map(spelt, self.options))
                raise KafkaLearnError(f"{self.name} is one of {choices}, got {value!r}")
            return value
        kind = {"text": str, "tick": bool}.get(self.kind, int)
        if type(value) is not kind:
            wanted = {str: "text", bool: "True or False", int: "a whole number"}[kind]
            raise KafkaLearnError(f"{self.name} takes {wanted}, got {value!r}")
        if isinstance(value, int) and self.kind == "slider" and not self.low <= value <= self.high:
            raise KafkaLearnError(f"{self.name} goes from {self.low} to {self.high}, got {value}")
        return value

    def shown(self, value: object) -> str:
        """The value as a reader sees it: its word, if it means something else.

        >>> slider(0, 10, words={0: "default"}).named("retention_days").shown(0)
        'default'
        """
        names: dict[object, str] = dict(self.words)
        return names.get(value) or spelt(value)


@dataclass(frozen=True, slots=True)
class Slider:
    """A slider that has no name yet; see `slider`."""

    low: int
    high: int
    start: int
    words: tuple[tuple[int, str], ...]

    def named(self, name: str) -> Control:
        """The control of this name."""
        return Control(name, "slider", self.start, self.low, self.high, words=self.words)


def slider(low: int, high: int, start: int | None = None, words: Mapping[int, str] | None = None) -> Slider:
    """A slider of whole numbers for `vary`, some of which may mean something else.

    Parameters
    ----------
    low, high, start : int
        The ends, and where it stands first: at `low` unless given.
    words : mapping of int to str, optional
        What stands in place of a number.

    Raises
    ------
    KafkaLearnError
        If these are no whole numbers in order, or a word belongs to no number of the slider.

    Examples
    --------
    >>> slider(0, 10, words={0: "default"}).named("retention_days").for_page["words"]
    {'0': 'default'}
    """
    start = low if start is None else start
    if any(type(each) is not int for each in (low, high, start)) or not low <= start <= high:
        raise KafkaLearnError(f"a slider needs whole numbers low <= start <= high, got {low!r}, {start!r}, {high!r}")
    words = dict(words or {})
    outside = [value for value in words if type(value) is not int or not low <= value <= high]
    if outside:
        raise KafkaLearnError(f"the slider goes from {low} to {high} and never stands at {outside[0]!r}")
    return Slider(low, high, start, tuple(words.items()))


def control(name: str, wanted: object) -> Control:
    """The control for a short form: see `kafkalearn.drawing.widgets.vary` for the forms.

    >>> control("broker_count", (1, 8, 3)).kind
    'slider'
    """
    match wanted:  # the order matters: True is an int too, and a list of two numbers is a choice
        case list() if wanted:
            return Control(name, "choice", wanted[0], options=tuple(wanted))
        case bool():
            return Control(name, "tick", wanted)
        case int():
            return Control(name, "number", wanted)
        case str():
            return Control(name, "text", wanted)
        case Slider():
            return wanted.named(name)
        case (int(), int()) | (int(), int(), int()):
            try:
                return slider(*wanted).named(name)
            except KafkaLearnError as error:
                raise KafkaLearnError(f"control {name}={wanted!r}: {error}") from None
    raise KafkaLearnError(f"control {name}={wanted!r}: {_FORMS}")


def check_values(controls: Sequence[Control], values: Mapping[str, object]) -> None:
    """Raise KafkaLearnError if there is no control of such a name, or if one cannot stand at its value."""
    by_name = {each.name: each for each in controls}
    for name, value in values.items():
        if name not in by_name:
            raise KafkaLearnError(f"there is no control {name!r}; there are {', '.join(by_name)}")
        by_name[name].checked(value)


def spelt(value: object) -> str:
    """A value in words: yes and no for True and False.

    >>> spelt(True), spelt(3), spelt("crc32")
    ('yes', '3', 'crc32')
    """
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _position(options: tuple[object, ...], value: object) -> int | None:
    """Where a value stands; True is not 1 here."""
    return next((at for at, each in enumerate(options) if type(each) is type(value) and each == value), None)
