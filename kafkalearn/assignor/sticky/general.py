"""Sticky, when subscriptions differ: keep what is valid, place the rest, then move single partitions to balance.

1. Everybody keeps what it owns, except of topics that are gone or that it no longer subscribes to.
2. Free partitions go, topic by topic, those with the fewest subscribers first, to the subscriber with the fewest
   partitions.
3. Passes over the partitions, until one moves nothing: a partition whose owner has at least two more than some
   other subscriber goes to the one with the fewest; one that a member of an older generation reports goes back
   to that member. A partition is not moved against one that was moved the other way for the same topic: that
   one is moved back instead.
4. If the passes moved something and the loads are no closer together than before, all of step 3 is undone.

Two defects of Kafka's own code, from 3.9 to 4.3, show if a member comes back and reports from an older generation
(step 3). Kafka does not check whether it still subscribes to the topic, so it can be given a partition that it will
not read. And if it was set aside, because nothing can be moved to or from it, the assignor fails with a
NullPointerException, and with it the consumer that leads the group. Here the first is done as Kafka does it and
the second is refused with a sentence; ``fix_defects=True`` gives an assignor without both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.sticky.loads import Loads
from kafkalearn.assignor.sticky.movements import Movements
from kafkalearn.assignor.sticky.owned import UNKNOWN_GENERATION, StickyResult, generation_of, owned_partitions
from kafkalearn.errors import KafkaLearnError
from kafkalearn.java_collections import utf16_key
from kafkalearn.topic_partition import TopicPartition


def sticky_general(spec: GroupSpec) -> StickyResult[TopicPartition]:
    """The sticky assignment of a group whose members subscribe to different topics.

    Raises
    ------
    KafkaLearnError
        Where Kafka's own assignor would fail (see above), unless ``spec.fix_defects``.

    References
    ----------
    Apache Kafka 3.8 to 4.3, ``AbstractStickyAssignor.GeneralAssignmentBuilder``.
    """
    loads = Loads(spec)
    must_revoke = _keep_owned(spec, loads)
    is_fresh = not loads.owner
    by_users = sorted(spec.topics, key=lambda topic: (len(loads.users[topic]), utf16_key(topic)))
    everything = [partition for topic in by_users for partition in spec.partitions(topic)]
    free = [partition for partition in everything if partition not in loads.owner]
    for partition in free:
        loads.give(partition, loads.lightest(partition.topic))

    loads.set_aside_the_settled()
    before = {member_id: list(held) for member_id, held in loads.held.items()}
    balancing = _Balancing(loads, _former_owners(spec), spec.fix_defects)
    if not must_revoke:
        balancing.run(free)
    has_moved = balancing.run(everything)
    undo = has_moved and not is_fresh and loads.unevenness(loads.held) >= loads.unevenness(before)
    return StickyResult(before if undo else loads.held, frozenset(), tuple)


def _keep_owned(spec: GroupSpec, loads: Loads) -> bool:
    """Step 1. Whether a member lost something because it does not subscribe to the topic any more."""
    topics = frozenset(spec.topics)
    owned = owned_partitions(spec.in_map_order, lambda member: [p for p in member.owned if p.topic in topics])
    must_revoke = False
    for member_id, partitions in owned.by_member.items():
        for partition in partitions:
            if loads.may_take(member_id, partition.topic):
                loads.give(partition, member_id)
            else:
                must_revoke = True
    return must_revoke


def _former_owners(spec: GroupSpec) -> dict[TopicPartition, str]:
    """Who reports each partition from an older generation; if there are several, the newest of them."""
    newest = max(map(generation_of, spec.members), default=UNKNOWN_GENERATION)
    former: dict[TopicPartition, str] = {}
    generations: dict[TopicPartition, int] = {}
    for member in spec.in_map_order:
        generation = generation_of(member)
        if generation == newest:
            continue
        for partition in member.owned:
            if partition not in former or generation > generations[partition]:
                former[partition], generations[partition] = member.member_id, generation
    return former


class _Balancing:
    """Step 3: the passes, with what they have moved so far."""

    def __init__(self, loads: Loads, former_owners: dict[TopicPartition, str], fix_defects: bool) -> None:
        self._loads = loads
        self._former_owners = former_owners
        self._fix_defects = fix_defects
        self._movements = Movements()

    def run(self, partitions: Iterable[TopicPartition]) -> bool:
        """Pass over those that can move at all until a pass moves nothing; whether anything was moved."""
        movable = [partition for partition in partitions if len(self._loads.users[partition.topic]) > 1]
        passes = 0
        while self._pass(movable):
            passes += 1
        return passes > 0

    def _pass(self, partitions: Sequence[TopicPartition]) -> bool:
        has_moved = False
        for partition in partitions:
            if self._loads.is_balanced():
                break
            taker = self._taker(partition)
            if taker is not None:
                self._move(partition, taker)
                has_moved = True
        return has_moved

    def _taker(self, partition: TopicPartition) -> str | None:
        """Who should have the partition instead of its owner, if anybody."""
        load = self._load_of(self._loads.owner[partition])
        former = self._former_owner(partition)
        if former is not None and load > self._load_of(former) + 1:
            return former
        lightest = self._loads.lightest(partition.topic)
        return lightest if load > self._load_of(lightest) + 1 else None

    def _former_owner(self, partition: TopicPartition) -> str | None:
        former = self._former_owners.get(partition)
        if former is None or (self._fix_defects and not self._loads.may_take(former, partition.topic)):
            return None
        if former in self._loads.aside:
            raise KafkaLearnError(
                f"Kafka's own assignor fails here with a NullPointerException: {former!r} reports {partition} from an "
                "older generation, does not subscribe to it, and was set aside; fix_defects=True ignores that report"
            )
        return former

    def _move(self, partition: TopicPartition, taker: str) -> None:
        moved = self._movements.instead_of(partition, self._loads.owner[partition], taker)
        owner = self._loads.owner[moved]
        self._movements.record(moved, owner, taker)
        self._loads.take(moved)
        self._loads.give(moved, taker)

    def _load_of(self, member_id: str) -> int:
        return len(self._loads.held[member_id])
