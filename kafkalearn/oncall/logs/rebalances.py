"""Events -> the rebalances of each group: when, how long, why, and who is behind it.

`histories` takes the events of brokers and clients together. The rebalances of a group are read from its coordinator's
log, by the protocol that it speaks (`of_classic_group`, `of_consumer_group`). Where that log says too little, the logs
of the clients are asked (`own_words`); where there is none, they are all there is (`of_clients`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from kafkalearn.groups.defaults import COMPLETING, EMPTY, PREPARING, STABLE
from kafkalearn.oncall.logs import causes
from kafkalearn.oncall.logs import lines as kinds
from kafkalearn.oncall.logs.clients import (
    CLASSIC,
    CONSUMER,
    NEAR_MS,
    Client,
    Clients,
    GroupHistory,
    Rebalance,
    is_away,
    is_generation,
)
from kafkalearn.oncall.logs.incidents import gap_ms, host_of, is_start, is_whole, of_broker, with_incidents
from kafkalearn.oncall.logs.lines import BEHIND_UNKNOWN, BROKER, LogEvent

__all__ = ["CLASSIC", "CONSUMER", "GroupHistory", "Rebalance", "histories"]


# What members do that makes a group rebalance, and how near to it that stands in a log.

AT_ONCE_MS = 200  # what a coordinator writes about one request stands so near
SAME_REQUEST_MS = 2000  # and so near when it is slow

_CHANGES = frozenset(
    {
        *(kinds.MEMBER_JOINED, kinds.MEMBER_LEFT, kinds.MEMBER_FAILED, kinds.MEMBER_FENCED),
        *(kinds.SUBSCRIPTION_UPDATED, kinds.TOPICS_UPDATED, kinds.STATIC_REPLACED),
    }
)
"""After these a coordinator begins a rebalance; of two the last counts."""


# What the log of a client says of a rebalance, where the coordinator's leaves it open.

REQUEST_MS = 1500  # so long before a rebalance the request was sent that has caused it, and no longer


def with_clients(one: Rebalance, clients: Clients, since_ms: int = 0) -> Rebalance:
    """The same with what a client's own log says about it."""
    client = clients.behind(one.group, one.member)
    if client is not None:
        one = replace(one, client=client.name or one.client, host=one.host or client.host)
    if one.started_ms is not None and one.cause == causes.UNKNOWN:
        return _named_by_clients(one, clients, since_ms)
    if one.started_ms is None or not causes.CAUSES[one.cause].covers:
        return one
    near = [client] if client is not None else clients.of_group(one.group) if one.member is None else []
    allowed = causes.CAUSES[one.cause].covers
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
        cause, event = own_words(client, started_ms, tuple(causes.CAUSES), before_ms, AT_ONCE_MS)
        if any(-AT_ONCE_MS <= started_ms - join_ms <= before_ms for join_ms in client.joins_ms):
            cause = causes.JOINED if cause is None else causes.UNKNOWN
            event = event or client.around(started_ms, before_ms, AT_ONCE_MS)[0]
        if cause is not None and event is not None:
            said.append((client, cause, event))
    if len(said) != 1 or said[0][1] == causes.UNKNOWN:
        return one
    client, cause, event = said[0]
    member = next(iter(client.members)) if len(client.members) == 1 else None
    return replace(
        one, cause=cause, member=member, client=client.name, host=client.host, evidence=(*one.evidence, event)
    )


_ACTS = frozenset(
    {
        *(kinds.POLL_EXPIRED, kinds.CLIENT_CLOSING, kinds.CLIENT_LEAVING),
        *(kinds.SUBSCRIPTION_UPDATED, kinds.TOPICS_UPDATED, kinds.REJOIN_REQUESTED),
    }
)
"""What a client does of its own, so that its group rebalances; all else is what it hears of a rebalance."""


