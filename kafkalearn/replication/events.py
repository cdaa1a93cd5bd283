"""What can happen to a partition, and what an event leads to.

Requests have Kafka's names, facts stand in the past tense. The rules decide who is elected and what is proposed. The
last three events overrule the controller: they are for scripts that were recorded without one. Below the events stand
the effects: answers, proposals, elections, truncations.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, TypeAlias

from kafkalearn.base import events, facts
from kafkalearn.base.checks import (
    LARGEST_INT,
    BrokerId,
    Offset,
    RecordCount,
    Whole,
    check_fields,
    one_of,
)
from kafkalearn.base.errors import LONGEST_NAME, KafkaLearnError, shown
from kafkalearn.base.events import BrokerCrashed, BrokerFenced, BrokerUnfenced, TimePassed

NONE = "NONE"  # Kafka's name for: no error

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


class Produce(facts.Event):
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


class Fetch(facts.Event):
    """A follower's fetcher makes one round: it cuts its log if it must, and asks its leader for what comes next."""

    broker_id: BrokerId


class Consume(facts.Event, says="a consumer reads from {offset}"):
    """A consumer reads from the leader, read_uncommitted, without waiting."""

    offset: int = 0


class DeleteRecords(facts.Event):
    """An administrator moves the log start up to `before_offset`."""

    before_offset: int


class IsrChecked(facts.Event, says="the leader looks for followers that lag"):
    """The leader looks for followers to take out of the ISR, as it does every half lag time."""

    broker_id: BrokerId | None = None  # None: the leader, as the controller has it


class AlterPartitionAnswered(facts.Event):
    """The controller answers a leader's proposal: by its rules, or with the `error` given."""

    error: str | None = None  # None: by its rules; else a name in `ALTER_PARTITION_ERRORS`
    broker_id: BrokerId | None = None  # None: the leader, as the controller has it
    successor: BrokerId | None = None  # as in SessionExpired, where a reassignment ends and takes the leader away

    def __post_init__(self) -> None:
        """Refuse an error that no controller answers."""
        check_fields(self)
        if self.error is not None and self.error not in ALTER_PARTITION_ERRORS:
            near = " or ".join(map(repr, get_close_matches(self.error[:LONGEST_NAME], ALTER_PARTITION_ERRORS)))
            meant = f"did you mean {near}? " if near else ""
            known = ", ".join(map(repr, ALTER_PARTITION_ERRORS))
            raise KafkaLearnError(
                f"unknown error {shown(self.error)}; {meant}a controller answers {known}; "
                "without an error the rules decide"
            )


class HighWatermarkCheckpointed(facts.Event):
    """A broker writes its high watermark to disk, as it does every five seconds."""

    broker_id: BrokerId


class PowerLost(
    facts.Event, says="broker {broker_id} loses power; all from offset {flushed_to} on was in memory alone, and is gone"
):
    """The machine of a broker stops: its process is gone, and what had not been flushed to disk is gone too.

    Kafka flushes nothing by itself before it acknowledges; that a record survives rests on other replicas.
    """

    broker_id: BrokerId
    flushed_to: Offset = 0  # records from this offset on were in memory alone


class BrokerStopped(events.BrokerStopped):
    """A clean stop: the controller moves the leadership away first, the high watermark is written to disk."""

    successor: BrokerId | None = None  # as in SessionExpired


class BrokerStarted(events.BrokerStarted, says="broker {broker_id} starts again"):
    """The process starts, registers with the controller, and learns who leads."""

    successor: BrokerId | None = None  # as in SessionExpired


class ControlledShutdownStarted(facts.Event, says="broker {broker_id} asks to be stopped"):
    """A broker asks to be stopped: the controller takes its leadership away, it still runs. `BrokerStopped` ends it."""

    broker_id: BrokerId
    successor: BrokerId | None = None  # as in SessionExpired


class BrokerRegistered(
    facts.Event,
    says="broker {broker_id} starts again and registers; it is fenced until it has caught up with the metadata",
):
    """The process starts again and registers; it follows, but stays fenced until it is `BrokerUnfenced`.

    `BrokerStarted` is both at once.
    """

    broker_id: BrokerId
    successor: BrokerId | None = None  # as in SessionExpired


class BrokerFrozen(facts.Event, says="broker {broker_id} stands still"):
    """The process stands still: it neither sends nor answers, and loses nothing."""

    broker_id: BrokerId


class BrokerThawed(facts.Event, says="broker {broker_id} goes on where it stood"):
    """The process goes on where it stood, and knows nothing newer until it is `BrokerReconnected`."""

    broker_id: BrokerId


class BrokerReconnected(facts.Event, says="broker {broker_id} is connected to the controller again"):
    """It talks to the controller again: it counts as alive, and learns who leads."""

    broker_id: BrokerId


class SessionExpired(facts.Event, says="broker {broker_id} has been silent too long: the controller fences it"):
    """A broker has sent no heartbeat for too long: it is fenced, leaves the ISR, and is replaced as leader.

    `successor` names the new leader where the controller has a choice; None: by the order of the assignment.
    """

    broker_id: BrokerId
    successor: BrokerId | None = None


class LeaderImbalanceChecked(
    facts.Event, says="the controller looks for partitions that their preferred replica does not lead"
):
    """The controller gives leadership back to the preferred replica, as it does every 300 s.

    ``auto.leader.rebalance.enable`` switches this off, ``leader.imbalance.check.interval.seconds`` sets the interval.
    """

    successor: BrokerId | None = None  # the preferred replica, where the assignment has no order


