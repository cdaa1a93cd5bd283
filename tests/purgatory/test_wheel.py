"""The counted wheels and heap: they agree with the simulator, with heapq, and with arithmetic."""

from dataclasses import replace
from heapq import heappop, heappush

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.purgatory.wheel import (
    NEVER_EARLY,
    NEVER_LATE,
    Add,
    Advance,
    Cancel,
    Flush,
    Flushed,
    Load,
    Placed,
    Settings,
    Timer,
    _Heap,
    broken,
    bucket_by_bucket,
    check,
    heap_cost,
    journey,
    place,
    simulate,
    start,
    step,
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


@given(st.integers(0, 10**7), st.integers(0, 10**9))
def test_the_journey_of_a_timer_is_the_one_that_the_wheels_take(delay_ms, start_ms):
    trace = simulate(Settings(start_ms=start_ms), [Add("a", delay_ms), Advance(start_ms + delay_ms)])
    effects = [effect for frame in trace for effect in frame.state.effects]
    first = [each.place for each in effects if isinstance(each, Placed)]
    later = [moved.place for each in effects if isinstance(each, Flushed) for moved in each.moved]

    assert tuple(each for each in (*first, *later) if each is not None) == journey(delay_ms, start_ms)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_place_is_the_finest_wheel_that_reaches_the_timer(clock_ms, delay_ms):
    found = place(clock_ms, clock_ms + delay_ms)
    if found is None:
        assert delay_ms == 0
    else:
        tick_ms = 20 ** (found.level - 1)
        assert 0 <= clock_ms + delay_ms - found.bucket_time_ms < tick_ms
        assert found.bucket_time_ms > clock_ms or found.level > 1
        assert found.level == 1 or clock_ms + delay_ms >= clock_ms - clock_ms % (tick_ms // 20) + tick_ms


@pytest.mark.parametrize("arguments", [{"tick_ms": 0}, {"wheel_size": 1}, {"start_ms": -1}])
def test_wheels_that_cannot_be_are_refused(arguments):
    (name,) = arguments
    with pytest.raises(KafkaLearnError, match=f"{name} must be at least"):
        Settings(**arguments)
    with pytest.raises(KafkaLearnError, match=f"{name} must be at least"):
        journey(5, **arguments)


@pytest.mark.parametrize(("tick_ms", "expected"), [(1, ()), (10, (NEVER_EARLY,))])
def test_a_coarse_tick_runs_timers_early(tick_ms, expected):
    settings = Settings(tick_ms)
    for events in ([Add("a", 5)], [Add("a", 15), Advance(10)]):
        *_, before, last = simulate(settings, events)
        assert broken(settings, last.state, before.state) == expected


def test_a_reaper_that_comes_late_leaves_timers_waiting():
    settings = Settings()
    trace = simulate(settings, [Add("a", 5), Add("b", 8), Flush(200), Flush(200)])
    assert [broken(settings, frame.state) for frame in trace[2:]] == [(), (NEVER_LATE,), ()]


WHEELS = simulate(Settings(), [Add("a", 5), Add("b", 445), Advance(5)])[-1].state
BUCKET = WHEELS.queue[0]


@pytest.mark.parametrize(
    ("wheels", "words"),
    [
        (replace(WHEELS, queue=(replace(BUCKET, timers=(Timer("b", 4450),)),)), "a bucket whose range has its time"),
        (replace(WHEELS, queue=(replace(BUCKET, timers=BUCKET.timers * 2),)), "waits in one bucket"),
        (replace(WHEELS, queue=(BUCKET, replace(BUCKET, timers=()))), "queued once"),
        (replace(WHEELS, clock_ms=6), "not ahead of the real time"),
    ],
)
def test_a_state_that_cannot_be_is_found(wheels, words):
    check(Settings(), WHEELS)
    with pytest.raises(AssertionError, match=words):
        check(Settings(), wheels)


SETTINGS = Settings()


DELAYS = st.integers(-5, 100_000)
EVENTS = st.lists(
    st.one_of(
        st.builds(Add, st.sampled_from("abcdefgh"), DELAYS),
        st.tuples(st.just("cancel"), st.integers(0, 7)),
        st.tuples(st.just("advance"), st.integers(0, 5_000)),
    ),
    max_size=30,
)


def played(words, tick_ms=1, wheel_size=20):
    """The events as they make sense, one after the other, and all effects with the real time they came at."""
    settings = Settings(tick_ms, wheel_size, 7)
    wheels, expected, fired = start(settings), {}, []
    for word in words:
        before = wheels
        match word:
            case Add(name, delay_ms):
                wheels = step(settings, wheels, word)
                expected[name] = wheels.now_ms + delay_ms
                (effect,) = wheels.effects
                if effect.place is None:
                    fired.append((name, expected.pop(name), wheels.now_ms, wheels.now_ms))
            case ("cancel", index):
                waiting = wheels.timers
                if waiting:
                    name = waiting[index % len(waiting)].name
                    wheels = step(settings, wheels, Cancel(name))
                    del expected[name]
            case ("advance", by):
                wheels = step(settings, wheels, Advance(before.now_ms + by))
                for flushed in wheels.effects:
                    for timer in flushed.fired:
                        assert timer.expires_ms == expected.pop(timer.name)
                        fired.append((timer.name, timer.expires_ms, before.now_ms, wheels.now_ms))
        check(settings, wheels, before)
    return wheels, expected, fired


@given(EVENTS)
def test_a_timer_runs_exactly_once_in_the_step_in_which_it_is_due(words):
    wheels, expected, fired = played(words)

    assert {timer.name: timer.expires_ms for timer in wheels.timers} == expected
    for name, expires_ms, before, after in fired:
        assert expires_ms <= after, name  # never early
        assert before <= max(expires_ms, before), name
    # Nothing due is left waiting, but what was added just now: that goes with the next look at the queue.
    looked = step(Settings(1, 20, 7), wheels, Advance(wheels.now_ms))
    assert all(timer.expires_ms > looked.now_ms for timer in looked.timers)


@given(EVENTS, st.integers(1, 10), st.integers(2, 6))
def test_coarse_wheels_run_a_timer_less_than_a_tick_early_and_never_leave_one_waiting_a_tick(words, tick_ms, size):
    wheels, _, fired = played(words, tick_ms, size)
    looked = step(Settings(tick_ms, size, 7), wheels, Advance(wheels.now_ms))

    assert all(expires_ms - tick_ms < after for _, expires_ms, _, after in fired)
    assert all(timer.expires_ms > looked.now_ms - tick_ms for timer in looked.timers)


def test_taking_an_advance_apart_ends_in_the_same_wheels():
    events = [Add("a", 445), Add("b", 30), Add("c", 7), Cancel("c"), Advance(500)]
    whole, single = simulate(SETTINGS, events), simulate(SETTINGS, bucket_by_bucket(SETTINGS, events))

    assert whole[-1].state == single[-1].state
    assert [len(frame.state.effects) for frame in single[6:]] == [1] * (len(single) - 7) + [0]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Cancel("b"), "no timer 'b' waits; waiting: a"),
        (Advance(1), "time does not run backwards: it is 2 ms, got 1"),
        (Flush(3), "no bucket is due at 3 ms; the next one is due at 5"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(event, words):
    wheels = simulate(SETTINGS, [Add("a", 5), Advance(2)])[-1].state
    with pytest.raises(IllegalEvent, match=words):
        step(SETTINGS, wheels, event)