def own_words(
    client: Client, time_ms: int, allowed: Sequence[str], before_ms: int = NEAR_MS, after_ms: int = 1000
) -> tuple[str | None, LogEvent | None]:
    """What a client did about that time, if its log leaves no doubt: a cause, one of those allowed, and the line."""
    found: dict[str, LogEvent] = {}
    is_another = False
    for event in client.around(time_ms, before_ms, after_ms):
        cause, weight = causes.said_by(event) if event.kind in _ACTS else (causes.UNKNOWN, causes.NOTHING)
        is_first = client.first_joined_ms is None or (event.time_ms or 0) < client.first_joined_ms
        is_news = is_first and cause in (causes.SUBSCRIPTION, causes.TOPICS)
        is_said = cause not in (causes.UNKNOWN, causes.JOINED) and weight != causes.BROAD
        is_again = cause in found and found[cause].kind == event.kind  # of one kind the first line counts
        if is_said and cause in allowed and not (is_news or is_again):
            found[cause] = event
        is_another = is_another or (event.kind == kinds.CLIENT_MEMBER_ID and event.member is not None)
    if is_another:  # it has just begun, maybe in the log of the one before it
        found.pop(causes.SUBSCRIPTION, None)
        found.pop(causes.TOPICS, None)
    if causes.POLL in found:
        found.pop(causes.CLOSED, None)  # whoever is late leaves, too
    if causes.CLOSED in found:
        found.pop(causes.UNSUBSCRIBED, None)  # whoever closes gives up its subscription, too
    if causes.SUBSCRIPTION in found:
        found.pop(causes.TOPICS, None)  # new topics are new metadata
    if len(found) != 1:
        return None, None
    return next(iter(found.items()))


# The rebalances of a group as its clients alone saw them.


def of_clients(group: str | None, clients: Clients) -> list[Rebalance]:
    """Rebalances as the clients alone see them, one for each generation that some of them has joined."""
    joined: dict[int, list[_Seen]] = defaultdict(list)
    for client in clients.of_group(group):
        started: int | None = None
        is_new, is_known, last = False, False, 0
        for event in client.events:
            if event.kind == kinds.CLIENT_JOINING:
                started = event.time_ms if started is None else started
            elif is_away(event) or (last == 0 and is_start(event)):
                is_new = is_known = True
                started = None if is_away(event) else started
            elif is_generation(event) and event.generation is not None and event.generation > last:
                last = event.generation
                is_new = is_new or last == 1
                joined[last].append(_Seen(client, started, event, is_new, is_known or last == 1))
                started, is_new, is_known = None, False, True
    return [_seen_by_clients(group, generation, each, clients) for generation, each in sorted(joined.items())]


class _Seen(NamedTuple):
    """A client that has joined a generation."""

    client: Client
    started_ms: int | None
    event: LogEvent
    is_new: bool  # it was no member before
    is_known: bool  # the log shows whether it was


def _seen_by_clients(group: str | None, generation: int, seen: list[_Seen], clients: Clients) -> Rebalance:
    started = min((each.started_ms for each in seen if each.started_ms is not None), default=None)
    ended = max((each.event.time_ms for each in seen if each.event.time_ms is not None), default=None)
    said: list[tuple[Client, str, LogEvent]] = []
    for each in seen:
        cause, line = (causes.JOINED, each.event) if each.is_new else (None, None)
        if cause is None and each.started_ms is not None:
            cause, line = own_words(
                each.client, each.started_ms, (causes.SUBSCRIPTION, causes.TOPICS, causes.SECOND_ROUND)
            )
        if cause is not None and line is not None:
            said.append((each.client, cause, line))
    if started is not None:
        there = [each.client for each in seen]
        for client in clients.of_group(group):
            if not any(client is each for each in there):
                cause, line = own_words(client, started, (causes.POLL, causes.CLOSED))
                if cause is not None and line is not None:
                    said.append((client, cause, line))
    is_clear = len({cause for _, cause, _ in said}) == 1
    only = said[0] if is_clear and len(said) == 1 else None
    return Rebalance(
        group,
        CLASSIC if seen[0].event.kind == kinds.CLIENT_JOINED else CONSUMER,
        started,
        ended,
        said[0][1] if is_clear else causes.UNKNOWN,
        None if only is None else only[2].member,
        only[0].name if only is not None else seen[0].client.name if len(seen) == 1 and not said else None,
        None if only is None else only[0].host,
        generation - 1,
        False,
        (),
        tuple(each for _, _, each in said) or (seen[0].event,),
        is_join_seen=not said and not any(each.is_known for each in seen),
    )


# The rebalances of a classic group, by its coordinator's log.


def of_classic_group(group: str | None, found: list[LogEvent], clients: Clients) -> list[Rebalance]:
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
        elif event.kind in _CHANGES:
            before = event
    return rebalances


