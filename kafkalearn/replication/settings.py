"""What stays the same while a partition runs: its replicas, its release, the settings of topic and broker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from kafkalearn.arguments import fill_in
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import NOT_GIVEN, BrokerId, Checked, Count, FilledIn, Index, Millis, Whole, check_fields
from kafkalearn.phrases import listed, shown
from kafkalearn.replication.rules import Rules, refuse_unknown_names, rules_of
from kafkalearn.versions import default
from kafkalearn.versions.releases import DEFAULT_RELEASE, ReleaseName, at_least

MOST_REPLICAS = 100  # of a partition here; Kafka's own limit, 32,767, would take hours to step through
BrokerCount: TypeAlias = Annotated[int, Whole(1, MOST_REPLICAS)]
LAG_MAX_MESSAGES = 4000  # replica.lag.max.messages, the default of 0.8.2, the last release that had it


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """One partition and the cluster it lives in. Brokers are numbered from 1.

    Parameters
    ----------
    replica_count : int
        Brokers that hold a replica at the start, 1 to 100.
    release : str
        Of all brokers and the controller; without one, Kafka 4.3. It decides `rules` and the defaults below.
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
        fill_in(self, rules=rules_of(self.release), broker_count=self.replica_count)
        refuse_unknown_names(self.rules)
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
