"""A producer in front of a replicated partition: acks, retries, idempotence, and what becomes of each record.

The application *sends* a batch; the producer puts it into a *request*; the leader writes it and *answers*, when
depends on ``acks``. What fails is *retried*, until the producer gives up. An *idempotent* producer numbers its
batches, and the brokers remember the last five, so that one sent twice is written once.

A simulator: `Delivery` is the state, a `kafkalearn.replication.Partition` and the `Producer` in front of it; the
events are `Send`, `RequestSent`, `RequestArrived`, `AnswerArrived`, `ConnectionLost`, `GaveUp`, `ProduceRequest`, and
all of `kafkalearn.replication`; `step` is the rule, `deliver` a whole run. `Setup` holds the settings of both sides.

`fates` tells what has become of each record: `FATES` has the names. `PROMISES` names what an application relies on,
`find` searches all schedules for the shortest that breaks it, and `kafkalearn.delivery.search.matrix` does so for every
combination of settings and failures.

Not modelled: transactions, several producers that retry (further ones can write by hand), linger and the filling of
batches, more than one partition, compression, quotas. The producer learns at once who leads; its backoff takes no
time of its own. Batches that are in flight when the epoch is raised get their new numbers when they are sent again.
"""

from kafkalearn.delivery.broker import producer_state
from kafkalearn.delivery.events import (
    AnswerArrived,
    ApplicationTold,
    BatchAppended,
    BatchRefused,
    BatchWillBeRetried,
    ConnectionLost,
    DeliveryEffect,
    DeliveryEvent,
    DuplicateRecognised,
    EpochRaised,
    GaveUp,
    ProduceRequest,
    RequestArrived,
    RequestSent,
    Send,
)
from kafkalearn.delivery.promises import (
    NONE_DOUBLED,
    NONE_LOST,
    NONE_UNAWARE,
    ORDER_KEPT,
    PROMISES,
    broken,
    check,
)
from kafkalearn.delivery.record_results import (
    DOUBLED,
    FATES,
    LOST,
    OPEN,
    OUT_OF_ORDER,
    REJECTED,
    SAFE,
    WRITTEN,
    Fate,
    fate_of,
    fates,
)
from kafkalearn.delivery.search.find import find, model
from kafkalearn.delivery.sequences import Entry, Remembered, Stamp, Verdict, judge, remember, window_of
from kafkalearn.delivery.settings import ProducerSettings, Setup
from kafkalearn.delivery.simulator import deliver, start, step
from kafkalearn.delivery.state import Appended, Batch, Delivery, Producer, Request, Told

__all__ = [
    "DOUBLED",
    "FATES",
    "LOST",
    "NONE_DOUBLED",
    "NONE_LOST",
    "NONE_UNAWARE",
    "OPEN",
    "ORDER_KEPT",
    "OUT_OF_ORDER",
    "PROMISES",
    "REJECTED",
    "SAFE",
    "WRITTEN",
    "AnswerArrived",
    "Appended",
    "ApplicationTold",
    "Batch",
    "BatchAppended",
    "BatchRefused",
    "BatchWillBeRetried",
    "ConnectionLost",
    "Delivery",
    "DeliveryEffect",
    "DeliveryEvent",
    "DuplicateRecognised",
    "Entry",
    "EpochRaised",
    "Fate",
    "GaveUp",
    "ProduceRequest",
    "Producer",
    "ProducerSettings",
    "Remembered",
    "Request",
    "RequestArrived",
    "RequestSent",
    "Send",
    "Setup",
    "Stamp",
    "Told",
    "Verdict",
    "broken",
    "check",
    "deliver",
    "fate_of",
    "fates",
    "find",
    "judge",
    "model",
    "producer_state",
    "remember",
    "start",
    "step",
    "window_of",
]
