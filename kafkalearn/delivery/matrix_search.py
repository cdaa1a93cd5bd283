"""Every combination of acks, failure, unclean election and minimum ISR, and all that can happen to a record in each.

Nothing here is written down by hand. For each cell all schedules are searched in which the failure may come at any
moment; what the search meets is what can happen, and the shortest schedule to it is kept, to be played.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache, partial
from itertools import product
from typing import NamedTuple

from kafkalearn.base.checks import LARGEST_INT, flag, iterable, one_of, sequence, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.search import Model, Relabelling, explore, survey
from kafkalearn.base.trace import Parts, Trace
from kafkalearn.delivery.client import DeliveryProcessing, places_of_producer
from kafkalearn.delivery.model import Delivery, DeliveryEvent, Send, Settings, start
from kafkalearn.delivery.search import CELL_RESULTS, FAILURES, GIVEN_UP, OFFLINE, PRODUCERS, TRAFFIC, Failure, model
from kafkalearn.delivery.simulator import (
    DOUBLED,
    LOST,
    NONE_DOUBLED,
    NONE_LOST,
    ORDER_KEPT,
    OUT_OF_ORDER,
    REJECTED,
    SAFE,
    simulate,
)
from kafkalearn.releases.lines import DEFAULT_RELEASE, release_line
from kafkalearn.replication.events import NONE
from kafkalearn.replication.search import alphabet
from kafkalearn.replication.settings import Settings as TopicSettings
from kafkalearn.replication.state import RUNNING

BUDGET = 200_000  # states of a cell; the largest has a tenth of it


class Cell(NamedTuple):
    """One combination, and what can happen in it."""

    producer: str
    failure: str
    is_unclean_election_enabled: bool
    min_insync_replicas: int
    settings: Settings
    witnesses: tuple[
        tuple[str, Trace[Delivery, DeliveryEvent]], ...
    ]  # for each result that can be, the worst first, a shortest run to it
    state_count: int  # looked at

    def __repr__(self) -> str:
        """The combination, what can happen in it, and how much was looked at."""
        elections = "unclean elections allowed" if self.is_unclean_election_enabled else "clean elections only"
        head = f"{self.failure}; {self.producer}; {elections}; min.insync.replicas={self.min_insync_replicas}"
        return f"{head}\n  {', '.join(self.results)} ({self.state_count:,} states)"

    @property
    def results(self) -> tuple[str, ...]:
        """What can happen, the worst first."""
        return tuple(name for name, _ in self.witnesses)

    @property
    def worst(self) -> str:
        """The worst that can happen."""
        return self.results[0]

    def witness(self, result: str | None = None) -> Trace[Delivery, DeliveryEvent]:
        """A shortest run to a result, the worst if none is named; it begins with the partition new.

        Raises
        ------
        KafkaLearnError
            If that cannot happen in this cell.
        """
        found = dict(self.witnesses)
        wanted = self.worst if result is None else result
        one_of("result", wanted, CELL_RESULTS)
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
        Of the brokers; without one, the newest line.
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
    ...     print(cell.producer, cell.results)
    acks=1 ('lost', 'doubled', 'safe')
    acks=all ('doubled', 'safe')
    """
    chosen = (
        [one_of("failure", each, FAILURES) for each in iterable("failures", failures, of="names")],
        [one_of("producer", each, PRODUCERS) for each in iterable("producers", producers, of="names")],
        [flag("unclean", each) for each in sequence("unclean", unclean, of="True and False")],
        [whole_number("min_isr", each, 1, LARGEST_INT) for each in sequence("min_isr", min_isr, of="whole numbers")],
    )
    wanted = [*product(*chosen)]
    release_line(release)
    cells = []
    for failure, producer, is_unclean, least in wanted:
        cells.append(_cell(producer, failure, is_unclean, least, release))
        if progress:
            progress(len(cells), len(wanted))
    return tuple(cells)


@cache
def _cell(producer: str, failure: str, is_unclean: bool, min_isr: int, release: str) -> Cell:
    topic = TopicSettings(
        3,
        release,
        min_insync_replicas=min_isr,
        is_unclean_election_enabled=is_unclean,
        fetch_wait_max_ms=0,
    )
    settings = Settings(topic, PRODUCERS[producer])
    witnesses, state_count = witnesses_of(settings, failure)
    return Cell(producer, failure, is_unclean, min_isr, settings, witnesses, state_count)


def witnesses_of(
    settings: Settings, failure: str | Failure
) -> tuple[tuple[tuple[str, Trace[Delivery, DeliveryEvent]], ...], int]:
    """All that can happen under settings of your own when there is a failure.

    Parameters
    ----------
    settings : Settings
        Three brokers; ``fetch_wait_max_ms=0`` spares the search fetches that wait.
    failure : str or Failure
        A name in `FAILURES`; or one of your own, which may be of fewer brokers.

    Returns
    -------
    tuple
        For each result that can be, the worst first, its name and a shortest run to it; and how many states there are.

    Examples
    --------
    >>> from kafkalearn.delivery.model import ProducerSettings
    >>> settings = Settings(TopicSettings(fetch_wait_max_ms=0), ProducerSettings(acks=1))
    >>> [name for name, _ in witnesses_of(settings, "the leader dies")[0]]
    ['lost', 'doubled', 'safe']
    """
    return _witnesses(settings, failure if isinstance(failure, Failure) else _failure_named(failure))


