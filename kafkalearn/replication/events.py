"""What can happen to a partition. Requests have Kafka's names, facts stand in the past tense.

The rules decide who is elected and what is proposed. The last three events overrule the controller: they are for
scripts that were recorded without one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import LARGEST_INT, one_of
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.fields import BrokerId, Checked, Millis, Offset, RecordCount, Whole, check_fields
from kafkalearn.phrases import shown

STAY_PENDING = (
    "FENCED_LEADER_EPOCH",
    "INVALID_UPDATE_VERSION",
    "INVALID_REQUEST",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "UNKNOWN_TOPIC_ID",
    "NEW_LEADER_ELECTED",
)
"""Answers to AlterPartition after which a leader only waits for new metadata."""

BACK_TO_COMMITTED = ("INELIGIBLE_REPLICA", "OPERATION_NOT_ATTEMPTED")
"""Answers to AlterPartition after which a leader gives its proposal up."""

SENT_AGAIN = (
    "NOT_CONTROLLER",
    "STALE_BROKER_EPOCH",
    "REQUEST_TIMED_OUT",
    "UNKNOWN_SERVER_ERROR",
    "CLUSTER_AUTHORIZATION_FAILED",
)
"""Answers to AlterPartition after which a leader sends its proposal again."""

ALTER_PARTITION_ERRORS = (*STAY_PENDING, *BACK_TO_COMMITTED, *SENT_AGAIN)

ACKS = (0, 1, "all")

ELECTION_TYPES = (PREFERRED_ELECTION, UNCLEAN_ELECTION) = ("preferred", "unclean")

RequestMillis: TypeAlias = Annotated[int, Whole(0, LARGEST_INT)]


def refuse_unknown_acks(acks: object) -> None:
    """Pass in silence if `acks` is 0, 1 or "all"."""
    if type(acks) not in (int, str) or acks not in ACKS:
        raise KafkaLearnError(f"acks must be 0, 1 or 'all', got {shown(acks)}; brokers answer INVALID_REQUIRED_ACKS")


@dataclass(frozen=True, slots=True)
class Produce(Checked):
    """A producer sends one batch to the leader, and retries nothing."""

    record_count: RecordCount = 1
    acks: int | str = "all"  # 0, 1 or "all"
    values: tuple[str, ...] = ()  # of the records; empty: m1, m2, ... in the order produced
    timeout_ms: RequestMillis = 30_000
    to_broker: BrokerId | None = None  # None: the leader, as the controller has it

    def __post_init__(self) -> None:
        """Refuse what no producer sends, and acks that no broker knows."""
        check_fields(self)
        refuse_unknown_acks(self.acks)


@dataclass(frozen=True, slots=True)
class Fetch(Checked):
    """A follower's fetcher makes one round: it cuts its log if it must, and asks its leader for what comes next."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class Consume(Checked):
    """A consumer reads from the leader, read_uncommitted, without waiting."""

    offset: int = 0


@dataclass(frozen=True, slots=True)
class DeleteRecords(Checked):
    """An administrator moves the log start up to `before_offset`."""

    before_offset: int


@dataclass(frozen=True, slots=True)
class TimePassed(Checked):
    """The clock moves on; requests that have waited too long are answered."""

    ms: Millis


@dataclass(frozen=True, slots=True)
class IsrChecked(Checked):
    """The leader looks for followers to take out of the ISR, as it does every half lag time."""

    broker_id: BrokerId | None = None  # None: the leader, as the controller has it


@dataclass(frozen=True, slots=True)
class AlterPartitionAnswered(Checked):
    """The controller answers a leader's proposal: by its rules, or with the `error` given."""

    error: str | None = None  # None: by its rules; else a name in `ALTER_PARTITION_ERRORS`
    broker_id: BrokerId | None = None  # None: the leader, as the controller has it
    successor: BrokerId | None = None  # as in SessionExpired, where a reassignment ends and takes the leader away

    def __post_init__(self) -> None:
        """Refuse an error that no controller answers."""
        check_fields(self)
        if self.error is not None and self.error not in ALTER_PARTITION_ERRORS:
            near = unknown_name("error", self.error, ALTER_PARTITION_ERRORS)
            near = str(near).partition(";")[2].strip() if "did you mean" in str(near) else ""
            known = ", ".join(map(repr, ALTER_PARTITION_ERRORS))
            raise KafkaLearnError(
                f"unknown error {shown(self.error)}; {near + ' ' if near else ''}a controller answers {known}; "
                "without an error the rules decide"
            )


