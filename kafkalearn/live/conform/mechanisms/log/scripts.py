"""Scripts of what happens to one log, as cases of JSON, and what each of their lines means.

A case has the topic's ``policy``, the ``dirty_ratio`` that the cleaner waits for, and ``events``, each a list of its
kind and these words:

``append``: ms since the line before, a producer's number or None, whether it is transactional, a codec, and records as
key, value and by how many ms its timestamp is off; ``end``: a producer's number, whether its transaction is committed,
whether the marker raises its epoch; ``epoch``: a producer's number: it begins a new epoch; ``roll``: a record comes
whose timestamp closes the active segment; ``clean``: how many of the long pauses of the script are too young for the
cleaner, and delete.retention.ms; ``retain``: how many long pauses are young enough to stay, or None, and how many bytes
may stay, or None; ``delete``: records up to an offset, -1: to the high watermark; ``offsets``: ListOffsets is
asked for its ends and for times after the begin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies

from kafkalearn.live.conform.mechanism import Case
from kafkalearn.live.requests.record_batches import NewRecord, encode_batch
from kafkalearn.log.events import NewBatch
from kafkalearn.log.sequences import NO_PRODUCER
from kafkalearn.segments.compression import CODECS

KEYS = "abcd"
BEGAN_AGO_MS = 3_000_000
"""A script begins so long before it is played: its records are old enough for the cleaner."""
LONG_PAUSE_MS = 60_000
PAUSES_MS = (0, 10, 400, 1200, LONG_PAUSE_MS)
MOST_EVENTS = 30  # of them no script is as long as `BEGAN_AGO_MS`
CLOSING_AFTER_MS = 2 * BEGAN_AGO_MS - 500_000  # a closing record is newer than all others, and less than an hour ahead
CLOSING_STEP_MS = 2_000
CLOSING_KEY = "zz"
SEGMENT_MS = 1_000
AT_ONCE_MS, LATER_MS, MUCH_LATER_MS = RETENTIONS_MS = (0, 1, 10**9)
"""Values of delete.retention.ms: a horizon has passed when the next pass comes, or it has not for days."""
TIMES_ASKED_MS = (0, 10, 400, 1200, LONG_PAUSE_MS, 61_200, 120_400, CLOSING_AFTER_MS)
PRODUCER_COUNT = 3
FIRST_PRODUCER_ID = 7001


@dataclass(frozen=True)
class Write:
    """A batch is sent."""

    batch: NewBatch

    @property
    def data(self) -> bytes:
        """As the producer sends it."""
        return encoded(self.batch)


@dataclass(frozen=True)
class End:
    """The transaction coordinator writes a marker."""

    producer_id: int
    producer_epoch: int
    is_commit: bool


@dataclass(frozen=True)
class Pass:
    """The cleaner may take what is older than a time."""

    before_ms: int | None  # None: of any age
    delete_retention_ms: int


@dataclass(frozen=True)
class Retention:
    """Old segments may go."""

    before_ms: int | None  # what is older; None: age does not matter
    bytes_left: int | None


@dataclass(frozen=True)
class DeleteRecords:
    """Records are deleted up to an offset."""

    offset: int


@dataclass(frozen=True)
class OffsetsAsked:
    """ListOffsets is asked: for both ends, for the largest timestamp, and for some times."""

    times_ms: tuple[int, ...]


Step = Write | End | Pass | Retention | DeleteRecords | OffsetsAsked


def steps_of(case: Case, began_ms: int) -> Iterator[Step]:
    """What the lines of a script mean if it began at a time; the same for broker and simulator."""
    at_ms, closing_ms = began_ms, began_ms + CLOSING_AFTER_MS
    pauses: list[int] = []  # in the middle of each long one
    stamps = {number: [0, 0] for number in range(PRODUCER_COUNT)}  # epoch and next sequence
    for kind, *words in case["events"]:
        if kind == "append":
            pause_ms, number, is_transactional, codec, rows = words
            if pause_ms == LONG_PAUSE_MS:
                pauses.append(at_ms + pause_ms // 2)
            at_ms += pause_ms
            records = tuple((key, value, at_ms + off_ms) for key, value, off_ms in rows)
            yield Write(_batch(records, number, stamps, is_transactional, codec))
        elif kind == "roll":
            yield Write(NewBatch(((CLOSING_KEY, "closing", closing_ms),)))
            closing_ms += CLOSING_STEP_MS
        elif kind == "end":
            number, is_commit, raises_epoch = words
            if raises_epoch:
                stamps[number] = [stamps[number][0] + 1, 0]
            yield End(FIRST_PRODUCER_ID + number, stamps[number][0], is_commit)
        elif kind == "epoch":
            stamps[words[0]] = [stamps[words[0]][0] + 1, 0]
        elif kind == "clean":
            yield Pass(_pause(pauses, words[0]), words[1])
        elif kind == "retain":
            yield Retention(None if words[0] is None else _pause(pauses, words[0]), words[1])
        elif kind == "delete":
            yield DeleteRecords(words[0])
        else:
            yield OffsetsAsked(tuple(began_ms + after_ms for after_ms in words[0]))


def _pause(pauses: list[int], count: int) -> int | None:
    """The moment that has so many long pauses behind it; None: as many there are not, so any time will do."""
    return pauses[-count] if 0 < count <= len(pauses) else None


def _batch(
    records: tuple, number: int | None, stamps: dict[int, list[int]], is_transactional: bool, codec: str
) -> NewBatch:
    stamp: dict[str, Any] = {}
    if number is not None:
        epoch, sequence = stamps[number]
        stamp = {"producer_id": FIRST_PRODUCER_ID + number, "producer_epoch": epoch, "base_sequence": sequence}
        stamp["is_transactional"] = is_transactional
        stamps[number][1] += len(records)
    batch = NewBatch(records, **stamp)
    if codec == "none":
        return batch
    return NewBatch(records, len(encoded(batch, codec)), **stamp, codec=codec)


def encoded(batch: NewBatch, codec: str | None = None) -> bytes:
    """A batch as a producer sends it."""
    rows: list[NewRecord] = [(_bytes(key), _bytes(value), at_ms) for key, value, at_ms in batch.records]
    if batch.producer_id == NO_PRODUCER:
        return encode_batch(rows, codec=codec or batch.codec)
    return encode_batch(
        rows, batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.is_transactional,
        codec or batch.codec,
    )  # fmt: skip


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def records(keys: Any) -> Any:
    """A strategy of the records of one batch: some of them tombstones, some older than those before."""
    values = strategies.sampled_from(["v", "w" * 40, "", None])
    off_ms = strategies.sampled_from([0, 0, 0, -5, -700])
    return strategies.lists(strategies.tuples(keys, values, off_ms).map(list), min_size=1, max_size=4)


def appends(keys: Any, codecs: tuple[str, ...] = CODECS) -> Any:
    """A strategy of batches: of nobody in particular, of idempotent producers, in transactions."""
    number = strategies.none() | strategies.integers(0, PRODUCER_COUNT - 1)
    words = (strategies.sampled_from(PAUSES_MS), number, strategies.booleans(), strategies.sampled_from(codecs))
    return strategies.tuples(strategies.just("append"), *words, records(keys)).map(list)


def asked() -> Any:
    """A strategy of questions of the offsets for times."""
    at_ms = strategies.sampled_from(TIMES_ASKED_MS)
    return line("offsets", strategies.lists(at_ms, min_size=1, max_size=3))


def line(kind: str, *words: Any) -> Any:
    """A strategy of lines of one kind."""
    return strategies.tuples(strategies.just(kind), *words).map(list)
