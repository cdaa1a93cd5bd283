"""What timers cost: the same load kept in wheels and in a heap, each with its operations counted.

Nothing is timed here: counts are the same on every machine. A *step* of the wheels is one timer put into a bucket,
taken out of one, or run; a step of the heap is one comparison of two timers, or one timer looked at while searching.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Millis
from kafkalearn.purgatory.wheel.placing import place
from kafkalearn.purgatory.wheel.settings import TICK_MS, WHEEL_SIZE, Settings


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
