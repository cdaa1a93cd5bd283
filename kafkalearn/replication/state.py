"""The parts of a replicated partition: logs on disks, what a leader knows, what the controller has recorded.

A *leader epoch* counts the elections of a partition. Every replica keeps a list of ``(epoch, start offset)``, its
file ``leader-epoch-checkpoint``: the first offset that was written under each epoch. Two replicas that compare
these lists find the place where their logs part.

Every value that exists twice in a cluster exists twice here. A follower's LEO is in its own `Log` (exact) and
in the leader's `Remote` (what its last fetch said); the ISR is in the `Controller` and in the `Leadership` of the
broker that leads. The `Ledger` is what no broker knows: which records were acknowledged, and which could be read.

The parts are named tuples rather than dataclasses: a search makes millions of them, and they cost a third.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from kafkalearn.base.checks import whole_number
from kafkalearn.replication.events import Effect
from kafkalearn.replication.settings import Assignment, Settings

# The leader epoch cache: all functions take a list of epochs and return a new one.

Epochs: TypeAlias = tuple[tuple[int, int], ...]
"""The entries ``(epoch, start offset)``, both ascending."""

UNDEFINED = (-1, -1)
"""The answer where there is none."""


def assign(epochs: Epochs, epoch: int, start_offset: int) -> Epochs:
    """The cache once `epoch` is known to begin at `start_offset`.

    What stands in its way goes: entries with that epoch or a later one, or with that offset or a later one.

    >>> assign(((0, 0), (3, 8)), 4, 8)
    ((0, 0), (4, 8))
    """
    whole_number("epoch", epoch, at_least=0)
    whole_number("start_offset", start_offset, at_least=0)
    if epochs and epochs[-1][0] == epoch and start_offset >= epochs[-1][1]:
        return epochs
    kept = tuple(entry for entry in epochs if entry[0] < epoch and entry[1] < start_offset)
    return (*kept, (epoch, start_offset))


def assign_before_kafka_7415(epochs: Epochs, epoch: int, start_offset: int) -> Epochs:
    """The same of 0.11 to 2.0.0: neither epoch nor offset may fall, and nothing that is noted goes.

    >>> assign_before_kafka_7415(((2, 6),), 3, 5), assign_before_kafka_7415(((2, 9),), 3, 9)
    (((2, 6),), ((2, 9), (3, 9)))

    References
    ----------
    Apache Kafka 0.11.0 to 2.0.0, ``LeaderEpochFileCache.assign``.
    """
    is_noted = not epochs or (epoch > epochs[-1][0] and start_offset >= epochs[-1][1])
    return (*epochs, (epoch, start_offset)) if is_noted else epochs


def end_offset_for(epochs: Epochs, epoch: int, log_end_offset: int) -> tuple[int, int]:
    """Where `epoch` ends in this log: the largest epoch of the cache not above it, and its end offset.

    Parameters
    ----------
    epochs : tuple of (int, int)
        The cache.
    epoch : int
        The epoch asked for; -1 asks for none.
    log_end_offset : int
        Where the newest epoch ends.

    Returns
    -------
    tuple of (int, int)
        `UNDEFINED` if the cache is empty, or knows nothing up to that epoch's end. An epoch before the first
        entry is answered as itself, ending where the first begins.

    Examples
    --------
    >>> end_offset_for(((0, 0), (3, 2), (4, 8)), 2, 17), end_offset_for(((0, 0), (3, 2), (4, 8)), 4, 17)
    ((0, 2), (4, 17))

    References
    ----------
    Apache Kafka 2.0 to 4.3, ``LeaderEpochFileCache.endOffsetFor``.
    """
    if not epochs or epoch == -1 or epoch > epochs[-1][0]:
        return UNDEFINED
    if epoch == epochs[-1][0]:
        return epoch, log_end_offset
    end_offset = next(start for later, start in epochs if later > epoch)
    return max((each for each, _ in epochs if each <= epoch), default=epoch), end_offset


def end_offset_before_kip_279(epochs: Epochs, epoch: int, log_end_offset: int) -> int:
    """Where `epoch` ends as leaders of 0.11 and 1.x answered: without saying which epoch they speak of.

    A leader that never knew the epoch answered all the same, and the follower could not know (KIP-279).

    >>> end_offset_before_kip_279(((0, 0), (3, 2), (4, 8)), 2, 17)
    2
    """
    if epochs and epoch < epochs[0][0]:
        return UNDEFINED[1]
    return end_offset_for(epochs, epoch, log_end_offset)[1]


def cut_from_end(epochs: Epochs, end_offset: int) -> Epochs:
    """The cache of a log that was cut to end at `end_offset`.

    >>> cut_from_end(((0, 0), (3, 2), (4, 8)), 8)
    ((0, 0), (3, 2))
    """
    return tuple(entry for entry in epochs if entry[1] < end_offset)


def cut_from_start(epochs: Epochs, start_offset: int) -> Epochs:
    """The cache of a log whose start moved to `start_offset`: the epoch that is cut in two begins there.

    >>> cut_from_start(((0, 0), (3, 2), (4, 8)), 5)
    ((3, 5), (4, 8))
    """
    before = [entry for entry in epochs if entry[1] <= start_offset]
    if not before:
        return epochs
    return ((before[-1][0], start_offset), *epochs[len(before) :])


# What there is on brokers and at the controller.

UNKNOWN = -1  # a remote LEO before the follower's first fetch, an epoch before the first election

RUNNING = "running"
FROZEN = "frozen"  # the process stands still: a long pause, a hung disk, SIGSTOP
CUT_OFF = "cut off"  # it runs, but knows nothing that the controller recorded since it stood still
DOWN = "down"


class Record(NamedTuple):
    """One record; its offset is its place in the log."""

    value: str
    leader_epoch: int  # of the leader that appended it; -1 before 0.11, which did not write it down


class Remote(NamedTuple):
    """What a leader knows of one follower, from its fetches alone."""

    log_end_offset: int = UNKNOWN  # the *remote LEO*: the offset of its last fetch
    log_start_offset: int = UNKNOWN
    last_caught_up_ms: int | None = None  # None: never under this leader
    last_fetch_ms: int | None = None
    leader_end_at_last_fetch: int = UNKNOWN
    last_sent_high_watermark: int = 0  # kept by 2.4 and 2.5 alone


def remote_ends_of(remotes: tuple[Remote | None, ...]) -> tuple[int | None, ...]:
    """The remote LEOs alone, by broker from id 1; None where there is no follower."""
    return tuple([None if each is None else each.log_end_offset for each in remotes])


class ParkedFetch(NamedTuple):
    """A follower's fetch that found nothing and waits on the leader."""

    broker_id: int
    fetch_offset: int
    deadline_ms: int


