"""``kafka-topics --describe``: topics and their partitions, and the options that show only what is in trouble."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from kafkalearn.base import checks
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.operations.placement import ids_text
from kafkalearn.releases.lines import DEFAULT_RELEASE, Release, at_least

UNDER_REPLICATED, UNAVAILABLE = "under-replicated-partitions", "unavailable-partitions"
UNDER_MIN_ISR, AT_MIN_ISR = "under-min-isr-partitions", "at-min-isr-partitions"
WITH_OVERRIDES = "topics-with-overrides"
MIN_IN_SYNC_REPLICAS = "min.insync.replicas"


@dataclass(frozen=True, slots=True)
class PartitionInfo(checks.Checked):
    """One partition, as a broker's metadata has it.

    Attributes
    ----------
    replicas, isr : tuple of int
        Brokers; while a reassignment runs all that come and all that go are replicas.
    leader : int or None
        None: it has none.
    adding, removing : tuple of int
        Of a reassignment that runs.
    elr, last_known_elr : tuple of int or None
        Eligible leader replicas (KIP-966); None: the cluster does not say.
    """

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int | None
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse in-sync replicas that are none."""
        checks.check_fields(self)
        if strange := {*self.isr} - {*self.replicas}:
            raise KafkaLearnError(f"isr names {sorted(strange)}, and replicas are {shown(self.replicas)}")

    @property
    def is_moving(self) -> bool:
        """Whether a reassignment runs."""
        return bool({*self.replicas} & {*self.adding, *self.removing})

    @property
    def replica_count(self) -> int:
        """How many replicas there shall be; those that are only coming do not count."""
        return len(self.replicas) - (len(self.adding) if self.is_moving else 0)

    @property
    def is_under_replicated(self) -> bool:
        """Whether fewer replicas are in sync than there shall be."""
        return self.replica_count > len(self.isr)


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """A topic with its partitions and the settings that are its own.

    Attributes
    ----------
    name : str
        Of the topic.
    partitions : tuple of PartitionInfo
        By number.
    config : mapping of str to str
        What is set for it, in the order in which the broker answers; ``min.insync.replicas`` may be among it.
    topic_id : str or None
        None: the cluster has no ids (before 2.8).
    """

    name: str
    partitions: tuple[PartitionInfo, ...]
    config: Mapping[str, str] = field(default_factory=lambda: MappingProxyType[str, str]({}))
    topic_id: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is not a topic."""
        checks.text("name", self.name)
        kept = checks.sequence("partitions", self.partitions, of="PartitionInfo(...)")
        if not kept or not all(isinstance(each, PartitionInfo) for each in kept):
            raise KafkaLearnError(f"partitions must be PartitionInfo(...), at least one; got {shown(self.partitions)}")
        checks.mapping("config", self.config, of="setting to value")
        object.__setattr__(self, "partitions", kept)


def describe_topics(
    topics: Iterable[TopicInfo],
    live_brokers: Sequence[int],
    release: str | Release = DEFAULT_RELEASE,
    *,
    only: str | None = None,
    min_insync_replicas: int = 1,
) -> str:
    """What ``kafka-topics --describe`` prints.

    Parameters
    ----------
    topics : iterable of TopicInfo
        In the order in which they are printed.
    live_brokers : sequence of int
        The brokers that answer.
    release : str or Release
        Of the tool, at least 0.8.2.
    only : str or None
        An option without its dashes, a name in `OPTIONS`: only the partitions (or topics) that it chooses.
    min_insync_replicas : int
        ``min.insync.replicas`` of topics that do not set it.

    Raises
    ------
    KafkaLearnError
        If the option is unknown, or the release did not have it.

    Examples
    --------
    >>> orders = TopicInfo("orders", [PartitionInfo((1, 2), (1,), 1), PartitionInfo((2, 1), (1, 2), 2)])
    >>> print(describe_topics([orders], [1, 2], "2.4").replace("\\t", "  "), end="")
    Topic: orders  PartitionCount: 2  ReplicationFactor: 2  Configs:
      Topic: orders  Partition: 0  Leader: 1  Replicas: 1,2  Isr: 1
      Topic: orders  Partition: 1  Leader: 2  Replicas: 2,1  Isr: 1,2
    >>> describe_topics([orders], [1, 2], "2.4", only="under-replicated-partitions").count("Partition:")
    1

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``TopicCommand``. Left out: topics marked for deletion, and the colours of no tool.
    """
    if not at_least("0.8.2", release):
        raise KafkaLearnError(f"what --describe printed is modelled since 0.8.2, got release {release!s}")
    checks.whole_number("min_insync_replicas", min_insync_replicas, 1, checks.LARGEST_INT)
    live = {*checks.sequence("live_brokers", live_brokers, of="broker ids")}
    chosen = _chosen(only, release)
    printed = []
    for topic in checks.iterable("topics", topics, of="TopicInfo(...)"):
        if only is None or (only == WITH_OVERRIDES and topic.config):
            printed.append(_topic_line(topic, release))
        if only == WITH_OVERRIDES:
            continue
        least = int(topic.config.get(MIN_IN_SYNC_REPLICAS, min_insync_replicas))
        for number, partition in enumerate(topic.partitions):
            if chosen is None or chosen(partition, live, least):
                printed.append(_partition_line(topic.name, number, partition, release))
    return "".join(f"{line}\n" for line in printed)


def _has_no_live_leader(partition: PartitionInfo, live: set[int], _: int) -> bool:
    return partition.leader is None or partition.leader not in live


OPTIONS: MappingProxyType[str, tuple[str, Callable[[PartitionInfo, set[int], int], bool] | None]] = MappingProxyType(
    {
        UNDER_REPLICATED: ("0.8.2", lambda partition, live, least: partition.is_under_replicated),
        UNAVAILABLE: ("0.8.2", _has_no_live_leader),
        UNDER_MIN_ISR: ("2.3", lambda partition, live, least: partition.leader is None or len(partition.isr) < least),
        AT_MIN_ISR: ("2.4", lambda partition, live, least: len(partition.isr) == least),
        WITH_OVERRIDES: ("0.8.2", None),
    }
)
"""The options that choose, each with its first release and what it chooses."""


def _chosen(only: str | None, release: str | Release) -> Callable[[PartitionInfo, set[int], int], bool] | None:
    if only is None:
        return None
    since, chosen = OPTIONS[checks.one_of("option", only, OPTIONS)]
    if not at_least(since, release):
        raise KafkaLearnError(f"--{only} is known since {since}, got release {release!s}")
    return chosen


def _topic_line(topic: TopicInfo, release: str | Release) -> str:
    blank = " " if at_least("2.4", release) else ""
    config = ",".join(f"{name}={value}" for name, value in topic.config.items())
    facts = [("Topic", topic.name)]
    if topic.topic_id is not None and at_least("2.8", release):
        facts.append(("TopicId", topic.topic_id))
    facts += [
        ("PartitionCount", len(topic.partitions)),
        ("ReplicationFactor", topic.partitions[0].replica_count),
        ("Configs", config),
    ]
    return "\t".join(f"{name}:{blank}{value}" for name, value in facts)


def _partition_line(name: str, number: int, partition: PartitionInfo, release: str | Release) -> str:
    nobody = "none" if at_least("2.2", release) else "-1"  # before, the number that ZooKeeper has
    leader = nobody if partition.leader is None else partition.leader
    facts: list[tuple[str, object]] = [("Topic", name), ("Partition", number), ("Leader", leader)]
    facts += [("Replicas", ids_text(partition.replicas)), ("Isr", ids_text(partition.isr))]
    if partition.is_moving and at_least("2.6", release):
        facts += [("Adding Replicas", ids_text(partition.adding)), ("Removing Replicas", ids_text(partition.removing))]
    if at_least("3.8", release):
        facts += [("Elr", _or_unknown(partition.elr)), ("LastKnownElr", _or_unknown(partition.last_known_elr))]
    return "".join(f"\t{name}: {value}" for name, value in facts)


def _or_unknown(brokers: tuple[int, ...] | None) -> str:
    return "N/A" if brokers is None else ids_text(brokers)
