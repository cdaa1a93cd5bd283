"""Whose log is whose: the clients in the logs, their groups and member ids, and what each did around a moment."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kafkalearn.server_logs.causes import client_of
from kafkalearn.server_logs.events import (
    BROKER,
    CLIENT_CLOSING,
    CLIENT_EPOCH,
    CLIENT_JOINED,
    CLIENT_JOINING,
    CLIENT_LEAVING,
    HEARTBEAT_FAILED,
    POLL_EXPIRED,
    PYTHON,
    LogEvent,
)

NOT_SET = "(not-set)"  # as librdkafka writes an empty member id
NEAR_MS = 5000  # by how much the clocks of a client and a broker may differ, and a request be on its way

AWAY = (POLL_EXPIRED, CLIENT_LEAVING, CLIENT_CLOSING, HEARTBEAT_FAILED)
"""After these a client is no member any more."""


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
        if event.kind in (CLIENT_JOINED, CLIENT_EPOCH) and (event.generation or 0) > 0:
            self.is_member = True
        elif event.kind in AWAY:
            self.is_member = False
        elif event.kind == CLIENT_JOINING and not self.is_member and event.time_ms is not None:
            self.joins_ms.append(event.time_ms)

    def around(self, time_ms: int, before_ms: int = NEAR_MS, after_ms: int = 1000) -> list[LogEvent]:
        """What it did about that time."""
        first = bisect_left(self.times, time_ms - before_ms)
        return self.events[first : bisect_right(self.times, time_ms + after_ms)]


class Clients:
    """All clients of some logs.

    A client of Java or librdkafka is known by the name in its lines; one of Python has none there, so that its log
    counts as one client.
    """

    def __init__(self, events: Iterable[LogEvent]) -> None:
        """Events in the order of time."""
        found: dict[tuple[str, str, str | None], Client] = {}
        for event in events:
            if event.writer == BROKER:
                continue
            named = event.fields.get("client")
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
            if event.kind in (CLIENT_JOINED, CLIENT_EPOCH) and (event.generation or 0) > 0:
                client.first_joined_ms = event.time_ms if client.first_joined_ms is None else client.first_joined_ms
            client.events.append(event)
            client.times.append(event.time_ms if event.time_ms is not None else client.times[-1] if client.times else 0)
        self.all = tuple(found.values())
        self._by_member = {member: each for each in self.all for member in each.members}
        self._by_group: dict[str | None, list[Client]] = defaultdict(list)
        for each in self.all:
            self._by_group[each.group].append(each)

    def of_group(self, group: str) -> Sequence[Client]:
        """Those of a group."""
        return self._by_group.get(group, ())

    def behind(self, group: str, member: str | None) -> Client | None:
        """The client that has a member id; by its client.id only if no other client of the group has the same."""
        if member is None:
            return None
        known = self._by_member.get(member)
        if known is not None:
            return known
        name = client_of(member)
        same = [each for each in self.of_group(group) if each.name == name]
        return same[0] if len(same) == 1 else None