class ElectLeaders(facts.Event):
    """An administrator asks for an election (``kafka-leader-election.sh``)."""

    election_type: str = PREFERRED_ELECTION  # or "unclean"
    successor: BrokerId | None = None  # as in LeaderImbalanceChecked; of an unclean one: who is to lead

    def __post_init__(self) -> None:
        """Refuse an election that Kafka does not know."""
        check_fields(self)
        one_of("election_type", self.election_type, ELECTION_TYPES)


class AlterPartitionReassignments(facts.Event):
    """An administrator asks for other replicas (``kafka-reassign-partitions.sh --execute``, or ``--cancel``)."""

    replicas: tuple[BrokerId, ...] | None  # the first is to be preferred as leader; None: cancel
    may_change_factor: bool = True  # allow_replication_factor_change, since 4.1 (KIP-860)
    successor: BrokerId | None = None  # as in SessionExpired, where this takes the leader away


class LeaderElected(facts.Event):
    """The script decides who leads, and what the ISR is."""

    leader: BrokerId
    isr: tuple[BrokerId, ...]


class IsrSet(facts.Event):
    """The script decides what the ISR is; leader and leader epoch stay."""

    isr: tuple[BrokerId, ...]


ReplicationEvent: TypeAlias = (
    Produce | Fetch | Consume | DeleteRecords | TimePassed | IsrChecked | AlterPartitionAnswered
    | HighWatermarkCheckpointed | BrokerCrashed | PowerLost | BrokerStopped | BrokerStarted | BrokerFrozen
    | BrokerThawed | BrokerReconnected | ControlledShutdownStarted | BrokerRegistered | BrokerUnfenced
    | SessionExpired | LeaderImbalanceChecked | ElectLeaders | AlterPartitionReassignments | LeaderElected | IsrSet
    | BrokerFenced
)  # fmt: skip


# What an event leads to, in the order in which it happens.


class FetchHandled(facts.Effect):
    """A leader has worked on a follower's fetch: answered it at once, or let it wait."""

    leader_id: int
    broker_id: int
    fetch_offset: int
    is_parked: bool


class FetchAnswered(facts.Effect):
    """A follower has received an answer and has acted on it.

    `truncated_from` and `truncated_to` are where its log ended before and after an answer that made it look for what
    to cut: `diverging`, or OFFSET_OUT_OF_RANGE. They are equal if there was nothing to cut; None if it was not asked
    to. `truncated_to` is the larger one if the follower had to begin anew where its leader's log begins.
    """

    broker_id: int
    high_watermark: int | None  # the leader's, as the answer carries it; None with an error
    records: tuple[tuple[int, str], ...] = ()  # (offset, value)
    error: str = NONE
    diverging: tuple[int, int] | None = None  # (epoch, end offset): here the logs part
    truncated_from: int | None = None
    truncated_to: int | None = None

    @property
    def was_cut(self) -> bool:
        """Whether records were cut off."""
        before, after = self.truncated_from, self.truncated_to
        return before is not None and after is not None and after < before


class ProduceParked(facts.Effect):
    """An acks=all request waits for the high watermark."""

    request: int


class ProduceAnswered(facts.Effect):
    """The producer of a request has its answer; `base_offset` is None where nothing was written."""

    request: int
    error: str
    base_offset: int | None = None


class NoReachableLeader(facts.Effect, says="no leader can be reached"):
    """A request found no broker that could take it."""


class ConsumerRead(facts.Effect):
    """The records that a consumer received."""

    records: tuple[tuple[int, str], ...]  # (offset, value)
    error: str = NONE


class RecordsDeleted(facts.Effect):
    """The answer to DeleteRecords, with the log start after it."""

    log_start_offset: int
    error: str = NONE


class AlterPartitionSent(facts.Effect):
    """A leader has proposed an ISR to the controller."""

    isr: tuple[int, ...]


class IsrWritten(facts.Effect):
    """A leader has changed the ISR by itself (up to 2.6)."""

    isr: tuple[int, ...]


class LeaderChanged(facts.Effect):
    """The controller has recorded another leader, or none."""

    leader: int | None
    leader_epoch: int
    is_clean: bool


class AssignmentChanged(facts.Effect):
    """The controller has recorded other replicas: a reassignment has begun, has ended, or was cancelled."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


class ReassignmentAnswered(facts.Effect):
    """The answer to AlterPartitionReassignments; NONE: it is recorded, which is not yet the end of it."""

    error: str = NONE


class ElectionAnswered(facts.Effect):
    """The answer to ElectLeaders."""

    error: str = NONE


class ReplicaDeleted(facts.Effect, says="broker {broker_id} deletes its replica"):
    """A broker has deleted its replica: it is no longer in the assignment."""

    broker_id: int


class LogTruncated(facts.Effect):
    """A new follower has truncated its log before fetching (up to 2.7).

    `from_offset` and `to_offset` are where its log ended before and after. They are equal if there was nothing to cut:
    Kafka truncates all the same, and its log says that this "has no effect". A follower that was not asked to
    truncate has no such effect at all.
    """

    broker_id: int
    from_offset: int
    to_offset: int

    @property
    def was_cut(self) -> bool:
        """Whether records were cut off."""
        return self.to_offset < self.from_offset


class BrokerHalted(facts.Effect, says="broker {broker_id} is ahead of its leader, and halts"):
    """A follower found its leader's log shorter than its own, and stopped its broker (up to 0.10.2)."""

    broker_id: int


Effect: TypeAlias = (
    FetchHandled | FetchAnswered | ProduceParked | ProduceAnswered | NoReachableLeader | ConsumerRead
    | RecordsDeleted | AlterPartitionSent | IsrWritten | LeaderChanged | AssignmentChanged | ReassignmentAnswered
    | ElectionAnswered | ReplicaDeleted | LogTruncated | BrokerHalted
)  # fmt: skip
