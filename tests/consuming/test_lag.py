"""How far a group lags behind, and what it has committed."""

import pytest
from hypothesis import given

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming import Join, Poll, Produce, Settings, commit_rows, lags, simulate, start
from kafkalearn.consuming.lag import lags_by_member, total_lag
from tests.consuming.groups import SCHEDULES, SETTINGS, run_what_is_legal


@given(settings=SETTINGS, events=SCHEDULES)
def test_the_last_commit_of_a_run_is_what_the_group_has_committed(settings, events):
    trace = run_what_is_legal(settings, events)
    last = {(row["group_id"], row["partition"]): row["offset"] for row in commit_rows(trace)}
    assert last == {
        (group.group_id, number): offset
        for group in trace[-1].state.groups
        for number, offset in enumerate(group.committed)
        if offset is not None
    }


def test_lag_counts_from_what_is_committed_and_is_not_known_before():
    settings = Settings(2)
    state = simulate(settings, [Join("g", "a"), *[Produce("r")] * 5, Poll("g", "a", 2)])[-1].state
    assert [(each.log_end, each.committed, each.lag, each.member_id) for each in lags(state, "g")] == [
        (3, 2, 1, "a"),
        (2, None, None, "a"),
    ]
    assert lags_by_member(state, "g") == {"a": 3}
    assert total_lag(state, "g") == 1


def test_of_a_group_that_nobody_has_joined_there_is_no_lag():
    with pytest.raises(KafkaLearnError, match="there is no group 'g'; there are none"):
        lags(start(Settings(1)), "g")
