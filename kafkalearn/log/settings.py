"""The settings of a log: those of the topic, and those of the broker's cleaner."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated

from kafkalearn.arguments import number, one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Count, Index, Millis, Whole, check_fields
from kafkalearn.versions.defaults import default, whole_default
from kafkalearn.versions.releases import DEFAULT_RELEASE, RELEASES, at_least, parse_release

POLICIES = ("delete", "compact", "compact,delete", "delete,compact", "")
"""The cleanup policies; both together came with 0.10.1 (KIP-71), the empty one, no clean-up at all, with 4.2."""

_POLICY_SINCE = {"compact,delete": "0.10.1", "delete,compact": "0.10.1", "": "4.2"}

LONG_MAX = 2**63 - 1

TIMESTAMP_LIMITS = (
    "message_timestamp_before_max_ms",
    "message_timestamp_after_max_ms",
    "message_timestamp_difference_max_ms",
)
"""How far a record's timestamp may be from the broker's clock; the third one is from 0.10.0 to 3.9, for both sides."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The topic's settings, and those of the broker's cleaner; defaults are Kafka's.

    Parameters
    ----------
    cleanup_policy : str
        A name in `POLICIES`.
    release : str
        Of the broker; without one, Kafka 4.3.
    segment_bytes, segment_ms, segment_jitter_ms, index_interval_bytes, segment_index_bytes : int
        When a segment is full, and how dense its indexes are.
    retention_ms, retention_bytes : int
        -1: no limit.
    min_cleanable_dirty_ratio : float
        From 0 to 1.
    min_compaction_lag_ms, max_compaction_lag_ms, delete_retention_ms : int
        How long records, dirty segments and tombstones are left alone.
    max_message_bytes : int
        The largest batch.
    message_timestamp_before_max_ms, message_timestamp_after_max_ms, message_timestamp_difference_max_ms : int or None
        How much older or newer than the broker's clock a record may be; None: the default of the release. Only the
        limit into the future has one: an hour, since 4.0 (KIP-1030).
    offset_map_slots, load_factor : int, float
        Room of one cleaner thread: ``log.cleaner.dedupe.buffer.size`` over threads over 24, and how full it may be.
    """

    cleanup_policy: str = "delete"
    release: str = DEFAULT_RELEASE
    segment_bytes: Count = 1073741824
    segment_ms: Annotated[int, Whole(1)] = 604800000
    segment_jitter_ms: Millis = 0
    index_interval_bytes: Index = 4096
    segment_index_bytes: Count = 10485760
    retention_ms: Annotated[int, Whole(-1)] = 604800000
    retention_bytes: Annotated[int, Whole(-1)] = -1
    min_cleanable_dirty_ratio: Annotated[float, partial(number, at_least=0, at_most=1)] = 0.5
    min_compaction_lag_ms: Millis = 0
    max_compaction_lag_ms: Annotated[int, Whole(1)] = LONG_MAX
    delete_retention_ms: Millis = 86400000
    max_message_bytes: Index = 1048588
    offset_map_slots: Count = 5592405
    load_factor: Annotated[float, partial(number, at_least=0, at_most=1)] = 0.9
    message_timestamp_before_max_ms: Millis | None = None
    message_timestamp_after_max_ms: Millis | None = None
    message_timestamp_difference_max_ms: Millis | None = None

    def __post_init__(self) -> None:
        """Refuse what no broker can be configured to."""
        check_fields(self)
        parse_release(self.release)
        one_of("cleanup policy", self.cleanup_policy, POLICIES)
        since = _POLICY_SINCE.get(self.cleanup_policy, RELEASES[0])
        if not self.has(since):
            raise KafkaLearnError(
                f"cleanup policy {self.cleanup_policy!r} came with Kafka {since}, the release is {self.release}"
            )
        for name in TIMESTAMP_LIMITS:
            if getattr(self, name) is not None:
                default(name.replace("_", "."), self.release, "topic")  # refuses what the release does not have
        if self.usable_key_count < 1:
            raise KafkaLearnError(
                f"an offset map of {self.offset_map_slots} slots, {self.load_factor} full, holds no key at all: a "
                "cleaner with such a buffer does not start; give it more slots"
            )

    @property
    def is_compacted(self) -> bool:
        """Whether the cleaner cleans the topic."""
        return "compact" in self.cleanup_policy

    @property
    def is_deleted(self) -> bool:
        """Whether old segments are deleted by time and size."""
        return "delete" in self.cleanup_policy

    @property
    def usable_key_count(self) -> int:
        """How many keys the offset map takes before it counts as full."""
        return int(self.offset_map_slots * self.load_factor)

    @property
    def roll_ms(self) -> int:
        """How long a segment stays open: a compacted one no longer than max.compaction.lag.ms."""
        has_lag = self.is_compacted and self.has("2.3")
        return min(self.segment_ms, self.max_compaction_lag_ms) if has_lag else self.segment_ms

    @property
    def timestamp_limits_ms(self) -> tuple[int, int]:
        """How much older, and how much newer than the broker's clock a record may be.

        >>> Settings().timestamp_limits_ms[1], Settings(release="3.9").timestamp_limits_ms[1] == LONG_MAX
        (3600000, True)
        """
        either_ms = self.message_timestamp_difference_max_ms
        before_ms, after_ms = self.message_timestamp_before_max_ms, self.message_timestamp_after_max_ms
        if either_ms is None:
            either_ms = LONG_MAX
        if after_ms is None:
            after_ms = min(either_ms, _default_after_max_ms(self.release))
        return (either_ms if before_ms is None else before_ms), after_ms

    def has(self, since: str) -> bool:
        """Whether the broker's release has what came with `since`."""
        return at_least(since, self.release)


@cache
def _default_after_max_ms(release: str) -> int:
    return whole_default("message.timestamp.after.max.ms", release, "topic") if at_least("3.6", release) else LONG_MAX
