"""A producer and its partition, drawn and in words: every frame, what is broken; and the matrix of results."""

from functools import partial
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import Frame
from kafkalearn.delivery import (
    AnswerArrived,
    ConnectionLost,
    GaveUp,
    ProduceRequest,
    ProducerSettings,
    RequestArrived,
    RequestSent,
    Send,
    SendAgain,
    Settings,
    TopicSettings,
    simulate,
)
from kafkalearn.delivery.matrix_search import matrix
from kafkalearn.drawing.log_figures import ROW
from kafkalearn.replication import BrokerCrashed, BrokerStarted, Fetch, PowerLost, SessionExpired
from kafkalearn.views import delivery_text, describe_delivery, draw_delivery, draw_results
from tests.delivery.test_laws import runs
from tests.drawing.test_consuming import story
from tests.recorded import expected

LEADER_DIES = [BrokerCrashed(1), SessionExpired(1)]
COMMITTED = [Send(), RequestArrived(), Fetch(2), Fetch(2), AnswerArrived()]
TWO = TopicSettings(2, fetch_wait_max_ms=0)
TWICE = [Send(), Send(), RequestArrived(), ConnectionLost(), RequestSent(), RequestArrived()]
GAP = [*COMMITTED, *COMMITTED, BrokerCrashed(2), SessionExpired(2), PowerLost(1, 1), BrokerStarted(1)]
GOES_ON = [Send(2), RequestArrived(), AnswerArrived(), RequestSent(), RequestArrived(), AnswerArrived()]
STORIES = {
    "acks-1": (Settings(TWO, ProducerSettings(acks=1)), [Send(), RequestArrived(), AnswerArrived(), *LEADER_DIES]),
    "twice": (
        Settings(TWO, ProducerSettings(is_idempotent=False)),
        [*TWICE, Fetch(2), Fetch(2), AnswerArrived(), GaveUp()],
    ),
    "put-aside": (
        Settings(TWO, ProducerSettings(puts_failures_aside=True)),
        [Send(), RequestArrived(), ConnectionLost(), GaveUp(), SendAgain(), RequestArrived()],
    ),
    "idempotent": (
        Settings(TWO),
        [*GAP, *GOES_ON, ProduceRequest(("x",), producer_id=7), ProduceRequest(("y",), acks=1)],
    ),
}


@pytest.mark.parametrize("name", STORIES)
def test_a_run_reads_as_expected(name):
    settings, events = STORIES[name]
    actual = story(simulate(settings, events), partial(delivery_text, settings))
    assert actual == expected(f"delivery-{name}.txt", actual)


def test_pictures_of_three_brokers_and_of_the_whole_matrix_fit_a_small_window():
    settings = Settings(producer=ProducerSettings(puts_failures_aside=True))
    assert draw_delivery(settings, simulate(settings, [Send()])[-1]).size[1] <= 590
    unequal = ["the followers are away, the leader dies", "the last in sync loses its power"]
    some = draw_results(matrix(failures=["the leader dies", *unequal]))
    rows_of_all = 10  # of seven failures three have a row of their own for unclean elections
    assert some.size[1] + (rows_of_all - 5) * ROW <= 590
    assert "the leader dies, unclean" in some.label


def test_a_broken_promise_is_said_once_and_drawn_as_long_as_it_lasts():
    settings, events = STORIES["acks-1"]
    trace = simulate(settings, events)
    assert "Promise broken: no acknowledged record is lost." in describe_delivery(settings, trace[-1], trace[-2])
    assert "Promise broken: no acknowledged record is lost" in draw_delivery(settings, trace[-1], trace[-2])
    same = Frame(trace[-1].index + 1, None, trace[-1].state)
    assert "no acknowledged record is lost" not in describe_delivery(settings, same, trace[-1])
    assert "Promise broken: no acknowledged record is lost" in draw_delivery(settings, same, trace[-1])


@hypothesis_settings(max_examples=25)
@given(runs())
def test_every_state_can_be_drawn_and_put_into_words(run):
    settings, states = run
    frame = Frame(0, None, states[-1])
    ElementTree.fromstring(draw_delivery(settings, frame))
    assert delivery_text(settings, frame).splitlines()[1].startswith("producer (acks=")


def test_the_matrix_shows_each_cell_s_worst_and_says_so_in_words():
    cells = matrix(["acks=1", "acks=all, idempotent"], ["the leader dies", "the connection breaks"], [False], [1])
    picture = draw_results(cells)
    ElementTree.fromstring(picture)
    assert picture.label == (
        "Results of 4 combinations. the leader dies: acks=1 LOST; acks=all, idempotent safe. "
        "the connection breaks: acks=1 twice; acks=all, idempotent safe"
    )
    with pytest.raises(KafkaLearnError, match="no cell to draw"):
        draw_results([])
