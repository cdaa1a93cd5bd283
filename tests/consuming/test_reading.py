"""What a group has read, and how it reads the rest."""

import pytest
from hypothesis import given

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import extend
from kafkalearn.consuming import Join, Produce, Settings, drain, records_read, simulate, start, step
from kafkalearn.consuming.lag import lags_by_member, total_lag
from tests.consuming.groups import SCHEDULES, run_what_is_legal


@given(events=SCHEDULES)
def test_a_group_that_is_drained_has_read_every_record_once_and_has_no_lag(events):
    settings = Settings(3)
    trace = run_what_is_legal(settings, [*events, Join("billing", "last")])
    trace = extend(step, settings, trace, drain(trace[-1].state, "billing", most=2))
    state = trace[-1].state

    assert sorted(record.number for record in records_read(state, "billing")) == list(range(state.record_count))
    assert total_lag(state, "billing") == 0
    assert set(lags_by_member(state, "billing").values()) <= {0}


def test_with_one_group_id_two_services_share_the_records_and_the_lag_is_zero():
    settings = Settings(12)
    members = ["billing-0", "billing-1", "billing-2", "search-0"]
    events = [*(Join("billing", each) for each in members), *[Produce("order")] * 120]
    trace = simulate(settings, events)
    state = extend(step, settings, trace, drain(trace[-1].state, "billing", most=10))[-1].state

    assert {each: len(records_read(state, "billing", each)) for each in members} == dict.fromkeys(members, 30)
    assert total_lag(state, "billing") == 0


def test_a_group_that_nobody_has_joined_has_read_nothing_and_is_named():
    for ask in (records_read, lambda topic, group_id: list(drain(topic, group_id))):
        with pytest.raises(KafkaLearnError, match="there is no group 'g'; there are none"):
            ask(start(Settings(1)), "g")
