"""What a group begins with: the release and its rules, the broker's settings, the topics of the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kafkalearn.arguments import LARGEST_INT, fill_in, one_of, sequence, text, whole_number
from kafkalearn.assignor.group_spec import topic_halves
from kafkalearn.assignor.registry import BROKER_ASSIGNORS
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import NOT_GIVEN, FilledIn
from kafkalearn.group.consumer.topics import topic_name
from kafkalearn.group.defaults import default_of
from kafkalearn.group.limits import MOST_PARTITIONS
from kafkalearn.phrases import shown
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least, release_line

Item = TypeVar("Item")


class Rules(NamedTuple):
    """What differs between the releases that have the protocol switched on."""

    first_epoch: int  # of group and assignment, in a group nobody has joined yet
    writes_topic_metadata: bool  # a record of the subscribed topics' partitions (a hash inside another since 4.1)
    may_take_back: bool  # a member gets a partition back that it has not given up yet
    may_always_rejoin: bool  # epoch 0 is accepted from a known member whatever its epoch
    drops_unsubscribed: bool  # a member that unsubscribes gives up the topic at once, whatever its target
    counts_revocations: bool  # the epoch goes up by one when a revocation is confirmed and another follows
    forgets_previous_epoch: bool  # a member that drops a topic at once may no longer use the epoch before
    accepts_older_commits: bool  # KIP-1251: commits with an older epoch, partition by partition


def rules_of(release: str = DEFAULT_RELEASE) -> Rules:
    """The rules of a release.

    >>> rules_of("4.0").first_epoch, rules_of("4.3").first_epoch
    (0, 1)

    References
    ----------
    Apache Kafka 4.0.0 to 4.3.1, every patch, ``GroupMetadataManager`` and ``CurrentAssignmentBuilder``, compared.
    """
    first_to_take_back = "4.1.2" if release_line(release) == "4.1" else "4.0.2"  # in two lines at a time
    return Rules(
        first_epoch=1 if at_least("4.3", release) else 0,
        writes_topic_metadata=not at_least("4.1", release),
        may_take_back=at_least(first_to_take_back, release),
        may_always_rejoin=at_least("4.2", release),
        drops_unsubscribed=at_least("4.2", release),
        counts_revocations=not at_least("4.2", release),
        forgets_previous_epoch=at_least("4.3", release),
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
        in the order of the topics' names. Then no event needs to give any.

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
    session_timeout_ms: FilledIn[int] = NOT_GIVEN
    heartbeat_interval_ms: FilledIn[int] = NOT_GIVEN
    assignment_interval_ms: FilledIn[int] = NOT_GIVEN
    assignors: FilledIn[tuple[str, ...]] = NOT_GIVEN
    max_size: FilledIn[int] = NOT_GIVEN
    topics: tuple[tuple[str, int], ...] = (("orders", 6),)
    topic_ids: tuple[tuple[str, str], ...] = ()
    rules: Rules = field(init=False, repr=False, compare=False)

    if TYPE_CHECKING:

        def __init__(
            self,
            release: str = DEFAULT_RELEASE,
            session_timeout_ms: int | None = None,
            heartbeat_interval_ms: int | None = None,
            assignment_interval_ms: int | None = None,
            assignors: Sequence[str] | None = None,
            max_size: int | None = None,
            topics: Mapping[str, int] | Iterable[tuple[str, int]] = (("orders", 6),),
            topic_ids: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        ) -> None:
            """What it is made from; the fields hold what is made of that."""

    def __post_init__(self) -> None:
        """Fill in what the release decides, and refuse what no broker can be configured to."""
        if not at_least("4.0", self.release):
            raise KafkaLearnError(
                f"release {self.release}: the consumer protocol of KIP-848 is modelled as it is since 4.0, where "
                "every broker offers it; in 3.7 to 3.9 it was a preview"
            )
        object.__setattr__(self, "rules", rules_of(self.release))
        object.__setattr__(self, "topics", _checked_topics(self.topics))
        object.__setattr__(self, "topic_ids", _checked_ids(self.topic_ids, self.topics))
        fill_in(self, **{name: default_of(setting, self.release, "broker") for name, setting in NAMES.items()})
        for name in ("session_timeout_ms", "heartbeat_interval_ms", "max_size"):
            whole_number(name, getattr(self, name), at_least=1, at_most=LARGEST_INT)
        whole_number("assignment_interval_ms", self.assignment_interval_ms, at_least=0, at_most=LARGEST_INT)
        if self.assignment_interval_ms and not at_least("4.3", self.release):
            raise KafkaLearnError(
                f"assignment_interval_ms is {self.assignment_interval_ms}, but Kafka {self.release} has no such "
                "setting; it came with 4.3 (KIP-1263)"
            )
        assignors = sequence("assignors", self.assignors, of="names")
        for assignor in assignors:
            one_of("assignor of the broker", assignor, BROKER_ASSIGNORS)
        if not assignors:
            raise KafkaLearnError(f"assignors is empty; a broker has at least one of {', '.join(BROKER_ASSIGNORS)}")
        object.__setattr__(self, "assignors", assignors)


def _checked_topics(topics: Mapping[str, int] | Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Topics with their partition counts, by name."""
    counts = _by_name("topics", topics, "its number of partitions")
    for name, count in counts.items():
        whole_number(f"the number of partitions of {topic_name(name)!r}", count, at_least=1, at_most=MOST_PARTITIONS)
    total = sum(counts.values())
    whole_number("the number of partitions of all topics", total, at_least=0, at_most=MOST_PARTITIONS)
    return tuple(sorted(counts.items()))


def _checked_ids(
    topic_ids: Mapping[str, str] | Iterable[tuple[str, str]], topics: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, str], ...]:
    """The ids of all topics, or of none."""
    ids = _by_name("topic_ids", topic_ids, "its id")
    missing = [name for name, _ in topics if name not in ids] if ids else []
    if missing:
        raise KafkaLearnError(f"topic_ids has no id of {missing[0]!r}; it has {sorted(ids)}")
    topic_halves({topic_name(name): text(f"the id of {name!r}", each) for name, each in ids.items()})
    return tuple(ids.items())


def _by_name(what: str, given: Mapping[str, Item] | Iterable[tuple[str, Item]], of: str) -> dict[str, Item]:
    try:
        return dict(given)
    except (TypeError, ValueError):
        raise KafkaLearnError(f"{what} must map each topic to {of}, got {shown(given)}") from None
