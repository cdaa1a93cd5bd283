"""Sticky, when all members subscribe alike: keep what you have up to your quota, deal the rest in a circle.

With ``N`` members and ``total`` partitions everybody ends with ``low = total // N`` partitions or one more, and
exactly ``extra = total % N`` members have that one more. Three steps:

1. Each member keeps what it owns up to the quota. One that owns more than ``low`` may keep ``low + 1`` as long
   as fewer than ``extra`` members do.
2. Those with fewer than ``low`` are filled up in a circle, ordered by member id.
3. What is left goes, one each, to members that have exactly ``low``.

Inside, a partition is a number: ``partition * topic_count + place of its topic by name``. Sorted by number means
sorted by partition, then by topic, which is the order in which a member gives up what is too much; and a million
of them are quickly sorted and dealt.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import chain, filterfalse

from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.members import Member
from kafkalearn.assignor.sticky.owned import Owned, StickyResult, owned_partitions
from kafkalearn.java_collections import utf16_key
from kafkalearn.topic_partition import TopicPartition

_topic_partition = partial(tuple.__new__, TopicPartition)  # of a pair; without the call of a Python function


class _Numbering:
    """The partitions of the group's topics as numbers, and back."""

    def __init__(self, spec: GroupSpec) -> None:
        self.topics = sorted(spec.topics, key=utf16_key)
        self.counts = [spec.partition_counts[topic] for topic in self.topics]
        self.total = sum(self.counts)
        self._places = {topic: place for place, topic in enumerate(self.topics)}

    def of_member(self, member: Member) -> list[int]:
        """The numbers of what a member owns, as far as the topics are still there."""
        places, topic_count = self._places, len(self.topics)
        return [partition * topic_count + places[topic] for topic, partition in member.owned if topic in places]

    def all_but(self, taken: Set[int]) -> list[int]:
        """All numbers but those taken, by topic name and then partition."""
        topic_count = len(self.topics)
        numbers = chain.from_iterable(
            range(place, place + count * topic_count, topic_count) for place, count in enumerate(self.counts)
        )
        return list(filterfalse(taken.__contains__, numbers) if taken else numbers)

    def partitions(self, numbers: Sequence[int]) -> list[TopicPartition]:
        """The topic-partitions that the numbers stand for."""
        topics, topic_count = self.topics, len(self.topics)
        return list(
            map(_topic_partition, [(topics[number % topic_count], number // topic_count) for number in numbers])
        )


@dataclass(frozen=True, slots=True)
class _Kept:
    """The members after step 1."""

    held: dict[str, list[int]]
    under: list[str]  # hold fewer than low
    exact: list[str]  # hold exactly low, and may get one more
    given_up: set[int]


def sticky_uniform(spec: GroupSpec) -> StickyResult[int]:
    """The sticky assignment of a group whose members all subscribe to the same topics.

    Notes
    -----
    The number of partitions that change their owner is the smallest that balance allows.

    References
    ----------
    Apache Kafka 3.8 to 4.3, ``AbstractStickyAssignor.ConstrainedAssignmentBuilder``.
    """
    numbering = _Numbering(spec)
    owned = owned_partitions(spec.in_map_order, numbering.of_member)
    low, extra_count = divmod(numbering.total, len(spec.members))
    kept = _keep(owned, low, extra_count)
    free = numbering.all_but(set(chain.from_iterable(kept.held.values())))
    _deal(kept, free, low)
    # A member that gave something up is full, so another one gets it, which must wait until it is given up.
    return StickyResult(kept.held, owned.reported_twice | kept.given_up, numbering.partitions)


def _keep(owned: Owned[int], low: int, extra_count: int) -> _Kept:
    """Step 1: everybody keeps what the quota allows of what it owned."""
    kept = _Kept({}, [], [], set())
    over_count = 0
    for member_id, reported in owned.by_member.items():
        mine = sorted(filterfalse(owned.reported_twice.__contains__, reported))
        is_over = len(mine) > low and over_count < extra_count
        over_count += is_over
        if not is_over:
            (kept.under if len(mine) < low else kept.exact).append(member_id)
        kept.held[member_id] = mine[: low + is_over]
        kept.given_up.update(mine[low + is_over :])
    if over_count == extra_count:
        kept.exact.clear()
    return kept


def _deal(kept: _Kept, free: Sequence[int], low: int) -> None:
    """Steps 2 and 3: append the free partitions to what the members hold."""
    needs = {member_id: low - len(kept.held[member_id]) for member_id in sorted(kept.under, key=utf16_key)}
    next_members = sorted(kept.exact, key=utf16_key)
    start = 0
    while needs:
        # Whole rounds at once, until the first in the circle are full; it then goes on without them, and, as the
        # round is complete, from its beginning.
        round_count, circle_size = min(needs.values()), len(needs)
        end = start + round_count * circle_size
        for place, member_id in enumerate(needs):
            kept.held[member_id] += free[start + place : end : circle_size]
        next_members += [member_id for member_id, need in needs.items() if need == round_count]
        needs = {member_id: need - round_count for member_id, need in needs.items() if need > round_count}
        start = end
    for member_id, number in zip(next_members, free[start:], strict=False):
        kept.held[member_id].append(number)
