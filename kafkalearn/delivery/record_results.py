"""The result of each record: what its callback got, against what the surviving log holds.

The surviving log is that of the leader the controller has recorded: every other replica will agree with it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.delivery.state import Delivery
from kafkalearn.replication.effects import NONE

SAFE = "safe"
REJECTED = "rejected"
LOST = "lost"
DOUBLED = "doubled"
OUT_OF_ORDER = "out of order"
WRITTEN = "rejected, yet written"
OPEN = "open"

RESULTS: MappingProxyType[str, str] = MappingProxyType(
    {
        SAFE: "acknowledged, and in the log once, in its place",
        REJECTED: "the callback got an error, and the record is not in the log",
        LOST: "acknowledged, and not in the log",
        DOUBLED: "in the log more than once",
        OUT_OF_ORDER: "acknowledged, in the log once, behind a record that was sent later",
        WRITTEN: "the callback got an error, and the record is in the log all the same",
        OPEN: "not decided: no callback yet, or the record may still arrive, or there is no leader",
    }
)
"""What a record can end as, by name; each record has one of these."""


class RecordResult(NamedTuple):
    """One record at the end of a run."""

    batch: int  # the number of its batch; of a record that was put aside and sent again, of the last
    value: str
    callback: str | None  # the error the callback of that batch got; "NONE": acknowledged; None: not called yet
    offsets: tuple[int, ...]  # where it is in the surviving log
    result: str  # a name in RESULTS


def result_of(callback: str | None, copy_count: int, is_overtaken: bool = False) -> str:
    """The result of a record.

    Parameters
    ----------
    callback : str or None
        The error its callback got; ``"NONE"``: it was acknowledged; None: the callback was not called yet.
    copy_count : int
        How often the record is in the surviving log.
    is_overtaken : bool
        Whether a record that was sent later stands before it.

    Examples
    --------
    >>> result_of("NONE", 1), result_of("NONE", 0), result_of("NOT_ENOUGH_REPLICAS", 0), result_of("NONE", 2)
    ('safe', 'lost', 'rejected', 'doubled')
    >>> result_of("REQUEST_TIMED_OUT", 1), result_of(None, 1), result_of("NONE", 1, is_overtaken=True)
    ('rejected, yet written', 'open', 'out of order')
    """
    if copy_count > 1:
        return DOUBLED
    if callback is None:
        return OPEN
    if callback != NONE:
        return WRITTEN if copy_count else REJECTED
    if copy_count == 0:
        return LOST
    return OUT_OF_ORDER if is_overtaken else SAFE


def record_results(delivery: Delivery) -> tuple[RecordResult, ...]:
    """The result of every record so far, in the order the application sent them.

    Examples
    --------
    >>> from kafkalearn.delivery import AnswerArrived, ProducerSettings, RequestArrived, Send, Settings, simulate
    >>> from kafkalearn.replication import BrokerCrashed, SessionExpired
    >>> settings = Settings(producer=ProducerSettings(acks=1))
    >>> acknowledged = [Send(), RequestArrived(), AnswerArrived()]
    >>> record_results(simulate(settings, acknowledged)[-1].state)
    (RecordResult(batch=1, value='m1', callback='NONE', offsets=(0,), result='safe'),)
    >>> end = simulate(settings, [*acknowledged, BrokerCrashed(1), SessionExpired(1)])[-1].state
    >>> record_results(end)[0].result
    'lost'
    """
    leader = delivery.partition.leader
    sent = [(number, value, callback) for value, (number, callback) in delivery.producer.records.items()]
    if leader is None:
        return tuple(RecordResult(number, value, callback, (), OPEN) for number, value, callback in sent)
    places = offsets_of([record.value for record in leader.log.records], leader.log.first_offset)
    overtaken = overtaken_values([value for _, value, _ in sent], places)
    found = []
    for number, value, callback in sent:
        offsets = places.get(value, ())
        may_arrive = not offsets and value in delivery.producer.on_the_wire
        result = OPEN if may_arrive else result_of(callback, len(offsets), value in overtaken)
        found.append(RecordResult(number, value, callback, offsets, result))
    return tuple(found)


def offsets_of(values: list[str], first_offset: int = 0) -> dict[str, tuple[int, ...]]:
    """Where each value stands in a log.

    >>> offsets_of(["x", "y", "x"])
    {'x': (0, 2), 'y': (1,)}
    """
    places: dict[str, tuple[int, ...]] = {}
    for offset, value in enumerate(values, first_offset):
        places[value] = (*places.get(value, ()), offset)
    return places


def overtaken_values(sent: list[str], places: dict[str, tuple[int, ...]]) -> set[str]:
    """The values that stand behind one which was sent later; `sent` has them as they were sent.

    >>> overtaken_values(["x", "y", "z"], offsets_of(["y", "x", "z"]))
    {'x'}
    """
    overtaken, earliest = set(), None
    for value in reversed(sent):
        if value not in places:
            continue
        first = places[value][0]
        if earliest is not None and first > earliest:
            overtaken.add(value)
        earliest = first if earliest is None else min(first, earliest)
    return overtaken
