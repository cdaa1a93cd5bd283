"""What stays the same while a group reads one partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kafkalearn.arguments import LARGEST_INT, fill_in, one_of
from kafkalearn.commits.sinks import PLAIN, SINKS
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import MOST_RECORDS, NOT_GIVEN, Checked, Count, FilledIn, Index, Offset, Whole, check_fields
from kafkalearn.versions import default

RESETS = ("earliest", "latest", "none")
"""Values of ``auto.offset.reset`` in this simulator; `kafkalearn.commits.start_offset` knows by_duration as well."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """A partition with records, and how a group reads it.

    Parameters
    ----------
    record_count : int
        The records 0 to ``record_count - 1`` are in the partition at the start, at most `MOST_RECORDS`.
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
    metadata_max_bytes : int
        The broker's ``offset.metadata.max.bytes``, which counts characters of Java, not bytes; if not given, the
        default of Kafka 4.3.
    """

    record_count: Annotated[int, Whole(0, MOST_RECORDS)] = 0
    committed: Offset | None = 0
    is_auto: bool = False
    auto_commit_interval_ms: FilledIn[Annotated[int, Whole(0, LARGEST_INT)]] = NOT_GIVEN
    auto_offset_reset: FilledIn[str] = NOT_GIVEN
    max_poll_records: FilledIn[Count] = NOT_GIVEN
    sink: str = PLAIN
    metadata_max_bytes: FilledIn[Index] = NOT_GIVEN

    def __post_init__(self) -> None:
        """Fill in what was not given; refuse what no consumer can be configured to."""
        check_fields(self)
        fill_in(
            self,
            auto_commit_interval_ms=default("auto.commit.interval.ms", side="consumer"),
            auto_offset_reset=default("auto.offset.reset", side="consumer"),
            max_poll_records=default("max.poll.records", side="consumer"),
            metadata_max_bytes=default("offset.metadata.max.bytes", side="broker"),
        )
        one_of("auto_offset_reset", self.auto_offset_reset, RESETS)
        one_of("sink", self.sink, SINKS)
        if self.committed is not None and self.committed > self.record_count:
            raise KafkaLearnError(
                f"committed is {self.committed}, beyond the log end {self.record_count}; commit at most the log end"
            )
