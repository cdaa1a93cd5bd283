"""What is written of a group of a newer protocol: KIP-848 (consumer) and streams, a record for each part of it.

The records and their order are those of a heartbeat that brings a change: members that have left, members that say
something new, the group with its epoch, then the target and what each member has. Assignments are empty, and hashes of
topics 0; no offset depends on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kafkalearn.group_states import EMPTY, STABLE
from kafkalearn.offsets.groups import CONSUMER, Group, Member
from kafkalearn.offsets.newer_groups import DEFAULT_ASSIGNOR, MEMBER_IS_STABLE
from kafkalearn.offsets.records.codec import encode_key, encode_value
from kafkalearn.offsets.store.events import StoreGroup
from kafkalearn.offsets.store.state import Entry, Store

DEFAULT_REBALANCE_TIMEOUT_MS = 300_000
_NO_TASKS: dict[str, object] = {"activeTasks": [], "standbyTasks": [], "warmupTasks": []}


def newer_group(event: StoreGroup, known: Group | None) -> Group:
    """The group that the records of `newer_entries` describe, with the offsets it had."""
    logged_epoch = None if known is None else known.target_epoch
    return Group(
        event.group_id,
        event.kind,
        STABLE if event.members else EMPTY,
        event.kind,
        (event.protocol if event.members and event.protocol else DEFAULT_ASSIGNOR) if event.kind == CONSUMER else None,
        event.generation,
        event.generation if event.members else logged_epoch,
        members=tuple(sorted((_stored(event, each) for each in event.members), key=lambda each: each.member_id)),
        offsets=known.offsets if known else (),
    )


def _stored(event: StoreGroup, member: Member) -> Member:
    return replace(
        member,
        epoch=event.generation,
        subscribed=tuple(member.subscribed or ()) if event.kind == CONSUMER else _sources(event),
        target=(),
        session_timeout_ms=None,
        rebalance_timeout_ms=_rebalance_timeout_ms(member),
    )


def newer_entries(store: Store, event: StoreGroup) -> list[Entry]:
    """The records for the change from what is logged of the group to what `event` says."""
    return _consumer_entries(store, event) if event.kind == CONSUMER else _streams_entries(store, event)


def _consumer_entries(store: Store, event: StoreGroup) -> list[Entry]:
    group, members = {"groupId": event.group_id}, _keys(event)
    written = [
        *(_tombstone(number, key) for key in _left(store, event) for number in (8, 7, 5)),
        *_changed(store, (_entry(5, members[each.member_id], _consumer_member(event, each)) for each in event.members)),
        _entry(3, group, {"epoch": event.generation}),
    ]
    if event.members:
        written += [_entry(7, key, {"topicPartitions": []}) for key in members.values()]
        written += [_entry(6, group, {"assignmentEpoch": event.generation})]
        owned: dict[str, object] = {"assignedPartitions": [], "partitionsPendingRevocation": []}
        written += [_entry(8, key, _epochs(event) | owned) for key in members.values()]
    return written


def _streams_entries(store: Store, event: StoreGroup) -> list[Entry]:
    group, members = {"groupId": event.group_id}, _keys(event)
    written = [
        *(_tombstone(number, key) for key in _left(store, event) for number in (22, 21, 19)),
        *_changed(store, (_entry(19, members[each.member_id], _streams_member(each)) for each in event.members)),
        *_changed(store, [_entry(23, group, _topology(event))] if event.members else []),
        _entry(17, group, {"epoch": event.generation, "metadataHash": 0, "validatedTopologyEpoch": 0}),
    ]
    if event.members:
        pending: dict[str, object] = {f"{tasks}PendingRevocation": [] for tasks in _NO_TASKS}
        written += [_entry(21, key, _NO_TASKS) for key in members.values()]
        written += [_entry(20, group, {"assignmentEpoch": event.generation})]
        written += [_entry(22, key, _epochs(event) | _NO_TASKS | pending) for key in members.values()]
    return written


def _keys(event: StoreGroup) -> dict[str, dict[str, str]]:
    return {each.member_id: {"groupId": event.group_id, "memberId": each.member_id} for each in event.members}


def _left(store: Store, event: StoreGroup) -> list[dict[str, str]]:
    """Keys of the members that were there and are not any more."""
    known, staying = store.group(event.group_id), {each.member_id for each in event.members}
    gone = (each.member_id for each in known.members if each.member_id not in staying) if known else ()
    return [{"groupId": event.group_id, "memberId": each} for each in gone]


def _changed(store: Store, entries: Iterable[Entry]) -> list[Entry]:
    """Those of some entries that say another thing than the last one with their key."""
    last = {entry.key: entry.value for entry in store.log}
    return [entry for entry in entries if last.get(entry.key) != entry.value]


def _entry(number: int, key: Mapping[str, object], value: Mapping[str, object]) -> Entry:
    return Entry(encode_key(number, key), encode_value(number, 0, value))


def _tombstone(number: int, key: Mapping[str, object]) -> Entry:
    return Entry(encode_key(number, key), None)


def _epochs(event: StoreGroup) -> dict[str, object]:
    before = event.generation - 1
    return {"memberEpoch": event.generation, "previousMemberEpoch": before, "state": MEMBER_IS_STABLE[event.kind]}


def _client(member: Member) -> dict[str, object]:
    return {
        "instanceId": member.instance_id,
        "rackId": None,
        "clientId": member.client_id,
        "clientHost": member.client_host,
        "rebalanceTimeoutMs": _rebalance_timeout_ms(member),
    }


def _rebalance_timeout_ms(member: Member) -> int:
    return DEFAULT_REBALANCE_TIMEOUT_MS if member.rebalance_timeout_ms is None else member.rebalance_timeout_ms


def _consumer_member(event: StoreGroup, member: Member) -> dict[str, object]:
    return _client(member) | {
        "subscribedTopicNames": list(member.subscribed or ()),
        "subscribedTopicRegex": None,
        "serverAssignor": event.protocol,
    }


def _streams_member(member: Member) -> dict[str, object]:
    return _client(member) | {
        "topologyEpoch": 0,
        "processId": member.member_id,
        "userEndpoint": None,
        "clientTags": [],
    }


def _sources(event: StoreGroup) -> tuple[str, ...]:
    """The topics of a streams group, which all of its members read."""
    return tuple(sorted({topic for each in event.members for topic in each.subscribed or ()}))


def _topology(event: StoreGroup) -> dict[str, object]:
    lists = ("sourceTopicRegex", "stateChangelogTopics", "repartitionSinkTopics", "repartitionSourceTopics")
    none: dict[str, object] = {name: [] for name in (*lists, "copartitionGroups")}
    return {
        "epoch": 0,
        "subtopologies": [{"subtopologyId": "0", "sourceTopics": list(_sources(event))} | none],
    }
