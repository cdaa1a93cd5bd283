"""An assignor of your own judged by the laws, on generated groups; and random rebalances.

`random_rebalance` draws a group before and after one member leaves, joins, or changes its subscription, from a number:
the same number is the same rebalance in every run and on every machine.

`judge_assignor` tries all groups with few partitions and few members, from the smallest on, and then some larger ones.
So the first group that fails is a small one, and can be worked through by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from random import Random
from typing import Any

from kafkalearn.assignors.laws import BALANCES, BrokenLaw, broken_laws, change, fewest_moves
from kafkalearn.assignors.members import MOST_PARTITIONS, Assignment, Member, partitions_text
from kafkalearn.assignors.registry import rejoin
from kafkalearn.base import checks
from kafkalearn.base.errors import KafkaLearnError, counted, shown
from kafkalearn.base.topic_partition import TopicPartition

# Random rebalances.

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
    checks.whole_number("number", number, at_least=0)
    checks.whole_number("seed", seed, at_least=-checks.LARGEST_LONG)
    checks.whole_number("most_members", most_members, at_least=2, at_most=MOST_MEMBERS)
    checks.whole_number("most_partitions", most_partitions, at_least=1, at_most=MOST_PARTITIONS // 4)
    checks.number("alike_share", alike_share, at_least=0, at_most=1)
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
    who, had = before[place].member_id, before[place].topics
    changed: tuple[Member, ...] = ()
    if what != "leaves":
        others = [topic for topic in all_topics if topic not in had] or [random.choice(all_topics)]
        changed = (Member(who, others),)
    return Rebalance(what, who, counts, before, (*before[:place], *changed, *before[place + 1 :]))


# An assignor judged.

AssignorFunction = Callable[[Mapping[str, int], Sequence[Member]], Mapping[str, Iterable[tuple[str, int]]]]
Answer = Mapping[str, Iterable[object]]  # what the function really gave: it may be anything
Broken = tuple[tuple[BrokenLaw, ...], Answer | None]

MOST_SMALL = 6  # partitions and members together, of the groups that are tried without exception
LARGER_COUNT = 60


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether an assignor keeps the laws, and if not, where it breaks one."""

    group_count: int  # groups tried, the one that failed included
    partition_counts: Mapping[str, int] | None = None  # of the smallest group that fails; None: none failed
    members: tuple[Member, ...] = ()
    broken: tuple[BrokenLaw, ...] = ()
    answer: Answer | None = None  # what the assignor gave there

    @property
    def keeps_the_laws(self) -> bool:
        """Whether no group failed."""
        return not self.broken

    def __bool__(self) -> bool:
        """True if it keeps the laws."""
        return self.keeps_the_laws

    def __str__(self) -> str:
        """The result in words, with the counter-example."""
        if self.partition_counts is None:
            return f"It keeps the laws in all {self.group_count} groups."
        topics = (f"{topic} with {counted(count, 'partition')}" for topic, count in self.partition_counts.items())
        lines = [
            f"It breaks a law in group {self.group_count}, the smallest that fails: {self.broken[0]}.",
            f"topics: {', '.join(topics)}",
            *map(_member_words, self.members),
        ]
        if self.answer is not None:
            given = [f"  {member_id}: {_shown(owned)}" for member_id, owned in self.answer.items()]
            lines += ["it gives", *given] if given else ["it gives nothing to anybody"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        """The words: a notebook shows it so."""
        return str(self)


def judge_assignor(assignor: AssignorFunction, promise: str = "group", is_sticky: bool = False) -> Judgement:
    """Whether an assignor keeps the laws, and if not, the smallest group in which it does not.

    Parameters
    ----------
    assignor : callable
        ``assignor(partition_counts, members)`` gets a dict of topic to number of partitions, and a list of `Member`;
        it returns a dict of member id to a list of ``(topic, partition)``. A member it leaves out has nothing.
    promise : str
        A name in `kafkalearn.assignors.laws.BALANCES`: how even the assignment must be.
    is_sticky : bool
        True: each group is assigned once more, with one member gone and the others reporting what they own; no more
        partitions may move than must. Only groups whose members subscribe alike are tried for that.

    Returns
    -------
    Judgement
        True in ``if`` and ``assert`` if it keeps them; `print` shows the counter-example.

    Raises
    ------
    KafkaLearnError
        If the promise is not known, or `assignor` is not a function. What the function itself raises is a law broken.

    Examples
    --------
    >>> def all_to_the_first(partition_counts, members):
    ...     everything = [(topic, n) for topic, count in partition_counts.items() for n in range(count)]
    ...     return {members[0].member_id: everything}
    >>> print(judge_assignor(all_to_the_first))
    It breaks a law in group 9, the smallest that fails: not balanced: m0 has 2 and m1 has 0; a-0 can move.
    topics: a with 2 partitions
    m0 subscribes to a
    m1 subscribes to a
    it gives
      m0: a-0 a-1
    >>> from kafkalearn.assignors import assign
    >>> print(judge_assignor(lambda counts, members: assign("roundrobin", counts, members), promise="if alike"))
    It keeps the laws in all 655 groups.
    """
    checks.one_of("promise", promise, BALANCES)
    if not callable(assignor):
        raise KafkaLearnError(f"assignor must be a function of partition_counts and members, got {shown(assignor)}")
    for count, (counts, members) in enumerate(judged_groups(), start=1):
        if broken := _judge(assignor, counts, members, promise):
            return Judgement(count, counts, members, *broken)
        if is_sticky and len({member.topics for member in members}) == 1:
            for group, broken in _judge_changes(assignor, counts, members, promise):
                return Judgement(count, counts, group, *broken)
    return Judgement(len(judged_groups()))


def _judge(
    assignor: AssignorFunction, counts: dict[str, int], members: Sequence[Member], promise: str
) -> Broken | None:
    """The laws that its answer breaks, and the answer; None if there are none."""
    answer = None
    try:
        answer = assignor(dict(counts), list(members))
        if not isinstance(answer, Mapping):
            words = f"it must give a dict of member id to a list of (topic, partition), it gives {answer!r}"
            return (BrokenLaw("an assignment", words),), None
        assignment = Assignment({member_id: _pairs(owned) for member_id, owned in answer.items()})
    except Exception as error:  # whatever a student's function does is the thing to explain
        is_shown = isinstance(answer, Mapping) and all(isinstance(owned, (list, tuple)) for owned in answer.values())
        law = BrokenLaw("an assignment", f"it ends with {type(error).__name__}: {error}")
        return (law,), answer if is_shown else None
    strangers = sorted(set(assignment) - {member.member_id for member in members})
    if strangers:
        return (BrokenLaw("an assignment", f"{strangers[0]!r} is no member of the group"),), answer
    broken = broken_laws(counts, members, assignment, promise)
    return (broken, answer) if broken else None


def _judge_changes(
    assignor: AssignorFunction, counts: dict[str, int], members: Sequence[Member], promise: str
) -> Iterator[tuple[tuple[Member, ...], Broken]]:
    """For each member that may leave: the group without it, and what the answer for that group breaks."""
    first = _assignment(assignor, counts, members)
    for gone in members if len(members) > 1 else ():
        asking = rejoin("sticky", [each for each in members if each is not gone], first, generation=1)
        if broken := _judge(assignor, counts, asking, promise):
            yield asking, broken
            continue
        second = _assignment(assignor, counts, asking)
        moved, fewest = change(first, second).moved_count, fewest_moves(first, counts, asking)
        if moved > fewest:
            words = f"{gone.member_id} has left, and {moved} partitions moved where {fewest} would do"
            yield asking, ((BrokenLaw("sticky", words),), second)


def _assignment(assignor: AssignorFunction, counts: dict[str, int], members: Sequence[Member]) -> Assignment:
    answer = assignor(dict(counts), list(members))
    return Assignment({each.member_id: _pairs(answer.get(each.member_id, ())) for each in members})


@cache
def judged_groups() -> tuple[tuple[dict[str, int], tuple[Member, ...]], ...]:
    """The groups in the order in which they are tried."""
    small = [group for size in range(2, MOST_SMALL + 1) for group in _small_groups(size)]
    drawn = [random_rebalance(number, seed=7) for number in range(LARGER_COUNT)]
    larger = sorted(map(_with_subscribed_topics, drawn), key=lambda group: sum(group[0].values()) + len(group[1]))
    return (*small, *larger)


def _with_subscribed_topics(drawn: Rebalance) -> tuple[dict[str, int], tuple[Member, ...]]:
    """Its group before; as in Kafka, an assignor sees only the topics that somebody subscribes to."""
    subscribed = {topic for member in drawn.before for topic in member.topics}
    return {topic: count for topic, count in drawn.partition_counts.items() if topic in subscribed}, drawn.before


def _small_groups(size: int) -> Iterator[tuple[dict[str, int], tuple[Member, ...]]]:
    """All groups of so many partitions and members together: one to three topics, one to four members."""
    for member_count in range(1, min(size - 1, 4) + 1):
        for topic_count in range(1, min(size - member_count, 3) + 1):
            topics = "abc"[:topic_count]
            for counts in _sums(size - member_count, topic_count):
                for taken in product(_subscriptions(topics), repeat=member_count):
                    if {topic for topics_of_one in taken for topic in topics_of_one} == set(topics):
                        members = tuple(Member(f"m{at}", names) for at, names in enumerate(taken))
                        yield dict(zip(topics, counts, strict=True)), members


def _subscriptions(topics: str) -> list[tuple[str, ...]]:
    """Every choice of at least one topic, all of them first: groups that subscribe alike come early."""
    return [names for count in range(len(topics), 0, -1) for names in combinations(topics, count)]


def _sums(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to write `total` as so many numbers of at least 1."""
    if parts == 1:
        yield (total,)
        return
    for first in range(1, total - parts + 2):
        for rest in _sums(total - first, parts - 1):
            yield (first, *rest)


def _pairs(owned: Iterable[Any]) -> list[TopicPartition]:
    if isinstance(owned, str):
        raise KafkaLearnError(
            f"a member's partitions must be a list of (topic, partition), got the text {shown(owned)}"
        )
    owned = list(owned)
    if wrong := [each for each in owned if not (isinstance(each, (tuple, list)) and len(each) == 2)]:
        raise KafkaLearnError(f"a member's partitions must be pairs such as ('a', 0), got {shown(wrong[0])}")
    return [TopicPartition(topic, partition) for topic, partition in owned]


def _shown(owned: Iterable[object]) -> str:
    try:
        return partitions_text(_pairs(owned))
    except (KafkaLearnError, TypeError):
        return " ".join(map(str, owned)) or "none"


def _member_words(member: Member) -> str:
    had = f", had {partitions_text(member.owned)}" if member.owned else ""
    return f"{member.member_id} subscribes to {', '.join(member.topics)}{had}"
