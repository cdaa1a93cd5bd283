"""A coordinator's load of its partition: what it reads and keeps, its time, and the cleaner at the same log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import Checked, Count, Index, check_fields, number
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, listed, no_event, shown
from kafkalearn.base.promises import Promises
from kafkalearn.base.simulator import simulator
from kafkalearn.formats.records import Record
from kafkalearn.formats.segments import Segment
from kafkalearn.formats.wire import Undecodable
from kafkalearn.log import model as log_model
from kafkalearn.log import simulator as log_simulator
from kafkalearn.log.model import Append, Clean, Log, NewBatch, Roll
from kafkalearn.offsets.records import decode
from kafkalearn.offsets.replay import Pair, key_values, replay
from kafkalearn.offsets.store.model import FAILED, LOADING, NOT_OWNED, OWNED
from kafkalearn.releases.lines import DEFAULT_RELEASE, AnswersFor, ReleaseName, at_least

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "LoadBegun",
    "LoadRead",
    "LoadSize",
    "Rate",
    "Settings",
    "Written",
    "broken",
    "check",
    "load_seconds",
    "load_size",
    "simulate",
    "start",
    "step",
]


# What a load reads, what it keeps in memory, and how long that takes.
#
# It reads every record that is in the log, and keeps the last of each key. So the cleaner shortens the load and changes
# nothing of what is known after it.


@dataclass(frozen=True, slots=True)
class LoadSize:
    """A load of one partition.

    Attributes
    ----------
    record_count, byte_count : int
        Read: records of the log, and the bytes of their keys and values.
    offset_count, group_count : int
        Kept in memory.
    unreadable_count : int
        Records that are no records of this topic, or are damaged: brokers ignore a type that they do not know since
        3.4.1, and one of any other kind ends the load.
    """

    record_count: int
    byte_count: int
    offset_count: int
    group_count: int
    unreadable_count: int = 0


@dataclass(frozen=True, slots=True)
class Rate(Checked):
    """How fast a broker loads; yours says so in its log: "Finished loading ... in 2481ms ... Loaded 400010 records"."""

    records_per_s: Count


MEASURED = Rate(160_000)
"""A broker of 4.3.1 just started, on two cores shared with others; what was measured lies between 38,000 and 175,000.

Kafka's own benchmark of the code that replays, without a disk and long warmed up, has 4 million (apache/kafka#20547).
"""


def load_size(records: Iterable[Pair | Record | Segment]) -> LoadSize:
    """What the load of a partition reads and keeps.

    Parameters
    ----------
    records : iterable of (bytes, bytes or None), of Record, or of Segment
        Of one partition of ``__consumer_offsets``, in the order of their offsets, without those of aborted
        transactions.

    Examples
    --------
    >>> from kafkalearn.offsets.records import encode_key, encode_value
    >>> key = encode_key("OFFSET_COMMIT", {"group": "billing", "topic": "orders", "partition": 0})
    >>> values = (encode_value("OFFSET_COMMIT", 3, {"offset": each, "leaderEpoch": -1, "metadata": "",
    ...                                             "commitTimestamp": 1000}) for each in range(100))
    >>> size = load_size((key, value) for value in values)
    >>> size.record_count, size.offset_count, size.group_count
    (100, 1, 1)
    """
    pairs = list(key_values(records))
    groups = replay(pairs).groups
    return LoadSize(
        len(pairs),
        sum(len(key or b"") + len(value or b"") for key, value in pairs),
        sum(len(group.offsets) for group in groups),
        len(groups),
        sum(not _is_readable(key, value) for key, value in pairs),
    )


def _is_readable(key: bytes | None, value: bytes | None) -> bool:
    if key is None:
        return False
    try:
        decode(key, value)
    except Undecodable:
        return False
    return True


def load_seconds(record_count: float, rate: Rate = MEASURED) -> float:
    """How long a load of so many records takes: until then the partition's groups cannot commit or join.

    Loads of one broker go one after the other, so the records of all its partitions count together.

    >>> round(load_seconds(100_000_000) / 60)
    10
    """
    return number("record_count", record_count, at_least=0) / rate.records_per_s


# A load beside the cleaner. What stays the same: the release, which says how strict the loader is.

FIXED_IN = {"4.2": "4.2.0", "4.1": "4.1.2", "4.0": "4.0.2"}


ANSWERS_FOR = AnswersFor("operations.loading", "4.0", reason="before, groups were built after the last record")


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
        ANSWERS_FOR.check(self.release)

    @property
    def has_strict_loader(self) -> bool:
        """Whether a partition that has an owner already ends the load with an exception."""
        fixed_in = next(fixed for line, fixed in FIXED_IN.items() if at_least(line, self.release))
        return not at_least(fixed_in, self.release)

    @property
    def log(self) -> log_model.Settings:
        """The offsets topic's own, as far as the cleaner asks for them."""
        return log_model.Settings(cleanup_policy="compact", release=self.release)


