"""The topic ``__cluster_metadata``: what a KRaft cluster knows of itself, record by record, to the byte.

A controller writes each change as a record: a topic, its partitions, a setting, a broker that comes or goes. The value
of such a record begins with three numbers of variable length, for the frame, the record's kind and its version; the
fields follow. Its key is null. `decode_record` reads every version that Kafka 4.4 knows, `encode_record` writes them;
``metadata.json``, beside this file, has their layouts, from the jar of Kafka's metadata.

`replay` makes of records what the cluster knows: topics, their own settings, features, brokers. `read_metadata` does so
with a folder ``__cluster_metadata-0`` as it lies on a disk: from its newest snapshot and the records behind it.

>>> value = encode_record("TopicRecord", {"name": "orders", "topicId": "A6AUkuaxQAm4bUDDQCKT_A"})
>>> value.hex(" ", 1)[:26], decode_record(value).fields["name"]
('01 02 00 07 6f 72 64 65 72', 'orders')

References
----------
Apache Kafka, ``MetadataRecordSerde``, ``AbstractApiMessageSerde``, ``MetadataDelta``, ``ConfigurationsDelta``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kafkalearn.base.checks import iterable, key_bytes, one_of
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats import wire
from kafkalearn.formats.batches import Batch, read_batch
from kafkalearn.formats.file_bytes import opened
from kafkalearn.formats.segments import Span, base_offset_of, walk

__all__ = ["ClusterMetadata", "decode_record", "encode_record", "read_metadata", "replay"]

TOPIC = "__cluster_metadata"
FOLDER = f"{TOPIC}-0"  # it has one partition
FRAME = 1
RECORDS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    json.loads((files("kafkalearn.formats") / "metadata.json").read_text(encoding="utf-8"))["messages"]
)
"""What the file says of each kind of record, by the name of Kafka's class: number, versions, fields."""

_NUMBERS: Mapping[str, int] = MappingProxyType({name: int(str(each["number"])) for name, each in RECORDS.items()})
_NAMES: Mapping[int, str] = MappingProxyType({number: name for name, number in _NUMBERS.items()})


@cache
def find_layout(name: str) -> wire.Layout:
    """The layout of a kind of record, by the name of Kafka's class.

    >>> [each.name for each in find_layout("ConfigRecord").body.plain(version=0)]
    ['resourceType', 'resourceName', 'name', 'value']
    """
    return wire.recorded_layout(name, RECORDS[one_of("record of the metadata", name, RECORDS)])


# Records from bytes and to bytes.


@dataclass(frozen=True)
class MetadataRecord:
    """One record, decoded."""

    name: str  # of Kafka's class
    version: int
    fields: dict[str, object]  # by Kafka's names; a tagged field only if it was written


def decode_record(value: bytes) -> MetadataRecord:
    """The record that a value holds.

    Raises
    ------
    Undecodable
        If the bytes are too few or too many, or of a kind or version that Kafka 4.4 does not know.
    """
    reader = wire.Reader(key_bytes("value", value), "metadata record")
    frame = reader.varint("", "frame")
    if frame != FRAME:
        raise wire.Undecodable(f"metadata record: frame {frame} at byte 0 is unknown; known is {FRAME}", "frame", 0)
    start = reader.position
    number = reader.varint("", "kind")
    if number not in _NAMES:
        what = f"metadata record: kind {number} at byte {start} is unknown; known are 0 to {max(_NAMES)}"
        raise wire.Undecodable(what, "kind", start)
    layout = find_layout(_NAMES[number])
    start = reader.position
    version = reader.varint("", "version")
    if version > layout.newest:
        what = f"{layout.name}: version {version} at byte {start} is unknown; known is 0 to {layout.newest}"
        raise wire.Undecodable(what, "version", start)
    reader.name = f"{layout.name} version {version}"
    fields = wire.decode_message(reader, layout, version)
    wire.refuse_rest(reader)
    return MetadataRecord(layout.name, version, fields)


