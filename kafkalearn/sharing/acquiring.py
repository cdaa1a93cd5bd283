"""Acquisition: which records a member gets, in which ranges, with which delivery count, under an acquisition lock.

The log gives whole batches. What is in flight is given again if nobody holds it; what is not is new. Near the limit of
deliveries fewer are given at a time, so that one record that no program can read does not take others with it.

Source: `SharePartition.acquire`, `acquireNewBatchRecords`, `createBatches`, `acquireSubsetBatchRecords`,
`filterAbortedTransactionalAcquiredRecords` of 4.4.0, read; smaller deliveries: apache#20837; record limit: KIP-1206.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kafkalearn.sharing import in_flight
from kafkalearn.sharing.events import RECORD_LIMIT, Range
from kafkalearn.sharing.model import ACQUIRED, AVAILABLE, Batch, Held, InFlight, SharePartition

MINIMUM_THROTTLE = 2
"""Below so many deliveries none is made smaller."""


@dataclass(frozen=True)
class Wish:
    """What a fetch wants of a share-partition, and the settings that hold for it now."""

    member: str
    mode: str
    batch_size: int
    max_records: int
    delivery_limit: int
    max_locks: int
    lock_ms: int

    @property
    def is_strict(self) -> bool:
        """Whether not one record more than asked for may be acquired."""
        return self.mode == RECORD_LIMIT

    @property
    def throttle(self) -> int:
        """From so many deliveries on the next one is smaller."""
        return max(MINIMUM_THROTTLE, -(-self.delivery_limit // 2))

    def holds(self, held: Held) -> Held:
        """The state of what the member acquires."""
        return Held(ACQUIRED, held.count + 1, self.member, self.lock_ms)


@dataclass(frozen=True)
class Acquired:
    """What came of it: the share-partition, the ranges that the answer has, and what counts against the request."""

    share: SharePartition
    ranges: tuple[Range, ...] = ()
    count: int = 0


def acquire(share: SharePartition, wish: Wish, fetch_offset: int, read: tuple[Batch, ...]) -> Acquired:
    """What a member gets of the batches that were read at an offset."""
    if wish.max_records <= 0 or not read or read[-1].last_offset < share.start_offset:
        return Acquired(share)
    last, room = _last_and_room(share, wish, fetch_offset, read[-1].last_offset)
    if room <= 0:
        return Acquired(share)
    share = in_flight.without_compacted(share, fetch_offset, read[0].base_offset)
    begins = read[0].base_offset
    floor = share.floor(begins)
    if floor is None:
        begins = max(begins, share.start_offset)
    elif floor.last >= begins:
        begins = floor.first
    known = share.between(min(read[0].base_offset, begins), last)
    if not known:
        got = _new(share, wish, read, begins, last, room)
    else:
        got = _again(share, wish, read, known, begins, last, room)
        if got.ranges:
            got = replace(got, share=in_flight.gap_read_to(got.share, got.ranges[-1][1] + 1))
    return got


def _last_and_room(share: SharePartition, wish: Wish, fetch_offset: int, last: int) -> tuple[int, int]:
    room = min(wish.max_records, wish.max_locks - share.in_flight_count)
    if room <= 0 and fetch_offset <= share.end_offset:
        return min(last, share.end_offset), min(wish.max_records, share.end_offset - fetch_offset + 1)
    return last, room


# What is in flight already.


def _again(
    share: SharePartition, wish: Wish, read: tuple[Batch, ...], known: tuple[InFlight, ...], begins: int, last: int,
    room: int,
) -> Acquired:  # fmt: skip
    got = Acquired(share)
    first, gap_start = read[0].base_offset, begins
    for batch in known:
        if got.count >= room:
            break
        if got.share.has_gap:
            if gap_start < batch.first:
                got = _joined(got, _new(got.share, wish, read, gap_start, batch.first - 1, room - got.count))
            gap_start = batch.last + 1
            if got.count >= room:
                break
        is_small = _is_throttled(batch, wish, first, last)
        if is_small and got.count:
            room = 0
            break
        is_inside = first <= batch.first and batch.last <= last
        is_too_long = wish.is_strict and len(batch) > room - got.count
        if batch.whole is not None and not batch.whole.can_be_acquired:
            continue
        if is_inside and batch.whole is not None and not is_too_long and not is_small:
            held = wish.holds(batch.whole)
            whole = Acquired(
                got.share.having(replace(batch, whole=held)), ((batch.first, batch.last, held.count),), len(batch)
            )
            got = _joined(got, whole)
            continue
        some = _of_a_batch(got.share, wish, batch.split(), first, last, room - got.count)
        got = _joined(got, some)
        if is_small and some.count:
            room = 0
            break
    if got.count < room and known[-1].last < last:
        got = _joined(got, _new(got.share, wish, read, known[-1].last + 1, last, room - got.count))
    return got


def _joined(got: Acquired, more: Acquired) -> Acquired:
    return Acquired(more.share, (*got.ranges, *more.ranges), got.count + more.count)


def _is_throttled(batch: InFlight, wish: Wish, first: int, last: int) -> bool:
    """Whether a batch has a record that was delivered so often that fewer are delivered at a time."""
    if batch.whole is not None:
        return batch.whole.can_be_acquired and batch.whole.count >= wish.throttle
    counts = (held.count for offset, held in batch.items() if first <= offset <= last and held.can_be_acquired)
    return max(counts, default=0) >= wish.throttle


def _of_a_batch(share: SharePartition, wish: Wish, batch: InFlight, first: int, last: int, room: int) -> Acquired:
    """Offsets of a batch, one by one; a record on its last delivery is given alone."""
    taken: list[Range] = []
    at_most = -1
    for offset, held in batch.items():
        if offset > last:
            break
        if offset < first or not held.can_be_acquired:
            continue
        is_last_try = wish.delivery_limit > 2 and held.count == wish.delivery_limit - 1
        if is_last_try and taken:
            break
        if held.count >= wish.throttle and at_most < 0:
            at_most = max(1, len(batch) >> (held.count - wish.throttle + 1))
        held = wish.holds(held)
        batch = batch.having(offset, held)
        taken.append((offset, offset, held.count))
        if is_last_try or (wish.is_strict and len(taken) == room) or len(taken) == at_most:
            break
    return Acquired(share.having(batch), _as_ranges(taken), len(taken))


def _as_ranges(taken: list[Range]) -> tuple[Range, ...]:
    """Neighbours with the same count as one range."""
    ranges: list[Range] = []
    for first, last, count in taken:
        if ranges and ranges[-1][1] + 1 == first and ranges[-1][2] == count:
            ranges[-1] = (ranges[-1][0], last, count)
        else:
            ranges.append((first, last, count))
    return tuple(ranges)


# What is new.


def _new(share: SharePartition, wish: Wish, read: tuple[Batch, ...], first: int, last: int, room: int) -> Acquired:
    """New records, in whole batches of the log; in record-limit mode what is too much is available at once."""
    if not share.batches and share.end_offset > first:
        first = share.end_offset
    upto = last
    if room < last - first + 1:
        upto = _end_of_its_batch(read, first + room - 1)
        if share.has_gap and upto > last:
            upto = last
    if wish.is_strict and upto - first + 1 > room:
        ranges = ((first, first + room - 1, 1),)
        each = tuple(Held(ACQUIRED, 1, wish.member, wish.lock_ms) if offset < room else Held(AVAILABLE, 0)
                     for offset in range(upto - first + 1))  # fmt: skip
        share = replace(share.having(InFlight(first, upto, None, each)), looks_back=True)
    else:
        ranges = _cut(read, first, upto, wish)
        for begin, end, _ in ranges:
            share = share.having(InFlight(begin, end, Held(ACQUIRED, 1, wish.member, wish.lock_ms)))
    if share.batches[0].first == first:
        share = replace(share, start_offset=first)
    share = replace(share, end_offset=max(share.end_offset, upto))
    if wish.is_strict:
        upto = ranges[0][1]
    return Acquired(in_flight.gap_read_to(share, upto + 1), ranges, upto - first + 1)


def _end_of_its_batch(read: tuple[Batch, ...], offset: int) -> int:
    """The last offset of the batch that has an offset, or the offset if none has it."""
    return next((each.last_offset for each in read if each.base_offset <= offset <= each.last_offset), offset)


def _cut(read: tuple[Batch, ...], first: int, last: int, wish: Wish) -> tuple[Range, ...]:
    """The ranges of new records: cut where a batch of the log begins, once they have the size that was asked for."""
    ranges: list[Range] = []
    begin = first
    if not wish.is_strict and last - first + 1 > wish.batch_size:
        for each in read:
            if each.base_offset > last:
                break
            if each.base_offset - begin >= wish.batch_size:
                ranges.append((begin, each.base_offset - 1, 1))
                begin = each.base_offset
    return (*ranges, (begin, last, 1))


# What a transaction has aborted.


def without_aborted(got: Acquired, read: tuple[Batch, ...], aborted: tuple[tuple[str, int], ...]) -> Acquired:
    """The records of aborted transactions are archived at once, in memory alone, and the answer does not have them."""
    share, ranges = got.share, got.ranges
    batches = aborted_batches(read, aborted)
    for batch in batches:
        floor = share.floor(batch.base_offset)
        if floor is None:
            raise in_flight.BrokerFailedError("an aborted batch begins before all that is in flight")
        there = share.between(floor.first, batch.last_offset)
        share, _ = in_flight.archived(share, batch.base_offset, batch.last_offset, there, ACQUIRED, counts=True)
    ranges = tuple(left for each in ranges for left in _left_of(each, batches))
    return Acquired(share, ranges, sum(last - first + 1 for first, last, _ in ranges))


def aborted_batches(read: tuple[Batch, ...], aborted: tuple[tuple[str, int], ...]) -> tuple[Batch, ...]:
    """Those of the batches read that belong to an aborted transaction."""
    coming, ended = list(aborted), set[str]()
    found: list[Batch] = []
    for batch in read:
        if not batch.transaction:
            continue
        while coming and coming[0][1] <= batch.last_offset:
            ended.add(coming.pop(0)[0])
        if batch.kind == "ABORT":
            ended.discard(batch.transaction)
        elif batch.kind == "data" and batch.transaction in ended:
            found.append(batch)
    return tuple(found)


def _left_of(one: Range, taken_out: tuple[Batch, ...]) -> list[Range]:
    first, last, count = one
    left = []
    for batch in taken_out:
        if batch.last_offset < first or batch.base_offset > last:
            continue
        if first < batch.base_offset:
            left.append((first, batch.base_offset - 1, count))
        first = batch.last_offset + 1
    return [*left, (first, last, count)] if first <= last else left
