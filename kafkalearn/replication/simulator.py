"""The simulator of replication: which rule answers which event, what always holds, and what users hope for.

The invariants hold under every release and setting, whatever happens. The promises are what users expect of
replication: old rules and careless settings break them, and to show that is what they are here for. So a broken promise
is a result with a name (`broken`, and `kafkalearn.replication.search` looks for one); `check` raises only if an
invariant does not hold.

Each is judged by the leader that the controller has recorded, once that broker knows that it leads. Logs are compared
up to what the leader knows of a follower: one that has just come back may hold records that its first fetch will cut.
Offsets below the log start are not compared.

>>> from kafkalearn.replication import BrokerCrashed, Produce, SessionExpired, simulate
>>> settings = Settings(replica_count=2)
>>> trace = simulate(settings, [Produce(acks=1), BrokerCrashed(1), SessionExpired(1)])
>>> [broken(settings, frame.state) for frame in trace]
[(), (), (), ('acknowledged records survive',)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import permutations
from types import MappingProxyType
from typing import Any, Never

from kafkalearn.base.errors import no_event
from kafkalearn.base.promises import InParts, Promises, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.base.trace import Parts
from kafkalearn.replication import controller, events, leader
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.processing import Processing, partition_of, parts_of
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.state import UNKNOWN, Log, Partition, Record, start

HANDLERS: MappingProxyType[type, Callable[[Processing, Never], None]] = MappingProxyType(
    {
        events.Produce: leader.produce,
        events.Fetch: leader.fetch,
        events.Consume: leader.consume,
        events.DeleteRecords: leader.delete_records,
        events.TimePassed: leader.time_passed,
        events.IsrChecked: leader.isr_checked,
        events.AlterPartitionAnswered: controller.alter_partition_answered,
        events.HighWatermarkCheckpointed: controller.high_watermark_checkpointed,
        events.BrokerCrashed: controller.broker_crashed,
        events.PowerLost: controller.power_lost,
        events.BrokerStopped: controller.broker_stopped,
        events.BrokerStarted: controller.broker_restarted,
        events.BrokerFrozen: controller.broker_frozen,
        events.BrokerThawed: controller.broker_thawed,
        events.BrokerReconnected: controller.broker_reconnected,
        events.ControlledShutdownStarted: controller.controlled_shutdown_started,
        events.BrokerRegistered: controller.broker_registered,
        events.BrokerUnfenced: controller.broker_unfenced,
        events.SessionExpired: controller.session_expired,
        events.LeaderImbalanceChecked: controller.leader_imbalance_checked,
        events.ElectLeaders: controller.elect_leaders,
        events.AlterPartitionReassignments: controller.alter_partition_reassignments,
        events.LeaderElected: controller.leader_elected,
        events.IsrSet: controller.isr_set,
        events.BrokerFenced: controller.broker_fenced,
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


IN_ORDER = "log start <= LSO <= HW <= LEO"
NEVER_FALLS = "a leader's HW never falls in its term"
ONE_LEADER = "each leader epoch has one leader"
EPOCHS_RISE = "epochs never go back"
REPLICAS_ALONE = "leader and ISR are replicas"
NEVER_FEWER = "a reassignment never leaves fewer replicas than it began or ends with"

SURVIVE_CLEAN = "committed records survive clean elections"
SURVIVE = "committed records survive"
ACKNOWLEDGED_SURVIVE = "acknowledged records survive"
ISR_HOLDS = "ISR members hold everything below the HW"
LOGS_AGREE = "logs agree up to the HW"

IS_LED = "a leader answers"
ALL_COMMITTED = "the HW has reached the leader's LEO"
NOBODY_WAITS = "no producer waits for its answer"
ALL_IN_SYNC = "all replicas are in sync"


def _is_current(processing: Processing, leader_id: int) -> bool:
    """Whether a leader is the one that the controller has recorded, and has not been replaced without knowing it."""
    controller = processing.controller
    return controller.leader == leader_id and controller.leader_epoch == processing.broker(leader_id).leader_epoch


# Each test looks first at what most often settles the matter, and at the controller last: a search remembers its
# answers by what it has looked at.


def _is_in_order(broker_id: int, processing: Processing) -> bool:
    log = processing.log(broker_id)
    return log.log_start_offset <= log.last_stable_offset <= log.high_watermark <= log.log_end_offset


def _never_falls(leader_id: int, processing: Processing) -> bool:
    is_following = processing.leading(leader_id) is None
    if is_following or processing.log(leader_id).high_watermark >= processing.visible.high_watermark:
        return True
    return processing.broker(leader_id).leader_epoch != processing.visible.leader_epoch


def _leads_alone(leader_id: int, other_id: int, processing: Processing) -> bool:
    if processing.leading(leader_id) is None or processing.leading(other_id) is None:
        return True
    return processing.broker(leader_id).leader_epoch != processing.broker(other_id).leader_epoch


def _epochs_rise(settings: Settings, before: Partition, partition: Partition) -> bool:
    old, new = before.controller, partition.controller
    return old.leader_epoch <= new.leader_epoch and old.partition_epoch <= new.partition_epoch


def _are_replicas(processing: Processing) -> bool:
    controller = processing.controller
    leader = () if controller.leader is None else (controller.leader,)
    return {*leader, *controller.isr} <= {*controller.assignment.replicas}


def _never_fewer(settings: Settings, before: Partition, partition: Partition) -> bool:
    was, now = before.controller.assignment, partition.controller.assignment
    return len(now.replicas) >= min(len(was.original), len(was.target), len(now.target))


def _survive_clean_elections(leader_id: int, processing: Processing) -> bool:
    return _survive(leader_id, processing) or processing.unclean_election_count > 0


def _survive(leader_id: int, processing: Processing) -> bool:
    if processing.leading(leader_id) is None:
        return True
    log, committed = processing.log(leader_id), processing.visible.records
    if log.records[: len(committed)] == committed and log.first_offset == 0:
        return True
    is_there = (_has(log, offset, record) for offset, record in enumerate(committed) if record is not None)
    return all(is_there) or not _is_current(processing, leader_id)


def _has(log: Log, offset: int, record: Record) -> bool:
    return offset < log.log_start_offset or log.records_from(offset, offset + 1) == (record,)


def _acknowledged_survive(leader_id: int, processing: Processing) -> bool:
    if processing.leading(leader_id) is None:
        return True
    log = processing.log(leader_id)
    values = {log.first_offset + index: record.value for index, record in enumerate(log.records)}
    promised = (each for each in processing.acknowledged if each[0] >= log.log_start_offset)
    return all(values.get(offset) == value for offset, value in promised) or not _is_current(processing, leader_id)


def _member_holds(leader_id: int, broker_id: int, processing: Processing) -> bool:
    leading = processing.leading(leader_id)
    if leading is None or broker_id not in leading.isr:
        return True
    log = processing.log(leader_id)
    if _is_same(log, processing.log(broker_id), log.high_watermark):
        return True
    return broker_id not in processing.controller.isr or not _is_current(processing, leader_id)


def _agrees(leader_id: int, broker_id: int, processing: Processing) -> bool:
    ends = processing.remote_ends(leader_id)
    known = ends[broker_id - 1] if ends else None
    if known is None or known == UNKNOWN:
        return True
    log, other = processing.log(leader_id), processing.log(broker_id)
    if _is_same(log, other, min(known, log.high_watermark, other.high_watermark)):
        return True
    return not _is_current(processing, leader_id)


def _is_same(one: Log, other: Log, end_offset: int) -> bool:
    """Whether two logs have the same records up to an offset."""
    start = max(one.log_start_offset, other.log_start_offset)
    return one.records_from(start, end_offset) == other.records_from(start, end_offset)


Test = Callable[[Processing], bool]


def _processing(settings: Settings, partition: Partition) -> Processing:
    return Processing(settings, Parts(parts_of(partition)))


def _of_each(holds: Callable[[int, Processing], bool]) -> InParts[Settings, Partition, Processing]:
    """A test of every broker: it concerns one leader."""

    def tests(settings: Settings) -> Iterable[Test]:
        return (partial(holds, broker_id) for broker_id in settings.broker_ids)

    return InParts(tests, _processing)


def _of_pairs(holds: Callable[[int, int, Processing], bool]) -> InParts[Settings, Partition, Processing]:
    """A test of every two brokers: it concerns one leader and one other broker."""

    def tests(settings: Settings) -> Iterable[Test]:
        return (partial(holds, *pair) for pair in permutations(settings.broker_ids, 2))

    return InParts(tests, _processing)


INVARIANTS: Promises = MappingProxyType(
    {
        IN_ORDER: _of_each(_is_in_order),
        NEVER_FALLS: _of_each(_never_falls),
        ONE_LEADER: _of_pairs(_leads_alone),
        EPOCHS_RISE: Since(_epochs_rise),
        REPLICAS_ALONE: InParts(lambda settings: (_are_replicas,), _processing),
        NEVER_FEWER: Since(_never_fewer),
    }
)
"""What holds in every state that can be reached."""

PROMISES: Promises = MappingProxyType(
    {
        SURVIVE_CLEAN: _of_each(_survive_clean_elections),
        SURVIVE: _of_each(_survive),
        ACKNOWLEDGED_SURVIVE: _of_each(_acknowledged_survive),
        ISR_HOLDS: _of_pairs(_member_holds),
        LOGS_AGREE: _of_pairs(_agrees),
    }
)
"""What users hope for."""


def _is_led(processing: Processing) -> bool:
    leader_id = processing.leader_id
    return leader_id is not None and processing.leading(leader_id) is not None


def _all_committed(processing: Processing) -> bool:
    return all(
        processing.log(broker_id).high_watermark == processing.log(broker_id).log_end_offset
        for broker_id in processing.settings.broker_ids
        if processing.leading(broker_id) is not None and broker_id == processing.leader_id
    )


def _nobody_waits(processing: Processing) -> bool:
    return not any(processing.waiting(broker_id).produces for broker_id in processing.settings.broker_ids)


def _is_whole(processing: Processing) -> bool:
    return {*processing.controller.isr} == {*processing.controller.assignment.replicas}


def _of_all(holds: Test) -> InParts[Settings, Partition, Processing]:
    """One test of the partition as a whole."""
    return InParts(lambda settings: (holds,), _processing)


PROGRESS: Promises = MappingProxyType(
    {
        IS_LED: _of_all(_is_led),
        ALL_COMMITTED: _of_all(_all_committed),
        NOBODY_WAITS: _of_all(_nobody_waits),
        ALL_IN_SYNC: _of_all(_is_whole),
    }
)
"""What is to come again after whatever happened: no state breaks it, a run without end may.

`kafkalearn.replication.search.find_stuck` looks for one.
"""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES, PROGRESS)
