"""What always holds of the coordinator's store, and what those hope for who commit their offsets to it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kafkalearn.group_states import EMPTY, STABLE
from kafkalearn.offsets.groups import Group
from kafkalearn.offsets.store.expiry import is_subscribed
from kafkalearn.offsets.store.loading import logged_groups
from kafkalearn.offsets.store.settings import Settings
from kafkalearn.offsets.store.simulator import reloaded
from kafkalearn.offsets.store.state import FAILED, OWNED, STATUSES, Store
from kafkalearn.promises import Promises, Since, judges
from kafkalearn.topic_partition import TopicPartition


def lasting(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """The groups that the log describes too; a blank one is in memory only, until the next sweep."""
    return tuple(group for group in groups if not group.is_blank)


def _has_each_group_once(settings: Settings, store: Store) -> bool:
    ids = [group.group_id for group in store.groups]
    return ids == sorted(set(ids))


def _has_each_partition_once(settings: Settings, store: Store) -> bool:
    lists = [[each.at for each in group.offsets] for group in store.groups]
    return all(partitions == sorted(set(partitions)) for partitions in lists)


def _caches_what_is_logged(settings: Settings, store: Store) -> bool:
    """Judged where nothing is in flight, no group is in a rebalance, and nobody else wrote into the log."""
    is_rebalancing = any(group.state not in (EMPTY, STABLE) for group in store.groups)
    is_foreign = any(entry.is_foreign for entry in store.log)
    if not _is_settled(store) or is_rebalancing or is_foreign:
        return True
    return lasting(store.groups) == logged_groups(store.log)


INVARIANTS: Promises = MappingProxyType(
    {
        "the broker's status for the partition is one of the four": lambda _, store: store.status in STATUSES,
        "every group is in the cache once, by its id": _has_each_group_once,
        "a group has one offset for a partition": _has_each_partition_once,
        "what is in flight is in the log": lambda _, store: all(0 <= each < len(store.log) for each in store.in_flight),
        "who has got an error is in flight": lambda _, store: set(store.timed_out) <= set(store.in_flight),
        "what is not replicated is in the log": lambda _, store: all(
            0 <= each < len(store.log) for each in store.unreplicated
        ),
        "nothing is read beyond the end of the log": lambda _, store: store.read_count <= len(store.log),
        "the cache has what the log says": _caches_what_is_logged,
    }
)
"""What holds in every state, as predicates of settings and state."""


def _is_settled(store: Store) -> bool:
    return store.status == OWNED and not store.in_flight and not store.unreplicated


def _offsets(groups: tuple[Group, ...]) -> Mapping[tuple[str, TopicPartition], int]:
    return {(group.group_id, each.at): each.offset for group in groups for each in group.offsets}


def _keeps_what_is_consumed(settings: Settings, before: Store, store: Store) -> bool:
    if not before.status == store.status == OWNED:
        return True
    consuming = [group for group in before.groups if group.members]
    consumed = {
        (group.group_id, each.at) for group in consuming for each in group.offsets if is_subscribed(group, each.topic)
    }
    return consumed <= _offsets(store.groups).keys()


def _knows_its_log(settings: Settings, store: Store) -> bool:
    if _is_settled(store):
        return _offsets(store.groups) == _offsets(logged_groups(store.log))
    return store.status != FAILED


def _can_be_handed_over(settings: Settings, store: Store) -> bool:
    if not _is_settled(store):
        return True
    after = reloaded(settings, store)
    return after.status == OWNED and _offsets(after.groups) == _offsets(store.groups)


OFFSET_KEPT = "an offset stays while its group consumes the topic"
LOG_KNOWN = "the coordinator knows the offsets in its log"
HANDOVER_SAFE = "the next coordinator will know the same offsets"

PROMISES: Promises = MappingProxyType(
    {
        OFFSET_KEPT: Since(_keeps_what_is_consumed),
        LOG_KNOWN: _knows_its_log,
        HANDOVER_SAFE: _can_be_handed_over,
    }
)
"""What users hope for.

The first is broken by a sweep up to 2.0, and by whoever deletes a topic that is still consumed. The others are broken
by a record that somebody else produces into the topic: at the next load, or at once.
"""

check, broken = judges(INVARIANTS, PROMISES)
