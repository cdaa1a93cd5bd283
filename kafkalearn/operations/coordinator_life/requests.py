"""What a broker answers while it is no coordinator, while it loads, and while it is one."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.arguments import one_of
from kafkalearn.errors import IllegalEvent
from kafkalearn.offsets.groups import Member
from kafkalearn.offsets.store import simulator as store_simulator
from kafkalearn.offsets.store.events import Commit, EndTransaction, Fetch, StoreEvent, StoreGroup
from kafkalearn.offsets.store.state import OWNED, Store
from kafkalearn.operations.coordinator_life.effects import Answered, NotReached
from kafkalearn.operations.coordinator_life.events import (
    APIS,
    COMMIT,
    CONSUMER_HEARTBEAT,
    FETCH,
    FIND,
    HEARTBEAT,
    SYNC,
    GroupStored,
    Request,
    TransactionEnded,
)
from kafkalearn.operations.coordinator_life.settings import Settings
from kafkalearn.operations.coordinator_life.state import Coordinator, Life, Session
from kafkalearn.phrases import shown
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least

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
        Of the broker. Errors have their names of today; up to 0.10.2 they were GROUP_COORDINATOR_NOT_AVAILABLE,
        NOT_COORDINATOR_FOR_GROUP, GROUP_LOAD_IN_PROGRESS.
    is_owned, is_loading, is_active : bool
        Whether the partition is loaded, is being loaded, and the coordinator was started.

    Examples
    --------
    >>> for release in ("1.1", "3.9", "4.3"):
    ...     [answer_without_group(api, release, is_owned=False, is_loading=True) for api in (HEARTBEAT, SYNC, COMMIT)]
    ['NOT_COORDINATOR', 'NOT_COORDINATOR', 'NOT_COORDINATOR']
    ['NONE', 'REBALANCE_IN_PROGRESS', 'COORDINATOR_LOAD_IN_PROGRESS']
    ['NONE', 'COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_LOAD_IN_PROGRESS']

    References
    ----------
    Apache Kafka 0.9.0 to 1.1, ``GroupCoordinator.handleHeartbeat`` and its neighbours; 2.0 to 3.9,
    ``GroupCoordinator.validateGroupStatus``; since 4.0 ``CoordinatorRuntime.withActiveContextOrThrow`` and
    ``GroupCoordinatorService``.
    """
    one_of("api", api, APIS)
    if not is_active:
        return NOT_AVAILABLE
    is_checked_first = at_least("2.0", release)
    if not is_owned and not (is_checked_first and is_loading):
        return NOT_COORDINATOR
    if is_loading:
        return _while_loading(api, release)
    return None


def _while_loading(api: str, release: str) -> str | None:
    if api == HEARTBEAT:
        return NONE
    if api == SYNC and not at_least("4.0", release):
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
        return life.with_effects(NotReached(broker_id, api, group_id))
    if api == FIND:
        error = NOT_AVAILABLE if life.leader is None else NONE
        return life.with_effects(Answered(broker_id, api, group_id, error, life.leader))
    coordinator = life.coordinator(broker_id)
    error = _refusal(settings, coordinator, api)
    if error is not None:
        return life.with_effects(Answered(broker_id, api, group_id, error))
    if api == COMMIT:
        return _commit(settings, life, event)
    if api == FETCH:
        answer = _on(settings, life, coordinator, Fetch(group_id, TOPIC, PARTITION)).effects[0]
        return life.with_effects(Answered(broker_id, api, group_id, answer.error, answer.offset))
    if api in (HEARTBEAT, CONSUMER_HEARTBEAT, SYNC):
        return _of_member(settings, life, coordinator, event)
    return life.with_effects(Answered(broker_id, api, group_id, NONE))


def _on(settings: Settings, life: Life, coordinator: Coordinator, event: StoreEvent) -> Store:
    return store_simulator.step(settings.store, Store(OWNED, log=life.log, groups=coordinator.groups), event)


def _commit(settings: Settings, life: Life, event: Request) -> Life:
    """Who does not lead the partition cannot append: the client hears NOT_COORDINATOR."""
    broker_id, group_id = event.broker_id, event.group_id
    coordinator = life.coordinator(broker_id)
    if life.leader != broker_id:
        return life.with_effects(Answered(broker_id, COMMIT, group_id, NOT_COORDINATOR))
    group = next((each for each in coordinator.groups if each.group_id == group_id), None)
    generation = group.epoch if group is not None and event.member_id else -1
    commit = Commit(
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
    return life.with_effects(Answered(broker_id, COMMIT, group_id, error))


def _of_member(settings: Settings, life: Life, coordinator: Coordinator, event: Request) -> Life:
    """A member that the coordinator knows begins its session anew; another is UNKNOWN_MEMBER_ID."""
    broker_id, group_id = event.broker_id, event.group_id
    known = [each for each in coordinator.sessions if each[:2] == (group_id, event.member_id)]
    if not known:
        return life.with_effects(Answered(broker_id, event.api, group_id, UNKNOWN_MEMBER_ID))
    others = tuple(each for each in coordinator.sessions if each not in known)
    renewed = Session(group_id, event.member_id, life.now_ms + settings.session_timeout_ms)
    life = life.with_coordinator(coordinator._replace(sessions=(*others, renewed)))
    return life.with_effects(Answered(broker_id, event.api, group_id, NONE))


def store_group(settings: Settings, life: Life, event: GroupStored) -> Life:
    """The life after the coordinator has written a group down with its members, whose sessions begin."""
    coordinator = _acting(settings, life, event)
    members = tuple(
        Member(each, session_timeout_ms=settings.session_timeout_ms, subscribed=(TOPIC,)) for each in event.member_ids
    )
    is_classic = event.kind == StoreGroup.__dataclass_fields__["kind"].default
    written = StoreGroup(
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
    begun = tuple(Session(event.group_id, each, deadline_ms) for each in event.member_ids)
    coordinator = coordinator._replace(groups=after.groups, sessions=(*others, *begun))
    return replace(life, log=after.log).with_coordinator(coordinator)


def end_transaction(settings: Settings, life: Life, event: TransactionEnded) -> Life:
    """The life after the marker of a transaction: its commits count, or never did."""
    coordinator = _acting(settings, life, event)
    after = _on(settings, life, coordinator, EndTransaction(event.producer_id, event.is_commit))
    life = replace(life, log=after.log).with_coordinator(coordinator._replace(groups=after.groups))
    known = {group.group_id: group.offset(TOPIC, PARTITION) for group in after.groups}
    kept = {group_id: each.offset for group_id, each in known.items() if each is not None}
    return replace(life, answered=tuple(sorted(kept.items())))


def _acting(settings: Settings, life: Life, event: object) -> Coordinator:
    coordinator = None if life.leader is None else life.coordinator(life.leader)
    if coordinator is None or not answers(settings, coordinator, COMMIT):
        raise IllegalEvent(f"{shown(event)}: only a leader that has loaded writes this, there is none now")
    return coordinator
