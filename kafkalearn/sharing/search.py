"""The search for the shortest way to process a record twice, out of order, or not at all; or to get stuck for ever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Unpack

from kafkalearn.base.checks import iterable, one_of
from kafkalearn.base.liveness import Stuck
from kafkalearn.base.liveness import find_stuck as find_stuck_in
from kafkalearn.base.promises import Promises
from kafkalearn.base.search import EventLimits, Model, Search, explore, whole
from kafkalearn.base.trace import Parts
from kafkalearn.sharing import work
from kafkalearn.sharing.model import ACQUIRED, Cluster, Held, InFlight
from kafkalearn.sharing.work import (
    Accept,
    Arrive,
    Crash,
    Event,
    Hang,
    Keep,
    Poll,
    Release,
    Settings,
    TimePassed,
    Work,
)

LOCK_MS = 30_000
SESSION_MS = 45_000

TWO_PROGRAMS: tuple[Event, ...] = (
    Arrive(), Poll("c1"), Poll("c2"), Accept("c1"), Accept("c2"), Release("c1"), TimePassed(LOCK_MS), Crash("c1"),
)  # fmt: skip
"""Two programs: one may give back what it has, be slow, or die."""

A_RECORD: Mapping[type, int] = MappingProxyType({Arrive: 1, TimePassed: 2, Crash: 1, Hang: 1})
"""How often events may happen, if nothing else is said."""


def find(
    settings: Settings,
    events: Sequence[Event] = TWO_PROGRAMS,
    promises: Iterable[str] = tuple(work.PROMISES),
    **limits: Unpack[EventLimits],
) -> Search[Work, Event]:
    """The shortest run of programs that breaks one of these promises, or word that there is none.

    Parameters
    ----------
    settings : Settings
        Of the programs and their cluster.
    events : sequence of Event
        What may happen, in any order.
    promises : iterable of str
        Names in `kafkalearn.sharing.work.PROMISES`.
    limits
        ``depth``, ``budget``, ``at_most`` and ``progress``, as for `kafkalearn.base.search.explore`.

    Examples
    --------
    A program that is slower than its lock: two have processed the record, and one of them learns that too late.

    >>> found = find(work.Settings(), promises=[work.PROCESSED_ONCE], at_most={Arrive: 1, TimePassed: 1})
    >>> [type(frame.event).__name__ for frame in found.trace[1:]]
    ['Arrive', 'Poll', 'TimePassed', 'Poll', 'Accept', 'Accept']
    """
    chosen = {one_of("promise", name, work.PROMISES): work.PROMISES[name] for name in promises}
    return explore(whole(settings, work.step, chosen), work.start(settings), tuple(events), **limits)


ALL_DONE = "all that has come is processed or given up"
MORE_CAN_BE_HAD = "a record that has come, and that nobody has, can be had"


def _is_all_done(settings: Settings, state: Work) -> bool:
    cluster = state.cluster
    for log in cluster.logs:
        done = {offset for _, partition, offset in cluster.accepted | cluster.given_up if partition == log.name}
        if any(offset not in done for batch in log.batches for offset in batch.offsets if offset >= log.start_offset):
            return False
    return True


def _can_be_had(settings: Settings, state: Work) -> bool:
    """Whether the limit of records in flight lets somebody have the next record."""
    for log in state.cluster.logs:
        share = state.cluster.share_partition(work.GROUP, log.name)
        if share is None or log.end_offset <= share.end_offset + bool(share.batches):
            continue
        if share.in_flight_count >= settings.cluster.max_record_locks:
            return False
    return True


PROGRESS: Promises = MappingProxyType({ALL_DONE: _is_all_done, MORE_CAN_BE_HAD: _can_be_had})
"""What is to come again after whatever happened, as predicates of settings and state."""

ONE_HOLDS: tuple[Event, ...] = (Arrive(), Poll("c1"), Keep("c1", LOCK_MS), Poll("c2"), Accept("c2"))
"""One program holds a record and renews its lock for ever; another works on."""


def find_stuck(
    settings: Settings,
    events: Sequence[Event] = ONE_HOLDS,
    promise: str = MORE_CAN_BE_HAD,
    *,
    fair: Iterable[Event | type] = (Poll, Keep, Accept),
    depth: int | None = None,
    budget: int = 50_000,
    at_most: Mapping[type, int] | None = None,
) -> Stuck[Work, Event]:
    """The shortest way to a group that goes on for ever and gets nothing more, or word that there is none.

    Parameters
    ----------
    settings, events
        As for `find`. With ``max_locks`` as small as 100, Kafka's least, the way is long; a lesson takes less.
    promise : str
        A name in `PROGRESS`.
    fair : iterable of events or types
        What happens at last, if it stays possible.
    depth, budget, at_most
        As for `kafkalearn.base.liveness.find_stuck`.

    Examples
    --------
    One record that its holder never lets go: after as many more as may be in flight, nobody gets anything.

    >>> chosen = work.settings(max_locks=2, max_poll_records=1)
    >>> found = find_stuck(chosen, at_most={Arrive: 3})
    >>> found.outcome, [type(frame.event).__name__ for frame in found.trace[1:]].count("Arrive")
    ('found', 3)
    """
    chosen = {one_of("promise", promise, PROGRESS): PROGRESS[promise]}
    kinds = {type(event) for event in events}
    happens = [each for each in iterable("fair", fair, of="events or types") if each in kinds or each in events]
    model_of = _from_now_on(whole(settings, work.step, chosen))
    return find_stuck_in(
        model_of,
        _normal(work.start(settings)),
        tuple(events),
        fair=happens,
        depth=depth,
        budget=budget,
        at_most=at_most,
    )


def _from_now_on(inner: Model[Settings, Work, Event]) -> Model[Settings, Work, Event]:
    """The same model with states in a normal form: times counted from now, and no memory of what has been told."""

    def happen(parts: Parts, event: Event) -> None:
        inner.happen(parts, event)
        state = parts.read(0)
        assert isinstance(state, Work)
        parts.write(0, _normal(state))

    return replace(inner, happen=happen)


def _normal(state: Work) -> Work:
    cluster = state.cluster
    now = cluster.now_ms
    shares = tuple(
        replace(share, batches=tuple(_lock_from(batch, now) for batch in share.batches))
        for share in cluster.share_partitions
    )
    groups = tuple(
        replace(
            group, assigned_ms=0,
            members=tuple(replace(each, times_out_ms=SESSION_MS) for each in group.members),
        )
        for group in cluster.groups
    )  # fmt: skip
    kept = tuple(
        replace(
            each, update_count=0,
            state=replace(each.state, created_ms=0, written_ms=0, snapshot_epoch=0),
        )
        for each in cluster.stored
    )  # fmt: skip
    sessions = tuple(replace(each, epoch=1) for each in cluster.sessions)
    logs = tuple(
        replace(log, batches=tuple(replace(batch, timestamp_ms=0) for batch in log.batches)) for log in cluster.logs
    )
    programs = tuple(replace(each, epoch=min(each.epoch, 1)) for each in state.programs)
    quiet: Cluster = replace(
        cluster, now_ms=0, share_partitions=shares, groups=groups, stored=kept, sessions=sessions, logs=logs,
        cold_checked_ms=0, deliveries=(), repeated=frozenset(), effects=(),
    )  # fmt: skip
    return replace(state, cluster=quiet, programs=programs, processed=(), effects=())


def _lock_from(batch: InFlight, now: int) -> InFlight:
    whole_ = None if batch.whole is None else _from(batch.whole, now)
    return InFlight(batch.first, batch.last, whole_, tuple(_from(each, now) for each in batch.each))


def _from(held: Held, now: int) -> Held:
    return replace(held, lock_ms=None if held.lock_ms is None or held.state != ACQUIRED else held.lock_ms - now)
