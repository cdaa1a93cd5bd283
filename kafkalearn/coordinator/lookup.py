"""FindCoordinator one step at a time: a simulator of the look-up that `kafkalearn.coordinator` does at once.

The state starts with nothing read. Each `ReadUnit` takes one UTF-16 code unit of the group id into the hash,
``h = 31 * h + unit``, wrapped to 32 bits; `TakeAbsolute` drops the sign as Kafka does; `TakeRemainder` finds the
partition of ``__consumer_offsets``; `AskLeader` names the broker that leads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kafkalearn.coordinator.rule import find_coordinator
from kafkalearn.errors import IllegalEvent
from kafkalearn.hashing import int32, java_string_hash, kafka_abs
from kafkalearn.trace import Trace, run


@dataclass(frozen=True, slots=True)
class Lookup:
    """How far the look-up has come; what is not known yet is None."""

    group_id: str
    units: tuple[int, ...]  # the UTF-16 code units of the group id
    leaders: tuple[int | None, ...]  # leaders[p] leads partition p of __consumer_offsets
    read_count: int = 0  # units taken into the hash so far
    group_hash: int = 0  # signed; final once all units are read
    absolute: int | None = None
    partition: int | None = None
    is_answered: bool = False
    broker_id: int | None = None  # None after the answer: COORDINATOR_NOT_AVAILABLE

    @property
    def partition_count(self) -> int:
        """Partitions of the offsets topic."""
        return len(self.leaders)


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """The next UTF-16 code unit goes into the hash."""


@dataclass(frozen=True, slots=True)
class TakeAbsolute:
    """The sign goes; the smallest int, which has no absolute value, becomes 0."""


@dataclass(frozen=True, slots=True)
class TakeRemainder:
    """The absolute hash modulo the partition count is the partition."""


@dataclass(frozen=True, slots=True)
class AskLeader:
    """The leader of that partition is the coordinator."""


LookupEvent: TypeAlias = ReadUnit | TakeAbsolute | TakeRemainder | AskLeader


def start(group_id: str, leaders: Sequence[int | None]) -> Lookup:
    """The look-up before its first step; arguments and errors as in `coordinator.find_coordinator`.

    >>> start("ok", leaders=[1, 2]).units
    (111, 107)
    """
    find_coordinator(group_id, leaders)  # refuses what cannot be looked up
    encoded = group_id.encode("utf-16-be")
    units = tuple(high << 8 | low for high, low in zip(encoded[::2], encoded[1::2], strict=True))
    return Lookup(group_id, units, tuple(leaders))


def possible_event(state: Lookup) -> LookupEvent | None:
    """The one event that can come next, or None when the look-up is answered."""
    if state.read_count < len(state.units):
        return ReadUnit()
    if state.absolute is None:
        return TakeAbsolute()
    if state.partition is None:
        return TakeRemainder()
    return None if state.is_answered else AskLeader()


def step(state: Lookup, event: LookupEvent) -> Lookup:
    """The look-up after `event`.

    Raises
    ------
    IllegalEvent
        If another event has to come first; the message names it.

    Examples
    --------
    >>> step(start("ok", leaders=[1, 2]), ReadUnit()).group_hash
    111
    """
    possible = possible_event(state)
    if event != possible:
        raise IllegalEvent(f"{event} makes no sense here: {_what_is_possible(possible)}")
    match event:
        case ReadUnit():
            unit = state.units[state.read_count]
            group_hash = int32(31 * state.group_hash + unit)
            return replace(state, read_count=state.read_count + 1, group_hash=group_hash)
        case TakeAbsolute():
            return replace(state, absolute=kafka_abs(state.group_hash))
        case TakeRemainder():
            return replace(state, partition=state.absolute % state.partition_count)
        case AskLeader():
            return replace(state, is_answered=True, broker_id=state.leaders[state.partition])


def _what_is_possible(possible: LookupEvent | None) -> str:
    return "the look-up is answered" if possible is None else f"the next event is {possible}"


def lookup(group_id: str, leaders: Sequence[int | None]) -> Trace[Lookup, LookupEvent]:
    """The whole look-up of one group as a trace, one frame for each step.

    Parameters
    ----------
    group_id : str
        Any text without lone surrogates.
    leaders : sequence of int or None
        ``leaders[p]`` leads partition ``p`` of the offsets topic; None: no live leader.

    Returns
    -------
    tuple of Frame
        The start, a frame for each UTF-16 code unit, then one each for sign, remainder and leader.

    Raises
    ------
    KafkaLearnError
        As `coordinator.find_coordinator`.

    Examples
    --------
    >>> from kafkalearn.coordinator import round_robin_leaders
    >>> trace = lookup("test-group", round_robin_leaders([1, 2, 3]))
    >>> len(trace), trace[-1].state.partition, trace[-1].state.broker_id
    (14, 12, 1)

    References
    ----------
    As `coordinator.offsets_partition` and `coordinator.find_coordinator`.
    """
    initial = start(group_id, leaders)
    events = (*[ReadUnit()] * len(initial.units), TakeAbsolute(), TakeRemainder(), AskLeader())
    return run(step, initial, events)


def check(state: Lookup) -> None:
    """Pass in silence if the state keeps its promises; else AssertionError names the broken one."""
    read = "".join(chr(unit) for unit in state.units[: state.read_count])
    whole = read.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
    if "\ufffd" not in whole:  # between the two halves of one character the hash is not that of any text
        assert state.group_hash == java_string_hash(whole), "the hash is that of the part read so far"
    if state.absolute is not None:
        assert 0 <= state.absolute < 2**31, "an absolute value is never negative"
    if state.partition is not None:
        assert 0 <= state.partition < state.partition_count, "the partition exists"
    if state.is_answered:
        assert state.broker_id == state.leaders[state.partition], "the coordinator leads the partition"
