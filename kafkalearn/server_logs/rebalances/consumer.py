"""The rebalances of a KIP-848 group, by its coordinator's log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile

from kafkalearn.server_logs import events as kinds
from kafkalearn.server_logs.causes import (
    EITHER,
    LEFT,
    SUBSCRIPTION,
    UNKNOWN,
    cause_of_leaving,
)
from kafkalearn.server_logs.events import LogEvent
from kafkalearn.server_logs.rebalances.clients import Clients
from kafkalearn.server_logs.rebalances.member_events import AT_ONCE_MS, CAUSE_OF_EVENT, SAME_REQUEST_MS, gap_ms
from kafkalearn.server_logs.rebalances.own_words import with_clients
from kafkalearn.server_logs.rebalances.rebalance import CONSUMER, Rebalance


def of_consumer_group(group: str, found: list[LogEvent], clients: Clients) -> list[Rebalance]:
    """The rebalances of a group by its events, one for each new group epoch."""
    rebalances: list[Rebalance] = []
    before: LogEvent | None = None
    last_hash: object = None
    open_from = 0  # the first rebalance that no assignment has ended yet
    for place_of_event, event in enumerate(found):
        if event.kind == kinds.EPOCH_BUMPED:
            before = before or _out_of_order(found, place_of_event)
            new_hash = event.fields.get("hash")
            cause, member, evidence = _cause_of_bump(event, before, last_hash)
            one = Rebalance(
                *(group, CONSUMER, event.time_ms, None, cause, member, None, None, event.generation, False, ()),
                evidence,
            )
            rebalances.append(with_clients(one, clients))
            before, last_hash = None, new_hash
        elif event.kind == kinds.TARGET_COMPUTED:
            for place in range(len(rebalances) - 1, open_from - 1, -1):
                if (rebalances[place].generation or 0) > (event.generation or 0):
                    break
                rebalances[place] = replace(rebalances[place], ended_ms=event.time_ms)
                open_from = len(rebalances)
        elif event.kind in CAUSE_OF_EVENT:
            before = event
    return rebalances


def _out_of_order(found: list[LogEvent], place: int) -> LogEvent | None:
    """What a member did in the millisecond of a new epoch, where a collector has put the two in the other order."""
    event = found[place]
    behind = (found[at] for at in range(place + 1, len(found)))
    for later in behind:
        if later.time_ms is None or later.time_ms != event.time_ms or later.kind == kinds.EPOCH_BUMPED:
            return None
        if later.kind in CAUSE_OF_EVENT:
            return None if _has_own_epoch(later, behind) else later
    return None


def _has_own_epoch(event: LogEvent, behind: Iterable[LogEvent]) -> bool:
    """Whether a new epoch follows what a member did, so that it belongs to that one."""
    near = takewhile(lambda each: gap_ms(event, each) <= SAME_REQUEST_MS, behind)
    return any(each.kind == kinds.EPOCH_BUMPED for each in near)


def _cause_of_bump(
    event: LogEvent, before: LogEvent | None, last_hash: object
) -> tuple[str, str | None, tuple[LogEvent, ...]]:
    """Why a group epoch went up: by what a member did just before; else something was changed."""
    near_ms = AT_ONCE_MS if before is not None and before.kind == kinds.STATIC_REPLACED else SAME_REQUEST_MS
    if before is not None and gap_ms(before, event) <= near_ms:
        cause = CAUSE_OF_EVENT[before.kind]
        if cause == LEFT:
            cause = cause_of_leaving(before.reason)
        if before.kind == kinds.MEMBER_FENCED and before.reason is not None:
            cause = UNKNOWN
        return cause, before.member, (before, event)
    new_hash = event.fields.get("hash")
    is_same = new_hash is not None and new_hash == last_hash
    return (SUBSCRIPTION if is_same else EITHER), None, (event,)
