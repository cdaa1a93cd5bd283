"""Where a timer goes, and the way it takes: against the wheels, and by arithmetic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.purgatory.wheel import Add, Advance, Flushed, Placed, Settings, journey, place, simulate


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
