"""The sixteen settings as data: what each means, with which values it is tried, and the run that shows its effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kafkalearn.arguments import iterable, one_of
from kafkalearn.offsets.broker_settings import of_groups, of_offsets, of_topic
from kafkalearn.versions import ABSENT, at_least, history

RELEASES = ("0.8.2", "0.9.0", "0.10.0", "0.11.0", "2.0", "2.3", "3.9", "4.3")
"""Releases in which at least one of the settings came, changed or went, and the newest."""


@dataclass(frozen=True, slots=True)
class CoordinatorSetting:
    """One setting of the broker."""

    name: str
    meaning: str
    tried: str  # what happens in the run
    values: tuple[int, ...]  # two that end differently
    run: Callable[[int], str]  # how it ends with a value


SETTINGS = (
    CoordinatorSetting(
        "offset.metadata.max.bytes",
        "the longest text a commit may bring, counted in UTF-16 units",
        "a commit with 5,000 letters",
        (4096, 8192),
        of_offsets.metadata_of_5000_letters,
    ),
    CoordinatorSetting(
        "offsets.load.buffer.size",
        "how much of the log one read brings while a new coordinator loads",
        "a log of 1,000 commits is loaded",
        (5_242_880, 16_384),
        of_offsets.load_of_1000_commits,
    ),
    CoordinatorSetting(
        "offsets.retention.minutes",
        "how long an offset stays without a group that uses it",
        "a classic group is away for 62 hours",
        (1440, 10080),
        of_offsets.weekend,
    ),
    CoordinatorSetting(
        "offsets.retention.check.interval.ms",
        "how often the coordinator looks for expired offsets",
        "an offset expires after 61 minutes",
        (600_000, 3_600_000),
        of_offsets.first_sweep_after_expiry,
    ),
    CoordinatorSetting(
        "offsets.topic.num.partitions",
        "partitions of the topic when it is created",
        "billing looks for its partition",
        (50, 64),
        of_topic.partition_of_billing,
    ),
    CoordinatorSetting(
        "offsets.topic.segment.bytes",
        "size of the topic's segments; the newest one is not cleaned",
        "500 commits of one key, then the cleaner",
        (104_857_600, 16_384),
        of_topic.cleaned,
    ),
    CoordinatorSetting(
        "offsets.topic.replication.factor",
        "replicas of the topic when it is created",
        "the first group comes, two brokers live",
        (3, 2),
        of_topic.created_on_two_brokers,
    ),
    CoordinatorSetting(
        "offsets.topic.compression.codec",
        "codec of what the coordinator writes: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd",
        "one commit for 100 partitions",
        (0, 4),
        of_topic.batch_of_100_partitions,
    ),
    CoordinatorSetting(
        "offsets.commit.timeout.ms",
        "how long a commit may wait for the replicas",
        "a follower stands still for six seconds",
        (5000, 10_000),
        of_offsets.commit_without_replicas,
    ),
    CoordinatorSetting(
        "offsets.commit.required.acks",
        "-1: a commit waits for all in-sync replicas; gone in 4.0, where it always does",
        "3.9: 8 is committed after 7, then the leader dies",
        (-1, 1),
        of_offsets.crash_after_commit,
    ),
    CoordinatorSetting(
        "group.min.session.timeout.ms",
        "the shortest session that a member may ask for",
        "a member asks for 3,000 ms",
        (6000, 1000),
        of_groups.short_session,
    ),
    CoordinatorSetting(
        "group.max.session.timeout.ms",
        "the longest session that a member may ask for",
        "a member asks for an hour",
        (1_800_000, 3_600_000),
        of_groups.long_session,
    ),
    CoordinatorSetting(
        "group.initial.rebalance.delay.ms",
        "how long a group that was empty waits for more members",
        "three members join, a second apart",
        (0, 3000),
        of_groups.generations_of_three,
    ),
    CoordinatorSetting(
        "group.max.size", "most members of a classic group", "three members join", (2, 3), of_groups.third_member
    ),
    CoordinatorSetting(
        "group.consumer.session.timeout.ms",
        "KIP-848: how long a member may be silent; the broker decides, not the client",
        "a member falls silent",
        (45_000, 60_000),
        of_groups.silent_member,
    ),
    CoordinatorSetting(
        "group.consumer.max.size",
        "KIP-848: most members of a group",
        "three members join",
        (2, 3),
        of_groups.third_consumer,
    ),
)


def coordinator_settings(releases: Iterable[str] = RELEASES) -> list[dict[str, object]]:
    """A row for each setting: its meaning, and its default in each of the releases; "-" where it does not exist.

    Ten are Kafka's ``OffsetConfig``, four its ``GroupConfig``; the last two are what stands for them in groups of the
    new protocol (KIP-848), which is for production since 4.0.

    >>> coordinator_settings(["1.1", "2.0"])[2]["1.1"], coordinator_settings(["1.1", "2.0"])[2]["2.0"]
    (1440, 10080)

    References
    ----------
    The defaults are those of the released classes, `kafkalearn.versions`.
    """
    chosen = list(iterable("releases", releases, of="releases"))
    return [
        {"setting": each.name, "meaning": each.meaning} | {release: _default(each.name, release) for release in chosen}
        for each in SETTINGS
    ]


def _default(name: str, release: str) -> object:
    changes = [value for since, value in history(name, "broker") if at_least(since, release)]
    return "-" if not changes or changes[-1] is ABSENT else changes[-1]


def effect_of(setting: str) -> list[dict[str, object]]:
    """What happens with each of two values of a setting, computed by the simulators.

    Parameters
    ----------
    setting : str
        A name of `coordinator_settings`.

    Raises
    ------
    KafkaLearnError
        If there is no such setting.

    Examples
    --------
    >>> effect_of("offset.metadata.max.bytes")[0]
    {'offset.metadata.max.bytes': 4096, 'a commit with 5,000 letters': 'OFFSET_METADATA_TOO_LARGE'}
    """
    by_name = {each.name: each for each in SETTINGS}
    one = by_name[one_of("setting of the coordinator", setting, by_name)]
    return [{one.name: value, one.tried: one.run(value)} for value in one.values]


def effects() -> list[dict[str, object]]:
    """A row for each setting: what is tried, and how it ends with each of two values."""
    return [_in_a_row(each) for each in SETTINGS]


def _in_a_row(one: CoordinatorSetting) -> dict[str, object]:
    ends = [f"{value:,}: {one.run(value)}" for value in one.values]
    return {"setting": one.name, "what is tried": one.tried, "one value": ends[0], "another": ends[1]}
