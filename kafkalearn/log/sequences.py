"""Sequence numbers: what a broker remembers of an idempotent producer, and how it judges the next batch.

Every batch carries the producer's id, its epoch, and a sequence number that counts the records for this partition
from 0. A broker keeps, for each producer, its epoch and the last five batches. It takes a batch that follows on,
recognises one of the five, and refuses whatever leaves a gap. `kafkalearn.log` and `kafkalearn.delivery` both judge
by this rule.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkalearn.base.checks import whole_number
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least

LAST_SEQUENCE = 2_147_483_647  # after it comes 0
NO_PRODUCER = -1  # the id in a batch of a producer that is not idempotent
NO_SEQUENCE = -1  # the producer has written nothing in its epoch
NONE = "NONE"  # no error
EXPIRATION_MS = 86_400_000  # producer.id.expiration.ms; before 3.4 transactional.id.expiration.ms, 7 days

OUT_OF_ORDER = "OUT_OF_ORDER_SEQUENCE_NUMBER"
UNKNOWN_PRODUCER = "UNKNOWN_PRODUCER_ID"
OLD_EPOCH = "INVALID_PRODUCER_EPOCH"
FENCED = "PRODUCER_FENCED"  # the same up to 2.6


class Stamp(NamedTuple):
    """What an idempotent producer writes on a batch."""

    producer_id: int
    producer_epoch: int
    first_sequence: int
    record_count: int = 1

    @property
    def last_sequence(self) -> int:
        """Of its last record; the coordinator that writes a consumer's transactional commits counts nothing."""
        has_none = self.first_sequence == NO_SEQUENCE
        return NO_SEQUENCE if has_none else after(self.first_sequence, self.record_count - 1)


class BatchMetadata(NamedTuple):
    """One of the last batches."""

    first_sequence: int
    last_sequence: int
    base_offset: int


class ProducerStateEntry(NamedTuple):
    """What a broker keeps of one producer."""

    producer_epoch: int
    batches: tuple[BatchMetadata, ...]  # the oldest first
    timestamp_ms: int = 0  # of the newest batch

    @property
    def last_sequence(self) -> int:
        """The newest sequence number it has written in its epoch; -1: none, a marker has raised the epoch."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE


class Verdict(NamedTuple):
    """What a broker does with a batch."""

    error: str = NONE
    duplicate_of: BatchMetadata | None = None  # it is there already: nothing is written, the old offset is answered

    @property
    def is_accepted(self) -> bool:
        """Whether it is to be written."""
        return self.error == NONE and self.duplicate_of is None


def after(sequence: int, count: int = 1) -> int:
    """The sequence number `count` records further on; it wraps to 0.

    >>> after(4), after(2_147_483_647)
    (5, 0)
    """
    return (sequence + count) % (LAST_SEQUENCE + 1)


def window_of(release: str = DEFAULT_RELEASE) -> int:
    """How many batches of a producer a broker remembers.

    >>> window_of("0.11.0"), window_of("1.0"), window_of()
    (1, 5, 5)
    """
    return 5 if at_least("1.0", release) else 1


def judge(entry: ProducerStateEntry | None, stamp: Stamp, release: str = DEFAULT_RELEASE) -> Verdict:
    """What a broker makes of a producer's batch.

    Parameters
    ----------
    entry : ProducerStateEntry or None
        What it remembers of the producer; None: it does not know the id.
    stamp : Stamp
        What is written on the batch.
    release : str
        Of the broker, 0.11 or later; without one, the newest line.

    Returns
    -------
    Verdict
        Accepted, recognised as a duplicate, or the error.

    Examples
    --------
    >>> known = ProducerStateEntry(0, (BatchMetadata(0, 0, 100), BatchMetadata(1, 1, 101)))
    >>> judge(known, Stamp(7, 0, 2)).is_accepted
    True
    >>> judge(known, Stamp(7, 0, 0)).duplicate_of
    BatchMetadata(first_sequence=0, last_sequence=0, base_offset=100)
    >>> judge(known, Stamp(7, 0, 3)).error
    'OUT_OF_ORDER_SEQUENCE_NUMBER'

    References
    ----------
    Apache Kafka 4.3, ``UnifiedLog.analyzeAndValidateProducerState`` and ``ProducerAppendInfo``; KIP-98, KIP-360.
    """
    whole_number("first_sequence", stamp.first_sequence, at_least=0)
    if entry is None:
        return _judge_unknown(stamp, release)
    if stamp.producer_epoch == entry.producer_epoch:
        for known in entry.batches:
            if known[:2] == (stamp.first_sequence, stamp.last_sequence):
                return Verdict(duplicate_of=known)
        if not entry.batches and not at_least("2.5", release):
            return _judge_unknown(stamp, release, unknown_since="2.0.1")  # it is known from a marker alone
        follows = stamp.first_sequence == after(entry.last_sequence)
        return Verdict() if follows else Verdict(OUT_OF_ORDER)
    if stamp.producer_epoch < entry.producer_epoch:
        return Verdict(old_epoch(release))
    return Verdict() if stamp.first_sequence == 0 else Verdict(OUT_OF_ORDER)


def old_epoch(release: str = DEFAULT_RELEASE) -> str:
    """The error for a batch or a marker with an older epoch than the broker knows.

    >>> old_epoch("2.6"), old_epoch()
    ('PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH')
    """
    return OLD_EPOCH if at_least("2.7", release) else FENCED


def _judge_unknown(stamp: Stamp, release: str, unknown_since: str = "1.0") -> Verdict:
    """A producer whose sequence numbers the broker does not know: it may have been deleted with its last records."""
    if stamp.first_sequence == 0 or at_least("2.5", release):
        return Verdict()
    return Verdict(UNKNOWN_PRODUCER if at_least(unknown_since, release) else OUT_OF_ORDER)


def remember(
    entry: ProducerStateEntry | None,
    stamp: Stamp,
    base_offset: int,
    timestamp_ms: int = 0,
    release: str = DEFAULT_RELEASE,
) -> ProducerStateEntry:
    """What a broker remembers once it has written a batch: a new epoch forgets the old one's batches.

    >>> entry = None
    >>> for sequence in range(7):
    ...     entry = remember(entry, Stamp(7, 0, sequence), base_offset=sequence)
    >>> [known.first_sequence for known in entry.batches]
    [2, 3, 4, 5, 6]
    """
    older = entry.batches if entry is not None and entry.producer_epoch == stamp.producer_epoch else ()
    newest = BatchMetadata(stamp.first_sequence, stamp.last_sequence, base_offset)
    return ProducerStateEntry(stamp.producer_epoch, (*older, newest)[-window_of(release) :], timestamp_ms)


def is_forgotten(entry: ProducerStateEntry, now_ms: int, expiration_ms: int = EXPIRATION_MS) -> bool:
    """Whether a broker drops what it remembers of a producer that has long been silent.

    >>> entry = remember(None, Stamp(7, 0, 0), base_offset=0, timestamp_ms=1000)
    >>> is_forgotten(entry, 86_400_999), is_forgotten(entry, 86_401_000)
    (False, True)
    """
    return now_ms - entry.timestamp_ms >= expiration_ms