# The state: the log, what its records say of members, and how far a load of it has come.


class MemberAssignment(NamedTuple):
    """What a member owns, and since which epoch of its own."""

    epoch: int
    partitions: tuple[int, ...] = ()

    def as_text(self) -> str:
        """As it stands in the value of a record here."""
        return f"{self.epoch}:{','.join(map(str, self.partitions))}"

    @classmethod
    def from_text(cls, value: str) -> MemberAssignment:
        """The other way.

        >>> MemberAssignment.from_text("3:0,1")
        MemberAssignment(epoch=3, partitions=(0, 1))
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
    members : tuple of (str, MemberAssignment)
        What the load has seen of each member last.
    owners : tuple of (int, int)
        For each partition that has an owner the epoch in which it got it.
    """

    log: Log
    status: str = NOT_OWNED
    position: int = 0
    members: tuple[tuple[str, MemberAssignment], ...] = ()
    owners: tuple[tuple[int, int], ...] = ()
    effects: tuple[Effect, ...] = field(default=(), compare=False)


def start(settings: Settings) -> Loading:
    """An empty partition that nobody has loaded."""
    return Loading(log_model.start(settings.log))


def logged(log: Log) -> Mapping[str, MemberAssignment]:
    """What each member owns, by the last record of each in the log.

    >>> logged(simulate(Settings(), [Written("A", 1, (0,)), Written("A", 2)])[-1].state.log)
    {'A': MemberAssignment(epoch=2, partitions=())}
    """
    return {str(record.key): MemberAssignment.from_text(str(record.value)) for record in log.records}


# Events: what happens to the log, and to a load of it.


class Written(facts.Event):
    """The coordinator writes what a member owns from now on."""

    member: str
    epoch: Count
    partitions: tuple[Index, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a partition that is named twice."""
        check_fields(self)
        if len(set(self.partitions)) < len(self.partitions):
            raise KafkaLearnError(f"partitions must be different numbers, got {shown(self.partitions)}")


class LoadBegun(facts.Event):
    """A broker becomes coordinator and begins to read, from the start of the log."""


class LoadRead(facts.Event):
    """The next read of the load: so many records, of what is in the log now."""

    record_count: Count = 1


Event: TypeAlias = Written | LoadBegun | LoadRead | Roll | Clean


# Effects.


class OverwroteOwner(facts.Effect):
    """A partition got a second owner, whose epoch is higher: it counts, and the log has more to say of the first."""

    member: str
    partition: int
    epoch_before: int
    epoch: int


class LoadFailed(facts.Effect):
    """The load ended with an IllegalStateException, whose words these are."""

    offset: int
    message: str


class LoadEnded(facts.Effect):
    """The load has read all of the log."""


class Removed(facts.Effect):
    """The cleaner has removed the records at these offsets."""

    offsets: tuple[int, ...]


Effect: TypeAlias = OverwroteOwner | LoadFailed | LoadEnded | Removed


# The step: a record is written, the cleaner runs, the load reads on.


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
    record = (event.member, MemberAssignment(event.epoch, event.partitions).as_text(), state.log.log_end_offset)
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
        state = _replayed(
            settings, state, record.offset, str(record.key), MemberAssignment.from_text(str(record.value))
        )
        if state.status == FAILED:
            return state
    if len(ahead) <= event.record_count:
        return replace(state, status=OWNED, position=state.log.log_end_offset, effects=(*state.effects, LoadEnded()))
    return state


def _replayed(settings: Settings, state: Loading, offset: int, member: str, new: MemberAssignment) -> Loading:
    """What the member had is taken from it, then it gets what the record says."""
    members, owners = dict(state.members), dict(state.owners)
    effects: list[Effect] = []
    old = members.get(member, MemberAssignment(0))
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


# What holds.

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

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
