"""What timing wheels promise: broken by coarse ticks and by a reaper that comes late."""

from dataclasses import replace

import pytest

from kafkalearn.purgatory.wheel import (
    NEVER_EARLY,
    NEVER_LATE,
    Add,
    Advance,
    Flush,
    Settings,
    Timer,
    broken,
    check,
    simulate,
)


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
