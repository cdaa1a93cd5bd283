"""What recordings ask where a function of ours says it in another shape than Kafka's classes and tools do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from kafkalearn.base.java import JavaHashMap, TimelineHashSet, table_size
from kafkalearn.formats import share_state_log as state_log
from kafkalearn.offsets.formatter import formatter_line
from kafkalearn.offsets.records import decode, encode_key, encode_value, to_json
from kafkalearn.offsets.store import Settings, Sweep, step
from kafkalearn.offsets.store.model import Entry, Store
from kafkalearn.offsets.store.simulator import reloaded
from kafkalearn.transactions.history import replay


def walked(collection: str, operations: Iterable[tuple[str, str]], initial_capacity: int = 16) -> list[str]:
    """The keys of one of Java's or Kafka's collections after operations, in the order in which they are walked."""
    if collection == "TimelineHashMap":
        keys = TimelineHashSet()
        for operation, key in operations:
            (keys.add if operation == "put" else keys.discard)(key)
        return list(keys)
    mapped: JavaHashMap = JavaHashMap(table_size(initial_capacity))
    for operation, key in operations:
        if operation == "put":
            mapped[key] = None
        elif operation == "computeIfAbsent":
            mapped.compute_if_absent(key, lambda: None)
        else:
            mapped.pop(key, None)
    return list(mapped)


def printed_line(key: bytes | None, value: bytes | None, release: str, formatter: str) -> str:
    """What a formatter prints of a record; empty: nothing."""
    return formatter_line(key, value, release, formatter) or ""


def offsets_record(key: bytes, value: bytes | None) -> dict[str, object]:
    """A record of the offsets topic as JSON, and its key and value made again of it."""
    record = decode(key, value)
    again = None if value is None else encode_value(record.type, record.version, record.value)
    return {
        "type": record.type.number,
        "name": record.type.name,
        "key": to_json(record.key),
        "version": record.version,
        "value": to_json(record.value),
        "again": [encode_key(record.type, record.key), again],
    }


def history_steps(history: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps of a history of transactions with what the simulator answers and shows after each."""
    return replay(history)["steps"]


def share_state_record(key: bytes, value: bytes | None) -> dict[str, object]:
    """A record of the share groups' state as Kafka's tool prints it, and its key and value made again of it."""
    kind, whose = state_log.decode_key(key)
    version, fields = state_log.decode_value(kind, value)
    named = {"groupId": whose.group_id, "topicId": whose.topic_id, "partition": whose.partition}
    again = None if fields is None else state_log.encode_value(kind, fields)
    return _printed(kind, named, version, fields) | {"again": [state_log.encode_key(kind, whose), again]}


def share_group_record(key: bytes, value: bytes | None) -> dict[str, object]:
    """A record of a share group in the offsets topic, likewise."""
    record = decode(key, value)
    again = None if value is None else encode_value(record.type, record.version, record.value)
    printed = _printed(record.type.number, record.key, record.version, record.value)
    return printed | {"again": [encode_key(record.type, record.key), again]}


def _printed(kind: int, key: object, version: int | None, value: object) -> dict[str, object]:
    """The two parts of a record as DumpLogSegments prints them."""
    data = "<DELETE>" if value is None else {"version": str(version), "data": value}
    return {"key": {"type": str(kind), "data": key}, "value": data}


def swept(records: Iterable[Entry], now_ms: int, releases: Iterable[str], state: str | None = None) -> object:
    """The keys of the tombstones of a sweep, those of offsets sorted and in front; by release if they differ."""
    log, found = Store(log=tuple(records)), {}
    for release in releases:
        settings = Settings(release, retention_minutes=1)
        store = reloaded(settings, log)
        if state is not None:
            store = replace(store, groups=tuple(replace(group, state=state) for group in store.groups))
        written = step(settings, store, Sweep(now_ms)).log[len(store.log) :]
        assert all(entry.value is None for entry in written)
        keys = [entry.key.hex() for entry in written]
        found[release] = sorted(keys, key=lambda key: key if key.startswith("0001") else "g")
    return found if len({*map(tuple, found.values())}) > 1 else next(iter(found.values()))
