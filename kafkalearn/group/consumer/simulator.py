"""The simulator of the consumer protocol: `step` dispatches events, the rules have files of their own."""

from __future__ import annotations

from collections.abc import Iterable

from kafkalearn.errors import IllegalEvent
from kafkalearn.group.consumer.cluster import change_topic
from kafkalearn.group.consumer.commits import commit, fetch
from kafkalearn.group.consumer.ending import delete, expire, move
from kafkalearn.group.consumer.events import (
    ConsumerGroupEvent,
    ConsumerGroupHeartbeat,
    GroupDeleted,
    OffsetCommit,
    OffsetFetch,
    OffsetsExpired,
    PartitionMoved,
    TimePassed,
    TopicChanged,
)
from kafkalearn.group.consumer.heartbeats.heartbeat import heartbeat
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import Group, start
from kafkalearn.group.consumer.timers import pass_time
from kafkalearn.phrases import shown
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
        case OffsetFetch():
            return fetch(settings, group, event)
        case TopicChanged():
            return change_topic(settings, group, event)
        case TimePassed():
            return pass_time(settings, group, event)
        case GroupDeleted():
            return delete(settings, group)
        case OffsetsExpired():
            return expire(settings, group)
        case PartitionMoved():
            return move(settings, group)
    raise IllegalEvent(
        f"{shown(event)} is no event of this simulator; there are ConsumerGroupHeartbeat, OffsetCommit, OffsetFetch, "
        "TopicChanged, TimePassed, GroupDeleted, OffsetsExpired, PartitionMoved"
    )


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
