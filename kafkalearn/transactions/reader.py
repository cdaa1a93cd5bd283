"""What read_committed and read_uncommitted get of a partition, the last stable offset, and which lag reaches 0.

A poll delivers data records and passes over the rest: markers always, and with ``read_committed`` the records of
aborted transactions. Each of them takes an offset, so the *position* moves further than what was delivered. How far a
poll may go is the high watermark, or with ``read_committed`` the last stable offset (LSO).

Three numbers are called lag. The tool `kafka-consumer-groups.sh` takes the *committed* offset from the *high
watermark*, whatever the reader's isolation level; the client's metric ``records-lag`` takes its *position* from the end
that it may read to; and a user means the records that are still to come.

Source: `CompletedFetch`, `SubscriptionState.partitionLag` and `ConsumerGroupCommand` of the clients 4.3,
`Partition.fetchOffsetForTimestamp` of the broker, read. Which transactions are aborted and where the LSO is, recorded.

>>> from kafkalearn.transactions import EndTxn, InitProducerId, MarkerArrived, Produce, Settings, simulate
>>> events = [InitProducerId("x"), Produce("x", "t-0", 0, 0, 0), EndTxn("x", 0, 0), MarkerArrived("x", "t-0")]
>>> log = simulate(Settings(), events)[-1].state.partition("t-0")
>>> poll(log, max_records=1).position, poll(log).position  # the marker at offset 1 is passed by the next poll
(1, 2)
>>> lag(log, position=2, committed=1).by_the_tool  # an application that commits the offset behind its last record
1
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.base.checks import one_of, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import Trace
from kafkalearn.transactions.model import Aborted, Batch, Cluster, Event, Partition

READ_COMMITTED, READ_UNCOMMITTED = "read_committed", "read_uncommitted"
ISOLATION_LEVELS = (READ_UNCOMMITTED, READ_COMMITTED)
"""The values of ``isolation.level``; Kafka's default is the first."""

ABORTED = "aborted"
"""Why a record is passed over; of a marker it is its kind, COMMIT or ABORT."""

MAX_POLL_RECORDS = 500


@dataclass(frozen=True)
class PolledRecords:
    """What one poll of a partition gave: records with their offsets, the position after it, and what it passed over."""

    records: tuple[tuple[int, object], ...]
    position: int
    passed: tuple[tuple[int, str], ...]
    """Offsets that were not delivered, each with `ABORTED` or the kind of its marker."""


@dataclass(frozen=True)
class Lag:
    """How far a reader is behind, by three ways to count; and who holds it back, if somebody does."""

    by_the_tool: int
    """High watermark minus committed offset: what `kafka-consumer-groups.sh` prints."""
    by_the_client: int
    """The end that it may read to minus its position: the consumer's metric ``records-lag``."""
    records_to_come: int
    """Data records that it will be given, if every transaction that is open now is committed."""
    held_back: int
    """Offsets between the last stable offset and the high watermark; 0 with ``read_uncommitted``."""
    held_by: int | None
    """The producer id whose open transaction began first; None where nobody holds it back."""


def readable_to(partition: Partition, isolation_level: str = READ_COMMITTED) -> int:
    """The offset that a reader of this isolation level cannot reach: the last stable offset, or the high watermark."""
    one_of("isolation.level", isolation_level, ISOLATION_LEVELS)
    return partition.last_stable_offset if isolation_level == READ_COMMITTED else partition.end_offset


def poll(
    partition: Partition,
    position: int = 0,
    isolation_level: str = READ_COMMITTED,
    max_records: int = MAX_POLL_RECORDS,
) -> PolledRecords:
    """One poll from a position on, as the Java client takes its fetched batches apart.

    The client is given the aborted transactions as pairs of producer id and first offset. It keeps the producer ids
    whose aborted transaction has begun, drops their batches, and lets a producer id go at its ABORT marker.

    Parameters
    ----------
    partition : Partition
        Of a state of `kafkalearn.transactions`.
    position : int
        The offset that is asked for, not beyond the end.
    isolation_level : str
        One of `ISOLATION_LEVELS`.
    max_records : int
        ``max.poll.records``: after so many the position is behind the last of them, and a marker there waits for the
        next poll.

    Raises
    ------
    KafkaLearnError
        If the position is beyond the end of the log: a broker answers OFFSET_OUT_OF_RANGE.
    """
    whole_number("position", position, at_least=0)
    whole_number("max_records", max_records, at_least=1)
    if position > partition.end_offset:
        raise KafkaLearnError(
            f"position {position} is beyond the end of {partition.name}, {partition.end_offset}: a broker answers "
            "OFFSET_OUT_OF_RANGE; ask for an offset from 0 to the end"
        )
    end = readable_to(partition, isolation_level)
    records: list[tuple[int, object]] = []
    passed: list[tuple[int, str]] = []
    begun: set[int] = set()
    to_begin = _sent_along(partition, position, isolation_level)
    for batch in partition.batches:
        while to_begin and to_begin[0].first_offset <= batch.last_offset:
            begun.add(to_begin.pop(0).producer_id)
        if batch.kind != "data":
            if batch.kind == "ABORT":
                begun.discard(batch.producer_id)
            if position <= batch.offset < end:
                passed.append((batch.offset, batch.kind))
                position = batch.offset + 1
            continue
        is_aborted = batch.is_transactional and batch.producer_id in begun
        for offset, record in enumerate(batch.records, start=batch.offset):
            if not position <= offset < end:
                continue
            if is_aborted:
                passed.append((offset, ABORTED))
            else:
                records.append((offset, record))
            position = offset + 1
            if len(records) == max_records:
                return PolledRecords(tuple(records), position, tuple(passed))
    return PolledRecords(tuple(records), position, tuple(passed))


