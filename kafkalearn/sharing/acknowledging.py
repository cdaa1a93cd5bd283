"""What becomes of records that a member had: acknowledged, released, at the end of an acquisition lock or a session.

A change is made in memory at once, with a note of what was before; it is final when the share coordinator has written
it (`completed`), and taken back if it has not (`undone`). `StateChange` is what is to be written.

Source: `SharePartition.acknowledge`, `releaseAcquiredRecords`, `rollbackOrProcessStateUpdates`,
`releaseAcquisitionLockOnTimeout` and `InFlightState.tryUpdateState` of 4.4.0, read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kafkalearn.sharing import in_flight
from kafkalearn.sharing.events import REJECT, RENEW, Acknowledgement
from kafkalearn.sharing.model import (
    ACKNOWLEDGED,
    ACQUIRED,
    ARCHIVED,
    ARCHIVING,
    AVAILABLE,
    Held,
    InFlight,
    SharePartition,
)

NOT_IN_CACHE = "Batch record not found. The request batch offsets are not found in the cache."
PAST = "Batch record not found. The {} offset in request is past acquired records."
NOT_ACQUIRED = "The batch cannot be acknowledged. The batch is not in the acquired state."
SUBSET_NOT_ACQUIRED = "The batch cannot be acknowledged. The subset batch is not in the acquired state."
OFFSET_NOT_ACQUIRED = "The offset cannot be acknowledged. The offset is not acquired."
UNDER_WAY = "The record state is invalid. The acknowledgement of delivery could not be completed."
NOT_THE_OWNER = "Member is not the owner of batch record"
NOT_THE_OWNER_OF_OFFSET = "Member is not the owner of offset"
NO_RENEWING = "Renewing acquisition locks is not enabled for the group."

INVALID_RECORD_STATE, INVALID_REQUEST = "INVALID_RECORD_STATE", "INVALID_REQUEST"

BECOMES: Mapping[int, str] = {0: ARCHIVED, 1: ACKNOWLEDGED, 2: AVAILABLE, 3: ARCHIVED}
"""The state that an acknowledgement of a type asks for; with dead letters a rejected record is ARCHIVING first."""


@dataclass(frozen=True)
class GroupLimits:
    """The settings of a group that hold now."""

    delivery_limit: int
    lock_ms: int
    allows_renewing: bool
    has_dead_letters: bool


@dataclass(frozen=True)
class StateChange:
    """A range whose state has changed, as it is written; `reason` is why it makes a dead letter, or ""."""

    first: int
    last: int
    state: str
    count: int
    reason: str = ""


@dataclass(frozen=True)
class RefusedError(Exception):
    """Why an acknowledgement is refused: Kafka's error, and its words."""

    error: str
    message: str


def is_valid(batches: tuple[Acknowledgement, ...], version: int, is_renew: bool) -> bool:
    """Whether a request's acknowledgements for one partition make sense, before anything is looked up."""
    before = -1
    for each in batches:
        is_one_for_each = len(each.types) in (1, each.last - each.first + 1)
        if each.first > each.last or each.first < before or not each.types or not is_one_for_each:
            return False
        if any(not 0 <= kind <= (RENEW if version >= 2 else REJECT) for kind in each.types):
            return False
        if RENEW in each.types and not is_renew:
            return False
        before = each.last
    return True


def acknowledge(
    share: SharePartition, member: str, batches: tuple[Acknowledgement, ...], rules: GroupLimits
) -> tuple[SharePartition, tuple[StateChange, ...]]:
    """The share-partition after a member's acknowledgements, and what is to be written.

    Raises
    ------
    RefusedError
        At the first that cannot be; then none of them has happened.
    """
    changes: list[StateChange] = []
    for batch in batches:
        if batch.last < share.start_offset:
            continue
        for there in _touched(share, batch):
            if there.last < share.start_offset:
                continue
            share, more = _one_batch(share, member, batch, there, rules)
            changes += more
    return share, tuple(changes)


def _touched(share: SharePartition, batch: Acknowledgement) -> tuple[InFlight, ...]:
    floor = share.floor(batch.first)
    if floor is None:
        if not batch.first < share.start_offset <= batch.last:
            raise RefusedError(INVALID_RECORD_STATE, NOT_IN_CACHE)
        floor = share.floor(share.start_offset)
        if floor is None:
            raise in_flight.BrokerFailedError("nothing is in flight at the start offset")
    there = share.between(floor.first, batch.last)
    for name, offset in (("first", batch.first), ("last", batch.last)):
        if there[-1].last < offset:
            raise RefusedError(INVALID_REQUEST, PAST.format(name))
    return there


