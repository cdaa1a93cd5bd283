"""The settings of the coordinator's store."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.arguments import fill_in
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import NOT_GIVEN, Checked, Count, FilledIn, Index, check_fields
from kafkalearn.offsets.metadata import MOST_METADATA
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least, parse_release

MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """What stays the same while a broker coordinates the groups of one partition.

    Parameters
    ----------
    release : str
        Of the broker; without one, Kafka 4.3.
    retention_minutes : int or None
        ``offsets.retention.minutes``; None: the release's default, 1440 up to 1.1, 10080 since 2.0 (KIP-186).
    metadata_max_bytes : int
        ``offset.metadata.max.bytes``: the longest text that a commit may bring, counted in UTF-16 units.
    commit_timeout_ms : int
        ``offsets.commit.timeout.ms``: how long a commit may wait for the replicas; then its sender gets an error.
    required_acks : int
        ``offsets.commit.required.acks`` up to 3.9: -1 waits for all in-sync replicas, 1 and 0 for none. Since 4.0 a
        commit waits always, whatever stands there (KIP-1041).
    load_buffer_bytes : int
        ``offsets.load.buffer.size``: how much of the log one read brings while it is loaded, see `LoadBuffer`.

    Examples
    --------
    >>> Settings("1.1").retention_minutes, Settings("2.0").retention_minutes
    (1440, 10080)
    """

    release: str = DEFAULT_RELEASE
    retention_minutes: FilledIn[Count] = NOT_GIVEN
    metadata_max_bytes: Index = MOST_METADATA
    commit_timeout_ms: Count = 5000
    required_acks: int = -1
    load_buffer_bytes: Count = 5_242_880

    def __post_init__(self) -> None:
        """Refuse what no broker can be configured to."""
        check_fields(self)
        parse_release(self.release)
        if self.required_acks not in (-1, 0, 1):
            raise KafkaLearnError(
                f"required_acks must be -1, 0 or 1, got {self.required_acks}; with others a broker answers every "
                "commit with INVALID_REQUIRED_ACKS"
            )
        fill_in(self, retention_minutes=10080 if at_least("2.0", self.release) else 1440)

    @property
    def waits_for_replicas(self) -> bool:
        """Whether a commit is answered, and kept in memory, only when the replicas have it."""
        return self.required_acks == -1 or at_least("4.0", self.release)

    @property
    def retention_ms(self) -> int:
        """``offsets.retention.minutes`` in milliseconds."""
        return self.retention_minutes * MINUTE_MS
