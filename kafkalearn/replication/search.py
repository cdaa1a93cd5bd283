"""Searching all schedules of a partition: for the shortest way to lose a record, or for settings under which none is.

`find` is the search, `find_stuck` the one for what may never come, `walk` draws long runs by chance; `alphabet` lists
the events that may happen, `model` is what `kafkalearn.base.search.explore` needs. A search meets fewer states where it
takes those for one that have the same future: brokers that no event names apart are interchangeable, and a *normal
form* leaves out what can make no difference later. Where the controller has a choice it may elect any candidate
(``successor``), as if the assignment had the order that does the most harm.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import lru_cache, partial
from itertools import permutations
from typing import Any, Unpack

from kafkalearn.base.checks import iterable, one_of, sequence
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.liveness import Stuck
from kafkalearn.base.liveness import find_stuck as find_stuck_in
from kafkalearn.base.promises import InParts, Promises
from kafkalearn.base.search import EventLimits, Model, Relabelling, Search, explore
from kafkalearn.base.trace import Parts
from kafkalearn.base.walks import Walks
from kafkalearn.base.walks import walk as walk_in
from kafkalearn.replication.events import (
    PREFERRED_ELECTION,
    AlterPartitionAnswered,
    AlterPartitionReassignments,
    ElectLeaders,
    LeaderImbalanceChecked,
    ReplicationEvent,
    TimePassed,
)
from kafkalearn.replication.processing import (
    BROKER,
    CONTROLLER,
    FIRST_REPLICA,
    LEADER,
    LEADING,
    LOG,
    REMOTE_ENDS,
    REMOTES,
    WAITING,
    Normaliser,
    Processing,
    part_at,
    parts_of,
    place_of,
)
from kafkalearn.replication.settings import Assignment, Settings
from kafkalearn.replication.simulator import (
    ACKNOWLEDGED_SURVIVE,
    INVARIANTS,
    IS_LED,
    NOBODY_WAITS,
    PROGRESS,
    PROMISES,
    process,
    step,
)
from kafkalearn.replication.state import (
    UNKNOWN,
    Broker,
    Controller,
    Leadership,
    Partition,
    Remote,
    Waiting,
    start,
)

# Brokers under other names: the rules do not care what they are called, so a search need not either.


def relabelling(names: dict[int, int]) -> Relabelling:
    """Every broker gets the name that `names` has for it."""
    places = [*range(FIRST_REPLICA)]
    for broker_id in sorted(names):
        places += [place_of(part, names[broker_id]) for part in (LOG, BROKER, LEADING, REMOTES, WAITING, REMOTE_ENDS)]
    return Relabelling(tuple(places), partial(_renamed, names), partial(_renamed_event, (*names.items(),)))


_SINGLE = ("broker_id", "successor", "to_broker", "leader")
"""The fields of events that hold a broker, or None."""

_SEVERAL = ("isr", "replicas")
"""Those that hold several; in a search their order says nothing."""


def named_in(event: ReplicationEvent) -> tuple[int, ...]:
    """The brokers that an event names.

    >>> from kafkalearn.replication.events import LeaderElected, Produce
    >>> named_in(LeaderElected(1, (1, 2))), named_in(Produce())
    ((1, 1, 2), ())
    """
    single = (getattr(event, field.name) for field in fields(event) if field.name in _SINGLE)
    several = (getattr(event, name, None) or () for name in _SEVERAL)
    return (*(each for each in single if each is not None), *(each for group in several for each in group))


def _renamed_one(names: dict[int, int], broker: int | None) -> int | None:
    return None if broker is None else names.get(broker)


def _renamed_set(names: dict[int, int], brokers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(names[each] for each in brokers))


@lru_cache(maxsize=4096)  # every search renames the same few events
def _renamed_event(pairs: tuple[tuple[int, int], ...], event: ReplicationEvent) -> ReplicationEvent:
    names = dict(pairs)
    renamed: dict[str, Any] = {
        field.name: _renamed_one(names, getattr(event, field.name)) for field in fields(event) if field.name in _SINGLE
    }
    for name in _SEVERAL:
        if getattr(event, name, None) is not None:
            renamed[name] = _renamed_set(names, getattr(event, name))
    return replace(event, **renamed)


def _renamed(names: dict[int, int], place: int, part: object) -> object:
    """A part with brokers renamed; logs, the clock and the ledger name none."""
    rename = _RENAMINGS.get(part_at(place))
    return part if rename is None or part is None else rename(names, part)


def _rename_controller(names: dict[int, int], controller: Controller) -> Controller:
    return controller._replace(
        leader=_renamed_one(names, controller.leader),
        isr=_renamed_set(names, controller.isr),
        elr=_renamed_set(names, controller.elr),
        last_known_leader=_renamed_one(names, controller.last_known_leader),
        fenced=_renamed_set(names, controller.fenced),
        assignment=Assignment(*(_renamed_set(names, each) for each in controller.assignment)),
        stopping=_renamed_set(names, controller.stopping),
    )


def _rename_broker(names: dict[int, int], broker: Broker) -> Broker:
    return broker._replace(leader=_renamed_one(names, broker.leader))


def _rename_leading(names: dict[int, int], leading: Leadership) -> Leadership:
    proposal = leading.proposal and leading.proposal._replace(isr=_renamed_set(names, leading.proposal.isr))
    return leading._replace(isr=_renamed_set(names, leading.isr), proposal=proposal)


def _rename_remotes(names: dict[int, int], remotes: tuple[Remote | None, ...]) -> tuple[Remote | None, ...]:
    by_name = {names[broker_id]: remote for broker_id, remote in enumerate(remotes, start=1)}
    return tuple(by_name[name] for name in sorted(by_name))


def _rename_waiting(names: dict[int, int], waiting: Waiting) -> Waiting:
    renamed = (parked._replace(broker_id=names[parked.broker_id]) for parked in waiting.fetches)
    return waiting._replace(fetches=tuple(renamed))


_RENAMINGS: Mapping[int, Callable[[dict[int, int], Any], object]] = {  # each takes the parts of its place
    LEADER: _renamed_one,
    CONTROLLER: _rename_controller,
    BROKER: _rename_broker,
    LEADING: _rename_leading,
    REMOTES: _rename_remotes,
    REMOTE_ENDS: _rename_remotes,
    WAITING: _rename_waiting,
}


# The normal form: times count from now on, partition epochs from the controller's; requests lose their numbers, and a
# leader's memory of a fetch is kept only while it can still show anything.


def _essential_remotes(remotes: tuple[Remote | None, ...]) -> tuple[Remote | None, ...]:
    return tuple([remote and _essential(remote) for remote in remotes])


def _essential(remote: Remote) -> Remote:
    """The last fetch matters only if the next could show that the follower was caught up then, and that were news."""
    end_offset, _, caught_up_ms, fetch_ms, leader_end, sent = remote  # made anew at once: a search does it often
    if fetch_ms is None or (caught_up_ms is not None and fetch_ms <= caught_up_ms):
        fetch_ms, leader_end = None, UNKNOWN
    return Remote(end_offset, UNKNOWN, caught_up_ms, fetch_ms, leader_end, sent)


def _without_numbers(waiting: Waiting) -> Waiting:
    if not waiting.produces:
        return waiting
    return waiting._replace(produces=tuple(parked._replace(request=0) for parked in waiting.produces))


NORMALISER = Normaliser(_essential_remotes, _without_numbers, lambda requests: requests._replace(request_count=0))
"""What a leader will not use of its followers goes, and so do the numbers of requests, which are for reading only."""

UNANSWERED = NORMALISER._replace(
    waiting=lambda waiting: waiting._replace(produces=()) if waiting.produces else waiting,
    acknowledged=lambda acknowledged: (),
)
"""The same where nobody asks what producers were answered: who waits for an answer, and who has one, goes too.

