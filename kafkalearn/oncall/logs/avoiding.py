"""What would have avoided a rebalance: the scenario is built again from the log, and `find_change` is asked.

Only what a setting can avoid is asked for: a member that polled too late, one that was silent and came back, one that
was restarted. Of each kind the longest is played, in a group of as many members, with the settings that the logs show
and the defaults for all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall.logs import lines as kinds
from kafkalearn.oncall.logs.causes import CLOSED, HEARTBEATS, JOINED, POLL, client_of
from kafkalearn.oncall.logs.lines import LIBRDKAFKA, OF_A_WORKER, LogEvent
from kafkalearn.oncall.logs.rebalances import CLASSIC, GroupHistory, Rebalance
from kafkalearn.releases import default
from kafkalearn.releases.lines import DEFAULT_RELEASE
from kafkalearn.scenarios import events as scenario_events
from kafkalearn.scenarios import find_change
from kafkalearn.scenarios.finder import CANDIDATES

MOST_MEMBERS = 10  # of the scenario; more change nothing but the time it takes
STARTS_S = 60  # when it happens, in the scenario
LONGEST_AWAY_MS = 3_600_000  # whoever comes back later has not come back
HEARTBEAT = "heartbeat.interval.ms"
SESSION, POLL_INTERVAL, BROKER_SESSION = (
    "session.timeout.ms",
    "max.poll.interval.ms",
    "group.consumer.session.timeout.ms",
)
_WORTH_TRYING: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        POLL: (POLL_INTERVAL, "max.poll.records"),
        HEARTBEATS: (SESSION, BROKER_SESSION, "group.instance.id"),
        CLOSED: ("group.instance.id", SESSION, BROKER_SESSION),
    }
)
"""The settings that can avoid each cause; others are not tried."""

OF_WORKERS: Mapping[str, str] = MappingProxyType(
    {
        POLL: "rebalance.timeout.ms of the worker (60 s unless it is set) above the longest time that it needs between "
        "two polls: so long starting and stopping tasks may take. What the line says of poll settings is a consumer's, "
        "which a worker has not",
        HEARTBEATS: "session.timeout.ms of the worker (10 s unless it is set) above the longest time it was silent",
        CLOSED: "scheduled.rebalance.max.delay.ms of the worker (5 min unless it is set) above the time that a restart "
        "takes: its tasks wait for it so long (KIP-415)",
    }
)
"""What can avoid each cause for a worker of Kafka Connect, which has settings of its own: no scenario is played."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What would have avoided the rebalances of one cause."""

    cause: str
    count: int  # how many of them the log has, those that their return brought not counted
    scenario: str  # what was played, as `kafkalearn.scenarios.simulate` takes it
    settings: Mapping[str, object]  # those that the logs show
    change: str | None  # the smallest; None: nothing that was tried
    alternatives: tuple[str, ...]
    refused: str | None = None  # why nothing could be tried: the settings in the logs do not go together

    def __str__(self) -> str:
        """In one sentence."""
        what = f"for {self.cause} ({self.count} x)"
        if self.refused is not None:
            return f"{what}: nothing could be tried: {self.refused}"
        if self.change is None:
            return f"{what}: no setting that was tried avoids it"
        others = "".join(f"; or {each}" for each in self.alternatives)
        return f"{what}: {self.change}{others}"


