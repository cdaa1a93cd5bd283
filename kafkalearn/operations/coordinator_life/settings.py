"""What stays the same while the coordinator of one partition of ``__consumer_offsets`` moves between brokers."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.arguments import fill_in
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import NOT_GIVEN, BrokerId, Checked, Count, FilledIn, check_fields
from kafkalearn.offsets.store.settings import Settings as StoreSettings
from kafkalearn.operations.leadership.settings import Settings as LeadershipSettings
from kafkalearn.versions import default
from kafkalearn.versions.releases import DEFAULT_RELEASE, ReleaseName, at_least

WHEN_CARRIED_OUT, ON_ARRIVAL, BY_EPOCH, BY_RUNTIME = ORDER_RULES = (
    "when carried out", "on arrival", "by epoch", "by the runtime",
)  # fmt: skip
"""How brokers treat orders: to 1.1, 2.0 to 2.8.0, 2.8.1 to 3.9 (KAFKA-10614), and the coordinator of 4.0."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The brokers, the replicas of the partition, and the times of the coordinator.

    Parameters
    ----------
    release : str
        Of the brokers, 0.9.0 or later; without one, Kafka 4.3.
    broker_ids : tuple of int
        All brokers.
    replicas : tuple of int or None
        Who has the partition, the preferred leader first; None: all brokers.
    check_interval_ms : int or None
        ``offsets.retention.check.interval.ms``; None: the release's default (ten minutes in every one).
    session_timeout_ms : int or None
        ``session.timeout.ms`` of the members; None: the default of their clients, 10 s, since 3.0 45 s.
    orders_may_overtake : bool or None
        Whether a broker may carry out a newer order before an older one. None: up to 3.9, where requests of the
        controller come in several threads; since 4.0 one thread hands over what the metadata log says, in order.

    Raises
    ------
    KafkaLearnError
        If no cluster can be configured so, or the release has no group coordinator.

    Examples
    --------
    >>> [Settings(release).order_rule for release in ("1.1", "2.8.0", "2.8.1", "4.3")]
    ['when carried out', 'on arrival', 'by epoch', 'by the runtime']
    """

    release: ReleaseName = DEFAULT_RELEASE
    broker_ids: tuple[BrokerId, ...] = (1, 2)
    replicas: FilledIn[tuple[BrokerId, ...]] = NOT_GIVEN
    check_interval_ms: FilledIn[Count] = NOT_GIVEN
    session_timeout_ms: FilledIn[Count] = NOT_GIVEN
    orders_may_overtake: FilledIn[bool] = NOT_GIVEN

    def __post_init__(self) -> None:
        """Fill in what is not given, and refuse what is no cluster."""
        check_fields(self)
        if not at_least("0.9.0", self.release):
            raise KafkaLearnError(f"Kafka {self.release} has no group coordinator: the first that had one was 0.9.0")
        fill_in(
            self,
            replicas=self.broker_ids,
            check_interval_ms=default("offsets.retention.check.interval.ms", self.release, side="broker"),
            session_timeout_ms=default("session.timeout.ms", self.release, side="consumer"),
            orders_may_overtake=not at_least("4.0", self.release),
        )
        named = {*self.replicas}
        if not named or len(named) < len(self.replicas) or not named <= {*self.broker_ids}:
            raise KafkaLearnError(
                f"replicas must name brokers of {list(self.broker_ids)}, each once, got {list(self.replicas)}"
            )
        LeadershipSettings(self.broker_ids, self.release)

    @property
    def order_rule(self) -> str:
        """How this release treats orders, a name in `ORDER_RULES`."""
        since = {"4.0": BY_RUNTIME, "2.8.1": BY_EPOCH, "2.0": ON_ARRIVAL}
        return next((rule for release, rule in since.items() if at_least(release, self.release)), WHEN_CARRIED_OUT)

    @property
    def has_one_thread(self) -> bool:
        """Whether loads, resignations and sweeps of a broker share one thread, up to 3.9: each waits for the others."""
        return self.order_rule != BY_RUNTIME

    @property
    def leadership(self) -> LeadershipSettings:
        """The same brokers, as the controller sees them."""
        return LeadershipSettings(self.broker_ids, self.release)

    @property
    def store(self) -> StoreSettings:
        """The coordinator's store in this release."""
        return StoreSettings(self.release)
