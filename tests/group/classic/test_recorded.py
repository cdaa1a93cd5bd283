"""The classic coordinator against recorded ones: Kafka's own class, step by step, and a real broker."""

import pytest

from conformance.mechanisms.classic_groups import ClassicScript
from kafkalearn.groups.classic import Settings, step
from tests.every import every_case
from tests.group.classic.scripts import expected
from tests.recorded import recorded

RECORDED = recorded("groups-classic-protocol")
LIVE = recorded("group-requests")


@pytest.mark.parametrize("trace", RECORDED["vectors"], ids=lambda trace: trace["id"])
def test_every_step_is_answered_as_the_real_coordinator_answered(trace):
    settings = Settings(
        group_initial_rebalance_delay_ms=trace["initial_delay_ms"], group_max_size=trace.get("max_size", 2147483647)
    )
    script = ClassicScript(step, settings)
    for each in trace["trace"]:
        assert script.play(each["step"]) == expected(each)


def plays_as_recorded(script):
    settings = Settings(group_initial_rebalance_delay_ms=600, group_min_session_timeout_ms=100)
    played = ClassicScript(step, settings, session_ms=5000, rebalance_ms=5000)
    for each in script["trace"]:
        responses = sorted(each["responses"], key=str)
        ours = played.play_live(each)
        ours["group"] = {name: ours["group"][name] for name in each["group"]}
        assert ours == {"responses": responses, "group": each["group"]}


@pytest.mark.parametrize("script", LIVE["scripts"], ids=lambda script: script["id"])
def test_a_real_broker_answered_every_request_like_this(script):
    plays_as_recorded(script)


@every_case("script", LIVE["random"], ids=lambda script: script["id"])
def test_it_did_so_in_scripts_that_were_drawn_at_random(script):
    plays_as_recorded(script)
