"""FindCoordinator one step at a time: a simulator of the look-up that `kafkalearn.coordinator.rule` does at once.

The state starts with nothing read. Each `ReadUnit` takes one UTF-16 code unit of the group id into the hash,
``h = 31 * h + unit``, wrapped to 32 bits; `TakeAbsolute` drops the sign as Kafka does; `TakeRemainder` finds the
partition of ``__consumer_offsets``; `AskLeader` names the broker that leads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kafkalearn.coordinator.effects import (
    CoordinatorFound,
    CoordinatorNotAvailable,
    PartitionFound,
    SignDropped,
    UnitHashed,
)
from kafkalearn.coordinator.events import AskLeader, Event, ReadUnit, TakeAbsolute, TakeRemainder
from kafkalearn.coordinator.leaders import leaders_of
from kafkalearn.coordinator.settings import Settings
from kafkalearn.coordinator.state import Lookup, start
from kafkalearn.errors import IllegalEvent
from kafkalearn.hashing import int32, kafka_abs
from kafkalearn.phrases import shown
from kafkalearn.trace import Trace, run


def next_event(settings: Settings, state: Lookup) -> Event | None:
    """The one event that can come next, or None when the look-up is answered."""
    if state.read_count < len(settings.units):
        return ReadUnit()
    if state.absolute is None:
        return TakeAbsolute()
    if state.partition is None:
        return TakeRemainder()
    return None if state.is_answered else AskLeader()


def step(settings: Settings, state: Lookup, event: Event) -> Lookup:
    """The look-up after `event`.

    Raises
    ------
    IllegalEvent
        If another event has to come first; the message names it.

    Examples
    --------
    >>> settings = Settings("ok", leaders=[1, 2], partition_count=2)
    >>> step(settings, start(settings), ReadUnit()).group_hash
    111
    """
    expected = next_event(settings, state)
    if expected is None or event != expected:
        reason = "the look-up is answered" if expected is None else f"the next event is {expected}"
        raise IllegalEvent(f"{shown(event)} makes no sense here: {reason}")
    match event:
        case ReadUnit():
            return _read_unit(settings, state)
        case TakeAbsolute():
            absolute = kafka_abs(state.group_hash)
            return replace(state, absolute=absolute, effects=(SignDropped(absolute),))
        case TakeRemainder():
            partition = _found(state.absolute) % settings.partition_count
            return replace(state, partition=partition, effects=(PartitionFound(partition),))
        case AskLeader():
            broker_id = settings.leaders[_found(state.partition)]
            answer = CoordinatorNotAvailable() if broker_id is None else CoordinatorFound(broker_id)
            return replace(state, is_answered=True, broker_id=broker_id, effects=(answer,))


def _found(number: int | None) -> int:
    assert number is not None, "a step before has found it"
    return number


def _read_unit(settings: Settings, state: Lookup) -> Lookup:
    unit = settings.units[state.read_count]
    exact = 31 * state.group_hash + unit
    hashed = UnitHashed(unit, state.group_hash, exact)
    return replace(state, read_count=state.read_count + 1, group_hash=int32(exact), effects=(hashed,))


def simulate(settings: Settings, events: Iterable[Event], initial: Lookup | None = None) -> Trace[Lookup, Event]:
    """A run of the look-up: from `initial`, or from its start.

    >>> simulate(Settings("ok", leaders=[1, 2], partition_count=2), [ReadUnit(), ReadUnit()])[-1].state.group_hash
    3548
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def look_up(
    group_id: str,
    leaders: Sequence[int | None] | None = None,
    partition_count: int | None = None,
    *,
    brokers: Sequence[int] | int | None = None,
    describe: str | None = None,
) -> Trace[Lookup, Event]:
    """The whole look-up of one group as a trace, one frame for each step.

    Parameters
    ----------
    group_id, leaders, partition_count, brokers, describe
        As in `kafkalearn.coordinator.find_coordinator`.

    Returns
    -------
    tuple of Frame
        The start, a frame for each UTF-16 code unit, then one each for sign, remainder and leader.

    Raises
    ------
    KafkaLearnError
        As `kafkalearn.coordinator.find_coordinator`.

    Examples
    --------
    >>> trace = look_up("test-group", brokers=[1, 2, 3])
    >>> len(trace), trace[-1].state.partition, trace[-1].state.broker_id
    (14, 12, 1)

    References
    ----------
    As `kafkalearn.coordinator.offsets_partition` and `kafkalearn.coordinator.find_coordinator`.
    """
    leaders = leaders_of(leaders, partition_count, brokers=brokers, describe=describe)
    settings = Settings(group_id, leaders, len(leaders))
    return simulate(settings, [*[ReadUnit()] * len(settings.units), TakeAbsolute(), TakeRemainder(), AskLeader()])
