"""Timers in hierarchical timing wheels, and what they cost beside a heap.

A simulator: `step` and `simulate` move wheels of some `Settings` by the events `Add`, `Cancel`, `Flush`, `Advance`;
`bucket_by_bucket` takes each `Advance` apart for a player. `place` and `journey` say where a timer goes and through
which buckets it passes, `wheel_cost` and `heap_cost` what a load of timers costs.

One queue holds the buckets of all wheels by their time. When its head is due, the wheels' clock is set to that bucket's
time and its timers are added again: those now due run, the others fall into a finer wheel. The clock moves through
buckets alone, never with the real time; empty stretches cost nothing.

>>> [frame.state.clock_ms for frame in simulate(Settings(), [Add("fetch", 45), Advance(50)])]
[0, 0, 45]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Annotated, TypeAlias

from kafkalearn.base.checks import LARGEST_INT, LARGEST_LONG, Checked, Millis, Whole, whole_number
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, no_event
from kafkalearn.base.facts import Effect, Event
from kafkalearn.base.promises import Promises, Since
from kafkalearn.base.simulator import simulator

__all__ = [
    "PROMISES",
    "Add",
    "Advance",
    "Cancel",
    "Flush",
    "Settings",
    "broken",
    "bucket_by_bucket",
    "check",
    "simulate",
    "start",
    "step",
]


# What happens to timers: they are set and cancelled, and time passes.


class Add(Event):
    """A timer is set `delay_ms` from now; one of a name that is waiting already is moved."""

    name: str
    delay_ms: int


class Cancel(Event, says="{name} is cancelled: it is taken out of its bucket, which stays in the queue"):
    """A timer is no longer needed: it is taken out of its bucket."""

    name: str


class Flush(Event):
    """The first due bucket is emptied; the real time is `now_ms`."""

    now_ms: Millis


class Advance(Event):
    """The real time moves on to `to_ms`, and all buckets due by then are emptied, one after the other."""

    to_ms: Millis


WheelEvent: TypeAlias = Add | Cancel | Flush | Advance


TICK_MS = 1
WHEEL_SIZE = 20
"""The brokers' own: 1 ms and 20 buckets, so the levels cover 20 ms, 400 ms, 8 s, 160 s, 53 min and so on."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The tick of the finest wheel, how many buckets each wheel has, and the time at which the clock starts.

    Raises
    ------
    KafkaLearnError
        If there is no such wheel: a tick below 1 ms, fewer than two buckets, a time before 0.

    Examples
    --------
    >>> Settings().tick_of(3), Settings(tick_ms=10).tick_of(2)
    (400, 200)
    """

    tick_ms: Annotated[int, Whole(1)] = TICK_MS
    wheel_size: Annotated[int, Whole(2, LARGEST_INT)] = WHEEL_SIZE
    start_ms: Millis = 0

    def tick_of(self, level: int) -> int:
        """What one bucket of a wheel covers, in ms; level 1 is the finest wheel."""
        return self.tick_ms * self.wheel_size ** (level - 1)


# Where a timer goes: which wheel, which bucket. Pure arithmetic, the same for every way of keeping the buckets. A wheel
# of *tick* u with n buckets covers n * u milliseconds from its clock on; the next, coarser one has n * u for its tick.
# All wheels follow one clock, each rounds it down to its own tick.


@dataclass(frozen=True, slots=True)
class Timer:
    """Something to run at a time."""

    name: str
    expires_ms: int


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A bucket of a wheel."""

    bucket_time_ms: int  # where the bucket's range starts; it is emptied then
    level: int  # 1 is the finest wheel
    bucket: int  # from 0


def place(clock_ms: int, expires_ms: int, tick_ms: int = TICK_MS, wheel_size: int = WHEEL_SIZE) -> Place | None:
    """The bucket for a timer, or None: it is due within the present tick and runs at once.

    Parameters
    ----------
    clock_ms : int
        The clock of the wheels: the start of the last bucket that was emptied. It may be behind the real time.
    expires_ms : int
        When the timer is due, on the same scale.
    tick_ms, wheel_size : int
        Tick of the finest wheel, and how many buckets each wheel has.

    Examples
    --------
    >>> place(0, 19), place(0, 445)
    (Place(bucket_time_ms=19, level=1, bucket=19), Place(bucket_time_ms=400, level=3, bucket=1))
    >>> place(400, 445), place(440, 445), place(445, 445)
    (Place(bucket_time_ms=440, level=2, bucket=2), Place(bucket_time_ms=445, level=1, bucket=5), None)

    References
    ----------
    Apache Kafka 4.3, ``org.apache.kafka.server.util.timer.TimingWheel.add``.
    """
    level = 1
    if expires_ms < clock_ms - clock_ms % tick_ms + tick_ms:
        return None
    while expires_ms >= clock_ms - clock_ms % tick_ms + tick_ms * wheel_size:
        tick_ms *= wheel_size
        level += 1
    number = expires_ms // tick_ms
    return Place(number * tick_ms, level, number % wheel_size)


