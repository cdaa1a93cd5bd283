"""A partition with everybody who waits for it: followers, producers with acks=all, and consumers."""

from kafkalearn.purgatory.requests.simulator import (
    RECORD_BYTES,
    Broker,
    ConsumerAnswered,
    ConsumerFetch,
    ConsumerParked,
    RequestEvent,
    SizedProduce,
    WaitingConsumer,
    simulate,
    start,
    step,
)

__all__ = [
    "RECORD_BYTES",
    "Broker",
    "ConsumerAnswered",
    "ConsumerFetch",
    "ConsumerParked",
    "RequestEvent",
    "SizedProduce",
    "WaitingConsumer",
    "simulate",
    "start",
    "step",
]
