"""What happens to timers: they are set and cancelled, and time passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.fields import Checked, Millis


@dataclass(frozen=True, slots=True)
class Add(Checked):
    """A timer is set `delay_ms` from now; one of a name that is waiting already is moved."""

    name: str
    delay_ms: int


@dataclass(frozen=True, slots=True)
class Cancel(Checked):
    """A timer is no longer needed: it is taken out of its bucket."""

    name: str


@dataclass(frozen=True, slots=True)
class Flush(Checked):
    """The first due bucket is emptied; the real time is `now_ms`."""

    now_ms: Millis


@dataclass(frozen=True, slots=True)
class Advance(Checked):
    """The real time moves on to `to_ms`, and all buckets due by then are emptied, one after the other."""

    to_ms: Millis


WheelEvent: TypeAlias = Add | Cancel | Flush | Advance
