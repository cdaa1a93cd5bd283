"""The simulator of the coordinator's store: the rule of each event, and what holds of its states.

Here are the rules of a partition that is lost and won; those of requests are in `kafkalearn.offsets.store.requests`.

>>> from kafkalearn.offsets.store import Commit, Resign
>>> trace = simulate(Settings(), [Commit("billing", "orders", 0, offset=7, now_ms=1000), Resign()])
>>> [(frame.state.status, len(frame.state.log), len(frame.state.groups)) for frame in trace]
[('owned', 0, 0), ('owned', 1, 1), ('not owned', 1, 0)]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias

from kafkalearn.base.errors import IllegalEvent, no_event, refusing_events
from kafkalearn.base.promises import Promises, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.records import BATCH_HEADER_BYTES, MARKER_BYTES, length_of, record_bytes
from kafkalearn.formats.wire import INT16, Reader, Undecodable
from kafkalearn.groups.defaults import EMPTY, STABLE
from kafkalearn.offsets.records import OFFSET_TYPES, RECORD_TYPES, decode
from kafkalearn.offsets.replay import Group, replay
from kafkalearn.offsets.store import model, requests
from kafkalearn.offsets.store.entries import GROUP_NUMBERS, put_group, replicated
from kafkalearn.offsets.store.model import Entry, Settings, Store, StoreEvent
from kafkalearn.offsets.store.requests import committed_entries, is_subscribed, open_groups
from kafkalearn.releases.lines import at_least


def resign(settings: Settings, store: Store, event: model.Resign) -> Store:
    """The store of a broker that no longer leads the partition: nothing in memory, nothing written."""
    return replace(_forgotten(store), status=model.NOT_OWNED)


def leader_crashed(settings: Settings, store: Store, event: model.LeaderCrashed) -> Store:
    """The store of the replica that is leader now: the log without what was not replicated, nothing in memory."""
    missing = (*store.in_flight, *store.unreplicated)
    return replace(_forgotten(store), status=model.LOADING, log=store.log[: min(missing, default=None)])


def _forgotten(store: Store) -> Store:
    return replace(store, groups=(), in_flight=(), timed_out=(), unreplicated=(), read_count=0)


def elect(settings: Settings, store: Store, event: model.Elect) -> Store:
    """The store of a broker that has just become the leader: all in the log, nothing in memory."""
    if store.status != model.NOT_OWNED:
        raise IllegalEvent(
            f"{event!r}: the broker is the leader already, the partition is {store.status}; Resign comes first"
        )
    return replace(_forgotten(store), status=model.LOADING)


def load(settings: Settings, store: Store, event: model.Load) -> Store:
    """The store after the next records were read; after the last one the partition is owned."""
    if store.status != model.LOADING:
        raise IllegalEvent(f"{event!r}: the partition is {store.status}; only after Elect there is something to load")
    left = len(store.log) - store.read_count
    count = left if event.record_count is None else min(event.record_count, left)
    read = store.log[: store.read_count + count]
    if any(_breaks_the_load(settings, entry) for entry in read[store.read_count :]):
        return _broken_off(settings, store)
    status = model.OWNED if len(read) == len(store.log) else model.LOADING
    return replace(store, status=status, groups=loaded_groups(settings, read), read_count=len(read))


def load_buffer(settings: Settings, store: Store, event: model.LoadBuffer) -> Store:
    """The store after one read of the log, as `load`.

    In the simulator each entry is a batch of its own, in format 2.
    """
    size_bytes = 0
    for count, entry in enumerate(store.log[store.read_count :]):
        size_bytes += entry_bytes(entry)
        if size_bytes > settings.load_buffer_bytes:
            return load(settings, store, model.Load(max(1, count)))
    return load(settings, store, model.Load())


def entry_bytes(entry: Entry) -> int:
    """How many bytes an entry takes as a batch of its own.

    >>> entry_bytes(Entry(bytes.fromhex("0002000a746573742d67726f7570"), None))
    82
    """
    if entry.marker is not None:
        return MARKER_BYTES
    return BATCH_HEADER_BYTES + record_bytes(length_of(entry.key), length_of(entry.value))


def logged_groups(log: Sequence[Entry]) -> tuple[Group, ...]:
    """The groups that the committed entries of a log describe; an entry without a key describes none."""
    return replay((entry.key, entry.value) for entry in committed_entries(log) if entry.key is not None).groups


def loaded_groups(settings: Settings, log: Sequence[Entry]) -> tuple[Group, ...]:
    """The groups that a coordinator has after it has read a log; some may have no offset, and be there by name only.

    Since 4.0 a commit makes its group, and only a tombstone of the group ends it: one whose offsets were deleted is
    there again, as long as the cleaner leaves their records. Before, only an open transaction keeps such a group.
    """
    groups, named = logged_groups(log), open_groups(log)
    if at_least("4.0", settings.release):
        for entry in log:
            if entry.key is None:
                continue
            record = decode(entry.key, entry.value) if Reader(entry.key, "key").number(INT16) in RECORD_TYPES else None
            if record is not None and record.is_tombstone and record.type.number in GROUP_NUMBERS:
                named.discard(record.group)
            elif record is not None and not record.is_tombstone and record.type.number in OFFSET_TYPES:
                named.add(record.group)
    for group_id in named - {group.group_id for group in groups}:
        groups = put_group(groups, Group(group_id))
    return groups


def _breaks_the_load(settings: Settings, entry: Entry) -> bool:
    """Whether reading the entry ends in an exception: no key, no record, or in old releases an unknown type."""
    if entry.marker is not None:
        return False
    if entry.key is None:
        return True
    try:
        if Reader(entry.key, "key").number(INT16) not in RECORD_TYPES:
            return not at_least("3.4.1", settings.release)
        decode(entry.key, entry.value)
    except Undecodable:
        return True
    return False


def _broken_off(settings: Settings, store: Store) -> Store:
    """The store when a record could not be read.

    The coordinator of 4.0 and later gives the partition up. Before, the partition counted as owned, but with no
    group: groups were built after the last record.
    """
    if at_least("4.0", settings.release):
        return replace(store, status=model.FAILED, groups=())
    return replace(store, status=model.OWNED, groups=(), read_count=len(store.log))


_REFUSALS = {
    model.LOADING: "COORDINATOR_LOAD_IN_PROGRESS",
    model.NOT_OWNED: "NOT_COORDINATOR",
    model.FAILED: "NOT_COORDINATOR",
}

_Rule: TypeAlias = Callable[[Settings, Store, Any], Store]  # each takes events of its class

_REQUESTS: dict[type, _Rule] = {  # answered in any case
    model.Commit: requests.commit,
    model.Fetch: requests.fetch,
    model.StoreGroup: requests.store_group,
    model.DeleteGroup: requests.delete_group,
    model.DeleteOffset: requests.delete_offset,
}
_OF_THE_COORDINATOR: dict[type, _Rule] = {  # possible only while it owns the partition
    model.Replicated: replicated,
    model.TimeReached: requests.time_reached,
    model.LeaderCrashed: leader_crashed,
    model.EndTransaction: requests.end_transaction,
    model.StateChanged: requests.change_state,
    model.Sweep: requests.sweep,
    model.DeleteTopic: requests.delete_topic,
}
_RULES: dict[type, _Rule] = _REQUESTS | _OF_THE_COORDINATOR | {
    model.Produce: requests.produce,
    model.Resign: resign,
    model.Elect: elect,
    model.Load: load,
    model.LoadBuffer: load_buffer,
}  # fmt: skip


@refusing_events
def step(settings: Settings, store: Store, event: StoreEvent) -> Store:
    """The store after `event`.

    A request leads to an `Answer` in ``store.effects``; where a broker would refuse, the answer has Kafka's error.

    Raises
    ------
    IllegalEvent
        If the event makes no sense in this state.

    Examples
    --------
    >>> from kafkalearn.offsets.store import Commit, Fetch, Resign, start
    >>> settings = Settings()
    >>> store = step(settings, start(settings), Commit("billing", "orders", 0, offset=7, now_ms=1000))
    >>> step(settings, store, Fetch("billing", "orders", 0)).effects
    (Answer(error='NONE', offset=7),)
    >>> step(settings, step(settings, store, Resign()), Fetch("billing", "orders", 0)).effects
    (Answer(error='NOT_COORDINATOR', offset=None),)

    References
    ----------
    Apache Kafka: ``GroupMetadataManager`` with ``GroupCoordinator`` (0.11 to 3.9),
    ``OffsetMetadataManager`` with ``GroupMetadataManager`` and ``CoordinatorRuntime`` (the default since 4.0).
    """
    kind = type(event)
    if kind not in _RULES:
        raise no_event(event, _RULES)
    if kind in _OF_THE_COORDINATOR and store.status != model.OWNED:
        raise IllegalEvent(f"{event!r}: the partition is {store.status}; possible now are Elect, Load and requests")
    store = replace(store, effects=())
    if kind in _REQUESTS and store.status in _REFUSALS:
        return store.answering(_REFUSALS[store.status])
    return _RULES[kind](settings, store, event)


def reloaded(settings: Settings, store: Store) -> Store:
    """The store after the broker lost the partition and got it back: only the log is left to read.

    A group that has neither offsets nor members is in memory only, and may be lost: it would go with the next sweep. A
    group in a rebalance is as it was stored last.

    >>> from kafkalearn.offsets.store import Commit
    >>> store = simulate(Settings(), [Commit("billing", "orders", 0, offset=7, now_ms=1000)])[-1].state
    >>> reloaded(Settings(), store).groups == store.groups
    True
    """
    return simulate(settings, [model.Resign(), model.Elect(), model.Load()], store)[-1].state


# What always holds of the coordinator's store, and what those hope for who commit their offsets to it.


def has_what_is_logged(groups: tuple[Group, ...], log: Sequence[Entry]) -> bool:
    """Whether a cache has the groups that a log describes; beside them it may have blank ones, until the next sweep.

    A blank group is a name without offsets. Some have a record: since 4.0 the first JoinGroup writes one.
    """
    logged = logged_groups(log)
    return set(logged) <= set(groups) and all(each.is_blank for each in set(groups) - set(logged))


def _is_settled(store: Store) -> bool:
    return store.status == model.OWNED and not store.in_flight and not store.unreplicated


def _has_each_group_once(settings: Settings, store: Store) -> bool:
    ids = [group.group_id for group in store.groups]
    return ids == sorted(set(ids))


def _has_each_partition_once(settings: Settings, store: Store) -> bool:
    lists = [[each.at for each in group.offsets] for group in store.groups]
    return all(partitions == sorted(set(partitions)) for partitions in lists)


def _caches_what_is_logged(settings: Settings, store: Store) -> bool:
    """Judged where nothing is in flight, no group is in a rebalance, and the cache knows of all that was written."""
    is_rebalancing = any(group.state not in (EMPTY, STABLE) for group in store.groups)
    is_unknown = any(entry.is_foreign or entry.is_given_up for entry in store.log)
    return not _is_settled(store) or is_rebalancing or is_unknown or has_what_is_logged(store.groups, store.log)


INVARIANTS: Promises = MappingProxyType(
    {
        "the broker's status for the partition is one of the four": lambda _, store: store.status in model.STATUSES,
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


def _offsets(groups: tuple[Group, ...]) -> Mapping[tuple[str, TopicPartition], int]:
    return {(group.group_id, each.at): each.offset for group in groups for each in group.offsets}


def _keeps_what_is_consumed(settings: Settings, before: Store, store: Store) -> bool:
    if not before.status == store.status == model.OWNED:
        return True
    consuming = [group for group in before.groups if group.members]
    consumed = {
        (group.group_id, each.at) for group in consuming for each in group.offsets if is_subscribed(group, each.topic)
    }
    return consumed <= _offsets(store.groups).keys()


def _knows_its_log(settings: Settings, store: Store) -> bool:
    if _is_settled(store):
        return _offsets(store.groups) == _offsets(logged_groups(store.log))
    return store.status != model.FAILED


def _can_be_handed_over(settings: Settings, store: Store) -> bool:
    if not _is_settled(store):
        return True
    after = reloaded(settings, store)
    return after.status == model.OWNED and _offsets(after.groups) == _offsets(store.groups)


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

simulate, check, broken = simulator(model.start, step, INVARIANTS, PROMISES)
