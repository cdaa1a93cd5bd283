"""What both protocols of groups share: the states by Kafka's names, the defaults of settings, the limits of sizes.

>>> CLASSIC_STATES
('Empty', 'PreparingRebalance', 'CompletingRebalance', 'Stable', 'Dead')

References
----------
Apache Kafka 4.3, ``GroupState``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, TypeAlias

from kafkalearn.base import events, facts
from kafkalearn.base.checks import LARGEST_INT, Whole
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.releases import default
from kafkalearn.releases.lines import at_least
from kafkalearn.releases.settings import Value

EMPTY = "Empty"
PREPARING = "PreparingRebalance"
COMPLETING = "CompletingRebalance"  # AwaitingSync up to 1.0
STABLE = "Stable"
DEAD = "Dead"
ASSIGNING = "Assigning"
RECONCILING = "Reconciling"
NOT_READY = "NotReady"  # of a streams group only: its topology is not known, or not checked yet

CLASSIC_STATES = (EMPTY, PREPARING, COMPLETING, STABLE, DEAD)
CONSUMER_STATES = {
    EMPTY: "it has no members",
    ASSIGNING: "the group epoch is higher than the assignment epoch: a new target is due",
    RECONCILING: "some member has not reached its target",
    STABLE: "every member has reached its target",
    DEAD: "it was deleted, or its last offset expired while it had no members",
}
"""The states of a KIP-848 group, with their meaning; they follow from the members and are stored nowhere."""

REBALANCING_STATES = (PREPARING, COMPLETING, ASSIGNING, RECONCILING)
"""Those in which a group has not agreed yet."""


BEFORE_IT_CAME: Mapping[str, Value] = MappingProxyType(
    {
        "group.consumer.assignment.interval.ms": 0,
        "group.consumer.regex.refresh.interval.ms": 600_000,
        "group.instance.id": None,
    }
)
"""What stands for a setting in releases that do not have it yet."""


@cache
def default_of(setting: str, release: str, side: str) -> Value:
    """The value that a setting of a broker or a consumer has if nobody sets it.

    Parameters
    ----------
    setting : str
        By Kafka's name.
    release : str
        Any; in one without the setting it is the value of `BEFORE_IT_CAME`.
    side : str
        ``"broker"`` or ``"consumer"``.

    Raises
    ------
    KafkaLearnError
        If there is no such setting, or this release does not have it and nothing can stand for it.

    Examples
    --------
    >>> [default_of("group.consumer.assignment.interval.ms", release, "broker") for release in ("4.0", "4.3")]
    [0, 1000]
    """
    try:
        return default(setting, release, side=side)
    except KafkaLearnError:
        if setting in BEFORE_IT_CAME:
            return BEFORE_IT_CAME[setting]
        raise


# The versions of requests that a release knows; its own clients send the newest.

NEWEST_VERSIONS = {
    "JoinGroup": (("3.2", 9), ("2.5", 7), ("2.4", 6)),
    "OffsetCommit": (("4.2", 10), ("3.7", 9), ("2.4", 8)),
}
"""Of requests whose version changes an answer: since which release which version is the newest."""


def known_version(request: object, version: int | None, api: str, release: str) -> int:
    """The version of a request: as it says, or for None the newest that the release knows.

    Raises
    ------
    IllegalEvent
        If the release does not know it: none of its clients sends it, and its brokers answer UNSUPPORTED_VERSION.

    Examples
    --------
    >>> [known_version("a join", None, "JoinGroup", release) for release in ("2.4", "3.1", "3.2")]
    [6, 7, 9]

    References
    ----------
    Apache Kafka, ``validVersions`` in ``JoinGroupRequest.json`` and ``OffsetCommitRequest.json`` at each release.
    """
    newest = next(each for since, each in NEWEST_VERSIONS[api] if at_least(since, release))
    if version is not None and version > newest:
        raise IllegalEvent(
            f"{request}: Kafka {release} knows {api} up to version {newest}, not {version}; give one of these"
        )
    return newest if version is None else version


# How large a group, and how long a time, the simulators take. Kafka allows more of some of it; this is what a computer
# gets through while a class waits.

MOST_PARTITIONS = 20_000  # of all topics that a coordinator of the newer protocol knows
LONGEST_MS = 366 * 24 * 3_600_000  # a year

MOST_SCENARIO_PARTITIONS = 10_000
MOST_CONSUMERS = 1000
MOST_SCENARIO_EVENTS = 20_000
LONGEST_SCENARIO_MS = 7 * 24 * 3_600_000  # a week

Timeout: TypeAlias = Annotated[int, Whole(0, LARGEST_INT)]
Duration: TypeAlias = Annotated[int, Whole(0, LONGEST_MS)]


class TimePassed(events.TimePassed):
    """The clock of a group moves on, by a year at most: its timers fire one by one."""

    ms: Duration


class GroupDeleted(facts.Event):
    """An administrator deletes the group; one that has members is not deleted."""


class OffsetsExpired(facts.Event):
    """The coordinator's periodic clean-up finds that all offsets are older than ``offsets.retention.minutes``.

    Those of topics that a member subscribes to stay; a group that has neither an offset nor a member is gone.
    """


class PartitionMoved(facts.Event):
    """Another broker leads the group's partition of ``__consumer_offsets`` now, and has read it.

    All that is written there goes on. Timers are not: each begins anew with the new coordinator.
    """


class DeleteAnswered(facts.Effect):
    """The answer to the DeleteGroups of an administrator."""

    error: str
