"""All schedules of a bounded length, counted."""

from itertools import product

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.delivery import (
    AnswerArrived,
    ConnectionLost,
    ProducerSettings,
    RequestArrived,
    RequestSent,
    Send,
    Settings,
    TopicSettings,
    simulate,
)
from kafkalearn.delivery.search import ends, rows_of

KINDS = [Send, RequestSent, RequestArrived, AnswerArrived, ConnectionLost]


def counted_one_by_one(settings, length: int) -> dict:
    found = {}
    for size in range(length + 1):
        for schedule in product([kind() for kind in KINDS], repeat=size):
            try:
                end = simulate(settings, schedule)[-1].state
            except IllegalEvent:
                continue
            if not end.producer.in_flight:
                found[end] = found.get(end, 0) + 1
    return found


@pytest.mark.parametrize("producer", [ProducerSettings(acks=1), ProducerSettings()])
def test_counting_by_states_counts_every_schedule(producer):
    settings = Settings(TopicSettings(replica_count=1), producer)
    assert dict(ends(settings, KINDS, 5)) == counted_one_by_one(settings, 5)


def test_rows_tell_what_the_application_knows_what_the_log_holds_and_what_became_of_it():
    settings = Settings(TopicSettings(replica_count=1), ProducerSettings(acks=1))
    twice = [Send(), RequestArrived(), ConnectionLost(), RequestSent(), RequestArrived(), AnswerArrived()]
    sent, log, results = rows_of([("r", simulate(settings, twice)[-1].state)])
    assert (sent, log, results) == ([("r", 1, "NONE", 1)], [("r", 1, 0), ("r", 1, 1)], [("r", 1, "doubled")])


def test_a_length_below_zero_is_refused():
    with pytest.raises(KafkaLearnError, match="length must be at least 0"):
        ends(Settings(), KINDS, -1)
