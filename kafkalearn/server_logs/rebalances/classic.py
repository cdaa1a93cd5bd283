"""The rebalances of a classic group, by its coordinator's log."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.group_states import COMPLETING, EMPTY, PREPARING, STABLE
from kafkalearn.server_logs import events as kinds
from kafkalearn.server_logs.causes import (
    JOINED,
    LEFT,
    UNKNOWN,
    cause_of_leaving,
    cause_of_reason,
    client_of,
)
from kafkalearn.server_logs.events import LogEvent
from kafkalearn.server_logs.rebalances.clients import Clients
from kafkalearn.server_logs.rebalances.member_events import CAUSE_OF_EVENT, SAME_REQUEST_MS, gap_ms
from kafkalearn.server_logs.rebalances.own_words import with_clients
from kafkalearn.server_logs.rebalances.rebalance import CLASSIC, Rebalance


def of_classic_group(group: str, found: list[LogEvent], clients: Clients) -> list[Rebalance]:
    """The rebalances of a group by its events, in their order."""
    rebalances: list[Rebalance] = []
    before: LogEvent | None = None  # what a member did, since the last rebalance began or ended
    state, is_open = None, False
    for event in found:
        if event.kind == PREPARING:
            if is_open and _generations_after(rebalances[-1], event) in (None, 0, 1):
                rebalances[-1] = replace(rebalances[-1], ended_ms=event.time_ms, is_interrupted=True)
            since_ms = rebalances[-1].started_ms if rebalances else None
            rebalances.append(_begun(group, event, before, state, clients, since_ms or 0))
            before, state, is_open = None, PREPARING, True
        elif event.kind in (STABLE, EMPTY):
            if is_open and _generations_after(rebalances[-1], event) in (None, 1):
                rebalances[-1] = replace(rebalances[-1], ended_ms=event.time_ms)
            before, state, is_open = None, event.kind, False
        elif event.kind == COMPLETING:
            state = COMPLETING
        elif event.kind in (kinds.MEMBER_FAILED, kinds.NOT_REJOINED) and state == PREPARING:
            late = (event.member,) if event.member else _listed_members(str(event.fields.get("members", "")))
            rebalances[-1] = replace(
                rebalances[-1],
                delayed_by=(*rebalances[-1].delayed_by, *late),
                evidence=(*rebalances[-1].evidence, event),
            )
        elif event.kind in CAUSE_OF_EVENT:
            before = event
    return rebalances


def _begun(
    group: str, event: LogEvent, before: LogEvent | None, state: str | None, clients: Clients, since_ms: int
) -> Rebalance:
    cause, member = cause_of_reason(event.reason) if event.reason is not None else (UNKNOWN, None)
    evidence = [event]
    is_near = before is not None and gap_ms(before, event) <= SAME_REQUEST_MS
    if event.reason is None:
        if is_near and before.kind in (kinds.MEMBER_FAILED, kinds.MEMBER_LEFT, kinds.MEMBER_JOINED):
            cause, member = CAUSE_OF_EVENT[before.kind], before.member
            evidence.insert(0, before)
        elif state == EMPTY or (state is None and event.generation == 0):
            cause = JOINED  # nothing else takes a group out of Empty
    if cause == LEFT and is_near and before.kind == kinds.MEMBER_LEFT and member in (None, before.member):
        cause = cause_of_leaving(before.reason)
        evidence.insert(0, before)
    host = before.fields.get("host") if is_near and before.member == member else None
    host = host.lstrip("/") if isinstance(host, str) else None
    return with_clients(
        Rebalance(
            group,
            CLASSIC,
            event.time_ms,
            None,
            cause,
            member,
            client_of(member) if member else None,
            host,
            event.generation,
            False,
            (),
            tuple(evidence),
        ),
        clients,
        since_ms,
    )


def _generations_after(one: Rebalance, event: LogEvent) -> int | None:
    """How many generations an event is behind the one that a rebalance began in; None: one of them does not say.

    A rebalance makes one new generation. More of them, or fewer, and lines are missing in between: then no line says
    when the rebalance ended.
    """
    before, after = one.generation, event.generation
    return None if before is None or after is None else after - before


def _listed_members(written: str) -> tuple[str, ...]:
    """The member ids of ``Set(c1-7, c2-8)`` or ``[c1-7, c2-8]``."""
    inside = written.removeprefix("Set").strip("([])")
    return tuple(inside.split(", ")) if inside else ()
