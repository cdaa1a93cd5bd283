"""What stays the same while a partition runs: the rules of its release, its settings; and who holds its replicas.

Twelve years have changed nearly every rule of the protocol, most of them after a record was lost somewhere. `Rules`
has a field for each change, `rules_of` reads them from a table. To see what one change is good for, take the rules of a
release and turn back that one: ``replace(rules_of("4.3"), truncation="high watermark")``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, TypeAlias

from kafkalearn.base.checks import (
    NOT_GIVEN,
    BrokerId,
    Checked,
    Count,
    FilledIn,
    Index,
    Millis,
    Whole,
    check_fields,
    fill_in,
    one_of,
)
from kafkalearn.base.errors import KafkaLearnError, listed, shown
from kafkalearn.releases import default
from kafkalearn.releases.lines import (
    DEFAULT_RELEASE,
    RELEASES,
    AnswersFor,
    Release,
    ReleaseName,
    at_least,
    release_line,
)

TRUNCATIONS: MappingProxyType[str, str] = MappingProxyType(
    {
        "high watermark": "0.8.2 to 0.10.2: a new follower cuts its log to its own high watermark",
        "epoch, asked once": "0.11 and 1.x, KIP-101: it asks the leader where its newest epoch ends, and cuts there",
        "epoch, asked again": "2.0 to 2.7, KIP-279: it asks until leader and follower speak of the same epoch",
        "epoch, in the fetch": "since 2.8, KIP-595: a fetch carries its newest epoch, the leader says where they part",
    }
)
"""How a follower finds where its log parts from the leader's, by name."""

LAG_TESTS: MappingProxyType[str, str] = MappingProxyType(
    {
        "time or records": "0.8.2: silent for replica.lag.time.max.ms, or replica.lag.max.messages records behind",
        "time": "0.9 to 2.0: not caught up for replica.lag.time.max.ms",
        "time, unless at the end": "since 2.1: the same, but one that has all the leader has is never removed",
    }
)
"""What takes a follower out of the ISR, by name."""

REASSIGNMENT_ENDS: MappingProxyType[str, str] = MappingProxyType(
    {
        "new in sync": "up to 3.7: every replica that is added is in sync",
        "all in sync": "3.8 to 4.2, KAFKA-15665: every replica there is to be is in sync, new and old",
        "new in sync, all if fewer": "since 4.3: as up to 3.7; where more replicas go than come, all are to be in sync",
    }
)
"""Who has to be in sync for a reassignment to end, by name; one that stays has to be, in any case."""


@dataclass(frozen=True, slots=True)
class Rules(Checked):
    """How one release replicates; each field is one change in the protocol's history."""

    truncation: str  # a name in TRUNCATIONS
    lag_test: str  # a name in LAG_TESTS
    has_leader_epochs: bool  # batches carry the epoch of their leader, and replicas keep a cache of epochs
    notes_epochs_at_elections: bool  # a leader notes its epoch at once; before, with the first record (KAFKA-7415)
    fences_fetches: bool  # a fetch carries the epoch its sender knows, and an old or new one is refused
    counts_previous_fetch: bool  # one append behind is caught up too, as of the fetch before
    high_watermark_waits_for_caught_up: bool  # also for replicas outside the ISR
    high_watermark_ignores_ineligible: bool  # but not for one that is fenced
    is_frozen_under_min_isr: bool  # the high watermark stands while the ISR is too small
    asks_controller: bool  # ISR changes are proposed to the controller; before, the leader wrote them itself
    joins_from_epoch_start: bool  # a follower must have reached the start of the leader's epoch to join the ISR
    joins_only_eligible: bool  # a fenced follower may not join
    answers_new_high_watermark: bool  # an empty fetch is answered as soon as the high watermark has moved
    halts_beyond_leader: bool  # a follower ahead of its leader stops its broker, unless unclean election is allowed
    notices_restarts: bool  # a follower that was gone too shortly to be missed leaves the ISR all the same
    has_eligible_leader_replicas: bool  # for new clusters; 4.0 has them switched off
    reassignment_end: str  # a name in REASSIGNMENT_ENDS

    @property
    def cuts_before_fetching(self) -> bool:
        """Whether a new follower first asks its leader where to cut its log (0.11 to 2.7)."""
        return self.truncation in ("epoch, asked once", "epoch, asked again")


