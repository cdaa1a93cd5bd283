"""What may be wrong in a cluster's logs, and what a finding names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.base.checks import BrokerId, Index, Millis, check_fields, iterable, one_of
from kafkalearn.base.errors import KafkaLearnError, counted, listed
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.operations.placement import Broker, Replicas, place_striped

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


# The cluster whose logs are looked at: its brokers, topics and groups, as a seed draws them.

BROKER_IDS = (1, 2, 3, 4, 5, 6)
RACKS = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "c"}
REPLICATION_FACTOR = 3

START_MS = 1_775_001_600_000  # 2026-04-01, 00:00 UTC
SAMPLE_MS = 300_000
SAMPLE_COUNT = 48  # four hours

TOPICS = {"orders": 12, "payments": 6, "clicks": 12, "profiles": 6, "__consumer_offsets": 12}
COMPACTED = ("profiles", "__consumer_offsets")
READ = ("orders", "payments", "clicks")
IDLE = TopicPartition("clicks", 11)  # nobody ever writes there

READERS = {"billing": ("orders", 4), "shipping": ("orders", 3), "search": ("clicks", 5), "risk": ("payments", 2)}
"""Groups with members: the topic and how many members."""

STANDALONE = "loader"  # commits without being a group: it reads payments
ABANDONED = "audit"  # its reader has left: no members and no commits; its offsets are about to expire
FORGOTTEN = "mirror"  # as audit; a fault may be that a job commits for it


class Member(NamedTuple):
    """A member of a group and what it owns all the time."""

    group_id: str
    member_id: str
    owned: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class Topology:
    """What stays the same during the four hours.

    Attributes
    ----------
    replicas : dict of TopicPartition to tuple of int
        The preferred leader first.
    weights : dict of TopicPartition to float
        How much is written into each partition, 1 on average.
    members : tuple of Member
        Of all groups that have any.
    """

    replicas: dict[TopicPartition, Replicas]
    weights: dict[TopicPartition, float]
    members: tuple[Member, ...]

    def followers(self, at: TopicPartition) -> Replicas:
        """The replicas of a partition that do not lead it on a good day."""
        return self.replicas[at][1:]


def topology_of(seed: int) -> Topology:
    """The cluster that a seed draws.

    >>> found = topology_of(7)
    >>> len(found.replicas), sum(len(member.owned) for member in found.members)
    (48, 42)
    """
    random = Random(f"topology {seed}")
    brokers = [Broker(each, RACKS[each]) for each in BROKER_IDS]
    replicas: dict[TopicPartition, Replicas] = {}
    weights: dict[TopicPartition, float] = {}
    for topic, count in TOPICS.items():
        placement = place_striped(brokers, count, REPLICATION_FACTOR, random.randrange(1 << 30))
        for partition, of_it in enumerate(placement):
            at = TopicPartition(topic, partition)
            replicas[at] = of_it
            weights[at] = 0.0 if at == IDLE else 0.7 + 0.6 * random.random()
    return Topology(replicas, weights, tuple(_members(random)))


def _members(random: Random) -> list[Member]:
    found = []
    for group_id, (topic, count) in READERS.items():
        for number in range(count):
            owned = tuple(TopicPartition(topic, each) for each in range(TOPICS[topic]) if each % count == number)
            found.append(Member(group_id, f"{group_id}-{number}-{random.randrange(1 << 24):06x}", owned))
    return found


# Who leads and who is in sync at each sample: the ordinary trouble that every cluster has, and the faults.

RESTART_SAMPLES = 2  # from one broker's restart to the next; a broker is down for one sample
LONGEST_BLIP_SAMPLES = 6  # half an hour


@dataclass(frozen=True, slots=True)
class Trouble:
    """What happens to replicas on an ordinary day.

    Attributes
    ----------
    restarts : dict of int to int
        The sample in which a broker is down; empty: nobody restarts the cluster.
    blips : dict of (int, TopicPartition) to range
        The samples in which a follower lags too far to be in sync.
    """

    restarts: dict[int, int]
    blips: dict[tuple[int, TopicPartition], range]


def trouble_of(seed: int, topology: Topology) -> Trouble:
    """The ordinary trouble of a seed: in most a rolling restart, and some followers that lag for a while."""
    random = Random(f"trouble {seed}")
    restarts: dict[int, int] = {}
    if random.random() < 0.7:
        first = random.randint(1, 3)
        restarts = {broker: first + RESTART_SAMPLES * place for place, broker in enumerate(BROKER_IDS)}
    blips: dict[tuple[int, TopicPartition], range] = {}
    for at in random.sample(sorted(topology.replicas), 5):
        first = random.randint(16, 34)
        blips[random.choice(topology.followers(at)), at] = range(first, first + random.randint(1, LONGEST_BLIP_SAMPLES))
    return Trouble(restarts, blips)


class ReplicaHistory:
    """Leader and in-sync replicas of every partition at every sample."""

    def __init__(self, topology: Topology, trouble: Trouble, faults: Iterable[Finding]) -> None:
        """Of a cluster, with its ordinary trouble and its faults."""
        self._topology, self._trouble = topology, trouble
        self._one_leader = next((each for each in faults if each.kind == ONE_LEADER), None)
        self._frozen = {(each.broker, each.at): each.at_ms for each in faults if each.kind == FROZEN_FOLLOWER}

    def is_up(self, broker: int, sample: int) -> bool:
        """Whether a broker is up."""
        return self._trouble.restarts.get(broker) != sample

    def fetches(self, broker: int, at: TopicPartition, sample: int) -> bool:
        """Whether a replica keeps up."""
        frozen_ms = self._frozen.get((broker, at))
        is_frozen = frozen_ms is not None and START_MS + SAMPLE_MS * sample >= frozen_ms
        lags = sample in self._trouble.blips.get((broker, at), ())
        return self.is_up(broker, sample) and not is_frozen and not lags

    def isr(self, at: TopicPartition, sample: int) -> Replicas:
        """The in-sync replicas, in the order of the replicas."""
        return tuple(each for each in self._topology.replicas[at] if self.fetches(each, at, sample))

    def leader(self, at: TopicPartition, sample: int) -> int:
        """The preferred replica, or the first one in sync; with the fault the one broker, wherever it can."""
        in_sync, fault = self.isr(at, sample), self._one_leader
        if fault is not None and START_MS + SAMPLE_MS * sample >= fault.at_ms and fault.broker in in_sync:
            return fault.broker
        return in_sync[0]
