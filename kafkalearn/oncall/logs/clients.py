"""Who is who in logs: the clients, their groups and member ids, and what each did; one rebalance, and one group.

`kafkalearn.oncall.logs.rebalances` finds the rebalances, by coordinators' logs and by those of clients;
`kafkalearn.oncall.logs.incidents` what a log shows without a rebalance from its beginning to its end.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kafkalearn.base.errors import listed
from kafkalearn.oncall.logs import causes
from kafkalearn.oncall.logs import lines as kinds
from kafkalearn.oncall.logs.causes import FATAL_STATES, FENCED_STATE, STALE_STATE, client_of
from kafkalearn.oncall.logs.lines import ANY_CLIENT, BROKER, ERLANG, GO, JAVASCRIPT, PYTHON, RUBY, LogEvent

NO_REASON = "the log does not say why"

# Whose log is whose: the clients in the logs, their groups and member ids, and what each did around a moment.

NOT_SET = "(not-set)"  # as librdkafka writes an empty member id
NEAR_MS = 5000  # by how much the clocks of a client and a broker may differ, and a request be on its way

AWAY = (kinds.POLL_EXPIRED, kinds.CLIENT_LEAVING, kinds.CLIENT_CLOSING, kinds.HEARTBEAT_FAILED)
"""After these a client is no member any more."""

GENERATIONS = (kinds.CLIENT_JOINED, kinds.CLIENT_EPOCH)
"""A client of the classic protocol, and one of KIP-848, has joined a generation."""

_NO_MEMBER_IN = (FENCED_STATE, STALE_STATE, *FATAL_STATES, "UNSUBSCRIBED", "LEAVING", "PREPARE_LEAVING", "JOINING")


def is_away(event: LogEvent) -> bool:
    """Whether a client is no member any more: it left, or a state of KIP-848 says so."""
    if event.kind == kinds.CLIENT_EPOCH:
        return event.fields.get("state") in _NO_MEMBER_IN
    return event.kind in AWAY or event.kind == kinds.CLIENT_FENCED


def is_generation(event: LogEvent) -> bool:
    """Whether a client is a member in a generation, or at an epoch."""
    return event.kind in GENERATIONS and (event.generation or 0) > 0 and not is_away(event)


@dataclass(slots=True)
class Client:
    """One client: a log, and a name in it."""

    name: str | None  # its client.id
    source: str
    group: str | None = None
    members: set[str] = field(default_factory=set)
    host: str | None = None
    first_joined_ms: int | None = None  # since when it is a member
    joins_ms: list[int] = field(default_factory=list)  # when it sent JoinGroup without being a member
    is_member: bool = False  # as far as its log has come
    events: list[LogEvent] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def note(self, event: LogEvent) -> None:
        """Keep whether it is a member, and when it wanted to be one."""
        if is_generation(event):
            self.is_member = True
            self.first_joined_ms = event.time_ms if self.first_joined_ms is None else self.first_joined_ms
        elif is_away(event):
            self.is_member = False
        elif event.kind == kinds.CLIENT_JOINING and not self.is_member and event.time_ms is not None:
            self.joins_ms.append(event.time_ms)

    def around(self, time_ms: int, before_ms: int = NEAR_MS, after_ms: int = 1000) -> list[LogEvent]:
        """What it did about that time."""
        first = bisect_left(self.times, time_ms - before_ms)
        return self.events[first : bisect_right(self.times, time_ms + after_ms)]


_WITHOUT_NAMES = (GO, JAVASCRIPT, ERLANG, RUBY, ANY_CLIENT)
"""Whose lines often name a member or nothing, and seldom a client."""


def _name_in(event: LogEvent) -> str | None:
    named = event.fields.get("client")
    if named is None and event.writer in _WITHOUT_NAMES and event.member:
        return client_of(event.member)
    return None if named is None else str(named)


def _only_names(events: Iterable[LogEvent]) -> dict[tuple[str, str], str]:
    """The name of the client of each log that has one alone: lines of it that name nobody are its own."""
    names: dict[tuple[str, str], set[str]] = defaultdict(set)
    for event in events:
        if event.writer not in (BROKER, PYTHON) and (name := _name_in(event)) is not None:
            names[event.source, str(event.fields.get("host"))].add(name)
    return {place: found.pop() for place, found in names.items() if len(found) == 1}


def _names(by_group: Mapping[str | None, Sequence[LogEvent]]) -> set[str]:
    """The client.ids in the lines of brokers."""
    return {client_of(who) for found in by_group.values() for each in found if (who := _member_of(each)) is not None}


def _member_of(event: LogEvent) -> str | None:
    """The member that a broker's line names, if need be in its reason."""
    return event.member or (causes.cause_of_reason(event.reason)[1] if event.reason is not None else None)


