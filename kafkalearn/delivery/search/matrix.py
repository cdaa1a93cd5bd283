"""Every combination of acks, failure, unclean election and minimum ISR, and what can become of a record in each.

Nothing here is written down by hand. For each cell all schedules are searched in which the failure may strike at any
moment; what the search meets is what can happen, and the shortest schedule to it is kept, to be played.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import NamedTuple

from kafkalearn.delivery.events import DeliveryEvent, Send
from kafkalearn.delivery.processing import NormalDeliveryWork, places_of_producer
from kafkalearn.delivery.promises import NONE_DOUBLED, NONE_LOST, ORDER_KEPT
from kafkalearn.delivery.search.failures import (
    DOUBLED,
    FAILURES,
    LOST,
    OFFLINE,
    OUT_OF_ORDER,
    OUTCOMES,
    PRODUCERS,
    REJECTED,
    SAFE,
    TRAFFIC,
    Failure,
)
from kafkalearn.delivery.search.find import model
from kafkalearn.delivery.settings import Setup
from kafkalearn.delivery.simulator import deliver, step
from kafkalearn.delivery.state import Delivery
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.explore import Draft, Model, Relabelling, explore
from kafkalearn.replication import NONE, RUNNING, Settings, alphabet
from kafkalearn.trace import Trace, run
from kafkalearn.versions.releases import DEFAULT_RELEASE

BUDGET = 200_000  # states of a cell; the largest has a tenth of it


class Cell(NamedTuple):
    """One combination, and what can happen in it."""

    producer: str
    failure: str
    is_unclean_election_enabled: bool
    min_insync_replicas: int
    setup: Setup
    witnesses: tuple[tuple[str, Trace], ...]  # for each outcome that can be, the worst first, a shortest run to it
    state_count: int  # looked at

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What can happen, the worst first."""
        return tuple(name for name, _ in self.witnesses)

    @property
    def worst(self) -> str:
        """The worst that can happen."""
        return self.outcomes[0]

    def witness(self, outcome: str | None = None) -> Trace:
        """A shortest run to an outcome, the worst if none is named; it begins with the partition new.

        Raises
        ------
        KafkaLearnError
            If that cannot happen in this cell.
        """
        found = dict(self.witnesses)
        wanted = self.worst if outcome is None else outcome
        if wanted not in OUTCOMES:
            raise unknown_name("outcome", wanted, OUTCOMES)
        if wanted not in found:
            raise KafkaLearnError(f"no schedule of this cell ends {wanted}; what can happen is: {', '.join(found)}")
        return found[wanted]


def matrix(
    producers: Iterable[str] = tuple(PRODUCERS),
    failures: Iterable[str] = tuple(FAILURES),
    unclean: Sequence[bool] = (False, True),
    min_isr: Sequence[int] = (1, 2),
    release: str = DEFAULT_RELEASE,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Cell, ...]:
    """The cells of these combinations, each searched through, on three brokers.

    Parameters
    ----------
    producers, failures : iterable of str
        Names in `PRODUCERS` and `FAILURES`.
    unclean : sequence of bool
        Values of ``unclean.leader.election.enable``.
    min_isr : sequence of int
        Values of ``min.insync.replicas``.
    release : str
        Of the brokers; without one, Kafka 4.3.
    progress : callable or None
        Called with how many cells are done and how many there are.

    Returns
    -------
    tuple of Cell
        In the order of the arguments: all of a failure together, in it all of a producer.

    Raises
    ------
    KafkaLearnError
        If a producer or a failure is not known.

    Examples
    --------
    >>> for cell in matrix(["acks=1", "acks=all"], ["the leader dies"], [False], [1]):
    ...     print(cell.producer, cell.outcomes)
    acks=1 ('lost', 'doubled', 'safe')
    acks=all ('doubled', 'safe')
    """
    wanted = [
        (failure, producer, is_unclean, least)
        for failure in failures
        for producer in producers
        for is_unclean in unclean
        for least in min_isr
    ]
    for failure, producer, _, _ in wanted:
        _failure_named(failure)
        if producer not in PRODUCERS:
            raise unknown_name("producer", producer, PRODUCERS)
    cells = []
    for failure, producer, is_unclean, least in wanted:
        cells.append(_cell(producer, failure, is_unclean, least, release))
        if progress:
            progress(len(cells), len(wanted))
    return tuple(cells)


@cache
def _cell(producer: str, failure: str, is_unclean: bool, min_isr: int, release: str) -> Cell:
    topic = Settings(
        3,
        release,
        min_insync_replicas=min_isr,
        is_unclean_election_enabled=is_unclean,
        fetch_wait_max_ms=0,
    )
    setup = Setup(topic, PRODUCERS[producer])
    witnesses, state_count = witnesses_of(setup, failure)
    return Cell(producer, failure, is_unclean, min_isr, setup, witnesses, state_count)


