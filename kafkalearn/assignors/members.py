"""What an assignor gets and gives: the members of a group, what they are assigned, and all that it sees.

`Member` has a subscription and what was owned before; `OldConsumer` is one of the time up to 1.1. An `Assignment` maps
every member to a tuple of topic-partitions. A `GroupSpec` is the whole input of an assignor, which sees no connections,
no heartbeats and no offsets: only this.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Collection, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from kafkalearn.base.checks import LARGEST_INT, iterable, mapping, text, whole_number
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.hashing import int32
from kafkalearn.base.java import JavaHashSet, hash_order, utf16_key
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import no_cycle_collection
from kafkalearn.releases.lines import DEFAULT_RELEASE, Release, at_least

MOST_STREAMS = 10_000  # threads of one consumer for one topic: more than a machine runs


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a consumer group, as the assignor sees it.

    Parameters
    ----------
    member_id : str
        From the coordinator: the client id and a random part. Orders and ties depend on it.
    topics : sequence of str
        Its subscription; a topic that does not exist is ignored, as in Kafka.
    owned : sequence of (topic, partition)
        What it was assigned last, in that order; for the server-side assignors its current target.
    generation : int or None
        Of the group when it was assigned `owned`; None: it has not been assigned anything yet, or its client
        is too old to report it. (A Java client reports it twice, in the protocol and in the assignor's user data;
        the two are assumed to agree.)
    instance_id : str or None
        ``group.instance.id`` of a static member.
    rack : str or None
        ``client.rack``, in which the client says where it runs (KIP-881); None or empty: it says nothing.

    Examples
    --------
    >>> Member("C0", ["orders"], owned=[("orders", 2)], generation=7).owned
    (TopicPartition(topic='orders', partition=2),)
    """

    member_id: str
    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...] = ()
    generation: int | None = None
    instance_id: str | None = None
    rack: str | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            member_id: str,
            topics: Iterable[str],
            owned: Iterable[tuple[str, int]] = (),
            generation: int | None = None,
            instance_id: str | None = None,
            rack: str | None = None,
        ) -> None:
            """What it is made from; the fields hold what is made of that."""

    def __post_init__(self) -> None:
        """Refuse what no member can be, and make tuples of sequences."""
        text("member_id", self.member_id)
        if self.instance_id is not None:
            text("instance_id", self.instance_id)
        if self.rack is not None:
            text("rack", self.rack)
        if self.generation is not None:
            whole_number("generation", self.generation, at_least=-1, at_most=LARGEST_INT)
        object.__setattr__(self, "topics", _topic_names(self.member_id, self.topics))
        object.__setattr__(self, "owned", _topic_partitions(self.member_id, self.owned))


@dataclass(frozen=True, slots=True)
class OldConsumer:
    """A consumer from before there was a coordinator (up to 1.1), which read each topic with several threads.

    Parameters
    ----------
    consumer_id : str
        Threads are named after it: ``C1-0``, ``C1-1``, ...
    stream_counts : mapping of str to int
        The threads for each topic, as given to ``createMessageStreams``.

    Examples
    --------
    >>> OldConsumer("C1", {"orders": 2}).threads("orders")
    ['C1-0', 'C1-1']
    """

    consumer_id: str
    stream_counts: tuple[tuple[str, int], ...]

    if TYPE_CHECKING:

        def __init__(self, consumer_id: str, stream_counts: Mapping[str, int] | Iterable[tuple[str, int]]) -> None:
            """What it is made from; the fields hold what is made of that."""

    def __post_init__(self) -> None:
        """Refuse what no consumer can be."""
        text("consumer_id", self.consumer_id)
        try:
            counts = dict(self.stream_counts)
        except (TypeError, ValueError):
            raise KafkaLearnError(
                f"stream_counts must map each topic to a number of threads, got {shown(self.stream_counts)}"
            ) from None
        for topic, count in counts.items():
            what = f"the number of streams of {text('topic', topic)!r}"
            whole_number(what, count, at_least=1, at_most=MOST_STREAMS)
        object.__setattr__(self, "stream_counts", tuple(counts.items()))

    def threads(self, topic: str) -> list[str]:
        """The names of the threads that read `topic`."""
        return [f"{self.consumer_id}-{number}" for number in range(dict(self.stream_counts).get(topic, 0))]


