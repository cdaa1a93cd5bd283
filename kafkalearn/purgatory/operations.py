"""Delayed operations: what waits for a condition or for time, and the lists of those who watch a key.

A simulator: operations come with `TryCompleteElseWatch`, the others of its events change facts, check a key, complete
by force and let time pass. The operations that brokers really have or had are
here as well: ``delayed_produce``, ``delayed_fetch`` and others make them.

>>> [frame.state.wheels.now_ms for frame in simulate(Settings(), [TimePassed(20), TimePassed(5)])]
[0, 20, 25]
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from kafkalearn.base import checks
from kafkalearn.base.checks import Index, mapping, one_of, text, whole_number
from kafkalearn.base.errors import IllegalEvent, no_event, refusing_events
from kafkalearn.base.events import TimePassed
from kafkalearn.base.facts import Effect, Event
from kafkalearn.base.promises import Promises, Since, failing
from kafkalearn.base.simulator import simulator
from kafkalearn.purgatory import wheel

__all__ = [
    "PROMISES",
    "CheckAndComplete",
    "FactChanged",
    "ForceComplete",
    "Settings",
    "TimePassed",
    "TryCompleteElseWatch",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]


# What an operation waits for: a condition on the facts of the broker, such as high watermarks, bytes, members. Facts
# are named numbers, such as ``"HW orders-0"``; a condition reads them and never changes them.

Facts: TypeAlias = tuple[tuple[str, int], ...]
"""Each fact once, sorted by name; a fact that is not there is 0."""


def fact(facts: Facts, name: str) -> int:
    """The value of a fact; 0 if it is not there.

    >>> fact((("HW orders-0", 7),), "HW orders-0"), fact((), "HW orders-0")
    (7, 0)
    """
    return dict(facts).get(name, 0)


def with_fact(facts: Facts, name: str, value: int) -> Facts:
    """The facts with a new value for one of them.

    >>> with_fact((("b", 1),), "a", 2)
    (('a', 2), ('b', 1))
    """
    return tuple(sorted({**dict(facts), name: value}.items()))


@dataclass(frozen=True, slots=True)
class Reached(checks.Checked):
    """Every fact named has reached its number, as DelayedProduce waits for the high watermarks of its partitions."""

    required: tuple[tuple[str, int], ...]

    def holds(self, facts: Facts) -> bool:
        """Whether the condition is true now."""
        return all(fact(facts, name) >= number for name, number in self.required)

    def __str__(self) -> str:
        """The condition in words."""
        return " and ".join(f"{name} >= {number}" for name, number in self.required)


@dataclass(frozen=True, slots=True)
class SumReached(checks.Checked):
    """What the facts named have grown by adds up to a minimum, as DelayedFetch waits for bytes."""

    counted: tuple[tuple[str, int], ...]  # (fact, what it was where the fetch starts)
    minimum: int

    def holds(self, facts: Facts) -> bool:
        """Whether the condition is true now."""
        return sum(fact(facts, name) - before for name, before in self.counted) >= self.minimum

    def __str__(self) -> str:
        """The condition in words."""
        names = " + ".join(name if before == 0 else f"{name} - {before}" for name, before in self.counted)
        return f"{names} >= {self.minimum}"


@dataclass(frozen=True, slots=True)
class CaughtUp(checks.Checked):
    """One fact has reached another, which may change as well, as DelayedJoin waits for all members that there are."""

    name: str
    target: str  # a fact, too

    def holds(self, facts: Facts) -> bool:
        """Whether the condition is true now."""
        return fact(facts, self.name) >= fact(facts, self.target)

    def __str__(self) -> str:
        """The condition in words."""
        return f"{self.name} >= {self.target}"


@dataclass(frozen=True, slots=True)
class Never:
    """Nothing completes it but time: the initial delay of an empty group."""

    def holds(self, facts: Facts) -> bool:
        """Never."""
        return False

    def __str__(self) -> str:
        """The condition in words."""
        return "no event"


Condition: TypeAlias = Reached | SumReached | CaughtUp | Never


# What an event led to: operations that wait or are completed, lists that were walked or purged.

AT_ONCE, WHILE_LISTED, BY_EVENT, BY_FORCE, BY_TIME = "at once", "while listed", "by an event", "by force", "by time"
"""How an operation was completed. `BY_TIME` alone runs onExpiration too."""


class Completed(Effect):
    """An operation is completed; if `has_expired`, its onExpiration ran too."""

    name: str
    how: str

    @property
    def has_expired(self) -> bool:
        """Whether time ended it."""
        return self.how == BY_TIME


class Parked(Effect):
    """An operation waits."""

    name: str


class Checked(Effect):
    """The list of a key was walked, and so many operations of it were completed."""

    key: str
    completed_count: int


class Purged(Effect):
    """All lists were walked to drop what is completed."""

    dropped_count: int


PurgatoryEffect: TypeAlias = Completed | Parked | Checked | Purged


# Delayed operations: those that brokers really have or had, each with its keys and its condition.
#
# ==============  ======================  ===========================================  =======================
# kind            watches                 done when                                    when its time is over
# ==============  ======================  ===========================================  =======================
# produce         its partitions          all high watermarks have passed the records  REQUEST_TIMED_OUT
# fetch           its partitions          enough bytes are readable in all             answered with what is there
# delete records  its partitions          all low watermarks have reached the offsets  REQUEST_TIMED_OUT
# join            the group               all known members have rejoined              the missing are dropped
# initial join    the group               never by an event                            the first generation begins
# heartbeat       group and member        any sign of life (by force)                  the member is removed
# ==============  ======================  ===========================================  =======================
#
# The last three are the Scala group coordinator's, with its purgatories ``Rebalance`` and ``Heartbeat``: the default up
# to 3.9, still in the jar of 4.0, gone in 4.1. The coordinator that is the default since 4.0 has no purgatory: there
# they are timers of its event loop, in the same kind of timing wheels (`kafkalearn.purgatory.wheel`).


@dataclass(frozen=True, slots=True)
class Operation(checks.Checked):
    """A request that may have to wait."""

    name: str
    keys: tuple[str, ...]  # what it watches, such as "orders-0" or "billing c1"
    condition: Condition
    timeout_ms: int
    kind: str = ""  # "produce", "fetch", "delete records", "join", "heartbeat": for the reader


def delayed_produce(name: str, last_offsets: Mapping[str, int], timeout_ms: int = 30_000) -> Operation:
    """A produce request with acks=all: waits until every partition's high watermark is past its last record.

    Parameters
    ----------
    last_offsets : mapping
        Partition -> offset of the last record written there, as ``{"orders-0": 7}``.
    timeout_ms : int
        The producer's ``request.timeout.ms``.

    Examples
    --------
    >>> str(delayed_produce("p1", {"orders-0": 7}).condition)
    'HW orders-0 >= 8'

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedProduce``.
    """
    offsets = _numbers("last_offsets", last_offsets)
    required = tuple((f"HW {partition}", offset + 1) for partition, offset in offsets.items())
    return Operation(name, tuple(last_offsets), Reached(required), timeout_ms, "produce")


def delayed_fetch(
    name: str, start_bytes: Mapping[str, int], min_bytes: int = 1, max_wait_ms: int = 500, up_to: str = "HW"
) -> Operation:
    """A fetch that found too little: waits until its partitions have `min_bytes` more to read, together.

    Parameters
    ----------
    start_bytes : mapping
        Partition -> bytes of its log before the offset that the fetch starts from.
    min_bytes, max_wait_ms : int
        ``fetch.min.bytes`` and ``fetch.max.wait.ms``; a follower's are 1 and 500 as well.
    up_to : str
        ``"HW"`` for a consumer, who may read what is committed; ``"LEO"`` for a follower, who reads everything.

    Examples
    --------
    >>> str(delayed_fetch("c1", {"orders-0": 0}, min_bytes=250).condition)
    'HW bytes orders-0 >= 250'

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedFetch``.
    """
    one_of("end of what may be read", up_to, ("HW", "LEO"))
    before = _numbers("start_bytes", start_bytes)
    counted = tuple((f"{up_to} bytes {partition}", count) for partition, count in before.items())
    return Operation(name, tuple(start_bytes), SumReached(counted, min_bytes), max_wait_ms, "fetch")


def _numbers(name: str, given: Mapping[str, int]) -> dict[str, int]:
    """By partition, what is given of it; each a whole number of at least 0."""
    numbers = mapping(name, given, of="partition to number")
    return {
        text("partition", each): whole_number(f"{name}[{each!r}]", number, at_least=0)
        for each, number in numbers.items()
    }


def delayed_delete_records(name: str, offsets: Mapping[str, int], timeout_ms: int = 30_000) -> Operation:
    """A DeleteRecords request: waits until all live replicas of every partition begin at the offset, or above it.

    Parameters
    ----------
    offsets : mapping
        Partition -> the offset below which records are deleted, as ``{"orders-0": 7}``.
    timeout_ms : int
        The administrator's timeout.

    Examples
    --------
    >>> str(delayed_delete_records("d1", {"orders-0": 7}).condition)
    'low watermark orders-0 >= 7'

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedDeleteRecords``, ``Partition.lowWatermarkIfLeader``; KIP-107.
    """
    numbers = _numbers("offsets", offsets)
    required = tuple((f"low watermark {partition}", offset) for partition, offset in numbers.items())
    return Operation(name, tuple(numbers), Reached(required), timeout_ms, "delete records")


def delayed_join(
    name: str, group: str, member_count: int | None = None, rebalance_timeout_ms: int = 300_000
) -> Operation:
    """A rebalance: waits until all members that the coordinator knows have sent JoinGroup again.

    Parameters
    ----------
    member_count : int, optional
        How many members the group has; without it, as many as the fact ``"members <group>"`` says at any time, since
        a member may be removed while the others wait for it.

    Examples
    --------
    >>> str(delayed_join("rebalance 5", "billing").condition)
    'rejoined billing >= members billing'
    >>> str(delayed_join("rebalance 5", "billing", 3).condition)
    'rejoined billing >= 3'

    References
    ----------
    Apache Kafka to 3.9, ``kafka.coordinator.group.DelayedJoin`` (in 4.0 not the default); a timer of the event loop
    since.
    """
    rejoined = f"rejoined {text('group', group)}"
    if member_count is None:
        return Operation(name, (group,), CaughtUp(rejoined, f"members {group}"), rebalance_timeout_ms, "join")
    needed = Reached(((rejoined, whole_number("member_count", member_count, at_least=0)),))
    return Operation(name, (group,), needed, rebalance_timeout_ms, "join")


def initial_delayed_join(name: str, group: str, initial_rebalance_delay_ms: int = 3000) -> Operation:
    """The first rebalance of an empty group: waits for members to come, and only time ends it.

    >>> str(initial_delayed_join("rebalance 1", "billing").condition)
    'no event'

    References
    ----------
    Apache Kafka to 3.9, ``kafka.coordinator.group.InitialDelayedJoin`` (in 4.0 not the default), KIP-134.
    """
    return Operation(name, (group,), Never(), initial_rebalance_delay_ms, "join")


def delayed_heartbeat(name: str, group: str, member: str, session_timeout_ms: int = 45_000) -> Operation:
    """The life of a member: each sign of life completes it by force, and parks the next; time removes the member.

    >>> delayed_heartbeat("c1 beat 1", "billing", "c1").keys
    ('billing c1',)

    References
    ----------
    Apache Kafka to 3.9, ``kafka.coordinator.group.DelayedHeartbeat`` (in 4.0 not the default); a timer of the event
    loop since.
    """
    watched = f"{text('group', group)} {text('member', member)}"
    return Operation(name, (watched,), Never(), session_timeout_ms, "heartbeat")


# What happens to a purgatory: operations come, facts change, keys are checked, time passes.


class TryCompleteElseWatch(Event):
    """A request comes: done at once if its condition holds, else listed under its keys and added to the timer.

    `changed_meanwhile` are facts that change while it is being listed: the gap that the second test closes.
    """

    operation: Operation
    changed_meanwhile: Facts = ()


class FactChanged(Event, says="{name} is {value:,} now; nobody has looked yet"):
    """A fact changes, and nobody looks yet: ``FactChanged("HW orders-0", 8)``."""

    name: str
    value: int


class CheckAndComplete(Event):
    """The operations that watch a key are tested again."""

    key: str


class ForceComplete(Event):
    """An operation is completed whatever its condition says, as a heartbeat completed the one before up to 3.9."""

    name: str


PurgatoryEvent: TypeAlias = TryCompleteElseWatch | FactChanged | CheckAndComplete | ForceComplete | TimePassed


@dataclass(frozen=True, slots=True)
class Settings(checks.Checked):
    """How many operations more than the timer holds may be listed before a purge, and the timer's wheels.

    Brokers have 1000, and 1 for DeleteRecords.

    Raises
    ------
    KafkaLearnError
        If `purge_interval` is not a whole number of at least 0.
    """

    purge_interval: Index = 1000
    timer: wheel.Settings = field(default_factory=wheel.Settings)


@dataclass(frozen=True, slots=True)
class Purgatory:
    """All that waits, at one moment; `effects` are what the last event led to."""

    wheels: wheel.Wheels  # the timer
    facts: Facts = ()
    waiting: tuple[Operation, ...] = ()  # not completed, in the order they came
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()  # key -> names, completed ones too
    estimated_count: int = 0  # what a purge compares with the timer: grows by each listed one, set by a purge
    effects: tuple[PurgatoryEffect, ...] = field(default=(), compare=False)

    @property
    def watched_count(self) -> int:
        """Entries on all lists; an operation on three lists counts three times."""
        return sum(len(names) for _, names in self.lists)

    @property
    def delayed_count(self) -> int:
        """Operations in the timer."""
        return len(self.wheels.timers)

    def is_waiting(self, name: str) -> bool:
        """Whether an operation still waits."""
        return any(operation.name == name for operation in self.waiting)


def start(settings: Settings) -> Purgatory:
    """An empty purgatory.

    >>> start(Settings()).watched_count
    0
    """
    return Purgatory(wheel.start(settings.timer))


# The step. An operation is completed once, by whoever comes first: the request that brings it finds its condition true
# (before or just after it was put on the lists), an event on one of its keys makes somebody look again, or its time is
# over. One that was completed through one key stays on the lists of its other keys until these are walked or purged.


@refusing_events
def step(settings: Settings, purgatory: Purgatory, event: PurgatoryEvent) -> Purgatory:
    """The purgatory after `event`; its `effects` are what was completed and how, what waits, what was walked.

    Raises
    ------
    IllegalEvent
        If an operation watches nothing or has the name of one that is listed, if one is forced that does not wait, or
        time runs backwards.

    Examples
    --------
    >>> from kafkalearn.purgatory.operations import delayed_produce
    >>> settings = Settings()
    >>> parked = step(settings, start(settings), TryCompleteElseWatch(delayed_produce("p1", {"orders-0": 7})))
    >>> parked.effects
    (Parked(name='p1'),)
    >>> step(settings, step(settings, parked, FactChanged("HW orders-0", 8)), CheckAndComplete("orders-0")).effects
    (Completed(name='p1', how='by an event'), Checked(key='orders-0', completed_count=1))

    References
    ----------
    Apache Kafka 4.3, ``org.apache.kafka.server.purgatory.DelayedOperationPurgatory`` and ``DelayedOperation``.
    """
    purgatory = replace(purgatory, effects=())
    match event:
        case TryCompleteElseWatch(operation, changed_meanwhile):
            return _try_complete_else_watch(settings, purgatory, operation, changed_meanwhile)
        case FactChanged(name, value):
            return replace(purgatory, facts=with_fact(purgatory.facts, name, value))
        case CheckAndComplete(key):
            return _check_and_complete(settings, purgatory, key)
        case ForceComplete(name):
            if not purgatory.is_waiting(name):
                raise IllegalEvent(f"no operation {name!r} waits; waiting: {_names(purgatory)}")
            return _complete(settings, purgatory, name, BY_FORCE)
        case TimePassed(ms):
            return _pass(settings, purgatory, ms)
    raise no_event(event, (TryCompleteElseWatch, FactChanged, CheckAndComplete, ForceComplete, TimePassed))


def _names(purgatory: Purgatory) -> str:
    return ", ".join(operation.name for operation in purgatory.waiting) or "nothing"


def _try_complete_else_watch(
    settings: Settings, purgatory: Purgatory, operation: Operation, changed_meanwhile: Facts
) -> Purgatory:
    if not operation.keys:
        raise IllegalEvent(f"operation {operation.name!r} watches no key: nobody would ever look at it again")
    if any(operation.name in names for _, names in purgatory.lists):
        raise IllegalEvent(f"an operation {operation.name!r} is listed already; give each a name of its own")
    if operation.condition.holds(purgatory.facts):
        return _with_effect(purgatory, Completed(operation.name, AT_ONCE))
    listed = _with_entries(purgatory, operation)
    for name, value in changed_meanwhile:
        listed = replace(listed, facts=with_fact(listed.facts, name, value))
    if operation.condition.holds(listed.facts):
        return _with_effect(listed, Completed(operation.name, WHILE_LISTED))
    wheels = wheel.step(settings.timer, listed.wheels, wheel.Add(operation.name, operation.timeout_ms))
    waiting = (*listed.waiting, operation)
    parked = _with_effect(replace(listed, wheels=wheels, waiting=waiting), Parked(operation.name))
    return _expire(settings, parked)  # with no time at all: the timer runs it as it comes


def _with_entries(purgatory: Purgatory, operation: Operation) -> Purgatory:
    lists = dict(purgatory.lists)
    for key in operation.keys:
        lists[key] = (*lists.get(key, ()), operation.name)
    count = purgatory.estimated_count + 1
    return replace(purgatory, lists=tuple(sorted(lists.items())), estimated_count=count)


def _check_and_complete(settings: Settings, purgatory: Purgatory, key: str) -> Purgatory:
    names = dict(purgatory.lists).get(key, ())
    ready = {each.name for each in purgatory.waiting if each.name in names and each.condition.holds(purgatory.facts)}
    for name in sorted(ready, key=names.index):
        purgatory = _complete(settings, purgatory, name, BY_EVENT)
    return _with_effect(_walked(purgatory, {key}), Checked(key, len(ready)))


def _complete(settings: Settings, purgatory: Purgatory, name: str, how: str) -> Purgatory:
    """The one way out; its timer is cancelled, its entries on other lists stay."""
    waiting = tuple(operation for operation in purgatory.waiting if operation.name != name)
    wheels = purgatory.wheels
    if wheels.is_waiting(name):
        wheels = wheel.step(settings.timer, wheels, wheel.Cancel(name))
    return _with_effect(replace(purgatory, waiting=waiting, wheels=wheels), Completed(name, how))


def _pass(settings: Settings, purgatory: Purgatory, ms: int) -> Purgatory:
    """Rounds of the reaper: one at once, as it never sleeps long, and one for each bucket that comes due."""
    end_ms, purgatory = purgatory.wheels.now_ms + ms, _purge(settings, purgatory)
    while (due_ms := purgatory.wheels.next_due_ms) is not None and due_ms <= end_ms:
        purgatory = _advanced(settings, purgatory, max(due_ms, purgatory.wheels.now_ms))
    return _advanced(settings, purgatory, end_ms)


def _advanced(settings: Settings, purgatory: Purgatory, to_ms: int) -> Purgatory:
    wheels = wheel.step(settings.timer, purgatory.wheels, wheel.Advance(to_ms))
    return _purge(settings, _expire(settings, replace(purgatory, wheels=wheels)))


def _expire(settings: Settings, purgatory: Purgatory) -> Purgatory:
    """Complete the operations whose timers have just run."""
    for timer in [timer for effect in purgatory.wheels.effects for timer in effect.fired]:
        purgatory = _complete(settings, purgatory, timer.name, BY_TIME)
    return purgatory


def _purge(settings: Settings, purgatory: Purgatory) -> Purgatory:
    """Walk all lists when too many entries must be of completed operations; the reaper does so after each round."""
    if purgatory.estimated_count - purgatory.delayed_count <= settings.purge_interval:
        return purgatory
    purged = replace(_walked(purgatory, dict(purgatory.lists)), estimated_count=purgatory.delayed_count)
    return _with_effect(purged, Purged(purgatory.watched_count - purged.watched_count))


def _walked(purgatory: Purgatory, keys: Container[str]) -> Purgatory:
    """The lists of some keys without what is completed; a list that is empty then goes."""
    lists = (
        (key, tuple(filter(purgatory.is_waiting, names)) if key in keys else names) for key, names in purgatory.lists
    )
    return replace(purgatory, lists=tuple((key, names) for key, names in lists if names))


def _with_effect(purgatory: Purgatory, effect: PurgatoryEffect) -> Purgatory:
    return replace(purgatory, effects=(*purgatory.effects, effect))


COMPLETED_WHEN_TRUE = "no operation waits whose condition is true"
WITHIN_TIMEOUT = "no operation waits past its timeout"
LISTS_HOLD_WAITING = "the lists hold nothing but what waits"


def _is_listed_under_its_keys(settings: Settings, purgatory: Purgatory) -> bool:
    listed = dict(purgatory.lists)
    return all(operation.name in listed.get(key, ()) for operation in purgatory.waiting for key in operation.keys)


def _is_in_the_timer(settings: Settings, purgatory: Purgatory) -> bool:
    return sorted(timer.name for timer in purgatory.wheels.timers) == sorted(each.name for each in purgatory.waiting)


def _completed_once(settings: Settings, before: Purgatory, purgatory: Purgatory) -> bool:
    """Whether each that was completed waited until then or came just now, and waits no more; and nobody else left."""
    completed = [effect for effect in purgatory.effects if isinstance(effect, Completed)]
    names = {each.name for each in completed}
    parked = {effect.name for effect in purgatory.effects if isinstance(effect, Parked)}
    open_names = parked | {operation.name for operation in before.waiting}
    came = {each.name for each in completed if each.how in (AT_ONCE, WHILE_LISTED)}
    still_open = {operation.name for operation in purgatory.waiting}
    return len(names) == len(completed) and names - came <= open_names and still_open == open_names - names


INVARIANTS: Promises = {
    "an operation waits once": lambda settings, purgatory: (
        len({operation.name for operation in purgatory.waiting}) == len(purgatory.waiting)
    ),
    "an operation that waits is on the list of each of its keys": _is_listed_under_its_keys,
    "what waits is in the timer, and nothing else": _is_in_the_timer,
    "the timer keeps the invariants of wheels": lambda settings, purgatory: (
        not failing(wheel.INVARIANTS, settings.timer, purgatory.wheels)
    ),
    "every operation is completed once": Since(_completed_once),
}
PROMISES: Promises = {
    COMPLETED_WHEN_TRUE: lambda settings, purgatory: (
        not any(operation.condition.holds(purgatory.facts) for operation in purgatory.waiting)
    ),
    WITHIN_TIMEOUT: lambda settings, purgatory: (
        not wheel.broken(settings.timer, purgatory.wheels, names=(wheel.NEVER_LATE,))
    ),
    LISTS_HOLD_WAITING: lambda settings, purgatory: all(
        purgatory.is_waiting(name) for _, names in purgatory.lists for name in names
    ),
}
"""The first is broken until somebody checks the key, the last until the lists are walked or purged."""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