class ParkedProduce(NamedTuple):
    """An acks=all request that waits until the high watermark has passed its records."""

    request: int  # numbered from 1, as they came
    base_offset: int
    required_offset: int  # the high watermark that answers it
    deadline_ms: int


class Proposal(NamedTuple):
    """An ISR that the leader has proposed and the controller has not taken over."""

    isr: tuple[int, ...]
    is_refused: bool = False  # the leader is out of date, says the controller, and waits for new metadata


class Waiting(NamedTuple):
    """The requests that wait on a leader, in the order they came."""

    fetches: tuple[ParkedFetch, ...] = ()
    produces: tuple[ParkedProduce, ...] = ()


class Leadership(NamedTuple):
    """What a broker keeps for a partition that it leads."""

    epoch_start_offset: int  # its LEO when it took over
    isr: tuple[int, ...]  # committed, as far as it knows
    partition_epoch: int
    proposal: Proposal | None = None

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        """The ISR and who may already be in it: the members of a proposal that is not answered yet."""
        return self.isr if self.proposal is None else tuple(sorted({*self.isr, *self.proposal.isr}))


class Log(NamedTuple):
    """One replica's log with its marks."""

    records: tuple[Record, ...] = ()
    first_offset: int = 0  # of `records`; above 0 only where a log was begun anew
    log_start_offset: int = 0
    high_watermark: int = 0
    epochs: Epochs = ()  # the leader epoch cache
    checkpointed_high_watermark: int = 0  # what replication-offset-checkpoint says

    @property
    def log_end_offset(self) -> int:
        """The LEO: the offset the next record will get."""
        return self.first_offset + len(self.records)

    @property
    def last_stable_offset(self) -> int:
        """The LSO: the high watermark, as there are no open transactions here."""
        return self.high_watermark

    def records_from(self, offset: int, end_offset: int | None = None) -> tuple[Record, ...]:
        """The records from `offset` up to `end_offset`, or to the end."""
        end = None if end_offset is None else max(0, end_offset - self.first_offset)
        return self.records[max(0, offset - self.first_offset) : end]


class Broker(NamedTuple):
    """The status of a replica's broker, and what it last learnt from the controller."""

    status: str = RUNNING
    was_stopped_cleanly: bool = True
    leader: int | None = None
    leader_epoch: int = UNKNOWN
    is_truncating: bool = False  # it still has to ask the leader where to cut (0.11 to 2.7)

    @property
    def is_running(self) -> bool:
        """Whether it can send and answer requests."""
        return self.status in (RUNNING, CUT_OFF)