No rule looks at either but to answer: whether a record was written with ``acks=all`` or ``acks=1`` makes two states of
one otherwise.
"""

ABOUT_ANSWERS = frozenset({ACKNOWLEDGED_SURVIVE, NOBODY_WAITS})
"""The statements that look at what producers were answered."""


def split(settings: Settings, partition: Partition, normaliser: Normaliser = NORMALISER) -> tuple[Hashable, ...]:
    """The parts of a partition in normal form."""
    parts = Parts(parts_of(partition))
    processing = Processing(settings, parts, normaliser)
    processing.requests = processing.requests
    processing.acknowledged = processing.acknowledged
    for broker_id in settings.broker_ids:
        processing.put_waiting(broker_id, processing.waiting(broker_id))
        if remotes := processing.remotes(broker_id):
            processing.put_remotes(broker_id, remotes)
    processing.controller = processing.controller._replace(assignment=processing.controller.assignment.in_no_order())
    _count_from_now(processing)
    _count_from_this_record(processing)
    return parts.all()


def process_in_normal_form(settings: Settings, normaliser: Normaliser, parts: Parts, event: ReplicationEvent) -> None:
    """`kafkalearn.replication.simulator.process` on parts in normal form, which they stay in."""
    processing = Processing(settings, parts, normaliser)
    process(processing, event)
    count_anew(processing, event)


def count_anew(processing: Processing, event: object) -> None:
    """Times and epochs counted from this moment on, if the event has moved them."""
    if isinstance(event, TimePassed):
        _count_from_now(processing)
    if processing.has_recorded:
        _count_from_this_record(processing)


def _count_from_now(processing: Processing) -> None:
    """Times counted from now on, and none older than can matter."""
    now_ms, oldest_ms = processing.now_ms, -processing.settings.replica_lag_time_max_ms - 1
    processing.now_ms = 0
    for broker_id in processing.settings.broker_ids:
        remotes = processing.remotes(broker_id)
        if remotes:
            counted = tuple([each and _remote_from(each, now_ms, oldest_ms) for each in remotes])
            if counted != remotes:
                processing.put_remotes(broker_id, counted)
            processing.put_waiting(broker_id, _waiting_from(processing.waiting(broker_id), now_ms))


def _remote_from(remote: Remote, now_ms: int, oldest_ms: int) -> Remote:
    end_offset, start_offset, caught_up_ms, fetch_ms, leader_end, sent = remote
    caught_up_ms = _time_from(caught_up_ms, now_ms, oldest_ms)
    return Remote(end_offset, start_offset, caught_up_ms, _time_from(fetch_ms, now_ms, oldest_ms), leader_end, sent)


def _time_from(time_ms: int | None, now_ms: int, oldest_ms: int) -> int | None:
    return None if time_ms is None else max(time_ms - now_ms, oldest_ms)


def _waiting_from(waiting: Waiting, now_ms: int) -> Waiting:
    return Waiting(
        fetches=tuple(parked._replace(deadline_ms=max(parked.deadline_ms - now_ms, 0)) for parked in waiting.fetches),
        produces=tuple(parked._replace(deadline_ms=max(parked.deadline_ms - now_ms, 0)) for parked in waiting.produces),
    )


def _count_from_this_record(processing: Processing) -> None:
    """Partition epochs counted from the controller's on."""
    controller = processing.controller
    if controller.partition_epoch == 0:
        return
    processing.controller = controller._replace(partition_epoch=0)
    for broker_id in processing.settings.broker_ids:
        leading = processing.leading(broker_id)
        if leading is not None:
            epoch = leading.partition_epoch - controller.partition_epoch
            processing.put_leading(broker_id, leading._replace(partition_epoch=epoch))


