"""What the matrix is made of: producers, failures that may happen, and results that a search looks for."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kafkalearn.delivery.events import (
    AnswerArrived,
    ConnectionLost,
    DeliveryEvent,
    GaveUp,
    RequestArrived,
    RequestSent,
    Send,
    SendAgain,
)
from kafkalearn.delivery.record_results import DOUBLED, LOST, OUT_OF_ORDER, REJECTED, SAFE
from kafkalearn.delivery.settings import ProducerSettings
from kafkalearn.replication.events import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    Fetch,
    PowerLost,
    SessionExpired,
)

GIVEN_UP = "given up"
OFFLINE = "offline"  # of the whole partition; the other results are those of records

CELL_RESULTS: MappingProxyType[str, str] = MappingProxyType(
    {
        LOST: "the record is acknowledged, and gone",
        DOUBLED: "the record is in the log twice",
        OUT_OF_ORDER: "a record stands behind one that was sent after it",
        GIVEN_UP: "the callback got an error, the application left it at that, and the record is not in the log",
        OFFLINE: "brokers are up, and none may lead: the partition waits for one that has everything",
        REJECTED: "the leader refuses the record: NOT_ENOUGH_REPLICAS",
        SAFE: "the failure has happened; the record is acknowledged and in the log",
    }
)
"""What a search looks for in a cell, the worst first."""

TRAFFIC = (Send, SendAgain, RequestSent, RequestArrived, AnswerArrived, Fetch)


@dataclass(frozen=True, slots=True)
class Failure:
    """What goes wrong, at any moment."""

    description: str
    kinds: tuple[type, ...]  # the events of it, besides the traffic
    at_most: MappingProxyType[type, int]
    before: tuple[DeliveryEvent, ...] = ()  # what has happened when the search begins
    send_count: int = 1
    absent: tuple[int, ...] = ()  # brokers that take no part in it
    strikes: tuple[type, ...] = ()  # the events with which it has happened; none given: any of those it is limited to


def _failure(
    description: str,
    kinds: tuple[type, ...],
    limits: dict[type, int],
    before: tuple[DeliveryEvent, ...] = (),
    **options: Any,
) -> Failure:
    return Failure(description, kinds, MappingProxyType(limits), before, **options)


_AWAY = tuple(event for broker_id in (2, 3) for event in (BrokerCrashed(broker_id), SessionExpired(broker_id)))

FAILURES: MappingProxyType[str, Failure] = MappingProxyType(
    {
        "the connection breaks": _failure(
            "once, with up to two batches in flight", (ConnectionLost,), {ConnectionLost: 1}, send_count=2
        ),
        "the time for a batch is over": _failure(
            "delivery.timeout.ms; the connection may have broken before that, once",
            (ConnectionLost, GaveUp),
            {ConnectionLost: 1, GaveUp: 1},
            strikes=(GaveUp,),
        ),
        "the leader dies": _failure(
            "its process is killed; another is elected; it may come back",
            (BrokerCrashed, SessionExpired, BrokerRestarted),
            {BrokerCrashed: 1},
        ),
        "the leader stands still": _failure(
            "a long pause: another is elected while it still believes it leads",
            (BrokerFrozen, BrokerThawed, BrokerReconnected, SessionExpired),
            {BrokerFrozen: 1},
        ),
        "the followers are away, the leader dies": _failure(
            "the other two have left the ISR; they may come back, but not into the ISR before that",
            (BrokerCrashed, SessionExpired, BrokerRestarted),
            {BrokerCrashed: 1},
            _AWAY,
        ),
        "the last in sync loses its power": _failure(
            "one broker is away; another stops cleanly; the third loses what it had not flushed",
            (BrokerStopped, PowerLost, SessionExpired, BrokerRestarted),
            {BrokerStopped: 1, PowerLost: 1},
            (BrokerStopped(3),),
            absent=(3,),
        ),
        "both in sync lose their power": _failure(
            "one broker is away; the other two lose what they had not flushed",
            (PowerLost, SessionExpired, BrokerRestarted),
            {PowerLost: 2},
            (BrokerStopped(3),),
            absent=(3,),
        ),
    }
)
"""Failures by name."""

PRODUCERS: MappingProxyType[str, ProducerSettings] = MappingProxyType(
    {
        "acks=0": ProducerSettings(acks=0),
        "acks=1": ProducerSettings(acks=1),
        "acks=all": ProducerSettings(acks="all", is_idempotent=False),
        "acks=all, idempotent": ProducerSettings(acks="all", is_idempotent=True),
        "idempotent, puts aside": ProducerSettings(acks="all", is_idempotent=True, puts_failures_aside=True),
    }
)
"""Producers by name, else with the defaults of 4.3: they retry without end. The application of the last stores what
fails all the same, and sends it again."""
