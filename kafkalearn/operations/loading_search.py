"""Searching for a load that the cleaner makes fail."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.base.checks import sequence
from kafkalearn.base.search import Search, explore, whole
from kafkalearn.log.model import Clean, Roll
from kafkalearn.operations import loading
from kafkalearn.operations.loading import Settings

# The shortest run in which the cleaner makes a load fail, or word that none can.

MOVES: tuple[loading.Event, ...] = (
    loading.Written("A", 1, (0,)),
    loading.Written("A", 2),
    loading.Written("B", 2, (0,)),
    loading.Written("A", 3, (1,)),
    Roll(),
    Clean(0),
    loading.LoadBegun(),
    loading.LoadRead(1),
)
"""A partition goes from one member to another; the log rolls, is cleaned, is loaded: in any order."""


def find(
    settings: Settings, events: Sequence[loading.Event] = MOVES, *, depth: int = 9
) -> Search[loading.Loading, loading.Event]:
    """The shortest schedule in which a load fails, or ends with something that the log does not say.

    Parameters
    ----------
    settings : Settings
        The release decides.
    events : sequence of Event
        What may happen, in any order and any number of times.
    depth : int
        The longest schedule to try.

    Examples
    --------
    >>> find(Settings("4.1.1")).broken
    ('a load ends without an exception',)
    >>> find(Settings("4.1.2")).outcome
    'depth'
    """
    return explore(
        whole(settings, loading.step, {**loading.INVARIANTS, **loading.PROMISES}),
        loading.start(settings),
        sequence("events", events, of="events"),
        depth=depth,
    )
