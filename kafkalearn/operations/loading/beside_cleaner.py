"""A load of a KIP-848 group while the log cleaner works on the same partition (KAFKA-19862).

A simulator in one module. The log has the records of what each member owns: the key is the member, the value its
epoch and its partitions. While the group lives, no partition has two owners: who gets one does so in a later record
than the one in which the owner before gave it up. The loader checks that, record by record. Between two of its reads
the cleaner may remove the record that gave a partition up, since a newer one of the same member is further on. Then
the loader sees the partition given to a second owner while the first still has it, in the epoch that it has read
before. Brokers of 4.0.0, 4.0.1, 4.1.0 and 4.1.1 throw an exception there, and nobody coordinates the partition.
Fixed ones let the higher epoch win: the newer record of the first member is still to come.

>>> history = [Written("A", 1, (0,)), Written("A", 2), Written("B", 2, (0,)), Written("A", 3, (1,)), Roll()]
>>> events = [*history, LoadBegun(), LoadRead(1), Clean(0), LoadRead(1)]
>>> for release in ("4.1.1", "4.1.2"):
...     print(release, simulate(Settings(release), events)[-1].state.status)
4.1.1 failed
4.1.2 loading
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from kafkalearn.errors import IllegalEvent, KafkaLearnError, no_event
from kafkalearn.fields import Checked, Count, Index, check_fields
from kafkalearn.log import simulator as log_simulator
from kafkalearn.log.events import Append, Clean, NewBatch, Roll
from kafkalearn.log.settings import Settings as LogSettings
from kafkalearn.log.state import Log
from kafkalearn.log.state import start as start_log
from kafkalearn.offsets.store.state import FAILED, LOADING, NOT_OWNED, OWNED
from kafkalearn.phrases import listed, shown
from kafkalearn.promises import Promises, judges
from kafkalearn.trace import Trace, run
from kafkalearn.versions.releases import DEFAULT_RELEASE, ReleaseName, at_least

FIXED_IN = {"4.2": "4.2.0", "4.1": "4.1.2", "4.0": "4.0.2"}


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The release of the broker: 4.0 or later, where the loader is the one described.

    >>> [Settings(release).has_strict_loader for release in ("4.0.1", "4.0.2", "4.1.1", "4.1.2", "4.3")]
    [True, False, True, False, False]
    """

    release: ReleaseName = DEFAULT_RELEASE

    def __post_init__(self) -> None:
        """Refuse releases whose groups are loaded otherwise."""
        check_fields(self)
        if not at_least("4.0", self.release):
            raise KafkaLearnError(
                f"release must be 4.0 or later, got {self.release}: before, KIP-848 was not for production, and groups "
                "were built after the last record"
            )

    @property
    def has_strict_loader(self) -> bool:
        """Whether a partition that has an owner already ends the load with an exception."""
        fixed_in = next(fixed for line, fixed in FIXED_IN.items() if at_least(line, self.release))
        return not at_least(fixed_in, self.release)

    @property
    def log(self) -> LogSettings:
        """The offsets topic's own, as far as the cleaner asks for them."""
        return LogSettings(cleanup_policy="compact", release=self.release)


class Assigned(NamedTuple):
    """What a member owns, and since which epoch of its own."""

    epoch: int
    partitions: tuple[int, ...] = ()

    def as_text(self) -> str:
        """As it stands in the value of a record here."""
        return f"{self.epoch}:{','.join(map(str, self.partitions))}"

    @classmethod
    def from_text(cls, value: str) -> Assigned:
        """The other way.

        >>> Assigned.from_text("3:0,1")
        Assigned(epoch=3, partitions=(0, 1))
        """
        epoch, _, partitions = value.partition(":")
        return cls(int(epoch), tuple(int(each) for each in partitions.split(",") if each))


@dataclass(frozen=True, slots=True)
class Loading:
    """The log, and how far a load of it has come.

    Attributes
    ----------
    log : kafkalearn.log.Log
        As it is now, cleaned or not.
    status : str
        Of the partition on the broker: `not owned`, `loading`, `owned` or `failed`.
    position : int
        The offset that is read next.
    members : tuple of (str, Assigned)
        What the load has seen of each member last.
    owners : tuple of (int, int)
        For each partition that has an owner the epoch in which it got it.
    """

    log: Log
    status: str = NOT_OWNED
    position: int = 0
    members: tuple[tuple[str, Assigned], ...] = ()
    owners: tuple[tuple[int, int], ...] = ()
    effects: tuple[Effect, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Written(Checked):
    """The coordinator writes what a member owns from now on."""

    member: str
    epoch: Count
    partitions: tuple[Index, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadBegun(Checked):
    """A broker becomes coordinator and begins to read, from the start of the log."""


@dataclass(frozen=True, slots=True)
class LoadRead(Checked):
    """The next read of the load: so many records, of what is in the log now."""

    record_count: Count = 1


Event: TypeAlias = Written | LoadBegun | LoadRead | Roll | Clean


@dataclass(frozen=True, slots=True)
class OverwroteOwner:
    """A partition got a second owner, whose epoch is higher: it counts, and the log has more to say of the first."""

    member: str
    partition: int
    epoch_before: int
    epoch: int


@dataclass(frozen=True, slots=True)
class LoadFailed:
    """The load ended with an IllegalStateException, whose words these are."""

    offset: int
    message: str


@dataclass(frozen=True, slots=True)
class LoadEnded:
    """The load has read all of the log."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The cleaner has removed the records at these offsets."""

    offsets: tuple[int, ...]


Effect: TypeAlias = OverwroteOwner | LoadFailed | LoadEnded | Removed


def start(settings: Settings) -> Loading:
    """An empty partition that nobody has loaded."""
    return Loading(start_log(settings.log))


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


def logged(log: Log) -> Mapping[str, Assigned]:
    """What each member owns, by the last record of each in the log.

    >>> logged(simulate(Settings(), [Written("A", 1, (0,)), Written("A", 2)])[-1].state.log)
    {'A': Assigned(epoch=2, partitions=())}
    """
    return {record.key: Assigned.from_text(record.value) for record in log.records}


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
        state = _replayed(settings, state, record.offset, record.key, Assigned.from_text(record.value))
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


LOADS = "a load ends without an exception"
KNOWS_THE_LOG = "what was loaded is what the log says"


def _knows_the_log(settings: Settings, state: Loading) -> bool:
    if state.status != OWNED or state.position != state.log.log_end_offset:
        return True
    truth = logged(state.log)
    owners = {each: owned.epoch for owned in truth.values() for each in owned.partitions}
    return dict(state.members) == truth and dict(state.owners) == owners


def _has_one_owner(settings: Settings, state: Loading) -> bool:
    owned = [each for assigned in logged(state.log).values() for each in assigned.partitions]
    return len(owned) == len({*owned})


INVARIANTS: Promises = MappingProxyType(
    {
        "no partition has two owners in the log": _has_one_owner,
        "nothing is read beyond the end of the log": lambda settings, state: state.position <= state.log.log_end_offset,
        KNOWS_THE_LOG: _knows_the_log,
    }
)
"""What holds in every state; the last one: whatever the cleaner removed meanwhile, a load that ends has it right."""

PROMISES: Promises = MappingProxyType({LOADS: lambda settings, state: state.status != FAILED})
"""What users hope for; a strict loader breaks it, with the cleaner's help."""

check, broken = judges(INVARIANTS, PROMISES)
