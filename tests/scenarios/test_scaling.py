"""A scaler that counts pods by the lag: its rule, and the loop that it makes with the group's rebalances."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios.scaling import WAYS, Scaler, scale


@given(st.integers(0, 100_000), st.integers(1, 12), st.integers(1, 5000), st.integers(1, 20))
def test_what_is_wanted_is_the_lag_by_pods_within_the_tolerance(lag, pods, lag_per_pod, most):
    wanted = Scaler(lag_per_pod=lag_per_pod, most=most).wanted(lag, pods)

    assert 1 <= wanted <= most
    if wanted not in (1, most, pods):
        assert (wanted - 1) * lag_per_pod < lag <= wanted * lag_per_pod
    if abs(lag - lag_per_pod * pods) * 10 > lag_per_pod * pods and wanted == pods:
        assert pods == min(most, max(1, -(-lag // lag_per_pod)))


@given(st.integers(1, 12), st.lists(st.integers(1, 12), min_size=1))
def test_it_goes_up_at_once_and_down_to_the_most_that_was_wanted(pods, recent):
    decided = Scaler().decided(pods, recent)

    if recent[-1] > pods:
        assert pods < decided <= recent[-1]
    else:
        assert decided == min(pods, max(recent))


@pytest.mark.parametrize("way", WAYS)
def test_the_window_ends_the_loop_and_the_way_decides_what_it_costs(way):
    hasty, patient = (scale(way, Scaler(down_window_s=window), until_s=360) for window in (0, 300))

    assert hasty.row["pods changed"] > 2 * patient.row["pods changed"]
    assert hasty.row["rebalances"] >= hasty.row["pods changed"] - 1
    assert (hasty.row["members waited, s"] == 0) == (way == "KIP-848")


def test_each_look_has_the_lag_that_the_ones_before_led_to():
    run = scale("eager", Scaler(down_window_s=0), until_s=240)
    shorter = scale("eager", Scaler(down_window_s=0), until_s=150)

    assert run.looks[: len(shorter.looks)] == shorter.looks
    assert [each.pods for each in run.looks[1:]] == [each.decided for each in run.looks[:-1]]
    alive = {row["member"] for row in run.outcome.activity if row["doing"] != "gone" and row["to_ms"] == 240_000}
    assert len(alive) == run.looks[-1].decided


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"way": "lazy"}, "unknown way"),
        ({"pods": 13}, "pods"),
        ({"until_s": 10}, "until_s"),
    ],
)
def test_what_makes_no_sense_is_refused(what, words):
    with pytest.raises(KafkaLearnError, match=words):
        scale(**what)
    with pytest.raises(KafkaLearnError, match="lag_per_pod"):
        Scaler(lag_per_pod=0)
