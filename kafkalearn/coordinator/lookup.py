"""FindCoordinator one step at a time: a simulator of the look-up that `kafkalearn.coordinator.rule` does at once.

The state starts with nothing read. Each `ReadUnit` takes one UTF-16 code unit of the group id into the hash,
``h = 31 * h + unit``, wrapped to 32 bits; `TakeAbsolute` drops the sign as Kafka does; `TakeRemainder` finds the
partition of ``__consumer_offsets``; `AskLeader` names the broker that leads it. `look_up` is a whole run.

>>> simulate(Settings("ok", leaders=[1, 2], partition_count=2), [ReadUnit(), ReadUnit()])[-1].state.group_hash
3548
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import text
from kafkalearn.base.errors import IllegalEvent, shown
from kafkalearn.base.hashing import int32, java_string_hash, kafka_abs
from kafkalearn.base.simulator import simulator
from kafkalearn.base.trace import Trace
from kafkalearn.coordinator.leaders import OFFSETS_PARTITION_COUNT, leaders_of


@dataclass(frozen=True, slots=True)
class Settings:
    """One group and the leaders of the offsets topic.

    Parameters
    ----------
    group_id : str
        Any text without lone surrogates.
    leaders : sequence of int or None
        ``leaders[p]`` is the broker that leads partition ``p`` of ``__consumer_offsets``; None: no live leader.
    partition_count : int
        Partitions of that topic, and so the number of leaders.

    Raises
    ------
    KafkaLearnError
        As `kafkalearn.coordinator.find_coordinator`.

    Examples
    --------
    >>> Settings("ok", leaders=[1, 2], partition_count=2).units
    (111, 107)
    """

    group_id: str
    leaders: tuple[int | None, ...]
    partition_count: int = OFFSETS_PARTITION_COUNT
    units: tuple[int, ...] = field(init=False, repr=False, compare=False)  # the UTF-16 code units of the group id

    def __post_init__(self) -> None:
        """Refuse what cannot be looked up."""
        text("group_id", self.group_id)
        leaders = leaders_of(self.leaders, self.partition_count)
        encoded = self.group_id.encode("utf-16-be")
        units = tuple(high << 8 | low for high, low in zip(encoded[::2], encoded[1::2], strict=True))
        object.__setattr__(self, "leaders", leaders)
        object.__setattr__(self, "partition_count", len(leaders))  # None stands for 50, as elsewhere
        object.__setattr__(self, "units", units)


@dataclass(frozen=True, slots=True)
class Lookup:
    """How far the look-up has come; what is not known yet is None."""

    settings: Settings  # kept here too, so that a frame alone can be drawn
    read_count: int = 0  # units taken into the hash so far
    group_hash: int = 0  # signed; final once all units are read
    absolute: int | None = None
    partition: int | None = None
    is_answered: bool = False
    broker_id: int | None = None  # None after the answer: COORDINATOR_NOT_AVAILABLE
    effects: tuple[Effect, ...] = field(default=(), compare=False)


def start(settings: Settings) -> Lookup:
    """The look-up before its first step: nothing is read yet."""
    return Lookup(settings)


# Events: the steps of a look-up, in the only order that makes sense.


class ReadUnit(facts.Event):
    """The next UTF-16 code unit goes into the hash."""


class TakeAbsolute(facts.Event):
    """The sign goes; the smallest int, which has no absolute value, becomes 0."""


class TakeRemainder(facts.Event):
    """The absolute hash modulo the partition count is the partition."""


class AskLeader(facts.Event):
    """The leader of that partition is the coordinator."""


Event: TypeAlias = ReadUnit | TakeAbsolute | TakeRemainder | AskLeader


# Effects: what a step computed.


class UnitHashed(facts.Effect):
    """A code unit went into the hash."""

    unit: int
    hash_before: int
    exact: int  # 31 * hash_before + unit, before it wraps to 32 bits


class SignDropped(facts.Effect):
    """The hash lost its sign."""

    absolute: int


class PartitionFound(facts.Effect):
    """The partition of ``__consumer_offsets`` is known."""

    partition: int


class CoordinatorFound(facts.Effect):
    """The answer to FindCoordinator: this broker."""

    broker_id: int


class CoordinatorNotAvailable(facts.Effect):
    """The answer to FindCoordinator: the partition has no leader, the client asks again."""


Effect: TypeAlias = UnitHashed | SignDropped | PartitionFound | CoordinatorFound | CoordinatorNotAvailable


# The step.


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
            unit = settings.units[state.read_count]
            exact = 31 * state.group_hash + unit
            hashed = UnitHashed(unit, state.group_hash, exact)
            return replace(state, read_count=state.read_count + 1, group_hash=int32(exact), effects=(hashed,))
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


# What holds in every look-up, and what the client hopes for.


def _hash_is_of_what_was_read(settings: Settings, state: Lookup) -> bool:
    read = "".join(map(chr, settings.units[: state.read_count]))
    whole = read.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
    # Between the two halves of one character the hash is not that of any text.
    return "\ufffd" in whole or state.group_hash == java_string_hash(whole)


INVARIANTS = {
    "the hash is that of the part read so far": _hash_is_of_what_was_read,
    "an absolute value is never negative": lambda settings, state: (
        state.absolute is None or 0 <= state.absolute < 2**31
    ),
    "the partition exists": lambda settings, state: (
        state.partition is None or 0 <= state.partition < settings.partition_count
    ),
    "the coordinator leads the partition": lambda settings, state: (
        not state.is_answered or state.broker_id == settings.leaders[state.partition]
    ),
}

PROMISES = {
    "the answer names a coordinator": lambda settings, state: not state.is_answered or state.broker_id is not None,
}

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
