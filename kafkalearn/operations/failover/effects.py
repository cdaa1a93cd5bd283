"""What clients asked and heard in a second; other effects are those of `kafkalearn.operations.coordinator_life`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heard:
    """A client has asked a broker; `error` is what it heard, and `then` what it makes of it."""

    client: str
    broker_id: int
    api: str
    error: str
    then: str