def can_be(settings: Settings, failure: str | Failure, results: Iterable[str]) -> bool:
    """Whether one of these results can be, by a search that ends at the first: sooner than `witnesses_of`.

    >>> from kafkalearn.delivery.model import ProducerSettings
    >>> settings = Settings(TopicSettings(fetch_wait_max_ms=0), ProducerSettings(acks=1))
    >>> can_be(settings, "the leader dies", [LOST]), can_be(settings, "the leader dies", [OUT_OF_ORDER])
    (True, False)
    """
    chosen = failure if isinstance(failure, Failure) else _failure_named(failure)
    wanted = [one_of("result", each, CELL_RESULTS) for each in iterable("results", results, of="results")]
    initial, events, limits = _beginning(settings, chosen)
    search = explore(_model(settings, chosen, wanted), initial, events, at_most=limits, budget=BUDGET)
    assert search.outcome != "budget", f"too many states: {chosen.description}"
    return search.trace is not None


def _failure_named(name: str) -> Failure:
    return FAILURES[one_of("failure", name, FAILURES)]


def _witnesses(
    settings: Settings, failure: Failure
) -> tuple[tuple[tuple[str, Trace[Delivery, DeliveryEvent]], ...], int]:
    initial, events, limits = _beginning(settings, failure)
    search = survey(_model(settings, failure, CELL_RESULTS), initial, events, at_most=limits, budget=BUDGET)
    assert search.outcome != "budget", f"too many states: {failure.description}"
    found: dict[str, Trace[Delivery, DeliveryEvent]] = {}
    for name, trace in search.traces.items():
        schedule = (*failure.before, *(frame.event for frame in trace if frame.event is not None))
        found[name] = simulate(settings.unordered(), schedule, start(settings))
    return tuple((name, found[name]) for name in CELL_RESULTS if name in found), search.state_count


def _beginning(settings: Settings, failure: Failure) -> tuple[Delivery, list[DeliveryEvent], dict[type, int]]:
    """Where the schedules of a failure begin, what may happen in them, and how often."""
    initial = simulate(settings, failure.before)[-1].state
    named = alphabet(settings.topic, *TRAFFIC, *failure.kinds)
    events: list[DeliveryEvent] = [each for each in named if not _names(each, failure.absent)]
    return initial, events, {Send: failure.send_count, **failure.at_most}


def _names(event: DeliveryEvent, brokers: tuple[int, ...]) -> bool:
    """Whether an event is about one of these brokers."""
    return getattr(event, "broker_id", None) in brokers or getattr(event, "successor", None) in brokers


def _model(settings: Settings, failure: Failure, results: Iterable[str]) -> Model[Settings, Delivery, DeliveryEvent]:
    """The search for these results; one part more says whether the failure has happened."""
    promised = {LOST: NONE_LOST, DOUBLED: NONE_DOUBLED, OUT_OF_ORDER: ORDER_KEPT}
    own = {GIVEN_UP: _is_given_up, OFFLINE: _is_offline, REJECTED: _is_rejected, SAFE: _is_safe}
    tests = [(name, partial(_never, own[name])) for name in results if name in own]
    bare = model(settings, tuple(promised[name] for name in results if name in promised), tests)
    named = {promise: result for result, promise in promised.items()}
    place, failing = places_of_producer(settings.topic)[1] + 1, frozenset(failure.strikes or failure.at_most)

    def split(delivery: Delivery) -> tuple[Hashable, ...]:
        return (*bare.split(delivery), False)

    def happen(parts: Parts, event: DeliveryEvent) -> None:
        bare.happen(parts, event)
        if type(event) in failing:
            parts.write(place, True)

    def wider(each: Relabelling) -> Relabelling:
        def part(at: int, value: Hashable) -> Hashable:
            return value if at == place else each.part(at, value)

        return Relabelling((*each.places, place), part, each.event)

    promises = tuple((named.get(name, name), holds) for name, holds in bare.promises)
    return Model(bare.settings, bare.step, split, happen, promises, tuple(wider(each) for each in bare.relabellings))


def _never(is_so: Callable[[DeliveryProcessing], bool], processing: DeliveryProcessing) -> bool:
    return not is_so(processing)


def _is_given_up(processing: DeliveryProcessing) -> bool:
    """Whether a record is nowhere, and nobody has it any more to send it again."""
    leader_id, producer = processing.acting_leader(), processing.producer
    if leader_id is None:
        return False
    kept = {value for each in producer.put_aside for value in each.values} | producer.on_the_wire
    kept |= {record.value for record in processing.log(leader_id).records}
    return any(error not in (None, NONE) and value not in kept for value, (_, error) in producer.records.items())


def _is_offline(processing: DeliveryProcessing) -> bool:
    if processing.leader_id is not None:
        return False
    return any(processing.broker(broker_id).status == RUNNING for broker_id in processing.settings.broker_ids)


def _is_rejected(processing: DeliveryProcessing) -> bool:
    return any(request.error == "NOT_ENOUGH_REPLICAS" for request in processing.producer.in_flight)


def _is_safe(processing: DeliveryProcessing) -> bool:
    records = processing.producer.records
    if not records or processing.producer.unresolved or not processing.read(processing.appended_place + 1):
        return False
    leader_id = processing.acting_leader()
    if leader_id is None or any(error != NONE for _, error in records.values()):
        return False
    return [record.value for record in processing.log(leader_id).records] == list(records)


def rows(cells: Iterable[Cell]) -> list[dict[str, object]]:
    """The cells as plain rows: the settings, the worst, whether each result can be, how many events lead to the worst.

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
            **{result: result in cell.results for result in CELL_RESULTS},
            "event_count": len(cell.witness()) - 1,
        }
        for cell in cells
    ]
