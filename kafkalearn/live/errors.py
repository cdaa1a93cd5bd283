"""What can go wrong with a real Kafka, each message says what to do; and waiting for what takes a while: `wait_for`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.wire import Undecodable


class KafkaNotFetched(KafkaLearnError):  # noqa: N818  (named for what it is, as IllegalEvent is)
    """The jars of a released Kafka are not there and could not be fetched."""


class KafkaNotStarted(KafkaLearnError):  # noqa: N818
    """A real Kafka could not be started here; everything else in kafkalearn works without it."""


class NoAnswer(KafkaLearnError):  # noqa: N818
    """A broker cannot be reached, or has not answered in time."""


class NotReached(KafkaLearnError):  # noqa: N818
    """What was waited for has not come about in time; the message has what was there at last."""


class NotThere(KafkaLearnError):  # noqa: N818
    """A replica or a file is not on a broker's disk, or not yet."""


class Refused(KafkaLearnError):  # noqa: N818
    """A broker has answered with an error; `error` is Kafka's name for it."""

    def __init__(self, message: str, error: str) -> None:
        """The message is whole; `error` repeats the name that it has."""
        super().__init__(message)
        self.error = error


# Waiting, always with an end: for a state of a cluster, never for a time.

Seen = TypeVar("Seen")

INTERVAL_S = 0.02
TIMEOUT_S = 60.0  # that a busy machine does not need: it is the state that is waited for

NOT_YET = (NoAnswer, Refused, NotThere, Undecodable, OSError)
"""What a look may raise while something is under way: a file is renamed, a leader is missing."""


def wait_for(
    look: Callable[[], Seen], wanted: object, what: str = "the wanted state", timeout_s: float = TIMEOUT_S
) -> Seen:
    """Poll until what is seen is what is wanted, or time out.

    Parameters
    ----------
    look : callable
        What is seen now; where a broker gives no answer or an error, nothing is.
    wanted : object
        The value itself, or a function that says whether a value will do.
    what : str
        As the error names it.
    timeout_s : float
        After which it is an error.

    Returns
    -------
    object
        What was seen at last.

    Raises
    ------
    NotReached
        If it has not come about in time; the message has what was seen at last.

    Examples
    --------
    >>> numbers = iter(range(10))
    >>> wait_for(lambda: next(numbers), wanted=3)
    3
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            seen = look()
            if wanted(seen) if callable(wanted) else seen == wanted:
                return seen
        except NOT_YET as error:
            seen = error
        if time.monotonic() > deadline:
            expected = "" if callable(wanted) else f" {wanted!r}"
            raise NotReached(f"{what}{expected} has not come about in {timeout_s:.0f} s; at last there was: {seen!r}")
        time.sleep(INTERVAL_S)
