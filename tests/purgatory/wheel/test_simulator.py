"""The timing wheels against the recorded runs of Kafka's own, and what must hold for all timers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.purgatory.wheel import (
    Add,
    Advance,
    Cancel,
    Flush,
    Place,
    Settings,
    bucket_by_bucket,
    check,
    simulate,
    start,
    step,
)
from tests.recorded import recorded

SETTINGS = Settings()


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


def shown(event, wheels) -> dict:
    match event:
        case Add():
            (effect,) = wheels.effects
            return {"expires_at": wheels.now_ms + event.delay_ms, **placed(effect.place)}
        case Cancel():
            return {"pending": len(wheels.timers)}
    buckets = [
        {
            "bucket_time": each.place.bucket_time_ms,
            "fired": [timer.name for timer in each.fired],
            "moved": [{"id": moved.timer.name, **placed(moved.place)} for moved in each.moved],
        }
        for each in wheels.effects
    ]
    return {"buckets": buckets, "pending": len(wheels.timers)}


@pytest.mark.parametrize("case", recorded("log-timing-wheel")["cases"], ids=lambda case: case["id"])
def test_every_recorded_run_places_moves_and_fires_the_same(case):
    settings = Settings(case["tick_ms"], case["wheel_size"], case["start_ms"])
    wheels = start(settings)
    for entry in case["events"]:
        event = event_of(entry)
        wheels = step(settings, wheels, event)
        assert shown(event, wheels) == entry["expect"]


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
        ("tick", "is no event of this simulator"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(event, words):
    wheels = simulate(SETTINGS, [Add("a", 5), Advance(2)])[-1].state
    with pytest.raises(IllegalEvent, match=words):
        step(SETTINGS, wheels, event)
