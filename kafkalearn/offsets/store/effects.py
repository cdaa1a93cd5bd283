"""What a step of the coordinator's store led to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    error: str = "NONE"
    offset: int | None = None  # to a fetch; -1: nothing is committed