def journey(
    delay_ms: int, start_ms: int = 0, tick_ms: int = TICK_MS, wheel_size: int = WHEEL_SIZE
) -> tuple[Place, ...]:
    """All buckets that a timer passes through until it runs, if nothing delays the emptying of buckets.

    Parameters
    ----------
    delay_ms : int
        How long the timer waits; 0 or less runs at once and passes through none.
    start_ms : int
        The wheels' clock when it is added.

    Raises
    ------
    KafkaLearnError
        If there is no such wheel, or it starts before time 0: see `Settings`.

    Examples
    --------
    >>> [each.bucket_time_ms for each in journey(445)], len(journey(30_000)), journey(0)
    ([400, 440, 445], 2, ())
    """
    settings = Settings(tick_ms, wheel_size, start_ms)
    whole_number("delay_ms", delay_ms, at_least=-LARGEST_LONG)
    expires_ms, clock_ms = start_ms + delay_ms, start_ms
    places: list[Place] = []
    while (found := place(clock_ms, expires_ms, settings.tick_ms, settings.wheel_size)) is not None:
        places.append(found)
        clock_ms = found.bucket_time_ms
    return tuple(places)


# What timers cost: the same load kept in wheels and in a heap, each with its operations counted. Nothing is timed here:
# counts are the same on every machine. A *step* of the wheels is one timer put into a bucket, taken out of one, or run;
# a step of the heap is one comparison of two timers, or one timer looked at while searching.


@dataclass(frozen=True, slots=True)
class Load(Checked):
    """One timer of a load: set at `added_ms`, for `timeout_ms`; cancelled at `done_ms`, or never if that is None."""

    added_ms: Millis
    timeout_ms: int
    done_ms: Millis | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """Steps of a way of keeping timers, over a whole load."""

    timer_count: int
    add: int  # to put timers in
    move: int  # to bring them nearer to the front while they wait
    cancel: int  # to take timers out before their time
    expire: int  # to take timers out when their time has come
    most_waiting: int  # timers held at once, at most

    @property
    def per_timer(self) -> float:
        """All steps, divided by the timers."""
        return (self.add + self.move + self.cancel + self.expire) / max(self.timer_count, 1)


def _moments(loads: Sequence[Load]) -> list[tuple[int, int, int]]:
    """(time, what, timer) in order; what: 1 an addition, 2 a cancellation."""
    moments = []
    for number, load in enumerate(loads):
        if load.timeout_ms < 1:
            raise KafkaLearnError(f"timer {number}: timeout_ms must be at least 1, got {load.timeout_ms}")
        moments.append((load.added_ms, 1, number))
        if load.done_ms is not None:
            if not load.added_ms <= load.done_ms:
                raise KafkaLearnError(f"timer {number} is done at {load.done_ms}, before it was added: {load}")
            if load.done_ms < load.added_ms + load.timeout_ms:
                moments.append((load.done_ms, 2, number))
    return sorted(moments)