def advice(
    history: GroupHistory,
    events: Sequence[LogEvent],
    settings: Mapping[str, object] | None = None,
    release: str = DEFAULT_RELEASE,
) -> tuple[Advice, ...]:
    """What would have avoided the rebalances of a group, cause by cause.

    Parameters
    ----------
    history : GroupHistory
        From `kafkalearn.oncall.logs.rebalances.histories`.
    events : sequence of LogEvent
        All of the logs: settings of clients are taken from them.
    settings : mapping, optional
        Settings of the consumers, where you know them better.
    release : str
        Whose defaults hold for what neither says; where scenarios do not answer for it, each advice says so.

    Raises
    ------
    KafkaLearnError
        If the release or a setting is unknown, or no consumer starts with the settings.
    """
    scenario_events.Settings(release if release in scenario_events.ANSWERS_FOR else DEFAULT_RELEASE, settings or {})
    known = {**_settings_of(history, events), **(settings or {})}
    known = {**_at_most(history, events, known, release), **known}
    if any(event.group == history.group and event.fields.get(OF_A_WORKER) for event in events):
        return _of_worker(history.rebalances)
    static = _static_clients(history, events)
    found: dict[str, list[tuple[int, str]]] = {}
    of_static: set[str] = set()
    for one, back_ms in _incidents(history.rebalances):
        line = _line(one, back_ms, known, release)
        if line is not None:
            found.setdefault(one.cause, []).append((back_ms or 0, line))
            if one.client in static:
                of_static.add(one.cause)
    return tuple(
        _asked(cause, lines, history, _member_count(history, events), known, release, cause in of_static)
        for cause, lines in sorted(found.items())
    )


def _of_worker(rebalances: Sequence[Rebalance]) -> tuple[Advice, ...]:
    counts = {cause: sum(one.cause == cause for one in rebalances) for cause in OF_WORKERS}
    return tuple(
        Advice(cause, count, "", MappingProxyType({}), OF_WORKERS[cause], ())
        for cause, count in sorted(counts.items())
        if count
    )


def _is_of_librdkafka(history: GroupHistory, cause: str) -> bool:
    """Whether only clients of librdkafka, which has no max.poll.records, say a cause."""
    said = {each.writer for one in history.rebalances if one.cause == cause for each in one.evidence}
    return said == {LIBRDKAFKA}


def _incidents(rebalances: Sequence[Rebalance]) -> Iterable[tuple[Rebalance, int | None]]:
    """Rebalances that took a member away which came back, with the time that it was away; late polls in any case."""
    for place, one in enumerate(rebalances):
        if one.cause not in (POLL, HEARTBEATS, CLOSED) or one.started_ms is None or one.client is None:
            continue
        away_ms = None
        for later in rebalances[place + 1 :]:
            if later.started_ms is None or later.client != one.client:
                continue
            if later.cause == JOINED and later.started_ms - one.started_ms <= LONGEST_AWAY_MS:
                away_ms = later.started_ms - one.started_ms
            break
        if away_ms is not None or one.cause == POLL:
            yield one, away_ms


def _line(one: Rebalance, away_ms: int | None, known: Mapping[str, object], release: str) -> str | None:
    """The line of a scenario for what has happened."""
    session_name = SESSION if one.protocol == CLASSIC else BROKER_SESSION
    if one.cause == POLL:
        limit_ms = _known_ms(POLL_INTERVAL, known, release)
        return f"at {STARTS_S} s: c1 works {limit_ms + max(away_ms or 1000, 1000)} ms on one poll"
    if away_ms is None:
        return None
    if one.cause == HEARTBEATS:
        session_ms = _known_ms(session_name, known, release)
        return f"at {STARTS_S} s: c1 pauses for {session_ms + away_ms} ms"
    return f"at {STARTS_S} s: c1 restarts after {max(away_ms, 1)} ms"


def _known_ms(name: str, known: Mapping[str, object], release: str) -> int:
    return int(str(known.get(name) or default(name, release=release)))


def _asked(
    cause: str,
    lines: Sequence[tuple[int, str]],
    history: GroupHistory,
    member_count: int,
    known: Mapping[str, object],
    release: str,
    is_static: bool,
) -> Advice:
    _, worst = max(lines)
    members = "c1 joins" if member_count == 1 else f"c1 to c{member_count} join"
    story = f"topic orders has {max(6, member_count)} partitions\nat 0 s: {members}\n{worst}"
    tried = {name: values for name, values in CANDIDATES[history.protocol].items() if name in _WORTH_TRYING[cause]}
    if is_static:
        tried.pop("group.instance.id", None)  # it has one
    if _is_of_librdkafka(history, cause):
        tried.pop("max.poll.records", None)
    own = {name: value for name, value in known.items() if _is_of(name, history.protocol)}
    try:
        found = find_change(story, history.protocol, release=release, settings=own, candidates=tried)
    except KafkaLearnError as error:
        return Advice(cause, len(lines), story, MappingProxyType(dict(known)), None, (), str(error))
    change = None if found.best is None else str(found.best)
    others = tuple(map(str, found.others))
    return Advice(cause, len(lines), story, MappingProxyType(dict(known)), change, others)