def _one_batch(
    share: SharePartition, member: str, batch: Acknowledgement, there: InFlight, rules: GroupLimits
) -> tuple[SharePartition, list[StateChange]]:
    if there.whole is not None:
        if not there.whole.member:
            raise RefusedError(INVALID_RECORD_STATE, NOT_ACQUIRED)
        if there.whole.member != member:
            raise RefusedError(INVALID_RECORD_STATE, NOT_THE_OWNER)
        if there.whole.is_under_way:
            raise RefusedError(INVALID_RECORD_STATE, UNDER_WAY)
    is_inside = batch.first <= there.first and there.last <= batch.last
    has_start_inside = there.first < share.start_offset <= there.last
    if there.whole is None or not is_inside or len(batch.types) > 1 or has_start_inside:
        if there.whole is not None and there.whole.state != ACQUIRED:
            raise RefusedError(INVALID_RECORD_STATE, SUBSET_NOT_ACQUIRED)
        return _offsets(share, member, batch, there.split(), rules)
    if there.whole.state != ACQUIRED:
        raise RefusedError(INVALID_RECORD_STATE, NOT_ACQUIRED)
    held, reason = _after(there.whole, batch.types[0], rules)
    share = share.having(replace(there, whole=held))
    if batch.types[0] == RENEW:
        return share, []
    share = replace(share, done_count=share.done_count + len(there) * held.is_done)
    return share, [StateChange(there.first, there.last, held.state, held.count, reason)]


def _offsets(
    share: SharePartition, member: str, batch: Acknowledgement, there: InFlight, rules: GroupLimits
) -> tuple[SharePartition, list[StateChange]]:
    changes = []
    for offset in range(max(there.first, batch.first, share.start_offset), min(there.last, batch.last) + 1):
        held = there.at(offset)
        if held.state != ACQUIRED:
            raise RefusedError(INVALID_RECORD_STATE, OFFSET_NOT_ACQUIRED)
        if held.is_under_way:
            raise RefusedError(INVALID_RECORD_STATE, UNDER_WAY)
        if held.member != member:
            raise RefusedError(INVALID_RECORD_STATE, NOT_THE_OWNER_OF_OFFSET)
        kind = batch.types[offset - batch.first] if len(batch.types) > 1 else batch.types[0]
        held, reason = _after(held, kind, rules)
        there = there.having(offset, held)
        if kind != RENEW:
            changes.append(StateChange(offset, offset, held.state, held.count, reason))
            share = replace(share, done_count=share.done_count + held.is_done)
    return share.having(there), changes


def _after(held: Held, kind: int, rules: GroupLimits) -> tuple[Held, str]:
    """What a record becomes by an acknowledgement, and why it makes a dead letter, if it does."""
    if kind == RENEW:
        if not rules.allows_renewing:
            raise RefusedError(INVALID_RECORD_STATE, NO_RENEWING)
        return replace(held, lock_ms=rules.lock_ms), ""
    if kind == REJECT and rules.has_dead_letters:
        return replace(held, state=ARCHIVING, member="", before=held), "rejected"
    after, reason = given_back(held, rules) if kind == 2 else (BECOMES[kind], "")
    return replace(held, state=after, member="", before=held), reason


def given_back(held: Held, rules: GroupLimits, is_below_start: bool = False) -> tuple[str, str]:
    """The state of a record that its holder has no more, and why it makes a dead letter, if it does."""
    if is_below_start:
        return ARCHIVED, ""
    if held.count < rules.delivery_limit:
        return AVAILABLE, ""
    return (ARCHIVING, "limit") if rules.has_dead_letters else (ARCHIVED, "")


def released(share: SharePartition, member: str, rules: GroupLimits) -> tuple[SharePartition, tuple[StateChange, ...]]:
    """All that a member holds is given back, as at the end of its session."""
    changes: list[StateChange] = []
    for batch in share.batches:
        whole = batch.whole
        if whole is not None and whole.state == ACQUIRED and whole.member == member:
            if batch.first < share.start_offset <= batch.last:
                batch = batch.split()
            else:
                state, reason = given_back(whole, rules, batch.last < share.start_offset)
                held = replace(whole, state=state, member="", before=whole)
                share = share.having(replace(batch, whole=held))
                changes.append(StateChange(batch.first, batch.last, state, held.count, reason))
                share = _counted(share, batch.first, batch.last, held)
        if batch.whole is None:
            for offset, held in batch.items():
                if held.state == ACQUIRED and held.member == member:
                    state, reason = given_back(held, rules, offset < share.start_offset)
                    batch = batch.having(offset, replace(held, state=state, member="", before=held))
                    changes.append(StateChange(offset, offset, state, held.count, reason))
                    share = _counted(share, offset, offset, batch.at(offset))
            share = share.having(batch)
    return share, tuple(changes)