# The search: its model, its events, and `find`, which puts the two together.

MOST_BROKERS = 6  # a search tries every renaming of the brokers: 720 of six


def renamings(broker_ids: tuple[int, ...]) -> tuple[dict[int, int], ...]:
    """Every way to give the brokers each other's names, but the one that leaves all as they are.

    Raises
    ------
    KafkaLearnError
        If there are more brokers than a search can be made for.
    """
    if len(sequence("broker_ids", broker_ids)) > MOST_BROKERS:
        raise KafkaLearnError(
            f"a search is for at most {MOST_BROKERS} brokers, got {len(broker_ids)}; take fewer replicas"
        )
    orders = (order for order in permutations(broker_ids) if order != broker_ids)
    return tuple(dict(zip(broker_ids, order, strict=True)) for order in orders)


def model(
    settings: Settings, promises: Iterable[str] = tuple(PROMISES)
) -> Model[Settings, Partition, ReplicationEvent]:
    """A partition as a search sees it.

    Parameters
    ----------
    settings : Settings
        Their assignment only decides who leads at the start.
    promises : iterable of str
        Names in `PROMISES`: the search looks for a state that breaks one of them. `INVARIANTS` about one state can be
        named too, to see that no schedule breaks them, and `PROGRESS`, for `find_stuck`.

    Raises
    ------
    KafkaLearnError
        If there is no promise of that name.
    """
    unordered = replace(settings, assignment=())
    named = tuple(tests_of({**INVARIANTS, **PROMISES, **PROGRESS}, settings, promises))
    normaliser = NORMALISER if ABOUT_ANSWERS & {name for name, _ in named} else UNANSWERED
    return Model(
        settings=unordered,
        step=step,
        split=partial(split, unordered, normaliser=normaliser),
        happen=partial(process_in_normal_form, unordered, normaliser),
        promises=tuple((name, partial(_holds, unordered, test)) for name, test in named),
        relabellings=tuple(map(relabelling, renamings(settings.broker_ids))),
    )


