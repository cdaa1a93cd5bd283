"""The shortest run in which a group reads records again, or skips some, though nothing was wrong with its commits.

Two reports of groups that read again what they had committed are `Story`: each is a run up to a moment at which all
seems well, and the events from which `find` puts the rest together.

>>> from kafkalearn.consuming.truncation import NONE_AGAIN, find
>>> story = EPOCHLESS_COMMIT
>>> found = find(story.settings, story.kinds, (NONE_AGAIN,), story.begun, at_most=story.at_most)
>>> [reading.value for reading in found.trace[-1].state.readings]
['m1', 'm2', 'm3', 'm1', 'm2']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Unpack

from kafkalearn.base.checks import iterable, one_of
from kafkalearn.base.search import EventLimits, Search, explore, whole
from kafkalearn.consuming.truncation.model import (
    AFTER_CHANGES,
    Assign,
    Commit,
    Event,
    GroupRead,
    Poll,
    RefreshMetadata,
    Settings,
    start,
)
from kafkalearn.consuming.truncation.simulator import CONSUMER_EVENTS, INVARIANTS, PROMISES, simulate, step
from kafkalearn.replication.events import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerStarted,
    BrokerThawed,
    Fetch,
    Produce,
    SessionExpired,
)
from kafkalearn.replication.search import alphabet
from kafkalearn.replication.settings import Settings as TopicSettings

PAIR = TopicSettings(2, is_unclean_election_enabled=True, has_eligible_leader_replicas=False, fetch_wait_max_ms=0)
"""Two brokers, and a topic whose owner prefers availability to its records."""

COPIED = (Produce(2), Fetch(2), Fetch(2))
READ = (Assign("A"), Poll(), Poll())
ALONE = (BrokerCrashed(2), SessionExpired(2), Produce(2, acks=1), Poll(), Commit())
"""Two records more, on broker 1 alone."""

UNCLEAN = (BrokerCrashed(1), SessionExpired(1), BrokerStarted(2))


@dataclass(frozen=True, slots=True)
class Story:
    """How a report begins.

    Attributes
    ----------
    settings : Settings
        Of the run.
    begun : GroupRead
        Where a search begins.
    kinds : sequence of events
        What may happen then.
    at_most : mapping
        How often, as for `kafkalearn.base.search.explore`.
    """

    settings: Settings
    begun: GroupRead
    kinds: Sequence[Event]
    at_most: Mapping[type, int]


def _story(settings: Settings, events: Sequence[Event], kinds: Sequence[Event], at_most: Mapping[type, int]) -> Story:
    return Story(settings, simulate(settings, events)[-1].state, tuple(kinds), MappingProxyType(dict(at_most)))


EPOCHLESS_COMMIT = _story(
    Settings(PAIR),
    (*COPIED, *READ, Commit()),
    (
        BrokerFrozen(1),
        SessionExpired(1),
        BrokerThawed(1),
        RefreshMetadata("A", 2),
        Produce(),
        Poll(),
        Commit(has_epoch=False),
        Assign("B"),
    ),
    {Produce: 1, BrokerFrozen: 1, RefreshMetadata: 1, Commit: 1, Assign: 1},
)
"""KAFKA-19902, documented by apache/kafka#23183: a rebalance listener commits bare offsets, and the next owner of the
partition asks an old leader that has not heard of its end. No record is lost, and all are read again.
"""

UNVALIDATED_ASSIGNMENT = _story(
    Settings(PAIR, validation=AFTER_CHANGES),
    (*COPIED, *READ, *ALONE),
    (*UNCLEAN, RefreshMetadata("B", 2), Assign("B"), Poll()),
    {RefreshMetadata: 1, Assign: 1, BrokerCrashed: 2},
)
"""confluentinc/librdkafka#5158: the commit has its epoch, and a consumer that is assigned the partition does not ask
with it. The log was cut by an unclean election; what is left of it is read again.
"""


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
        ``depth``, ``budget``, ``at_most`` and ``progress``, as for `kafkalearn.base.search.explore`.

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
        else:  # the order of the assignment says who is elected
            events += [each for each in alphabet(settings.topic, kind) if getattr(each, "successor", None) is None]
    model = whole(settings, step, chosen)
    return explore(model, start(settings) if initial is None else initial, events, **limits)
