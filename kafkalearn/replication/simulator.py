"""The simulator of replication: which rule answers which event; the rules have files of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Any, Never

from kafkalearn.errors import no_event
from kafkalearn.parts import Parts
from kafkalearn.replication import events
from kafkalearn.replication.controller import brokers, elections, metadata, proposals, reassigning
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.leader import fetching, leading, producing
from kafkalearn.replication.processing import Processing, partition_of, parts_of
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.state import Partition, start
from kafkalearn.trace import Trace, run

HANDLERS: MappingProxyType[type, Callable[[Processing, Never], None]] = MappingProxyType(
    {
        events.Produce: producing.produce,
        events.Fetch: fetching.fetch,
        events.Consume: producing.consume,
        events.DeleteRecords: producing.delete_records,
        events.TimePassed: producing.time_passed,
        events.IsrChecked: leading.isr_checked,
        events.AlterPartitionAnswered: proposals.alter_partition_answered,
        events.HighWatermarkCheckpointed: brokers.high_watermark_checkpointed,
        events.BrokerCrashed: brokers.broker_crashed,
        events.PowerLost: brokers.power_lost,
        events.BrokerStopped: brokers.broker_stopped,
        events.BrokerRestarted: brokers.broker_restarted,
        events.BrokerFrozen: brokers.broker_frozen,
        events.BrokerThawed: brokers.broker_thawed,
        events.BrokerReconnected: brokers.broker_reconnected,
        events.ControlledShutdownStarted: brokers.controlled_shutdown_started,
        events.BrokerRegistered: brokers.broker_registered,
        events.BrokerUnfenced: brokers.broker_unfenced,
        events.SessionExpired: brokers.session_expired,
        events.LeaderImbalanceChecked: elections.leader_imbalance_checked,
        events.ElectLeaders: elections.elect_leaders,
        events.AlterPartitionReassignments: reassigning.alter_partition_reassignments,
        events.LeaderElected: metadata.leader_elected,
        events.IsrSet: metadata.isr_set,
        events.BrokerFenced: metadata.broker_fenced,
    }
)
"""Which rule answers which event: each takes those of its class alone."""


def step(settings: Settings, partition: Partition, event: ReplicationEvent) -> Partition:
    """The partition after `event`; its `effects` are what was answered and decided.

    Raises
    ------
    IllegalEvent
        If the event makes no sense here: a broker that is down fetches, nothing was proposed to the controller.
        What a broker or the controller would refuse is no such case: it is an effect.

    Examples
    --------
    >>> settings = Settings(replica_count=2)
    >>> step(settings, start(settings), events.Produce(acks=1)).effects
    (ProduceAnswered(request=1, error='NONE', base_offset=0),)

    References
    ----------
    Apache Kafka 0.8.2 to 4.3: ``Partition``, ``ReplicaManager``, ``AbstractFetcherThread``,
    ``PartitionChangeBuilder``.
    """
    processing = Processing(settings, Parts(parts_of(partition)))
    process(processing, event)
    return partition_of(processing.parts.all(), tuple(processing.effects))


def process(processing: Processing, event: ReplicationEvent) -> None:
    """Process an event on parts; `step` and a search share this."""
    handler: Callable[[Processing, Any], None] | None = HANDLERS.get(type(event))
    if handler is None:
        raise no_event(event, HANDLERS)
    handler(processing, event)


def simulate(
    settings: Settings, events: Iterable[ReplicationEvent], initial: Partition | None = None
) -> Trace[Partition, ReplicationEvent]:
    """The run of a partition through `events`, from a new partition if no other is given.

    >>> from kafkalearn.replication.events import Fetch, Produce
    >>> trace = simulate(Settings(replica_count=2), [Produce(), Fetch(2), Fetch(2)])
    >>> [(frame.state.leader.log_end_offset, frame.state.high_watermark) for frame in trace]
    [(0, 0), (1, 0), (1, 0), (1, 1)]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)
