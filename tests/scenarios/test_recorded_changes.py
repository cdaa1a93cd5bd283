"""Topics and subscriptions that change: a simulated group does what one of real consumers did."""

import pytest

from kafkalearn.scenarios.playing import simulate
from tests.recorded import recorded

RECORDED = recorded("topic-changes")
AT_ONCE_MS = 1000
CHANGED_MS = 14_000


def line_of(change):
    """The change as a line of a scenario."""
    ((what, words),) = change.items()
    return {
        "grows": "{} grows to {} partitions",
        "created": "topic {} is created with {} partitions",
        "deleted": "topic {} is deleted",
        "subscribes": "{} subscribes to {}",
    }[what].format(*words)


def owned(outcome, time_ms):
    return {each.name: sorted(map(str, each.owned)) for each in outcome.at(time_ms).state.members}


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["id"])
def test_a_group_of_real_consumers_did_the_same(case):
    pattern = "c1 to c3 subscribe to the pattern [abc]" if case["subscribed"] == "pattern" else ""
    outcome = simulate(
        f"topic a has 3 partitions\ntopic b has 2 partitions\n{pattern}\n"
        "at 0 s: c1 joins\nat 5 s: c2 joins\nat 7 s: c3 joins\n"
        f"at {CHANGED_MS} ms: {line_of(case['change'])}\nthe end is at 60 s",
        assignor="range",
        heartbeat_interval_ms=300,
        metadata_max_age_ms=case["metadata_max_age_ms"],
    )
    end = outcome.trace[-1].state
    assert owned(outcome, CHANGED_MS - 1) == case["before"]
    assert owned(outcome, outcome.end_ms) == case["owned"]
    assert (end.state, end.generation, outcome.rebalance_count) == ("Stable", case["generation"], 4)
    began_ms = outcome.rebalances[3]["from_ms"] - CHANGED_MS
    if case["first_revoked_ms"] <= AT_ONCE_MS:
        assert began_ms <= AT_ONCE_MS
    else:
        assert AT_ONCE_MS < began_ms <= case["metadata_max_age_ms"]
