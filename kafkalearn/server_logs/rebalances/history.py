"""Events -> the history of each group: its rebalances, and what happened without one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kafkalearn.group_states import PREPARING
from kafkalearn.server_logs import events as kinds
from kafkalearn.server_logs.causes import (
    CLOSED,
    JOINED,
    LEFT,
)
from kafkalearn.server_logs.events import BROKER, LogEvent
from kafkalearn.server_logs.rebalances.by_clients import of_clients
from kafkalearn.server_logs.rebalances.classic import of_classic_group
from kafkalearn.server_logs.rebalances.clients import Clients
from kafkalearn.server_logs.rebalances.consumer import of_consumer_group
from kafkalearn.server_logs.rebalances.rebalance import CLASSIC, CONSUMER, GroupHistory, Rebalance

_NOTES = (
    kinds.STATIC_REPLACED,
    kinds.STATIC_FENCED,
    kinds.STATIC_UNRELEASED,
    kinds.STATIC_LEFT_FOR_A_WHILE,
    kinds.NOT_REJOINED,
    kinds.SYNC_MISSING,
    kinds.GROUP_LOADED,
    kinds.GROUP_UNLOADED,
    "NobodyRejoined",
    "GroupConverted",
    "StoreFailed",
)

_CONSUMER_KINDS = (kinds.EPOCH_BUMPED, kinds.TARGET_COMPUTED)


def histories(events: Sequence[LogEvent]) -> tuple[GroupHistory, ...]:
    """The history of each group, by its name.

    Parameters
    ----------
    events : sequence of LogEvent
        In the order of time, as `kafkalearn.server_logs.read` gives them.

    Examples
    --------
    >>> from kafkalearn.server_logs import read
    >>> lines = [
    ...     "[2026-11-22 15:46:13,000] INFO Member c1-7 in group g has failed, removing it from the group. (a.B)",
    ...     "[2026-11-22 15:46:13,000] INFO Preparing to rebalance group g in state PreparingRebalance with old "
    ...     "generation 4 (reason: removing member c1-7 on heartbeat expiration.). (a.B)",
    ...     "[2026-11-22 15:46:14,500] INFO Assignment received from leader c2-8 for group g for generation 5. "
    ...     "The group has 1 members, 0 of which are static. (a.B)",
    ... ]
    >>> (one,) = histories(read(lines).events)[0].rebalances
    >>> one.cause, one.member, one.duration_ms
    ('heartbeats lost', 'c1-7', 1500)

    References
    ----------
    Apache Kafka 0.11 to 4.3, ``GroupCoordinator`` and ``GroupMetadataManager``: every caller of ``prepareRebalance``,
    and of ``setGroupEpoch``.
    """
    clients = Clients(events)
    by_group: dict[str, list[LogEvent]] = defaultdict(list)
    for event in events:
        if event.writer == BROKER and event.group is not None:
            by_group[event.group].append(event)
    names = {*by_group, *(each.group for each in clients.all if each.group is not None)}
    return tuple(_history(name, by_group.get(name, []), clients) for name in sorted(names))


def _history(group: str, found: list[LogEvent], clients: Clients) -> GroupHistory:
    is_consumer = any(each.kind in _CONSUMER_KINDS for each in found)
    has_rebalances = is_consumer or any(each.kind == PREPARING for each in found)
    if is_consumer:
        rebalances = [*of_consumer_group(group, found, clients), *of_classic_group(group, found, clients)]
        rebalances.sort(key=lambda each: each.started_ms or 0)
    elif has_rebalances:
        rebalances = of_classic_group(group, found, clients)
    else:
        rebalances = of_clients(group, clients)
    notes = tuple(each for each in found if each.kind in _NOTES)
    protocol = CONSUMER if is_consumer else CLASSIC
    return GroupHistory(group, protocol, tuple(rebalances), notes, bool(found), _is_rolling(rebalances))


def _is_rolling(rebalances: Iterable[Rebalance]) -> bool:
    """Whether members left and came back one after the other, at least two of them."""
    pairs, gone = set(), None
    for each in rebalances:
        if each.cause in (CLOSED, LEFT):
            gone = each.client
        elif each.cause == JOINED and gone is not None and each.client == gone:
            pairs.add(gone)
            gone = None
        elif each.cause != JOINED:
            gone = None
    return len(pairs) > 1