# For each field: the values it has had, each with the first release that has it.
_HISTORY: MappingProxyType[str, tuple[tuple[str, str | bool], ...]] = MappingProxyType(
    {
        "truncation": tuple(zip(("0.8.2", "0.11.0", "2.0", "2.8"), TRUNCATIONS, strict=True)),
        "lag_test": tuple(zip(("0.8.2", "0.9.0", "2.1"), LAG_TESTS, strict=True)),
        "has_leader_epochs": (("0.8.2", False), ("0.11.0", True)),
        "notes_epochs_at_elections": (("0.8.2", False), ("2.0.1", True)),
        "fences_fetches": (("0.8.2", False), ("2.1", True)),
        "counts_previous_fetch": (("0.8.2", False), ("0.10.2", True)),
        "high_watermark_waits_for_caught_up": (("0.8.2", False), ("0.10.2", True)),
        "high_watermark_ignores_ineligible": (("0.8.2", False), ("3.6", True)),
        "is_frozen_under_min_isr": (("0.8.2", False), ("3.7", True)),
        "asks_controller": (("0.8.2", False), ("2.7", True)),
        "joins_from_epoch_start": (("0.8.2", False), ("2.0", True)),
        "joins_only_eligible": (("0.8.2", False), ("3.3", True)),
        "answers_new_high_watermark": (("0.8.2", False), ("2.4", True), ("2.6", False)),
        "halts_beyond_leader": (("0.8.2", True), ("2.0.1", False)),
        "notices_restarts": (("0.8.2", False), ("2.2", True)),
        "has_eligible_leader_replicas": (("0.8.2", False), ("4.1", True)),
        "reassignment_end": tuple(zip(("0.8.2", "3.8", "4.3"), REASSIGNMENT_ENDS, strict=True)),
    }
)


def rules_of(release: str | Release = DEFAULT_RELEASE) -> Rules:
    """How the brokers and the controller of a release replicate.

    Parameters
    ----------
    release : str
        A release line or a patch of one; without one, the newest line.

    Returns
    -------
    Rules
        Made of plain values: ``dataclasses.replace`` mixes the eras.

    Raises
    ------
    KafkaLearnError
        If the release is not known.

    Examples
    --------
    >>> rules_of("0.10.2").truncation, rules_of("0.11.0").truncation, rules_of().truncation
    ('high watermark', 'epoch, asked once', 'epoch, in the fetch')

    References
    ----------
    KIP-16 (0.9), KIP-101 (0.11), KIP-279 (2.0), KAFKA-7414 and KAFKA-7415 (2.0.1), KIP-320 (2.1), KAFKA-1120 (2.2),
    KAFKA-8443 and KAFKA-9952 (2.4, 2.6), KIP-497 (2.7), KIP-595 (2.8), KIP-841 (3.3), KAFKA-15583 (3.7),
    KAFKA-15665 (3.8), KIP-966 (4.1).
    """
    release_line(release)
    return _rules_of(release)


@cache
def _rules_of(release: str | Release) -> Rules:
    values: dict[str, Any] = {}  # `Rules` checks them
    for name, history in _HISTORY.items():
        values[name] = [value for since, value in history if at_least(since, release)][-1]
    return Rules(**values)


def changes_of_rules() -> tuple[tuple[str, str, str | bool], ...]:
    """Every change as (release, field of `Rules`, new value), oldest first; the rules of 0.8.2 are left out.

    >>> changes_of_rules()[-1]
    ('4.3', 'reassignment_end', 'new in sync, all if fewer')
    """
    named = [(since, name, value) for name, history in _HISTORY.items() for since, value in history[1:]]
    return tuple(sorted(named, key=lambda change: tuple(map(int, change[0].split(".")))))


assert set(_HISTORY) == {field.name for field in fields(Rules)}, "every rule has its history"


MOST_REPLICAS = 100  # of a partition here; Kafka's own limit, 32,767, would take hours to step through
BrokerCount: TypeAlias = Annotated[int, Whole(1, MOST_REPLICAS)]
LAG_MAX_MESSAGES = 4000  # replica.lag.max.messages, the default of 0.8.2, the last release that had it