class Replica(NamedTuple):
    """One replica: its log, its broker, and, if it leads, what it keeps for that."""

    log: Log = Log()
    broker: Broker = Broker()
    leading: Leadership | None = None  # None: it follows
    remotes: tuple[Remote | None, ...] = ()  # what it knows of each broker, from id 1; None of itself
    waiting: Waiting = Waiting()

    @property
    def log_end_offset(self) -> int:
        """The LEO."""
        return self.log.log_end_offset

    @property
    def high_watermark(self) -> int:
        """The HW, as this replica knows it."""
        return self.log.high_watermark

    @property
    def is_running(self) -> bool:
        """Whether its broker can send and answer requests."""
        return self.broker.is_running


class Controller(NamedTuple):
    """The partition as the controller has recorded it."""

    leader: int | None = None
    leader_epoch: int = UNKNOWN
    partition_epoch: int = UNKNOWN
    isr: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()  # eligible leader replicas
    last_known_leader: int | None = None
    is_recovering: bool = False  # elected uncleanly, and nothing confirmed since
    fenced: tuple[int, ...] = ()  # brokers it does not count as alive
    assignment: Assignment = Assignment()
    stopping: tuple[int, ...] = ()  # brokers in controlled shutdown: alive, and to lead nothing any more

    def is_active(self, broker_id: int) -> bool:
        """Whether a broker may lead, and be in the ISR: it is neither fenced nor about to stop."""
        return broker_id not in self.fenced and broker_id not in self.stopping


class Requests(NamedTuple):
    """How much producers have sent."""

    request_count: int = 0
    value_count: int = 0  # values given out, m1, m2, ...


class Visible(NamedTuple):
    """What consumers have been able to read."""

    records: tuple[Record | None, ...] = ()  # by offset, all that ever lay below a leader's HW; None: unseen
    leader_epoch: int = UNKNOWN
    high_watermark: int = 0  # the highest of the leader of that epoch


class Ledger(NamedTuple):
    """What clients rely on: kept beside the cluster, to know what is lost."""

    requests: Requests = Requests()
    acknowledged: tuple[tuple[int, str], ...] = ()  # (offset, value), answered without an error
    visible: Visible = Visible()
    unclean_election_count: int = 0


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition on all its brokers, at one moment. `effects` are no part of what makes two moments equal."""

    controller: Controller
    replicas: tuple[Replica, ...]  # by broker id from 1
    ledger: Ledger
    now_ms: int = 0
    effects: tuple[Effect, ...] = field(default=(), compare=False)  # what the last event led to, in order

    def replica(self, broker_id: int) -> Replica:
        """The replica on one broker."""
        return self.replicas[broker_id - 1]

    @property
    def leader(self) -> Replica | None:
        """The replica that leads and that the controller wants to lead; None: the partition is offline."""
        if self.controller.leader is None:
            return None
        replica = self.replica(self.controller.leader)
        return replica if replica.leading is not None and replica.is_running else None

    @property
    def high_watermark(self) -> int | None:
        """What consumers may read up to, exclusive; None while there is no leader."""
        return None if self.leader is None else self.leader.high_watermark


def blank(settings: Settings) -> Partition:
    """The partition before its first election: empty replicas, no leader."""
    return Partition(Controller(assignment=_first_assignment(settings)), (Replica(),) * settings.broker_count, Ledger())


def _first_assignment(settings: Settings) -> Assignment:
    return Assignment(settings.assignment or settings.broker_ids[: settings.replica_count])


def start(settings: Settings) -> Partition:
    """A new partition, just after its first election: empty, all replicas in sync, the first of the assignment leads.

    >>> start(Settings()).controller.isr, start(Settings(assignment=(2, 3, 1))).controller.leader
    ((1, 2, 3), 2)
    """
    assignment, rules = _first_assignment(settings), settings.rules
    isr, leader = tuple(sorted(assignment.replicas)), assignment.replicas[0]
    remotes = (Remote(last_caught_up_ms=0) if each in isr and each != leader else None for each in settings.broker_ids)
    leads = Replica(
        Log(epochs=((0, 0),) if rules.has_leader_epochs and rules.notes_epochs_at_elections else ()),
        Broker(leader=leader, leader_epoch=0),
        Leadership(epoch_start_offset=0, isr=isr, partition_epoch=0),
        remotes=tuple(remotes),
    )
    follows = Replica(broker=Broker(leader=leader, leader_epoch=0, is_truncating=rules.cuts_before_fetching))
    others = dict.fromkeys(isr, follows)
    return Partition(
        Controller(leader, leader_epoch=0, partition_epoch=0, isr=isr, assignment=assignment),
        tuple(leads if each == leader else others.get(each, Replica()) for each in settings.broker_ids),
        Ledger(visible=Visible(leader_epoch=0)),
    )
