"""Searching all orders of events for the shortest that breaks a promise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkalearn.base.checks import iterable, one_of, sequence
from kafkalearn.base.search import Search, explore, whole
from kafkalearn.operations.coordinator_life import model
from kafkalearn.operations.coordinator_life.model import Settings
from kafkalearn.operations.coordinator_life.simulator import INVARIANTS, PROMISES, step

# The shortest run in which a late order does harm, or word that none can.

MOST_EPOCHS = 4


def moves(settings: Settings) -> tuple[model.Event, ...]:
    """What may happen while leadership moves and comes back: a broker is lost and returns, orders in any order.

    >>> len(moves(Settings()))
    15
    """
    ids, first = settings.broker_ids, settings.replicas[0]
    return (
        model.Request(first, model.COMMIT, offset=7),
        model.BrokerFenced(first),
        model.BrokerUnfenced(first),
        model.CoordinatorStarted(first),
        model.LeaderImbalanceChecked(),
        *(model.OrderCarriedOut(broker_id, epoch) for broker_id in ids for epoch in range(1, MOST_EPOCHS + 1)),
        *(model.LoadRead(broker_id) for broker_id in ids),
    )


def find(
    settings: Settings,
    promises: Iterable[str] = tuple(PROMISES),
    events: Sequence[model.Event] | None = None,
    *,
    depth: int = 10,
    initial: model.Life | None = None,
) -> Search[model.Life, model.Event]:
    """The shortest schedule that breaks one of these promises.

    Parameters
    ----------
    settings : Settings
        The release decides.
    promises : iterable of str
        Names in `PROMISES` or `INVARIANTS`.
    events : sequence of Event, optional
        What may happen; by default `moves`.
    depth : int
        The longest schedule to try.
    initial : Life, optional
        Where to begin; by default a new partition.

    Raises
    ------
    KafkaLearnError
        If there is no promise of such a name.

    Examples
    --------
    >>> from kafkalearn.operations.coordinator_life.simulator import LEADER_ANSWERS
    >>> for release in ("2.8.0", "2.8.1"):
    ...     print(release, find(Settings(release), [LEADER_ANSWERS]).outcome)
    2.8.0 found
    2.8.1 depth
    """
    known = {**INVARIANTS, **PROMISES}
    chosen = {one_of("promise", name, known): known[name] for name in iterable("promises", promises, of="names")}
    given = moves(settings) if events is None else sequence("events", events, of="events")
    return explore(
        whole(settings, step, chosen), model.start(settings) if initial is None else initial, tuple(given), depth=depth
    )