ANSWERS_FOR = AnswersFor("replication", RELEASES[0])


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """One partition and the cluster it lives in. Brokers are numbered from 1.

    Parameters
    ----------
    replica_count : int
        Brokers that hold a replica at the start, 1 to 100.
    release : str
        Of all brokers and the controller; without one, the newest line. It decides `rules` and the defaults below.
    min_insync_replicas : int
        ``min.insync.replicas`` of the topic, at least 1.
    is_unclean_election_enabled : bool or None
        ``unclean.leader.election.enable``; None: the release's default (true up to 0.10.2).
    has_eligible_leader_replicas : bool or None
        Whether ``eligible.leader.replicas.version`` is 1; None: as on a new cluster (yes since 4.1).
    assignment : tuple of int or None
        The brokers that hold a replica, in the order in which the controller prefers them as leader; None: 1, 2, 3, ...
        Empty: these in no order; where the controller has a choice, the event has to name the ``successor``.
    replica_lag_time_max_ms : int or None
        How long a follower may lag before it leaves the ISR; None: the release's default.
    replica_lag_max_messages : int
        How many records it may lag; read by 0.8.2 alone.
    fetch_wait_max_ms : int
        ``replica.fetch.wait.max.ms``: how long a fetch that finds nothing waits. 0: it is answered at once.
    broker_count : int or None
        Brokers of the cluster; None: as many as replicas. The others hold none until a reassignment adds them.
    has_leader_rebalancing : bool or None
        ``auto.leader.rebalance.enable``; None: the release's default (true). `kafkalearn.replication.pass_time` follows
        it; with `step`, ``LeaderImbalanceChecked`` is an event like others.
    rules : Rules or None
        None: those of the release. Others mix eras: all of 4.3, but truncation as it was.

    Raises
    ------
    KafkaLearnError
        If no cluster can be configured so.

    Examples
    --------
    >>> Settings(release="0.10.2").is_unclean_election_enabled, Settings().is_unclean_election_enabled
    (True, False)
    >>> Settings(replica_count=1, min_insync_replicas=2).effective_min_isr
    1
    """

    replica_count: BrokerCount = 3
    release: ReleaseName = DEFAULT_RELEASE
    min_insync_replicas: Count = 1
    is_unclean_election_enabled: FilledIn[bool] = NOT_GIVEN
    has_eligible_leader_replicas: FilledIn[bool] = NOT_GIVEN
    assignment: FilledIn[tuple[BrokerId, ...]] = NOT_GIVEN
    replica_lag_time_max_ms: FilledIn[Millis] = NOT_GIVEN
    replica_lag_max_messages: Index = LAG_MAX_MESSAGES
    fetch_wait_max_ms: Millis = 500
    rules: FilledIn[Rules] = NOT_GIVEN
    broker_count: FilledIn[BrokerCount] = NOT_GIVEN
    has_leader_rebalancing: FilledIn[bool] = NOT_GIVEN
    broker_ids: tuple[int, ...] = field(init=False, repr=False, compare=False)  # all brokers, in their own order
    effective_min_isr: int = field(init=False, repr=False, compare=False)  # in-sync replicas that acks=all needs

    def __post_init__(self) -> None:
        """Fill in what the release decides, and refuse what no cluster can be configured to."""
        check_fields(self)
        ANSWERS_FOR.check(self.release)
        fill_in(self, rules=rules_of(self.release), broker_count=self.replica_count)
        known_names = {"truncation": TRUNCATIONS, "lag_test": LAG_TESTS, "reassignment_end": REASSIGNMENT_ENDS}
        for name, known in known_names.items():
            one_of(name.replace("_", " "), getattr(self.rules, name), known)
        object.__setattr__(self, "broker_ids", tuple(range(1, self.broker_count + 1)))
        object.__setattr__(self, "effective_min_isr", self.min_isr_of(self.replica_count))
        fill_in(
            self,
            assignment=self.broker_ids[: self.replica_count],
            has_leader_rebalancing=default("auto.leader.rebalance.enable", self.release, side="broker"),
            is_unclean_election_enabled=default("unclean.leader.election.enable", self.release, side="broker"),
            has_eligible_leader_replicas=self.rules.has_eligible_leader_replicas,
            replica_lag_time_max_ms=default("replica.lag.time.max.ms", self.release, side="broker"),
        )
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        if self.broker_count < self.replica_count:
            raise KafkaLearnError(
                f"broker_count must be at least replica_count, {self.replica_count}, got {self.broker_count}: a broker "
                "holds one replica of a partition"
            )
        named = set(self.assignment) & set(self.broker_ids)
        if self.assignment and not len(named) == len(self.assignment) == self.replica_count:
            each = "each" if self.broker_count == self.replica_count else f"{self.replica_count}"
            raise KafkaLearnError(
                f"assignment must name {each} of the brokers {listed(self.broker_ids)} once, got "
                f"{shown(self.assignment)}"
            )
        if self.fetch_wait_max_ms > self.replica_lag_time_max_ms:
            raise KafkaLearnError(
                f"fetch_wait_max_ms {self.fetch_wait_max_ms} is above replica_lag_time_max_ms "
                f"{self.replica_lag_time_max_ms}; a broker does not start so: followers that wait would seem to lag"
            )
        if self.has_eligible_leader_replicas and not at_least("4.0", self.release):
            raise KafkaLearnError(
                f"has_eligible_leader_replicas is set, but Kafka {self.release} has none; they came with 4.0 (KIP-966)"
            )

    def min_isr_of(self, replica_count: int) -> int:
        """In-sync replicas that acks=all needs of so many replicas: since 3.7 never more than there are.

        >>> Settings(min_insync_replicas=2).min_isr_of(1), Settings(min_insync_replicas=2, release="3.6").min_isr_of(1)
        (1, 2)
        """
        if self.rules.is_frozen_under_min_isr:
            return min(self.min_insync_replicas, replica_count)
        return self.min_insync_replicas