def _counted(share: SharePartition, first: int, last: int, held: Held) -> SharePartition:
    more = share.counts_from(first, last) if held.is_done else 0
    return replace(share, done_count=share.done_count + more)


def ran_out(
    share: SharePartition, first: int, last: int, rules: GroupLimits
) -> tuple[SharePartition, tuple[StateChange, ...]]:
    """A lock of these offsets has run out. The change does not wait for what is written."""
    changes: list[StateChange] = []
    for batch in share.between(_floor_first(share, first), last):
        whole = batch.whole
        if whole is not None and whole.state == ACQUIRED and batch.first < share.start_offset <= batch.last:
            batch = batch.split()
        if batch.whole is not None:
            if batch.whole.state == ACQUIRED:
                share = _lost(share, batch.first, batch.last, batch, batch.whole, rules, changes)
            continue
        share = share.having(batch)
        for offset, held in batch.items():
            if first <= offset <= last and held.state == ACQUIRED:
                there = share.floor(offset)
                assert there is not None
                share = _lost(share, offset, offset, there, held, rules, changes)
    return share, tuple(changes)


def _floor_first(share: SharePartition, offset: int) -> int:
    floor = share.floor(offset)
    return offset if floor is None else floor.first


def _lost(
    share: SharePartition,
    first: int,
    last: int,
    batch: InFlight,
    held: Held,
    rules: GroupLimits,
    changes: list[StateChange],
) -> SharePartition:
    state, reason = given_back(held, rules, last < share.start_offset)
    after = replace(held, state=state, member="", lock_ms=None)
    changes.append(StateChange(first, last, state, held.count, reason))
    changed = replace(batch, whole=after) if batch.whole is not None else batch.having(first, after)
    share = _counted(share.having(changed), first, last, after)
    return share if state in (ARCHIVED, ARCHIVING) else replace(share, looks_back=True)


def completed(share: SharePartition, changes: tuple[StateChange, ...]) -> SharePartition:
    """Changes that were written are final."""
    for change in changes:
        share = _settled(share, change, is_written=True)
    return share


def undone(share: SharePartition, changes: tuple[StateChange, ...]) -> SharePartition:
    """Changes that were not written are taken back."""
    for change in changes:
        if change.state in (ACKNOWLEDGED, ARCHIVED):
            held = share.held(change.last)
            if held is not None and held.before is not None:
                share = replace(share, done_count=share.done_count - share.counts_from(change.first, change.last))
        share = _settled(share, change, is_written=False)
    return share


def _settled(share: SharePartition, change: StateChange, is_written: bool) -> SharePartition:
    batch = share.floor(change.first)
    if batch is None or batch.last < change.first:
        return share
    if batch.whole is not None:
        held = _final(batch.whole, is_written)
        share = share.having(replace(batch, whole=held))
        return replace(share, looks_back=True) if held.state == AVAILABLE else share
    for offset in range(change.first, change.last + 1):
        held = _final(batch.at(offset), is_written)
        batch = batch.having(offset, held)
        share = replace(share, looks_back=share.looks_back or held.state == AVAILABLE)
    return share.having(batch)


def _final(held: Held, is_written: bool) -> Held:
    if held.before is None:
        return held
    return replace(held, lock_ms=None, before=None) if is_written else held.before


def dead_letter_written(share: SharePartition, change: StateChange) -> SharePartition:
    """A record that was ARCHIVING is ARCHIVED, in memory; it counts as done."""
    batch = share.floor(change.first)
    if batch is not None and batch.last >= change.first:
        if batch.whole is not None:
            share = share.having(replace(batch, whole=_gone(batch.whole)))
        else:
            for offset in range(change.first, change.last + 1):
                batch = batch.having(offset, _gone(batch.at(offset)))
            share = share.having(batch)
    return replace(share, done_count=share.done_count + share.counts_from(change.first, change.last))


def _gone(held: Held) -> Held:
    return replace(held, state=ARCHIVED, member="", lock_ms=None)
