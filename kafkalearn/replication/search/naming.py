"""Brokers under other names: the rules do not care what they are called, so a search need not either."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

from kafkalearn.explore import Relabelling
from kafkalearn.replication.controller.assignment import Assignment
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.processing import (
    BROKER,
    CONTROLLER,
    FIRST_REPLICA,
    LEADER,
    LEADING,
    LOG,
    REMOTE_ENDS,
    REMOTES,
    WAITING,
    part_at,
    place_of,
)
from kafkalearn.replication.state import Broker, Controller, Leadership, Remote, Waiting


def relabelling(names: dict[int, int]) -> Relabelling:
    """Every broker gets the name that `names` has for it."""
    places = [*range(FIRST_REPLICA)]
    for broker_id in sorted(names):
        places += [place_of(part, names[broker_id]) for part in (LOG, BROKER, LEADING, REMOTES, WAITING, REMOTE_ENDS)]
    return Relabelling(tuple(places), partial(_renamed, names), partial(_renamed_event, names))


_SINGLE = ("broker_id", "successor", "to_broker", "leader")
"""The fields of events that hold a broker, or None."""

_SEVERAL = ("isr", "replicas")
"""Those that hold several; in a search their order says nothing."""


def named_in(event: ReplicationEvent) -> tuple[int, ...]:
    """The brokers that an event names.

    >>> from kafkalearn.replication.events import LeaderElected, Produce
    >>> named_in(LeaderElected(1, (1, 2))), named_in(Produce())
    ((1, 1, 2), ())
    """
    single = (getattr(event, field.name) for field in fields(event) if field.name in _SINGLE)
    several = (getattr(event, name, None) or () for name in _SEVERAL)
    return (*(each for each in single if each is not None), *(each for group in several for each in group))


def _renamed_event(names: dict[int, int], event: ReplicationEvent) -> ReplicationEvent:
    """An event with brokers renamed."""
    renamed: dict[str, Any] = {
        field.name: _renamed_one(names, getattr(event, field.name)) for field in fields(event) if field.name in _SINGLE
    }
    for name in _SEVERAL:
        if getattr(event, name, None) is not None:
            renamed[name] = _renamed_set(names, getattr(event, name))
    return replace(event, **renamed)


def _renamed(names: dict[int, int], place: int, part: object) -> object:
    """A part with brokers renamed; logs, the clock and the ledger name none."""
    rename = _RENAMINGS.get(part_at(place))
    return part if rename is None or part is None else rename(names, part)


def _leader(names: dict[int, int], leader: int) -> int:
    return names[leader]


def _controller(names: dict[int, int], controller: Controller) -> Controller:
    return controller._replace(
        leader=_renamed_one(names, controller.leader),
        isr=_renamed_set(names, controller.isr),
        elr=_renamed_set(names, controller.elr),
        last_known_leader=_renamed_one(names, controller.last_known_leader),
        fenced=_renamed_set(names, controller.fenced),
        assignment=Assignment(*(_renamed_set(names, each) for each in controller.assignment)),
        stopping=_renamed_set(names, controller.stopping),
    )


def _broker(names: dict[int, int], broker: Broker) -> Broker:
    return broker._replace(leader=_renamed_one(names, broker.leader))


def _leading(names: dict[int, int], leading: Leadership) -> Leadership:
    proposal = leading.proposal and leading.proposal._replace(isr=_renamed_set(names, leading.proposal.isr))
    return leading._replace(isr=_renamed_set(names, leading.isr), proposal=proposal)


def _remotes(names: dict[int, int], remotes: tuple[Remote | None, ...]) -> tuple[Remote | None, ...]:
    by_name = {names[broker_id]: remote for broker_id, remote in enumerate(remotes, start=1)}
    return tuple(by_name[name] for name in sorted(by_name))


def _waiting(names: dict[int, int], waiting: Waiting) -> Waiting:
    renamed = (parked._replace(broker_id=names[parked.broker_id]) for parked in waiting.fetches)
    return waiting._replace(fetches=tuple(renamed))


_RENAMINGS: Mapping[int, Callable[[dict[int, int], Any], object]] = {  # each takes the parts of its place
    LEADER: _leader,
    CONTROLLER: _controller,
    BROKER: _broker,
    LEADING: _leading,
    REMOTES: _remotes,
    REMOTE_ENDS: _remotes,
    WAITING: _waiting,
}


def _renamed_one(names: dict[int, int], broker: int | None) -> int | None:
    return None if broker is None else names.get(broker)


def _renamed_set(names: dict[int, int], brokers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(names[each] for each in brokers))
