"""The timing wheels against the recorded runs of Kafka's own, and what must hold for all timers."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.errors import IllegalEvent, KafkaLearnError
from kafkalearn.purgatory.wheel.placing import Place, journey, place
from kafkalearn.purgatory.wheel.simulator import (
    Add,
    Advance,
    Cancel,
    Flush,
    Flushed,
    Placed,
    check,
    simulate,
    start,
    step,
)
from kafkalearn.trace import run
from tests.recorded import recorded

CASES = recorded("log-timing-wheel")["cases"]


def event_of(entry):
    match entry["op"]:
        case "add":
            return Add(entry["id"], entry["delay_ms"])
        case "cancel":
            return Cancel(entry["id"])
    return Advance(entry["to"])


def placed(found: Place | None) -> dict:
    if found is None:
        return {"placed": "run_now"}
    return {"level": found.level, "bucket": found.bucket, "bucket_time": found.bucket_time_ms}


def told(event, wheels) -> dict:
    match event:
        case Add():
            (effect,) = wheels.effects
            return {"expires_at": wheels.now_ms + event.delay_ms, **placed(effect.place)}
        case Cancel():
            return {"pending": len(wheels.timers)}
    buckets = [
        {
            "bucket_time": each.place.bucket_time_ms,
            "fired": list(each.fired),
            "moved": [{"id": moved.name, **placed(moved.place)} for moved in each.moved],
        }
        for each in wheels.effects
    ]
    return {"buckets": buckets, "pending": len(wheels.timers)}


@pytest.mark.parametrize("case", recorded("log-timing-wheel")["cases"], ids=lambda case: case["id"])
def test_every_recorded_run_places_moves_and_fires_the_same(case):
    wheels = start(case["tick_ms"], case["wheel_size"], case["start_ms"])
    for entry in case["events"]:
        event = event_of(entry)
        wheels = step(wheels, event)
        assert told(event, wheels) == entry["expect"]


def test_the_wheels_go_through_all_recorded_cases():
    assert len(recorded("log-timing-wheel")["cases"]) == 6


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
    wheels, expected, fired = start(tick_ms, wheel_size, 7), {}, []
    for word in words:
        match word:
            case Add(name, delay_ms):
                wheels = step(wheels, word)
                expected[name] = wheels.now_ms + delay_ms
                (effect,) = wheels.effects
                if effect.place is None:
                    fired.append((name, expected.pop(name), wheels.now_ms, wheels.now_ms))
            case ("cancel", index):
                waiting = wheels.timers
                if waiting:
                    name = waiting[index % len(waiting)].name
                    wheels = step(wheels, Cancel(name))
                    del expected[name]
            case ("advance", by):
                before = wheels.now_ms
                wheels = step(wheels, Advance(before + by))
                for flushed in wheels.effects:
                    for name in flushed.fired:
                        fired.append((name, expected.pop(name), before, wheels.now_ms))
        assert check(wheels) == ()
    return wheels, expected, fired


@given(EVENTS)
def test_a_timer_runs_exactly_once_in_the_step_in_which_it_is_due(words):
    wheels, expected, fired = played(words)

    assert {timer.name: timer.expires_ms for timer in wheels.timers} == expected
    for name, expires_ms, before, after in fired:
        assert expires_ms <= after, name  # never early
        assert before <= max(expires_ms, before), name
    assert all(timer.expires_ms > wheels.now_ms for timer in wheels.timers)  # nothing due is left waiting


@given(EVENTS, st.integers(1, 10), st.integers(2, 6))
def test_coarse_wheels_run_a_timer_less_than_a_tick_early_and_never_leave_one_waiting_a_tick(words, tick_ms, size):
    wheels, _, fired = played(words, tick_ms, size)

    assert all(expires_ms - tick_ms < after for _, expires_ms, _, after in fired)
    assert all(timer.expires_ms > wheels.now_ms - tick_ms for timer in wheels.timers)


@given(st.integers(0, 10**7), st.integers(0, 10**9))
def test_the_journey_of_a_timer_is_the_one_that_the_wheels_take(delay_ms, start_ms):
    trace = simulate([Add("a", delay_ms), Advance(start_ms + delay_ms)], start(start_ms=start_ms))
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


def test_taking_an_advance_apart_ends_in_the_same_wheels():
    events = [Add("a", 445), Add("b", 30), Add("c", 7), Cancel("c"), Advance(500)]
    whole, single = run(step, start(), events)[-1].state, simulate(events)[-1].state

    assert (whole.clock_ms, whole.now_ms, whole.queue) == (single.clock_ms, single.now_ms, single.queue)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Cancel("b"), "no timer 'b' waits; waiting: a"),
        (Advance(-1), "time does not run backwards"),
        (Flush(3), "no bucket is due at 3 ms; the next one is due at 5"),
        ("tick", "is no event of this simulator"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(event, words):
    wheels = step(start(), Add("a", 5))
    with pytest.raises(IllegalEvent, match=words):
        step(wheels, event)


@pytest.mark.parametrize("arguments", [{"tick_ms": 0}, {"wheel_size": 1}, {"start_ms": -1}])
def test_wheels_that_cannot_be_are_refused(arguments):
    (name,) = arguments
    with pytest.raises(KafkaLearnError, match=f"{name} must be at least"):
        start(**arguments)
    with pytest.raises(KafkaLearnError, match=f"{name} must be at least"):
        partial(journey, 5)(**arguments)
