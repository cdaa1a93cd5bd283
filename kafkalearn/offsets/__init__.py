"""The offsets topic ``__consumer_offsets``: its records to the byte, the state they tell, and raw segment files.

`decode` and `encode_key` / `encode_value` know every record type (`RECORD_TYPES`) and version; `dissect` shows a record
byte by byte; `formatter_line` prints it as Kafka's tools of a release do. `read_disk` and `read_segment` read the files
of a broker's disk; `committed_records` leaves out what aborted transactions wrote; `rebuild` tells every group, its
members and its offsets. `kafkalearn.offsets.store` simulates the coordinator that keeps all this.

>>> record = decode(bytes.fromhex("0002000a746573742d67726f7570"), None)
>>> record.type.words, record.group, record.is_tombstone
('group metadata', 'test-group', True)
"""

from kafkalearn.offsets.groups import Committed, Group, Member
from kafkalearn.offsets.records.codec import (
    OffsetsRecord,
    decode,
    decode_key,
    decode_value,
    dissect,
    encode_key,
    encode_value,
)
from kafkalearn.offsets.records.formatter import FORMATTERS, formatter_line
from kafkalearn.offsets.records.json_form import json_text, to_json
from kafkalearn.offsets.records.protocol import (
    Assignment,
    Subscription,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
    encode_assignment,
    encode_cooperative_user_data,
    encode_sticky_user_data,
    encode_subscription,
)
from kafkalearn.offsets.records.record_types import RECORD_TYPES, RecordType, record_type
from kafkalearn.offsets.replay import Rebuilt, rebuild
from kafkalearn.segments.batches import Batch, read_batch
from kafkalearn.segments.files import Rest, Segment, data_records, parse_segment, read_disk, read_segment, source_rows
from kafkalearn.segments.records import Record
from kafkalearn.segments.transactions import committed_records, outcomes
from kafkalearn.wire.reader import Piece, Undecodable

__all__ = [
    "FORMATTERS",
    "RECORD_TYPES",
    "Assignment",
    "Batch",
    "Committed",
    "Group",
    "Member",
    "OffsetsRecord",
    "Piece",
    "Rebuilt",
    "Record",
    "RecordType",
    "Rest",
    "Segment",
    "Subscription",
    "Undecodable",
    "committed_records",
    "data_records",
    "decode",
    "decode_assignment",
    "decode_cooperative_user_data",
    "decode_key",
    "decode_sticky_user_data",
    "decode_subscription",
    "decode_value",
    "dissect",
    "encode_assignment",
    "encode_cooperative_user_data",
    "encode_key",
    "encode_sticky_user_data",
    "encode_subscription",
    "encode_value",
    "formatter_line",
    "json_text",
    "outcomes",
    "parse_segment",
    "read_batch",
    "read_disk",
    "read_segment",
    "rebuild",
    "record_type",
    "source_rows",
    "to_json",
]
