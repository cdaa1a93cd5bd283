"""Random rebalances: a group before and after one member leaves, joins, or changes its subscription.

Each is drawn from a number: the same number is the same rebalance in every run and on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from kafkalearn.arguments import LARGEST_LONG, whole_number
from kafkalearn.arguments import number as checked_number
from kafkalearn.assignor.group_spec import MOST_PARTITIONS
from kafkalearn.assignor.members import Member

MOST_MEMBERS = 10_000

CHANGES = ("leaves", "joins", "subscribes anew")
"""What may happen to one member."""


@dataclass(frozen=True, slots=True)
class Rebalance:
    """A group before and after one member did something."""

    what: str  # a name in CHANGES
    who: str  # the member that did it
    partition_counts: Mapping[str, int]
    before: tuple[Member, ...]
    after: tuple[Member, ...]

    @property
    def is_alike(self) -> bool:
        """Whether all members subscribe to the same topics, before and after."""
        return len({frozenset(member.topics) for member in (*self.before, *self.after)}) == 1


def random_rebalance(
    number: int, *, seed: int = 0, alike_share: float = 0.5, most_members: int = 12, most_partitions: int = 16
) -> Rebalance:
    """The random rebalance that belongs to a number.

    Parameters
    ----------
    number : int
        At least 0; each has a rebalance of its own.
    seed : int
        Another seed, other rebalances.
    alike_share : float
        The share of groups whose members all subscribe to the same topics; in the others each picks its own.
    most_members : int
        At least 2; groups have 2 to so many members.
    most_partitions : int
        At least 1; there are one to four topics, each with 1 to so many partitions.

    Examples
    --------
    >>> drawn = random_rebalance(7)
    >>> drawn.what, drawn.who, dict(drawn.partition_counts), len(drawn.before), len(drawn.after)
    ('leaves', 'm02', {'a': 11, 'b': 14}, 4, 3)
    >>> random_rebalance(7) == drawn
    True
    """
    whole_number("number", number, at_least=0)
    whole_number("seed", seed, at_least=-LARGEST_LONG)
    whole_number("most_members", most_members, at_least=2, at_most=MOST_MEMBERS)
    whole_number("most_partitions", most_partitions, at_least=1, at_most=MOST_PARTITIONS // 4)
    checked_number("alike_share", alike_share, at_least=0, at_most=1)
    random = Random(f"{seed}/{number}")
    counts = {topic: random.randint(1, most_partitions) for topic in "abcd"[: random.randint(1, 4)]}
    all_topics, is_alike = tuple(counts), random.random() < alike_share

    def topics() -> tuple[str, ...]:
        picked = all_topics if is_alike else [topic for topic in all_topics if random.random() < 0.5]
        return tuple(picked) or (random.choice(all_topics),)

    names = [f"m{place:02}" for place in range(random.randint(2, most_members))]
    before = tuple(Member(name, topics()) for name in names)
    what = random.choice(CHANGES[:2] if is_alike or len(all_topics) == 1 else CHANGES)
    if what == "joins":
        return Rebalance(what, "new", counts, before, (*before, Member("new", topics())))
    place = random.randrange(len(before))
    who = before[place].member_id
    rest = before[:place], before[place + 1 :]
    if what == "leaves":
        return Rebalance(what, who, counts, before, (*rest[0], *rest[1]))
    others = [topic for topic in all_topics if topic not in before[place].topics] or [random.choice(all_topics)]
    return Rebalance(what, who, counts, before, (*rest[0], Member(who, others), *rest[1]))
