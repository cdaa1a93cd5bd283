"""Range and round robin, which remember nothing: in the client, in the broker, and in the consumer up to 1.1.

*Range*: each topic on its own, cut into consecutive ranges for its subscribers in order. The first members get the
remainder of *every* topic, so with many topics of one partition the first member gets them all. In return, topics with
equal partition counts and the same subscribers are *co-partitioned*: whoever has partition k of one has partition k of
the other, as a join needs it. The client-side and the server-side assignor (KIP-848) give the same ranges; so did the
consumer before 0.9. The client-side one looks at racks since 3.5: `kafkalearn.assignors.racks`.

*Round robin*: all partitions of all topics dealt out in a circle, as one deals cards. With equal subscriptions no
member has two partitions more than another. With different ones the circle skips members that do not subscribe to the
topic, nothing makes up for that later, and the load gets uneven. When one member leaves, almost everything moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from kafkalearn.assignors.members import Assignment, GroupSpec
from kafkalearn.assignors.racks import ranges_by_rack
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.hashing import java_string_hash
from kafkalearn.base.java import JavaHashMap, table_size, utf16_key
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.releases.lines import at_least

Item = TypeVar("Item")


def assign_range(spec: GroupSpec) -> Assignment:
    """The assignment of the ``range`` assignor, the first by default in every client.

    Topics come in the order in which Kafka walks its map of them, which shows in the lists only.

    Examples
    --------
    >>> from kafkalearn.assignors import Member, assign
    >>> print(assign("range", {"t0": 3, "t1": 3}, [Member("C0", ["t0", "t1"]), Member("C1", ["t0", "t1"])]))
    C0: t0-0 t0-1 t1-0 t1-1
    C1: t0-2 t1-2

    With racks, each gets what has a replica where it runs, as long as the counts stay the same:

    >>> members = [Member("C0", ["t"], rack="b"), Member("C1", ["t"], rack="a")]
    >>> print(assign("range", {"t": 4}, members, replica_racks={"t": [["a"], ["a"], ["b"], ["a"]]}))
    C0: t-2 t-3
    C1: t-0 t-1

    References
    ----------
    Apache Kafka 3.5 to 4.4, ``org.apache.kafka.clients.consumer.RangeAssignor``.
    """
    owned: dict[str, list[TopicPartition]] = {member.member_id: [] for member in spec.members}
    by_topic = spec.subscribers(spec.static_first)
    matched = ranges_by_rack(spec, by_topic)
    if matched is not None:
        for topic in sorted(matched, key=utf16_key):
            for member_id, partitions in matched[topic].items():
                owned[member_id] += [TopicPartition(topic, partition) for partition in partitions]
        return Assignment(owned)
    for topic, subscribers in by_topic.items():
        for member, partitions in zip(subscribers, even_cuts(spec.partitions(topic), len(subscribers)), strict=True):
            owned[member.member_id] += partitions
    return Assignment(owned)


def assign_server_range(spec: GroupSpec) -> Assignment:
    """The assignment of the ``range`` assignor inside the broker (KIP-848); each list as the broker walks it.

    It looks at no previous ownership: it is not sticky. Where the coordinator takes the members to subscribe alike, it
    looks at the subscription of the first one only.

    Examples
    --------
    >>> from kafkalearn.assignors import Member, assign
    >>> members = [Member("a", ["t"]), Member("b", ["t"]), Member("c", ["t"], instance_id="x")]
    >>> print(assign("range", {"t": 5}, members, side="broker"))  # the static member comes first
    a: t-2 t-3
    b: t-4
    c: t-0 t-1

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``org.apache.kafka.coordinator.group.assignor.RangeAssignor``.
    """
    in_order = spec.static_first
    subscription = {member.member_id: in_order[0] if spec.subscribe_alike else member for member in in_order}
    topics_of = {member_id: spec.topics_by_name_order(whose) for member_id, whose in subscription.items()}
    subscriber_counts = Counter(topic for topics in topics_of.values() for topic in topics)
    cuts = {topic: iter(even_cuts(spec.partitions(topic), count)) for topic, count in subscriber_counts.items()}
    owned: dict[str, list[TopicPartition]] = {}
    for member_id, topics in topics_of.items():
        expected = len(topics) if spec.subscribe_alike else len(subscription[member_id].topics)
        walk = JavaHashMap(table_size(int(expected / 0.75) + 1), spec.topic_hash)
        walk.update({topic: next(cuts[topic]) for topic in topics})
        owned[member_id] = [each for topic in walk for each in walk[topic]]
    return Assignment({member.member_id: owned[member.member_id] for member in spec.members})


def even_cuts(items: list[Item], count: int) -> list[list[Item]]:
    """`items` cut into `count` consecutive pieces; the first ones are longer by one if a remainder is left.

    >>> even_cuts([0, 1, 2, 3, 4], 3)
    [[0, 1], [2, 3], [4]]
    """
    size, remainder = divmod(len(items), count)
    starts = [size * place + min(place, remainder) for place in range(count + 1)]
    return [items[starts[place] : starts[place + 1]] for place in range(count)]


def assign_round_robin(spec: GroupSpec) -> Assignment:
    """The assignment of the ``roundrobin`` assignor.

    Kafka's own fails for a group without members, which no coordinator gives it; here the assignment is empty.

    Examples
    --------
    >>> from kafkalearn.assignors import Member, assign
    >>> print(assign("roundrobin", {"t0": 3, "t1": 3}, [Member("C0", ["t0", "t1"]), Member("C1", ["t0", "t1"])]))
    C0: t0-0 t0-2 t1-1
    C1: t0-1 t1-0 t1-2

    References
    ----------
    Apache Kafka 2.4 to 4.3, ``org.apache.kafka.clients.consumer.RoundRobinAssignor``.
    """
    in_name_order = sorted(spec.topics, key=utf16_key)
    topics_of = {member.member_id: frozenset(member.topics) for member in spec.static_first}
    dealt = deal((partition for topic in in_name_order for partition in spec.partitions(topic)), topics_of)
    return Assignment({member.member_id: dealt[member.member_id] for member in spec.members})


def deal(
    partitions: Iterable[TopicPartition], topics_of: Mapping[str, Collection[str]]
) -> dict[str, list[TopicPartition]]:
    """Each partition goes to the next member of the circle that subscribes to its topic; every topic needs one.

    >>> t = [TopicPartition("t", number) for number in range(3)]
    >>> {name: len(owned) for name, owned in deal(t, {"C0": ["t"], "C1": ["u"], "C2": ["t"]}).items()}
    {'C0': 2, 'C1': 0, 'C2': 1}
    """
    names = list(topics_of)
    dealt: dict[str, list[TopicPartition]] = {name: [] for name in names}
    cursor = 0
    for partition in partitions:
        while partition.topic not in topics_of[names[cursor % len(names)]]:
            cursor += 1
        dealt[names[cursor % len(names)]].append(partition)
        cursor += 1
    return dealt


# The assignors of the old consumer (up to 1.1): every consumer worked the assignment out for itself.
#
# The unit was not the member but the *thread*: a consumer that asked for two streams of a topic had the threads
# ``C1-0`` and ``C1-1``, and every consumer read the same list of threads from ZooKeeper. Threads are ordered as
# text, so ``C1-10`` comes before ``C1-2``.


def assign_legacy_range(spec: GroupSpec) -> Assignment:
    """The threads' partitions by the old consumer's ``range``, its default.

    Examples
    --------
    >>> from kafkalearn.assignors import OldConsumer, assign
    >>> consumers = [OldConsumer("C1", {"t": 2}), OldConsumer("C2", {"t": 2})]
    >>> print(assign("range", {"t": 5}, consumers, side="old-consumer"))
    C1-0: t-0 t-1
    C1-1: t-2
    C2-0: t-3
    C2-1: t-4

    References
    ----------
    Apache Kafka 0.8.2 to 1.1, ``kafka.consumer.RangeAssignor``.
    """
    readers = _readers(spec)
    owned = _nothing_yet(readers)
    for topic, threads in readers.items():
        for thread, partitions in zip(threads, even_cuts(spec.partitions(topic), len(threads)), strict=True):
            owned[thread] += partitions
    return Assignment(owned)


def assign_legacy_round_robin(spec: GroupSpec) -> Assignment:
    """The threads' partitions by the old consumer's ``roundrobin``.

    The partitions are dealt in the order of the Java hash codes of their texts. The text was ``[t,0]`` up to 0.11
    and is ``t-0`` since 1.0, so that upgrade changed the assignment of the same group.

    Raises
    ------
    KafkaLearnError
        Up to 0.10.1, if not every topic is read by the same threads: Kafka refused that, too.

    Examples
    --------
    >>> from kafkalearn.assignors import OldConsumer, assign
    >>> consumers = [OldConsumer("C1", {"orders": 1}), OldConsumer("C2", {"orders": 1})]
    >>> print(assign("roundrobin", {"orders": 4}, consumers, side="old-consumer", release="0.11.0"))
    C1-0: orders-0 orders-2
    C2-0: orders-1 orders-3

    References
    ----------
    Apache Kafka 0.8.2 to 1.1, ``kafka.consumer.RoundRobinAssignor``.
    """
    readers = _readers(spec)
    if not at_least("0.10.2", spec.release) and len({tuple(threads) for threads in readers.values()}) > 1:
        raise KafkaLearnError(
            f"Kafka {spec.release} refuses roundrobin unless all topics are read by the same threads; they are "
            f"{readers}. Since 0.10.2 it skips threads that do not read the topic"
        )
    form = "{0}" if at_least("1.0", spec.release) else "[{0.topic},{0.partition}]"
    partitions = [partition for topic in readers for partition in spec.partitions(topic)]
    partitions.sort(key=lambda partition: java_string_hash(form.format(partition)))
    topics_of = {thread: [topic for topic in readers if thread in readers[topic]] for thread in _nothing_yet(readers)}
    return Assignment(deal(partitions, topics_of))


def _readers(spec: GroupSpec) -> dict[str, list[str]]:
    """The threads that read each topic, in their order."""
    threads = {topic: [t for old in spec.old_consumers for t in old.threads(topic)] for topic in spec.partition_counts}
    return {topic: sorted(names, key=utf16_key) for topic, names in threads.items() if names}


def _nothing_yet(readers: Mapping[str, list[str]]) -> dict[str, list[TopicPartition]]:
    return {thread: [] for thread in sorted({t for threads in readers.values() for t in threads}, key=utf16_key)}
