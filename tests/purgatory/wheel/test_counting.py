"""The counted wheels and heap: they agree with the simulator, with heapq, and with arithmetic."""

from heapq import heappop, heappush

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.purgatory.wheel import (
    Add,
    Advance,
    Cancel,
    Flushed,
    Load,
    Placed,
    Settings,
    _Heap,
    heap_cost,
    journey,
    simulate,
    wheel_cost,
)

LOADS = st.lists(
    st.builds(
        lambda added, timeout, done: Load(added, timeout, None if done is None else added + done),
        st.integers(0, 2_000),
        st.integers(1, 10_000),
        st.one_of(st.none(), st.integers(0, 12_000)),
    ),
    max_size=20,
)


@given(LOADS)
def test_the_wheels_count_what_the_simulator_does(loads):
    moments = [(load.added_ms, 1, number) for number, load in enumerate(loads)]
    moments += [
        (load.done_ms, 2, number)
        for number, load in enumerate(loads)
        if load.done_ms is not None and load.done_ms < load.added_ms + load.timeout_ms
    ]
    add = move = cancel = expire = 0
    script = [
        part
        for now_ms, what, number in sorted(moments)
        for part in (Advance(now_ms), Add(f"{number}", loads[number].timeout_ms) if what == 1 else Cancel(f"{number}"))
    ]
    for frame in simulate(Settings(), [*script, Advance(10**6)]):
        cancel += isinstance(frame.event, Cancel)
        for effect in frame.state.effects:
            add += isinstance(effect, Placed)
            if isinstance(effect, Flushed):
                move, expire = move + len(effect.moved), expire + len(effect.fired)

    cost = wheel_cost(loads)
    assert (cost.add, cost.move, cost.cancel, cost.expire) == (add, move, cancel, expire)
    assert cost.cancel + cost.expire == cost.timer_count == len(loads)


@given(st.lists(st.integers(0, 100), max_size=40), st.lists(st.integers(0, 39), max_size=10))
def test_the_heap_is_one(times, removed):
    heap, expected = _Heap(), []
    for number, time_ms in enumerate(times):
        heap.add((time_ms, number))
    for number in removed:
        if number in heap.at:
            heap.take(heap.at[number])
    for number, time_ms in enumerate(times):
        if number not in removed:
            heappush(expected, time_ms)
    assert [heap.take(0)[0] for _ in range(len(heap.items))] == [heappop(expected) for _ in range(len(expected))]


def test_without_cancellations_the_wheels_cost_is_the_length_of_the_journeys():
    loads = [Load(added, timeout) for added in (0, 7, 40) for timeout in (1, 19, 20, 445, 30_003)]
    cost = wheel_cost(sorted(loads, key=lambda load: load.added_ms)[:5])
    assert cost.add + cost.move == sum(len(journey(load.timeout_ms)) for load in loads[:5])


def test_the_heap_grows_with_the_timers_that_wait_and_the_wheels_do_not():
    costs = [(wheel_cost(loads), heap_cost(loads)) for loads in map(_fetches, (100, 3_200))]
    (few_wheel, few_heap), (many_wheel, many_heap) = costs

    assert many_heap.cancel / many_heap.timer_count > 20 * few_heap.cancel / few_heap.timer_count
    assert many_wheel.per_timer == pytest.approx(few_wheel.per_timer, rel=0.2)


def _fetches(count):
    """So many timers a second, of fetches and produce requests in turn, most of them done before their time."""
    return [
        Load(at, (500, 30_000)[number % 2], at + 5 + number % 400 if number % 10 else None)
        for number, at in ((number, number * 1000 // count) for number in range(count))
    ]


@pytest.mark.parametrize("cost", [wheel_cost, heap_cost])
def test_a_load_that_cannot_be_is_refused(cost):
    with pytest.raises(KafkaLearnError, match="timer 0: timeout_ms must be at least 1, got 0"):
        cost([Load(0, 0)])
    with pytest.raises(KafkaLearnError, match="timer 1 is done at 4, before it was added"):
        cost([Load(0, 5), Load(5, 5, 4)])


def test_a_heap_that_leaves_cancelled_timers_in_holds_them_until_their_time():
    loads = _fetches(1_000)
    taken_out, left_in = heap_cost(loads), heap_cost(loads, takes_out_cancelled=False)

    assert left_in.cancel == 0
    assert left_in.most_waiting > 2 * taken_out.most_waiting
    assert left_in.expire > taken_out.expire
