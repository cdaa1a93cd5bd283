"""The simulator of a coordinator's life: which event leads to which rule, and what holds.

>>> from kafkalearn.operations.coordinator_life import BrokerFenced, LoadRead, OrderCarriedOut
>>> trace = simulate(Settings(), [BrokerFenced(1), OrderCarriedOut(2, 1), LoadRead(2)])
>>> [broken(Settings(), frame.state) for frame in trace]
[(), (), (), ()]
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import IllegalEvent, listed, no_event, refusing_events, shown
from kafkalearn.base.promises import Promises, Since, of_inner
from kafkalearn.base.simulator import simulator
from kafkalearn.offsets.replay import Group, Member
from kafkalearn.offsets.store import model as store_model
from kafkalearn.offsets.store import simulator as store_simulator
from kafkalearn.offsets.store.simulator import logged_groups
from kafkalearn.operations import leadership
from kafkalearn.operations.coordinator_life import model
from kafkalearn.operations.coordinator_life.model import Coordinator, Event, Life, Order, Request, Settings
from kafkalearn.operations.leadership import INVARIANTS as LEADERSHIP_INVARIANTS
from kafkalearn.operations.leadership import Cluster
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least

_OF_BROKERS = (
    model.BrokerFenced,
    model.BrokerUnfenced,
    model.ElectLeaders,
    model.LeaderImbalanceChecked,
    model.TimePassed,
)


@refusing_events
def step(settings: Settings, life: Life, event: Event) -> Life:
    """The life after `event`; its ``effects`` say what was ordered, loaded, ignored, answered.

    Raises
    ------
    IllegalEvent
        If it makes no sense: there is no such broker or order, no load is under way.

    Examples
    --------
    >>> from kafkalearn.operations.coordinator_life import BrokerUnfenced, BrokerFenced, CoordinatorStarted
    >>> settings = Settings("2.8.0")  # the order to resign comes after the one to take over again
    >>> moved = simulate(settings, [BrokerFenced(1), BrokerUnfenced(1), CoordinatorStarted(1)])[-1].state
    >>> [moved.leader, moved.partition.leader_epoch, moved.coordinator(2).orders]
    [2, 1, (Order(kind='election', epoch=1),)]

    References
    ----------
    Apache Kafka, ``GroupCoordinator`` with ``GroupMetadataManager`` (1.1 to 3.9; KAFKA-10614 in 2.8.1),
    ``GroupCoordinatorService`` with ``CoordinatorRuntime`` and ``CoordinatorLoaderImpl`` (the only one since 4.0).
    """
    _require_broker(settings, event)
    life = replace(life, effects=())
    match event:
        case (
            model.BrokerFenced()
            | model.BrokerUnfenced()
            | model.ElectLeaders()
            | model.LeaderImbalanceChecked()
            | model.TimePassed()
        ):
            cluster = leadership.step(settings.leadership, life.cluster, event)
            life = follow(settings, life, cluster)
            return run_timers(settings, life) if isinstance(event, model.TimePassed) else life
        case model.CoordinatorStarted():
            return _started(settings, life, event)
        case model.OrderCarriedOut():
            return carry_out(settings, life, event)
        case model.LoadRead():
            return read(settings, life, event)
        case Request():
            return ask(settings, life, event)
        case model.GroupStored():
            return store_group(settings, life, event)
        case model.TransactionEnded():
            return end_transaction(settings, life, event)
    raise no_event(
        event,
        (
            *_OF_BROKERS,
            model.CoordinatorStarted,
            model.OrderCarriedOut,
            model.LoadRead,
            Request,
            model.GroupStored,
            model.TransactionEnded,
        ),
    )


def _require_broker(settings: Settings, event: object) -> None:
    broker_id = getattr(event, "broker_id", None)
    if broker_id is not None and broker_id not in settings.broker_ids:
        raise IllegalEvent(f"{shown(event)}: there is no broker {broker_id}; there are {listed(settings.broker_ids)}")


def _started(settings: Settings, life: Life, event: model.CoordinatorStarted) -> Life:
    coordinator = life.coordinator(event.broker_id)
    if not life.is_up(event.broker_id) or coordinator.is_active:
        is_now = "has started already" if coordinator.is_active else "is down; BrokerUnfenced comes first"
        raise IllegalEvent(f"{shown(event)}: broker {event.broker_id} {is_now}")
    sweep_ms = life.now_ms if settings.has_one_thread else None
    life = life.with_coordinator(coordinator._replace(is_active=True, next_sweep_ms=sweep_ms))
    return run_timers(settings, life)


# Elections and resignations: how they come to a broker, and what it makes of an order that comes late.

OLDER, LOADING_ALREADY, ACTIVE_ALREADY, NEVER_LOADED = (
    "its epoch is not newer", "a load is under way", "the coordinator is active already", "it was never loaded",
)  # fmt: skip


def follow(settings: Settings, life: Life, cluster: Cluster) -> Life:
    """The life after the controller has changed something: who was lost has forgotten all, the others get orders."""
    before, after = life.leader, cluster.partitions[0]
    life = replace(life, cluster=cluster, effects=(*life.effects, *cluster.effects))
    for each in life.coordinators:
        if not life.is_up(each.broker_id):
            life = life.with_coordinator(Coordinator(each.broker_id, is_active=False))
    if after.leader == before:
        return life
    if before is not None and life.is_up(before):
        life = _issue(settings, life, before, Order(model.RESIGNATION, after.leader_epoch))
    if after.leader is not None:
        life = _issue(settings, life, after.leader, Order(model.ELECTION, after.leader_epoch))
    return life


def _issue(settings: Settings, life: Life, broker_id: int, order: Order) -> Life:
    """From 2.0 to 2.8.0 the partition counts as loading from the moment that the order has come."""
    coordinator = life.coordinator(broker_id)
    life = life.with_effects(model.OrderIssued(broker_id, *order))
    if settings.order_rule == model.ON_ARRIVAL and order.kind == model.ELECTION:
        if coordinator.is_loading:
            return life.with_effects(model.OrderIgnored(broker_id, *order, LOADING_ALREADY))
        coordinator = coordinator._replace(is_loading=True)
    return life.with_coordinator(coordinator._replace(orders=(*coordinator.orders, order)))


def carry_out(settings: Settings, life: Life, event: model.OrderCarriedOut) -> Life:
    """The life after a broker has carried out one of its orders.

    Up to 2.8.0 every order counts, whenever it comes. From 2.8.1 to 3.9 one of an older epoch is ignored, since 4.0
    one of the same epoch, too; there a resignation ends even a load that is under way.
    """
    coordinator = life.coordinator(event.broker_id)
    order = next((each for each in coordinator.orders if each.epoch == event.epoch), None)
    if order is None:
        waiting = listed(each.epoch for each in coordinator.orders)
        raise IllegalEvent(f"{shown(event)}: orders that wait on broker {event.broker_id} have the epochs: {waiting}")
    if order != coordinator.orders[0] and not settings.orders_may_overtake:
        raise IllegalEvent(
            f"{shown(event)}: orders of {settings.release} come from one thread, that of epoch "
            f"{coordinator.orders[0].epoch} is before it; Settings(orders_may_overtake=True) shows what would happen"
        )
    if coordinator.is_reading and settings.has_one_thread:
        raise IllegalEvent(
            f"{shown(event)}: the one thread of broker {event.broker_id} is busy with a load; LoadRead comes first"
        )
    left = tuple(each for each in coordinator.orders if each != order)
    life = life.with_coordinator(coordinator._replace(orders=left))
    reason = _refused(settings, life.coordinator(event.broker_id), order)
    if reason is not None:
        return _ignored(settings, life, event.broker_id, order, reason)
    return (_elected if order.kind == model.ELECTION else _resigned)(settings, life, event.broker_id, order)


def _refused(settings: Settings, coordinator: Coordinator, order: Order) -> str | None:
    """Why an order comes to nothing; None: it counts."""
    rule, known = settings.order_rule, coordinator.known_epoch
    if rule == model.BY_EPOCH and order.epoch < known:
        return OLDER
    if rule == model.BY_RUNTIME:
        if order.kind == model.RESIGNATION and known == model.NEVER:
            return NEVER_LOADED
        if order.epoch <= known:
            return OLDER
        if order.kind == model.ELECTION and (coordinator.is_owned or coordinator.is_loading):
            return ACTIVE_ALREADY if coordinator.is_owned else LOADING_ALREADY
    return None


def _ignored(settings: Settings, life: Life, broker_id: int, order: Order, reason: str) -> Life:
    """A newer epoch is remembered, though the order changes nothing else."""
    coordinator = life.coordinator(broker_id)
    if reason in (ACTIVE_ALREADY, LOADING_ALREADY):
        coordinator = coordinator._replace(known_epoch=order.epoch)
    return life.with_coordinator(coordinator, model.OrderIgnored(broker_id, *order, reason))


def _remembered(settings: Settings, coordinator: Coordinator, epoch: int) -> int:
    return epoch if settings.order_rule in (model.BY_EPOCH, model.BY_RUNTIME) else coordinator.known_epoch


def _elected(settings: Settings, life: Life, broker_id: int, order: Order) -> Life:
    coordinator = life.coordinator(broker_id)
    loading = coordinator._replace(
        is_loading=True,
        is_reading=True,
        is_failed=False,
        read_count=0,
        known_epoch=_remembered(settings, coordinator, order.epoch),
    )
    return life.with_coordinator(loading, model.LoadBegun(broker_id, order.epoch))


def _resigned(settings: Settings, life: Life, broker_id: int, order: Order) -> Life:
    """Nothing of the groups is left in memory. The runtime of 4.0 forgets even the epoch, with all else."""
    coordinator = life.coordinator(broker_id)
    rule = settings.order_rule
    known_epoch = model.NEVER if rule == model.BY_RUNTIME else _remembered(settings, coordinator, order.epoch)
    gone = coordinator._replace(
        is_owned=False,
        is_loading=coordinator.is_loading and rule not in (model.BY_EPOCH, model.BY_RUNTIME),
        is_reading=False,
        is_failed=False,
        known_epoch=known_epoch,
        groups=(),
        sessions=(),
        next_sweep_ms=coordinator.next_sweep_ms if settings.has_one_thread else None,
    )
    return life.with_coordinator(gone, model.Resigned(broker_id, order.epoch, len(coordinator.groups)))


# The load: the log is read into memory, then members get their session timeouts, and requests their answers.

NO_LEADER, BAD_RECORD = "the broker does not lead the partition", "a record could not be read"


def read(settings: Settings, life: Life, event: model.LoadRead) -> Life:
    """The life after a load has read on.

    Who does not lead the partition reads nothing. Since 4.0 that is a failure; before, the load ended there, and the
    broker owned a partition of which it knew no group.
    """
    coordinator = life.coordinator(event.broker_id)
    if not coordinator.is_reading:
        raise IllegalEvent(
            f"{shown(event)}: broker {event.broker_id} is {coordinator.status}, no load is under way; "
            "OrderCarriedOut of an election begins one"
        )
    if life.leader != event.broker_id:
        if not settings.has_one_thread:
            return _failed(life, coordinator, NO_LEADER)
        return _ended(settings, life, coordinator, logged_groups(life.log[: coordinator.read_count]))
    before = store_model.Store(store_model.LOADING, log=life.log, read_count=coordinator.read_count)
    after = store_simulator.step(settings.store, before, store_model.Load(event.record_count))
    if after.status == store_model.FAILED:
        return _failed(life, coordinator, BAD_RECORD)
    coordinator = coordinator._replace(read_count=after.read_count)
    if after.status == store_model.LOADING:
        return life.with_coordinator(coordinator)
    return _ended(settings, life, coordinator, after.groups)


def _failed(life: Life, coordinator: Coordinator, reason: str) -> Life:
    failed = coordinator._replace(is_owned=False, is_loading=False, is_reading=False, is_failed=True)
    return life.with_coordinator(failed, model.LoadFailed(coordinator.broker_id, reason))


def _ended(settings: Settings, life: Life, coordinator: Coordinator, loaded: tuple[Group, ...]) -> Life:
    """What was in memory already stays as it was there: a second load adds only groups that are missing."""
    cached = {group.group_id for group in coordinator.groups}
    new = [group for group in loaded if group.group_id not in cached]
    sessions = (
        model.Session(group.group_id, member.member_id, life.now_ms + settings.session_timeout_ms)
        for group in new
        for member in group.members
    )
    sweep_ms = coordinator.next_sweep_ms if settings.has_one_thread else life.now_ms + settings.check_interval_ms
    ended = coordinator._replace(
        is_owned=True,
        is_loading=False,
        is_reading=False,
        groups=tuple(sorted((*coordinator.groups, *new), key=lambda group: group.group_id)),
        sessions=(*coordinator.sessions, *sessions),
        next_sweep_ms=sweep_ms,
    )
    return life.with_coordinator(ended, model.LoadEnded(coordinator.broker_id, coordinator.read_count, len(loaded)))


# What a broker answers while it is no coordinator, while it loads, and while it is one.

NONE, NOT_AVAILABLE = "NONE", "COORDINATOR_NOT_AVAILABLE"
NOT_COORDINATOR, LOAD_IN_PROGRESS = "NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"
REBALANCE_IN_PROGRESS, UNKNOWN_MEMBER_ID = "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID"
TOPIC, PARTITION = "orders", 0


def answer_without_group(
    api: str, release: str = DEFAULT_RELEASE, *, is_owned: bool, is_loading: bool, is_active: bool = True
) -> str | None:
    """What a broker answers before it looks at the group; None: it looks at the group.

    Up to 1.1 brokers looked first whether they own the partition, which they did after the load only: so clients
    heard NOT_COORDINATOR during it, and searched. Since 2.0 they hear that the load is under way, and wait.
    A heartbeat is accepted blindly. To a SyncGroup the answer is REBALANCE_IN_PROGRESS up to 3.9, since old clients
    know no other; brokers of 4.0 and later answer as to all else.

    Parameters
    ----------
    api : str
        A name in `APIS`.
    release : str
        Of the broker, 1.1 or later.
    is_owned, is_loading, is_active : bool
        Whether the partition is loaded, is being loaded, and the coordinator was started.

    Examples
    --------
    >>> from kafkalearn.operations.coordinator_life.model import COMMIT, HEARTBEAT, SYNC
    >>> for release in ("1.1", "3.9", "4.3"):
    ...     [answer_without_group(api, release, is_owned=False, is_loading=True) for api in (HEARTBEAT, SYNC, COMMIT)]
    ['NOT_COORDINATOR', 'NOT_COORDINATOR', 'NOT_COORDINATOR']
    ['NONE', 'REBALANCE_IN_PROGRESS', 'COORDINATOR_LOAD_IN_PROGRESS']
    ['NONE', 'COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_LOAD_IN_PROGRESS']

    References
    ----------
    Apache Kafka 1.1, ``GroupCoordinator.handleHeartbeat`` and its neighbours; 2.0 to 3.9,
    ``GroupCoordinator.validateGroupStatus``; since 4.0 ``CoordinatorRuntime.withActiveContextOrThrow`` and
    ``GroupCoordinatorService``.
    """
    one_of("api", api, model.APIS)
    model.ANSWERS_FOR.check(release)
    if not is_active:
        return NOT_AVAILABLE
    is_checked_first = at_least("2.0", release)
    if not is_owned and not (is_checked_first and is_loading):
        return NOT_COORDINATOR
    if is_loading:
        return _while_loading(api, release)
    return None


def _while_loading(api: str, release: str) -> str | None:
    if api == model.HEARTBEAT:
        return NONE
    if api == model.SYNC and not at_least("4.0", release):
        return REBALANCE_IN_PROGRESS if at_least("2.0", release) else None
    return LOAD_IN_PROGRESS


def answers(settings: Settings, coordinator: Coordinator, api: str) -> bool:
    """Whether a broker answers a request from its memory of the group."""
    return _refusal(settings, coordinator, api) is None


def _refusal(settings: Settings, coordinator: Coordinator, api: str) -> str | None:
    return answer_without_group(
        api,
        settings.release,
        is_owned=coordinator.is_owned,
        is_loading=coordinator.is_loading,
        is_active=coordinator.is_active,
    )


def ask(settings: Settings, life: Life, event: Request) -> Life:
    """The life after a request; its answer is an effect."""
    broker_id, api, group_id = event.broker_id, event.api, event.group_id
    if not life.is_up(broker_id):
        return life.with_effects(model.NotReached(broker_id, api, group_id))
    if api == model.FIND:
        error = NOT_AVAILABLE if life.leader is None else NONE
        return life.with_effects(model.Answered(broker_id, api, group_id, error, life.leader))
    coordinator = life.coordinator(broker_id)
    error = _refusal(settings, coordinator, api)
    if error is not None:
        return life.with_effects(model.Answered(broker_id, api, group_id, error))
    if api == model.COMMIT:
        return _commit(settings, life, event)
    if api == model.FETCH:
        answer = _on(settings, life, coordinator, store_model.Fetch(group_id, TOPIC, PARTITION)).effects[0]
        return life.with_effects(model.Answered(broker_id, api, group_id, answer.error, answer.offset))
    if api in (model.HEARTBEAT, model.CONSUMER_HEARTBEAT, model.SYNC):
        return _of_member(settings, life, coordinator, event)
    return life.with_effects(model.Answered(broker_id, api, group_id, NONE))


def _on(settings: Settings, life: Life, coordinator: Coordinator, event: store_model.StoreEvent) -> store_model.Store:
    return store_simulator.step(
        settings.store, store_model.Store(store_model.OWNED, log=life.log, groups=coordinator.groups), event
    )


def _commit(settings: Settings, life: Life, event: Request) -> Life:
    """Who does not lead the partition cannot append: the client hears NOT_COORDINATOR."""
    broker_id, group_id = event.broker_id, event.group_id
    coordinator = life.coordinator(broker_id)
    if life.leader != broker_id:
        return life.with_effects(model.Answered(broker_id, model.COMMIT, group_id, NOT_COORDINATOR))
    group = next((each for each in coordinator.groups if each.group_id == group_id), None)
    generation = group.epoch if group is not None and event.member_id else -1
    commit = store_model.Commit(
        group_id,
        TOPIC,
        PARTITION,
        event.offset,
        life.now_ms,
        member_id=event.member_id,
        generation=generation,
        producer_id=event.producer_id,
    )
    after = _on(settings, life, coordinator, commit)
    error = after.effects[0].error
    life = replace(life, log=after.log).with_coordinator(coordinator._replace(groups=after.groups))
    if error == NONE and event.producer_id is None:
        life = replace(life, answered=tuple(sorted({**dict(life.answered), group_id: event.offset}.items())))
    return life.with_effects(model.Answered(broker_id, model.COMMIT, group_id, error))


def _of_member(settings: Settings, life: Life, coordinator: Coordinator, event: Request) -> Life:
    """A member that the coordinator knows begins its session anew; another is UNKNOWN_MEMBER_ID."""
    broker_id, group_id = event.broker_id, event.group_id
    known = [each for each in coordinator.sessions if each[:2] == (group_id, event.member_id)]
    if not known:
        return life.with_effects(model.Answered(broker_id, event.api, group_id, UNKNOWN_MEMBER_ID))
    others = tuple(each for each in coordinator.sessions if each not in known)
    renewed = model.Session(group_id, event.member_id, life.now_ms + settings.session_timeout_ms)
    life = life.with_coordinator(coordinator._replace(sessions=(*others, renewed)))
    return life.with_effects(model.Answered(broker_id, event.api, group_id, NONE))


def store_group(settings: Settings, life: Life, event: model.GroupStored) -> Life:
    """The life after the coordinator has written a group down with its members, whose sessions begin."""
    coordinator = _acting(settings, life, event)
    members = tuple(
        Member(each, session_timeout_ms=settings.session_timeout_ms, subscribed=(TOPIC,)) for each in event.member_ids
    )
    is_classic = event.kind == store_model.StoreGroup.__dataclass_fields__["kind"].default
    written = store_model.StoreGroup(
        event.group_id,
        event.generation,
        life.now_ms,
        members,
        protocol="range" if members and is_classic else None,
        leader=event.member_ids[0] if members and is_classic else None,
        kind=event.kind,
    )
    after = _on(settings, life, coordinator, written)
    others = tuple(each for each in coordinator.sessions if each.group_id != event.group_id)
    deadline_ms = life.now_ms + settings.session_timeout_ms
    begun = tuple(model.Session(event.group_id, each, deadline_ms) for each in event.member_ids)
    coordinator = coordinator._replace(groups=after.groups, sessions=(*others, *begun))
    return replace(life, log=after.log).with_coordinator(coordinator)


def end_transaction(settings: Settings, life: Life, event: model.TransactionEnded) -> Life:
    """The life after the marker of a transaction: its commits count, or never did."""
    coordinator = _acting(settings, life, event)
    after = _on(settings, life, coordinator, store_model.EndTransaction(event.producer_id, event.is_commit))
    life = replace(life, log=after.log).with_coordinator(coordinator._replace(groups=after.groups))
    known = {group.group_id: group.offset(TOPIC, PARTITION) for group in after.groups}
    kept = {group_id: each.offset for group_id, each in known.items() if each is not None}
    return replace(life, answered=tuple(sorted(kept.items())))


def _acting(settings: Settings, life: Life, event: object) -> Coordinator:
    coordinator = None if life.leader is None else life.coordinator(life.leader)
    if coordinator is None or not answers(settings, coordinator, model.COMMIT):
        raise IllegalEvent(f"{shown(event)}: only a leader that has loaded writes this, there is none now")
    return coordinator


# What time does: sessions end, and the expiry task looks at what the broker coordinates.


def run_timers(settings: Settings, life: Life) -> Life:
    """The life after every timer has run that is due now.

    Up to 3.9 one task sweeps all that a broker has in memory, at once when the broker starts and then in every
    interval; a load in the same thread makes it wait. Since 4.0 every partition has its own, first one interval after
    its load, and none after its resignation.
    """
    for broker_id in settings.broker_ids:
        coordinator = life.coordinator(broker_id)
        if life.is_up(broker_id) and coordinator.is_active:
            life = _expire_sessions(life, coordinator)
            life = _sweep_if_due(settings, life, life.coordinator(broker_id))
    return life


def _expire_sessions(life: Life, coordinator: Coordinator) -> Life:
    over = [each for each in coordinator.sessions if each.deadline_ms <= life.now_ms]
    left = tuple(each for each in coordinator.sessions if each not in over)
    effects = (model.MemberExpired(coordinator.broker_id, each.group_id, each.member_id) for each in over)
    return life.with_coordinator(coordinator._replace(sessions=left), *effects)


def _sweep_if_due(settings: Settings, life: Life, coordinator: Coordinator) -> Life:
    due_ms = coordinator.next_sweep_ms
    is_busy = coordinator.is_reading and settings.has_one_thread
    if due_ms is None or life.now_ms < due_ms or is_busy:
        return life
    interval_ms = settings.check_interval_ms
    passed = (life.now_ms - due_ms) // interval_ms + 1
    coordinator = coordinator._replace(next_sweep_ms=due_ms + passed * interval_ms)
    life = life.with_coordinator(coordinator)
    if not coordinator.is_owned or life.leader != coordinator.broker_id:
        return life.with_effects(model.Swept(coordinator.broker_id, 0, 0))
    return sweep(settings, life, coordinator)


def sweep(settings: Settings, life: Life, coordinator: Coordinator) -> Life:
    """The life after the expiry task of the coordinator has run now."""
    before = store_model.Store(store_model.OWNED, log=life.log, groups=coordinator.groups)
    after = store_simulator.step(settings.store, before, store_model.Sweep(life.now_ms))
    offset_count = _offset_count(before) - _offset_count(after)
    group_count = len(before.groups) - len(after.groups)
    kept = {group.group_id for group in after.groups if group.offset(TOPIC, PARTITION) is not None}
    answered = tuple((group_id, offset) for group_id, offset in life.answered if group_id in kept)
    life = replace(life, log=after.log, answered=answered)
    swept = model.Swept(coordinator.broker_id, offset_count, group_count)
    return life.with_coordinator(coordinator._replace(groups=after.groups), swept)


def _offset_count(store: store_model.Store) -> int:
    return sum(len(group.offsets) for group in store.groups)


# What holds.

ONE_ANSWERS = "when every order is carried out, at most one broker answers"
LEADER_ANSWERS = "when every order is carried out, the leader answers"
NONE_LOST = "when every order is carried out, who answers knows every answered commit"
NEVER_OLD = "not even for a moment does a broker answer with less than was answered"


def _answering(settings: Settings, life: Life) -> list[Coordinator]:
    """The brokers that answer an OffsetFetch from their memory."""
    return [each for each in life.coordinators if life.is_up(each.broker_id) and answers(settings, each, model.FETCH)]


def _is_settled(life: Life) -> bool:
    """Whether the brokers have done all that the controller asked of them."""
    return not any(each.orders or each.is_reading for each in life.coordinators)


def _one_answers(settings: Settings, life: Life) -> bool:
    return not _is_settled(life) or len(_answering(settings, life)) <= 1


def _leader_answers(settings: Settings, life: Life) -> bool:
    if life.leader is None or not _is_settled(life):
        return True
    leading = life.coordinator(life.leader)
    return leading.is_owned or not leading.is_active


def _none_lost(settings: Settings, life: Life) -> bool:
    return not _is_settled(life) or _never_old(settings, life)


def _never_old(settings: Settings, life: Life) -> bool:
    return all(
        _offset_in(coordinator, group_id) == offset
        for coordinator in _answering(settings, life)
        for group_id, offset in life.answered
    )


def _offset_in(coordinator: Coordinator, group_id: str) -> int | None:
    known = {group.group_id: group.offset(TOPIC, PARTITION) for group in coordinator.groups}
    found = known.get(group_id)
    return None if found is None else found.offset


def _dead_know_nothing(settings: Settings, life: Life) -> bool:
    return all(
        not (each.is_active or each.groups or each.orders or each.is_owned)
        for each in life.coordinators
        if not life.is_up(each.broker_id)
    )


def _epochs_rise(settings: Settings, before: Life, life: Life) -> bool:
    """Where the release remembers it for as long as the broker runs."""
    if settings.order_rule != model.BY_EPOCH:
        return True
    pairs = zip(before.coordinators, life.coordinators, strict=True)
    return all(now.known_epoch >= was.known_epoch or not life.is_up(now.broker_id) for was, now in pairs)


def _answered_is_logged(settings: Settings, life: Life) -> bool:
    logged = {group.group_id: group.offset(TOPIC, PARTITION) for group in logged_groups(life.log)}
    found = {group_id: each.offset for group_id, each in logged.items() if each is not None}
    return all(found.get(group_id) == offset for group_id, offset in life.answered)


INVARIANTS: Promises = MappingProxyType(
    {
        **of_inner(LEADERSHIP_INVARIANTS, lambda life: life.cluster, lambda settings: settings.leadership),
        "who is dead knows nothing": _dead_know_nothing,
        "who reads the log counts as loading": lambda settings, life: all(
            each.is_loading or not each.is_reading for each in life.coordinators
        ),
        "nobody has heard of an epoch that was never given": lambda settings, life: all(
            each.known_epoch <= life.partition.leader_epoch for each in life.coordinators
        ),
        "a broker that remembers epochs never goes back": Since(_epochs_rise),
        "every answered commit is in the log": _answered_is_logged,
    }
)
"""What holds in every state that can be reached; first those of the leaders."""

PROMISES: Promises = MappingProxyType(
    {ONE_ANSWERS: _one_answers, LEADER_ANSWERS: _leader_answers, NONE_LOST: _none_lost, NEVER_OLD: _never_old}
)
"""What users hope for.

Up to 2.8.0 an order that comes late breaks the first three, from 2.8.1 to 3.9 none does. Since 4.0 orders come in their
order; the third would break if they did not. A record that cannot be read breaks the second. The last one no release
keeps: until the old coordinator has carried out its order, it answers an OffsetFetch from its memory, while the new one
takes commits.
"""

simulate, check, broken = simulator(model.start, step, INVARIANTS, PROMISES)
