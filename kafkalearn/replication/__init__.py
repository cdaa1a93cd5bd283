"""One partition on its brokers: leader and followers, LEO and HW, the ISR, elections, truncation, and what is lost.

The *leader* appends; *followers* fetch from it. A log's end, the *LEO*, is the offset its next record will get. What
every in-sync replica has lies below the *high watermark* (HW): it is committed, and consumers may read it. The *ISR*
is the set of replicas that keep up; the controller elects leaders from it. Each election has a number, the *leader
epoch*, by which two logs find the place where they part.

A simulator: `Partition` is the state, the events are in `kafkalearn.replication.events`, `step` is the rule and
`simulate` a whole run. What an event leads to is in ``partition.effects`` (`kafkalearn.replication.events`).
`Settings` has the release, and `kafkalearn.replication.settings` what changed from one to the next in twelve years.
`settle` and `pass_time` let the brokers go on by themselves.

`INVARIANTS` names what always holds, `PROMISES` what users rely on; `broken` lists the promises that a state breaks,
and `find` searches all schedules for the shortest one that breaks one. There, ``BrokerCrashed`` may happen to any
broker, ``BrokerCrashed(2)`` to broker 2 alone; `on_every_broker` makes an event one of every broker. `PROGRESS` names
what is to come again at last: `find_stuck` searches for a run in which it never does. Where a search has no end, `walk`
draws long runs by chance.

Not modelled: the bytes of a fetch (an answer brings all there is), batches (records are appended together, and each is
kept by itself), transactions, more than one log directory, and the way metadata takes: every broker that is running and
not cut off learns at once what the controller records. The extra leader epoch that controllers before 3.6 gave out when
the ISR shrank is left out.

What an operator does: ``AlterPartitionReassignments`` moves replicas (`Settings.broker_count` gives the partition more
brokers than replicas), ``ElectLeaders`` and ``LeaderImbalanceChecked`` give leadership back to the preferred replica,
``ControlledShutdownStarted``, ``BrokerRegistered`` and ``BrokerUnfenced`` are the steps of a restart.
"""

from kafkalearn.replication.cluster import pass_time, settle
from kafkalearn.replication.events import (
    AlterPartitionAnswered,
    AlterPartitionReassignments,
    BrokerCrashed,
    BrokerFenced,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRegistered,
    BrokerStarted,
    BrokerStopped,
    BrokerThawed,
    BrokerUnfenced,
    Consume,
    ControlledShutdownStarted,
    DeleteRecords,
    ElectLeaders,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    IsrSet,
    LeaderElected,
    LeaderImbalanceChecked,
    PowerLost,
    Produce,
    SessionExpired,
    TimePassed,
)
from kafkalearn.replication.search import find, find_stuck, on_every_broker, walk
from kafkalearn.replication.settings import TRUNCATIONS, Settings, rules_of
from kafkalearn.replication.simulator import (
    ACKNOWLEDGED_SURVIVE,
    INVARIANTS,
    ISR_HOLDS,
    LOGS_AGREE,
    PROGRESS,
    PROMISES,
    SURVIVE,
    SURVIVE_CLEAN,
    broken,
    check,
    simulate,
    step,
)
from kafkalearn.replication.state import Partition, start

__all__ = [
    "ACKNOWLEDGED_SURVIVE",
    "INVARIANTS",
    "ISR_HOLDS",
    "LOGS_AGREE",
    "PROGRESS",
    "PROMISES",
    "SURVIVE",
    "SURVIVE_CLEAN",
    "TRUNCATIONS",
    "AlterPartitionAnswered",
    "AlterPartitionReassignments",
    "BrokerCrashed",
    "BrokerFenced",
    "BrokerFrozen",
    "BrokerReconnected",
    "BrokerRegistered",
    "BrokerStarted",
    "BrokerStopped",
    "BrokerThawed",
    "BrokerUnfenced",
    "Consume",
    "ControlledShutdownStarted",
    "DeleteRecords",
    "ElectLeaders",
    "Fetch",
    "HighWatermarkCheckpointed",
    "IsrChecked",
    "IsrSet",
    "LeaderElected",
    "LeaderImbalanceChecked",
    "Partition",
    "PowerLost",
    "Produce",
    "SessionExpired",
    "Settings",
    "TimePassed",
    "broken",
    "check",
    "find",
    "find_stuck",
    "on_every_broker",
    "pass_time",
    "rules_of",
    "settle",
    "simulate",
    "start",
    "step",
    "walk",
]
