"""The turns that a group's threads take by themselves: which are possible, and a schedule until all is quiet.

Who is quicker is open in a real group. `settle` takes a fair schedule: whoever can do something does it, in turns, and
a pause after a failed try is over only when nobody has anything else to do, as the pauses are long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import filterfalse

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import Frame, Trace, extend
from kafkalearn.zookeeper.connector import model
from kafkalearn.zookeeper.connector.model import ConnectorEvent, Group, Settings, Turn
from kafkalearn.zookeeper.connector.simulator import simulate, step

MOST_TURNS = 1_000_000

Choice = Callable[[Sequence[Turn]], Turn]


def possible_turns(group: Group, stopped: Sequence[str] = ()) -> tuple[Turn, ...]:
    """The turns that can be taken now, by consumer; a pause that may end comes after all others.

    Parameters
    ----------
    stopped : sequence of str
        Consumers that stand still, as in a long garbage collection: they take no turn.

    Examples
    --------
    >>> from kafkalearn.zookeeper.connector import CreateMessageStreams, Settings, simulate
    >>> from kafkalearn.zookeeper.subscriptions import Streams
    >>> group = simulate(Settings(), [CreateMessageStreams("c1", Streams({"orders": 1}))])[-1].state
    >>> possible_turns(group)
    (RebalanceStep(consumer='c1'),)
    """
    running = [each for each in group.connectors if each.is_running and each.name not in stopped]
    turns = [turn for connector in running for turn in _turns(group, connector)]
    return tuple(sorted(turns, key=_ends_a_pause(group)))


def _turns(group: Group, connector: model.Connector) -> list[Turn]:
    name = connector.name
    if group.tree.session(connector.session) is None:
        return [model.Reconnect(name)]
    turns: list[Turn] = []
    if connector.notices and connector.is_event_thread_free:
        turns.append(model.HandleEvent(name))
    if connector.is_triggered and not connector.is_closing:
        busy = connector.attempt is not None and connector.attempt.thread == model.WATCHER
        if not busy and model.WATCHER not in connector.waiting:
            turns.append(model.WakeWatcher(name))
    if connector.attempt is not None:
        turns.append(model.RebalanceStep(name))
    return turns


def settle(
    settings: Settings,
    group: Group,
    choose: Choice | None = None,
    *,
    stopped: Sequence[str] = (),
) -> Trace[Group, ConnectorEvent]:
    """The run from a state until nothing is left to do.

    Parameters
    ----------
    settings : kafkalearn.zookeeper.connector.Settings
    group : Group
        Where it begins.
    choose : callable, optional
        Which of the possible turns is taken next; without it, the consumers take turns. It chooses the end of a pause
        only where there is nothing else.
    stopped : sequence of str
        Consumers that stand still.

    Raises
    ------
    KafkaLearnError
        If after a million turns it is not quiet.

    Examples
    --------
    >>> from kafkalearn.zookeeper.connector import BrokerStarted, CreateMessageStreams, TopicCreated
    >>> from kafkalearn.zookeeper.subscriptions import Streams
    >>> joins = [CreateMessageStreams(name, Streams({"orders": 1})) for name in ("c1", "c2")]
    >>> settings = Settings()
    >>> trace = play(settings, [BrokerStarted(0), TopicCreated("orders", 3), *joins])
    >>> [(each.name, len(each.owned)) for each in trace[-1].state.connectors]
    [('c1', 2), ('c2', 1)]
    """
    trace = simulate(settings, (), group)
    return _settled(settings, trace, _Rounds() if choose is None else choose, stopped)


def play(
    settings: Settings,
    events: Sequence[ConnectorEvent],
    initial: Group | None = None,
    choose: Choice | None = None,
) -> Trace[Group, ConnectorEvent]:
    """The run of some events, after each of which the group comes to rest.

    Parameters
    ----------
    settings, events, initial
        As for `kafkalearn.zookeeper.connector.simulate`.
    choose : callable, optional
        As for `settle`.
    """
    trace = simulate(settings, (), model.start(settings) if initial is None else initial)
    for event in events:
        trace = extend(step, settings, trace, [event])
        trace = _settled(settings, trace, _Rounds() if choose is None else choose, ())
    return trace


def _settled(
    settings: Settings, trace: Trace[Group, ConnectorEvent], choose: Choice, stopped: Sequence[str]
) -> Trace[Group, ConnectorEvent]:
    frames: list[tuple[ConnectorEvent, Group]] = []
    group = trace[-1].state
    while turns := possible_turns(group, stopped):
        if len(frames) >= MOST_TURNS:
            raise KafkaLearnError(f"after {MOST_TURNS:,} turns the group is not quiet; take fewer consumers")
        event = choose(_first_of(turns, group))
        group = step(settings, group, event)
        frames.append((event, group))
    first = trace[-1].index + 1
    return trace + Trace(Frame(first + place, event, state) for place, (event, state) in enumerate(frames))


def _first_of(turns: tuple[Turn, ...], group: Group) -> tuple[Turn, ...]:
    """All turns but the ends of pauses, if there are any others."""
    return tuple(filterfalse(_ends_a_pause(group), turns)) or turns


def _ends_a_pause(group: Group) -> Callable[[Turn], bool]:
    """Whether a turn is the end of a pause."""
    pauses = {
        each.name for each in group.connectors if each.attempt is not None and each.attempt.stage == model.BACKOFF
    }
    return lambda turn: isinstance(turn, model.RebalanceStep) and turn.consumer in pauses


class _Rounds:
    """The consumers take turns, in the order of their names."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, turns: Sequence[Turn]) -> Turn:
        later = [turn for turn in turns if turn.consumer > self._last]
        chosen = min(later or turns, key=lambda turn: turn.consumer)
        self._last = chosen.consumer
        return chosen
