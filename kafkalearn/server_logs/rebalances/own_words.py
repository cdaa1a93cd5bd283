"""What the log of a client says of a rebalance, where the coordinator's leaves it open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafkalearn.server_logs import events as kinds
from kafkalearn.server_logs.causes import (
    CAUSES,
    CLOSED,
    JOINED,
    LEFT,
    POLL,
    SECOND_ROUND,
    SUBSCRIPTION,
    TOPICS,
    UNKNOWN,
    cause_of_leaving,
)
from kafkalearn.server_logs.events import LogEvent
from kafkalearn.server_logs.rebalances.clients import NEAR_MS, Client, Clients
from kafkalearn.server_logs.rebalances.member_events import AT_ONCE_MS
from kafkalearn.server_logs.rebalances.rebalance import Rebalance

REQUEST_MS = 1500  # so long before a rebalance the request was sent that has caused it, and no longer


def with_clients(one: Rebalance, clients: Clients, since_ms: int = 0) -> Rebalance:
    """The same with what a client's own log says about it."""
    client = clients.behind(one.group, one.member)
    if client is not None:
        one = replace(one, client=client.name or one.client, host=one.host or client.host)
    if one.started_ms is not None and one.cause == UNKNOWN:
        return _named_by_clients(one, clients, since_ms)
    if one.started_ms is None or not CAUSES[one.cause].covers:
        return one
    near = [client] if client is not None else clients.of_group(one.group) if one.member is None else []
    allowed = CAUSES[one.cause].covers
    asked = [(each, *own_words(each, one.started_ms, allowed)) for each in near]
    said = [(each, cause, event) for each, cause, event in asked if cause is not None and event is not None]
    found = {cause for _, cause, _ in said}
    if len(found) != 1:
        return one
    who, cause, event = said[0]
    is_alone = len(said) == 1 and one.member is None
    member = (event.member or next(iter(who.members), None)) if is_alone and len(who.members) < 2 else one.member
    return replace(
        one,
        cause=cause,
        member=member,
        client=who.name if is_alone else one.client,
        host=(one.host or who.host) if is_alone else one.host,
        evidence=(*one.evidence, event),
    )


def _named_by_clients(one: Rebalance, clients: Clients, since_ms: int) -> Rebalance:
    """A rebalance of which the broker says nothing, as up to 2.0: by what one client did just before, if only one did.

    What was before the rebalance before it counts no more: that was its cause, or none.
    """
    started_ms = one.started_ms
    assert started_ms is not None, "who asks knows when it began"
    before_ms = min(REQUEST_MS, started_ms - since_ms)
    said: list[tuple[Client, str, LogEvent]] = []
    for client in clients.of_group(one.group):
        cause, event = own_words(client, started_ms, tuple(CAUSES), before_ms, AT_ONCE_MS)
        if any(-AT_ONCE_MS <= started_ms - join_ms <= before_ms for join_ms in client.joins_ms):
            cause = JOINED if cause is None else UNKNOWN
            event = event or client.around(started_ms, before_ms, AT_ONCE_MS)[0]
        if cause is not None and event is not None:
            said.append((client, cause, event))
    if len(said) != 1 or said[0][1] == UNKNOWN:
        return one
    client, cause, event = said[0]
    member = next(iter(client.members)) if len(client.members) == 1 else None
    return replace(
        one, cause=cause, member=member, client=client.name, host=client.host, evidence=(*one.evidence, event)
    )


def own_words(
    client: Client, time_ms: int, allowed: Sequence[str], before_ms: int = NEAR_MS, after_ms: int = 1000
) -> tuple[str | None, LogEvent | None]:
    """What a client did about that time, if its log leaves no doubt: a cause, one of those allowed, and the line."""
    found: dict[str, LogEvent] = {}
    is_another = False
    for event in client.around(time_ms, before_ms, after_ms):
        cause = _cause_of_client(event)
        is_first = client.first_joined_ms is None or (event.time_ms or 0) < client.first_joined_ms
        if cause is not None and cause in allowed and not (is_first and cause in (SUBSCRIPTION, TOPICS)):
            found[cause] = event
        is_another = is_another or (event.kind == kinds.CLIENT_MEMBER_ID and event.member is not None)
    if is_another:  # it has just begun, maybe in the log of the one before it
        found.pop(SUBSCRIPTION, None)
        found.pop(TOPICS, None)
    if POLL in found:
        found.pop(CLOSED, None)  # whoever is late leaves, too
    if SUBSCRIPTION in found:
        found.pop(TOPICS, None)  # new topics are new metadata
    if len(found) != 1:
        return None, None
    return next(iter(found.items()))


def _cause_of_client(event: LogEvent) -> str | None:
    """What an event of a client's log would make a group rebalance for."""
    kind, reason = event.kind, event.reason or ""
    if kind == kinds.POLL_EXPIRED:
        return POLL
    if kind == kinds.CLIENT_CLOSING or (kind == kinds.CLIENT_EPOCH and event.fields.get("state") == "PREPARE_LEAVING"):
        return CLOSED
    if kind == kinds.CLIENT_LEAVING:
        cause = cause_of_leaving(reason)
        return CLOSED if cause == LEFT and event.writer == kinds.PYTHON else cause if cause != LEFT else None
    if kind == kinds.SUBSCRIPTION_UPDATED:
        return None if event.fields.get("join_state") == "init" else SUBSCRIPTION
    if kind == kinds.TOPICS_UPDATED:
        return None if event.fields.get("before") == "0" else TOPICS  # from 0: it has just learned of the topic
    if kind == kinds.REJOIN_REQUESTED:
        if "redistribute previously owned" in reason or "need to revoke" in reason or "cooperative move" in event.text:
            return SECOND_ROUND
        if event.fields.get("state") == "steady" or "cached metadata has changed" in reason:
            return TOPICS
        if "the subscription has changed" in reason:
            return SUBSCRIPTION
    return None