@dataclass(frozen=True, slots=True)
class HighWatermarkCheckpointed(Checked):
    """A broker writes its high watermark to disk, as it does every five seconds."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class BrokerCrashed(Checked):
    """The process is killed. Its disk keeps what it has; the controller has not noticed yet."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class PowerLost(Checked):
    """The machine of a broker stops: its process is gone, and what had not been flushed to disk is gone too.

    Kafka flushes nothing by itself before it acknowledges; that a record survives rests on other replicas.
    """

    broker_id: BrokerId
    flushed_to: Offset = 0  # records from this offset on were in memory alone


@dataclass(frozen=True, slots=True)
class BrokerStopped(Checked):
    """A clean stop: the controller moves the leadership away first, the high watermark is written to disk."""

    broker_id: BrokerId
    successor: BrokerId | None = None  # as in SessionExpired


@dataclass(frozen=True, slots=True)
class BrokerRestarted(Checked):
    """The process starts again, registers with the controller, and learns who leads."""

    broker_id: BrokerId
    successor: BrokerId | None = None  # as in SessionExpired


@dataclass(frozen=True, slots=True)
class ControlledShutdownStarted(Checked):
    """A broker asks to be stopped: the controller takes its leadership away, it still runs. `BrokerStopped` ends it."""

    broker_id: BrokerId
    successor: BrokerId | None = None  # as in SessionExpired


@dataclass(frozen=True, slots=True)
class BrokerRegistered(Checked):
    """The process starts again and registers; it follows, but stays fenced until it is `BrokerUnfenced`.

    `BrokerRestarted` is both at once.
    """

    broker_id: BrokerId
    successor: BrokerId | None = None  # as in SessionExpired


@dataclass(frozen=True, slots=True)
class BrokerUnfenced(Checked):
    """A fenced broker has caught up with the metadata, up to its own registration: it counts as alive again."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class BrokerFrozen(Checked):
    """The process stands still: it neither sends nor answers, and loses nothing."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class BrokerThawed(Checked):
    """The process goes on where it stood, and knows nothing newer until it is `BrokerReconnected`."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class BrokerReconnected(Checked):
    """It talks to the controller again: it counts as alive, and learns who leads."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class SessionExpired(Checked):
    """A broker has sent no heartbeat for too long: it is fenced, leaves the ISR, and is replaced as leader.

    `successor` names the new leader where the controller has a choice; None: by the order of the assignment.
    """

    broker_id: BrokerId
    successor: BrokerId | None = None


@dataclass(frozen=True, slots=True)
class LeaderImbalanceChecked(Checked):
    """The controller gives leadership back to the preferred replica, as it does every 300 s.

    ``auto.leader.rebalance.enable`` switches this off, ``leader.imbalance.check.interval.seconds`` sets the interval.
    """

    successor: BrokerId | None = None  # the preferred replica, where the assignment has no order


@dataclass(frozen=True, slots=True)
class ElectLeaders(Checked):
    """An administrator asks for an election (``kafka-leader-election.sh``)."""

    election_type: str = PREFERRED_ELECTION  # or "unclean"
    successor: BrokerId | None = None  # as in LeaderImbalanceChecked; of an unclean one: who is to lead

    def __post_init__(self) -> None:
        """Refuse an election that Kafka does not know."""
        check_fields(self)
        one_of("election_type", self.election_type, ELECTION_TYPES)


@dataclass(frozen=True, slots=True)
class AlterPartitionReassignments(Checked):
    """An administrator asks for other replicas (``kafka-reassign-partitions.sh --execute``, or ``--cancel``)."""

    replicas: tuple[BrokerId, ...] | None  # the first is to be preferred as leader; None: cancel
    may_change_factor: bool = True  # allow_replication_factor_change, since 4.1 (KIP-860)
    successor: BrokerId | None = None  # as in SessionExpired, where this takes the leader away


@dataclass(frozen=True, slots=True)
class LeaderElected(Checked):
    """The script decides who leads, and what the ISR is."""

    leader: BrokerId
    isr: tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class IsrSet(Checked):
    """The script decides what the ISR is; leader and leader epoch stay."""

    isr: tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class BrokerFenced(Checked):
    """The script decides that a broker does not count as alive; nothing else changes."""

    broker_id: BrokerId


ReplicationEvent: TypeAlias = (
    Produce
    | Fetch
    | Consume
    | DeleteRecords
    | TimePassed
    | IsrChecked
    | AlterPartitionAnswered
    | HighWatermarkCheckpointed
    | BrokerCrashed
    | PowerLost
    | BrokerStopped
    | BrokerRestarted
    | BrokerFrozen
    | BrokerThawed
    | BrokerReconnected
    | ControlledShutdownStarted
    | BrokerRegistered
    | BrokerUnfenced
    | SessionExpired
    | LeaderImbalanceChecked
    | ElectLeaders
    | AlterPartitionReassignments
    | LeaderElected
    | IsrSet
    | BrokerFenced
)