def encode_record(name: str, fields: Mapping[str, object], version: int = 0) -> bytes:
    """The bytes of a record's value; what is not given takes its default.

    Raises
    ------
    KafkaLearnError
        If there is no such record or version, or a field is missing or none of it.
    """
    layout = find_layout(name)
    if not 0 <= version <= layout.newest:
        raise KafkaLearnError(f"{name} has versions 0 to {layout.newest}, got {version}")
    front = b"".join(map(wire.unsigned_varint, (FRAME, _NUMBERS[name], version)))
    return front + wire.encode_message(layout, version, fields)


# What the records describe. The last one of each key counts; those of a transaction that was aborted do not (KIP-868).

OF_TOPIC, OF_BROKER = 2, 4
"""Whose setting a ConfigRecord has, as Kafka's ``ConfigResource.Type`` numbers it."""


@dataclass(frozen=True)
class KnownTopic:
    """A topic, as the metadata have it."""

    name: str
    topic_id: str
    partition_count: int
    settings: Mapping[str, str]  # its own, by Kafka's names


@dataclass(frozen=True)
class ClusterMetadata:
    """What records of the metadata describe."""

    topics: Mapping[str, KnownTopic]  # by name
    brokers: Mapping[int, bool]  # those that are registered, and whether each is fenced
    broker_settings: Mapping[str, Mapping[str, str]]  # dynamic ones; "" has those of all brokers
    features: Mapping[str, int]  # finalized levels
    record_counts: Mapping[str, int]  # of the records replayed, by kind
    problems: tuple[str, ...] = ()  # what could not be read
    snapshot: str | None = None  # the file that it begins with; None: with the log's first record
    end_offset: int = 0  # behind the last record


@dataclass
class _Known:
    """The same while records are replayed."""

    ids: dict[str, str] = field(default_factory=dict)  # topic's name by id
    partitions: dict[str, set[int]] = field(default_factory=dict)  # by id
    settings: dict[tuple[int, str], dict[str, str]] = field(default_factory=dict)
    brokers: dict[int, bool] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)

    def copy(self) -> _Known:
        return _Known(
            dict(self.ids),
            {name: {*each} for name, each in self.partitions.items()},
            {whose: dict(each) for whose, each in self.settings.items()},
            dict(self.brokers),
            dict(self.features),
        )

    def apply(self, record: MetadataRecord) -> None:
        """Take in what a record says, as far as it is about topics, settings, brokers or features."""
        fields: dict[str, Any] = record.fields  # of the kinds that the layout says
        match record.name:
            case "TopicRecord":
                self.ids[fields["topicId"]] = fields["name"]
                self.partitions[fields["topicId"]] = set()
            case "RemoveTopicRecord":
                name = self.ids.pop(fields["topicId"], None)
                self.partitions.pop(fields["topicId"], None)
                if name is not None:
                    self.settings.pop((OF_TOPIC, name), None)
            case "PartitionRecord":
                self.partitions.setdefault(fields["topicId"], set()).add(fields["partitionId"])
            case "ConfigRecord":
                own = self.settings.setdefault((fields["resourceType"], fields["resourceName"]), {})
                if fields["value"] is None:
                    own.pop(fields["name"], None)
                else:
                    own[fields["name"]] = fields["value"]
            case "RegisterBrokerRecord":
                self.brokers[fields["brokerId"]] = fields["fenced"]
            case "UnregisterBrokerRecord":
                self.brokers.pop(fields["brokerId"], None)
            case "FenceBrokerRecord" | "UnfenceBrokerRecord":
                self.brokers[fields["id"]] = record.name == "FenceBrokerRecord"
            case "BrokerRegistrationChangeRecord" if fields.get("fenced", 0):
                self.brokers[fields["brokerId"]] = fields["fenced"] > 0
            case "FeatureLevelRecord":
                self.features[fields["name"]] = fields["featureLevel"]


