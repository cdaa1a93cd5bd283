"""The x-ray of one log, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from kafkalearn.answers.xray.cleaning import CleaningXray, RetentionXray
from kafkalearn.answers.xray.given import GivenLog
from kafkalearn.answers.xray.logs.checkpoints import BesideLog
from kafkalearn.log.settings import Settings
from kafkalearn.segments.census.log_census import LogCensus


@dataclass(frozen=True, slots=True)
class LogXray:
    """One log: a partition in one log dir."""

    given: GivenLog
    census: LogCensus
    beside: BesideLog
    settings: Settings
    cleaning: CleaningXray | None  # None: it is not compacted
    retention: RetentionXray | None  # None: nothing deletes it
    why: tuple[str, ...]  # what keeps a compacted log as large as it is

    def as_data(self) -> dict[str, object]:
        """As `Answer.as_data`."""
        census = self.census
        return {
            "topic": self.given.at.topic,
            "partition": self.given.at.partition,
            "log_dir": self.given.log_dir,
            "files": [_file_data(each) for each in census.files],
            "size_bytes": census.size_bytes,
            "log_start_offset": max(census.base_offset, self.beside.log_start or 0),
            "log_end_offset": census.end_offset,
            "last_stable_offset": census.last_stable_offset,
            "batch_count": census.batch_count,
            "magic_counts": {str(magic): count for magic, count in census.magic_counts.items()},
            "batches_by_codec": census.batches_by_codec,
            "bytes_by_codec": census.bytes_by_codec,
            "transactional_batch_count": census.transactional_batch_count,
            "control_records": census.controls,
            "record_count": census.record_count,
            "null_key_count": census.null_key_count,
            "tombstone_count": census.tombstone_count,
            "key_bytes": census.key_bytes,
            "value_bytes": census.value_bytes,
            "largest_keys": [each._asdict() for each in census.largest_keys],
            "largest_values": [each._asdict() for each in census.largest_values],
            "oldest": census.oldest and census.oldest._asdict(),
            "newest": census.newest and census.newest._asdict(),
            "future_batch_count": census.future_batch_count,
            "horizon_batch_count": census.horizon_batch_count,
            "earliest_horizon_ms": census.earliest_horizon_ms,
            "latest_horizon_ms": census.latest_horizon_ms,
            "producer_count": census.producer_count,
            "open_transactions": [asdict(each) for each in census.open_transactions],
            "leader_epochs": [[*each] for each in census.epochs],
            "checkpoints": self.beside.offsets,
            "leader_epoch_checkpoint": self.beside.epochs and [[*each] for each in self.beside.epochs],
            "cleanup_policy": self.settings.cleanup_policy,
            "cleaning": self.cleaning and _cleaning_data(self.cleaning),
            "retention": self.retention and {**asdict(self.retention), "reasons": [*self.retention.reasons]},
            "why": [*self.why],
        }


def _file_data(file: object) -> dict[str, object]:
    return {
        "path": str(file.file.path),
        "base_offset": file.file.base_offset,
        "size_bytes": file.size_bytes,
        "readable_bytes": file.readable_bytes,
        "batch_count": file.batch_count,
        "unread": [asdict(each) for each in file.unread],
    }


def _cleaning_data(cleaning: CleaningXray) -> dict[str, object]:
    found = cleaning.found
    return {
        "dirty_ratio": found.ratio,
        **asdict(found),
        "active_bytes": cleaning.active_bytes,
        "next_ms": cleaning.next_ms,
        "missing_bytes": cleaning.missing_bytes,
        "is_simulated": cleaning.is_simulated,
        "reasons": dict(cleaning.reasons),
        "removed_count": cleaning.removed_count,
        "kept_count": cleaning.kept_count,
        "freed_bytes": cleaning.freed_bytes,
        "stopped": cleaning.stopped,
    }
