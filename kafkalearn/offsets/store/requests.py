"""OffsetCommit, OffsetFetch, and when a committed offset expires; transactions, rebalances, deletions, timeouts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.groups.defaults import COMPLETING, EMPTY, PREPARING, STABLE
from kafkalearn.offsets.records import OFFSET_TYPES, decode, metadata_fits, state_key
from kafkalearn.offsets.replay import CLASSIC, CONSUMER, SHARE, STREAMS, Committed, Group, committed
from kafkalearn.offsets.store import model
from kafkalearn.offsets.store.entries import (
    append,
    append_unconfirmed,
    commit_entry,
    confirm,
    follow,
    give_up,
    group_entry,
    group_tombstones,
    newer_entries,
    newer_group,
    offset_tombstones,
    put_group,
    without_group,
)
from kafkalearn.offsets.store.model import Commit, Entry, Settings, Store
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least

# Commits inside transactions.


def open_entries(log: Iterable[Entry]) -> dict[int, tuple[int, ...]]:
    """The transactions that have not ended: producer id to the offsets of their entries."""
    return _transactions(log)[0]


def committed_entries(log: Sequence[Entry]) -> list[Entry]:
    """The entries in the order of the log, without markers and without those of aborted and open transactions."""
    still_open, left_out = _transactions(log)
    left_out = left_out.union(*still_open.values())
    return [entry for offset, entry in enumerate(log) if offset not in left_out]


def _transactions(log: Iterable[Entry]) -> tuple[dict[int, tuple[int, ...]], set[int]]:
    """The entries of open transactions by producer id, and the offsets of markers and of what was aborted."""
    still_open: dict[int, tuple[int, ...]] = {}
    left_out: set[int] = set()
    for offset, entry in enumerate(log):
        if entry.producer_id is None:
            continue
        if entry.marker is not None:
            ended = still_open.pop(entry.producer_id, ())
            left_out |= {offset, *(ended if entry.marker == "ABORT" else ())}
        else:
            still_open[entry.producer_id] = (*still_open.get(entry.producer_id, ()), offset)
    return still_open, left_out


FIRST_NEW_COORDINATOR = "4.0"


def open_partitions(settings: Settings, store: Store) -> set[tuple[str, str, int]]:
    """Group, topic and partition of the commits that transactions hold which have not ended."""
    return _partitions(store, set(_pending(settings, store.log)))


def _pending(settings: Settings, log: Sequence[Entry]) -> list[int]:
    """The offsets of entries in open transactions; since 4.0 a later tombstone of their key has wiped them out."""
    held = sorted(offset for each in open_entries(log).values() for offset in each)
    if not at_least(FIRST_NEW_COORDINATOR, settings.release):
        return held
    tombstones = (each for each in enumerate(log) if each[1].key is not None and each[1].value is None)
    wiped = {_state_key(entry): offset for offset, entry in tombstones if entry.producer_id is None}
    return [offset for offset in held if wiped.get(_state_key(log[offset]), -1) < offset]


def _state_key(entry: Entry) -> bytes:
    assert entry.key is not None  # only a marker has none
    return state_key(entry.key)


def open_groups(log: Sequence[Entry]) -> set[str]:
    """The groups that transactions that have not ended have committed for."""
    held = (log[offset] for each in open_entries(log).values() for offset in each)
    return {group.group_id for group in follow((), held)}


def in_flight_partitions(store: Store) -> set[tuple[str, str, int]]:
    """Group, topic and partition of the commits outside of transactions that the replicas have not confirmed."""
    return _partitions(store, {offset for offset in store.in_flight if store.log[offset].producer_id is None})


def _partitions(store: Store, offsets: set[int]) -> set[tuple[str, str, int]]:
    groups = follow((), (store.log[offset] for offset in sorted(offsets)))
    return {(group.group_id, each.topic, each.partition) for group in groups for each in group.offsets}


def end_transaction(settings: Settings, store: Store, event: model.EndTransaction) -> Store:
    """The store with a marker at the end of the log; a commit brings the transaction's offsets into the cache.

    An entry that a later one has overtaken, or a tombstone wiped out, has no effect.
    """
    written = [(offset, store.log[offset]) for offset in open_entries(store.log).get(event.producer_id, ())]
    later = {
        state_key(entry.key): offset
        for offset, entry in enumerate(store.log)
        if entry.key is not None and entry.producer_id is None
    }
    newest = [
        entry for offset, entry in written if entry.key is not None and later.get(state_key(entry.key), -1) < offset
    ]
    marker = Entry(None, None, event.producer_id, "COMMIT" if event.is_commit else "ABORT")
    store = append(store, marker)
    return replace(store, groups=follow(store.groups, newest)) if event.is_commit else store


# Commits, fetches, what a rebalance stores, and what somebody produces into the topic.

ADMIN_CLIENT_ID = "__admin_client"  # the one client id that may produce to internal topics
METADATA_TOO_LARGE = "OFFSET_METADATA_TOO_LARGE"
KINDS = {CLASSIC: "0.11.0", CONSUMER: "4.0", STREAMS: "4.2"}  # that commit offsets; since when, early access apart


def commit(settings: Settings, store: Store, event: Commit) -> Store:
    """The store after a commit: an entry more, or an error."""
    error = _commit_error(settings, store, event)
    if error is not None:
        return _with_its_group(settings, store, event, error).answering(error)
    entry = commit_entry(settings, event)
    is_named_at_once = event.producer_id is not None or not at_least(FIRST_NEW_COORDINATOR, settings.release)
    if is_named_at_once and store.group(event.group_id) is None:
        store = replace(store, groups=put_group(store.groups, Group(event.group_id)))
    if not event.is_in_flight:
        return append(store, entry).answering()
    if settings.waits_for_replicas:
        return append(store, entry, is_in_flight=True)
    unreplicated = (*store.unreplicated, len(store.log))
    return replace(append_unconfirmed(store, entry), unreplicated=unreplicated).answering()


def _with_its_group(settings: Settings, store: Store, event: Commit, error: str) -> Store:
    """The store after a refused commit: if only its text is too long, its group is there from now on, and is empty.

    Kafka makes the group before it looks at what the commit brings; nothing of it is written down.
    """
    if error != METADATA_TOO_LARGE or store.group(event.group_id) is not None:
        return store
    return replace(store, groups=put_group(store.groups, Group(event.group_id)))


def _commit_error(settings: Settings, store: Store, event: Commit) -> str | None:
    """Why a commit is not taken, in words of the store, where members are what was written of them.

    The same question, where more of a member is known: ``groups.classic.members`` (sessions, rebalances),
    ``groups.consumer.simulator`` (what each member was given, KIP-1251), ``transactions.offsets`` (by the version of
    the request). ``tests/offsets/test_member_checks.py`` holds all four to one table.
    """
    group = store.group(event.group_id)
    if group is None:
        error = None if event.generation < 0 else _no_group(settings, event)
    elif event.generation < 0 and group.state == EMPTY:
        error = None
    else:
        error = _member_error(settings, group, event)
    if error is None and not metadata_fits(event.metadata, settings.metadata_max_bytes):
        return METADATA_TOO_LARGE
    return error


def _no_group(settings: Settings, event: Commit) -> str:
    """The answer to a member of a group that is not there; clients of today ask with version 9 or later."""
    first = "4.0" if event.producer_id is None else "4.4"  # TxnOffsetCommit knows the newer error since version 6
    is_old_request = event.retention_ms is not None or not at_least(first, settings.release)
    return "ILLEGAL_GENERATION" if is_old_request else "GROUP_ID_NOT_FOUND"


def _member_error(settings: Settings, group: Group, event: Commit) -> str | None:
    if event.generation >= 0 or event.member_id:
        member = next((each for each in group.members if each.member_id == event.member_id), None)
        if member is None:
            return "UNKNOWN_MEMBER_ID"
        if group.kind != CLASSIC and event.retention_ms is not None:
            return "UNSUPPORTED_VERSION"  # requests that carry it are older than the newer protocols
        if group.kind != CLASSIC and event.generation != member.epoch:
            # TxnOffsetCommit knows the newer error since version 6, of 4.4: kafkalearn.transactions.offsets has both.
            is_known = event.producer_id is None or at_least("4.4", settings.release)
            return "STALE_MEMBER_EPOCH" if is_known else "ILLEGAL_GENERATION"
        if group.kind != CLASSIC:
            return None
        if event.generation != group.epoch:
            return "ILLEGAL_GENERATION"
    elif event.producer_id is None:
        return "UNKNOWN_MEMBER_ID"
    is_undecided = group.state == COMPLETING and event.producer_id is None
    return "REBALANCE_IN_PROGRESS" if is_undecided else None


def fetch(settings: Settings, store: Store, event: model.Fetch) -> Store:
    """The store after a fetch, which is answered from memory alone."""
    unstable = open_partitions(settings, store)
    if not at_least("4.0", settings.release):
        unstable |= in_flight_partitions(store)
    if event.requires_stable and (event.group_id, event.topic, event.partition) in unstable:
        return store.answering("UNSTABLE_OFFSET_COMMIT")
    group = store.group(event.group_id)
    committed = group.offset(event.topic, event.partition) if group else None
    return store.answering(offset=-1 if committed is None else committed.offset)


def store_group(settings: Settings, store: Store, event: model.StoreGroup) -> Store:
    """The store after a rebalance: the group as it is now, written down.

    A group without members makes room for one of another kind; first it gets its tombstones.
    """
    known = store.group(event.group_id)
    _refuse_senseless(settings, event, known)
    if known is not None and known.kind != event.kind:
        store = append(store, *group_tombstones(settings, known))
    if event.kind == CLASSIC:
        return append(store, group_entry(settings, event)).answering()
    store = append(store, *newer_entries(store, event))
    return replace(store, groups=put_group(store.groups, newer_group(event, store.group(event.group_id)))).answering()


def _refuse_senseless(settings: Settings, event: model.StoreGroup, known: Group | None) -> None:
    if event.kind not in KINDS:
        raise IllegalEvent(f"{event!r}: the kinds of groups that commit offsets are {', '.join(KINDS)}")
    if not at_least(KINDS[event.kind], settings.release):
        raise IllegalEvent(
            f"{event!r}: Kafka {settings.release} has no {event.kind} groups; they came with {KINDS[event.kind]}"
        )
    # Only the newer coordinator writes a classic group down at once.
    lowest = 0 if event.kind == CLASSIC and at_least("4.0", settings.release) else 1
    if event.generation < lowest:
        raise IllegalEvent(f"{event!r}: the first generation that Kafka {settings.release} stores is {lowest}")
    if event.kind != CLASSIC and (event.leader is not None or any(each.assigned for each in event.members)):
        raise IllegalEvent(
            f"{event!r}: a {event.kind} group has no leader, and what its members are assigned is not stored here; "
            "leave leader and assigned out"
        )
    if known is not None and known.kind != event.kind and known.state != EMPTY:
        raise IllegalEvent(
            f"{event!r}: {event.group_id} is a {known.kind} group with members; it changes its kind here only when it "
            "is Empty: StoreGroup without members comes first"
        )


def change_state(settings: Settings, store: Store, event: model.StateChanged) -> Store:
    """The store with a group that rebalances; nothing is written."""
    group = store.group(event.group_id)
    if group is None or group.kind != CLASSIC or event.state not in (PREPARING, COMPLETING):
        raise IllegalEvent(
            f"{event!r}: a classic group of the cache may go to {PREPARING} or {COMPLETING}; the cache has "
            f"{[each.group_id for each in store.groups]}, and StoreGroup ends a rebalance"
        )
    return replace(store, groups=put_group(store.groups, replace(group, state=event.state)))


def produce(settings: Settings, store: Store, event: model.Produce) -> Store:
    """The store after a Produce request of somebody else; only the admin client id may write."""
    if event.client_id != ADMIN_CLIENT_ID:
        return store.answering("INVALID_TOPIC_EXCEPTION")
    if store.status == model.NOT_OWNED:
        return store.answering("NOT_LEADER_OR_FOLLOWER")
    return replace(store, log=(*store.log, Entry(event.key, event.value, is_foreign=True))).answering()


# When a committed offset expires: the two rules, before and since 2.1 (KIP-211). Up to 2.0 every commit carries its own
# time of expiry, and the sweep does not look at the group: a partition that gets no new commit for the retention time
# loses its offset although it is being consumed. Since 2.1 the kind of group decides. An offset of a topic that a
# member subscribes to does not expire. The offsets of a classic group that has no members count from when it became
# Empty, all at once; those of a group of a newer protocol (KIP-848, streams) or of a standalone consumer, and those of
# a topic that no member subscribes to, each from its last commit. So a KIP-848 group that runs for weeks keeps an old
# commit, and loses it with the first sweep after its last member has left.


def is_expired(
    group: Group,
    committed: Committed,
    now_ms: int,
    retention_ms: int,
    release: str = DEFAULT_RELEASE,
    is_pending: bool = False,
) -> bool:
    """Whether the sweep removes an offset at a time.

    Parameters
    ----------
    group : Group
        Who committed it, in the state it is in.
    committed : Committed
        The offset.
    now_ms, retention_ms : int
        The clock, and ``offsets.retention.minutes`` in milliseconds.
    release : str
        Of the broker.
    is_pending : bool
        Another commit for the partition has begun: up to 3.9 one that is in flight, since 4.0 one in a transaction
        that has not ended.

    Examples
    --------
    >>> group = Group("billing", state=EMPTY, protocol_type="consumer", state_ms=1_000_000)
    >>> committed = Committed("orders", 0, 7, commit_ms=700_000)
    >>> [is_expired(group, committed, now_ms, retention_ms=1000) for now_ms in (1_000_999, 1_001_000)]
    [False, True]
    >>> is_expired(Group("billing", "consumer"), committed, 701_000, retention_ms=1000)  # KIP-848: from the commit
    True

    References
    ----------
    Apache Kafka, ``GroupMetadata.removeExpiredOffsets`` (0.10.1 to 3.9); since 4.0
    ``OffsetMetadataManager.cleanupExpiredOffsets`` with ``OffsetExpirationConditionImpl``, and
    ``offsetExpirationCondition`` of ``ClassicGroup``, ``ConsumerGroup`` and ``StreamsGroup``.
    """
    at_ms = None if is_pending else expires_ms(group, committed, retention_ms, release)
    return at_ms is not None and now_ms >= at_ms


def expires_ms(group: Group, committed: Committed, retention_ms: int, release: str = DEFAULT_RELEASE) -> int | None:
    """The first moment at which the sweep removes an offset, if the group stays as it is; None: never.

    Arguments are those of `is_expired`.

    >>> group = Group("billing", state=EMPTY, protocol_type="consumer", state_ms=1_000_000)
    >>> expires_ms(group, Committed("orders", 0, 7, commit_ms=700_000), retention_ms=1000)
    1001000
    """
    if not at_least("2.1", release):
        expire_ms = committed.commit_ms + retention_ms if committed.expire_ms is None else committed.expire_ms
        return expire_ms + 1
    base_ms = _base_ms(group, committed, release)
    if base_ms is None:
        return None
    return base_ms + retention_ms if committed.expire_ms is None else committed.expire_ms


def _base_ms(group: Group, committed: Committed, release: str) -> int | None:
    """What the retention counts from since 2.1; None: it does not count."""
    if group.kind == SHARE:
        return None  # it commits nothing
    if group.kind != CLASSIC:
        return None if is_subscribed(group, committed.topic) else committed.commit_ms
    if not group.protocol_type:
        return committed.commit_ms
    if group.state == EMPTY:
        return committed.commit_ms if group.state_ms is None else group.state_ms
    knows_subscriptions = group.protocol_type == "consumer" and at_least("2.4", release)
    in_right_state = group.state == STABLE or not _only_when_stable(release)
    if knows_subscriptions and in_right_state and not is_subscribed(group, committed.topic):
        return committed.commit_ms
    return None


def is_subscribed(group: Group, topic: str) -> bool:
    """Whether a member subscribes to the topic, or may: where one subscription cannot be read, all are taken to."""
    return any(member.subscribed is None or topic in member.subscribed for member in group.members)


def _only_when_stable(release: str) -> bool:
    """Whether offsets of a group with members expire in state Stable only: not in 2.4 to 2.8.1, 3.0.0 and 3.1.0."""
    fixed_in = next(
        fixed for line, fixed in (("3.2", "3.2"), ("3.1", "3.1.1"), ("3.0", "3.0.1"), ("0.8.2", "2.8.2"))
        if at_least(line, release)
    )  # fmt: skip
    return at_least(fixed_in, release)


# What leaves the store.


def sweep(settings: Settings, store: Store, event: model.Sweep) -> Store:
    """The store without what has expired: tombstones for offsets, then for Empty groups that have none left.

    Up to 3.9 a commit in flight protects its partition, and one in an open transaction the group only; tombstones
    count at once. Since 4.0 what is written counts for the sweep though no replica has it yet, an open transaction
    protects its partitions and the group, and tombstones wait for the replicas as all else does.
    """
    if at_least("4.0", settings.release):
        return _sweep_as_written(settings, store, event)
    in_flight = in_flight_partitions(store)
    pending_groups = {group_id for group_id, _, _ in in_flight} | open_groups(store.log)
    for group in store.groups:
        gone = _expired(settings, group, event.now_ms, in_flight)
        store = append_unconfirmed(store, *offset_tombstones(settings, group, gone))
        if _is_left_blank(group, gone) and group.group_id not in pending_groups:
            store = append_unconfirmed(store, *group_tombstones(settings, group))
            store = replace(store, groups=without_group(store.groups, group.group_id))
    return store


def _sweep_as_written(settings: Settings, store: Store, event: model.Sweep) -> Store:
    pending, has_in_flight = open_partitions(settings, store), bool(store.in_flight)
    pending_groups = open_groups(store.log)
    written: list[Entry] = []
    for group in confirm(store).groups:
        gone = _expired(settings, group, event.now_ms, pending)
        written += offset_tombstones(settings, group, gone)
        is_swept = group.kind != SHARE or not at_least("4.1", settings.release)
        if is_swept and _is_left_blank(group, gone) and group.group_id not in pending_groups:
            written += group_tombstones(settings, group)
    return append(store, *written, is_in_flight=has_in_flight)


def _is_left_blank(group: Group, gone: list[Committed]) -> bool:
    return group.state == EMPTY and len(gone) == len(group.offsets)


def _expired(settings: Settings, group: Group, now_ms: int, pending: set[tuple[str, str, int]]) -> list[Committed]:
    """The offsets that go; those of `pending`, partitions with their group, do not."""
    retention_ms, release = settings.retention_ms, settings.release
    return [
        each
        for each in group.offsets
        if is_expired(group, each, now_ms, retention_ms, release, (group.group_id, *each.at) in pending)
    ]


def delete_group(settings: Settings, store: Store, event: model.DeleteGroup) -> Store:
    """The store after DeleteGroups: only an Empty group goes, with all its offsets."""
    group = _as_written(settings, store).group(event.group_id)
    if group is None:
        return store.answering("GROUP_ID_NOT_FOUND")
    if group.state != EMPTY:
        return store.answering("NON_EMPTY_GROUP")
    store, tombstones = _deleted(settings, store, event, group, lambda each: True)
    store = append(store, *tombstones, *group_tombstones(settings, group))
    return replace(store, groups=without_group(store.groups, group.group_id)).answering()


def delete_offset(settings: Settings, store: Store, event: model.DeleteOffset) -> Store:
    """The store after OffsetDelete: not for a topic that a live group subscribes to."""
    group = _as_written(settings, store).group(event.group_id)
    if group is None:
        return store.answering("GROUP_ID_NOT_FOUND")
    if group.state != EMPTY and group.kind == CLASSIC and group.protocol_type != "consumer":
        return store.answering("NON_EMPTY_GROUP")
    if group.state != EMPTY and is_subscribed(group, event.topic):
        return store.answering("GROUP_SUBSCRIBED_TO_TOPIC")
    at = (event.topic, event.partition)
    store, tombstones = _deleted(settings, store, event, group, lambda each: each.at == at)
    return append(store, *tombstones).answering()


_Deletion: TypeAlias = model.DeleteGroup | model.DeleteOffset | model.DeleteTopic


def _as_written(settings: Settings, store: Store) -> Store:
    """The store as a deletion finds it: since 4.0 what is in flight counts for it, as all that is written does."""
    return confirm(store) if at_least(FIRST_NEW_COORDINATOR, settings.release) else store


def _deleted(
    settings: Settings, store: Store, event: _Deletion, group: Group, is_meant: Callable[[Committed], bool]
) -> tuple[Store, list[Entry]]:
    """The store without what is meant of a group, and the tombstones to write for it.

    Up to 3.9 a commit in flight gets a tombstone only where its partition had an offset before. Else nothing is
    written: the coordinator gives the commit up, and who loads the log next finds it.

    References
    ----------
    Apache Kafka, ``GroupMetadata.removeOffsets`` and ``onOffsetCommitAppend`` (up to 3.9).
    """
    gone = _with_pending(settings, store, event, group, is_meant)
    if at_least(FIRST_NEW_COORDINATOR, settings.release):
        return store, offset_tombstones(settings, group, gone)
    given_up = {
        offset
        for offset in store.in_flight
        for one in follow((), [store.log[offset]])
        for each in one.offsets
        if one.group_id == group.group_id and is_meant(each) and group.offset(*each.at) is None
    }
    return give_up(store, given_up), offset_tombstones(settings, group, gone)


def _with_pending(
    settings: Settings,
    store: Store,
    event: _Deletion,
    group: Group,
    is_meant: Callable[[Committed], bool],
) -> list[Committed]:
    """The offsets of a group that are meant; of partitions without one those that open transactions hold.

    All get tombstones, and a tombstone wipes out what is pending for its partition: the commit of the transaction
    brings nothing back.

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``OffsetMetadataManager.deleteOffsets``, ``deleteAllOffsets``, ``onPartitionsDeleted`` and
    ``replay``.
    """
    held = follow((), [store.log[offset] for offset in _pending(settings, store.log)])
    pending = [each for one in held if one.group_id == group.group_id for each in one.offsets if is_meant(each)]
    if pending and not at_least(FIRST_NEW_COORDINATOR, settings.release):
        raise IllegalEvent(
            f"{event!r}: an open transaction holds offsets of {group.group_id}, and what becomes of them was asked of "
            f"{FIRST_NEW_COORDINATOR} and later only, not of {settings.release}; end the transaction first"
        )
    found = {each.at: each for each in (*pending, *filter(is_meant, group.offsets))}
    return [found[at] for at in sorted(found)]


def delete_topic(settings: Settings, store: Store, event: model.DeleteTopic) -> Store:
    """The store without the offsets committed for a topic.

    Since 4.3 an offset that was committed for another topic of that name stays: the ids distinguish them.
    """
    ids = (None, event.topic_id) if at_least("4.3", settings.release) and event.topic_id is not None else None

    def is_meant(each: Committed) -> bool:
        return each.topic == event.topic and (ids is None or each.topic_id in ids)

    tombstones: list[Entry] = []
    for group in _as_written(settings, store).groups:
        store, of_group = _deleted(settings, store, event, group, is_meant)
        tombstones += of_group
    return append(store, *tombstones)


def time_reached(settings: Settings, store: Store, event: model.TimeReached) -> Store:
    """The store at a time: each commit that has waited long enough is answered with an error.

    Its record stays in the log. Since 4.0 the commit counts as soon as the replicas have it, though its sender got
    an error. Up to 3.9 the coordinator gives it up: memory keeps the offset before it, and only who loads the log
    next finds the new one.

    References
    ----------
    Apache Kafka 4.3, ``CoordinatorRuntime`` and ``GroupCoordinatorService.handleOperationException``; up to 3.9
    ``GroupMetadataManager.storeOffsets`` and ``GroupMetadata.failPendingOffsetWrite``.
    """
    is_new = at_least("4.0", settings.release)
    late = tuple(
        offset
        for offset in store.in_flight
        if offset not in store.timed_out and _waited_ms(store.log[offset], event.now_ms) >= settings.commit_timeout_ms
    )
    error = "COORDINATOR_NOT_AVAILABLE" if is_new else "REQUEST_TIMED_OUT"
    store = replace(store, effects=tuple(model.Answer(error) for _ in late))
    if is_new:
        return replace(store, timed_out=(*store.timed_out, *late))
    return replace(give_up(store, set(late)), unreplicated=(*store.unreplicated, *late))


def _waited_ms(entry: Entry, now_ms: int) -> int:
    """How long the sender of a commit has waited; -1 of an entry that nobody is to be answered for."""
    record = None if entry.key is None else decode(entry.key, entry.value)  # a marker has no key
    if record is None or record.type.number not in OFFSET_TYPES or record.is_tombstone:
        return -1
    return now_ms - committed(record).commit_ms
