"""What a setting accepts: the range or the values that its ConfigDef allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """What a setting accepts, as its ConfigDef says; further checks of the program are not in it.

    >>> print(Limit(minimum=1), Limit(0, 100), Limit(values=("none", "gzip")), Limit(is_empty_refused=True), sep="; ")
    at least 1; 0 to 100; one of none, gzip; not empty
    """

    minimum: int | float | None = None
    maximum: int | float | None = None
    values: tuple[str, ...] = ()  # of a list setting: what may be in the list; whether case matters is not recorded
    is_empty_refused: bool = False
    form: str = ""  # anything else, in Kafka's own notation

    def __str__(self) -> str:
        """The limit in a few words."""
        return limit_text(self)

    def admits(self, other: Limit | None) -> bool:
        """Whether everything that `other` accepts is accepted here, too; None is no limit.

        >>> Limit(minimum=0).admits(Limit(minimum=1)), Limit(minimum=1).admits(None)
        (True, False)
        """
        if other is None:
            return self == Limit()
        return (
            (self.minimum is None or (other.minimum is not None and other.minimum >= self.minimum))
            and (self.maximum is None or (other.maximum is not None and other.maximum <= self.maximum))
            and (not self.values or (bool(other.values) and set(other.values) <= set(self.values)))
            and (not self.is_empty_refused or other.is_empty_refused)
            and self.form in ("", other.form)
        )


def limit_text(limit: Limit | None, number_text: Callable[[int | float], str] = str) -> str:
    """A limit in a few words, its numbers written by `number_text`.

    >>> limit_text(None)
    'no limit stated'
    """
    if limit is None or limit == Limit():
        return "no limit stated"
    low, high = ("" if bound is None else number_text(bound) for bound in (limit.minimum, limit.maximum))
    parts = [
        f"{low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}" if high else "",
        f"one of {', '.join(limit.values)}" if limit.values else "",
        "not empty" if limit.is_empty_refused else "",
        limit.form,
    ]
    return "; ".join(filter(None, parts))
