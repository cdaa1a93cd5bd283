"""A moment of a group of old consumers in words: what the last turn did, and the whole of it as text."""

from __future__ import annotations

from kafkalearn.phrases import begun, counted, listed
from kafkalearn.trace import Frame
from kafkalearn.views.drawing.names import cut_name
from kafkalearn.zookeeper.connector import events
from kafkalearn.zookeeper.connector.effects import (
    Asked,
    AttemptFailed,
    Committed,
    ConnectorEffect,
    GaveUp,
    Notified,
    Owned,
    OwnedByAnother,
    RebalanceBegan,
    Rebalanced,
    RecordsRead,
    Released,
    SessionGone,
    Threw,
)
from kafkalearn.zookeeper.connector.events import ConnectorEvent
from kafkalearn.zookeeper.connector.state import ASSIGN, BACKOFF, STAGES, Connector, Group
from kafkalearn.zookeeper.layout import last_name

LONGEST_NAME = 24  # characters of a consumer's or a topic's name
MOST_SAID = 4  # effects of a kind
FIRST_WORDS = ("the", "topic", "broker", "watches", "try", "session", "and")


def name_of(name: str) -> str:
    """A name, short enough for a sentence."""
    return cut_name(name, LONGEST_NAME)


def stage_words(connector: Connector) -> str:
    """What a consumer is doing, in a few words.

    >>> from kafkalearn.zookeeper.subscriptions import Streams
    >>> stage_words(Connector("c1", "billing_c1", session="c1", subscription=Streams({"orders": 1})))
    'reads nothing'
    """
    if not connector.is_running:
        return "is not running"
    attempt = connector.attempt
    if attempt is None:
        if connector.has_given_up:
            return "has given up, reads nothing"
        return "reads" if connector.reads else "reads nothing"
    if attempt.stage == BACKOFF:
        return f"try {attempt.number + 1} failed, waits"
    return f"try {attempt.number + 1}, {STAGES.index(attempt.stage) + 1}. {attempt.stage}"


def describe_zookeeper(frame: Frame[Group, ConnectorEvent], before: Frame[Group, ConnectorEvent] | None = None) -> str:
    """What the last event did, in a sentence or two.

    Parameters
    ----------
    frame, before : Frame
        A frame of `kafkalearn.zookeeper.connector.simulate` and the one before it.

    Examples
    --------
    >>> from kafkalearn.zookeeper.connector import BrokerStarted, Settings, TopicCreated, simulate
    >>> describe_zookeeper(simulate(Settings(), [BrokerStarted(), TopicCreated("orders", 2)])[2])
    'Topic orders is created with 2 partitions.'
    """
    group: Group = frame.state
    if frame.event is None:  # what led here is no part of this run
        return "Here it begins." if group.connectors else "Nothing has happened yet."
    said = [_event_words(frame, before), *_effects_words(group)]
    return " ".join(f"{begun(each, FIRST_WORDS)}." for each in said if each)


def _event_words(frame: Frame[Group, ConnectorEvent], before: Frame[Group, ConnectorEvent] | None) -> str:
    event = frame.event
    if isinstance(event, events.RebalanceStep):
        return _step_words(event.consumer, frame, before)
    who = name_of(getattr(event, "consumer", getattr(event, "topic", "")))
    match event:
        case events.CreateMessageStreams():
            return f"{who} asks for streams, and registers"
        case events.HandleEvent():
            return f"the event thread of {who} asks again, with a watch, and calls the listener"
        case events.WakeWatcher():
            return f"the watcher thread of {who} wakes"
        case events.Reconnect():
            return f"{who} learns that its session has expired, and gets another"
        case events.Shutdown():
            return f"{who} is shut down"
        case events.Crash():
            return f"the process of {who} dies; ZooKeeper does not know it yet"
        case events.SessionExpired(session):
            return f"ZooKeeper ends the session {name_of(session)}"
        case events.Read():
            return f"{who} reads"
        case events.WaitForRecord():
            return f"{who} waits for a record, and none comes"
        case events.CommitOffsets():
            return f"{who} commits"
        case events.Ping():
            return f"{who} tells ZooKeeper that it lives"
        case events.TimePassed(ms):
            return f"{ms:,} ms pass"
        case events.BrokerStarted(broker_id):
            return f"broker {broker_id} starts"
        case events.BrokerStopped(broker_id):
            return f"broker {broker_id} stops"
        case events.TopicCreated(partition_count=count):
            return f"topic {who} is created with {counted(count, 'partition')}"
        case events.TopicGrown(partition_count=count):
            return f"topic {who} grows to {counted(count, 'partition')}"
        case events.TopicDeleted():
            return f"topic {who} is deleted"
        case events.Produce(partition=partition, record_count=count):
            return f"{counted(count, 'record')} {'comes' if count == 1 else 'come'} to {who}-{partition}"
    return type(event).__name__