def witnesses_of(setup: Setup, failure: str) -> tuple[tuple[tuple[str, Trace], ...], int]:
    """All that can happen under settings of your own when a failure strikes.

    Parameters
    ----------
    setup : Setup
        Three brokers; ``fetch_wait_max_ms=0`` spares the search fetches that wait.
    failure : str
        A name in `FAILURES`.

    Returns
    -------
    tuple
        For each outcome that can be, the worst first, its name and a shortest run to it; and how many states there are.

    Examples
    --------
    >>> from kafkalearn.delivery.settings import ProducerSettings
    >>> setup = Setup(Settings(fetch_wait_max_ms=0), ProducerSettings(acks=1))
    >>> [name for name, _ in witnesses_of(setup, "the leader dies")[0]]
    ['lost', 'doubled', 'safe']
    """
    return _witnesses(setup, _failure_named(failure))


def _failure_named(name: str) -> Failure:
    if name not in FAILURES:
        raise unknown_name("failure", name, FAILURES)
    return FAILURES[name]


def _witnesses(setup: Setup, failure: Failure) -> tuple[tuple[tuple[str, Trace], ...], int]:
    initial = deliver(setup, failure.before)[-1].state
    events = [each for each in alphabet(setup.topic, *TRAFFIC, *failure.kinds) if not _names(each, failure.absent)]
    limits = {Send: failure.send_count, **failure.at_most}
    found, wanted = {}, list(OUTCOMES)
    while wanted:
        search = explore(_model(setup, failure, wanted), initial, events, at_most=limits, budget=BUDGET)
        assert search.outcome != "budget", f"too many states: {failure.says}"
        if search.trace is None:
            break
        schedule = (*failure.before, *(frame.event for frame in search.trace[1:]))
        begin = deliver(setup, ())[0].state
        found[search.broken[0]] = run(partial(step, setup.unordered()), begin, schedule)
        wanted.remove(search.broken[0])
    return tuple((name, found[name]) for name in OUTCOMES if name in found), search.state_count


def _names(event: DeliveryEvent, brokers: tuple[int, ...]) -> bool:
    """Whether an event is about one of these brokers."""
    return getattr(event, "broker_id", None) in brokers or getattr(event, "successor", None) in brokers


def _model(setup: Setup, failure: Failure, outcomes: Sequence[str]) -> Model[Delivery, DeliveryEvent]:
    """The search for these outcomes; a part more tells whether the failure has struck."""
    promised = {LOST: NONE_LOST, DOUBLED: NONE_DOUBLED, OUT_OF_ORDER: ORDER_KEPT}
    own = {OFFLINE: _is_offline, REJECTED: _is_rejected, SAFE: _is_safe}
    tests = [(name, partial(_never, own[name])) for name in outcomes if name in own]
    bare = model(setup, tuple(promised[name] for name in outcomes if name in promised), tests)
    named = {promise: outcome for outcome, promise in promised.items()}
    place, striking = places_of_producer(setup.topic)[1] + 1, frozenset(failure.at_most)

    def split(delivery: Delivery) -> tuple:
        return (*bare.split(delivery), False)

    def happen(draft: Draft, event: DeliveryEvent) -> None:
        bare.happen(draft, event)
        if type(event) in striking:
            draft.write(place, True)

    def wider(each: Relabelling) -> Relabelling:
        def part(at: int, value: object) -> object:
            return value if at == place else each.part(at, value)

        return Relabelling((*each.places, place), part, each.event)

    promises = tuple((named.get(name, name), holds) for name, holds in bare.promises)
    return Model(bare.step, split, happen, promises, tuple(wider(each) for each in bare.relabellings))


def _never(is_so: Callable[[NormalDeliveryWork], bool], work: NormalDeliveryWork) -> bool:
    return not is_so(work)


def _is_offline(work: NormalDeliveryWork) -> bool:
    if work.leader_id is not None:
        return False
    return any(work.broker(broker_id).status == RUNNING for broker_id in work.settings.broker_ids)


def _is_rejected(work: NormalDeliveryWork) -> bool:
    return any(request.error == "NOT_ENOUGH_REPLICAS" for request in work.producer.in_flight)


def _is_safe(work: NormalDeliveryWork) -> bool:
    told = work.producer.told
    if not told or work.producer.unresolved or not work.read(places_of_producer(work.settings)[1] + 1):
        return False
    leader_id = work.acting_leader()
    if leader_id is None or any(each.error != NONE for each in told):
        return False
    values = [record.value for record in work.log(leader_id).records]
    return values == [value for each in sorted(told) for value in each.values]


def rows(cells: Iterable[Cell]) -> list[dict[str, object]]:
    """The cells as plain rows: the settings, the worst, whether each outcome can be, how many events lead to the worst.

    >>> (row,) = rows(matrix(["acks=1"], ["the leader dies"], [False], [1]))
    >>> row["worst"], row["lost"], row["offline"], row["event_count"]
    ('lost', True, False, 5)
    """
    return [
        {
            "failure": cell.failure,
            "producer": cell.producer,
            "unclean": cell.is_unclean_election_enabled,
            "min_isr": cell.min_insync_replicas,
            "worst": cell.worst,
            **{outcome: outcome in cell.outcomes for outcome in OUTCOMES},
            "event_count": len(cell.witness()) - 1,
        }
        for cell in cells
    ]
