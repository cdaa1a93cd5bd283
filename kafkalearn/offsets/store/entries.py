"""What a release writes into the topic, to the byte, and what that changes in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from kafkalearn.groups.defaults import EMPTY, STABLE
from kafkalearn.offsets.protocol import Assignment, Subscription, encode_assignment, encode_subscription
from kafkalearn.offsets.records import GROUP_TYPE, OFFSET_TYPES, OffsetsRecord, decode, encode_key, encode_value
from kafkalearn.offsets.replay import (
    CONSUMER,
    DEFAULT_ASSIGNOR,
    GROUP_RECORDS,
    MEMBER_IS_STABLE,
    SHARE,
    STREAMS,
    Committed,
    Group,
    Member,
    classic_group,
    committed,
)
from kafkalearn.offsets.store.model import Commit, Entry, Replicated, Settings, Store, StoreGroup
from kafkalearn.releases.lines import at_least

DEFAULT_SESSION_TIMEOUT_MS = 45_000
OFFSET_TYPE = 1
UNREADABLE = b""  # a subscription of which nobody knows the topics: Kafka takes it for one to all


def commit_entry(settings: Settings, event: Commit) -> Entry:
    """The record that a release writes for a commit."""
    at = {"group": event.group_id, "topic": event.topic, "partition": event.partition}
    fields: dict[str, object] = {"offset": event.offset, "metadata": event.metadata, "commitTimestamp": event.now_ms}
    number, version = _versions(settings, event)
    if version == 1:
        retention_ms = settings.retention_ms if event.retention_ms is None else event.retention_ms
        fields["expireTimestamp"] = event.now_ms + retention_ms
    if version >= 3:
        fields["leaderEpoch"] = -1 if event.leader_epoch is None else event.leader_epoch
    if version == 4 and event.topic_id is not None:
        fields["topicId"] = event.topic_id
    return Entry(encode_key(number, at), encode_value(number, version, fields), event.producer_id)


def _versions(settings: Settings, event: Commit) -> tuple[int, int]:
    """Record type and value version of a commit; one that brings its own retention needs version 1."""
    if event.retention_ms is not None or not at_least("2.1", settings.release):
        return 1, 1
    return (1, 4) if at_least("4.1", settings.release) else (1, 3)


def group_entry(settings: Settings, event: StoreGroup) -> Entry:
    """The record that a release writes at the end of a rebalance."""
    key = encode_key(GROUP_TYPE, {"group": event.group_id})
    version = 3 if at_least("2.3", settings.release) else 2 if at_least("2.1", settings.release) else 1
    fields: dict[str, object] = {
        "protocolType": event.protocol_type,
        "generation": event.generation,
        "protocol": event.protocol,
        "leader": event.leader,
        "members": [_member_fields(version, each) for each in event.members],
    }
    if version >= 2:
        fields["currentStateTimestamp"] = event.now_ms
    return Entry(key, encode_value(GROUP_TYPE, version, fields))


def _member_fields(version: int, member: Member) -> dict[str, object]:
    subscription = Subscription(member.subscribed or (), version=0)
    session_timeout_ms = DEFAULT_SESSION_TIMEOUT_MS if member.session_timeout_ms is None else member.session_timeout_ms
    fields: dict[str, object] = {
        "memberId": member.member_id,
        "clientId": member.client_id,
        "clientHost": member.client_host,
        "sessionTimeout": session_timeout_ms,
        "subscription": UNREADABLE if member.subscribed is None else encode_subscription(subscription),
        "assignment": encode_assignment(Assignment(member.assigned, version=0)),
    }
    if version >= 1:
        has_none = member.rebalance_timeout_ms is None
        fields["rebalanceTimeout"] = session_timeout_ms if has_none else member.rebalance_timeout_ms
    if version >= 3:
        fields["groupInstanceId"] = member.instance_id
    return fields


def offset_tombstones(settings: Settings, group: Group, gone: Iterable[Committed]) -> list[Entry]:
    """The entries that say that some offsets of a group are gone."""
    keys = ({"group": group.group_id, "topic": each.topic, "partition": each.partition} for each in gone)
    return [_tombstone(OFFSET_TYPE, key) for key in keys]


def group_tombstones(settings: Settings, group: Group) -> list[Entry]:
    """The entries that say that a group is gone.

    The coordinator of 3.9 and before writes none at generation 0: such a group has no record of its own. A group of
    a newer protocol has several.
    """
    of_newer = {
        CONSUMER: (6, 4, 3),  # target assignment, partition metadata (up to 4.0, wiped ever since), group
        STREAMS: (20, 17, 23),  # target assignment, group, topology
        SHARE: (12, 15, 11) if at_least("4.1", settings.release) else (12, 9, 11),
    }
    if group.kind in of_newer:
        return [_tombstone(number, {"groupId": group.group_id}) for number in of_newer[group.kind]]
    if group.epoch == 0 and not at_least("4.0", settings.release):
        return []
    return [_tombstone(GROUP_TYPE, {"group": group.group_id})]


def _tombstone(number: int, key: Mapping[str, object]) -> Entry:
    return Entry(encode_key(number, key), None)


# What is written of a group of a newer protocol, KIP-848 (consumer) or streams: a record for each part of it, in the
# order of a heartbeat that brings a change: members that have left, members that say something new, the group with its
# epoch, then the target and what each member has. Assignments are empty, and hashes of topics 0; no offset depends on
# them.

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
    return _client(member) | {"topologyEpoch": 0, "processId": member.member_id, "userEndpoint": None, "clientTags": []}


def _sources(event: StoreGroup) -> tuple[str, ...]:
    """The topics of a streams group, which all of its members read."""
    return tuple(sorted({topic for each in event.members for topic in each.subscribed or ()}))


def _topology(event: StoreGroup) -> dict[str, object]:
    lists = ("sourceTopicRegex", "stateChangelogTopics", "repartitionSinkTopics", "repartitionSourceTopics")
    none: dict[str, object] = {name: [] for name in (*lists, "copartitionGroups")}
    return {"epoch": 0, "subtopologies": [{"subtopologyId": "0", "sourceTopics": list(_sources(event))} | none]}


# The log and the cache in memory, kept in step.

GROUP_NUMBERS = (GROUP_TYPE, *GROUP_RECORDS.values())  # the records whose tombstone ends a group


def put_group(groups: tuple[Group, ...], group: Group) -> tuple[Group, ...]:
    """The cache with `group` in it, instead of what it had under that id."""
    others = (each for each in groups if each.group_id != group.group_id)
    return tuple(sorted((*others, group), key=lambda each: each.group_id))


def without_group(groups: tuple[Group, ...], group_id: str) -> tuple[Group, ...]:
    """The cache without a group."""
    return tuple(group for group in groups if group.group_id != group_id)


def put_offset(group: Group, one: Committed) -> Group:
    """The group with one committed offset more, or another one for its partition."""
    others = (each for each in group.offsets if each.at != one.at)
    return replace(group, offsets=tuple(sorted((*others, one), key=lambda each: each.at)))


def append(store: Store, *entries: Entry, is_in_flight: bool = False) -> Store:
    """The store with entries at the end of its log; unless they are in flight, the cache follows at once.

    An entry in a transaction changes nothing before the transaction ends.
    """
    first = len(store.log)
    added = tuple(range(first, first + len(entries)))
    store = replace(store, log=store.log + entries, in_flight=store.in_flight + added)
    return store if is_in_flight else confirm(store)


def append_unconfirmed(store: Store, *entries: Entry) -> Store:
    """The store with entries that wait for no replica, as those of the sweep; what is in flight stays so."""
    after = append(replace(store, in_flight=()), *entries)
    return replace(after, in_flight=store.in_flight, timed_out=store.timed_out, unreplicated=store.unreplicated)


def confirm(store: Store) -> Store:
    """The store when the replicas have everything: what was in flight is taken into the cache."""
    waiting = (store.log[offset] for offset in store.in_flight)
    groups = follow(store.groups, (entry for entry in waiting if entry.producer_id is None))
    return replace(store, groups=groups, in_flight=(), timed_out=(), unreplicated=())


def give_up(store: Store, offsets: Collection[int]) -> Store:
    """The store when its coordinator no longer waits for some of the commits in flight: only the log has them."""
    log = tuple(replace(each, is_given_up=True) if at in offsets else each for at, each in enumerate(store.log))
    return replace(store, log=log, in_flight=tuple(each for each in store.in_flight if each not in offsets))


def replicated(settings: Settings, store: Store, event: Replicated) -> Store:
    """The store when the replicas have confirmed all that was written; who has got an error gets no other answer."""
    confirmed = confirm(store)
    is_answered = bool(store.in_flight) and set(store.in_flight) <= set(store.timed_out)
    return confirmed if is_answered else confirmed.answering()


def follow(groups: tuple[Group, ...], entries: Iterable[Entry]) -> tuple[Group, ...]:
    """The cache after some entries of the log; what they make of a group of a newer protocol is not followed."""
    for entry in entries:
        if entry.key is not None:  # a marker has none
            groups = _replay(groups, decode(entry.key, entry.value))
    return groups


def _replay(groups: tuple[Group, ...], record: OffsetsRecord) -> tuple[Group, ...]:
    known = next((each for each in groups if each.group_id == record.group), None)
    if record.type.number in OFFSET_TYPES:
        if record.is_tombstone:
            return groups if known is None else _without_offset(groups, known, record)
        return put_group(groups, put_offset(known or Group(record.group), committed(record)))
    ends_a_group = record.is_tombstone and record.type.number in GROUP_NUMBERS
    if record.type.number != GROUP_TYPE and not ends_a_group:
        return groups  # a group of a newer protocol has many records: `newer_group` says what they make together
    left = Group(record.group) if record.is_tombstone else classic_group(record.group, record.fields)
    left = replace(left, offsets=known.offsets if known else ())
    is_gone = record.is_tombstone and not left.offsets
    return without_group(groups, record.group) if is_gone else put_group(groups, left)


def _without_offset(groups: tuple[Group, ...], group: Group, record: OffsetsRecord) -> tuple[Group, ...]:
    at = (record.key["topic"], record.key["partition"])
    return put_group(groups, replace(group, offsets=tuple(each for each in group.offsets if each.at != at)))