def _topic_names(member_id: str, topics: Iterable[str]) -> tuple[str, ...]:
    if isinstance(topics, str):
        raise KafkaLearnError(
            f"topics of member {member_id!r} must be a sequence of names, got the text {shown(topics)}"
        )
    names = tuple(text("topic", topic) for topic in iterable("topics", topics, of="names"))
    if len(set(names)) < len(names):
        raise KafkaLearnError(f"member {member_id!r} subscribes twice to one topic: {list(names)}; name each once")
    return names


def _topic_partitions(member_id: str, owned: Iterable[tuple[str, int]]) -> tuple[TopicPartition, ...]:
    given = tuple(iterable("owned", owned, of="pairs of topic and partition"))
    partitions = tuple(each for each in given if type(each) is TopicPartition)
    if len(partitions) < len(given):
        try:
            partitions = tuple(TopicPartition(topic, partition) for topic, partition in given)
        except (TypeError, ValueError):
            raise KafkaLearnError(
                f"owned of member {member_id!r} must hold pairs of topic and partition, got {shown(given)}"
            ) from None
    if len(set(partitions)) < len(partitions):
        raise KafkaLearnError(f"member {member_id!r} owns a partition twice; name each once")
    return partitions


# The answer.

Item = TypeVar("Item")


class Assignment(Mapping[str, tuple[TopicPartition, ...]]):
    """Each member (or thread, of an old consumer) with its partitions, in the order Kafka lists them.

    An immutable mapping, so assignments compare and hash by what they hold. Members without a partition are in it.

    Parameters
    ----------
    owned : mapping of str to iterable of TopicPartition
        The partitions of each member.

    Examples
    --------
    >>> assignment = Assignment({"C0": [TopicPartition("t0", 0), TopicPartition("t0", 2)], "C1": []})
    >>> print(assignment)
    C0: t0-0 t0-2
    C1: none
    >>> assignment["C0"][1]
    TopicPartition(topic='t0', partition=2)
    """

    __slots__ = ("_compact", "_expand", "_expanded")

    def __init__(self, owned: Mapping[str, Iterable[TopicPartition]]) -> None:
        """A copy: later changes of `owned` do not touch it."""
        self._expanded = {member_id: tuple(partitions) for member_id, partitions in owned.items()}
        self._compact: Mapping[str, Sequence[Any]] = self._expanded
        self._expand: Callable[[Sequence[Any]], Iterable[TopicPartition]] = tuple

    @classmethod
    def compact(
        cls, owned: Mapping[str, Sequence[Item]], expand: Callable[[Sequence[Item]], Iterable[TopicPartition]]
    ) -> Assignment:
        """An assignment of something smaller than topic-partitions, which `expand` makes when they are asked for.

        So a million partitions are assigned in a few bytes each, and only those looked at become objects. `owned`
        is kept as it is: whoever made it must not change it any more.

        >>> print(Assignment.compact({"C0": [0, 2]}, lambda numbers: [TopicPartition("t", each) for each in numbers]))
        C0: t-0 t-2
        """
        assignment = cls({})
        assignment._compact = owned
        assignment._expand = expand
        return assignment

    def __getitem__(self, member_id: str) -> tuple[TopicPartition, ...]:
        """The partitions of a member."""
        if member_id not in self._expanded:
            self._expanded[member_id] = tuple(self._expand(self._compact[member_id]))
        return self._expanded[member_id]

    def __iter__(self) -> Iterator[str]:
        """The members, in the order in which the coordinator listed them."""
        return iter(self._compact)

    def __len__(self) -> int:
        """How many members there are, idle ones included."""
        return len(self._compact)

    def items(self) -> ItemsView[str, tuple[TopicPartition, ...]]:
        """Each member with its partitions."""
        self._expand_all()
        return super().items()

    def values(self) -> ValuesView[tuple[TopicPartition, ...]]:
        """The partitions of each member."""
        self._expand_all()
        return super().values()

    def _expand_all(self) -> None:
        """Make all topic-partitions at once, where they are going to be looked at one after the other."""
        if len(self._expanded) < len(self._compact):
            with no_cycle_collection():
                for member_id in self._compact:
                    self[member_id]

    def __hash__(self) -> int:
        """Equal assignments hash alike, whatever the order of their members."""
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[Assignment], tuple[dict[str, tuple[TopicPartition, ...]]]]:
        """Pickled as what it holds, however much of that has been made into objects so far."""
        return Assignment, (dict(self),)

    def __str__(self) -> str:
        """A line for each member."""
        return "\n".join(f"{member_id}: {partitions_text(owned)}" for member_id, owned in self.items())

    def __repr__(self) -> str:
        """How large it is; `print` shows all of it."""
        return f"<Assignment of {sum(self.counts().values())} partitions to {len(self)} members>"

    def counts(self) -> dict[str, int]:
        """How many partitions each member has.

        >>> Assignment({"C0": [TopicPartition("t0", 0)], "C1": []}).counts()
        {'C0': 1, 'C1': 0}
        """
        return {member_id: len(owned) for member_id, owned in self._compact.items()}

    def owners(self) -> dict[TopicPartition, str]:
        """The owner of each partition.

        >>> Assignment({"C0": [TopicPartition("t0", 0)], "C1": []}).owners()
        {TopicPartition(topic='t0', partition=0): 'C0'}
        """
        return {partition: member_id for member_id, owned in self.items() for partition in owned}

    def rows(self) -> list[dict[str, str | int]]:
        """A plain row for each owned partition: member, topic, partition.

        >>> Assignment({"C0": [TopicPartition("t0", 0)], "C1": []}).rows()
        [{'member': 'C0', 'topic': 't0', 'partition': 0}]
        """
        return [
            {"member": member_id, "topic": topic, "partition": partition}
            for member_id, owned in self.items()
            for topic, partition in owned
        ]


