"""What a release writes into the topic: commits, groups and tombstones, to the byte."""

from __future__ import annotations

from collections.abc import Iterable

from kafkalearn.offsets.groups import CONSUMER, SHARE, STREAMS, Committed, Group, Member
from kafkalearn.offsets.records.codec import encode_key, encode_value
from kafkalearn.offsets.records.protocol import Assignment, Subscription, encode_assignment, encode_subscription
from kafkalearn.offsets.records.record_types import GROUP_TYPE
from kafkalearn.offsets.store.events import Commit, StoreGroup
from kafkalearn.offsets.store.settings import Settings
from kafkalearn.offsets.store.state import Entry
from kafkalearn.versions.releases import at_least

DEFAULT_SESSION_TIMEOUT_MS = 45_000


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
    if not at_least("0.9.0", settings.release):
        return 0, 0
    if event.retention_ms is not None or not at_least("2.1", settings.release):
        return 1, 1
    return (1, 4) if at_least("4.1", settings.release) else (1, 3)


def group_entry(settings: Settings, event: StoreGroup) -> Entry:
    """The record that a release writes at the end of a rebalance.

    Up to 0.10.0 there was no state Empty: with its last member the group was gone, and got its tombstone.
    """
    key = encode_key(GROUP_TYPE, {"group": event.group_id})
    if not event.members and not at_least("0.10.1", settings.release):
        return Entry(key, None)
    version = next(
        version for version, since in ((3, "2.3"), (2, "2.1"), (1, "0.10.1"), (0, "0.9.0"))
        if at_least(since, settings.release)
    )  # fmt: skip
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
    session_timeout_ms = DEFAULT_SESSION_TIMEOUT_MS if member.session_timeout_ms is None else member.session_timeout_ms
    fields: dict[str, object] = {
        "memberId": member.member_id,
        "clientId": member.client_id,
        "clientHost": member.client_host,
        "sessionTimeout": session_timeout_ms,
        "subscription": encode_subscription(Subscription(member.subscribed or (), version=0)),
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
    number = 1 if at_least("0.9.0", settings.release) else 0
    keys = ({"group": group.group_id, "topic": each.topic, "partition": each.partition} for each in gone)
    return [Entry(encode_key(number, key), None) for key in keys]


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
        return [Entry(encode_key(number, {"groupId": group.group_id}), None) for number in of_newer[group.kind]]
    if group.epoch == 0 and not at_least("4.0", settings.release):
        return []
    return [Entry(encode_key(GROUP_TYPE, {"group": group.group_id}), None)]
