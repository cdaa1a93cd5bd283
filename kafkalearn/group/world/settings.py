"""Settings of consumers and broker by Kafka's own names; what is not given is the release's default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, overload

from kafkalearn.arguments import LARGEST_INT, one_of, whole_number
from kafkalearn.assignor.registry import BROKER_ASSIGNORS
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.group.classic.settings import NAMES as CLASSIC_NAMES
from kafkalearn.group.consumer.settings import NAMES as CONSUMER_NAMES
from kafkalearn.group.defaults import default_of
from kafkalearn.phrases import shown
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least, parse_release

CLIENT_SETTINGS = (
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "max.poll.records",
    "metadata.max.age.ms",
    "retry.backoff.ms",
    "partition.assignment.strategy",
    "group.instance.id",
    "group.remote.assignor",
)
BROKER_SETTINGS = (*(setting for setting, _ in CLASSIC_NAMES.values()), *CONSUMER_NAMES.values())
OWN_SETTINGS = {"latency.ms": 2, "processing.ms": 100}
"""Of the model, not of Kafka: one way from client to broker, and the work on the records of an ordinary poll."""

KNOWN = (*CLIENT_SETTINGS, *BROKER_SETTINGS, *OWN_SETTINGS)

SHORT_NAMES = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
STRATEGY_SINCE = {"range": "0.9.0", "roundrobin": "0.9.0", "sticky": "0.11.0", "cooperative-sticky": "2.4"}
FIRST_HEARTBEAT_THREAD = "0.10.1"  # KIP-62; before, heartbeats were sent inside poll()


@dataclass(frozen=True, slots=True)
class MemberSettings:
    """What one consumer runs with."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    max_poll_interval_ms: int | None  # None: the release has no such limit
    max_poll_records: int | None
    instance_id: str | None
    assignors: tuple[str, ...]
    metadata_max_age_ms: int
    retry_backoff_ms: int

    @property
    def is_cooperative(self) -> bool:
        """Whether it keeps its partitions through a rebalance: only if every assignor it names can do that."""
        return set(self.assignors) == {"cooperative-sticky"}

    @property
    def rebalance_timeout_ms(self) -> int:
        """How long a rebalance waits for it: as long as a poll may take, and for a session where that has no limit."""
        return self.session_timeout_ms if self.max_poll_interval_ms is None else self.max_poll_interval_ms


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a scenario: of the broker, of all consumers, and of single ones.

    Parameters
    ----------
    release : str
        Of broker and clients; without one, Kafka 4.3.
    values : mapping of str to value
        By Kafka's names; ``latency.ms`` and ``processing.ms`` are the model's own.
    member_values : mapping of str to mapping
        For single members, by name.

    Examples
    --------
    >>> settings = Settings(values={"heartbeat.interval.ms": 2000})
    >>> settings["heartbeat.interval.ms"], settings["session.timeout.ms"]
    (2000, 45000)
    >>> settings.of("c1").assignors
    ('range', 'cooperative-sticky')
    """

    release: str = DEFAULT_RELEASE
    values: Mapping[str, object] = field(default_factory=dict)
    member_values: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse unknown names, and values that no consumer starts with."""
        parse_release(self.release)
        values = MappingProxyType({name: _checked(name, value) for name, value in self.values.items()})
        object.__setattr__(self, "values", values)
        of_members = {
            member: MappingProxyType({name: _checked(name, value) for name, value in its.items()})
            for member, its in self.member_values.items()
        }
        for its in of_members.values():
            for name in its:
                if name not in CLIENT_SETTINGS:
                    raise KafkaLearnError(f"{name} cannot differ from member to member; give it for the whole scenario")
        object.__setattr__(self, "member_values", MappingProxyType(of_members))
        for member in (None, *of_members):
            self._check(member)

    @overload
    def __getitem__(self, name: Literal["latency.ms", "processing.ms"]) -> int: ...
    @overload
    def __getitem__(self, name: str) -> object: ...
    def __getitem__(self, name: str) -> object:
        """The value of a setting for the whole scenario."""
        return self.values[name] if name in self.values else _default(name, self.release)

    def of(self, member: str | None) -> MemberSettings:
        """What a member runs with; None: one that has no settings of its own."""
        its: Mapping[str, object] = {} if member is None else self.member_values.get(member, {})

        def value(name: str) -> Any:  # it is checked, or a default of Kafka's
            return its[name] if name in its else self[name]

        return MemberSettings(
            value("session.timeout.ms"),
            value("heartbeat.interval.ms"),
            value("max.poll.interval.ms"),
            value("max.poll.records"),
            value("group.instance.id"),
            assignors_of(value("partition.assignment.strategy")),
            value("metadata.max.age.ms"),
            value("retry.backoff.ms"),
        )

    @property
    def has_heartbeat_thread(self) -> bool:
        """Whether heartbeats have a thread of their own (since 0.10.1)."""
        return at_least(FIRST_HEARTBEAT_THREAD, self.release)

    def _check(self, member: str | None) -> None:
        its = self.of(member)
        if its.heartbeat_interval_ms >= its.session_timeout_ms:
            raise KafkaLearnError(
                f"heartbeat.interval.ms ({its.heartbeat_interval_ms}) must be below session.timeout.ms "
                f"({its.session_timeout_ms}), as Kafka's client demands; a third of it or less is usual"
            )
        for name in its.assignors:
            if not at_least(STRATEGY_SINCE[name], self.release):
                raise KafkaLearnError(f"{name} came with Kafka {STRATEGY_SINCE[name]}, the release is {self.release}")
        if its.instance_id is not None and not at_least("2.3", self.release):
            raise KafkaLearnError(f"group.instance.id came with Kafka 2.3, the release is {self.release}")


