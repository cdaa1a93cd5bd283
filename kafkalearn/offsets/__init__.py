"""The offsets topic ``__consumer_offsets``: its records to the byte, and the groups that they describe.

`decode` and `encode_key` / `encode_value` know every record type (`RECORD_TYPES`) and version; `dissect` shows a record
byte by byte; `formatter_line` prints it as Kafka's tools of a release do. `decode_subscription` and `decode_assignment`
open what consumers of a classic group put into theirs. `replay` makes groups, members and offsets of records, as a
broker does when it becomes coordinator; `read_groups` makes them of a broker's folder. `kafkalearn.formats.disk` reads
the files of a broker's disk; `kafkalearn.offsets.store` simulates the coordinator that keeps all this.

>>> record = decode(bytes.fromhex("0002000a746573742d67726f7570"), None)
>>> record.type.words, record.group, record.is_tombstone
('group metadata', 'test-group', True)
"""

from kafkalearn.offsets.formatter import formatter_line
from kafkalearn.offsets.protocol import decode_assignment, decode_subscription
from kafkalearn.offsets.records import (
    RECORD_TYPES,
    decode,
    decode_key,
    decode_value,
    dissect,
    encode_key,
    encode_value,
    fields_by_version,
)
from kafkalearn.offsets.replay import Member, read_groups, replay

__all__ = [
    "RECORD_TYPES",
    "Member",
    "decode",
    "decode_assignment",
    "decode_key",
    "decode_subscription",
    "decode_value",
    "dissect",
    "encode_key",
    "encode_value",
    "fields_by_version",
    "formatter_line",
    "read_groups",
    "replay",
]
