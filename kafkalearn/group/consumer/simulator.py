"""The simulator of the consumer protocol: `step` tells the events apart, the rules have files of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from kafkalearn.errors import IllegalEvent
from kafkalearn.group.consumer.commits import commit
from kafkalearn.group.consumer.events import (
    ConsumerGroupEvent,
    ConsumerGroupHeartbeat,
    OffsetCommit,
    TimePassed,
    TopicChanged,
)
from kafkalearn.group.consumer.heartbeats import heartbeat
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import Group, checked_topics, start
from kafkalearn.group.consumer.timers import pass_time
from kafkalearn.trace import Trace, run


def step(settings: Settings, group: Group, event: ConsumerGroupEvent) -> Group:
    """The group after `event`; its `effects` tell what was answered and written.

    Raises
    ------
    IllegalEvent
        If the event makes no sense here: a topic loses partitions. What the coordinator would refuse is no such
        case: it is an answer.

    Examples
    --------
    >>> from kafkalearn.group.consumer.events import join
    >>> settings = Settings()
    >>> group = step(settings, start(settings, {"orders": 2}), join("A", ("orders",)))
    >>> group.state, group.effects[-1].member_epoch, list(map(str, group.effects[-1].assignment))
    ('Stable', 2, ['orders-0', 'orders-1'])

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``GroupMetadataManager`` (KIP-848).
    """
    match event:
        case ConsumerGroupHeartbeat():
            return heartbeat(settings, group, event)
        case OffsetCommit():
            return commit(settings, group, event)
        case TopicChanged():
            return _change_topic(group, event)
        case TimePassed():
            return pass_time(settings, group, event)
    raise IllegalEvent(
        f"{event!r} is no event of this simulator; it knows ConsumerGroupHeartbeat, OffsetCommit, TopicChanged, "
        "TimePassed"
    )


def _change_topic(group: Group, event: TopicChanged) -> Group:
    """The next heartbeat of anybody will look; the broker tells nobody by itself."""
    counts = dict(group.topics)
    before = counts.pop(event.topic, None)
    if before is None and event.partition_count is None:
        raise IllegalEvent(f"{event!r}: there is no such topic; there are {list(counts)}")
    if event.partition_count is not None:
        if before is not None and event.partition_count < before:
            raise IllegalEvent(f"{event!r}: the topic has {before} partitions, and Kafka takes none away")
        counts[event.topic] = event.partition_count
    return replace(group, topics=checked_topics(counts), must_look=True, effects=())


def coordinate(
    settings: Settings, topics: Mapping[str, int], events: Iterable[ConsumerGroupEvent]
) -> Trace[Group, ConsumerGroupEvent]:
    """The run of a new group through `events`, as its coordinator sees it.

    >>> from kafkalearn.group.consumer.events import TimePassed, join
    >>> trace = coordinate(Settings(), {"orders": 2}, [join("A", ("orders",)), TimePassed(45_000)])
    >>> [frame.state.state for frame in trace]
    ['Empty', 'Stable', 'Empty']
    """
    return run(partial(step, settings), start(settings, topics), events)
