"""Recorded answers to questions: a function, what it is given of each row, and what the row says it gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from kafkalearn.base.errors import KafkaLearnError
from tests.replay.values import decoded, hints_of, in_order, look, named, shown

LACKS = object()


class Asked(NamedTuple):
    """One question, with the answer that was recorded; of `gives` and `fails` one is None or LACKS."""

    call: str
    given: dict[str, Any]
    gives: Any
    fails: Any
    has_order: bool

    def answer(self) -> Any:
        """What ours says, in the shape of what was recorded; a refusal is compared here."""
        function = named(self.call)
        hints = hints_of(function)
        given = {name: decoded(value, hints.get(name, object)) for name, value in self.given.items()}
        if self.fails is not LACKS:
            with pytest.raises(KafkaLearnError) as refused:
                function(**given)
            return self.fails if self.fails in str(refused.value) else str(refused.value)
        return shown(function(**given), self.gives)

    def compare(self) -> None:
        """Fail where ours says another thing."""
        ours, recorded = self.answer(), self.gives if self.fails is LACKS else self.fails
        if not self.has_order:
            ours, recorded = in_order(ours), in_order(recorded)
        assert ours == recorded, (self.call, self.given)


def asked_of(row: Any, asks: list[dict[str, Any]], whole: Mapping[str, Any]) -> Iterator[Asked]:
    """The questions that a row answers: those whose columns it has, and that are of its kind."""
    for ask in asks:
        if any(look(row, name) not in values for name, values in ask.get("where", {}).items()):
            continue
        if any(name not in row for name in ask.get("has", ())):
            continue
        for inner in _rows_inside(row, ask.get("over")):
            given = filled(ask["with"], inner, whole)
            gives, fails = (filled(ask.get(name, LACKS), inner, whole) for name in ("gives", "fails"))
            if given is not LACKS and (gives is LACKS) != (fails is LACKS):
                yield Asked(ask["call"], given, gives, fails, not ask.get("unordered", False))


def _rows_inside(row: Any, over: str | None) -> Iterator[Any]:
    """The row; or one for each entry of one of its columns, which has it as ``key`` and ``value`` beside the rest."""
    if over is None:
        yield row
        return
    column = look(row, over)
    for key, value in column.items() if isinstance(column, dict) else enumerate(column):
        yield {**row, "key": key, "value": value}


def filled(template: Any, row: Any, whole: Mapping[str, Any]) -> Any:
    """A template with the row's columns where it says ``$column``, the file's at ``$$name``; LACKS if one is not there.

    ``$`` is the whole row, ``$one|other`` the first of two that is there. ``$column?`` may be missing: what it stands
    for is left out then, too.
    """
    if isinstance(template, dict):
        found = {name: filled(each, row, whole) for name, each in template.items()}
        kept = {name: each for name, each in found.items() if not (each is LACKS and _may_lack(template[name]))}
        return LACKS if LACKS in kept.values() else kept
    if isinstance(template, list):
        found = [filled(each, row, whole) for each in template]
        return LACKS if LACKS in found else found
    if not isinstance(template, str) or not template.startswith("$"):
        return template
    if template == "$":
        return row
    source, paths = (whole, template[2:]) if template.startswith("$$") else (row, template[1:].removesuffix("?"))
    for path in paths.split("|"):
        try:
            return look(source, path)
        except (KeyError, IndexError, ValueError):
            continue
    return LACKS


def _may_lack(template: Any) -> bool:
    return isinstance(template, str) and template.endswith("?")
