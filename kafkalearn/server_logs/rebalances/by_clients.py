"""The rebalances of a group as its clients alone saw them."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from kafkalearn.server_logs import events as kinds
from kafkalearn.server_logs.causes import (
    CLOSED,
    JOINED,
    POLL,
    SECOND_ROUND,
    SUBSCRIPTION,
    TOPICS,
    UNKNOWN,
)
from kafkalearn.server_logs.events import LogEvent
from kafkalearn.server_logs.rebalances.clients import AWAY, Client, Clients
from kafkalearn.server_logs.rebalances.own_words import own_words
from kafkalearn.server_logs.rebalances.rebalance import CLASSIC, CONSUMER, Rebalance

_CLIENT_GENERATIONS = (kinds.CLIENT_JOINED, kinds.CLIENT_EPOCH)


def of_clients(group: str, clients: Clients) -> list[Rebalance]:
    """Rebalances as the clients alone see them, one for each generation that some of them has joined."""
    joined: dict[int, list[_Seen]] = defaultdict(list)
    for client in clients.of_group(group):
        started: int | None = None
        is_new, last = True, 0
        for event in client.events:
            if event.kind == kinds.CLIENT_JOINING:
                started = event.time_ms if started is None else started
            elif event.kind in AWAY:
                is_new = True
            elif event.kind in _CLIENT_GENERATIONS and event.generation is not None and event.generation > last:
                last = event.generation
                joined[last].append(_Seen(client, started, event, is_new))
                started, is_new = None, False
    return [_seen_by_clients(group, generation, each, clients) for generation, each in sorted(joined.items())]


class _Seen(NamedTuple):
    """A client that has joined a generation."""

    client: Client
    started_ms: int | None
    event: LogEvent
    is_new: bool  # it was no member before


def _seen_by_clients(group: str, generation: int, seen: list[_Seen], clients: Clients) -> Rebalance:
    started = min((each.started_ms for each in seen if each.started_ms is not None), default=None)
    ended = max((each.event.time_ms for each in seen if each.event.time_ms is not None), default=None)
    said: list[tuple[Client, str, LogEvent]] = []
    for each in seen:
        cause, line = (JOINED, each.event) if each.is_new else (None, None)
        if cause is None and each.started_ms is not None:
            cause, line = own_words(each.client, each.started_ms, (SUBSCRIPTION, TOPICS, SECOND_ROUND))
        if cause is not None and line is not None:
            said.append((each.client, cause, line))
    if started is not None:
        there = [each.client for each in seen]
        for client in clients.of_group(group):
            if not any(client is each for each in there):
                cause, line = own_words(client, started, (POLL, CLOSED))
                if cause is not None and line is not None:
                    said.append((client, cause, line))
    is_clear = len({cause for _, cause, _ in said}) == 1
    only = said[0] if is_clear and len(said) == 1 else None
    return Rebalance(
        group,
        CLASSIC if seen[0].event.kind == kinds.CLIENT_JOINED else CONSUMER,
        started,
        ended,
        said[0][1] if is_clear else UNKNOWN,
        None if only is None else only[2].member,
        None if only is None else only[0].name,
        None if only is None else only[0].host,
        generation - 1,
        False,
        (),
        tuple(each for _, _, each in said) or (seen[0].event,),
    )
