"""What always holds of a partition of the offsets topic on its brokers, and what those hope for who commit.

>>> from kafkalearn.offsets.replicated.simulator import simulate
>>> from kafkalearn.offsets.store.events import Load, Produce
>>> from kafkalearn.replication.events import BrokerStopped, Fetch
>>> strange = [Produce(None, b"no key", "__admin_client"), Fetch(2), Fetch(3), Fetch(2), Fetch(3)]
>>> trace = simulate(Settings(), [*strange, BrokerStopped(1), Load()])
>>> [broken(Settings(), frame.state) for frame in trace[-2:]]
[(), ('the partition has a coordinator that can load it',)]
"""

from __future__ import annotations

from itertools import pairwise
from types import MappingProxyType

from kafkalearn.offsets.replicated.settings import Settings
from kafkalearn.offsets.replicated.state import Coordinator, ReplicatedStore
from kafkalearn.offsets.store.loading import logged_groups
from kafkalearn.offsets.store.promises import lasting
from kafkalearn.offsets.store.state import FAILED, OWNED
from kafkalearn.promises import Promises, judges, of_inner
from kafkalearn.replication.promises import INVARIANTS as PARTITION_INVARIANTS

LEADER_COORDINATES = "who leads coordinates, and nobody else"
CONFIRMED_IS_REPLICATED = "what is confirmed is what the log says up to the high watermark"
WRITTEN_IS_LOGGED = "what is written is what the log says up to its end"
WAITS_FOR_REPLICAS = "whoever waits, waits for what is not replicated"

ANSWERED_SURVIVE = "an answered commit is in the log of the coordinator"
CAN_BE_LOADED = "the partition has a coordinator that can load it"


def _leader_coordinates(settings: Settings, state: ReplicatedStore) -> bool:
    ids = settings.partition.broker_ids
    return all((state.partition.replica(each).leading is None) == (state.coordinator(each) is None) for each in ids)


def _owned(settings: Settings, state: ReplicatedStore) -> list[tuple[int, Coordinator]]:
    """The brokers that coordinate and have loaded the log."""
    coordinators = ((each, state.coordinator(each)) for each in settings.partition.broker_ids)
    return [(each, held) for each, held in coordinators if held is not None and held.status == OWNED]


def _confirmed_is_replicated(settings: Settings, state: ReplicatedStore) -> bool:
    """Judged where nobody else has written into the log, which the coordinator does not notice."""
    for broker_id, coordinator in _owned(settings, state):
        log = state.log(broker_id)
        end_offset = coordinator.confirmed.end_offset
        if any(entry.is_foreign for entry in log):
            continue
        if end_offset > state.partition.replica(broker_id).high_watermark:
            return False
        if lasting(coordinator.confirmed.groups) != logged_groups(log[:end_offset]):
            return False
    return True


def _written_is_logged(settings: Settings, state: ReplicatedStore) -> bool:
    for broker_id, coordinator in _owned(settings, state):
        log = state.log(broker_id)
        if any(entry.is_foreign for entry in log):
            continue
        ends = [known.end_offset for known in coordinator.known]
        if not all(one <= other for one, other in pairwise(ends)):
            return False
        if lasting(coordinator.written.groups) != logged_groups(log):
            return False
    return True


def _waits_for_replicas(settings: Settings, state: ReplicatedStore) -> bool:
    return all(
        each.end_offset > state.partition.replica(broker_id).high_watermark
        for broker_id, coordinator in _owned(settings, state)
        if state.partition.replica(broker_id).is_running
        for each in coordinator.waiting
    )


INVARIANTS: Promises = MappingProxyType(
    {
        **of_inner(PARTITION_INVARIANTS, lambda state: state.partition, lambda settings: settings.partition),
        LEADER_COORDINATES: _leader_coordinates,
        CONFIRMED_IS_REPLICATED: _confirmed_is_replicated,
        WRITTEN_IS_LOGGED: _written_is_logged,
        WAITS_FOR_REPLICAS: _waits_for_replicas,
    }
)
"""What holds in every state that can be reached; first the invariants of the partition."""


def _answered_survive(settings: Settings, state: ReplicatedStore) -> bool:
    leader_id = state.partition.controller.leader
    return leader_id is None or set(state.acknowledged) <= set(state.numbers(leader_id))


def _can_be_loaded(settings: Settings, state: ReplicatedStore) -> bool:
    leader_id = state.partition.controller.leader
    return leader_id is None or state.status(leader_id) != FAILED


PROMISES: Promises = MappingProxyType({ANSWERED_SURVIVE: _answered_survive, CAN_BE_LOADED: _can_be_loaded})
"""What users hope for.

The first is broken by power cuts of all replicas and by unclean elections; the second by a record without a key, which
somebody else has written into the topic, at the next load.
"""

check, broken = judges(INVARIANTS, PROMISES)
