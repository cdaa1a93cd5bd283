"""A broker's death second by second, drawn and in words."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.operations.failover import BrokerDied, BrokerStarted, BrokerStopped, SecondPassed, Settings, simulate
from kafkalearn.operations.failover_picture import animate_failover, describe_failover, draw_load_times, failover_text

SETTINGS = Settings(load_s=2)
TRACE = simulate(SETTINGS, [BrokerDied(1), *[SecondPassed()] * 14, BrokerStarted(1), BrokerStopped(2), SecondPassed()])


def test_every_second_is_drawn_and_said():
    shown = animate_failover(SETTINGS, TRACE, title="A broker dies")
    assert len(shown.pictures) == len(TRACE)
    assert all(each.size[0] == 1000 and each.size[1] <= 590 for each in shown.pictures)
    assert shown.captions[0] == "The start: nobody asks."
    assert "broker 2 leads the partition; broker 2 begins to load" in shown.captions[10]
    assert "broker 2 has loaded 6 records" in shown.captions[12]


def test_the_pictures_grow_by_what_was_heard():
    shown = animate_failover(SETTINGS, TRACE)
    assert shown.pictures[3].count("<path") < shown.pictures[10].count("<path")
    part = animate_failover(SETTINGS, TRACE[5:9])
    assert part.captions == shown.captions[5:9]


def test_text_and_sentence_say_the_same():
    frame = TRACE[10]
    assert failover_text(SETTINGS, frame).startswith(describe_failover(SETTINGS, frame))
    assert "broker 1: is down, and the cluster knows" in failover_text(SETTINGS, frame)
    assert "COORDINATOR_LOAD_IN_PROGRESS" in describe_failover(SETTINGS, frame)


def test_with_nobody_to_lead_that_is_said():
    alone = Settings(replicas=(1,))
    trace = simulate(alone, [BrokerDied(1), *[SecondPassed()] * 10])
    assert "nobody can lead the partition" in describe_failover(alone, trace[10])


def test_a_run_longer_than_a_minute_has_no_room():
    with pytest.raises(KafkaLearnError, match="room for 60 seconds"):
        animate_failover(SETTINGS, simulate(SETTINGS, [SecondPassed()] * 61))


def test_times_of_loads_are_two_bars_a_broker_and_at_most_seven_brokers():
    shown = draw_load_times({2: (4.0, 0.5), 1: (20.0, 0.02)})
    assert shown.label == "Time of a load: broker 1 20.0 s, cleaned 0.02 s; broker 2 4.0 s, cleaned 0.5 s"
    for wrong in ({}, dict.fromkeys(range(1, 9), (1, 1)), {1: (-1, 0)}):
        with pytest.raises(KafkaLearnError):
            draw_load_times(wrong)
