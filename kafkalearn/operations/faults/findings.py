"""What may be wrong in a cluster's logs, and what a finding names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from kafkalearn.arguments import iterable, one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import BrokerId, Index, Millis, check_fields
from kafkalearn.phrases import counted, listed
from kafkalearn.topic_partition import TopicPartition

DEAD_CLEANER, UNCLEANABLE = "dead cleaner", "uncleanable partition"
FUTURE_RECORD, HOT_PARTITION = "record from the future", "hot partition"
HANGING_CONSUMER, KEPT_GROUP = "hanging consumer", "group kept alive"
ONE_LEADER, FROZEN_FOLLOWER = "leaders on one broker", "frozen follower"

KINDS: MappingProxyType[str, str] = MappingProxyType(
    {
        DEAD_CLEANER: "no compacted log of a broker is cleaned any more",
        UNCLEANABLE: "one compacted log of a broker is not cleaned any more, the others are",
        FUTURE_RECORD: "a record is dated in the far future: no segment from it on is deleted by time",
        HOT_PARTITION: "one partition of a topic gets several times what the others get",
        HANGING_CONSUMER: "a member is there and gets no further",
        KEPT_GROUP: "nobody reads for a group, and somebody commits for it: its offsets never expire",
        ONE_LEADER: "a broker leads all that it has a replica of, long after the restart that led to it",
        FROZEN_FOLLOWER: "a replica does not fetch, and its partition is under-replicated",
    }
)
"""What can be planted and found, each in a sentence."""

NAMED: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        DEAD_CLEANER: ("broker",),
        UNCLEANABLE: ("broker", "topic", "partition"),
        FUTURE_RECORD: ("broker", "topic", "partition"),
        HOT_PARTITION: ("broker", "topic", "partition"),
        HANGING_CONSUMER: ("group_id", "member_id"),
        KEPT_GROUP: ("group_id",),
        ONE_LEADER: ("broker",),
        FROZEN_FOLLOWER: ("broker", "topic", "partition"),
    }
)
"""What tells one fault of a kind from another."""

MINUTE_MS = 60_000
_SLACK_MINUTES = {DEAD_CLEANER: 45, UNCLEANABLE: 45, HANGING_CONSUMER: 30}  # these show their life now and then only
SLACK_MINUTES = 15


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Something that is wrong: where, and since when.

    Attributes
    ----------
    kind : str
        A name in `KINDS`.
    at_ms : int
        Since when.
    broker : int or None
        The broker that has the replica; for records the leader at that time.
    topic, partition
        Of the log that shows it.
    group_id, member_id
        Of the consumers.
    """

    kind: str
    at_ms: Millis
    broker: BrokerId | None = None
    topic: str | None = None
    partition: Index | None = None
    group_id: str | None = None
    member_id: str | None = None

    def __post_init__(self) -> None:
        """Refuse a kind that nobody knows, and a finding that does not say where."""
        check_fields(self)
        one_of("kind", self.kind, KINDS)
        missing = [name for name in NAMED[self.kind] if getattr(self, name) is None]
        if missing:
            raise KafkaLearnError(f"a {self.kind} is named by {listed(NAMED[self.kind])}; {listed(missing)} is missing")

    @property
    def at(self) -> TopicPartition:
        """The partition; only for a kind that is named by one."""
        topic, partition = self.topic, self.partition
        assert topic is not None, "this kind has no partition"
        assert partition is not None, "this kind has no partition"
        return TopicPartition(topic, partition)

    @property
    def what(self) -> tuple[object, ...]:
        """Its kind, and what tells it from others of that kind."""
        return self.kind, *(getattr(self, name) for name in NAMED[self.kind])

    def __str__(self) -> str:
        """One line: kind, place, minute.

        >>> str(Finding("hot partition", 60_000, broker=2, topic="orders", partition=7))
        'hot partition: broker 2, orders-7, from minute 1 of 1970-01-01'
        """
        moment = datetime.fromtimestamp(self.at_ms / 1000, UTC)
        minute = moment.hour * 60 + moment.minute
        return f"{self.kind}: {self.where}, from minute {minute} of {moment:%Y-%m-%d}"

    @property
    def where(self) -> str:
        """The place in words."""
        words = []
        if self.broker is not None:
            words.append(f"broker {self.broker}")
        if self.topic is not None:
            words.append(f"{self.topic}-{self.partition}")
        if self.group_id is not None:
            words.append(f"group {self.group_id}" + (f", member {self.member_id}" if self.member_id else ""))
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Findings compared with what was planted."""

    right: tuple[Finding, ...]
    missed: tuple[Finding, ...]
    wrong: tuple[Finding, ...]

    @property
    def is_perfect(self) -> bool:
        """Whether all was found, and nothing else."""
        return not self.missed and not self.wrong

    def __str__(self) -> str:
        """The three numbers."""
        return f"{counted(len(self.right), 'fault')} found, {len(self.missed)} missed, {len(self.wrong)} wrong"


def judge(found: Iterable[Finding], planted: Iterable[Finding]) -> Judgement:
    """Which findings are right: the kind, the place, and the time within a quarter of an hour.

    A cleaner shows its life only when it has cleaned something, so for it within three quarters of an hour; a consumer
    when it commits, half an hour.

    >>> truth = Finding("leaders on one broker", 600_000, broker=3)
    >>> print(judge([Finding("leaders on one broker", 900_000, broker=3)], [truth]))
    1 fault found, 0 missed, 0 wrong
    >>> print(judge([Finding("leaders on one broker", 900_000, broker=2)], [truth]))
    0 faults found, 1 missed, 1 wrong
    """
    truths = tuple(iterable("planted", planted, of="Finding(...)"))
    right: list[Finding] = []
    wrong: list[Finding] = []
    hit: set[Finding] = set()
    for each in iterable("found", found, of="Finding(...)"):
        truth = next((truth for truth in truths if truth.what == each.what and _is_near(each, truth)), None)
        if truth is None or truth in hit:
            wrong.append(each)
        else:
            right.append(each)
            hit.add(truth)
    return Judgement(tuple(right), tuple(truth for truth in truths if truth not in hit), tuple(wrong))


def _is_near(one: Finding, other: Finding) -> bool:
    return abs(one.at_ms - other.at_ms) <= _SLACK_MINUTES.get(other.kind, SLACK_MINUTES) * MINUTE_MS
