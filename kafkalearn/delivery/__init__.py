"""A producer in front of a replicated partition: acks, retries, idempotence, and the result of each record.

The application *sends* a batch; the producer puts it into a *request*; the leader writes it and *answers*, when
depends on ``acks``; and the producer calls the application's *callback*. What fails is *retried*, until the producer
gives up. An *idempotent* producer numbers its batches, and the brokers remember the last five, so that one sent twice
is written once. An application may *put aside* what its callback reports as failed, and send it again later: for
the producer that is a new batch.

A simulator: `Delivery` is the state, a `kafkalearn.replication.Partition` and the `Producer` in front of it; the
events are `Send`, `SendAgain`, `RequestSent`, `RequestArrived`, `AnswerArrived`, `LateAnswerArrived`,
`ConnectionLost`, `GaveUp`, `ProduceRequest`, and all of `kafkalearn.replication`; `step` is the rule, `simulate` a
whole run. `Settings` has the settings of both sides: `TopicSettings`, which is ``kafkalearn.replication.Settings``, and
`ProducerSettings`.

`record_results` gives the result of each record: `RESULTS` has the names. `PROMISES` names what an application relies
on, `find` searches all schedules for the shortest that breaks it, and `kafkalearn.delivery.matrix_search` does so for
every combination of settings and failures.

Not modelled: transactions, several producers that retry (further ones can write by hand), linger and the filling of
batches, more than one partition, compression, quotas. The producer learns at once who leads; its backoff takes no
time of its own. Batches that are in flight when the epoch is raised get their new numbers when they are sent again.
"""

from kafkalearn.delivery.model import (
    AnswerArrived,
    ConnectionLost,
    Delivery,
    GaveUp,
    LateAnswerArrived,
    Producer,
    ProduceRequest,
    ProducerSettings,
    RequestArrived,
    RequestSent,
    Send,
    SendAgain,
    Settings,
    TopicSettings,
    start,
)
from kafkalearn.delivery.search import find
from kafkalearn.delivery.simulator import (
    INVARIANTS,
    NO_REJECTED_IN_LOG,
    NONE_DOUBLED,
    NONE_LOST,
    ORDER_KEPT,
    PROMISES,
    RESULTS,
    RecordResult,
    broken,
    check,
    record_results,
    simulate,
    step,
)

__all__ = [
    "INVARIANTS",
    "NONE_DOUBLED",
    "NONE_LOST",
    "NO_REJECTED_IN_LOG",
    "ORDER_KEPT",
    "PROMISES",
    "RESULTS",
    "AnswerArrived",
    "ConnectionLost",
    "Delivery",
    "GaveUp",
    "LateAnswerArrived",
    "ProduceRequest",
    "Producer",
    "ProducerSettings",
    "RecordResult",
    "RequestArrived",
    "RequestSent",
    "Send",
    "SendAgain",
    "Settings",
    "TopicSettings",
    "broken",
    "check",
    "find",
    "record_results",
    "simulate",
    "start",
    "step",
]