# Which brokers hold a replica, and how one assignment becomes another: what is added first, what is removed last.


class Assignment(NamedTuple):
    """The replicas of a partition as the controller has recorded them.

    While a reassignment is under way the list holds both the old replicas and the new ones. The first is the
    *preferred* leader.

    >>> moving = Assignment((1, 2, 3)).toward((4, 2, 3))
    >>> moving
    Assignment(replicas=(4, 2, 3, 1), adding=(4,), removing=(1,))
    >>> moving.target, moving.original
    ((4, 2, 3), (2, 3, 1))

    References
    ----------
    Apache Kafka 3.0 to 4.3, ``PartitionReassignmentReplicas``; KIP-455.
    """

    replicas: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def is_changing(self) -> bool:
        """Whether a reassignment is under way."""
        return bool(self.adding or self.removing)

    @property
    def target(self) -> tuple[int, ...]:
        """The replicas there are to be in the end."""
        return without(self.replicas, self.removing)

    @property
    def original(self) -> tuple[int, ...]:
        """The replicas that a cancelled reassignment leaves; their order may have changed."""
        return without(self.replicas, self.adding)

    def toward(self, target: tuple[int, ...]) -> Assignment:
        """The assignment once the controller has been asked for `target`.

        What is compared with `target` are all replicas there are, those of an earlier reassignment too. Where nothing
        is to be added, or removed, the list of the earlier one stays, as in Kafka. So who asks for the old replicas
        while the new one stands still waits for ever since 4.3, and did not from 3.8 to 4.2.

        >>> Assignment((1, 2, 3, 4), adding=(4,)).toward((1, 2, 3))
        Assignment(replicas=(1, 2, 3, 4), adding=(4,), removing=(4,))
        """
        removing = tuple(sorted(without(self.replicas, target)))
        adding = tuple(sorted(without(target, self.replicas)))
        return Assignment((*target, *removing), adding or self.adding, removing or self.removing)

    def in_no_order(self) -> Assignment:
        """The same, the replicas by their ids: where a search leaves open whom the controller prefers."""
        return self._replace(replicas=tuple(sorted(self.replicas)))


def without(broker_ids: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    """The brokers that are not among `others`, in their order.

    >>> without((3, 1, 2), (1,))
    (3, 2)
    """
    return tuple(each for each in broker_ids if each not in others)


def completed(assignment: Assignment, isr: tuple[int, ...], end: str) -> tuple[Assignment, tuple[int, ...]]:
    """Assignment and ISR once a reassignment that may end has ended; as they are if there is none that may.

    Parameters
    ----------
    assignment : Assignment
        As it is recorded.
    isr : tuple of int
        Who is to be in sync.
    end : str
        Who has to be, a name in `kafkalearn.replication.settings.REASSIGNMENT_ENDS`.

    Examples
    --------
    >>> completed(Assignment((1, 2, 3, 4), (4,), (1,)), (1, 2, 4), "all in sync")[0].is_changing
    True
    >>> completed(Assignment((1, 2, 3, 4), (4,), (1,)), (1, 2, 4), "new in sync")
    (Assignment(replicas=(2, 3, 4), adding=(), removing=()), (2, 4))

    References
    ----------
    Apache Kafka 3.0 to 4.3, ``PartitionReassignmentReplicas.maybeCompleteReassignment``; KAFKA-15665 (3.8).
    """
    kept = without(isr, assignment.removing)
    if not (assignment.is_changing and kept and assignment.target and _may_end(assignment, {*kept}, end)):
        return assignment, isr
    return Assignment(assignment.target), kept


def _may_end(assignment: Assignment, in_sync: set[int], end: str) -> bool:
    target, adding = {*assignment.target}, {*assignment.adding}  # who was added may be removed again meanwhile
    if end == "all in sync":
        return target <= in_sync
    is_fewer = end == "new in sync, all if fewer" and len(adding) < len(assignment.removing)
    return (target | adding if is_fewer else adding) <= in_sync


def reverted(assignment: Assignment, isr: tuple[int, ...]) -> tuple[Assignment, tuple[int, ...], bool]:
    """Assignment and ISR of a cancelled reassignment, and whether the ISR has all that was committed.

    If only brokers that were being added are in sync, the first of the others is all there is left.

    >>> reverted(Assignment((4, 2, 3, 1), (4,), (1,)), (1, 2, 4))
    (Assignment(replicas=(2, 3, 1), adding=(), removing=()), (1, 2), True)
    >>> reverted(Assignment((4, 1), (4,), (1,)), (4,))
    (Assignment(replicas=(1,), adding=(), removing=()), (1,), False)

    References
    ----------
    Apache Kafka 3.0 to 4.3, ``PartitionReassignmentRevert``.
    """
    kept = without(isr, assignment.adding)
    return Assignment(assignment.original), kept or assignment.original[:1], bool(kept)
