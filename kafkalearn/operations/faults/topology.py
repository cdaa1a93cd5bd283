"""The cluster whose logs are looked at: its brokers, topics and groups, as a seed draws them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from kafkalearn.operations.placement.brokers import Broker, Replicas
from kafkalearn.operations.placement.striped import place_striped
from kafkalearn.topic_partition import TopicPartition

BROKER_IDS = (1, 2, 3, 4, 5, 6)
RACKS = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "c"}
REPLICATION_FACTOR = 3

START_MS = 1_775_001_600_000  # 2026-04-01, 00:00 UTC
SAMPLE_MS = 300_000
SAMPLE_COUNT = 48  # four hours
END_MS = START_MS + SAMPLE_MS * (SAMPLE_COUNT - 1)  # the last sample

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
