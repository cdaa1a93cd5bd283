"""A broker dies and its groups move, in words: a few sentences about a second, and all of it as text."""

from __future__ import annotations

from kafkalearn.operations.coordinator_life.effects import (
    LoadBegun,
    LoadEnded,
    LoadFailed,
    OrderIgnored,
    Resigned,
    SessionExpired,
)
from kafkalearn.operations.failover import BrokerDied, BrokerStarted, BrokerStopped, Failover, SecondPassed, Settings
from kafkalearn.operations.failover.effects import Heard
from kafkalearn.operations.failover.events import Event
from kafkalearn.operations.leadership.effects import LeaderChanged
from kafkalearn.phrases import capitalised, counted
from kafkalearn.trace import Frame

STATUS_WORDS = {
    "owned": "coordinates the groups",
    "loading": "loads the groups",
    "not owned": "is no coordinator",
    "failed": "could not load the groups",
}


def describe_failover(
    settings: Settings, frame: Frame[Failover, Event], before: Frame[Failover, Event] | None = None
) -> str:
    """What happened in a second, and what clients heard.

    >>> from kafkalearn.operations.failover import simulate
    >>> trace = simulate(Settings(), [BrokerDied(1), SecondPassed()])
    >>> describe_failover(Settings(), trace[2], trace[1])
    'Second 1: the classic member hears no connection, looks for the coordinator; the KIP-848 member hears no \
connection, looks for the coordinator; the committer hears no connection, looks for the coordinator.'
    """
    said = [words for words in (_effect_words(each) for each in frame.state.effects) if words]
    last = {each.client: each for each in frame.state.effects if isinstance(each, Heard)}
    said += [f"the {name} hears {_error_words(each)}, {each.then}" for name, each in last.items()]
    return f"{capitalised(event_words(frame))}: {'; '.join(said) or 'nobody asks'}."


def failover_text(
    settings: Settings, frame: Frame[Failover, Event], before: Frame[Failover, Event] | None = None
) -> str:
    """A frame as plain text: what happened, and a line for each broker.

    >>> from kafkalearn.operations.failover import simulate
    >>> print(failover_text(Settings(), simulate(Settings(), [BrokerDied(1)])[1]).splitlines()[1])
    broker 1: is down
    """
    lines = [f"broker {each}: {broker_words(frame.state, each)}" for each in settings.broker_ids]
    return "\n".join([describe_failover(settings, frame, before), *lines])


def event_words(frame: Frame[Failover, Event]) -> str:
    """What a frame's event is called."""
    match frame.event:
        case BrokerDied(broker_id):
            return f"broker {broker_id} dies"
        case BrokerStopped(broker_id):
            return f"broker {broker_id} is shut down"
        case BrokerStarted(broker_id):
            return f"broker {broker_id} is back"
        case SecondPassed():
            return f"second {frame.state.second}"
    return "the start"


def broker_words(state: Failover, broker_id: int) -> str:
    """What a broker is at a moment."""
    if not state.is_up(broker_id):
        return "is down" if state.life.is_up(broker_id) else "is down, and the cluster knows"
    return STATUS_WORDS[state.life.coordinator(broker_id).status]


def _error_words(heard: Heard) -> str:
    return "no error" if heard.error == "NONE" else heard.error


def _effect_words(effect: object) -> str:
    match effect:
        case LeaderChanged(leader=None):
            return "nobody can lead the partition"
        case LeaderChanged(leader=leader):
            return f"broker {leader} leads the partition"
        case LoadBegun(broker_id=broker_id):
            return f"broker {broker_id} begins to load"
        case LoadEnded(broker_id=broker_id, record_count=count):
            return f"broker {broker_id} has loaded {counted(count, 'record')}"
        case LoadFailed(broker_id=broker_id):
            return f"the load of broker {broker_id} fails"
        case Resigned(broker_id=broker_id):
            return f"broker {broker_id} resigns"
        case OrderIgnored(broker_id=broker_id, reason=reason):
            return f"broker {broker_id} ignores an order, since {reason}"
        case SessionExpired(group_id=group_id, member_id=member_id):
            return f"the session of {member_id} in {group_id} has expired"
    return ""
