"""The settings of the coordinator's store."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.arguments import fill_in, whole_number
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least, parse_release

MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Settings:
    """What stays the same while a broker coordinates the groups of one partition.

    Parameters
    ----------
    release : str
        Of the broker; without one, Kafka 4.3.
    retention_minutes : int or None
        ``offsets.retention.minutes``; None: the release's default, 1440 up to 1.1, 10080 since 2.0 (KIP-186).

    Examples
    --------
    >>> Settings("1.1").retention_minutes, Settings("2.0").retention_minutes
    (1440, 10080)
    """

    release: str = DEFAULT_RELEASE
    retention_minutes: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no broker can be configured to."""
        parse_release(self.release)
        fill_in(self, retention_minutes=10080 if at_least("2.0", self.release) else 1440)
        whole_number("retention_minutes", self.retention_minutes, at_least=1)

    @property
    def retention_ms(self) -> int:
        """``offsets.retention.minutes`` in milliseconds."""
        return self.retention_minutes * MINUTE_MS
