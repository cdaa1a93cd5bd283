"""What acks and replicas cost: how long the application waits for its callback, and how many bytes go over the network.

A healthy cluster: a fetch of each follower is always waiting at the leader, so a record goes out to all of them as
soon as the leader has written it, and is committed when the slowest has asked for what comes after it. Times are whole
numbers of any one unit.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkalearn.base.checks import LARGEST_INT, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import Trace
from kafkalearn.delivery import model
from kafkalearn.delivery.simulator import simulate
from kafkalearn.replication.events import Fetch, TimePassed, refuse_unknown_acks

MOST_REPLICAS = 5


class Trip(NamedTuple):
    """How long each part of a record's way takes."""

    there: int  # the request, from the producer to the leader, written
    back: int  # the answer
    followers: tuple[int, ...] = ()  # of each follower: the record there and written, and its next fetch back


def latency(acks: int | str, trip: Trip) -> int:
    """How long it takes from the send to the callback.

    Parameters
    ----------
    acks : 0, 1 or "all"
        With 0 the callback is called when the request goes out.
    trip : Trip
        As many followers as are in the ISR.

    Returns
    -------
    int
        In the unit of the trip.

    Raises
    ------
    KafkaLearnError
        If acks is none of these, or a time is not a whole number from 0.

    Examples
    --------
    >>> trip = Trip(there=2, back=1, followers=(3, 9))
    >>> latency(0, trip), latency(1, trip), latency("all", trip)
    (0, 3, 12)

    References
    ----------
    Apache Kafka 4.3, ``DelayedProduce``, ``Partition.maybeIncrementLeaderHW``.
    """
    refuse_unknown_acks(acks)
    times = [whole_number("trip", each, 0, LARGEST_INT) for each in (trip.there, trip.back, *trip.followers)]
    if acks == 0:
        return 0
    return times[0] + times[1] + (max(times[2:], default=0) if acks == "all" else 0)


def timed_run(acks: int | str, trip: Trip) -> Trace[model.Delivery, model.DeliveryEvent]:
    """The same by the simulator: one record in a run whose clock, in milliseconds, is moved from part to part.

    >>> trace = timed_run("all", Trip(there=2, back=1, followers=(3, 9)))
    >>> [frame.state.partition.now_ms for frame in trace if frame.state.producer.callbacks][0]
    12
    """
    waited = latency(acks, trip)
    if len(trip.followers) >= MOST_REPLICAS:
        raise KafkaLearnError(f"at most {MOST_REPLICAS} replicas, that is {MOST_REPLICAS - 1} followers; got {trip}")
    settings = model.Settings(
        model.TopicSettings(1 + len(trip.followers), fetch_wait_max_ms=0),
        model.ProducerSettings(acks, request_timeout_ms=LARGEST_INT, delivery_timeout_ms=LARGEST_INT),
    )
    fetching = sorted(zip(trip.followers, settings.topic.broker_ids[1:], strict=True))
    events: list[model.DeliveryEvent] = [model.Send(), *_passed(trip.there), model.RequestArrived()]
    events += [Fetch(broker_id) for _, broker_id in fetching]
    now = 0
    for after, broker_id in fetching:
        if acks == "all":
            events += [*_passed(after - now), Fetch(broker_id)]
            now = after
    if acks != 0:
        events += [*_passed(waited - trip.there - now), model.AnswerArrived()]
    return simulate(settings, events)


def _passed(time: int) -> list[TimePassed]:
    return [TimePassed(time)] if time else []


def bytes_sent(record_bytes: int, replica_count: int) -> int:
    """The bytes of a record on the network: once to the leader, once to each follower; as many go to disks.

    >>> [bytes_sent(1_000, replicas) for replicas in (1, 3, 5)]
    [1000, 3000, 5000]
    """
    whole_number("record_bytes", record_bytes, 0, LARGEST_INT)
    return record_bytes * whole_number("replica_count", replica_count, 1, LARGEST_INT)