def wheel_cost(loads: Sequence[Load], tick_ms: int = TICK_MS, wheel_size: int = WHEEL_SIZE) -> Cost:
    """The steps of timing wheels for a load.

    Every timer costs one step to add, one for each finer wheel it falls into, and one to run or to cancel.

    Raises
    ------
    KafkaLearnError
        If a timer has no time to wait, or is done before it is added, or there are no such wheels: see `Settings`.

    Examples
    --------
    >>> wheel_cost([Load(0, 500), Load(0, 500, done_ms=40)])
    Cost(timer_count=2, add=2, move=1, cancel=1, expire=1, most_waiting=2)
    """
    Settings(tick_ms, wheel_size)
    buckets: dict[tuple[int, int], dict[int, int]] = {}
    queue: list[tuple[int, int]] = []
    home: dict[int, tuple[int, int]] = {}
    add = move = cancel = expire = most = 0
    clock_ms = 0

    def put(number: int, expires_ms: int) -> bool:
        found = place(clock_ms, expires_ms, tick_ms, wheel_size)
        if found is None:
            return False
        at = (found.bucket_time_ms, found.level)
        if at not in buckets:
            buckets[at] = {}
            heappush(queue, at)
        buckets[at][number] = expires_ms
        home[number] = at
        return True

    def flush(until_ms: float) -> tuple[int, int]:
        nonlocal clock_ms
        moved = expired = 0
        while queue and queue[0][0] <= until_ms:
            at = heappop(queue)
            clock_ms = at[0]
            for number, expires_ms in buckets.pop(at).items():
                del home[number]
                if put(number, expires_ms):
                    moved += 1
                else:
                    expired += 1
        return moved, expired

    for now_ms, what, number in _moments(loads):
        moved, expired = flush(now_ms)
        move, expire = move + moved, expire + expired
        if what == 1:
            add += 1
            if not put(number, now_ms + loads[number].timeout_ms):
                expire += 1
            most = max(most, len(home))
        elif number in home:
            del buckets[home.pop(number)][number]
            cancel += 1
    moved, expired = flush(float("inf"))
    return Cost(len(loads), add, move + moved, cancel, expire + expired, most)


class _Heap:
    """A binary heap that sifts as Java's PriorityQueue does, and counts; it knows where each timer is."""

    def __init__(self) -> None:
        self.items: list[tuple[int, int]] = []  # (expires, number)
        self.at: dict[int, int] = {}
        self.comparison_count = 0

    def add(self, item: tuple[int, int]) -> None:
        self.items.append(item)
        self._up(len(self.items) - 1, item)

    def take(self, index: int) -> tuple[int, int]:
        """The item at an index, out of the heap; its place goes to the last one."""
        taken, last = self.items[index], self.items.pop()
        del self.at[taken[1]]
        if taken is not last:
            self._down(index, last)
            if self.items[index] is last:
                self._up(index, last)
        return taken

    def _up(self, index: int, item: tuple[int, int]) -> None:
        items, at = self.items, self.at
        while index > 0:
            parent = (index - 1) >> 1
            self.comparison_count += 1
            if item[0] >= items[parent][0]:
                break
            items[index] = items[parent]
            at[items[index][1]] = index
            index = parent
        items[index] = item
        at[item[1]] = index

    def _down(self, index: int, item: tuple[int, int]) -> None:
        items, at, count = self.items, self.at, 0
        size = len(items)
        half = size >> 1
        while index < half:
            child = 2 * index + 1
            if child + 1 < size:
                count += 1
                if items[child][0] > items[child + 1][0]:
                    child += 1
            count += 1
            if item[0] <= items[child][0]:
                break
            items[index] = items[child]
            at[items[index][1]] = index
            index = child
        items[index] = item
        at[item[1]] = index
        self.comparison_count += count


def heap_cost(loads: Sequence[Load], takes_out_cancelled: bool = True) -> Cost:
    """The steps of a binary heap for a load, as Java's ``PriorityQueue`` goes about it.

    Parameters
    ----------
    loads : sequence of Load
        In any order.
    takes_out_cancelled : bool
        Java finds a timer to cancel by searching the heap from its front: each one looked at is a step. Without
        that, what is cancelled stays in the heap until its time has come.

    Raises
    ------
    KafkaLearnError
        As `wheel_cost`.

    Examples
    --------
    >>> heap_cost([Load(0, 500), Load(0, 500, done_ms=40)])
    Cost(timer_count=2, add=1, move=0, cancel=2, expire=0, most_waiting=2)
    >>> heap_cost([Load(0, 500), Load(0, 500, done_ms=40)], takes_out_cancelled=False).cancel
    0
    """
    heap = _Heap()
    spent = {"add": 0, "cancel": 0, "expire": 0}
    most = 0

    def counted(what: str, do: Callable[..., object], *arguments: object) -> None:
        before = heap.comparison_count
        do(*arguments)
        spent[what] += heap.comparison_count - before

    for now_ms, what, number in _moments(loads):
        while heap.items and heap.items[0][0] <= now_ms:
            counted("expire", heap.take, 0)
        if what == 1:
            counted("add", heap.add, (now_ms + loads[number].timeout_ms, number))
            most = max(most, len(heap.items))
        elif takes_out_cancelled and number in heap.at:
            spent["cancel"] += heap.at[number] + 1  # looked at, from the front
            counted("cancel", heap.take, heap.at[number])
    while heap.items:
        counted("expire", heap.take, 0)
    return Cost(len(loads), spent["add"], 0, spent["cancel"], spent["expire"], most)


