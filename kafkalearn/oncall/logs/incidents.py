"""What logs show of a group without a rebalance from its beginning to its end: a tail, a single loud line, one client.

An excerpt may have no more than a client that was late with its poll, or a member that has failed. Each such thing is
an incident, of one client or of a broker, with the cause that its lines say. One that a rebalance already has is left
out; the others stand beside them, without an end. A group of which nothing of that kind is seen is still not at rest
because of it: `is_whole` says whether its lines show how it stood.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kafkalearn.groups.defaults import COMPLETING, EMPTY, PREPARING, STABLE
from kafkalearn.oncall.logs import lines as kinds
from kafkalearn.oncall.logs.causes import (
    BAD_TIMEOUT,
    CAPACITY,
    CAUSES,
    CLOSED,
    DROPPED,
    FATAL,
    FENCED,
    GIVEN,
    HEARTBEATS,
    INCONSISTENT,
    JOINED,
    LEFT,
    MOVED,
    NAMED,
    NO_COORDINATOR,
    NOTHING,
    POLL,
    REJOINED,
    SOMETHING,
    SUBSCRIPTION,
    TOO_OLD,
    TOPICS,
    UNAUTHORIZED,
    UNKNOWN,
    UNSUBSCRIBED,
    client_of,
    own_reason,
    said_by,
)
from kafkalearn.oncall.logs.clients import (
    CLASSIC,
    CONSUMER,
    NEAR_MS,
    Client,
    Rebalance,
)
from kafkalearn.oncall.logs.lines import PYTHON, LogEvent

_STARTS = (kinds.CLIENT_CONFIG, kinds.CLIENT_MEMBER_ID, kinds.CLIENT_SUBSCRIBED, "ClientNewMember")
_REFUSED = frozenset({CAPACITY, INCONSISTENT, UNAUTHORIZED, BAD_TIMEOUT, TOO_OLD})
_GONE = _REFUSED | {POLL, CLOSED, HEARTBEATS, DROPPED, FATAL, FENCED, LEFT, UNSUBSCRIBED}
"""After these a client is away; that it joins again is another rebalance."""

_OF_MEMBERS = frozenset(
    {
        *(kinds.CLIENT_JOINED, kinds.CLIENT_ALIVE, kinds.CLIENT_REVOKED, kinds.CLIENT_LEAVING, "ClientSynced"),
        *(kinds.HEARTBEAT_FAILED, kinds.HEARTBEAT_EXPIRED, kinds.HEARTBEAT_REBALANCING, kinds.POLL_EXPIRED),
    }
)
"""What no client says that has not been a member."""

_LATER = frozenset({CLOSED, POLL, UNSUBSCRIBED})
"""What a client does of its own will, after it has found its coordinator again."""

_LOOKED_UP = (
    "FindCoordinator response error",
    "coordinator for ",
)  # librdkafka's and sarama's: whom they ask knows none
_FORCED = "Forcing rebalance"  # Connect's


def is_start(event: LogEvent) -> bool:
    """Whether an event shows that its client begins: no member from before."""
    if event.kind == kinds.SUBSCRIPTION_UPDATED:
        return event.fields.get("join_state") == "init" or event.writer == PYTHON
    if event.kind == kinds.CLIENT_MEMBER_ID:
        return bool(event.member) and event.fields.get("before") in (None, "", "(not-set)")
    return event.kind in _STARTS or (event.kind == kinds.REJOIN_REQUESTED and (event.reason or "").startswith(GIVEN))


def _is_of_another_life(before: LogEvent, event: LogEvent, *causes: str) -> bool:
    """Whether a client that was away must have been a member again: only a member has timers that run out."""
    return {*causes} == {POLL, HEARTBEATS} and gap_ms(before, event) > NEAR_MS


def _is_look_up(event: LogEvent) -> bool:
    return any(each in event.text for each in _LOOKED_UP)


# The incidents of one client.


@dataclass
class _Open:
    cause: str
    weight: int
    first: LogEvent
    evidence: list[LogEvent]
    is_join_seen: bool = False
    is_over: bool = False  # it lost its coordinator, and knows one again


def _of_client(client: Client) -> Iterator[tuple[Rebalance, int]]:
    """What one client went through, in the order of its log, and how much is known of each."""
    now: _Open | None = None
    is_member = is_new = was_member = False
    for event in client.events:
        cause, weight = said_by(event)
        is_new = is_new or (not is_member and is_start(event))
        if is_new and now is not None and now.cause in (NO_COORDINATOR, MOVED):
            now.cause, now.weight = UNKNOWN, SOMETHING  # it was looking for its first one
        is_first = event.kind == kinds.COORDINATOR_FOUND and not was_member
        if is_first and now is not None and all(_is_look_up(each) for each in now.evidence):
            now = None
        if event.kind == kinds.COORDINATOR_FOUND and now is not None and now.cause in (NO_COORDINATOR, MOVED):
            now.is_over = True
        was_member = was_member or event.kind in _OF_MEMBERS
        if is_new and cause in (TOPICS, SUBSCRIPTION, NO_COORDINATOR, MOVED):
            cause, weight = UNKNOWN, SOMETHING  # it has just learned of them, or not yet found it
        if event.kind == kinds.SUBSCRIPTION_UPDATED and (not is_member or is_start(event)):
            cause, weight = UNKNOWN, NOTHING
        is_joined = event.kind in (kinds.CLIENT_JOINED, "ClientSynced") and (event.generation or 0) > 0
        is_joined = is_joined or (event.kind == kinds.CLIENT_JOINED and event.generation is None)  # as kafkajs
        if now is not None and event.kind != kinds.CLIENT_ALIVE and gap_ms(now.evidence[-1], event) > LONGEST_GAP_MS:
            yield _incident(client, now, None), now.weight
            now = None
        if event.kind == kinds.CLIENT_JOINING or is_joined:
            if now is not None and now.cause in _GONE:
                yield _incident(client, now, None), now.weight
                now = None
            if now is None and not (is_joined and is_member):
                now = _Open(UNKNOWN, SOMETHING, event, [event], True)
        elif weight > NOTHING:
            is_other = now is not None and now.cause in _GONE and cause not in _GONE and weight == NAMED
            is_next = now is not None and (
                (now.is_over and cause in _LATER) or _is_of_another_life(now.evidence[-1], event, now.cause, cause)
            )
            if now is not None and ((is_other and cause != MOVED) or is_next):
                yield _incident(client, now, None), now.weight
                now = None
            if now is None:
                now = _Open(cause, weight, event, [event])
            elif now.cause == CLOSED and cause == UNSUBSCRIBED:
                now.evidence.append(event)  # whoever closes gives up its subscription, too
            elif now.cause == CLOSED and cause == LEFT:
                now.weight = NAMED
                now.evidence.append(event)
            elif weight > now.weight or (weight == now.weight == SOMETHING and now.cause == UNKNOWN):
                now.cause, now.weight, now.is_join_seen = cause, weight, False
                now.evidence.append(event)
            else:
                now.evidence.append(event)
        if is_joined:
            if now is not None:
                if is_new and now.cause == UNKNOWN:
                    now.cause, now.weight, now.is_join_seen = JOINED, NAMED, False
                yield _incident(client, now, event), now.weight
            now, is_member, is_new = None, True, False
    if now is not None:
        yield _incident(client, now, None), now.weight


LONGEST_GAP_MS = 60_000  # between two lines about one rebalance


def gap_ms(before: LogEvent, event: LogEvent) -> int:
    """How far two events are apart; 0 where a line has no date."""
    if before.time_ms is None or event.time_ms is None:
        return 0
    return abs(event.time_ms - before.time_ms)


def _own_words(event: LogEvent) -> str | None:
    """The reason that a client gives, in a field of its own or in front of what it does about it."""
    if event.reason:
        return event.reason
    before, forced, _ = event.text.partition(_FORCED)
    return before.rstrip(". ") if forced else None


def _incident(client: Client, one: _Open, end: LogEvent | None) -> Rebalance:
    if one.cause == CLOSED and one.weight == SOMETHING:
        one.cause = UNKNOWN
    members = {each.member for each in one.evidence if each.member}
    reasons = (said for each in one.evidence if (said := _own_words(each)))
    generation = next((each.generation for each in one.evidence if each.generation is not None), None)
    is_new = any(each.kind in (kinds.CLIENT_EPOCH, kinds.CLIENT_FENCED) for each in one.evidence)
    is_new = is_new or any("ConsumerGroupHeartbeat" in each.text for each in one.evidence)
    is_new = is_new and not any("nstance" in each.text for each in one.evidence if each.kind == kinds.CLIENT_FENCED)
    return Rebalance(
        client.group,
        CONSUMER if is_new else CLASSIC,
        one.first.time_ms,
        None if end is None else end.time_ms,
        one.cause,
        members.pop() if len(members) == 1 else None,
        client.name,
        client.host,
        end.generation - 1 if end is not None and end.generation is not None else generation,
        False,
        (),
        tuple(one.evidence[:MOST_EVIDENCE]),
        next(reasons, None) if one.cause in (UNKNOWN, REJOINED, LEFT) else None,
        is_join_seen=one.is_join_seen,
    )


MOST_EVIDENCE = 5  # lines that an incident names


def _is_near(one: Rebalance, other: Rebalance) -> bool:
    """Whether both may be the same: by their times, and each lasts as long as its lines say."""
    if one.started_ms is None or other.started_ms is None:
        return one.started_ms is None and other.started_ms is None
    begins, ends = other.started_ms - NEAR_MS, (other.ended_ms or other.started_ms) + NEAR_MS
    return begins <= (one.ended_ms or one.started_ms) and one.started_ms <= ends


def _has(rebalances: Sequence[Rebalance], incident: Rebalance, weight: int) -> int | None:
    """Which of the rebalances already is this incident; None: none."""
    for place, one in enumerate(rebalances):
        is_near = _is_near(incident, one)
        if is_near and (weight == SOMETHING or one.cause == incident.cause):
            return place
        if is_near and one.client == incident.client and incident.cause in CAUSES[one.cause].covers:
            return place
        if is_near and one.cause in CAUSES[incident.cause].covers:
            return place
        if any(each in one.evidence for each in incident.evidence) and one.cause != JOINED:
            return place
    return None


def with_incidents(rebalances: Sequence[Rebalance], clients: Iterable[Client]) -> list[Rebalance]:
    """Rebalances that clients saw, and what else they went through."""
    found = [*rebalances]
    said = [each for client in clients for each in _of_client(client)]
    said.sort(key=lambda each: -each[1])  # what says most comes first: others may be the same, seen by another
    for incident, weight in said:
        place = _has(found, incident, weight)
        if place is None:
            unnamed = next(
                (
                    at
                    for at, one in enumerate(found)
                    if one.cause == UNKNOWN
                    and one.client in (None, incident.client)
                    and _is_near(incident, one)
                    and incident.cause not in _GONE
                ),
                None,
            )
            if unnamed is None:
                found.append(incident)
            else:
                found[unnamed] = replace(
                    found[unnamed],
                    cause=incident.cause,
                    client=incident.client,
                    host=incident.host,
                    evidence=(*found[unnamed].evidence, *incident.evidence),
                    said=incident.said,
                )
        elif found[place].cause == UNKNOWN and found[place].is_join_seen and not incident.is_join_seen:
            found[place] = replace(found[place], is_join_seen=False, said=incident.said)
    return sorted(found, key=lambda each: each.started_ms or each.ended_ms or 0)


# What a broker's log shows of a group outside of its rebalances.

_ALONE = (kinds.MEMBER_FAILED, kinds.MEMBER_LEFT, kinds.MEMBER_FENCED, kinds.SYNC_MISSING, kinds.MEMBER_JOINED)


def of_broker(group: str | None, found: Sequence[LogEvent], rebalances: Sequence[Rebalance]) -> list[Rebalance]:
    """Members that failed, left or came, and generations that began, of which a rebalance is no part."""
    missing: list[Rebalance] = []
    state, last_generation = None, None
    for event in found:
        is_alone = event.kind in _ALONE or (event.kind == kinds.STATIC_FENCED and not rebalances)
        cause = said_by(event)[0] if is_alone else None
        is_end = event.kind in (COMPLETING, STABLE, EMPTY)
        if is_end and state is None and event.generation != last_generation and not rebalances:
            cause = JOINED if event.kind != EMPTY and event.generation in (0, 1) else UNKNOWN
        if event.kind in (PREPARING, COMPLETING, STABLE, EMPTY):
            state, last_generation = event.kind, event.generation
        if cause is None:
            continue
        one = Rebalance(
            *(group, CLASSIC, event.time_ms, event.time_ms if is_end else None, cause, event.member),
            client_of(event.member) if event.member else None,
            host_of(event),
            event.generation - 1 if is_end and event.generation else event.generation,
            *(False, (), (event,)),
            own_reason(event.reason) or (event.reason if cause == LEFT and event.reason != "not provided" else None),
        )
        known = (each for each in rebalances if not _is_before(event, each, found))
        if not any(_is_near(one, each) or _within(one, each) for each in known) and not any(
            _is_near(one, each) and each.member == one.member and each.cause == one.cause for each in missing
        ):
            missing.append(one)
    return missing


def _is_before(event: LogEvent, other: Rebalance, found: Sequence[LogEvent]) -> bool:
    """Whether a group came to rest between an event and the rebalance that began after it: they are two."""
    since, until = event.time_ms, other.started_ms
    if since is None or until is None or until <= since or event in other.evidence:
        return False
    return any(each.kind in (COMPLETING, STABLE) and since < (each.time_ms or 0) < until for each in found)


def _within(one: Rebalance, other: Rebalance) -> bool:
    """Whether it happened while another rebalance went on."""
    if one.started_ms is None or other.started_ms is None or one.started_ms < other.started_ms:
        return False
    return other.ended_ms is None or one.started_ms <= other.ended_ms


def host_of(event: LogEvent) -> str | None:
    """Where a member is, as a broker writes it."""
    host = event.fields.get("host")
    return host.lstrip("/") if isinstance(host, str) else None


# Whether an all-clear is possible at all.

_AT_REST = (STABLE, EMPTY, kinds.STATIC_REPLACED, "StaticWithoutRebalance", kinds.TARGET_COMPUTED)
_TROUBLE = (kinds.GROUP_UNLOADED, kinds.GROUP_LOADED, kinds.STATIC_FENCED, kinds.STATIC_UNRELEASED, "StoreFailed")


def is_whole(found: Sequence[LogEvent], rebalances: Sequence[Rebalance], clients: Iterable[Client]) -> bool:
    """Whether lines show a group that came to rest, and nothing after it that would say otherwise.

    A broker's line about its state is such evidence, or a client that joined a first generation; heartbeats, a
    coordinator that was found, partitions that were given up are none.
    """
    if any(each.kind in _TROUBLE for each in found):
        return False
    if not rebalances and any(each.kind == kinds.TARGET_COMPUTED for each in found):
        return False  # a new assignment, of which the beginning is missing
    if any(each.cause == UNKNOWN or each.ended_ms is None for each in rebalances if each.cause != JOINED):
        return False
    if any(each.cause == JOINED and each.ended_ms is None and each.started_ms is not None for each in rebalances):
        return False
    if found:
        return any(each.kind in _AT_REST for each in found)
    return bool(rebalances) and any(client.first_joined_ms is not None for client in clients)
