"""One partition on its brokers: leader and followers, LEO and HW, the ISR, elections, truncation, and what is lost.

The *leader* appends; *followers* fetch from it. A log's end, the *LEO*, is the offset its next record will get. What
every in-sync replica has lies below the *high watermark* (HW): it is committed, and consumers may read it. The *ISR*
is the set of replicas that keep up; the controller elects leaders from it. Each election has a number, the *leader
epoch*, by which two logs find the place where they part.

A simulator: `Partition` is the state, the events are in `kafkalearn.replication.events`, `step` is the rule and
`replicate` a whole run. `Settings` has the release: the rules of twelve years are told apart in `Rules`. What an event
leads to is told in ``partition.effects``. `settle` and `pass_time` let the brokers go on by themselves.

`PROMISES` names what users rely on, `broken` tells which of it a state breaks, and `find` searches all schedules for
the shortest one that breaks it.

Not modelled: the bytes of a fetch (an answer brings all there is), batches (records are appended together, and told
apart one by one), transactions, replicas that are reassigned, more than one log directory, and the way metadata
takes: every broker that is running and not cut off hears at once what the controller records. The extra leader epoch
that controllers before 3.6 gave out when the ISR shrank is left out.
"""

from kafkalearn.replication.cluster import pass_time, settle
from kafkalearn.replication.effects import (
    NONE,
    AlterPartitionSent,
    BrokerHalted,
    ConsumerRead,
    Effect,
    FetchAnswered,
    FetchHandled,
    IsrWritten,
    LeaderChanged,
    LogTruncated,
    NoReachableLeader,
    ProduceAnswered,
    ProduceParked,
    RecordsDeleted,
)
from kafkalearn.replication.events import (
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerFenced,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    Consume,
    DeleteRecords,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    IsrSet,
    LeaderElected,
    PowerLost,
    Produce,
    ReplicationEvent,
    SessionExpired,
    TimePassed,
)
from kafkalearn.replication.promises import (
    ACKNOWLEDGED_SURVIVE,
    IN_ORDER,
    ISR_HOLDS,
    LOGS_AGREE,
    NEVER_FALLS,
    PROMISES,
    SURVIVE,
    SURVIVE_CLEAN,
    broken,
    check,
)
from kafkalearn.replication.rules import LAG_TESTS, TRUNCATIONS, Rules, changes_of_rules, rules_of
from kafkalearn.replication.search.find import alphabet, find, model
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import replicate, start, step
from kafkalearn.replication.state import (
    CUT_OFF,
    DOWN,
    FROZEN,
    RUNNING,
    UNKNOWN,
    Broker,
    Controller,
    Leadership,
    Ledger,
    Log,
    ParkedFetch,
    ParkedProduce,
    Partition,
    Proposal,
    Record,
    Remote,
    Replica,
    Requests,
    Visible,
    Waiting,
    blank,
)

__all__ = [
    "ACKNOWLEDGED_SURVIVE",
    "CUT_OFF",
    "DOWN",
    "FROZEN",
    "IN_ORDER",
    "ISR_HOLDS",
    "LAG_TESTS",
    "LOGS_AGREE",
    "NEVER_FALLS",
    "NONE",
    "PROMISES",
    "RUNNING",
    "SURVIVE",
    "SURVIVE_CLEAN",
    "TRUNCATIONS",
    "UNKNOWN",
    "AlterPartitionAnswered",
    "AlterPartitionSent",
    "Broker",
    "BrokerCrashed",
    "BrokerFenced",
    "BrokerFrozen",
    "BrokerHalted",
    "BrokerReconnected",
    "BrokerRestarted",
    "BrokerStopped",
    "BrokerThawed",
    "Consume",
    "ConsumerRead",
    "Controller",
    "DeleteRecords",
    "Effect",
    "Fetch",
    "FetchAnswered",
    "FetchHandled",
    "HighWatermarkCheckpointed",
    "IsrChecked",
    "IsrSet",
    "IsrWritten",
    "LeaderChanged",
    "LeaderElected",
    "Leadership",
    "Ledger",
    "Log",
    "LogTruncated",
    "NoReachableLeader",
    "ParkedFetch",
    "ParkedProduce",
    "Partition",
    "PowerLost",
    "Produce",
    "ProduceAnswered",
    "ProduceParked",
    "Proposal",
    "Record",
    "RecordsDeleted",
    "Remote",
    "Replica",
    "ReplicationEvent",
    "Requests",
    "Rules",
    "SessionExpired",
    "Settings",
    "TimePassed",
    "Visible",
    "Waiting",
    "alphabet",
    "blank",
    "broken",
    "changes_of_rules",
    "check",
    "find",
    "model",
    "pass_time",
    "replicate",
    "rules_of",
    "settle",
    "start",
    "step",
]
