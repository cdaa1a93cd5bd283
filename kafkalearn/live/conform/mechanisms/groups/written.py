"""What a broker has written of one group into ``__consumer_offsets``, decoded so that two can be compared.

Where Kafka walks a hash map the order says nothing: topics, partitions and members inside a record are sorted here,
and so are records of one kind that follow each other and differ in their keys alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.live.kafka import Kafka
from kafkalearn.offsets.records.codec import decode, encode_key, encode_value
from kafkalearn.offsets.records.json_form import to_json
from kafkalearn.segments.records import Record

OFFSETS_TOPIC = "__consumer_offsets"
IN_ANY_ORDER = (1, 7)  # record types: commits, the targets of members
DRAWN = ("commitTimestamp", "currentStateTimestamp", "assignmentTimestamp", "metadataHash", "expireTimestamp")
"""Fields that only the broker can know: its times, and a hash that we do not compute."""

Written = dict[str, Any]


def written(number: int, key: Mapping[str, Any], value: Mapping[str, Any] | None) -> Written:
    """A record of a type, in the form in which records are compared."""
    return {"type": number, "key": to_json(key), "value": None if value is None else _sorted(to_json(value))}


def records_of(kafka: Kafka, group_id: str, partition_count: int) -> list[Record]:
    """All that is on the disk about a group."""
    broker_id = kafka.coordinator(group_id)
    found = kafka.disk(broker_id).records(OFFSETS_TOPIC, offsets_partition(group_id, partition_count))
    return [each for each in found if decode(each.key, each.value).group == group_id]


def in_form(records: Iterable[Record]) -> list[Written]:
    """Records of a disk in this form; one that our codec does not encode to its own bytes again says so."""
    found = []
    for each in records:
        record = decode(each.key, each.value)
        one = written(record.type.number, record.key, record.value)
        key = encode_key(record.type, record.key)
        value = None if record.value is None else encode_value(record.type, record.version, record.value)
        if (key, value) != (each.key, each.value):
            one["bytes"] = [each.key.hex(), None if each.value is None else each.value.hex()]
        found.append(one)
    return ordered(found)


def ordered(records: Iterable[Written]) -> list[Written]:
    """The same with those sorted that a broker writes in the order of a hash map."""
    found: list[Written] = []
    for (number, _), run in groupby(records, key=lambda each: (each["type"], each["value"] is None)):
        those = list(run)
        found += sorted(those, key=_key_text) if number in IN_ANY_ORDER else those
    return found


def with_drawn(ours: list[Written], seen: list[Written]) -> list[Written]:
    """Our records with what only the broker can know, from the record at the same place."""
    both = zip(ours, [*seen, *[{"value": None}] * len(ours)], strict=False)
    return [{**one, "value": _filled(one["value"], other["value"])} for one, other in both]


def _filled(value: dict[str, Any] | None, seen: dict[str, Any] | None) -> dict[str, Any] | None:
    if value is None or seen is None:
        return value
    return {**value, **{name: seen[name] for name in DRAWN if name in seen}}


def _key_text(record: Written) -> str:
    return json.dumps(record["key"], sort_keys=True)


def _sorted(value: Any) -> Any:
    """Lists in one order; the epochs of partitions go with their partitions."""
    if isinstance(value, dict):
        found = {name: _sorted(each) for name, each in value.items()}
        if found.get("assignmentEpochs"):
            pairs = sorted(zip(value["partitions"], value["assignmentEpochs"], strict=True))
            found |= {"partitions": [place for place, _ in pairs], "assignmentEpochs": [epoch for _, epoch in pairs]}
        return found
    if isinstance(value, list):
        return sorted((_sorted(each) for each in value), key=lambda each: json.dumps(each, sort_keys=True))
    return value