def tests_of(
    statements: Promises, settings: object, names: Iterable[str]
) -> Iterator[tuple[str, Callable[[Processing], bool]]]:
    """The tests of the statements with these names, each with its name; a search remembers them one by one."""
    in_parts: dict[str, InParts[Any, Any, Processing]] = {
        name: each for name, each in statements.items() if isinstance(each, InParts)
    }
    for name in iterable("promises", names, of="names"):
        one_of("promise", name, in_parts)
        yield from ((name, test) for test in in_parts[name].tests(settings))


def _holds(settings: Settings, test: Callable[[Processing], bool], parts: Parts) -> bool:
    return test(Processing(settings, parts))


@dataclass(frozen=True, slots=True)
class OnEveryBroker:
    """An event that may happen to every broker; `on_every_broker` makes one."""

    event: ReplicationEvent


def on_every_broker(event: ReplicationEvent) -> OnEveryBroker:
    """An event for `find` that may happen to every broker, not only to the one it names.

    Raises
    ------
    KafkaLearnError
        If the event names no broker that it happens to.

    Examples
    --------
    >>> from kafkalearn.replication.events import PowerLost
    >>> alphabet(Settings(replica_count=2), on_every_broker(PowerLost(1, flushed_to=5)))
    (PowerLost(broker_id=1, flushed_to=5), PowerLost(broker_id=2, flushed_to=5))
    """
    if isinstance(event, type):
        raise KafkaLearnError(f"the class {event.__name__} stands for every broker already: give it as it is")
    if getattr(event, "broker_id", None) is None:
        raise KafkaLearnError(f"{shown(event)} names no broker that it happens to: give it as it is")
    return OnEveryBroker(event)


def alphabet(settings: Settings, *kinds: type | ReplicationEvent | OnEveryBroker) -> tuple[ReplicationEvent, ...]:
    """The events that a search may use: a class for every broker, an event for itself.

    Parameters
    ----------
    settings : Settings
        How many brokers there are.
    kinds : event classes or events
        A class stands for its event with the defaults, for every broker. An event stands for itself, with the broker
        it names; `on_every_broker` makes it one of every broker. Where the controller may have a choice and the event
        names no successor, there is one event for each successor too.

    Raises
    ------
    KafkaLearnError
        If one of them is neither, or names a broker that does not exist.

    Examples
    --------
    >>> from kafkalearn.replication.events import Fetch, Produce, SessionExpired
    >>> alphabet(Settings(replica_count=2), Produce(acks=1), Fetch)[1:]
    (Fetch(broker_id=1), Fetch(broker_id=2))
    >>> alphabet(Settings(replica_count=2), Fetch(2))
    (Fetch(broker_id=2),)
    >>> alphabet(Settings(replica_count=2), SessionExpired)[::3]
    (SessionExpired(broker_id=1, successor=None), SessionExpired(broker_id=2, successor=1))
    """
    may_reassign = any(
        kind is AlterPartitionReassignments or isinstance(kind, AlterPartitionReassignments) for kind in kinds
    )
    return tuple(event for kind in kinds for event in _events_of(settings.broker_ids, kind, may_reassign))


