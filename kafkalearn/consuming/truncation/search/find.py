"""The shortest run in which a group reads records again, or skips some, though nothing was wrong with its commits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

from kafkalearn.arguments import iterable, one_of
from kafkalearn.consuming.truncation.events import Event
from kafkalearn.consuming.truncation.promises import INVARIANTS, PROMISES
from kafkalearn.consuming.truncation.settings import Settings
from kafkalearn.consuming.truncation.simulator import CONSUMER_EVENTS, step
from kafkalearn.consuming.truncation.state import GroupRead, start
from kafkalearn.explore import Search, explore, whole
from kafkalearn.explore.model import EventLimits
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.search.find import alphabet


def find(
    settings: Settings,
    kinds: Sequence[type | Event],
    promises: Iterable[str] = tuple(PROMISES),
    initial: GroupRead | None = None,
    **limits: Unpack[EventLimits],
) -> Search[GroupRead, Event]:
    """The shortest run that breaks one of these promises, or the answer that there is none.

    Parameters
    ----------
    settings : Settings
        Those of the run; leaders are elected in the order of the topic's assignment.
    kinds : sequence of event classes or events
        Events of the partition as for `kafkalearn.replication.find`; events of consumers as they are.
    promises : iterable of str
        Names in `PROMISES` or `INVARIANTS`.
    initial : GroupRead, optional
        Where to begin; without it a new partition.
    limits
        ``depth``, ``budget``, ``at_most`` and ``progress``, as for `kafkalearn.explore.explore`.

    Examples
    --------
    >>> from kafkalearn.consuming.truncation import Assign, Poll
    >>> from kafkalearn.replication import DeleteRecords, Produce, Settings as TopicSettings
    >>> settings = Settings(TopicSettings(replica_count=1))
    >>> found = find(settings, [Produce(), Assign("A"), Poll(), DeleteRecords(2)])
    >>> [type(frame.event).__name__ for frame in found.trace[-3:]], found.broken
    (['DeleteRecords', 'Poll', 'Poll'], ('no record between two that were given is left out',))
    """
    known = {**INVARIANTS, **PROMISES}
    chosen = {one_of("promise", name, known) or name: known[name] for name in iterable("promises", promises)}
    events: list[Event] = []
    for kind in iterable("kinds", kinds, of="event classes or events"):
        if isinstance(kind, CONSUMER_EVENTS):
            events.append(kind)
        else:
            events += _without_successors(settings, kind)
    model = whole(settings, step, chosen)
    return explore(model, start(settings) if initial is None else initial, events, **limits)


def _without_successors(settings: Settings, kind: type | ReplicationEvent) -> Iterable[ReplicationEvent]:
    """The partition's events; here the order of the assignment says who is elected."""
    return [each for each in alphabet(settings.topic, kind) if getattr(each, "successor", None) is None]
