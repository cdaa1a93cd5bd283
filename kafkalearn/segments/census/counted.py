"""What is counted of some batches, whichever way they were read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from kafkalearn.segments.batches import Header

Row = tuple[Header, int, int, bytes | None, bytes | None]
Sized = tuple[int, int]  # negative size and offset, so that the largest comes first


class Block(Protocol):
    """Batches that lie behind each other; the records are those of applications, control records are none."""

    headers: list[Header]
    controls: dict[int, str | None]  # by index of a control batch what its record is; None: it was emptied

    @property
    def record_count(self) -> int:
        """How many records there are."""
        ...

    @property
    def null_key_count(self) -> int:
        """How many have no key."""
        ...

    @property
    def tombstone_count(self) -> int:
        """How many have no value."""
        ...

    @property
    def key_bytes(self) -> int:
        """All keys together."""
        ...

    @property
    def value_bytes(self) -> int:
        """All values together."""
        ...

    def largest(self, count: int) -> tuple[list[Sized], list[Sized]]:
        """The largest keys and the largest values, as `Sized`."""

    def rows(self) -> Iterator[Row]:
        """Of each record the header of its batch, offset, timestamp, key and value."""
