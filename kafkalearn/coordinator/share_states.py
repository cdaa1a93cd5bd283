"""The share coordinator: the broker that keeps the states of share-partitions in the log, request by request.

The leader of a topic-partition decides who gets which record. What has to outlive it goes to the *share coordinator*:
the leader of one partition of ``__share_group_state`` (`kafkalearn.coordinator.share_place` says which).

The simulator takes the five requests: `Initialize` makes a state, `Read` gives it to a new leader, `Write` adds what
has changed, `Summarize` gives it without batches, `Delete` removes it. A *state epoch* fences writers for a group
that has begun anew, a *leader epoch* leaders that have been replaced. Each change is one record: an update with only
what has changed, or, after so many updates, a snapshot with all of it. `SnapshotCold` is the timer that writes a
snapshot of states without one for long. `kafkalearn.formats.share_state_log` has the records to the byte.

>>> orders = SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", 2)
>>> settings = Settings({orders.topic_id: 3})
>>> accepted = StateBatch(0, 4, ACKNOWLEDGED, 1)
>>> trace = simulate(settings, [Initialize(orders, state_epoch=2), Write(orders, 2, 0, 0, (accepted,), 5)])
>>> [effect.name for frame in trace for effect in frame.state.effects]
['ShareSnapshot', 'ShareUpdate']
>>> trace[-1].state.state_of(orders).lag(end_offset=7)
2

References
----------
Apache Kafka 4.2 to 4.4, ``ShareCoordinatorShard``, ``ShareCoordinatorService``, ``ShareGroupOffset``,
``PersisterStateBatchCombiner``; KIP-932, KIP-1226.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType

from kafkalearn.base.errors import no_event
from kafkalearn.base.promises import Since
from kafkalearn.base.simulator import simulator
from kafkalearn.coordinator.share_model import (
    Answer,
    Coordinator,
    Delete,
    Effect,
    Event,
    Initialize,
    Kept,
    Read,
    Settings,
    Snapshot,
    SnapshotCold,
    Summarize,
    Tombstone,
    Update,
    Write,
)
from kafkalearn.formats.share_state_log import (
    ACKNOWLEDGED,
    SharePartition,
    ShareState,
    StateBatch,
    combine_batches,
    with_update,
)
from kafkalearn.formats.share_state_pairs import combine_pairs
from kafkalearn.releases.lines import at_least


def start(settings: Settings) -> Coordinator:
    """A share coordinator whose partition of the topic is empty."""
    return Coordinator()


# The step.

INVALID, UNKNOWN = "INVALID_REQUEST", "UNKNOWN_TOPIC_OR_PARTITION"
FENCED_LEADER, FENCED_STATE = "FENCED_LEADER_EPOCH", "FENCED_STATE_EPOCH"
NEGATIVE = "The {} cannot be a negative number."
UNINITIALIZED = "{} operation on uninitialized share partition not allowed."
NOT_HOSTED = "This server does not host this topic-partition."
OLD_LEADER = "The leader epoch in the request is older than the epoch on the broker."
OLD_STATE: MappingProxyType[bool, str] = MappingProxyType(
    {
        True: "The coordinator rejected the request because the state epoch did not match.",
        False: "The share coordinator rejected the request because the share-group state epoch did not match.",
    }
)
"""What FENCED_STATE_EPOCH says: since 4.4, and before."""


def step(settings: Settings, state: Coordinator, event: Event) -> Coordinator:
    """The coordinator after a request was answered and its record is written.

    Raises
    ------
    IllegalEvent
        If it is none of the requests.
    """
    match event:
        case Initialize():
            answered = _initialized(settings, state, event)
        case Read():
            answered = _read(settings, state, event)
        case Write():
            answered = _written(settings, state, event)
        case Summarize():
            answered = _summarized(settings, state, event)
        case Delete():
            answered = _deleted(settings, state, event)
        case SnapshotCold():
            answered = _cold(settings, state, event)
        case _:
            raise no_event(event, (Initialize, Read, Write, Summarize, Delete, SnapshotCold))
    return answered


def _answered(state: Coordinator, answer: Answer | None, *effects: Effect) -> Coordinator:
    return replace(state, answer=answer, effects=effects, record_count=state.record_count + len(effects))


def _refused(state: Coordinator, error: str, message: str) -> Coordinator:
    return _answered(state, Answer(error, message))


def _kept_with(settings: Settings, state: Coordinator, effect: Effect) -> Coordinator:
    """The coordinator after it has replayed a record that it has written."""
    whose = effect.state.share_partition if isinstance(effect, Snapshot) else effect.share_partition
    before = state.of(whose)
    others = [each for each in state.kept if each.state.share_partition != whose]
    if isinstance(effect, Tombstone):
        return replace(state, kept=tuple(others))
    if isinstance(effect, Snapshot):
        kept = Kept(effect.state, effect.state.leader_epoch, effect.state.state_epoch, 0)
        if before is not None:
            count = before.update_count
            kept = _fenced(kept, before, 0 if count >= settings.updates_per_snapshot else count)
    else:
        assert before is not None, "an update is written of what is initialised"
        merged = _merged(settings, before.state, effect)
        kept = _fenced(
            Kept(merged, effect.leader_epoch, before.highest_state_epoch, 0), before, before.update_count + 1
        )
    return replace(state, kept=tuple(sorted([*others, kept], key=lambda each: each.state.share_partition)))


def _fenced(kept: Kept, before: Kept, update_count: int) -> Kept:
    return replace(
        kept,
        highest_leader_epoch=max(kept.highest_leader_epoch, before.highest_leader_epoch),
        highest_state_epoch=max(kept.highest_state_epoch, before.highest_state_epoch),
        update_count=update_count,
    )


def _merged(settings: Settings, state: ShareState, update: Update) -> ShareState:
    merged = with_update(state, update.leader_epoch, update.start_offset, update.complete_count, update.batches)
    if settings.is_strict:
        return merged
    return replace(merged, batches=combine_pairs(state.batches, update.batches, merged.start_offset))


def _combined(
    settings: Settings, batches: Iterable[StateBatch], more: Iterable[StateBatch], start_offset: int
) -> tuple[StateBatch, ...]:
    return (combine_batches if settings.is_strict else combine_pairs)(batches, more, start_offset)


# What a request is asked first, in this order: its numbers, the state, the epochs, the topic.


def _no_number(settings: Settings, whose: SharePartition, **epochs: int) -> str | None:
    """What to say of a number that none may be, or None."""
    if whose.partition < 0:
        return NEGATIVE.format("partition id")
    if settings.is_strict:
        for name, epoch in epochs.items():
            if epoch < 0:
                return NEGATIVE.format(name.replace("_", " "))
    return None


def _is_hosted(settings: Settings, whose: SharePartition) -> bool:
    return whose.partition < dict(settings.partition_counts).get(whose.topic_id, 0)


def _is_older(settings: Settings, asked: int, highest: int, exempt: bool = True) -> bool:
    """Whether an epoch is fenced; before 4.4 the epoch -1 is none and passes."""
    return asked < highest and (settings.is_strict or not exempt or asked != -1)


def _initialized(settings: Settings, state: Coordinator, event: Initialize) -> Coordinator:
    whose, kept = event.share_partition, state.of(event.share_partition)
    if message := _no_number(settings, whose, state_epoch=event.state_epoch):
        return _refused(state, INVALID, message)
    if kept is not None and _is_older(settings, event.state_epoch, kept.highest_state_epoch):
        return _refused(state, FENCED_STATE, OLD_STATE[settings.is_strict])
    if not _is_hosted(settings, whose):
        return _refused(state, UNKNOWN, NOT_HOSTED)
    made = ShareState(
        whose,
        snapshot_epoch=0 if kept is None else kept.state.snapshot_epoch + 1,
        state_epoch=event.state_epoch,
        leader_epoch=0,
        start_offset=event.start_offset,
        complete_count=-1 if event.start_offset == -1 else 0,
        created_ms=event.at_ms,
        written_ms=event.at_ms,
    )
    return _with_record(settings, state, Answer(), Snapshot(made))


def _with_record(settings: Settings, state: Coordinator, answer: Answer, effect: Effect) -> Coordinator:
    return _answered(_kept_with(settings, state, effect), answer, effect)


def _read(settings: Settings, state: Coordinator, event: Read) -> Coordinator:
    whose, kept = event.share_partition, state.of(event.share_partition)
    if message := _no_number(settings, whose, leader_epoch=event.leader_epoch):
        return _refused(state, INVALID, message)
    if kept is None:
        return _refused(state, INVALID, UNINITIALIZED.format("Read"))
    if _is_older(settings, event.leader_epoch, kept.highest_leader_epoch, at_least("4.3", settings.release)):
        return _refused(state, FENCED_LEADER, OLD_LEADER)
    if not _is_hosted(settings, whose):
        return _refused(state, UNKNOWN, NOT_HOSTED)
    held = kept.state
    answer = Answer(start_offset=held.start_offset, state_epoch=held.state_epoch, batches=held.batches)
    if event.leader_epoch == kept.highest_leader_epoch or (event.leader_epoch == -1 and not settings.is_strict):
        return _answered(state, answer)
    asked = Write(whose, held.state_epoch, event.leader_epoch, held.start_offset, (), held.complete_count, event.at_ms)
    return _with_record(settings, state, answer, _record(settings, kept, asked, event.leader_epoch))


def _written(settings: Settings, state: Coordinator, event: Write) -> Coordinator:
    whose, kept = event.share_partition, state.of(event.share_partition)
    epochs = {"leader_epoch": event.leader_epoch, "state_epoch": event.state_epoch}
    if message := _no_number(settings, whose, **epochs):
        return _refused(state, INVALID, message)
    if kept is None:
        return _refused(state, INVALID, UNINITIALIZED.format("Write"))
    if _is_older(settings, event.leader_epoch, kept.highest_leader_epoch):
        return _refused(state, FENCED_LEADER, OLD_LEADER)
    if _is_older(settings, event.state_epoch, kept.highest_state_epoch):
        return _refused(state, FENCED_STATE, OLD_STATE[settings.is_strict])
    if not _is_hosted(settings, whose):
        return _refused(state, UNKNOWN, NOT_HOSTED)
    return _with_record(settings, state, Answer(), _record(settings, kept, event, kept.state.leader_epoch))


def _record(settings: Settings, kept: Kept, event: Write, leader_epoch: int) -> Snapshot | Update:
    """What is written of a write: an update, or after so many of them a snapshot."""
    held, sent, count = kept.state, event.start_offset, event.complete_count
    if settings.is_strict:
        count = max(count, held.complete_count) if sent == held.start_offset else count
        count = held.complete_count if sent < held.start_offset else count
        sent = max(sent, held.start_offset)
    if kept.update_count < settings.updates_per_snapshot:
        changed = _combined(settings, (), event.batches, sent)
        return Update(held.share_partition, held.snapshot_epoch, leader_epoch, sent, count, changed)
    begin = held.start_offset if sent == -1 else sent
    return Snapshot(
        replace(
            held,
            snapshot_epoch=held.snapshot_epoch + 1,
            leader_epoch=leader_epoch,
            start_offset=begin,
            complete_count=count,
            created_ms=event.at_ms,
            written_ms=event.at_ms,
            batches=_combined(settings, held.batches, event.batches, begin),
        )
    )


def _summarized(settings: Settings, state: Coordinator, event: Summarize) -> Coordinator:
    whose, kept = event.share_partition, state.of(event.share_partition)
    if message := _no_number(settings, whose):
        return _refused(state, INVALID, message)
    if not _is_hosted(settings, whose):
        return _refused(state, UNKNOWN, NOT_HOSTED)
    if kept is None:
        return _answered(state, Answer(start_offset=-1, state_epoch=0, leader_epoch=0, complete_count=-1))
    held = kept.state
    return _answered(
        state,
        Answer(
            start_offset=held.start_offset,
            state_epoch=held.state_epoch,
            leader_epoch=held.leader_epoch,
            complete_count=held.complete_count,
        ),
    )


def _deleted(settings: Settings, state: Coordinator, event: Delete) -> Coordinator:
    whose = event.share_partition
    if message := _no_number(settings, whose):
        return _refused(state, INVALID, message)
    if not _is_hosted(settings, whose):
        return _refused(state, UNKNOWN, NOT_HOSTED)
    if state.of(whose) is None:
        return _answered(state, Answer())
    return _with_record(settings, state, Answer(), Tombstone(whose))


def cold_from_ms(states: Sequence[ShareState], cold_ms: int) -> int | None:
    """From when on `SnapshotCold` writes something, if nothing else is written before; None: it does not.

    >>> warm = ShareState(SharePartition("g", "t", 0), 0, 0, 0, 0, 0, created_ms=5, written_ms=5)
    >>> cold_from_ms([warm], cold_ms=300_000), cold_from_ms([replace(warm, written_ms=300_005)], cold_ms=300_000)
    (300005, None)
    """
    if all(each.written_ms != each.created_ms for each in states):
        return None
    return min(each.written_ms for each in states) + cold_ms


def _cold(settings: Settings, state: Coordinator, event: SnapshotCold) -> Coordinator:
    """A snapshot of each state without one for long, unless the last one of all of them was such a snapshot."""
    states = [each.state for each in state.kept]
    from_ms = cold_from_ms(states, settings.cold_ms)
    if from_ms is None or event.at_ms < from_ms:
        return _answered(state, None)
    written: list[Effect] = []
    for each in states:
        if event.at_ms - each.written_ms >= settings.cold_ms:
            written.append(Snapshot(replace(each, snapshot_epoch=each.snapshot_epoch + 1, written_ms=event.at_ms)))
            state = _kept_with(settings, state, written[-1])
    return _answered(state, None, *written)


# What holds in every state, and what one hopes for.


def _batches_are_apart(settings: Settings, state: Coordinator) -> bool:
    return all(
        one.last < other.first
        for each in state.kept
        for one, other in zip(each.state.batches, each.state.batches[1:], strict=False)
    )


def _epochs_never_fall(settings: Settings, before: Coordinator, state: Coordinator) -> bool:
    pairs = [(each, state.of(each.state.share_partition)) for each in before.kept]
    return all(
        now is None
        or (
            now.highest_leader_epoch >= each.highest_leader_epoch
            and now.highest_state_epoch >= each.highest_state_epoch
            and now.state.snapshot_epoch >= each.state.snapshot_epoch
        )
        for each, now in pairs
    )


def _start_never_falls(settings: Settings, before: Coordinator, state: Coordinator) -> bool:
    pairs = [(each.state, state.of(each.state.share_partition)) for each in before.kept]
    return all(
        now is None or now.state.state_epoch != held.state_epoch or now.state.start_offset >= held.start_offset
        for held, now in pairs
    )


def _nothing_done_comes_back(settings: Settings, before: Coordinator, state: Coordinator) -> bool:
    """Within a state epoch what was acknowledged stays so, or lies below the start."""
    for each in before.kept:
        now = state.of(each.state.share_partition)
        if now is None or now.state.state_epoch != each.state.state_epoch:
            continue
        for batch in each.state.batches:
            if batch.state != ACKNOWLEDGED:
                continue
            left = combine_batches([batch], start_offset=now.state.start_offset)
            covered = [other for other in now.state.batches if other.count > batch.count or other.state >= ACKNOWLEDGED]
            if any(not _covers(covered, one) for one in left):
                return False
    return True


def _covers(batches: Sequence[StateBatch], one: StateBatch) -> bool:
    at = one.first
    for each in sorted(batches):
        if each.first <= at <= each.last:
            at = each.last + 1
    return at > one.last


INVARIANTS = {
    "batches of a state do not overlap": _batches_are_apart,
    "epochs never fall": Since(_epochs_never_fall),
    "a refused request writes nothing": lambda settings, state: (
        state.answer is None or state.answer.error == "NONE" or not state.effects
    ),
    "snapshots are written in time": lambda settings, state: all(
        each.update_count <= settings.updates_per_snapshot for each in state.kept
    ),
}

PROMISES = {
    "the start of a state epoch never goes back": Since(_start_never_falls),
    "what was acknowledged is not forgotten": Since(_nothing_done_comes_back),
}

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