def _sent_along(partition: Partition, position: int, isolation_level: str) -> list[Aborted]:
    """The aborted transactions that a fetch from here gets, by their first offset: those that end at it or later."""
    if isolation_level == READ_UNCOMMITTED:
        return []
    return sorted(
        (each for each in partition.aborted if each.last_offset >= position), key=lambda each: each.first_offset
    )


def lag(
    partition: Partition, position: int, committed: int | None = None, isolation_level: str = READ_COMMITTED
) -> Lag:
    """How far behind a reader is that stands at a position and has committed an offset (its position, if not given).

    >>> from kafkalearn.transactions import InitProducerId, Produce, Settings, simulate
    >>> plain = Produce(None, "t-0", is_transactional=False)
    >>> events = [InitProducerId("x"), Produce("x", "t-0", 0, 0, 0), plain, plain, plain]
    >>> log = simulate(Settings(), events)[-1].state.partition("t-0")
    >>> lag(log, position=0)
    Lag(by_the_tool=4, by_the_client=0, records_to_come=4, held_back=4, held_by=0)
    """
    end = readable_to(partition, isolation_level)
    passes = (ABORTED,) if isolation_level == READ_COMMITTED else ()
    to_come = [
        offset
        for batch in partition.batches
        if batch.kind == "data" and fate(partition, batch) not in passes
        for offset in range(batch.offset, batch.last_offset + 1)
        if offset >= position
    ]
    holder = open_first(partition) if end < partition.end_offset else None
    return Lag(
        by_the_tool=partition.end_offset - (position if committed is None else committed),
        by_the_client=end - position,
        records_to_come=len(to_come),
        held_back=partition.end_offset - end,
        held_by=None if holder is None else holder[0],
    )


def open_first(partition: Partition) -> tuple[int, int] | None:
    """Producer id and first offset of the open transaction that began first here; None where none is open."""
    found = [(each.first_offset, each.producer_id) for each in partition.producers if each.first_offset >= 0]
    return None if not found else (min(found)[1], min(found)[0])


def written_ms(trace: Trace[Cluster, Event], name: str) -> dict[int, int]:
    """When each batch of a partition was written, by its first offset: the clock of the broker in the run."""
    known: dict[int, int] = {}
    for frame in trace:
        partition = frame.state.partition(name)
        for batch in () if partition is None else partition.batches:
            known.setdefault(batch.offset, frame.state.now_ms)
    return known


def offset_for_time(
    trace: Trace[Cluster, Event], name: str, at_ms: int, isolation_level: str = READ_COMMITTED
) -> int | None:
    """The offset that ListOffsets answers for a time: of the first batch that is not older, or None.

    The broker looks at batches, not at what a reader will be given: the answer may be a marker or a record of an
    aborted transaction. And for ``read_committed`` an answer at the last stable offset or beyond it counts as none,
    although the record is there.

    Raises
    ------
    KafkaLearnError
        If the run has no such partition.

    Examples
    --------
    >>> from kafkalearn.transactions import InitProducerId, Produce, Settings, TimePassed, simulate
    >>> events = [InitProducerId("x"), TimePassed(1000), Produce("x", "t-0", 0, 0, 0)]
    >>> trace = simulate(Settings(), events)
    >>> [offset_for_time(trace, "t-0", 500, each) for each in ISOLATION_LEVELS]
    [0, None]
    """
    partition = trace[-1].state.partition(name)
    if partition is None:
        names = ", ".join(each.name for each in trace[-1].state.partitions)
        raise KafkaLearnError(f"the run has no partition {name!r}; it has {names}")
    known = written_ms(trace, name)
    found = next((batch.offset for batch in partition.batches if known[batch.offset] >= at_ms), None)
    return None if found is None or found >= readable_to(partition, isolation_level) else found


def fate(partition: Partition, batch: Batch) -> str:
    """What a ``read_committed`` reader makes of a batch: ``read``, ``aborted``, ``open``, ``held back``, COMMIT, ABORT.

    ``open``: its own transaction has not ended. ``held back``: it lies beyond the last stable offset, and could be read
    but for another transaction. The last two are the kind of a marker.
    """
    if batch.kind != "data":
        return batch.kind
    if batch.is_transactional:
        known = partition.producer(batch.producer_id)
        if known is not None and 0 <= known.first_offset <= batch.offset:
            return "open"
        if any(
            each.producer_id == batch.producer_id and each.first_offset <= batch.offset <= each.last_offset
            for each in partition.aborted
        ):
            return ABORTED
    return "held back" if batch.offset >= partition.last_stable_offset else "read"
