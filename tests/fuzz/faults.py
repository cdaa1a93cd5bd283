"""What was found: a call that ended as no call may, told once for each place where it went wrong."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from kafkalearn.base.errors import KafkaLearnError, shown
from tests.fuzz.limits import NeverEnds, time_limit
from tests.project.modules import ROOT

MOST_ITEMS = 1000  # taken of what is given one by one


def documented_errors(function: object) -> set[str]:
    """The errors, beside those of the library, of which the docstring of a function speaks."""
    return set(re.findall(r"\b[A-Z]\w*(?:Error|Interrupt|Iteration)\b", getattr(function, "__doc__", None) or ""))


def as_text(name: str, arguments: Mapping[str, object]) -> str:
    """A call as one would write it, long values cut."""
    return f"{name}({', '.join(f'{key}={shown(value, longest=100)}' for key, value in arguments.items())})"


@dataclass
class Faults:
    """The faults of one part, and how much was tried."""

    tried: int = 0
    refused: int = 0
    found: dict[str, str] = field(default_factory=dict)  # by the place where it went wrong: what was called

    def attempt(self, call: str, function: Callable[[], object], may_raise: set[str] = frozenset()) -> list[object]:
        """Call a function within the limits: what it gave, in a list; nothing if it was refused or went wrong."""
        self.tried += 1
        try:
            with time_limit():
                result = function()
                return [list(islice(result, MOST_ITEMS)) if isinstance(result, Iterator) else result]
        except KafkaLearnError as error:
            self.refused += 1
            str(error)
        except (Exception, NeverEnds) as error:
            if type(error).__name__ not in may_raise:
                self.note(f"{place_of(error)}: {type(error).__name__}", f"{call}: {str(error)[:150]}")
        return []

    def note(self, what: str, call: str) -> None:
        """Keep a fault, if none of its kind was found before."""
        self.found.setdefault(what, call)


def place_of(error: BaseException) -> str:
    """The line of the library at which an error came up, in `function`."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "tests/fuzz" not in frame.filename]
    if not frames:
        return "?"
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(ROOT / "kafkalearn")] or frames
    last = own[-1]
    path = Path(last.filename)
    return f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name}:{last.lineno} in {last.name}"
