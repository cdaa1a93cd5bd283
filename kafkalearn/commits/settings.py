"""What stays the same while a group reads one partition."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.arguments import fill_in, whole_number
from kafkalearn.commits.sinks import PLAIN, SINKS
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.versions import default

RESETS = ("earliest", "latest", "none")
"""Values of ``auto.offset.reset`` in this simulator; `kafkalearn.commits.start_offset` knows by_duration as well."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A partition with records, and how a group reads it.

    Parameters
    ----------
    record_count : int
        The records 0 to ``record_count - 1`` are in the partition at the start.
    committed : int or None
        The committed offset at the start; None: the group has never committed.
    is_auto : bool
        ``enable.auto.commit``. Off unless given, as nearly all strategies commit by themselves; Kafka's default is on.
    auto_commit_interval_ms : int
        ``auto.commit.interval.ms``; if not given, the default of Kafka 4.3.
    auto_offset_reset : str
        ``auto.offset.reset``, a name in `RESETS`; if not given, the default of Kafka 4.3.
    max_poll_records : int
        ``max.poll.records``: the most that one poll returns; if not given, the default of Kafka 4.3.
    sink : str
        How results are stored, a name in `kafkalearn.commits.sinks.SINKS`.
    """

    record_count: int = 0
    committed: int | None = 0
    is_auto: bool = False
    auto_commit_interval_ms: int | None = None
    auto_offset_reset: str | None = None
    max_poll_records: int | None = None
    sink: str = PLAIN

    def __post_init__(self) -> None:
        """Fill in what was not given; refuse what no consumer can be configured to."""
        fill_in(
            self,
            auto_commit_interval_ms=default("auto.commit.interval.ms", side="consumer"),
            auto_offset_reset=default("auto.offset.reset", side="consumer"),
            max_poll_records=default("max.poll.records", side="consumer"),
        )
        whole_number("record_count", self.record_count, at_least=0)
        whole_number("auto_commit_interval_ms", self.auto_commit_interval_ms, at_least=0)
        whole_number("max_poll_records", self.max_poll_records, at_least=1)
        if self.auto_offset_reset not in RESETS:
            raise unknown_name("auto_offset_reset", self.auto_offset_reset, RESETS)
        if self.sink not in SINKS:
            raise unknown_name("sink", self.sink, SINKS)
        if self.committed is not None and whole_number("committed", self.committed, at_least=0) > self.record_count:
            raise KafkaLearnError(
                f"committed is {self.committed}, beyond the log end {self.record_count}; commit at most the log end"
            )
