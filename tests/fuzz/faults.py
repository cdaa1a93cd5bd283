"""What was found: a call that ended as no call may, told once for each place where it went wrong."""

from __future__ import annotations

import faulthandler
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from kafkalearn.base.errors import KafkaLearnError, shown
from tests.project.modules import ROOT

# What a call may use: ten seconds of the processor and a gigabyte; beyond that it counts as one that never ends.
#
# Seconds of the processor, not of the clock: a busy machine is no fault. What does not even return to Python is ended
# by a watchdog, after two minutes by the clock.


try:
    import resource
    import signal

    HAS_LIMITS = hasattr(signal, "setitimer")
except ImportError:  # Windows: there only the watchdog
    HAS_LIMITS = False

PROCESSOR_SECONDS = 10
MEMORY_BYTES = 1 << 30
WATCHDOG_SECONDS = 120


class NeverEnds(BaseException):
    """A call used more of the processor than any that ends."""


def limit_memory() -> None:
    """Let this process have a gigabyte and no more: beyond it, MemoryError."""
    if HAS_LIMITS:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))


@contextmanager
def time_limit() -> Iterator[None]:
    """Raise NeverEnds in what takes too long; what does not even return to Python ends the process."""
    faulthandler.dump_traceback_later(WATCHDOG_SECONDS, exit=True)
    if HAS_LIMITS:
        signal.signal(signal.SIGPROF, _end)
        signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS)
    try:
        yield
    finally:
        if HAS_LIMITS:
            signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()


def _end(*_: object) -> None:
    raise NeverEnds


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