def by_kafka_name(named: Mapping[str, object]) -> dict[str, object]:
    """Keyword arguments by Kafka's names: underscores are dots there.

    >>> by_kafka_name({"session_timeout_ms": 6000})
    {'session.timeout.ms': 6000}
    """
    return {name.replace("_", "."): value for name, value in named.items()}


def assignors_of(value: object) -> tuple[str, ...]:
    """The assignors a ``partition.assignment.strategy`` names, by their names in `kafkalearn.assignor`.

    >>> assignors_of("cooperative-sticky"), assignors_of(["org.apache.kafka.clients.consumer.StickyAssignor"])
    (('cooperative-sticky',), ('sticky',))
    """
    if not isinstance(value, (str, list, tuple)):
        raise KafkaLearnError(
            f"an assignor is named by a text, several by a list, got {type(value).__name__} {shown(value)}"
        )
    given: Iterable[object] = [value] if isinstance(value, str) else value
    names = tuple(SHORT_NAMES.get(str(name).rpartition(".")[2], str(name)) for name in given)
    for name in names:
        if name not in STRATEGY_SINCE:
            if name in BROKER_ASSIGNORS:
                raise KafkaLearnError(f"{name} does not run in clients; those that do: {', '.join(STRATEGY_SINCE)}")
            raise unknown_name("assignor of the classic protocol", name, STRATEGY_SINCE)
    if not names:
        raise KafkaLearnError(
            "partition.assignment.strategy names no assignor; give one of " + ", ".join(STRATEGY_SINCE)
        )
    return names


def _default(name: str, release: str) -> object:
    one_of("setting", name, KNOWN)
    if name in OWN_SETTINGS:
        return OWN_SETTINGS[name]
    return default_of(name, release, "consumer" if name in CLIENT_SETTINGS else "broker")


_LEAST = {
    "latency.ms": 0,
    "processing.ms": 0,
    "session.timeout.ms": 1,
    "heartbeat.interval.ms": 1,
    "max.poll.interval.ms": 1,
    "max.poll.records": 1,
    "metadata.max.age.ms": 0,
    "retry.backoff.ms": 0,
}


def _checked(name: str, value: object) -> object:
    """The value of a setting as it is kept: numbers checked, lists as tuples."""
    one_of("setting", name, KNOWN)
    if name in _LEAST:
        return whole_number(name, value, at_least=_LEAST[name], at_most=LARGEST_INT)
    if name == "partition.assignment.strategy":
        return assignors_of(value)
    if name == "group.instance.id":
        return None if value is None else str(value)
    return tuple(value) if isinstance(value, list) else value
