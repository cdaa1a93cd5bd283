"""What a group begins with: the release and its rules, the broker's settings, the topics of the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkalearn.arguments import fill_in, text, whole_number
from kafkalearn.assignor.registry import BROKER_ASSIGNORS
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.group.defaults import default_of
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least


class Rules(NamedTuple):
    """What differs between the releases that have the protocol switched on."""

    first_group_epoch: int  # of a group nobody has joined yet
    writes_topic_metadata: bool  # a record of the subscribed topics' partitions (a hash inside another since 4.1)
    may_take_back: bool  # a member gets a partition back that it has not given up yet
    may_always_rejoin: bool  # epoch 0 is accepted from a known member whatever its epoch
    drops_unsubscribed: bool  # a member that unsubscribes gives up the topic at once, whatever its target
    counts_revocations: bool  # the epoch goes up by one when a revocation is confirmed and another follows
    accepts_older_commits: bool  # KIP-1251: commits with an older epoch, partition by partition


def rules_of(release: str = DEFAULT_RELEASE) -> Rules:
    """The rules of a release.

    >>> rules_of("4.0").first_group_epoch, rules_of("4.3").first_group_epoch
    (0, 1)

    References
    ----------
    Apache Kafka 4.0.0, 4.1.2, 4.2.1 and 4.3.0, ``GroupMetadataManager`` and ``CurrentAssignmentBuilder``, compared;
    in which patch of a line a rule came was not looked for.
    """
    return Rules(
        first_group_epoch=1 if at_least("4.3", release) else 0,
        writes_topic_metadata=not at_least("4.1", release),
        may_take_back=at_least("4.1", release),
        may_always_rejoin=at_least("4.2", release),
        drops_unsubscribed=at_least("4.2", release),
        counts_revocations=not at_least("4.2", release),
        accepts_older_commits=at_least("4.3", release),
    )


NAMES = {
    "session_timeout_ms": "group.consumer.session.timeout.ms",
    "heartbeat_interval_ms": "group.consumer.heartbeat.interval.ms",
    "assignment_interval_ms": "group.consumer.assignment.interval.ms",
    "assignors": "group.consumer.assignors",
    "max_size": "group.consumer.max.size",
}
"""Each field of `Settings` that is a setting of the broker, with Kafka's name for it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The broker's side of a consumer group. Clients send only their subscription and their rebalance timeout.

    Parameters
    ----------
    release : str
        Of the broker, 4.0 or later; without one, Kafka 4.3. It decides `rules` and the defaults below.
    session_timeout_ms : int or None
        ``group.consumer.session.timeout.ms``: a member that is silent for so long is removed.
    heartbeat_interval_ms : int or None
        ``group.consumer.heartbeat.interval.ms``: the clients learn it from each answer.
    assignment_interval_ms : int or None
        ``group.consumer.assignment.interval.ms`` (4.3): the least time between two target assignments. Releases
        without it work as with 0.
    assignors : tuple of str or None
        ``group.consumer.assignors``; the first is taken when no member names another.
    max_size : int or None
        ``group.consumer.max.size``: most members of a group.
    topics : mapping of str to int, or tuple of (str, int)
        The topics of the cluster at the start, with their partition counts; without them ``orders`` with 6. The
        event `TopicChanged` changes them.
    topic_ids : mapping of str to str, or tuple of (str, str)
        The topics' ids as Kafka prints them, by name; see `kafkalearn.assignor.assign`. Empty: ids that Kafka sorts
        in the order of the topics' names.

    Raises
    ------
    KafkaLearnError
        If no broker can be configured so.

    Examples
    --------
    >>> Settings().session_timeout_ms, Settings().assignment_interval_ms
    (45000, 1000)
    >>> Settings(release="4.0").assignment_interval_ms
    0
    """

    release: str = DEFAULT_RELEASE
    session_timeout_ms: int | None = None
    heartbeat_interval_ms: int | None = None
    assignment_interval_ms: int | None = None
    assignors: tuple[str, ...] | None = None
    max_size: int | None = None
    topics: tuple[tuple[str, int], ...] = (("orders", 6),)
    topic_ids: tuple[tuple[str, str], ...] = ()
    rules: Rules = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Fill in what the release decides, and refuse what no broker can be configured to."""
        if not at_least("4.0", self.release):
            raise KafkaLearnError(
                f"release {self.release}: the consumer protocol of KIP-848 is modelled as it is since 4.0, where "
                "every broker offers it; in 3.7 to 3.9 it was a preview"
            )
        object.__setattr__(self, "rules", rules_of(self.release))
        object.__setattr__(self, "topic_ids", tuple(dict(self.topic_ids).items()))
        object.__setattr__(self, "topics", _checked_topics(self.topics))
        fill_in(self, **{name: default_of(setting, self.release, "broker") for name, setting in NAMES.items()})
        for name in ("session_timeout_ms", "heartbeat_interval_ms", "max_size"):
            whole_number(name, getattr(self, name), at_least=1)
        whole_number("assignment_interval_ms", self.assignment_interval_ms, at_least=0)
        if self.assignment_interval_ms and not at_least("4.3", self.release):
            raise KafkaLearnError(
                f"assignment_interval_ms is {self.assignment_interval_ms}, but Kafka {self.release} has no such "
                "setting; it came with 4.3 (KIP-1263)"
            )
        for assignor in self.assignors:
            if assignor not in BROKER_ASSIGNORS:
                raise unknown_name("assignor of the broker", assignor, BROKER_ASSIGNORS)


def _checked_topics(topics: Mapping[str, int] | tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """Topics with their partition counts, by name."""
    try:
        counts = dict(topics)
    except (TypeError, ValueError):
        raise KafkaLearnError(f"topics must map each topic to its number of partitions, got {topics!r}") from None
    for name, count in counts.items():
        whole_number(f"the number of partitions of {text('topic', name)!r}", count, at_least=1)
    return tuple(sorted(counts.items()))
