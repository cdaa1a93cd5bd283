"""Records in flight: where the next fetch reads, how many there may be, when the share-partition start offset moves.

All functions are pure, of what the leader has in memory of one share-partition.

Source: `SharePartition` of 4.4.0, read: `nextFetchOffset`, `canAcquireRecords`, `maybeUpdateCachedStateAndOffsets`,
`updateCacheAndOffsets`, `archiveRecords`.
"""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.sharing.model import ARCHIVED, AVAILABLE, Held, InFlight, SharePartition
from kafkalearn.sharing.stored import STATE_NAMES, ShareState


class BrokerFailedError(Exception):
    """The broker meets a state that its authors thought impossible; the request is answered UNKNOWN_SERVER_ERROR."""


def loaded(key: tuple[str, str], leader_epoch: int, state: ShareState, start_offset: int) -> SharePartition:
    """What a leader has in memory after it has read what is stored; what nobody stored is a gap, to be read as new."""
    batches: list[InFlight] = []
    gap_start, expected = -1, start_offset
    for each in state.batches:
        if gap_start < 0 and each.first > expected:
            gap_start = expected
        expected = each.last + 1
        batches.append(InFlight(each.first, each.last, Held(STATE_NAMES[each.state], each.count)))
    end_offset = batches[-1].last if batches else start_offset
    done_count = sum(len(batch) for batch in batches if batch.whole is not None and batch.whole.is_done)
    share = SharePartition(
        key, leader_epoch, state.state_epoch, start_offset, end_offset, tuple(batches), done_count,
        looks_back=bool(batches), gap=(gap_start, end_offset) if gap_start >= 0 else None,
    )  # fmt: skip
    return moved_start(share)[0]


def next_fetch_offset(share: SharePartition) -> tuple[SharePartition, int]:
    """Where the next fetch reads: at what was given back, from the front, or behind all that was ever acquired."""
    is_empty = not share.batches or share.start_offset > share.batches[-1].last
    if is_empty:
        return replace(share, looks_back=False), share.end_offset
    if not share.looks_back:
        return share, share.end_offset + 1
    found = _first_available(share)
    if found is None:
        return replace(share, looks_back=False), share.end_offset + 1
    return share, found


def _first_available(share: SharePartition) -> int | None:
    gap_start = share.gap[0] if share.gap is not None and share.has_gap else -1
    for batch in share.batches:
        if share.has_gap:
            if batch.first > gap_start:
                return gap_start
            gap_start = max(batch.last + 1, gap_start)
        found = next((offset for offset, held in batch.items() if held.can_be_acquired), None)
        if found is not None:
            return found
    return None


def can_acquire(share: SharePartition, limit: int) -> tuple[SharePartition, bool]:
    """Whether there is something to be read: given back, or below the limit of records in flight."""
    share, offset = next_fetch_offset(share)
    return share, offset != share.end_offset + 1 or share.in_flight_count < limit


def gap_read_to(share: SharePartition, offset: int) -> SharePartition:
    """The gap begins behind what was just acquired, or is no more."""
    if share.gap is None:
        return share
    is_inside = share.gap[1] == share.end_offset and offset <= share.gap[1]
    return replace(share, gap=(offset, share.gap[1]) if is_inside else None)


def archived(
    share: SharePartition, first: int, last: int, batches: tuple[InFlight, ...], state: str, counts: bool
) -> tuple[SharePartition, bool]:
    """Records of a state become archived, in memory alone; and whether there were any.

    `counts` says whether they count as done from now on.
    """
    found = False
    for batch in batches:
        if batch.first > last:
            break
        is_inside = first <= batch.first and batch.last <= last
        if batch.whole is not None and batch.whole.state != state:
            continue
        if is_inside and batch.whole is not None:
            share = share.having(replace(batch, whole=_archived(batch.whole)))
            share = replace(share, done_count=share.done_count + len(batch) * counts)
            found = True
            continue
        batch = batch.split()
        for offset, held in batch.items():
            if first <= offset <= last and held.state == state:
                batch = batch.having(offset, _archived(held))
                share = replace(share, done_count=share.done_count + counts)
                found = True
        share = share.having(batch)
    return share, found


def _archived(held: Held) -> Held:
    return replace(held, state=ARCHIVED, member="", lock_ms=None)


def without_compacted(share: SharePartition, fetch_offset: int, first_read: int) -> SharePartition:
    """Records that were given back and are no longer in the log are archived."""
    if not share.batches or fetch_offset >= first_read:
        return share
    floor = share.floor(fetch_offset)
    low = floor.first if floor is not None and floor.last >= fetch_offset else fetch_offset
    batches = share.between(low, first_read - 1)
    share, found = archived(share, fetch_offset, first_read - 1, batches, AVAILABLE, counts=True)
    return replace(share, looks_back=True) if found else share


def log_start_moved(share: SharePartition, log_start: int) -> SharePartition:
    """The log begins later: what nobody holds below its start is archived, and the start offset is the log's."""
    if log_start <= share.start_offset:
        return share
    if not share.batches:
        return replace(share, start_offset=log_start, end_offset=log_start, done_count=0)
    passed = sum(
        held.is_done for batch in share.batches for offset, held in batch.items()
        if share.start_offset <= offset < log_start
    )  # fmt: skip
    share, found = archived(share, share.start_offset, log_start - 1, share.batches, AVAILABLE, counts=False)
    return replace(
        share, start_offset=log_start, end_offset=max(share.end_offset, log_start),
        done_count=share.done_count - passed, looks_back=share.looks_back or found,
    )  # fmt: skip


def _can_move(share: SharePartition) -> bool:
    batch = share.floor(share.start_offset)
    if batch is None:
        return False
    if batch.whole is None and share.start_offset > batch.last:
        raise BrokerFailedError(f"no offset {share.start_offset} in the batch {batch.first} to {batch.last}")
    held = batch.at(share.start_offset)
    return held.is_done and not held.is_under_way


def moved_start(share: SharePartition) -> tuple[SharePartition, bool]:
    """The start offset passes what is done from the front; and whether the broker takes it for moved."""
    if not share.batches or not _can_move(share):
        return share, False
    last_done, count = _done_from_the_front(share)
    if last_done is None:
        return share, False
    if last_done == share.batches[-1].last:
        after = share.batches[-1].last + 1
        return replace(share, start_offset=after, end_offset=after, batches=(), done_count=0), True
    batch = share.floor(last_done)
    assert batch is not None
    if last_done == batch.last:
        begins = next(each.first for each in share.batches if each.first > last_done)
        start = max(begins, share.start_offset)
        if share.gap is not None and share.has_gap:
            start = min(share.gap[0], start)
        kept = tuple(each for each in share.batches if each.first > batch.first)
    else:
        start = max(last_done + 1, share.start_offset)
        kept = tuple(each for each in share.batches if each.first >= batch.first)
    return replace(share, start_offset=start, batches=kept, done_count=share.done_count - count), True


def _done_from_the_front(share: SharePartition) -> tuple[int | None, int]:
    """The last offset up to which all is done, and how many of these are counted as done."""
    last_done, count = None, 0
    for batch in share.batches:
        if share.gap is not None and share.has_gap and batch.last >= share.gap[0]:
            break
        for offset, held in batch.items():
            if held.is_under_way or not held.is_done:
                return last_done, count
            last_done = offset
            count += offset >= share.start_offset
    return last_done, count