def _at_most(
    history: GroupHistory, events: Iterable[LogEvent], known: Mapping[str, object], release: str
) -> dict[str, int]:
    """The session timeout that a lost member had at most: so long before it was given up it was still heard of."""
    if SESSION in known or history.protocol != CLASSIC:
        return {}
    heard: dict[str, int] = {}
    at_most: list[int] = []
    for event in events:
        if event.group != history.group or event.time_ms is None:
            continue
        if event.kind == kinds.MEMBER_FAILED and event.member in heard:
            at_most.append(event.time_ms - heard[event.member])
        elif event.member is not None:
            heard[event.member] = event.time_ms
    bound_ms = min(at_most, default=None)
    if bound_ms is None or not SHORTEST_MS <= bound_ms < _known_ms(SESSION, known, release):
        return {}
    beat_ms = _known_ms(HEARTBEAT, known, release)
    return {SESSION: bound_ms, **({HEARTBEAT: bound_ms // 3} if beat_ms >= bound_ms else {})}


SHORTEST_MS = 1000  # no session timeout of today is shorter


def _static_clients(history: GroupHistory, events: Iterable[LogEvent]) -> set[str | None]:
    """The members that have a group.instance.id, by their names."""
    found: set[str | None] = set()
    for event in events:
        instance = event.fields.get("instance") or event.fields.get("group.instance.id")
        if event.group == history.group and instance not in (None, "null", "None", "Optional.empty"):
            found |= {str(instance).removeprefix("Some(").removeprefix("Optional[").rstrip(")]")}
            found |= {client_of(event.member)} if event.member else set()
    for one in history.rebalances:
        words = " ".join(each.reason or "" for each in one.evidence)
        if "static member" in words:
            found.add(one.client)
    return found


def _is_of(name: str, protocol: str) -> bool:
    return name not in ((BROKER_SESSION,) if protocol == CLASSIC else (SESSION, HEARTBEAT))


def _settings_of(history: GroupHistory, events: Iterable[LogEvent]) -> dict[str, int]:
    """The settings of a group's members, as far as the logs show them; the smallest, if they differ."""
    found: dict[str, set[int]] = {}
    for event in events:
        if event.group not in (history.group, None):
            continue
        for name, value in _shown_settings(event):
            found.setdefault(name, set()).add(value)
    return {name: min(values) for name, values in found.items()}


def _shown_settings(event: LogEvent) -> Iterable[tuple[str, int]]:
    if event.kind == kinds.CLIENT_CONFIG:
        for name in (SESSION, POLL_INTERVAL, HEARTBEAT):
            value = event.fields.get(name)
            if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
                yield name, int(value)
        return
    fields: Mapping[str, Any] = event.fields  # what the log says; numbers are numbers
    if event.kind == kinds.POLL_EXPIRED and isinstance(fields.get("max_poll_interval_ms"), int):
        yield POLL_INTERVAL, fields["max_poll_interval_ms"]
    elif event.kind == kinds.MEMBER_LEFT and isinstance(fields.get("session_timeout_ms"), int):
        yield SESSION, fields["session_timeout_ms"]
        yield POLL_INTERVAL, fields["rebalance_timeout_ms"]


def _member_count(history: GroupHistory, events: Iterable[LogEvent]) -> int:
    said = (each.fields.get("count") for each in events if each.group == history.group and each.writer == kinds.BROKER)
    counts = [count for count in said if isinstance(count, int)]
    clients = {each.client for each in history.rebalances if each.client}
    return max(2, min(MOST_MEMBERS, max(counts, default=len(clients))))
