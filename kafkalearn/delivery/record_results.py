"""What became of each record: what the application was told, against what the surviving log holds.

The surviving log is that of the leader the controller has recorded: every other replica will agree with it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.delivery.state import Delivery
from kafkalearn.replication import NONE

SAFE = "safe"
REJECTED = "rejected"
LOST = "lost"
DOUBLED = "doubled"
OUT_OF_ORDER = "out of order"
WRITTEN = "rejected, yet written"
OPEN = "open"

FATES: MappingProxyType[str, str] = MappingProxyType(
    {
        SAFE: "acknowledged, and in the log once, in its place",
        REJECTED: "the application was told an error, and the record is not in the log",
        LOST: "acknowledged, and not in the log",
        DOUBLED: "in the log more than once",
        OUT_OF_ORDER: "acknowledged, in the log once, behind a record that was sent later",
        WRITTEN: "the application was told an error, and the record is in the log all the same",
        OPEN: "not decided: nothing was heard yet, or the record may still arrive, or there is no leader",
    }
)
"""What can become of a record, by name; each record has one of these."""


class Fate(NamedTuple):
    """One record at the end of a run."""

    batch: int  # the number of its batch
    value: str
    told: str | None  # the error the application heard; "NONE": acknowledged; None: nothing yet
    offsets: tuple[int, ...]  # where it is in the surviving log
    fate: str  # a name in FATES


def fate_of(told: str | None, copy_count: int, is_overtaken: bool = False) -> str:
    """The fate of a record.

    Parameters
    ----------
    told : str or None
        The error the application heard; ``"NONE"``: it was acknowledged; None: it heard nothing.
    copy_count : int
        How often the record is in the surviving log.
    is_overtaken : bool
        Whether a record that was sent later stands before it.

    Examples
    --------
    >>> fate_of("NONE", 1), fate_of("NONE", 0), fate_of("NOT_ENOUGH_REPLICAS", 0), fate_of("NONE", 2)
    ('safe', 'lost', 'rejected', 'doubled')
    >>> fate_of("REQUEST_TIMED_OUT", 1), fate_of(None, 1), fate_of("NONE", 1, is_overtaken=True)
    ('rejected, yet written', 'open', 'out of order')
    """
    if copy_count > 1:
        return DOUBLED
    if told is None:
        return OPEN
    if told != NONE:
        return WRITTEN if copy_count else REJECTED
    if copy_count == 0:
        return LOST
    return OUT_OF_ORDER if is_overtaken else SAFE


def fates(delivery: Delivery) -> tuple[Fate, ...]:
    """What has become of every record so far, as the application sent them.

    Examples
    --------
    >>> from kafkalearn.delivery import AnswerArrived, ProducerSettings, RequestArrived, Send, Setup, deliver
    >>> from kafkalearn.replication import BrokerCrashed, SessionExpired
    >>> setup = Setup(producer=ProducerSettings(acks=1))
    >>> acknowledged = [Send(), RequestArrived(), AnswerArrived()]
    >>> fates(deliver(setup, acknowledged)[-1].state)
    (Fate(batch=1, value='m1', told='NONE', offsets=(0,), fate='safe'),)
    >>> fates(deliver(setup, [*acknowledged, BrokerCrashed(1), SessionExpired(1)])[-1].state)[0].fate
    'lost'
    """
    leader = delivery.partition.leader
    sent = [(number, value, told) for number, values, told in delivery.producer.sent for value in values]
    if leader is None:
        return tuple(Fate(number, value, told, (), OPEN) for number, value, told in sent)
    places = places_of([record.value for record in leader.log.records], leader.log.first_offset)
    overtaken = overtaken_values([value for _, value, _ in sent], places)
    found = []
    for number, value, told in sent:
        offsets = places.get(value, ())
        may_arrive = not offsets and value in delivery.producer.on_the_wire
        fate = OPEN if may_arrive else fate_of(told, len(offsets), value in overtaken)
        found.append(Fate(number, value, told, offsets, fate))
    return tuple(found)


def places_of(values: list[str], first_offset: int = 0) -> dict[str, tuple[int, ...]]:
    """Where each value stands in a log.

    >>> places_of(["x", "y", "x"])
    {'x': (0, 2), 'y': (1,)}
    """
    places: dict[str, tuple[int, ...]] = {}
    for offset, value in enumerate(values, first_offset):
        places[value] = (*places.get(value, ()), offset)
    return places


def overtaken_values(sent: list[str], places: dict[str, tuple[int, ...]]) -> set[str]:
    """The values that stand behind one which was sent later; `sent` has them as they were sent.

    >>> overtaken_values(["x", "y", "z"], places_of(["y", "x", "z"]))
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
