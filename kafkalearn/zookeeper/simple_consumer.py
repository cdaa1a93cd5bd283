"""The low-level consumer: an application that does by hand what the other consumers do by themselves.

``SimpleConsumer`` is a connection to one broker and a way to build requests. Who leads the partition, where to begin,
what an error means, where to go on after a crash: all this is the application's. The stepper does one request at a
time, for one partition, as Kafka's own example of 0.8 did it.

>>> from kafkalearn.zookeeper.fetching import Append, LeaderMoved
>>> first = [Append("orders", 0, count=3), FindLeader(1), FindOffset("smallest"), Fetch(), Save()]
>>> for frame in simulate(Settings(), [*first, LeaderMoved("orders", 0, 2), Fetch(), FindLeader(1), Fetch()])[2:]:
...     print(type(frame.event).__name__, *frame.state.effects)
FindLeader LeaderFound(asked_id=1, leader=1)
FindOffset OffsetFound(offset=0)
Fetch Fetched(offsets=(0, 1, 2))
Save Saved(offset=3)
LeaderMoved
Fetch Refused(broker_id=1, error='NOT_LEADER_FOR_PARTITION')
FindLeader LeaderFound(asked_id=1, leader=2)
Fetch Fetched(offsets=())
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import BrokerId, Checked, Count, Index, Offset, check_fields, one_of
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.promises import Predicate, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.releases.lines import RELEASES, AnswersFor, ReleaseName, at_least
from kafkalearn.zookeeper.fetching import cluster as cluster_model

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "Fetch",
    "FindLeader",
    "FindOffset",
    "Refused",
    "Restart",
    "Save",
    "Seek",
    "Settings",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]


# What the application was answered, and what its own store has.


class LeaderFound(facts.Effect):
    """The broker that was asked named the leader, and the application is connected to it."""

    asked_id: int
    leader: int


class OffsetFound(facts.Effect):
    """The leader named an offset, and the application goes on there."""

    offset: int


class Fetched(facts.Effect):
    """These records came and were handled."""

    offsets: tuple[int, ...]


class TooLarge(facts.Effect):
    """Bytes came but no whole record: the next one is larger than the request allows."""

    offset: int


class Refused(facts.Effect):
    """A broker answered with an error, or did not answer; nothing has changed."""

    broker_id: int
    error: str


class Saved(facts.Effect):
    """The application's own store has this offset."""

    offset: int


class Restarted(facts.Effect):
    """The application runs again, and goes on from this offset; None: it saved none."""

    offset: int | None


Effect: TypeAlias = (
    LeaderFound | OffsetFound | Fetched | TooLarge | Refused | Saved | Restarted | cluster_model.Appended
)


# What the application does, one request at a time.


class FindLeader(facts.Event):
    """The application asks a broker for the partition's leader, and connects to it."""

    broker_id: BrokerId


class FindOffset(facts.Event):
    """The application asks the leader for the ``"smallest"`` or the ``"largest"`` offset, and begins there."""

    reset: str

    def __post_init__(self) -> None:
        """Refuse any other time."""
        check_fields(self)
        one_of("reset", self.reset, cluster_model.RESETS)


class Seek(facts.Event, says="it goes on from offset {offset}, as it likes"):
    """The application goes on from an offset of its own choice."""

    offset: Offset


class Fetch(facts.Event):
    """The application sends a fetch request, and handles each record that comes."""


class Save(facts.Event):
    """The application stores its offset, wherever it likes; no broker hears of it."""


class Restart(facts.Event):
    """The application dies and starts again: it knows no leader, and its offset is the one that it saved last."""


SimpleConsumerEvent: TypeAlias = FindLeader | FindOffset | Seek | Fetch | Save | Restart | cluster_model.BrokerEvent


LAST_RELEASE = "1.1"
ANSWERS_FOR = AnswersFor("zookeeper.simple_consumer", RELEASES[0], LAST_RELEASE, "2.0 removed SimpleConsumer")


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """What stays the same while an application reads a partition by hand.

    Parameters
    ----------
    topic, partition : str, int
        What it reads.
    broker_ids : tuple of int
        The brokers; the first leads at the start.
    fetch_message_max_bytes : int
        How many bytes a fetch request asks for.
    release : str
        Of client and brokers, up to 1.1.

    Raises
    ------
    KafkaLearnError
        If there is no such consumer.

    Examples
    --------
    >>> "2.0" in ANSWERS_FOR
    False
    """

    topic: str = "orders"
    partition: Index = 0
    broker_ids: tuple[BrokerId, ...] = (1, 2)
    fetch_message_max_bytes: Count = 1000
    release: ReleaseName = LAST_RELEASE

    def __post_init__(self) -> None:
        """Refuse what no such consumer can have."""
        check_fields(self)
        ANSWERS_FOR.check(self.release)
        if not self.broker_ids or len(set(self.broker_ids)) < len(self.broker_ids):
            raise KafkaLearnError(f"each broker must be there once, and one at least; got {self.broker_ids!r}")

    @property
    def topic_partition(self) -> TopicPartition:
        """What is read."""
        return TopicPartition(self.topic, self.partition)

    @property
    def returns_large_records(self) -> bool:
        """Whether a broker returns a first record that is larger than was asked for (fetch version 3, since 0.10.1)."""
        return at_least("0.10.1", self.release)


