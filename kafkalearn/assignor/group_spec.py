"""The input of an assignor: the partitions of each topic, and the members with what they owned before."""

from __future__ import annotations

import base64
import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from types import MappingProxyType

from kafkalearn.arguments import iterable, text, whole_number
from kafkalearn.assignor.members import Member, OldConsumer
from kafkalearn.errors import KafkaLearnError
from kafkalearn.hashing import int32
from kafkalearn.java_collections import JavaHashSet, hash_order, utf16_key
from kafkalearn.phrases import shown
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import DEFAULT_RELEASE, Release, at_least

MOST_PARTITIONS = 2_000_000  # of all topics: what KRaft was designed for, in one cluster


def refuse_impossible_counts(partition_counts: Mapping[str, int]) -> None:
    """Pass in silence if they map topics to numbers of partitions, `MOST_PARTITIONS` in all."""
    if not isinstance(partition_counts, Mapping):
        raise KafkaLearnError(
            f"partition_counts must map each topic to its number of partitions, got {shown(partition_counts)}"
        )
    for topic, count in partition_counts.items():
        what = f"the number of partitions of {text('topic', topic)!r}"
        whole_number(what, count, at_least=0, at_most=MOST_PARTITIONS)
    total = sum(partition_counts.values())
    whole_number("the number of partitions of all topics", total, at_least=0, at_most=MOST_PARTITIONS)


@dataclass(frozen=True)
class GroupSpec:
    """All that an assignor sees, checked once.

    Parameters
    ----------
    partition_counts : mapping of str to int
        The partitions of each topic that exists.
    members : sequence of Member
        In the order in which the coordinator lists them.
    release : str or Release
        Of the code that assigns.
    topic_ids : mapping of str to str, or None
        The id of each topic as Kafka prints it (22 letters and digits). Only the server-side assignors look
        at ids; without them the topics get ids that are walked in the order of `partition_counts`.
    fix_defects : bool
        Whether the known defects of Kafka's assignors are fixed; see `kafkalearn.assignor.sticky.general`.
    is_in_map_order : bool
        Whether `members` are in the order of the coordinator's map already, which has a history of its own.
    are_alike : bool or None
        What the coordinator takes the subscriptions for: all alike, or not; None: what they are. A server-side
        assignor that knows it looks at the subscription of one member only.
    in_targets : collection of TopicPartition, or None
        The partitions that are in anybody's target, as the coordinator has it; None: what the members own.
    old_consumers : sequence of OldConsumer
        In the place of members, for the assignors of the old consumer.
    """

    partition_counts: Mapping[str, int]
    members: Sequence[Member]
    release: str | Release = DEFAULT_RELEASE
    topic_ids: Mapping[str, str] | None = None
    fix_defects: bool = False
    is_in_map_order: bool = False
    are_alike: bool | None = None
    in_targets: Collection[TopicPartition] | None = None
    old_consumers: Sequence[OldConsumer] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be assigned."""
        refuse_impossible_counts(self.partition_counts)
        object.__setattr__(self, "partition_counts", MappingProxyType(dict(self.partition_counts)))
        object.__setattr__(self, "members", tuple(iterable("members", self.members, of="members")))
        for member in self.members:
            if not isinstance(member, Member):
                also = "" if isinstance(member, OldConsumer) else " (or OldConsumer)"
                raise KafkaLearnError(f"members must be Member objects{also}, got {shown(member)}")
        _refuse_duplicates((*self.members, *self.old_consumers))
        _refuse_impossible_ownership(self.partition_counts, self.members)

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """The topics to assign: subscribed by somebody and with partitions; in the order of Kafka's maps."""
        subscriptions = dict.fromkeys(member.topics for member in self.in_map_order)
        subscribed = dict.fromkeys(chain.from_iterable(subscriptions))
        return tuple(hash_order(topic for topic in hash_order(subscribed) if self.partition_counts.get(topic)))

    @cached_property
    def in_map_order(self) -> tuple[Member, ...]:
        """The members as Kafka walks them: in the order of a ``HashMap`` of their ids."""
        if self.is_in_map_order:
            return tuple(self.members)
        by_id = {member.member_id: member for member in self.members}
        return tuple(by_id[member_id] for member_id in hash_order(by_id))

    @cached_property
    def static_first(self) -> tuple[Member, ...]:
        """The members with an instance id, by it; then the others, by member id (up to 2.3 all by member id)."""
        knows_static = at_least("2.4", self.release)
        return tuple(sorted(self.members, key=lambda member: _place(member, knows_static)))

    def topics_by_name_order(self, member: Member) -> list[str]:
        """The topics of a member that exist, in the order of the broker's ``HashSet`` of their names."""
        return [name for name in JavaHashSet.copy_of(member.topics) if self.partition_counts.get(name)]

    @cached_property
    def subscribe_alike(self) -> bool:
        """Whether all members subscribe to the same set of topics, existing or not, or are taken to do so."""
        if self.are_alike is not None:
            return self.are_alike
        first = self.members[0].topics if self.members else ()
        return all(member.topics == first or set(member.topics) == set(first) for member in self.members)

    def partitions(self, topic: str) -> list[TopicPartition]:
        """The partitions of a topic, ascending."""
        return [TopicPartition(topic, partition) for partition in range(self.partition_counts[topic])]

    def subscribers(self, members: Iterable[Member]) -> dict[str, list[Member]]:
        """For each of `topics` those of `members` who subscribe to it, in the same order."""
        found: dict[str, list[Member]] = {topic: [] for topic in self.topics}
        for member in members:
            for topic in member.topics:
                if topic in found:
                    found[topic].append(member)
        return found

    def topic_hash(self, topic: str) -> int:
        """The hash code of a topic's id: a ``Uuid`` folded to 32 bits."""
        high, low = self.topic_id_halves[topic]
        return int32((high ^ low) >> 32) ^ int32(high ^ low)

    @cached_property
    def topic_id_halves(self) -> Mapping[str, tuple[int, int]]:
        """The two signed 64-bit halves of each topic's id, the high one first: ids compare as these do."""
        if self.topic_ids is None:
            return {topic: (0, place) for place, topic in enumerate(self.partition_counts, start=1)}
        missing = [topic for topic in self.topics if topic not in self.topic_ids]
        if missing:
            raise KafkaLearnError(f"topic_ids has no id of {missing[0]!r}; it has {sorted(self.topic_ids)}")
        return topic_halves(self.topic_ids)