def _events_of(
    broker_ids: tuple[int, ...], kind: type | ReplicationEvent | OnEveryBroker, may_reassign: bool
) -> Iterator[ReplicationEvent]:
    if not is_dataclass(kind):
        raise KafkaLearnError(f"{shown(kind)} is neither a class of events nor an event")
    events: list[ReplicationEvent]
    if isinstance(kind, OnEveryBroker):
        events = [_with(kind.event, broker_id=broker_id) for broker_id in broker_ids]
    elif isinstance(kind, type):
        needs_broker = any(field.name == "broker_id" and field.default is MISSING for field in fields(kind))
        make: Any = kind  # a class of events
        events = [make(broker_id) for broker_id in broker_ids] if needs_broker else [make()]
    else:
        events = [kind]
    for event in events:
        for broker_id in named_in(event):
            if broker_id not in broker_ids:
                raise KafkaLearnError(
                    f"{event!r}: there is no broker {broker_id!r}; there are {broker_ids[0]} to {broker_ids[-1]}"
                )
        if not _means_the_preferred(event):
            yield event
        if getattr(event, "successor", event) is None and (
            may_reassign or not isinstance(event, AlterPartitionAnswered)
        ):
            others = (successor for successor in broker_ids if successor != getattr(event, "broker_id", None))
            yield from (_with(event, successor=successor) for successor in others)


def _means_the_preferred(event: ReplicationEvent) -> bool:
    """Whether it is about the first replica of an assignment, which in a search has no order: each may be it."""
    return getattr(event, "successor", event) is None and (
        isinstance(event, LeaderImbalanceChecked)
        or (isinstance(event, ElectLeaders) and event.election_type == PREFERRED_ELECTION)
    )


def _with(event: Any, **brokers: int) -> ReplicationEvent:
    """An event with other brokers in fields that it has."""
    return replace(event, **brokers)


def find(
    settings: Settings,
    kinds: Sequence[type | ReplicationEvent | OnEveryBroker],
    promises: Iterable[str] = tuple(PROMISES),
    **limits: Unpack[EventLimits],
) -> Search[Partition, ReplicationEvent]:
    """The shortest run of a new partition that breaks one of these promises, or the answer that there is none.

    Parameters
    ----------
    settings : Settings
        ``fetch_wait_max_ms=0`` spares the search fetches that wait; it changes no outcome.
    kinds : sequence of event classes or events
        As for `alphabet`: ``BrokerCrashed`` crashes any broker, ``BrokerCrashed(2)`` broker 2 alone.
    promises : iterable of str
        As for `model`.
    limits
        ``depth``, ``budget``, ``at_most`` and ``progress``, as for `kafkalearn.base.search.explore`.

    Examples
    --------
    >>> from kafkalearn.replication.events import BrokerCrashed, Fetch, Produce, SessionExpired
    >>> from kafkalearn.replication.simulator import ACKNOWLEDGED_SURVIVE
    >>> settings = Settings(fetch_wait_max_ms=0)
    >>> found = find(settings, [Produce(acks=1), Fetch, BrokerCrashed, SessionExpired], (ACKNOWLEDGED_SURVIVE,))
    >>> [type(frame.event).__name__ for frame in found.trace[1:]]
    ['Produce', 'BrokerCrashed', 'SessionExpired']
    >>> a_follower = [BrokerCrashed(2), SessionExpired(2)]
    >>> find(settings, [Produce(acks=1), Fetch, *a_follower], (ACKNOWLEDGED_SURVIVE,), at_most={Produce: 1}).outcome
    'nothing left'
    """
    events = alphabet(settings, *iterable("kinds", kinds, of="event classes or events"))
    return explore(model(settings, promises), start(settings), events, **limits)