def partitions_text(partitions: Iterable[TopicPartition]) -> str:
    """The partitions in one line, ``none`` if there are none.

    >>> partitions_text([TopicPartition("t0", 0), TopicPartition("t1", 2)])
    't0-0 t1-2'
    """
    return " ".join(map(str, partitions)) or "none"


# The input.

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
        Whether the known defects of Kafka's assignors are fixed; see `kafkalearn.assignors.sticky`.
    is_in_map_order : bool
        Whether `members` are in the order of the coordinator's map already, which has a history of its own.
    are_alike : bool or None
        What the coordinator takes the subscriptions for: all alike, or not; None: what they are. A server-side
        assignor that knows it looks at the subscription of one member only.
    in_targets : collection of TopicPartition, or None
        The partitions that are in anybody's target, as the coordinator has it; None: what the members own.
    old_consumers : sequence of OldConsumer
        In the place of members, for the assignors of the old consumer.
    replica_racks : mapping of str to sequence of collections of str, or None
        For each topic the racks of each partition's replicas, partition 0 first. A topic that is not in it has
        replicas whose brokers name no rack.
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
    replica_racks: Mapping[str, Sequence[Collection[str]]] | None = None

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
        if self.topic_ids is not None:
            mapping("topic_ids", self.topic_ids, of="topic to its id")
        given = mapping("replica_racks", self.replica_racks or {}, of="topic to the racks of each partition")
        racks = {topic: _racks(self.partition_counts, topic, each) for topic, each in given.items()}
        object.__setattr__(self, "replica_racks", MappingProxyType(racks))

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

        def place(member: Member) -> tuple[bool, bytes]:
            if member.instance_id is None or not knows_static:
                return True, utf16_key(member.member_id)
            return False, utf16_key(member.instance_id)

        return tuple(sorted(self.members, key=place))

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
            raise KafkaLearnError(f"topic_ids has no id of {missing[0]!r}; it has {shown([*self.topic_ids])}")
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


def _racks(counts: Mapping[str, int], topic: str, racks: Sequence[Collection[str]]) -> tuple[frozenset[str], ...]:
    """The racks of a topic's partitions, checked; equal ones are one object, for there may be a million."""
    known: dict[frozenset[str], frozenset[str]] = {}
    each_has = tuple(iterable(f"replica_racks of {topic!r}", racks, of="collections of racks"))
    if topic in counts and len(each_has) != counts[topic]:
        raise KafkaLearnError(f"replica_racks of {topic!r} has {len(each_has)} partitions, the topic {counts[topic]}")
    texts = [each for each in each_has if isinstance(each, str)]
    if texts:
        raise KafkaLearnError(
            f"replica_racks of {topic!r} must have a collection of texts for each partition, got {shown(texts[0])}"
        )
    sets = (frozenset(iterable("racks of a partition", each, of="texts")) for each in each_has)
    alike = tuple(known.setdefault(each, each) for each in sets)
    for each in known:
        for rack in each:
            text(f"a rack of {topic!r}", rack)
    return alike


def _id_halves(topic: str, topic_id: str) -> tuple[int, int]:
    try:
        return struct.unpack(">qq", base64.b64decode(topic_id + "==", altchars=b"-_", validate=True))
    except (TypeError, ValueError, struct.error):
        raise KafkaLearnError(
            f"the id of topic {shown(topic)} must be as Kafka prints it, 16 bytes in 22 letters, digits, - and _; got "
            f"{shown(topic_id)}"
        ) from None
