"""The simulator of the consumer protocol: `step` dispatches events, the rules have files of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

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
from kafkalearn.group.consumer.state import Group, start
from kafkalearn.group.consumer.timers import pass_time
from kafkalearn.trace import Trace, run


def step(settings: Settings, group: Group, event: ConsumerGroupEvent) -> Group:
    """The group after `event`; what was answered and written is in its ``effects``.

    Raises
    ------
    IllegalEvent
        If it is no event of this simulator, or makes no sense now: a topic loses partitions. What the coordinator
        refuses is no such case: it is an answer.

    Examples
    --------
    >>> from kafkalearn.group.consumer.events import join
    >>> settings = Settings()
    >>> group = step(settings, start(settings), join("A", ("orders",)))
    >>> group.state, group.effects[-1].member_epoch, len(group.effects[-1].assignment)
    ('Stable', 2, 6)

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
        f"{event!r} is no event of this simulator; there are ConsumerGroupHeartbeat, OffsetCommit, TopicChanged, "
        "TimePassed"
    )


def _change_topic(group: Group, event: TopicChanged) -> Group:
    """The group with the topic changed; the coordinator looks at topics only with the next heartbeat."""
    counts = dict(group.topics)
    before = counts.pop(event.topic, None)
    if before is None and event.partition_count is None:
        raise IllegalEvent(f"{event!r}: there is no such topic; there are {list(counts)}")
    if event.partition_count is not None:
        if before is not None and event.partition_count < before:
            raise IllegalEvent(f"{event!r}: the topic has {before} partitions, and Kafka takes none away")
        counts[event.topic] = event.partition_count
    return replace(group, topics=tuple(sorted(counts.items())), must_look=True, effects=())


def simulate(
    settings: Settings, events: Iterable[ConsumerGroupEvent], initial: Group | None = None
) -> Trace[Group, ConsumerGroupEvent]:
    """A whole run of a group, as its coordinator sees it: from its first request on, or from an `initial` state.

    >>> from kafkalearn.group.consumer.events import TimePassed, join
    >>> trace = simulate(Settings(), [join("A", ("orders",)), TimePassed(45_000)])
    >>> [frame.state.state for frame in trace]
    ['Empty', 'Stable', 'Empty']
    """
    return run(step, settings, start(settings) if initial is None else initial, events)
