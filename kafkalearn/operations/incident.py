"""The incident of the offsets topic, from the full disk to the fix, as one run.

A cleaner stops; one partition of ``__consumer_offsets`` grows with every commit. The topic has one replica, so the day
the disk is full and its broker dies, the groups of its partitions have no coordinator. The fix: the broker back, the
cleaner running again, and then replicas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.base.checks import Checked, Count, check_fields
from kafkalearn.log import model as log_model
from kafkalearn.log import simulate as simulate_log
from kafkalearn.log.model import Append, BrokerRestarted, CleanerFailed, CleanerRound, Log, NewBatch
from kafkalearn.offsets.records import encode_key, encode_value
from kafkalearn.operations import offsets_topic
from kafkalearn.operations.placement import place_shifted
from kafkalearn.releases.lines import DEFAULT_RELEASE, ReleaseName, at_least

HEALTHY, GROWING, FULL, BACK, CLEANED, REPLICATED, DEAD_AGAIN = (
    "healthy", "cleaner stopped", "disk full, broker dead", "broker back", "cleaned", "three replicas",
    "another broker dead",
)  # fmt: skip
STAGES = (HEALTHY, GROWING, FULL, BACK, CLEANED, REPLICATED, DEAD_AGAIN)

BROKERS, DYING, DYING_LATER = (1, 2, 3), 2, 3


@dataclass(frozen=True, slots=True)
class Incident(Checked):
    """How large the incident is.

    Parameters
    ----------
    group_count : int
        Groups of the cluster.
    keys, commits_per_key : int
        In the partition that grows: how many places commits are for, and how many commits each gets in a stage.
    segment_bytes : int
        Of the offsets topic; small, so that there is something to clean.
    release : str
        Of the cluster.
    """

    group_count: Count = 300
    keys: Count = 40
    commits_per_key: Count = 25
    segment_bytes: Count = 16_384
    release: ReleaseName = DEFAULT_RELEASE

    def __post_init__(self) -> None:
        """Refuse sizes that are none."""
        check_fields(self)


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the incident: what an operator can see.

    Attributes
    ----------
    name : str
        One of `STAGES`.
    record_count, size_bytes : int
        Of the partition that grew.
    cleaner : str
        ``"running"``, ``"uncleanable"`` (since 2.1) or ``"dead"``.
    replica_count : int
        Of each partition.
    lost_groups : int
        Groups that find no coordinator.
    """

    name: str
    record_count: int
    size_bytes: int
    cleaner: str
    replica_count: int
    lost_groups: int


def play(incident: Incident | None = None) -> tuple[Stage, ...]:
    """The incident stage by stage, on the simulators of the log and of the offsets topic.

    Returns
    -------
    tuple of Stage
        One for each of `STAGES`.

    Examples
    --------
    >>> stages = {stage.name: stage for stage in play()}
    >>> stages["cleaner stopped"].record_count > 2 * stages["healthy"].record_count
    True
    >>> [stages[name].lost_groups > 0 for name in ("disk full, broker dead", "another broker dead")]
    [True, False]

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``LogCleaner``, ``GroupCoordinator``; KIP-346.
    """
    size = Incident() if incident is None else incident
    log_settings = log_model.Settings(
        "compact", segment_bytes=size.segment_bytes, min_cleanable_dirty_ratio=0.0, release=size.release
    )
    happens = {  # to the log
        HEALTHY: [*_commits(size, 0), CleanerRound(_ms(0))],
        GROWING: [CleanerFailed(), *_commits(size, 1), *_commits(size, 2), CleanerRound(_ms(2))],
        BACK: [BrokerRestarted()],
        CLEANED: [CleanerRound(_ms(3))],
    }
    group_ids = [f"group-{number}" for number in range(size.group_count)]
    stages: list[Stage] = []
    log = log_model.start(log_settings)
    for name, topic in topic_stages(size.release).items():
        log = simulate_log(log_settings, happens.get(name, []), log)[-1].state
        stages.append(_seen(name, log, topic, group_ids))
    return tuple(stages)


def topic_stages(release: str = DEFAULT_RELEASE) -> Mapping[str, offsets_topic.OffsetsTopic]:
    """The offsets topic on its brokers at each of `STAGES`.

    >>> {name: len(topic.leaderless) for name, topic in topic_stages().items() if topic.leaderless}
    {'disk full, broker dead': 16}
    """
    has_zookeeper = not at_least("4.0", release)  # nothing of the incident depends on it
    settings = offsets_topic.Settings(BROKERS, replication_factor=1, release=release, has_zookeeper=has_zookeeper)
    happens = {
        HEALTHY: [*map(offsets_topic.BrokerStarted, BROKERS), offsets_topic.FindCoordinator("billing")],
        FULL: [offsets_topic.BrokerCrashed(DYING)],
        BACK: [offsets_topic.BrokerStarted(DYING)],
        REPLICATED: [offsets_topic.Reassigned(place_shifted(BROKERS, settings.partition_count, 3))],
        DEAD_AGAIN: [offsets_topic.BrokerCrashed(DYING_LATER)],
    }
    stages: dict[str, offsets_topic.OffsetsTopic] = {}
    topic = offsets_topic.start(settings)
    for name in STAGES:
        topic = offsets_topic.simulate(settings, happens.get(name, []), topic)[-1].state
        stages[name] = topic
    return MappingProxyType(stages)


def _ms(stage: int) -> int:
    return (stage + 1) * 3_600_000


def _commits(size: Incident, stage: int) -> list[Append]:
    """Every key gets its commits in turn, as consumers commit."""
    events = []
    for turn in range(size.commits_per_key):
        at_ms = _ms(stage) - 3_000_000 + turn * 1000
        rows = []
        for number in range(size.keys):
            key = encode_key(1, {"group": f"g{number % 7}", "topic": "orders", "partition": number})
            fields = {"offset": stage * size.commits_per_key + turn, "metadata": "", "commitTimestamp": at_ms}
            rows.append((key, encode_value(1, 3, {**fields, "leaderEpoch": -1}), at_ms))
        events.append(Append((NewBatch(tuple(rows)),)))
    return events


def _seen(name: str, log: Log, topic: offsets_topic.OffsetsTopic, group_ids: list[str]) -> Stage:
    return Stage(
        name,
        len(log.records),
        sum(segment.size_bytes for segment in log.segments),
        log.cleaner,
        len(topic.replicas[0]),
        len(offsets_topic.groups_without_coordinator(topic, group_ids)),
    )
