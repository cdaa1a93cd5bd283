"""The records of many batches in columns, a field of all of them in each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafkalearn.segments.batches import Bytes, Header
from kafkalearn.segments.census.counted import Row, Sized

ROWS_AT_A_TIME = 10_000  # made into Python's objects

Array = np.ndarray


class Odd(ValueError):  # noqa: N818  (named for what the block is)
    """Something in the block is not as nearly always; plain Python has to look at it."""


class Columns(NamedTuple):
    """Of each record the fields; a length of -1 is null."""

    offset: Array
    timestamp_ms: Array
    key_start: Array
    key_length: Array
    value_start: Array
    value_length: Array


@dataclass(slots=True)
class ColumnBlock:
    """A block as `kafkalearn.segments.census.counted.Block` describes it, in columns."""

    headers: list[Header]
    controls: dict[int, str | None]
    buffer: Bytes  # in which keys and values lie
    batch: Array  # of each record, the index of its batch
    columns: Columns

    @property
    def record_count(self) -> int:
        """How many records there are."""
        return len(self.columns.offset)

    @property
    def null_key_count(self) -> int:
        """How many have no key."""
        return int((self.columns.key_length < 0).sum())

    @property
    def tombstone_count(self) -> int:
        """How many have no value."""
        return int((self.columns.value_length < 0).sum())

    @property
    def key_bytes(self) -> int:
        """The bytes of all keys."""
        return int(np.maximum(self.columns.key_length, 0).sum())

    @property
    def value_bytes(self) -> int:
        """The bytes of all values."""
        return int(np.maximum(self.columns.value_length, 0).sum())

    def largest(self, count: int) -> tuple[list[Sized], list[Sized]]:
        """As `Block` says."""
        return _largest(self.columns.key_length, self.columns.offset, count), _largest(
            self.columns.value_length, self.columns.offset, count
        )

    def rows(self) -> Iterator[Row]:
        """As `Block` says."""
        headers, buffer = self.headers, self.buffer
        for first in range(0, self.record_count, ROWS_AT_A_TIME):
            part = (each[first : first + ROWS_AT_A_TIME].tolist() for each in (self.batch, *self.columns))
            for batch, offset, timestamp_ms, key_start, key_length, value_start, value_length in zip(
                *part, strict=True
            ):
                key = None if key_length < 0 else buffer[key_start : key_start + key_length]
                value = None if value_length < 0 else buffer[value_start : value_start + value_length]
                yield headers[batch], offset, timestamp_ms, key, value


def _largest(lengths: Array, offsets: Array, count: int) -> list[Sized]:
    there = lengths >= 0
    if there.sum() > count:
        least = np.partition(lengths, len(lengths) - count)[len(lengths) - count]
        there &= lengths >= least
    picked = np.nonzero(there)[0]
    best = picked[np.lexsort((offsets[picked], -lengths[picked]))][:count]
    return [(-int(lengths[each]), int(offsets[each])) for each in best]
