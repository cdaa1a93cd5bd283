"""Delivery: a producer in front of a replicated partition."""

from kafkalearn.delivery.model import (
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
)
from kafkalearn.replication.events import BrokerCrashed, BrokerRestarted, Fetch, Produce, SessionExpired, TimePassed
from tests.contract.simulator import Run, Simulator

TWO = TopicSettings(2, fetch_wait_max_ms=0)
RETRIED = (Send(), RequestArrived(), ConnectionLost(), RequestSent(), RequestArrived(), Fetch(2), Fetch(2))

SIMULATOR = Simulator(
    home="kafkalearn.delivery",
    runs=(
        Run(Settings(TWO), (*RETRIED, AnswerArrived(), Send(2), GaveUp(), ProduceRequest(("x",), producer_id=7))),
        Run(
            Settings(TWO, ProducerSettings(acks=1)),
            (
                Send(),
                Send(),
                RequestArrived(),
                AnswerArrived(),
                BrokerCrashed(1),
                SessionExpired(1),
                BrokerRestarted(1),
            ),
        ),
        Run(
            Settings(TWO, ProducerSettings(puts_failures_aside=True)),
            (Send(), ConnectionLost(), GaveUp(), SendAgain(), RequestArrived()),
        ),
        Run(Settings(TWO, ProducerSettings(acks=0)), (Send(values=("a", "b")), RequestArrived(), TimePassed(500))),
    ),
    senseless=(
        SendAgain(),
        RequestSent(),
        RequestArrived(),
        AnswerArrived(),
        ConnectionLost(),
        GaveUp(),
        Produce(),
        Fetch(1),
    ),
    effects_in=("kafkalearn.replication.events",),
)