@dataclass(frozen=True, slots=True)
class Reader:
    """The partition on its brokers and the application that reads it, at one moment."""

    cluster: cluster_model.Cluster
    leader: int | None = None  # whom the application is connected to
    offset: int | None = None  # what it will fetch next
    saved: int | None = None  # what its own store has
    handled: tuple[int, ...] = ()  # offsets of all records that it got, in order
    effects: tuple[Effect, ...] = field(default=(), compare=False)


def start(settings: Settings) -> Reader:
    """An application that knows nothing yet.

    >>> start(Settings()).leader is None
    True
    """
    cluster = cluster_model.new_cluster([settings.topic_partition], settings.broker_ids)
    return Reader(cluster.with_log(cluster_model.Log(settings.topic_partition, settings.broker_ids[0])))


NO_LEADER = "LEADER_NOT_AVAILABLE"


def _find_leader(settings: Settings, reader: Reader, event: FindLeader) -> Reader:
    """Any broker that runs knows the leader; that the leader runs as well is not said."""
    if event.broker_id not in settings.broker_ids:
        raise IllegalEvent(f"there is no broker {event.broker_id} to ask; there are {settings.broker_ids}")
    if event.broker_id not in reader.cluster.live_brokers:
        return replace(reader, effects=(Refused(event.broker_id, cluster_model.NO_CONNECTION),))
    leader = reader.cluster.log(settings.topic_partition).leader
    if leader is None:
        return replace(reader, effects=(Refused(event.broker_id, NO_LEADER),))
    return replace(reader, leader=leader, effects=(LeaderFound(event.broker_id, leader),))


def _find_offset(settings: Settings, reader: Reader, event: FindOffset) -> Reader:
    broker_id = _connected(reader)
    offset = cluster_model.answer_offset(reader.cluster, broker_id, settings.topic_partition, event.reset)
    if offset is None:
        error = cluster_model.NOT_LEADER if broker_id in reader.cluster.live_brokers else cluster_model.NO_CONNECTION
        return replace(reader, effects=(Refused(broker_id, error),))
    return replace(reader, offset=offset, effects=(OffsetFound(offset),))


def _fetch(settings: Settings, reader: Reader, event: Fetch) -> Reader:
    """Records, or an error that the application must know what to do with; out of range included."""
    broker_id = _connected(reader)
    if reader.offset is None:
        raise IllegalEvent("the application has no offset to fetch; FindOffset, or Seek")
    if broker_id not in reader.cluster.live_brokers:
        return replace(reader, effects=(Refused(broker_id, cluster_model.NO_CONNECTION),))
    (answer,) = cluster_model.answer_fetch(
        settings, reader.cluster, broker_id, [(settings.topic_partition, reader.offset)]
    )
    if answer.error is not None:
        return replace(reader, effects=(Refused(broker_id, answer.error),))
    if answer.is_cut:
        return replace(reader, effects=(TooLarge(reader.offset),))
    handled = (*reader.handled, *answer.offsets)
    offset = reader.offset + len(answer.offsets)
    return replace(reader, offset=offset, handled=handled, effects=(Fetched(answer.offsets),))


def _connected(reader: Reader) -> int:
    if reader.leader is None:
        raise IllegalEvent("the application is connected to no leader; FindLeader first")
    return reader.leader


def _seek(settings: Settings, reader: Reader, event: Seek) -> Reader:
    return replace(reader, offset=event.offset)


def _save(settings: Settings, reader: Reader, event: Save) -> Reader:
    if reader.offset is None:
        raise IllegalEvent("the application has no offset to save yet; FindOffset, or Seek")
    return replace(reader, saved=reader.offset, effects=(Saved(reader.offset),))


def _restart(settings: Settings, reader: Reader, event: Restart) -> Reader:
    return replace(reader, leader=None, offset=reader.saved, effects=(Restarted(reader.saved),))


_RULES: cluster_model.Rules[Settings, Reader] = {
    FindLeader: _find_leader,
    FindOffset: _find_offset,
    Seek: _seek,
    Fetch: _fetch,
    Save: _save,
    Restart: _restart,
}


def step(settings: Settings, state: Reader, event: SimpleConsumerEvent) -> Reader:
    """The state after `event`; its ``effects`` are what was answered.

    Raises
    ------
    IllegalEvent
        If the application cannot do this yet: a fetch without a leader or without an offset. What a broker refuses is
        an effect.

    Examples
    --------
    >>> step(Settings(), start(Settings()), FindLeader(2)).leader
    1

    References
    ----------
    Apache Kafka 0.8 to 1.1, ``kafka.consumer.SimpleConsumer``, and its example ``SimpleConsumerExample`` of 0.8.
    """
    return cluster_model.step_by(_RULES, settings, state, event)


NONE_SKIPPED, NONE_TWICE = "the application skips no record", "the application gets no record twice"


def _none_is_skipped(settings: Settings, before: Reader, state: Reader) -> bool:
    """Whether no record that is there lies between what was handled so far and what comes next."""
    new = state.handled[len(before.handled) :]
    if not new or not before.handled:
        return True
    return new[0] <= max(before.handled) + 1


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        "what was handled stays handled": Since(
            lambda settings, before, state: state.handled[: len(before.handled)] == before.handled
        ),
        "the offset to fetch is behind the last record that came": Since(
            lambda settings, before, state: state.handled == before.handled or state.offset == state.handled[-1] + 1
        ),
    }
)
"""What holds in every state."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        NONE_SKIPPED: Since(_none_is_skipped),
        NONE_TWICE: lambda settings, state: len(set(state.handled)) == len(state.handled),
    }
)
"""What a user hopes for. It is his own code that keeps them, or does not."""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