def _step_words(consumer: str, frame: Frame[Group, ConnectorEvent], before: Frame[Group, ConnectorEvent] | None) -> str:
    """Which of the eight steps it was, and for the fourth what the consumer saw."""
    had = None if before is None else before.state.connector(consumer)
    who = name_of(consumer)
    if had is None or had.attempt is None:
        return f"{who} goes on with its rebalance"
    if had.attempt.stage == BACKOFF:
        return f"the pause of {who} is over"
    words = f"{who}, step {STAGES.index(had.attempt.stage) + 1}: {had.attempt.stage}"
    now = frame.state.connector(consumer).attempt
    if had.attempt.stage == ASSIGN and now is not None and now.members:
        words += f"; it sees {listed(name_of(each) for each in now.members)}"
    return words


def _effects_words(group: Group) -> list[str]:
    said: list[str] = []
    notified = [effect for effect in group.effects if isinstance(effect, Notified)]
    if notified:
        names = list(dict.fromkeys(name_of(effect.consumer) for effect in notified))
        places = list(dict.fromkeys(name_of(last_name(effect.path)) for effect in notified))
        said.append(f"watches tell {_some(names)} that {_some(places)} changed")
    others = [effect for effect in group.effects if not isinstance(effect, Notified)]
    words = [each for each in (_effect_words(effect) for effect in others) if each]
    hidden = len(words) - MOST_SAID
    return [*said, *words[:MOST_SAID], *([f"and {hidden} more"] if hidden > 0 else [])]


def _some(names: list[str]) -> str:
    shown = names[:MOST_SAID]
    return listed(shown if len(names) <= MOST_SAID else [*shown, f"{len(names) - MOST_SAID} more"])


def _effect_words(effect: ConnectorEffect) -> str:
    match effect:
        case RebalanceBegan(who, thread):
            return f"{name_of(who)} rebalances on its {thread} thread"
        case Released(who, partitions):
            return f"{name_of(who)} releases {_some([name_of(str(each)) for each in partitions])}"
        case Owned(who, partitions):
            return f"{name_of(who)} owns {_some([name_of(str(each)) for each in partitions])}"
        case OwnedByAnother(_, partition, thread):
            return f"{name_of(str(partition))} is owned by {name_of(thread or 'nobody')} still"
        case AttemptFailed(who, number, why):
            return f"try {number + 1} of {name_of(who)} has failed: {cut_name(why, 60)}"
        case GaveUp(who):
            return f"{name_of(who)} gives up, and reads nothing"
        case Rebalanced(who, partitions):
            return f"{name_of(who)} fetches {counted(len(partitions), 'partition')}"
        case RecordsRead(_, topic, partition, first, last):
            return f"{counted(last - first, 'record')} of {name_of(topic)}-{partition}, from offset {first:,}"
        case Committed(_, topic, partition, offset):
            return f"{name_of(topic)}-{partition} is committed at {offset:,}"
        case Threw(who, error):
            return f"the application of {name_of(who)} is thrown {cut_name(error, 70)}"
        case SessionGone(session, removed):
            return f"session {name_of(session)} has ended, with {counted(len(removed), 'node')}"
        case Asked():
            return ""
    return ""


def zookeeper_text(frame: Frame[Group, ConnectorEvent], before: Frame[Group, ConnectorEvent] | None = None) -> str:
    """A frame as a few lines of text: what happened, the nodes, the consumers.

    >>> from kafkalearn.zookeeper.connector import BrokerStarted, Settings, TopicCreated, simulate
    >>> print(zookeeper_text(simulate(Settings(), [BrokerStarted(), TopicCreated("orders", 2)])[2]))
    Topic orders is created with 2 partitions.
      /brokers/ids/0 (broker 0)
      /brokers/topics/orders
    """
    group: Group = frame.state
    lines = [describe_zookeeper(frame, before)]
    for path, node in group.tree.nodes:
        if group.tree.children(path) or path in ("/", "/consumers"):
            continue
        content = "" if not node.data or node.data.startswith("{") else f" = {cut_name(node.data, 60)}"
        session = f" ({name_of(node.session)})" if node.is_ephemeral else ""
        lines.append(f"  {cut_name(path, 80)}{content}{session}")
    lines += [f"  {name_of(each.name)} {stage_words(each)}" for each in group.connectors]
    return "\n".join(lines)
