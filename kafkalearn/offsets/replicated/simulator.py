"""The simulator of a partition of the offsets topic on its brokers: which event leads to which rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.errors import no_event
from kafkalearn.offsets.replicated import following, requests
from kafkalearn.offsets.replicated.events import OF_BROKERS, REQUESTS, ReplicatedStoreEvent, SentTo
from kafkalearn.offsets.replicated.settings import Settings
from kafkalearn.offsets.replicated.state import ReplicatedStore, start
from kafkalearn.offsets.store.events import Load, Produce, Sweep
from kafkalearn.replication import simulator as replication
from kafkalearn.trace import Trace, run

_KNOWN = (*REQUESTS, SentTo, Sweep, Produce, Load, *OF_BROKERS)


def step(settings: Settings, state: ReplicatedStore, event: ReplicatedStoreEvent) -> ReplicatedStore:
    """The state after `event`; its ``effects`` are what was written, answered, elected and loaded, in order.

    Raises
    ------
    IllegalEvent
        If the event makes no sense here: a sweep while nobody coordinates, a commit inside a transaction. What a
        broker would refuse is an answer.

    Examples
    --------
    >>> from kafkalearn.offsets.store.events import Commit
    >>> state = step(Settings(), start(Settings()), Commit("billing", "orders", 0, offset=7, now_ms=0))
    >>> [type(each).__name__ for each in state.effects]
    ['Appended', 'Deferred']

    References
    ----------
    Apache Kafka 4.0 to 4.3: ``CoordinatorRuntime`` (append, HighWatermarkListener, unload),
    ``CoordinatorPartitionWriter`` (acks=1), ``CoordinatorLoaderImpl``, ``GroupCoordinatorService.fetchOffsets``.
    """
    if not isinstance(event, _KNOWN):
        raise no_event(event, _KNOWN)
    state = replace(state, effects=())
    if isinstance(event, REQUESTS):
        state = requests.request(settings, state, event)
    elif isinstance(event, SentTo):
        state = requests.request(settings, state, event.request, event.broker_id)
    elif isinstance(event, Sweep):
        state = requests.sweep(settings, state, event)
    elif isinstance(event, Produce):
        state = requests.produce(settings, state, event)
    elif isinstance(event, Load):
        state = following.load(settings, state, event)
    else:
        partition = replication.step(settings.partition, state.partition, event)
        state = replace(state, partition=partition, effects=partition.effects)
    return following.follow(settings, state)


def simulate(
    settings: Settings, events: Iterable[ReplicatedStoreEvent], initial: ReplicatedStore | None = None
) -> Trace[ReplicatedStore, ReplicatedStoreEvent]:
    """A run of the partition from `initial`, or from a partition that has just been created.

    >>> from kafkalearn.offsets.store.events import Commit
    >>> from kafkalearn.replication.events import BrokerCrashed, SessionExpired
    >>> commit = Commit("billing", "orders", 0, offset=7, now_ms=0)
    >>> trace = simulate(Settings(), [commit, BrokerCrashed(1), SessionExpired(1)])
    >>> [[frame.state.status(broker_id) for broker_id in (1, 2, 3)] for frame in trace[2:]]
    [['not owned', 'not owned', 'not owned'], ['not owned', 'loading', 'not owned']]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)