def replay(values: Iterable[bytes], *, snapshot: str | None = None) -> ClusterMetadata:
    """What the values of records describe, in their order.

    Parameters
    ----------
    values : iterable of bytes
        One for each record; control records are none of them.
    snapshot : str or None
        The file that they begin with; it is kept.

    Examples
    --------
    >>> topic = encode_record("TopicRecord", {"name": "orders", "topicId": "A6AUkuaxQAm4bUDDQCKT_A"})
    >>> own = {"resourceType": OF_TOPIC, "resourceName": "orders", "name": "cleanup.policy", "value": "compact"}
    >>> dict(replay([topic, encode_record("ConfigRecord", own)]).topics["orders"].settings)
    {'cleanup.policy': 'compact'}
    """
    known, before = _Known(), None
    counts: Counter[str] = Counter()
    problems: list[str] = []
    for value in iterable("values", values, of="values of records"):
        try:
            record = decode_record(value)
        except wire.Undecodable as error:
            problems.append(str(error))
            continue
        counts[record.name] += 1
        if record.name == "BeginTransactionRecord":
            before = known.copy()
        elif record.name == "AbortTransactionRecord" and before is not None:
            known, before = before, None
        elif record.name == "EndTransactionRecord":
            before = None
        known.apply(record)
    if before is not None:  # it has not ended: nobody acts on it yet
        known = before
    topics = {
        name: KnownTopic(
            name, topic_id, len(known.partitions.get(topic_id, ())), known.settings.get((OF_TOPIC, name), {})
        )
        for topic_id, name in known.ids.items()
    }
    brokers = {name: own for (whose, name), own in known.settings.items() if whose == OF_BROKER and own}
    return ClusterMetadata(
        dict(sorted(topics.items())), dict(sorted(known.brokers.items())), dict(sorted(brokers.items())),
        dict(sorted(known.features.items())), dict(sorted(counts.items())), tuple(problems), snapshot,
    )  # fmt: skip


# The folder on a disk: snapshots, each of which has all that the log says up to an offset, and the log's segments.

SNAPSHOT = "*-*.checkpoint"  # END_OFFSET-EPOCH.checkpoint


def read_metadata(folder: str | Path) -> ClusterMetadata | None:
    """What a folder ``__cluster_metadata-0`` says; None: it is not there, or has neither a log nor a snapshot.

    The log's end is read as it lies there: a record that a majority of the controllers has not got yet counts, too.

    Raises
    ------
    KafkaLearnError
        If a file cannot be read.

    Examples
    --------
    >>> from kafkalearn.base.files import data_directory
    >>> found = read_metadata(data_directory("cluster-metadata") / "disk" / FOLDER)
    >>> found.topics["orders"].settings["cleanup.policy"], found.features["metadata.version"], found.snapshot
    ('compact', 33, '00000000000000000167-0000000001.checkpoint')
    """
    folder = Path(folder)
    snapshots = sorted(each for each in folder.glob(SNAPSHOT) if each.name[:20].isdecimal())
    segments = sorted(folder.glob("[0-9]*.log"), key=base_offset_of)
    if not snapshots and not segments:
        return None
    newest = snapshots[-1] if snapshots else None
    start = int(newest.name[:20]) if newest else 0
    problems: list[str] = []
    ends = [start]

    def values() -> Iterator[bytes]:
        if newest is not None:
            yield from _values(newest, problems)
        for segment in segments:
            yield from _values(segment, problems, start, base_offset_of(segment), ends)

    found = replay(values(), snapshot=None if newest is None else newest.name)
    if segments and start < base_offset_of(segments[0]):
        at = base_offset_of(segments[0])
        problems.append(f"{FOLDER} begins at offset {at}, and no snapshot says what was before it")
    return replace(found, end_offset=max(ends), problems=(*problems, *found.problems))


def _values(
    path: Path, problems: list[str], start: int = 0, first_offset: int = 0, ends: list[int] | None = None
) -> Iterator[bytes]:
    """The values of a file's records from an offset on; what cannot be read is noted."""
    read = partial(read_batch, has_checksum=True)
    with opened(path) as data:
        for each in walk(data, Span(0, len(data), first_offset), read, read):
            if not isinstance(each, Batch):
                problems.append(f"{path.name} from byte {each.position}: {each.reason}")
                continue
            if ends is not None:
                ends.append(each.last_offset + 1)
            if not each.is_control:
                kept = (record for record in each.records if record.offset >= start)
                yield from (record.value for record in kept if record.value is not None)
