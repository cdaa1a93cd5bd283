"""What the exercises of chapter 08 write: one record a time, and the hours and days in which they do it."""

from __future__ import annotations

from kafkalearn.log import Append, NewBatch

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def put(key: str, value: str | None, at_ms: int = 0) -> Append:
    """A record in a batch of its own; None is a tombstone.

    >>> put("anna", None).batches[0].records
    (('anna', None, 0),)
    """
    return Append((NewBatch(((key, value, at_ms),)),))