def _begun(
    group: str | None, event: LogEvent, before: LogEvent | None, state: str | None, clients: Clients, since_ms: int
) -> Rebalance:
    cause, member = causes.cause_of_reason(event.reason) if event.reason is not None else (causes.UNKNOWN, None)
    evidence = [event]
    is_near = before is not None and gap_ms(before, event) <= SAME_REQUEST_MS
    if event.reason is None:
        if is_near and before.kind in (kinds.MEMBER_FAILED, kinds.MEMBER_LEFT, kinds.MEMBER_JOINED):
            cause, member = causes.said_by(before)[0], before.member
            evidence.insert(0, before)
        elif state == EMPTY or (state is None and event.generation == 0):
            cause = causes.JOINED  # nothing else takes a group out of Empty
    elif cause == causes.LEFT and is_near and before.kind == kinds.MEMBER_LEFT and member in (None, before.member):
        cause = causes.said_by(before)[0]
        evidence.insert(0, before)
    host = host_of(before) if is_near and before.member == member else None
    return with_clients(
        Rebalance(
            group,
            CLASSIC,
            event.time_ms,
            None,
            cause,
            member,
            causes.client_of(member) if member else None,
            host,
            event.generation,
            False,
            (),
            tuple(evidence),
            causes.own_reason(event.reason) or (causes.own_reason(evidence[0].reason) if len(evidence) > 1 else None),
            causes.members_of(member),
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


# The rebalances of a KIP-848 group, by its coordinator's log.


def of_consumer_group(group: str | None, found: list[LogEvent], clients: Clients) -> list[Rebalance]:
    """The rebalances of a group by its events, one for each new group epoch."""
    rebalances: list[Rebalance] = []
    before: LogEvent | None = None
    last_hash: object = None
    bumped = {event.generation for event in found if event.kind == kinds.EPOCH_BUMPED}
    target: frozenset[str] = frozenset()  # the members in the last assignment that a line has in full
    open_from = 0  # the first rebalance that no assignment has ended yet
    silent = _SilentEpochs(group, _is_of_share_group(found))
    for place_of_event, event in enumerate(found):
        shown = silent.seen_at(event)
        rebalances += [with_clients(each, clients) for each in shown]
        if shown and event.kind == kinds.EPOCH_BUMPED and before in shown[-1].evidence:  # 4.2 bumps once more
            before, last_hash = None, event.fields.get("hash")
        elif event.kind == kinds.EPOCH_BUMPED:
            before = before or _out_of_order(found, place_of_event)
            cause, member, evidence = _cause_of_bump(event, before, last_hash, silent.is_share)
            one = Rebalance(
                *(group, CONSUMER, event.time_ms, None, cause, member, None, None, event.generation, False, ()),
                evidence,
            )
            rebalances.append(with_clients(one, clients))
            before, last_hash = None, event.fields.get("hash")
        elif event.kind == kinds.TARGET_COMPUTED and event.generation not in bumped | silent.epochs:
            rebalances.append(with_clients(_of_target(group, event, target), clients))
            target, open_from = members_in(event) or target, len(rebalances)
        elif event.kind == kinds.TARGET_COMPUTED:
            target = members_in(event) or target
            for place in range(len(rebalances) - 1, open_from - 1, -1):
                if (rebalances[place].generation or 0) > (event.generation or 0):
                    break
                rebalances[place] = replace(rebalances[place], ended_ms=event.time_ms)
                open_from = len(rebalances)
        elif event.kind in _CHANGES and not _is_part_of_join(event, before):
            before = event
    return rebalances


def _is_of_share_group(found: Iterable[LogEvent]) -> bool:
    return any(each.kind == kinds.MEMBER_JOINED and each.fields.get("protocol") == "share" for each in found)


def _is_part_of_join(event: LogEvent, before: LogEvent | None) -> bool:
    """Whether a line belongs to the request of a member that has just joined: its topics, and what is new of them."""
    if before is None or before.kind != kinds.MEMBER_JOINED or gap_ms(before, event) > SAME_REQUEST_MS:
        return False
    is_own = event.kind == kinds.SUBSCRIPTION_UPDATED and event.member == before.member
    return is_own or event.kind == kinds.TOPICS_UPDATED


class _SilentEpochs:
    """The epochs of a share group that no line says: those of members that left, or were not heard of.

    The next line with an epoch shows them: it is greater by as many as members have gone (recorded of 4.2.1 and 4.4.0).
    """

    def __init__(self, group: str | None, is_share: bool) -> None:
        self.group, self.is_share = group, is_share
        self.last: int | None = None
        self.gone: list[LogEvent] = []
        self.epochs: set[int] = set()

    def seen_at(self, event: LogEvent) -> list[Rebalance]:
        """The rebalances that a line shows to have begun before it."""
        if not self.is_share:
            return []
        if event.kind in (kinds.MEMBER_LEFT, kinds.MEMBER_FAILED, kinds.MEMBER_FENCED):
            self.gone.append(event)
        is_own = event.kind == kinds.EPOCH_BUMPED
        if event.generation is None or not (is_own or event.kind == kinds.TARGET_COMPUTED):
            return []
        gone, last, self.gone, self.last = self.gone, self.last, [], event.generation
        if last is None or event.generation - last - is_own != len(gone):
            return []
        self.epochs |= {last + nth for nth in range(1, len(gone) + 1)}
        return [self._rebalance(each, last + nth) for nth, each in enumerate(gone, start=1)]

    def _rebalance(self, event: LogEvent, epoch: int) -> Rebalance:
        cause = causes.said_by(event)[0]
        return Rebalance(
            *(self.group, CONSUMER, event.time_ms, None, cause, event.member, None, None, epoch, False, ()), (event,)
        )


_IN_TARGET = re.compile(r"[{ ]([^\s{}=,]+)=MemberAssignment\(")


def members_in(event: LogEvent) -> frozenset[str]:
    """The members of a target assignment, where its line has them, as those of 4.0 to 4.2 do.

    >>> from kafkalearn.oncall.logs import read
    >>> front = "[2026-11-22 15:46:13,000] INFO [GroupId g] Computed a new target assignment for epoch 4 with 'range' "
    >>> members_in(read([f"{front}assignor in 1ms: {{c1=MemberAssignment(partitions={{}})}}. (a.B)"]).events[0])
    frozenset({'c1'})
    """
    return frozenset(_IN_TARGET.findall(str(event.fields.get("rest", ""))))


def _of_target(group: str | None, event: LogEvent, before: frozenset[str]) -> Rebalance:
    """The rebalance of an epoch of which only the assignment is seen: who came and went is who is in it now."""
    now = members_in(event)
    came, went = now - before, before - now
    cause, member = causes.UNKNOWN, None
    if before and now and len(came) + len(went) == 1:
        cause, member = (causes.JOINED, *came) if came else (causes.LEFT, *went)
    name = causes.client_of(member) if member else None
    return Rebalance(
        *(group, CONSUMER, event.time_ms, event.time_ms, cause, member, name, None, event.generation, False, ()),
        (event,),
    )


def _out_of_order(found: list[LogEvent], place: int) -> LogEvent | None:
    """What a member did in the millisecond of a new epoch, where a collector has put the two in the other order."""
    event = found[place]
    behind = (found[at] for at in range(place + 1, len(found)))
    for later in behind:
        if later.time_ms is None or later.time_ms != event.time_ms or later.kind == kinds.EPOCH_BUMPED:
            return None
        if later.kind in _CHANGES:
            return None if _has_own_epoch(later, behind) else later
    return None


def _has_own_epoch(event: LogEvent, behind: Iterable[LogEvent]) -> bool:
    """Whether a new epoch follows what a member did, so that it belongs to that one."""
    near = takewhile(lambda each: gap_ms(event, each) <= SAME_REQUEST_MS, behind)
    return any(each.kind == kinds.EPOCH_BUMPED for each in near)


def _cause_of_bump(
    event: LogEvent, before: LogEvent | None, last_hash: object, is_share: bool
) -> tuple[str, str | None, tuple[LogEvent, ...]]:
    """Why a group epoch went up: by what a member did just before; else something was changed."""
    near_ms = AT_ONCE_MS if before is not None and before.kind == kinds.STATIC_REPLACED else SAME_REQUEST_MS
    if before is not None and gap_ms(before, event) <= near_ms:
        return causes.said_by(before)[0], before.member, (before, event)
    if event.fields.get(BEHIND_UNKNOWN):
        return causes.UNKNOWN, None, (event,)  # what a member did may stand in the line that was not understood
    new_hash = event.fields.get("hash")
    is_same = new_hash is not None and new_hash == last_hash
    same = causes.INITIALISED if is_share else causes.SUBSCRIPTION  # a share group's changed subscription has its line
    return (same if is_same else causes.EITHER), None, (event,)


# Events -> the history of each group: its rebalances, and what happened without one.

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


def histories(events: Sequence[LogEvent]) -> tuple[GroupHistory, ...]:
    """The history of each group, by its name.

    Parameters
    ----------
    events : sequence of LogEvent
        In the order of time, as `kafkalearn.oncall.logs.read` gives them.

    Examples
    --------
    >>> from kafkalearn.oncall.logs import read
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
    is_timed = any(event.time_ms is not None for event in events)
    known = events if is_timed else [each._replace(time_ms=at * LINE_MS) for at, each in enumerate(events)]
    clients = Clients(known)
    by_group: dict[str | None, list[LogEvent]] = defaultdict(list)
    for event in known:
        if event.writer == BROKER and event.group is not None:
            by_group[event.group].append(event)
    clients.join(by_group)
    _give_groups(known, by_group)
    names = {*by_group, *(each.group for each in clients.all)}
    found = (_history(name, by_group.get(name, []), clients) for name in sorted(names, key=lambda each: each or ""))
    kept = (each for each in found if each.group is not None or each.rebalances or each.seen)
    return tuple(kept) if is_timed else tuple(map(_without_times, kept))


LINE_MS = 1000  # where no line has a time, their order stands for it: a second for each


def _without_times(history: GroupHistory) -> GroupHistory:
    def plain(found: Iterable[LogEvent]) -> tuple[LogEvent, ...]:
        return tuple(each._replace(time_ms=None) for each in found)

    return replace(
        history,
        rebalances=tuple(
            replace(each, started_ms=None, ended_ms=None, evidence=plain(each.evidence)) for each in history.rebalances
        ),
        notes=plain(history.notes),
    )


def _give_groups(events: Iterable[LogEvent], by_group: dict[str | None, list[LogEvent]]) -> None:
    """Give lines of a broker that name no group, as those of fenced static members, to the one that they speak of."""
    for event in events:
        if event.writer != BROKER or event.group is not None or event.kind != kinds.STATIC_FENCED:
            continue
        who = {event.member, event.fields.get("new_member"), event.fields.get("instance")} - {None}
        named = [
            group
            for group, found in by_group.items()
            if group is not None and any(each.member in who or each.fields.get("instance") in who for each in found)
        ]
        groups = [each for each in by_group if each is not None]
        chosen = named[0] if len(named) == 1 else groups[0] if len(groups) == 1 else None
        by_group[chosen].append(event)
        by_group[chosen].sort(key=lambda each: each.time_ms or 0)


def _history(group: str | None, found: list[LogEvent], clients: Clients) -> GroupHistory:
    is_consumer = any(each.kind in (kinds.EPOCH_BUMPED, kinds.TARGET_COMPUTED) for each in found)
    own = clients.of_group(group)
    if is_consumer:
        rebalances = [*of_consumer_group(group, found, clients), *of_classic_group(group, found, clients)]
        rebalances.sort(key=lambda each: each.started_ms or 0)
    elif any(each.kind == PREPARING for each in found):
        rebalances = of_classic_group(group, found, clients)
    else:
        rebalances = with_incidents(of_clients(group, clients), own)
    if not is_consumer:
        more = of_broker(group, found, rebalances)
        rebalances = sorted([*rebalances, *more], key=lambda each: each.started_ms or 0) if more else rebalances
    notes = tuple(each for each in found if each.kind in _NOTES)
    is_new = is_consumer or (not found and bool(rebalances) and all(one.protocol == CONSUMER for one in rebalances))
    is_new = is_new or (not found and not rebalances and any(map(_is_of_consumer_group, own)))
    protocol = CONSUMER if is_new else CLASSIC
    whole = is_whole(found, rebalances, own)
    said = dict.fromkeys(kinds.EVENTS[each.kind] for each in (*found, *(each for one in own for each in one.events)))
    return GroupHistory(
        *(group, protocol, tuple(rebalances), notes, bool(found), _is_rolling(rebalances)),
        whole,
        () if whole else tuple(said),
        _is_of_share_group(found),
    )


def _is_of_consumer_group(client: Client) -> bool:
    """Whether a client writes epochs and states, which only those of KIP-848 have."""
    return any(each.kind == kinds.CLIENT_EPOCH for each in client.events)


def _is_rolling(rebalances: Iterable[Rebalance]) -> bool:
    """Whether members left and came back one after the other, at least two of them."""
    pairs, gone = set(), None
    for each in rebalances:
        if each.cause in (causes.CLOSED, causes.LEFT):
            gone = each.client
        elif each.cause == causes.JOINED and gone is not None and each.client == gone:
            pairs.add(gone)
            gone = None
        elif each.cause != causes.JOINED:
            gone = None
    return len(pairs) > 1