class Clients:
    """All clients of some logs.

    A client of Java or librdkafka is known by the name in its lines; one of Python has none there, so that its log
    counts as one client.
    """

    def __init__(self, events: Iterable[LogEvent]) -> None:
        """Events in the order of time."""
        found: dict[tuple[str, str, str | None], Client] = {}
        events = [*events]
        alone = _only_names(events)
        for event in events:
            if event.writer == BROKER:
                continue
            if event.kind == kinds.CLIENT_CONFIG and event.group is None:
                continue  # the settings of a consumer without a group
            named = _name_in(event) or alone.get((event.source, str(event.fields.get("host"))))
            name = str(named).partition("#")[0] if named is not None and event.writer != PYTHON else None
            key = (event.source, str(event.fields.get("host")), str(named) if name else None)
            client = found.get(key)
            if client is None:
                client = found[key] = Client(name, event.source)
            client.group = event.group or client.group
            host = event.fields.get("host")
            client.host = str(host) if host else client.host
            if event.member and event.member != NOT_SET:
                client.members.add(event.member)
                if client.name is None:
                    client.name = client_of(event.member)
            client.note(event)
            client.events.append(event)
            client.times.append(event.time_ms if event.time_ms is not None else client.times[-1] if client.times else 0)
        self.all = tuple(found.values())
        self._by_member = {member: each for each in self.all for member in each.members}
        self._by_group: dict[str | None, list[Client]] = defaultdict(list)
        for each in self.all:
            self._by_group[each.group].append(each)

    def join(self, by_group: Mapping[str | None, Sequence[LogEvent]]) -> None:
        """Give clients whose lines name no group, as librdkafka's loudest, the one that brokers' lines have them in.

        By the client.id that a member id begins with; if two groups have it, by who did something about that time.
        """
        for client in list(self._by_group.get(None, ())):
            beside = {each.group for each in self.all if each.source == client.source and each.group is not None}
            if client.name is None or client.name not in _names(by_group):
                if len(beside) == 1:  # a process that logs of one group, and a line of it that names nothing
                    self._give(client, beside.pop())
                continue
            near: list[str] = []
            named: list[str] = []
            for group, found in by_group.items():
                own = [each for each in found if client_of(_member_of(each) or "") == client.name]
                if group is not None and own:
                    named.append(group)
                    if any(abs((each.time_ms or 0) - at) <= NEAR_MS for each in own for at in client.times):
                        near.append(group)
            chosen = named if len(named) == 1 else near
            if len(chosen) == 1:
                self._give(client, chosen[0])

    def _give(self, client: Client, group: str) -> None:
        client.group = group
        self._by_group[None].remove(client)
        self._by_group[group].append(client)

    def of_group(self, group: str | None) -> Sequence[Client]:
        """Those of a group."""
        return self._by_group.get(group, ())

    def behind(self, group: str | None, member: str | None) -> Client | None:
        """The client that has a member id; by its client.id only if no other client of the group has the same."""
        if member is None:
            return None
        known = self._by_member.get(member)
        if known is not None:
            return known
        name = client_of(member)
        same = [each for each in self.of_group(group) if each.name == name]
        return same[0] if len(same) == 1 else None


# One rebalance of a group, and all that logs say about one group.

CLASSIC, CONSUMER = "classic", "consumer"


@dataclass(frozen=True, slots=True)
class Rebalance:
    """One rebalance of a group."""

    group: str | None  # None: no line names it
    protocol: str  # classic, or consumer (KIP-848)
    started_ms: int | None
    ended_ms: int | None  # None: the log ends before it does, or does not say
    cause: str  # a name in `CAUSES`
    member: str | None  # the member id behind it
    client: str | None  # its client.id
    host: str | None  # its host, or the pod whose log it is
    generation: int | None  # the generation before, or the new group epoch of KIP-848
    is_interrupted: bool  # another began before this one was over
    delayed_by: tuple[str, ...]  # members that were awaited until they were given up
    evidence: tuple[LogEvent, ...]
    said: str | None = None  # what the client itself gave as its reason
    members: tuple[str, ...] = ()  # where several are behind it, all of them
    is_join_seen: bool = False  # no more is seen than that a member joined, maybe as one that was there before

    @property
    def duration_ms(self) -> int | None:
        """From its first line to the assignment."""
        begin_ms, end_ms = self.started_ms, self.ended_ms
        return None if begin_ms is None or end_ms is None else end_ms - begin_ms

    @property
    def standstill_ms(self) -> int | None:
        """How long nobody reads, with an eager assignor; with KIP-848 nobody ever waits for all."""
        return 0 if self.protocol == CONSUMER else self.duration_ms

    @property
    def is_first(self) -> bool:
        """Whether the group has just been formed, by members that came to an empty one."""
        return self.cause == causes.JOINED and self.generation in (None, 0, 1) and not self.delayed_by

    @property
    def words(self) -> str:
        """The cause as a sentence."""
        said = causes.CAUSES[self.cause].words
        if self.cause == causes.POLL and any(each.fields.get(kinds.OF_A_WORKER) for each in self.evidence):
            said = "did not poll within the worker's rebalance.timeout.ms, and left by itself"
        if self.cause == causes.UNKNOWN and self.is_join_seen:
            who = self.client or self.member or "a member"
            return f"{who} joined; whether it was new, the log does not show"
        if self.said is not None and said.endswith(NO_REASON):
            known = said.removesuffix(NO_REASON).rstrip("; ")
            said = f"{known}{'; ' if known else ''}it says: {self.said!r}"
        who = listed([client_of(each) for each in self.members]) if self.members else self.client or self.member
        alone = (causes.TOPICS, causes.EITHER, causes.INITIALISED, causes.UNKNOWN, causes.CAPACITY, causes.STORE)
        if self.cause in alone or who is None:
            return said if self.cause in alone else f"a member {said}"
        return f"{who}{f' ({self.host})' if self.host else ''} {said}"


@dataclass(frozen=True, slots=True)
class GroupHistory:
    """What logs say about one group."""

    group: str | None  # None: no line names it
    protocol: str
    rebalances: tuple[Rebalance, ...]
    notes: tuple[LogEvent, ...]  # what happened without a rebalance: static members, a coordinator that moved
    has_broker: bool  # whether a broker's log speaks of it, or only its clients'
    is_rolling: bool  # members closed and came back one after the other
    is_whole: bool = True  # its lines show how the group stood at their end, and no member that went without an answer
    seen: tuple[str, ...] = ()  # what its lines say, in words, where they do not show how the group stood
    is_share: bool = False  # a line of its coordinator says that a member joined a share group
