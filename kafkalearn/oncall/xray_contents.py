"""The records of an x-ray, on request: each with its key and value, those of Kafka's own topics decoded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.internal_topics import OFFSETS_TOPIC, SHARE_STATE_TOPIC, TRANSACTIONS_TOPIC
from kafkalearn.formats import metadata_log, share_state_log, transaction_log
from kafkalearn.formats.batches import Batch, Header, read_batch, read_header
from kafkalearn.formats.census import span_of
from kafkalearn.formats.file_bytes import Bytes, opened
from kafkalearn.formats.records import Record
from kafkalearn.formats.segments import Unread, walk
from kafkalearn.formats.wire import Undecodable
from kafkalearn.offsets.records import decode_key, decode_value
from kafkalearn.oncall.answer import date_time, wrapped
from kafkalearn.oncall.settings import MASK, is_secret
from kafkalearn.oncall.xray_given import GivenLog

if TYPE_CHECKING:
    from kafkalearn.oncall.shapes import RecordData

LONGEST_SHOWN = 300  # characters of a key or value in words
MOST_BYTES = 1 << 20  # of a key or value in the data; the broker takes no larger batch by default


@dataclass(frozen=True, slots=True)
class WantedRecords:
    """Which records are to be shown."""

    count: int  # of each log
    from_offset: int = 0
    key: bytes | None = None  # None: of any key


@dataclass(frozen=True, slots=True)
class RecordXray:
    """One record."""

    log: str  # the partition, with its log dir if there are copies
    offset: int
    timestamp_ms: int
    codec: str
    producer_id: int  # -1: not idempotent
    is_transactional: bool
    control: str | None  # what a control record is; None: an application wrote it
    headers: tuple[tuple[str, str | None], ...]
    key: str | None  # text where it is text, else hexadecimal with 0x before it
    value: str | None  # None: a tombstone
    decoded: Mapping[str, object] | None  # of Kafka's own topics: what key and value say; None: of other topics

    def as_data(self) -> RecordData:
        """As `Answer.as_data`."""
        return {
            "log": self.log,
            "offset": self.offset,
            "timestamp_ms": self.timestamp_ms,
            "codec": self.codec,
            "producer_id": self.producer_id,
            "is_transactional": self.is_transactional,
            "control": self.control,
            "headers": [[*each] for each in self.headers],
            "key": self.key,
            "value": self.value,
            "decoded": self.decoded,
        }

    def words(self) -> str:
        """In a few lines."""
        facts = [f"offset {self.offset}", date_time(self.timestamp_ms) or f"timestamp {self.timestamp_ms}"]
        if self.control is not None:
            facts.append(f"control record {self.control}")
        if self.is_transactional:
            facts.append(f"in a transaction of producer {self.producer_id}")
        if self.headers:
            facts.append("headers " + ", ".join(f"{name}={value}" for name, value in self.headers))
        if self.decoded is not None:
            facts.append(_shown(" ".join(f"{name}={value}" for name, value in self.decoded.items())))
        elif self.control is None:
            facts.append(f"key {_shown(self.key)}")
            facts.append(f"value {_shown(self.value)}")
        return wrapped("; ".join(facts), "  ", "    ")


def _shown(written: str | None) -> str:
    if written is None:
        return "null"
    return written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}... ({len(written):,} characters)"


def contents(given: GivenLog, asked: WantedRecords, batch_limit_bytes: int) -> Iterator[RecordXray]:
    """The records of a log from an offset on, as many as were asked for.

    Batches in front of the offset are passed over by their headers; what cannot be read is passed over, too: the
    findings of the x-ray say where.
    """
    left = asked.count
    for file in given.files:
        if file.end_offset <= asked.from_offset:
            continue
        with opened(file.path) as data:
            headers = walk(data, span_of(file, data), read_header)
            for batch in _batches(data, headers, asked, partial(read_batch, batch_limit_bytes=batch_limit_bytes)):
                for record in batch.records:
                    if record.offset < asked.from_offset or asked.key not in (None, record.key):
                        continue
                    yield _record(given, batch, record)
                    left -= 1
                    if not left:
                        return


def _batches(
    data: Bytes, headers: Iterator[Header | Unread], asked: WantedRecords, read: Callable[[Bytes, int], Batch]
) -> Iterator[Batch]:
    for each in headers:
        if isinstance(each, Unread) or each.last_offset < asked.from_offset:
            continue
        try:
            yield read(data, each.position)
        except Undecodable:
            continue


def _record(given: GivenLog, batch: Batch, record: Record) -> RecordXray:
    decode = DECODERS.get(given.at.topic)
    decoded = None
    if decode is not None and record.control is None:
        try:
            decoded = _plain(decode(record.key, record.value))
        except (KafkaLearnError, TypeError) as error:
            decoded = {"unreadable": str(error)}
    is_hidden = decoded is not None  # the bytes may have what `decoded` hides
    return RecordXray(
        given.name, record.offset, record.timestamp_ms, batch.compression, batch.producer_id, batch.is_transactional,
        record.control, tuple((name, text_or_hex(value)) for name, value in record.headers),
        None if is_hidden or record.control else text_or_hex(record.key),
        None if is_hidden or record.control else text_or_hex(record.value), decoded,
    )  # fmt: skip


def text_or_hex(data: bytes | None) -> str | None:
    """Bytes as text where they are text that can be printed, else in hexadecimal; of very many those at the front.

    >>> text_or_hex(b"user-42"), text_or_hex(bytes(2)), text_or_hex(b""), text_or_hex(None)
    ('user-42', '0x0000', '', None)
    """
    if data is None:
        return None
    if len(data) > MOST_BYTES:
        end = next(end for end in range(MOST_BYTES, 0, -1) if data[end] & 0xC0 != 0x80 or end <= MOST_BYTES - 4)
        return f"{text_or_hex(data[:end])}... ({len(data):,} bytes)"
    written = data.decode("utf-8", "replace")
    return written if written.isprintable() and "\ufffd" not in written else f"0x{data.hex()}"


# Kafka's own topics: what a key and a value say.


def _of_offsets(key: bytes, value: bytes | None) -> dict[str, object]:
    kind, fields = decode_key(key)
    _, said = decode_value(kind, value)
    return {"record": kind.name, **fields, "value": said}


def _of_transactions(key: bytes, value: bytes | None) -> dict[str, object]:
    return {"transactionalId": transaction_log.decode_key(key), "value": transaction_log.decode_value(value)[1]}


def _of_share_states(key: bytes, value: bytes | None) -> dict[str, object]:
    kind, whose = share_state_log.decode_key(key)
    _, said = share_state_log.decode_value(kind, value)
    record = "SHARE_SNAPSHOT" if kind == share_state_log.SNAPSHOT else "SHARE_UPDATE"
    return {"record": record, **asdict(whose), "value": said}


SECRETS = ("salt", "storedKey", "serverKey", "hmac")
"""Fields of the metadata's records that are never shown."""


def _of_metadata(key: bytes | None, value: bytes) -> dict[str, object]:
    record = metadata_log.decode_record(value)
    fields = {name: MASK if name in SECRETS else each for name, each in record.fields.items()}
    if record.name == "ConfigRecord" and fields["value"] and is_secret(str(fields["name"])):
        fields["value"] = MASK
    return {"record": record.name, "version": record.version, **fields}


DECODERS: Mapping[str, Callable[[Any, Any], dict[str, object]]] = MappingProxyType(
    {
        OFFSETS_TOPIC: _of_offsets,
        TRANSACTIONS_TOPIC: _of_transactions,
        SHARE_STATE_TOPIC: _of_share_states,
        metadata_log.TOPIC: _of_metadata,
    }
)
"""The topics whose records are decoded."""


def _plain(value: Any) -> Any:
    """The same for JSON: bytes as text or in hexadecimal."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return text_or_hex(value) if isinstance(value, bytes) else value
