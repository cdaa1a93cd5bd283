"""The simulator of share groups: what each event does, what always holds, and what users hope for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import IllegalEvent, no_event, refusing_events, shown
from kafkalearn.base.promises import Promises, Since, judges
from kafkalearn.base.trace import Trace, run
from kafkalearn.coordinator import share_model, share_states
from kafkalearn.sharing import acknowledging, appending, events, fetching, group, model, offsets, sessions, stored
from kafkalearn.sharing.events import Answer, Event, LockRanOut
from kafkalearn.sharing.group_settings import refusal
from kafkalearn.sharing.model import ACQUIRED, Cluster, Held, Settings, SharePartition
from kafkalearn.sharing.turn import LOCK, Turn

EPOCHS_A_RESTART = 2
"""How many epochs of its leader a restart takes: one when it goes, one when it comes (recorded)."""


# Logs.


def _produce(turn: Turn, event: events.Produce) -> None:
    log = turn.cluster.log(event.partition)
    if log is None:
        raise model.unknown_partition(turn.cluster, event, event.partition)
    number = turn.cluster.produced + 1
    values = tuple(f"r{number}.{place}" for place in range(event.record_count))
    after = appending.appended(
        log, event.record_count, turn.cluster.now_ms - event.age_ms, values=values,
        value_bytes=event.value_bytes, keys=event.keys, transaction=event.transaction,
    )  # fmt: skip
    turn.change(produced=number)
    turn.put_log(after)
    turn.effects.append(Answer(results=(("offset", log.end_offset),)))
    fetching.look_again(turn, None, event.partition)


def _end_txn(turn: Turn, event: events.EndTxn) -> None:
    kind = "COMMIT" if event.commit else "ABORT"
    for log in turn.cluster.logs:
        is_open = False
        for each in log.batches:
            if each.transaction == event.transaction:
                is_open = not each.is_control
        if is_open:
            turn.put_log(appending.appended(log, 1, turn.cluster.now_ms, transaction=event.transaction, kind=kind))
            fetching.look_again(turn, None, log.name)
    turn.effects.append(Answer())


def _delete_records(turn: Turn, event: events.DeleteRecords) -> None:
    log = turn.cluster.log(event.partition)
    if log is None:
        raise model.unknown_partition(turn.cluster, event, event.partition)
    if event.before > log.end_offset:
        turn.effects.append(Answer("OFFSET_OUT_OF_RANGE", results=(("start", -1),)))
        return
    after = replace(log, start_offset=max(log.start_offset, event.before))
    turn.put_log(after)
    turn.effects.append(Answer(results=(("start", after.start_offset),)))


def _compacted(turn: Turn, event: events.RecordsCompacted) -> None:
    log = turn.cluster.log(event.partition)
    if log is None:
        raise model.unknown_partition(turn.cluster, event, event.partition)
    turn.put_log(appending.compacted(log, frozenset(event.offsets)))


def _leader_moved(turn: Turn, event: events.LeaderMoved) -> None:
    log = turn.cluster.log(event.partition)
    if log is None:
        raise model.unknown_partition(turn.cluster, event, event.partition)
    if not 1 <= event.broker <= turn.settings.broker_count:
        raise IllegalEvent(f"{shown(event, 200)}: there are the brokers 1 to {turn.settings.broker_count}")
    turn.put_log(replace(log, leader=event.broker, leader_epoch=log.leader_epoch + (event.broker != log.leader)))
    if event.broker != log.leader:
        for share in turn.cluster.share_partitions:
            if share.key[1] == event.partition:
                turn.forget(share.key)


def _restarted(turn: Turn, event: events.BrokerRestarted) -> None:
    if event.broker > turn.settings.broker_count:
        raise IllegalEvent(f"{shown(event, 200)}: there are the brokers 1 to {turn.settings.broker_count}")
    sessions.restarted(turn, event.broker)
    for log in turn.cluster.logs:
        if log.leader == event.broker:
            turn.put_log(replace(log, leader_epoch=log.leader_epoch + EPOCHS_A_RESTART))


# Settings.


def _alter_group_configs(turn: Turn, event: events.AlterGroupConfigs) -> None:
    for name, value in event.configs:
        words = refusal(turn.settings, name, value)
        if words:
            turn.effects.append(Answer("INVALID_CONFIG", words))
            return
    known = dict(turn.configs(event.group)) | dict(event.configs)
    turn.put_configs(event.group, tuple(sorted(known.items())))
    turn.effects.append(Answer())


def _alter_topic_configs(turn: Turn, event: events.AlterTopicConfigs) -> None:
    known = turn.cluster.topic_configs_of(event.topic) | dict(event.configs)
    others = tuple(each for each in turn.cluster.topic_configs if each[0] != event.topic)
    turn.change(topic_configs=tuple(sorted((*others, (event.topic, tuple(sorted(known.items())))))))
    turn.effects.append(Answer())


def _other_group(turn: Turn, event: events.OtherGroupMade) -> None:
    known = turn.cluster.group(event.group)
    if known is not None:
        turn.effects.append(Answer("INCONSISTENT_GROUP_PROTOCOL"))
        return
    turn.put_group(model.Group(event.group, 1, kind=event.kind))
    turn.effects.append(Answer())


# The share coordinator, asked by hand.


def _initialize(turn: Turn, event: events.InitializeShareGroupState) -> None:
    whose = stored.whose(turn.settings, event.group, event.partition)
    _told(turn, share_model.Initialize(whose, event.state_epoch, event.start_offset, turn.cluster.now_ms))


def _read(turn: Turn, event: events.ReadShareGroupState) -> None:
    whose = stored.whose(turn.settings, event.group, event.partition)
    _told(turn, share_model.Read(whose, event.leader_epoch, turn.cluster.now_ms))


def _write(turn: Turn, event: events.WriteShareGroupState) -> None:
    batches = tuple(stored.StateBatch(*each) for each in event.batches)
    whose = stored.whose(turn.settings, event.group, event.partition)
    _told(turn, share_model.Write(
        whose, event.state_epoch, event.leader_epoch, event.start_offset, batches, event.delivery_complete_count,
        turn.cluster.now_ms,
    ))  # fmt: skip


def _delete(turn: Turn, event: events.DeleteShareGroupState) -> None:
    _told(turn, share_model.Delete(stored.whose(turn.settings, event.group, event.partition)))


def _summary(turn: Turn, event: events.ReadShareGroupStateSummary) -> None:
    _told(turn, share_model.Summarize(stored.whose(turn.settings, event.group, event.partition)))


_SHOWN = {
    "stateEpoch": "state_epoch", "leaderEpoch": "leader_epoch", "startOffset": "start_offset",
    "deliveryCompleteCount": "complete_count", "stateBatches": "batches",
}  # fmt: skip


def _told(turn: Turn, event: share_model.Event) -> None:
    answer = turn.ask(event)
    found = tuple((name, getattr(answer, field)) for name, field in _SHOWN.items())
    results = tuple((name, each) for name, each in found if each is not None)
    turn.effects.append(Answer(answer.error, answer.message or "", results))


# Time.


def _locks(cluster: Cluster) -> list[tuple[int, int, int, int]]:
    """When each lock runs out, of which share-partition, and its offsets: one for a batch, or for each offset."""
    found: list[tuple[int, int, int, int]] = []
    for place, share in enumerate(cluster.share_partitions):
        for batch in share.batches:
            if batch.whole is not None:
                if batch.whole.lock_ms is not None:
                    found.append((batch.whole.lock_ms, place, batch.first, batch.last))
            else:
                found += [(held.lock_ms, place, at, at) for at, held in batch.items() if held.lock_ms is not None]
    return found


def next_timer_ms(cluster: Cluster) -> int | None:
    """When something happens by itself: a lock runs out, a fetch has waited, a member has been silent for too long.

    >>> next_timer_ms(Cluster()) is None
    True
    """
    times = [each[0] for each in _locks(cluster)]
    times += [each.until_ms for each in cluster.waiting]
    times += [each.times_out_ms for one in cluster.groups for each in one.members]
    return min(times, default=None)


def _time_passed(turn: Turn, event: events.TimePassed) -> None:
    end_ms = whole_number("now_ms", turn.cluster.now_ms + event.ms, at_least=0)
    while True:
        at_ms = next_timer_ms(turn.cluster)
        last_ms = end_ms if at_ms is None else min(at_ms, end_ms)
        cold_ms = _next_cold_ms(turn, last_ms)
        at_ms = cold_ms if at_ms is None else min(at_ms, cold_ms)
        if at_ms > end_ms:
            break
        turn.change(now_ms=max(turn.cluster.now_ms, at_ms))
        if turn.cluster.now_ms >= cold_ms:
            turn.change(cold_checked_ms=turn.cluster.now_ms)
            turn.ask(share_model.SnapshotCold(turn.cluster.now_ms))
        _fire(turn)
    turn.change(now_ms=end_ms)


def _next_cold_ms(turn: Turn, last_ms: int) -> int:
    """When the timer of the share coordinator ticks next; ticks up to `last_ms` that find nothing cold are left out."""
    interval_ms, checked_ms = turn.settings.cold_snapshot_interval_ms, turn.cluster.cold_checked_ms
    writes_ms = share_states.cold_from_ms([each.state for each in turn.cluster.stored], interval_ms)
    idle_ms = last_ms if writes_ms is None else min(last_ms, writes_ms - 1)
    if idle_ms > checked_ms:
        checked_ms += (idle_ms - checked_ms) // interval_ms * interval_ms
        turn.change(cold_checked_ms=checked_ms)
    return checked_ms + interval_ms


def _fire(turn: Turn) -> None:
    """All that is due now, one after the other: locks, members, then fetches that have waited long enough."""
    now_ms = turn.cluster.now_ms
    due = sorted(each for each in _locks(turn.cluster) if each[0] <= now_ms)
    keys = [each.key for each in turn.cluster.share_partitions]
    for _, place, first, last in due:
        _lock_ran_out(turn, keys[place], first, last)
    group.time_out(turn)
    for waiting in turn.cluster.waiting:
        now = next((each for each in turn.cluster.waiting if each.number == waiting.number), None)
        if now is not None and now.until_ms <= now_ms:
            fetching.expire(turn, now)
    sessions.see_closed(turn)


def _lock_ran_out(turn: Turn, key: model.Key, first: int, last: int) -> None:
    share = turn.share(key)
    held = share.held(first) if share is not None else None
    if share is None or held is None or held.lock_ms is None or held.lock_ms > turn.cluster.now_ms:
        return
    after, changes = acknowledging.ran_out(share, first, last, turn.rules(key[0]))
    turn.effects += [LockRanOut(*key, each.first, each.last, held.member) for each in changes]
    if changes:
        turn.write(after, changes, kind=LOCK)
        fetching.look_again(turn, *key)
        turn.settle()


_Rule = Callable[[Turn, Any], None]

RULES: Mapping[type, _Rule] = MappingProxyType(
    {
        events.Produce: _produce,
        events.EndTxn: _end_txn,
        events.DeleteRecords: _delete_records,
        events.RecordsCompacted: _compacted,
        events.CreateTopic: offsets.create_topic,
        events.CreatePartitions: offsets.create_partitions,
        events.DeleteTopic: offsets.delete_topic,
        events.ShareGroupHeartbeat: group.heartbeat,
        events.ShareFetch: sessions.share_fetch,
        events.ShareAcknowledge: sessions.share_acknowledge,
        events.ConnectionClosed: sessions.connection_closed,
        events.TimePassed: _time_passed,
        events.BrokerRestarted: _restarted,
        events.LeaderMoved: _leader_moved,
        events.AlterGroupConfigs: _alter_group_configs,
        events.AlterTopicConfigs: _alter_topic_configs,
        events.AlterShareGroupOffsets: offsets.alter,
        events.DeleteShareGroupOffsets: offsets.delete,
        events.DescribeShareGroupOffsets: offsets.describe,
        events.DeleteGroup: offsets.delete_group,
        events.OtherGroupMade: _other_group,
        events.InitializeShareGroupState: _initialize,
        events.ReadShareGroupState: _read,
        events.WriteShareGroupState: _write,
        events.DeleteShareGroupState: _delete,
        events.ReadShareGroupStateSummary: _summary,
    }
)
"""For each event the function that has its rule."""


@refusing_events
def step(settings: Settings, state: Cluster, event: Event) -> Cluster:
    """The state after an event; what was answered and written is in ``effects``."""
    rule = RULES.get(type(event))
    if rule is None:
        raise no_event(event, RULES)
    turn = Turn(settings, state)
    turn.look_again = lambda group_id, partition: fetching.look_again(turn, group_id, partition)
    rule(turn, event)
    turn.settle()
    sessions.see_closed(turn)
    while any(each.until_ms <= turn.cluster.now_ms for each in turn.cluster.waiting):
        _fire(turn)
        turn.settle()
    sessions.answer_all(turn)
    return replace(turn.cluster, effects=tuple(turn.effects))


def simulate(settings: Settings, events: Iterable[Event], initial: Cluster | None = None) -> Trace[Cluster, Event]:
    """A whole run, as a trace of states."""
    return run(step, settings, model.start(settings) if initial is None else initial, events)


# What holds in every state.


def _held(cluster: Cluster) -> Iterator[tuple[SharePartition, int, Held]]:
    for share in cluster.share_partitions:
        for batch in share.batches:
            for offset, held in batch.items():
                yield share, offset, held


def _holds_by_lock(settings: Settings, cluster: Cluster) -> bool:
    return all(
        (held.state == ACQUIRED) == bool(held.member) == (held.lock_ms is not None) for _, _, held in _held(cluster)
    )


def _is_settled(settings: Settings, cluster: Cluster) -> bool:
    return not any(held.is_under_way for _, _, held in _held(cluster))


def _lies_apart(settings: Settings, cluster: Cluster) -> bool:
    for share in cluster.share_partitions:
        ends = [-1, *(batch.last for batch in share.batches)]
        if any(batch.first <= end or batch.last < batch.first for batch, end in zip(share.batches, ends, strict=False)):
            return False
        if share.batches and share.batches[-1].last > share.end_offset:
            return False
    return True


def _counts_what_is_done(settings: Settings, cluster: Cluster) -> bool:
    return all(
        share.done_count
        == sum(
            held.is_done for batch in share.batches for offset, held in batch.items() if offset >= share.start_offset
        )
        for share in cluster.share_partitions
    )


def _stores_no_holder(settings: Settings, cluster: Cluster) -> bool:
    acquired = stored.STATE_IDS[ACQUIRED]
    return not any(batch.state == acquired for each in cluster.stored for batch in each.state.batches)


def _same(before: Cluster, cluster: Cluster) -> Iterator[tuple[SharePartition, SharePartition]]:
    """The share-partitions that one leader has had in memory all the time."""
    for after in cluster.share_partitions:
        earlier = before.share_partition(*after.key)
        if earlier is not None and (earlier.state_epoch, earlier.leader_epoch) == (
            after.state_epoch,
            after.leader_epoch,
        ):
            yield earlier, after


def _passes_what_is_done(settings: Settings, before: Cluster, cluster: Cluster) -> bool:
    delivered = {(each.group, each.partition, each.offset) for each in before.deliveries}
    done = cluster.accepted | cluster.given_up
    for earlier, after in _same(before, cluster):
        log = cluster.log(after.key[1])
        for offset in range(earlier.start_offset, after.start_offset):
            name = (*after.key, offset)
            if name in delivered and name not in done and (log is None or offset >= log.start_offset):
                return False
    return True


def _counts_do_not_fall(settings: Settings, before: Cluster, cluster: Cluster) -> bool:
    for earlier, after in _same(before, cluster):
        for batch in earlier.batches:
            for offset, held in batch.items():
                now = after.held(offset)
                if now is not None and now.count < held.count:
                    return False
    return True


INVARIANTS: Promises = MappingProxyType(
    {
        "a record that is acquired has one holder and a lock, and no other record has": _holds_by_lock,
        "no write of a state is left open": _is_settled,
        "batches in flight lie apart, in order, up to the end offset": _lies_apart,
        "as many records count as done as are done from the start offset on": _counts_what_is_done,
        "what is stored has no holder": _stores_no_holder,
        "the start offset passes only what is accepted, given up or deleted": Since(_passes_what_is_done),
        "a delivery count does not fall while one leader has it": Since(_counts_do_not_fall),
    }
)
"""What holds in every state, as predicates of settings and state."""


# What users hope for.

ONCE = "a record is delivered once"
IN_ORDER = "records of a partition are delivered in their order"
SOMEBODY = "a record is accepted by somebody, or a dead letter tells of it"
ACCEPTED_IS_OVER = "a record that was accepted is not delivered again"


def _is_delivered_once(settings: Settings, cluster: Cluster) -> bool:
    names = [(each.group, each.partition, each.offset) for each in cluster.deliveries]
    return len(names) == len(set(names))


def _is_in_order(settings: Settings, cluster: Cluster) -> bool:
    last: dict[model.Key, int] = {}
    for each in cluster.deliveries:
        key = (each.group, each.partition)
        if each.offset < last.get(key, -1):
            return False
        last[key] = each.offset
    return True


def _is_somebody_s(settings: Settings, cluster: Cluster) -> bool:
    letters = {
        (each.group, each.partition, each.offset)
        for log in cluster.logs
        for batch in log.batches
        for each in batch.dead_letters
    }
    return cluster.given_up <= letters


PROMISES: Promises = MappingProxyType(
    {
        ONCE: _is_delivered_once,
        IN_ORDER: _is_in_order,
        SOMEBODY: _is_somebody_s,
        ACCEPTED_IS_OVER: lambda _, cluster: not cluster.repeated,
    }
)
"""What users hope for. A queue gives up the first two, and the third after as many tries as the limit says."""

check, broken = judges(INVARIANTS, PROMISES)
