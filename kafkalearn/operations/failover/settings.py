"""What stays the same while a broker dies and its groups move."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.arguments import fill_in
from kafkalearn.fields import NOT_GIVEN, BrokerId, Checked, Count, FilledIn, Index, check_fields
from kafkalearn.operations.coordinator_life.settings import Settings as LifeSettings
from kafkalearn.versions.defaults import whole_default
from kafkalearn.versions.releases import DEFAULT_RELEASE, ReleaseName

S_MS = 1000


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The cluster, how long it takes to notice a dead broker, and how long a load takes.

    Parameters
    ----------
    release : str
        Of brokers and clients.
    broker_ids : tuple of int
        All brokers.
    replicas : tuple of int or None
        Who has the partition of the groups, the preferred leader first; None: all brokers.
    notice_s : int or None
        Until a broker that died counts as dead. None: the default, ``broker.session.timeout.ms`` (9 s) with KRaft,
        ``zookeeper.session.timeout.ms`` (6 s, 18 s since 2.5) before.
    load_s : int
        How long the new coordinator reads the log: `kafkalearn.operations.loading.load_seconds`.
    heartbeat_s, commit_s : int
        How often members send heartbeats and clients commit.

    Examples
    --------
    >>> [Settings(release).notice_s for release in ("1.1", "2.8", "4.3")]
    [6, 18, 9]
    """

    release: ReleaseName = DEFAULT_RELEASE
    broker_ids: tuple[BrokerId, ...] = (1, 2, 3)
    replicas: FilledIn[tuple[BrokerId, ...]] = NOT_GIVEN
    notice_s: FilledIn[Index] = NOT_GIVEN
    load_s: Index = 4
    heartbeat_s: Count = 3
    commit_s: Count = 5

    def __post_init__(self) -> None:
        """Fill in what the release decides."""
        check_fields(self)
        fill_in(self, replicas=self.broker_ids, notice_s=self._default_notice_s())

    def _default_notice_s(self) -> int:
        has_zookeeper = self.life.leadership.has_zookeeper
        name = "zookeeper.session.timeout.ms" if has_zookeeper else "broker.session.timeout.ms"
        return whole_default(name, self.release, side="broker") // S_MS

    @property
    def life(self) -> LifeSettings:
        """The same, as the coordinator's life has it."""
        return LifeSettings(self.release, self.broker_ids, self.replicas)
