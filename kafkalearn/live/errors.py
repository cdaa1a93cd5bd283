"""What can go wrong with a real Kafka; each message says what to do."""

from __future__ import annotations

from kafkalearn.errors import KafkaLearnError


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