# What an event led to: timers that went into a bucket, buckets that were emptied.


class Placed(Effect):
    """A timer went into a bucket; None: it ran at once."""

    timer: Timer
    place: Place | None

    @property
    def fired(self) -> tuple[Timer, ...]:
        """The timer, if it ran."""
        return (self.timer,) if self.place is None else ()


class Flushed(Effect):
    """A bucket was emptied: some of its timers ran, the others went into a finer wheel."""

    place: Place
    fired: tuple[Timer, ...]
    moved: tuple[Placed, ...]


WheelEffect: TypeAlias = Placed | Flushed


# All timing wheels at one moment: their buckets in one queue, and their clock.


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket in the queue, with its timers in the order they came; it stays queued when they are cancelled."""

    place: Place
    timers: tuple[Timer, ...] = ()


@dataclass(frozen=True, slots=True)
class Wheels:
    """All wheels at one moment; `effects` are what the last event led to."""

    clock_ms: int  # start of the last bucket that was emptied
    now_ms: int  # the real time
    queue: tuple[Bucket, ...] = ()  # by bucket time
    effects: tuple[WheelEffect, ...] = field(default=(), compare=False)

    @property
    def timers(self) -> tuple[Timer, ...]:
        """Those that wait, by bucket."""
        return tuple(timer for bucket in self.queue for timer in bucket.timers)

    @property
    def next_due_ms(self) -> int | None:
        """When the next bucket is to be emptied; None: nothing is queued, the reaper sleeps."""
        return self.queue[0].place.bucket_time_ms if self.queue else None

    def is_waiting(self, name: str) -> bool:
        """Whether a timer of that name waits."""
        return any(timer.name == name for timer in self.timers)


def start(settings: Settings) -> Wheels:
    """Empty wheels, their clock rounded down to the tick.

    >>> start(Settings(tick_ms=10, start_ms=1003)).clock_ms
    1000
    """
    return Wheels(settings.start_ms - settings.start_ms % settings.tick_ms, settings.start_ms)


NEVER_EARLY = "no timer runs before its time"
NEVER_LATE = "no timer waits past its time"


def _lie_in_range(settings: Settings, wheels: Wheels) -> bool:
    return all(
        0 <= timer.expires_ms - bucket.place.bucket_time_ms < settings.tick_of(bucket.place.level)
        for bucket in wheels.queue
        for timer in bucket.timers
    )


def _is_queued_by_time(settings: Settings, wheels: Wheels) -> bool:
    places = [bucket.place for bucket in wheels.queue]
    return places == sorted(set(places))


def _never_early(settings: Settings, before: Wheels, wheels: Wheels) -> bool:
    return all(timer.expires_ms <= wheels.now_ms for effect in wheels.effects for timer in effect.fired)


INVARIANTS: Promises = {
    "a timer lies in a bucket whose range has its time": _lie_in_range,
    "a timer waits in one bucket": lambda settings, wheels: (
        len({timer.name for timer in wheels.timers}) == len(wheels.timers)
    ),
    "each bucket is queued once, by its time": _is_queued_by_time,
    "the clock of the wheels is not ahead of the real time": lambda settings, wheels: wheels.clock_ms <= wheels.now_ms,
}
PROMISES: Promises = {
    NEVER_EARLY: Since(_never_early),
    NEVER_LATE: lambda settings, wheels: all(timer.expires_ms >= wheels.now_ms for timer in wheels.timers),
}
"""A tick above 1 ms breaks the first: timers of one bucket run together. A reaper that comes late, the second."""


# The step.


def step(settings: Settings, wheels: Wheels, event: WheelEvent) -> Wheels:
    """The wheels after `event`; their `effects` are the timers that were placed and the buckets that were emptied.

    Raises
    ------
    IllegalEvent
        If time would run backwards, a timer is cancelled that does not wait, or no bucket is due.

    Examples
    --------
    >>> settings = Settings()
    >>> wheels = step(settings, start(settings), Add("fetch", 450))
    >>> wheels.queue[0].place
    Place(bucket_time_ms=400, level=3, bucket=1)
    >>> [[timer.name for timer in each.fired] for each in step(settings, wheels, Advance(500)).effects]
    [[], [], ['fetch']]

    References
    ----------
    Apache Kafka 4.3, ``org.apache.kafka.server.util.timer.SystemTimer``, ``TimingWheel`` and ``TimerTaskList``.
    """
    wheels = replace(wheels, effects=())
    match event:
        case Add(name, delay_ms):
            return _added(settings, _without(wheels, name), Timer(name, wheels.now_ms + delay_ms))
        case Cancel(name):
            if not wheels.is_waiting(name):
                raise IllegalEvent(f"no timer {name!r} waits; waiting: {_names(wheels)}")
            return _without(wheels, name)
        case Flush(now_ms):
            _refuse_past(wheels, now_ms)
            if wheels.next_due_ms is None or wheels.next_due_ms > now_ms:
                raise IllegalEvent(f"no bucket is due at {now_ms} ms; the next one is due at {wheels.next_due_ms}")
            return _flushed(settings, replace(wheels, now_ms=now_ms))
        case Advance(to_ms):
            _refuse_past(wheels, to_ms)
            while wheels.next_due_ms is not None and wheels.next_due_ms <= to_ms:
                wheels = _flushed(settings, wheels)
            return replace(wheels, now_ms=to_ms)
    raise no_event(event, (Add, Cancel, Flush, Advance))


simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)


def bucket_by_bucket(settings: Settings, events: Iterable[WheelEvent]) -> tuple[WheelEvent, ...]:
    """The same events with each `Advance` taken apart: a `Flush` for each bucket, so that a player shows all of them.

    >>> bucket_by_bucket(Settings(), [Add("fetch", 450), Advance(500)])
    (Add(name='fetch', delay_ms=450), Flush(now_ms=400), Flush(now_ms=440), Flush(now_ms=450), Advance(to_ms=500))
    """
    wheels = start(settings)
    parts: list[WheelEvent] = []
    for event in events:
        while isinstance(event, Advance) and wheels.next_due_ms is not None and wheels.next_due_ms <= event.to_ms:
            parts.append(Flush(max(wheels.next_due_ms, wheels.now_ms)))
            wheels = step(settings, wheels, parts[-1])
        parts.append(event)
        wheels = step(settings, wheels, event)
    return tuple(parts)


def _names(wheels: Wheels) -> str:
    return ", ".join(timer.name for timer in wheels.timers) or "nothing"


def _refuse_past(wheels: Wheels, to_ms: int) -> None:
    if to_ms < wheels.now_ms:
        raise IllegalEvent(f"time does not run backwards: it is {wheels.now_ms} ms, got {to_ms}")


def _added(settings: Settings, wheels: Wheels, timer: Timer) -> Wheels:
    found = place(wheels.clock_ms, timer.expires_ms, settings.tick_ms, settings.wheel_size)
    queue = wheels.queue if found is None else _with_timer(wheels.queue, found, timer)
    return replace(wheels, queue=queue, effects=(*wheels.effects, Placed(timer, found)))


def _with_timer(queue: tuple[Bucket, ...], at: Place, timer: Timer) -> tuple[Bucket, ...]:
    if all(bucket.place != at for bucket in queue):
        queue = tuple(sorted((*queue, Bucket(at)), key=lambda bucket: bucket.place))
    return tuple(replace(bucket, timers=(*bucket.timers, timer)) if bucket.place == at else bucket for bucket in queue)


def _without(wheels: Wheels, name: str) -> Wheels:
    kept = (
        replace(bucket, timers=tuple(timer for timer in bucket.timers if timer.name != name)) for bucket in wheels.queue
    )
    return replace(wheels, queue=tuple(kept))


def _flushed(settings: Settings, wheels: Wheels) -> Wheels:
    head, *rest = wheels.queue
    before = wheels.effects
    wheels = replace(wheels, clock_ms=head.place.bucket_time_ms, queue=tuple(rest), effects=())
    for timer in head.timers:
        wheels = _added(settings, wheels, timer)
    fired = tuple(timer for placed in wheels.effects for timer in placed.fired)
    moved = tuple(placed for placed in wheels.effects if isinstance(placed, Placed) and placed.place is not None)
    return replace(wheels, effects=(*before, Flushed(head.place, fired, moved)))
