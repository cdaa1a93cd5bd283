"""One step: a record is written, the cleaner runs, the load reads on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.log import simulator as log_simulator
from kafkalearn.log.events import Append, Clean, NewBatch, Roll
from kafkalearn.offsets.store.state import FAILED, LOADING, OWNED
from kafkalearn.operations.loading.beside_cleaner.effects import Effect, LoadEnded, LoadFailed, OverwroteOwner, Removed
from kafkalearn.operations.loading.beside_cleaner.events import Event, LoadBegun, LoadRead, Written
from kafkalearn.operations.loading.beside_cleaner.settings import Settings
from kafkalearn.operations.loading.beside_cleaner.state import Assigned, Loading, logged, start
from kafkalearn.phrases import listed, shown
from kafkalearn.trace import Trace, run


def simulate(settings: Settings, events: Iterable[Event], initial: Loading | None = None) -> Trace[Loading, Event]:
    """A run from `initial`, or from an empty partition."""
    return run(step, settings, start(settings) if initial is None else initial, events)


def step(settings: Settings, state: Loading, event: Event) -> Loading:
    """The state after an event.

    Raises
    ------
    IllegalEvent
        If it makes no sense: a record that no coordinator writes, a read without a load.

    References
    ----------
    Apache Kafka, ``CoordinatorLoaderImpl.doLoad``, ``GroupMetadataManager.replay``,
    ``ConsumerGroup.addPartitionEpochs`` and ``removePartitionEpochs``; KAFKA-19862, backported by apache/kafka#21118.
    """
    state = replace(state, effects=()) if isinstance(event, Event) else state
    match event:
        case Written():
            return _written(settings, state, event)
        case LoadBegun():
            return _begun(state, event)
        case LoadRead():
            return _read(settings, state, event)
        case Roll():
            return replace(state, log=log_simulator.step(settings.log, state.log, event))
        case Clean():
            after = log_simulator.step(settings.log, state.log, event)
            left = {record.offset for record in after.records}
            gone = tuple(record.offset for record in state.log.records if record.offset not in left)
            return replace(state, log=after, effects=(Removed(gone),))
    raise no_event(event, (Written, LoadBegun, LoadRead, Roll, Clean))


def _written(settings: Settings, state: Loading, event: Written) -> Loading:
    now = logged(state.log)
    if state.status == LOADING:
        raise IllegalEvent(f"{shown(event)}: during a load the coordinator writes nothing")
    if event.member in now and event.epoch <= now[event.member].epoch:
        raise IllegalEvent(f"{shown(event)}: {event.member} has epoch {now[event.member].epoch}, give a higher one")
    taken = {each for member, owned in now.items() if member != event.member for each in owned.partitions}
    if both := taken & {*event.partitions}:
        raise IllegalEvent(f"{shown(event)}: of {listed(sorted(both))} another member has not let go yet")
    record = (event.member, Assigned(event.epoch, event.partitions).as_text(), state.log.log_end_offset)
    log = log_simulator.step(settings.log, state.log, Append((NewBatch((record,)),)))
    return replace(state, log=log)


def _begun(state: Loading, event: LoadBegun) -> Loading:
    if state.status == LOADING:
        raise IllegalEvent(f"{shown(event)}: a load is under way")
    return replace(state, status=LOADING, position=state.log.log_start_offset, members=(), owners=())


def _read(settings: Settings, state: Loading, event: LoadRead) -> Loading:
    if state.status != LOADING:
        raise IllegalEvent(f"{shown(event)}: the partition is {state.status}; LoadBegun comes first")
    ahead = [record for record in state.log.records if record.offset >= state.position]
    for record in ahead[: event.record_count]:
        state = _replayed(settings, state, record.offset, str(record.key), Assigned.from_text(str(record.value)))
        if state.status == FAILED:
            return state
    if len(ahead) <= event.record_count:
        return replace(state, status=OWNED, position=state.log.log_end_offset, effects=(*state.effects, LoadEnded()))
    return state


def _replayed(settings: Settings, state: Loading, offset: int, member: str, new: Assigned) -> Loading:
    """What the member had is taken from it, then it gets what the record says."""
    members, owners = dict(state.members), dict(state.owners)
    effects: list[Effect] = []
    old = members.get(member, Assigned(0))
    for partition in old.partitions:
        found = owners.get(partition)
        if found == old.epoch:
            del owners[partition]
        elif settings.has_strict_loader:
            return _failed(
                state,
                offset,
                f"Cannot remove the epoch {old.epoch} from {partition} because the partition is still owned at a "
                f"different epoch {found}",
            )
    for partition in new.partitions:
        before = owners.get(partition)
        if before is not None:
            if settings.has_strict_loader or before >= new.epoch:
                return _failed(
                    state,
                    offset,
                    f"Cannot set the epoch of {partition} to {new.epoch} because the partition is still owned at "
                    f"epoch {before}",
                )
            effects.append(OverwroteOwner(member, partition, before, new.epoch))
        owners[partition] = new.epoch
    members[member] = new
    return replace(
        state,
        position=offset + 1,
        members=tuple(sorted(members.items())),
        owners=tuple(sorted(owners.items())),
        effects=(*state.effects, *effects),
    )


def _failed(state: Loading, offset: int, message: str) -> Loading:
    failed = LoadFailed(offset, message)
    return replace(state, status=FAILED, members=(), owners=(), effects=(*state.effects, failed))
