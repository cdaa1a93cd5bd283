"""The recorded scripts of logs, turned into events, and the log into what the recordings say of it."""

from kafkalearn.log import (
    Append,
    Clean,
    Cleaned,
    EndTransaction,
    Log,
    MoveLogStart,
    NewBatch,
    ProducerExpired,
    Retain,
    Roll,
    SetHighWatermark,
    Settings,
)
from kafkalearn.log.index import index_of
from kafkalearn.log.model import Appended, AppendRefused, Batch, DuplicateRecognised, NotCleaned, SegmentsDeleted
from tests.log.schedules import last_effect


def new_batch(batch: dict) -> NewBatch:
    return NewBatch(
        tuple(map(tuple, batch["records"])),
        batch.get("bytes"),
        batch.get("pid", -1),
        batch.get("epoch", -1),
        batch.get("seq", -1),
        batch.get("txn", False),
    )


def events_of(event: dict, log: Log) -> list:
    """The events that one line of a script stands for."""
    match event["op"]:
        case "append":
            return [Append(tuple(map(new_batch, event["batches"])), event.get("now"))]
        case "marker":
            is_commit = event["type"] == "COMMIT"
            return [EndTransaction(event["pid"], is_commit, event["ts"], event["epoch"])]
        case "roll":
            return [Roll()]
        case "hw":
            return [SetHighWatermark(event["offset"])]
        case "delete_records":
            return [MoveLogStart(event["offset"])]
        case "clean":
            return [Clean(event["now"], event["force"])]
        case "retention":
            return [Retain(event["now"])]
        case "expire":
            return [ProducerExpired(each.producer_id) for each in log.producers]
        case "snapshot":
            return []
    raise ValueError(event["op"])


def records_of(log: Log) -> list:
    return [[record.offset, record.key, record.value] for record in log.records]


def segments_of(settings: Settings, log: Log) -> list[dict]:
    """The segments with their sizes and indexes."""
    return [
        {
            "base_offset": segment.base_offset,
            "bytes": segment.size_bytes,
            "batches": [[batch.base_offset, batch.last_offset] for batch in segment.batches],
            "offset_index": [list(each) for each in index_of(settings, segment, segment is not log.active).offsets],
            "time_index": [list(each) for each in index_of(settings, segment, segment is not log.active).times],
        }
        for segment in log.segments
    ]


def observed(settings: Settings, log: Log, names) -> dict:
    """What a recording says under each of its names, as the simulator has it."""

    def effect(*kinds, default=None):
        return last_effect(log, kinds) or default

    def cleanable():
        return effect(Cleaned, NotCleaned).cleanable

    answer = {
        "error": lambda: getattr(effect(Appended, AppendRefused), "error", None),
        "first_offset": lambda: effect(Appended, DuplicateRecognised).first_offset,
        "last_offset": lambda: effect(Appended, DuplicateRecognised).last_offset,
        "log_start_offset": lambda: log.log_start_offset,
        "log_end_offset": lambda: log.log_end_offset,
        "deleted_segments": lambda: effect(SegmentsDeleted, default=SegmentsDeleted(0)).segment_count,
        "ran": lambda: effect(Cleaned) is not None,
        "first_dirty_offset": lambda: cleanable().first_dirty_offset,
        "first_uncleanable_offset": lambda: cleanable().first_uncleanable_offset,
        "clean_bytes": lambda: cleanable().clean_bytes,
        "cleanable_bytes": lambda: cleanable().cleanable_bytes,
        "cleanable_ratio": lambda: cleanable().ratio,
        "eligible": lambda: cleanable().is_eligible,
        "need_compaction_now": lambda: cleanable().must_clean,
        "cleaner_checkpoint": lambda: log.checkpoint,
        "records": lambda: records_of(log),
        "control": lambda: [[each.base_offset, each.marker] for each in log.batches if each.marker and each.records],
        "batches": lambda: [
            [each.base_offset, each.last_offset, len(each.records), each.delete_horizon_ms] for each in log.batches
        ],
        "segments": lambda: segments_of(settings, log),
        "files": lambda: files_of(settings, log),
        "segment_counts": lambda: [[each.base_offset, len(each.batches)] for each in log.segments],
    }
    return {name: answer[name]() for name in names}


def files_of(settings: Settings, log: Log) -> list:
    """The segments with their indexes, every batch and every record, as log-answers.json writes them."""
    return [
        [
            each["base_offset"],
            each["bytes"],
            each["offset_index"],
            each["time_index"],
            list(map(batch_of, segment.batches)),
        ]
        for segment, each in zip(log.segments, segments_of(settings, log), strict=True)
    ]


def batch_of(batch: Batch) -> list:
    span = [batch.base_offset, batch.last_offset, batch.size_bytes, batch.delete_horizon_ms, batch.max_timestamp_ms]
    records = [
        [each.offset, batch.marker] if batch.marker else [each.offset, each.key, each.value] for each in batch.records
    ]
    return [*span, batch.producer_id, batch.base_sequence, records]


def headers_of(log: Log) -> list[dict]:
    """The segments with all that is in the headers of their batches."""
    return [
        {
            "base_offset": segment.base_offset,
            "bytes": segment.size_bytes,
            "batches": [
                {
                    "base": batch.base_offset,
                    "last": batch.last_offset,
                    "records": len(batch.records),
                    "bytes": batch.size_bytes,
                    "delete_horizon": batch.delete_horizon_ms,
                    "max_ts": batch.max_timestamp_ms,
                    "producer_id": batch.producer_id,
                    "sequence": batch.base_sequence,
                }
                for batch in segment.batches
            ],
        }
        for segment in log.segments
    ]