def topic_halves(topic_ids: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """The two signed 64-bit halves of each topic's id, the high one first.

    >>> topic_halves({"orders": "AAAAAAAAAAEAAAAAAAAAAQ"})
    {'orders': (1, 1)}
    """
    halves = {topic: _id_halves(topic, topic_id) for topic, topic_id in topic_ids.items()}
    if len(set(halves.values())) < len(halves):
        raise KafkaLearnError("two topics have the same id in topic_ids; Kafka gives each topic its own")
    return halves


def _refuse_duplicates(members: Iterable[Member | OldConsumer]) -> None:
    seen: set[str] = set()
    instances: set[str] = set()
    for member in members:
        member_id = member.consumer_id if isinstance(member, OldConsumer) else member.member_id
        if member_id in seen:
            raise KafkaLearnError(f"two members have the id {member_id!r}; a coordinator gives each its own id")
        seen.add(member_id)
        instance_id = getattr(member, "instance_id", None)
        if instance_id in instances:
            raise KafkaLearnError(f"two members have the instance id {instance_id!r}; Kafka fences the older one")
        if instance_id is not None:
            instances.add(instance_id)


def _refuse_impossible_ownership(counts: Mapping[str, int], members: Iterable[Member]) -> None:
    """A topic may be gone; but one that is there has never had more partitions than now."""
    fewest = min(counts.values(), default=0)
    for member in members:
        numbers = set(map(itemgetter(1), member.owned))  # a group can own millions, so the common case is made quick
        if not numbers or (min(numbers) >= 0 and max(numbers) < fewest):
            continue
        for topic, partition in member.owned:
            if topic in counts and not 0 <= partition < counts[topic]:
                raise KafkaLearnError(
                    f"member {member.member_id!r} owns {topic}-{partition}, but {topic} has {counts[topic]} "
                    "partitions; if the topic was created again, leave the old ownership out"
                )


def _place(member: Member, knows_static: bool) -> tuple[bool, bytes]:
    if member.instance_id is None or not knows_static:
        return True, utf16_key(member.member_id)
    return False, utf16_key(member.instance_id)


def _id_halves(topic: str, topic_id: str) -> tuple[int, int]:
    try:
        return struct.unpack(">qq", base64.b64decode(topic_id + "==", altchars=b"-_", validate=True))
    except (TypeError, ValueError, struct.error):
        raise KafkaLearnError(
            f"the id of topic {topic!r} must be as Kafka prints it, 16 bytes in 22 letters, digits, - and _; got "
            f"{topic_id!r}"
        ) from None
