"""The parts of a recorded history, each as it must be: what is missing or of another type is refused in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from kafkalearn.base.checks import LARGEST_LONG, mapping, sequence, text, whole_number
from kafkalearn.base.errors import KafkaLearnError, listed, shown

PARTS = ("kafka", "transaction.version", "config", "ids", "groups", "partitions", "steps")
MOST_PARTITIONS = 1000  # of the topic ``t``: every observer asks for each of them after each step
MOST_TIMES = 100_000  # that a step asks again: three times as often as there are epochs


class StepFields(Mapping[str, Any]):
    """What a step asks with; its name is in every refusal.

    >>> StepFields("EndTxn", {"id": "x"})["commit"]
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: a step EndTxn has a field 'commit', and this one has 'id'
    """

    def __init__(self, do: str, fields: object) -> None:
        """Take the fields as they came, ``q`` of the step."""
        self.do = do
        self._fields = mapping(f"q of a step {do}", fields, of="field to value")

    def __getitem__(self, name: str) -> Any:
        """The value of a field."""
        if name not in self._fields:
            has = listed(map(repr, self._fields), nothing="none")
            raise KafkaLearnError(f"a step {self.do} has a field {name!r}, and this one has {has}")
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the fields that it has."""
        return map(str, self._fields)

    def __len__(self) -> int:
        """How many fields it has."""
        return len(self._fields)

    def __contains__(self, name: object) -> bool:
        """Whether it has a field."""
        return name in self._fields

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a field, or `default` where the step does not say it."""
        return self._fields.get(name, default)

    def whole(self, name: str, at_least: int = 0, at_most: int = LARGEST_LONG) -> int:
        """A whole number."""
        return whole_number(f"{name} of a step {self.do}", self[name], at_least, at_most)

    def texts(self, name: str) -> tuple[str, ...]:
        """Names in a row."""
        what = f"{name} of a step {self.do}"
        return tuple(text(what, each) for each in sequence(what, self[name], of="names"))

    def offsets(self, name: str) -> tuple[tuple[str, int], ...]:
        """What is committed, by partition."""
        what = f"{name} of a step {self.do}"
        given = mapping(what, self[name], of="partition to offset")
        return tuple((text(what, at), whole_number(what, offset, -LARGEST_LONG)) for at, offset in given.items())


def producer_name(name: object) -> str | int:
    """A producer id as a history names it: P0, P1 ..., U0 ... for one that nobody has, or a number, -1 for none."""
    if isinstance(name, str) and name[:1] in ("P", "U") and name[1:].isascii() and name[1:].isdecimal():
        if len(name) <= len(str(LARGEST_LONG)):
            return name
    elif isinstance(name, int) and not isinstance(name, bool):
        return whole_number("pid", name, -LARGEST_LONG)
    raise KafkaLearnError(f"pid must be a name as 'P0' or 'U0', or a whole number, got {shown(name)}")


def checked(history: object) -> Mapping[str, Any]:
    """A history that has its parts, each of its type; its steps have ``do`` and ``q``.

    Raises
    ------
    KafkaLearnError
        If it has not.
    """
    given: Mapping[Any, Any] = mapping("a history", history, of="part to value, as a recorder writes it")
    missing = [each for each in PARTS if each not in given]
    if missing:
        raise KafkaLearnError(f"a history has {', '.join(missing)}, and this one has not")
    text("kafka", given["kafka"])
    mapping("config", given["config"], of="setting to value")
    for name in ("ids", "groups"):
        for each in sequence(name, given[name], of="names"):
            text(name, each)
    whole_number("partitions", given["partitions"], 1, MOST_PARTITIONS)
    for number, each in enumerate(sequence("steps", given["steps"], of="steps")):
        step: Mapping[Any, Any] = mapping(f"step {number}", each, of="'do', 'v' and 'q' to their values")
        if lacks := [part for part in ("do", "q") if part not in step]:
            raise KafkaLearnError(f"a step has do and q, and step {number} has no {listed(lacks)}")
        text("do", step["do"])
        StepFields(step["do"], step["q"])
        if step.get("v") is not None:
            whole_number(f"v of step {number}", step["v"], 0, 2**15 - 1)
    return given


def first_marker_epochs(step: Mapping[str, Any]) -> list[int]:
    """The coordinator's epochs that an observer saw after a step; of what is no such row there is none."""
    now = step.get("now", {})
    if not isinstance(now, Mapping):
        _refuse_now(now)
    rows = [one for key, seen in now.items() if str(key).startswith("producers") for one in sequence(key, seen)]
    found = []
    for each in rows:
        row = sequence("now of a step, what an observer saw of a producer,", each)
        if len(row) < 4:
            _refuse_now(row)
        found.append(whole_number("the coordinator's epoch", row[3], -1))
    return found


def _refuse_now(came: object) -> NoReturn:
    raise KafkaLearnError(
        f"now of a step is what an observer saw, its producers in rows of five; got {shown(came)}: leave now out"
    )
