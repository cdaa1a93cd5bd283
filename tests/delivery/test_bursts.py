"""Bursts as events of the simulator: every step is legal, all is decided at the end, wrong numbers are refused."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.delivery import ProducerSettings, Settings, TopicSettings, check, record_results, simulate
from kafkalearn.delivery.bursts import BURST_PRODUCERS, TWO_BROKERS, Accident, burst_events

ACCIDENTS = [
    None,
    *(Accident(arrived, arrived // 2, copied) for arrived in range(6) for copied in (None, arrived // 3, arrived)),
    *(Accident(3, 1, again=(arrived, arrived // 2)) for arrived in range(6)),
    *(Accident(arrived, 0, is_time_over=True) for arrived in (0, 1)),
]


@pytest.mark.parametrize("name", BURST_PRODUCERS)
def test_a_burst_ends_with_every_record_decided(name):
    settings = Settings(TWO_BROKERS, BURST_PRODUCERS[name])
    for accident in ACCIDENTS:
        trace = simulate(settings, burst_events(settings, accident))
        for frame in trace:
            check(settings, frame.state)
        found = record_results(trace[-1].state)
        assert [each.value for each in found] == ["m1", "m2", "m3", "m4", "m5"]
        assert "open" not in {each.result for each in found}
        assert not trace[-1].state.producer.put_aside


def log_of(producer, accident):
    settings = Settings(TWO_BROKERS, producer)
    end = simulate(settings, burst_events(settings, accident))[-1].state
    return [record.value for record in end.partition.leader.log.records]


def test_only_more_than_one_request_in_flight_turns_the_order():
    in_order = ["m1", "m2", "m3", "m4", "m5"]
    lost_requests = Accident(arrived=0, answered=0)
    assert log_of(BURST_PRODUCERS["acks=all"], lost_requests) == in_order[::-1]
    assert log_of(BURST_PRODUCERS["acks=all, 1 in flight"], lost_requests) == in_order
    assert log_of(BURST_PRODUCERS["acks=all, idempotent"], lost_requests) == in_order


def test_a_follower_that_leads_remembers_what_it_has_copied():
    died = Accident(arrived=5, answered=1, copied=3)
    assert log_of(BURST_PRODUCERS["acks=all, idempotent"], died) == ["m1", "m2", "m3", "m4", "m5"]
    assert log_of(BURST_PRODUCERS["acks=all"], died) == ["m1", "m2", "m3", "m5", "m4", "m3", "m2"]


@pytest.mark.parametrize(
    ("accident", "said"),
    [
        (Accident(6, 0), "arrived must be"),
        (Accident(2, 3), "answered must be"),
        (Accident(5, 5), "answered must be"),
        (Accident(2, 0, copied=3), "copied must be"),
        (Accident(2, 0, again=(6, 0)), "again, arrived must be"),
        (Accident(2, 0, again=(2, 3)), "again, answered must be"),
    ],
)
def test_numbers_that_cannot_be_are_refused(accident, said):
    with pytest.raises(KafkaLearnError, match=said):
        burst_events(Settings(TWO_BROKERS, ProducerSettings()), accident)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(TopicSettings(3)), "two brokers"),
        (Settings(TWO_BROKERS, ProducerSettings(acks=1, retries=1)), "retries must be 0 or at least 2"),
        (Settings(TWO_BROKERS, ProducerSettings(retries=0, puts_failures_aside=True)), "must retry first"),
    ],
)
def test_settings_that_are_not_modelled_are_refused(settings, said):
    with pytest.raises(KafkaLearnError, match=said):
        burst_events(settings, None)
