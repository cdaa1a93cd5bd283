"""One step: a request and its answer, a store of its own, a restart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.trace import Trace, run
from kafkalearn.zookeeper.fetching.cluster import NO_CONNECTION, NOT_LEADER, answer_fetch, answer_offset
from kafkalearn.zookeeper.fetching.stepping import Rules, step_by
from kafkalearn.zookeeper.simple_consumer.effects import (
    Fetched,
    LeaderFound,
    OffsetFound,
    Refused,
    Restarted,
    Saved,
    TooLarge,
)
from kafkalearn.zookeeper.simple_consumer.events import (
    Fetch,
    FindLeader,
    FindOffset,
    Restart,
    Save,
    Seek,
    SimpleConsumerEvent,
)
from kafkalearn.zookeeper.simple_consumer.settings import Settings
from kafkalearn.zookeeper.simple_consumer.state import Reader, start

NO_LEADER = "LEADER_NOT_AVAILABLE"


def _find_leader(settings: Settings, reader: Reader, event: FindLeader) -> Reader:
    """Any broker that runs knows the leader; that the leader runs as well is not said."""
    if event.broker_id not in settings.broker_ids:
        raise IllegalEvent(f"there is no broker {event.broker_id} to ask; there are {settings.broker_ids}")
    if event.broker_id not in reader.cluster.live_brokers:
        return replace(reader, effects=(Refused(event.broker_id, NO_CONNECTION),))
    leader = reader.cluster.log(settings.topic_partition).leader
    if leader is None:
        return replace(reader, effects=(Refused(event.broker_id, NO_LEADER),))
    return replace(reader, leader=leader, effects=(LeaderFound(event.broker_id, leader),))


def _find_offset(settings: Settings, reader: Reader, event: FindOffset) -> Reader:
    broker_id = _connected(reader)
    offset = answer_offset(reader.cluster, broker_id, settings.topic_partition, event.reset)
    if offset is None:
        error = NOT_LEADER if broker_id in reader.cluster.live_brokers else NO_CONNECTION
        return replace(reader, effects=(Refused(broker_id, error),))
    return replace(reader, offset=offset, effects=(OffsetFound(offset),))


def _fetch(settings: Settings, reader: Reader, event: Fetch) -> Reader:
    """Records, or an error that the application must know what to do with; out of range included."""
    broker_id = _connected(reader)
    if reader.offset is None:
        raise IllegalEvent("the application has no offset to fetch; FindOffset, or Seek")
    if broker_id not in reader.cluster.live_brokers:
        return replace(reader, effects=(Refused(broker_id, NO_CONNECTION),))
    (answer,) = answer_fetch(settings, reader.cluster, broker_id, [(settings.topic_partition, reader.offset)])
    if answer.error is not None:
        return replace(reader, effects=(Refused(broker_id, answer.error),))
    if answer.is_cut:
        return replace(reader, effects=(TooLarge(reader.offset),))
    handled = (*reader.handled, *answer.offsets)
    offset = reader.offset + len(answer.offsets)
    return replace(reader, offset=offset, handled=handled, effects=(Fetched(answer.offsets),))


def _connected(reader: Reader) -> int:
    if reader.leader is None:
        raise IllegalEvent("the application is connected to no leader; FindLeader first")
    return reader.leader


def _seek(settings: Settings, reader: Reader, event: Seek) -> Reader:
    return replace(reader, offset=event.offset)


def _save(settings: Settings, reader: Reader, event: Save) -> Reader:
    if reader.offset is None:
        raise IllegalEvent("the application has no offset to save yet; FindOffset, or Seek")
    return replace(reader, saved=reader.offset, effects=(Saved(reader.offset),))


def _restart(settings: Settings, reader: Reader, event: Restart) -> Reader:
    return replace(reader, leader=None, offset=reader.saved, effects=(Restarted(reader.saved),))


_RULES: Rules[Settings, Reader] = {
    FindLeader: _find_leader,
    FindOffset: _find_offset,
    Seek: _seek,
    Fetch: _fetch,
    Save: _save,
    Restart: _restart,
}


def step(settings: Settings, state: Reader, event: SimpleConsumerEvent) -> Reader:
    """The state after `event`; its ``effects`` are what was answered.

    Raises
    ------
    IllegalEvent
        If the application cannot do this yet: a fetch without a leader or without an offset. What a broker refuses is
        an effect.

    Examples
    --------
    >>> step(Settings(), start(Settings()), FindLeader(2)).leader
    1

    References
    ----------
    Apache Kafka 0.8 to 1.1, ``kafka.consumer.SimpleConsumer``, and its example ``SimpleConsumerExample`` of 0.8.
    """
    return step_by(_RULES, settings, state, event)


def simulate(
    settings: Settings, events: Iterable[SimpleConsumerEvent], initial: Reader | None = None
) -> Trace[Reader, SimpleConsumerEvent]:
    """A run of the application from `initial`, or from its first start.

    A crash between handling and saving: what was not saved comes again.

    >>> from kafkalearn.zookeeper.fetching import Append
    >>> begin = [Append("orders", 0, count=2), FindLeader(1), FindOffset("smallest"), Save(), Fetch()]
    >>> simulate(Settings(), [*begin, Restart(), FindLeader(1), Fetch()])[-1].state.handled
    (0, 1, 0, 1)
    """
    return run(step, settings, start(settings) if initial is None else initial, events)
