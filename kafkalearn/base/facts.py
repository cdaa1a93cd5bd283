"""Events and effects that say themselves: a class is declared once, with the sentence that its captions have.

``class BrokerCrashed(Event, says="broker {broker_id} crashes")`` is a frozen dataclass, and `in_words` renders what it
says. What stands behind the colon of a field is a format of Python's, or a word of ours. Where a sentence depends on
the state, or on more than the fields, the caption of the picture matches on the class and needs no `says`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, ClassVar, dataclass_transform

from kafkalearn.base.checks import Checked
from kafkalearn.base.durations import whole_units
from kafkalearn.base.errors import capitalised, counted, listed


def cut_name(name: str, most: int) -> str:
    """Truncate a name in the middle, since names differ at their ends.

    >>> cut_name("billing-0", 30), cut_name("consumer-billing-7-a9c1d07e", most=15)
    ('billing-0', 'consume…a9c1d07e')
    """
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-((most + 1) // 2) :]}"


def span(offsets: Sequence[int]) -> str:
    """Format offsets that follow each other by the first and the last.

    >>> span((4,)), span((4, 5, 6))
    ('4', '4 to 6')
    """
    return str(offsets[0]) if len(offsets) == 1 else f"{offsets[0]} to {offsets[-1]}"


_WORDS: dict[str, Callable[[Any], str]] = {
    "span": span,
    "s": lambda things: "" if len(things) == 1 else "s",
    "are": lambda things: "is" if len(things) == 1 else "are",
    "come": lambda count: "comes" if count == 1 else "come",
    "broker": lambda broker_id: "nobody" if broker_id is None else f"broker {broker_id}",
    "listed": listed,
    "commas": lambda things: ", ".join(map(str, things)),
    "duration": whole_units,
}
"""What may stand behind the colon of a field, as in ``{offsets:span}``; beside these ``{count:of record}``, of a number
or of things that are counted, and ``{name:cut 20}``."""


class _Sentence(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        kind, _, rest = format_spec.partition(" ")
        if kind == "of":
            return counted(value if isinstance(value, int) else len(value), rest)
        if kind == "cut":
            return cut_name(str(value), int(rest))
        return _WORDS[format_spec](value) if format_spec in _WORDS else format(value, format_spec)


@dataclass_transform(frozen_default=True)
class Effect:
    """What a step led to: a frozen, hashable dataclass, with its sentence where it has one of its own.

    >>> class Skipped(Effect, says="offset{offsets:s} {offsets:span} of {topic} {offsets:are} passed over"):
    ...     topic: str
    ...     offsets: tuple[int, ...]
    >>> Skipped("orders", (3, 4))
    Skipped(topic='orders', offsets=(3, 4))
    >>> in_words(Skipped("orders", (3, 4)))
    'offsets 3 to 4 of orders are passed over'
    >>> Skipped.__doc__
    'Offset{offsets:s} {offsets:span} of {topic} {offsets:are} passed over.'
    """

    says: ClassVar[str] = ""

    def __init_subclass__(cls, says: str = "", **more: object) -> None:
        """Make the class a frozen dataclass; its sentence documents it where nothing else does."""
        super().__init_subclass__(**more)
        cls.says = says or cls.says
        cls.__doc__ = cls.__doc__ or f"{capitalised(says)}."
        dataclass(frozen=True)(cls)


class Event(Checked, Effect):
    """What may happen: as `Effect`, and its fields are validated against their annotations when one is made.

    >>> class TopicDeleted(Event, says="topic {topic} is deleted"):
    ...     topic: str
    >>> in_words(TopicDeleted("orders"))
    'topic orders is deleted'
    >>> TopicDeleted(7)
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: topic must be a str, got int 7
    """


def in_words(fact: object) -> str:
    """Render the sentence of an event or effect, without its end; "" if it declares none.

    >>> in_words("no event")
    ''
    """
    return _Sentence().vformat(fact.says, (), vars(fact)) if isinstance(fact, Effect) else ""
