"""What goes wrong, for as many replicas as a topic has: what `kafkalearn.answers.safe` lets happen at any moment."""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.delivery.search.failures import FAILURES, Failure
from kafkalearn.replication.events import BrokerCrashed, BrokerRestarted, BrokerStopped, PowerLost, SessionExpired

MOST_SEARCHED = 3  # replicas; of more, three are searched: each further one makes a search several times as long
ALL_LOSE_POWER = "both in sync lose their power"  # of what is not flushed nothing is left: no setting here helps
_BOTH = ("the connection breaks", "the time for a batch is over", "the leader dies", "the leader stands still")


def failures_of(replica_count: int) -> dict[str, Failure]:
    """The failures by name: those of `kafkalearn.delivery.search.failures.FAILURES`, for 1, 2 or 3 replicas.

    >>> [*failures_of(1)][-1], len(failures_of(2)), failures_of(3) == {**FAILURES}
    ('the only broker loses its power', 7, True)
    """
    if replica_count >= MOST_SEARCHED:
        return {**FAILURES}
    found = {name: FAILURES[name] for name in _BOTH}
    if replica_count == 1:
        lost = _limited(
            "it loses what it had not flushed", (PowerLost, SessionExpired, BrokerRestarted), {PowerLost: 1}
        )
        return {**found, "the only broker loses its power": lost}
    away = (BrokerCrashed(2), SessionExpired(2))
    return {
        **found,
        "the follower is away, the leader dies": _limited(
            "the other has left the ISR; it may come back, but not into the ISR before that",
            (BrokerCrashed, SessionExpired, BrokerRestarted),
            {BrokerCrashed: 1},
            away,
        ),
        "the last in sync loses its power": _limited(
            "one broker stops cleanly; the other loses what it had not flushed",
            (BrokerStopped, PowerLost, SessionExpired, BrokerRestarted),
            {BrokerStopped: 1, PowerLost: 1},
        ),
        ALL_LOSE_POWER: _limited(
            "they lose what they had not flushed", (PowerLost, SessionExpired, BrokerRestarted), {PowerLost: 2}
        ),
    }


def _limited(description: str, kinds: tuple[type, ...], limits: dict[type, int], before: tuple = ()) -> Failure:
    return Failure(description, kinds, MappingProxyType(limits), before)