def find_stuck(
    settings: Settings,
    kinds: Sequence[type | ReplicationEvent | OnEveryBroker],
    promise: str = IS_LED,
    *,
    fair: Iterable[type | ReplicationEvent | OnEveryBroker] | None = None,
    depth: int | None = None,
    budget: int = 200_000,
    at_most: Mapping[type, int] | None = None,
) -> Stuck[Partition, ReplicationEvent]:
    """The shortest way of a new partition into a dead end, or a loop, in which a promise of progress is never kept.

    Parameters
    ----------
    settings, kinds
        As for `find`; ``fetch_wait_max_ms=0`` keeps the states few.
    promise : str
        A name in `PROGRESS`.
    fair : iterable of event classes or events, optional
        What happens at last if it stays possible: ``Fetch`` says that each live broker fetches again. If not given, all
        kinds without a limit.
    depth, budget, at_most
        As for `kafkalearn.base.liveness.find_stuck`.

    Examples
    --------
    One of two brokers may die for good, both may not.

    >>> from kafkalearn.replication.events import BrokerCrashed, Fetch, SessionExpired
    >>> kinds = [Fetch, BrokerCrashed, SessionExpired]
    >>> settings = Settings(replica_count=2, fetch_wait_max_ms=0)
    >>> find_stuck(settings, kinds, at_most={BrokerCrashed: 1}).outcome
    'nothing left'
    >>> find_stuck(settings, kinds, at_most={BrokerCrashed: 2})
    found: after 4 events nothing that has to happen can, and it never comes: a leader answers
    a run of 5 moments, the last a dead end
      0  the start
      1  BrokerCrashed(broker_id=1)
      2  BrokerCrashed(broker_id=2)
      3  SessionExpired(broker_id=1)
      4  SessionExpired(broker_id=2)
    """
    events = alphabet(settings, *iterable("kinds", kinds, of="event classes or events"))
    one_of("promise", promise, PROGRESS)
    must = None if fair is None else alphabet(settings, *iterable("fair", fair, of="event classes or events"))
    searched = model(settings, (promise,))
    return find_stuck_in(searched, start(settings), events, fair=must, depth=depth, budget=budget, at_most=at_most)


def walk(
    settings: Settings,
    kinds: Sequence[type | ReplicationEvent | OnEveryBroker],
    promises: Iterable[str] = tuple(PROMISES),
    *,
    seed: int = 0,
    walk_count: int = 200,
    length: int = 200,
    at_most: Mapping[type, int] | None = None,
) -> Walks[Partition, ReplicationEvent]:
    """Long runs of a new partition, drawn by chance: which promises they break, and what they have not seen.

    For what `find` cannot come to the end of: many brokers, many records, many kinds of events.

    Parameters
    ----------
    settings, kinds, promises
        As for `find`.
    seed, walk_count, length, at_most
        As for `kafkalearn.base.walks.walk`.

    Examples
    --------
    >>> from kafkalearn.replication.events import BrokerCrashed, BrokerStarted, Fetch, Produce, SessionExpired
    >>> kinds = [Produce(acks=1), Fetch, BrokerCrashed, BrokerStarted, SessionExpired]
    >>> found = walk(Settings(replica_count=5), kinds, ("acknowledged records survive",), walk_count=20)
    >>> [type(frame.event).__name__ for frame in found.traces["acknowledged records survive"][1:]]
    ['Produce', 'BrokerCrashed', 'BrokerCrashed', 'BrokerStarted', 'SessionExpired']
    """
    events = alphabet(settings, *iterable("kinds", kinds, of="event classes or events"))
    searched = model(settings, promises)
    limits = {"walk_count": walk_count, "length": length}
    return walk_in(searched, start(settings), events, seed=seed, at_most=at_most, **limits)
