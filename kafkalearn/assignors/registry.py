"""The assignors by side and name, `assign`, which runs one of them, and what leads from one rebalance to the next.

`rejoin` is what members report, `cooperative_rounds` the rounds of a cooperative group, `compare` puts assignors side
by side.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypedDict

from kafkalearn.assignors.laws import change, fewest_moves, load
from kafkalearn.assignors.members import Assignment, GroupSpec, Member, OldConsumer
from kafkalearn.assignors.range_round_robin import (
    assign_legacy_range,
    assign_legacy_round_robin,
    assign_range,
    assign_round_robin,
    assign_server_range,
)
from kafkalearn.assignors.sticky import assign_cooperative_sticky, assign_sticky, generation_of
from kafkalearn.assignors.uniform import assign_uniform
from kafkalearn.base.checks import iterable, one_of
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.java import utf16_key
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.releases.lines import DEFAULT_RELEASE, Release, at_least, parse_release, release_line


@dataclass(frozen=True, slots=True)
class Assignor:
    """What is known of an assignor before it runs."""

    rule: Callable[[GroupSpec], Assignment]
    since: str  # the first release whose rules these are
    until: str  # the last release line that has it
    balance: str  # what it promises: a name in kafkalearn.assignors.laws.BALANCES


CLIENT_ASSIGNORS: MappingProxyType[str, Assignor] = MappingProxyType(
    {
        "range": Assignor(assign_range, "0.9.0", DEFAULT_RELEASE, "each topic"),
        "roundrobin": Assignor(assign_round_robin, "0.9.0", DEFAULT_RELEASE, "if alike"),
        "sticky": Assignor(assign_sticky, "3.8", DEFAULT_RELEASE, "group"),
        "cooperative-sticky": Assignor(assign_cooperative_sticky, "3.8", DEFAULT_RELEASE, "group"),
    }
)
"""Those that run in the client that leads the group, by the names that ``partition.assignment.strategy`` stands for."""

BROKER_ASSIGNORS: MappingProxyType[str, Assignor] = MappingProxyType(
    {
        "uniform": Assignor(assign_uniform, "4.0", DEFAULT_RELEASE, "group"),
        "range": Assignor(assign_server_range, "4.0", DEFAULT_RELEASE, "each topic"),
    }
)
"""Those that run in the broker (KIP-848), by the names that clients give in ``group.remote.assignor``."""

OLD_CONSUMER_ASSIGNORS: MappingProxyType[str, Assignor] = MappingProxyType(
    {
        "range": Assignor(assign_legacy_range, "0.8.2", "1.1", "each topic"),
        "roundrobin": Assignor(assign_legacy_round_robin, "0.8.2", "1.1", "if alike"),
    }
)
"""Those that every consumer ran for itself before there was a coordinator."""

ASSIGNORS: MappingProxyType[str, MappingProxyType[str, Assignor]] = MappingProxyType(
    {"client": CLIENT_ASSIGNORS, "broker": BROKER_ASSIGNORS, "old-consumer": OLD_CONSUMER_ASSIGNORS}
)
"""All assignors: by the side that runs them, then by Kafka's name. ``range`` is the name of three."""

_WITHOUT_SIDE = {**CLIENT_ASSIGNORS, **BROKER_ASSIGNORS, **CLIENT_ASSIGNORS}  # a name of both means the client's


def find_assignor(assignor: str, side: str | None = None) -> Assignor:
    """The assignor of a name.

    Parameters
    ----------
    assignor : str
        Kafka's own name.
    side : str or None
        A key of `ASSIGNORS`. None: the client's, or the broker's if no client has one of that name.

    Raises
    ------
    KafkaLearnError
        If the side has no such assignor, or there is no such side; the nearest names are given.

    Examples
    --------
    >>> find_assignor("uniform").since, find_assignor("range").since, find_assignor("range", side="broker").since
    ('4.0', '0.9.0', '4.0')
    """
    known = _WITHOUT_SIDE if side is None else ASSIGNORS[one_of("side", side, ASSIGNORS)]
    return known[one_of("assignor" if side is None else f"assignor of the {side}", assignor, known)]


def assign(
    assignor: str,
    partition_counts: Mapping[str, int],
    members: Sequence[Member] | Sequence[OldConsumer],
    *,
    side: str | None = None,
    release: str | Release | None = None,
    topic_ids: Mapping[str, str] | None = None,
    fix_defects: bool = False,
    replica_racks: Mapping[str, Sequence[Collection[str]]] | None = None,
) -> Assignment:
    """Who gets which partition: Kafka's own answer, in the order of Kafka's own lists.

    Parameters
    ----------
    assignor : str
        Kafka's name of it: ``"range"``, ``"roundrobin"``, ``"sticky"``, ``"cooperative-sticky"``, ``"uniform"``.
    partition_counts : mapping of str to int
        The partitions of each topic. A topic that is subscribed but not here, or has none, is left out.
    members : sequence of Member; of OldConsumer on the side of the old consumer
        In the order in which the coordinator lists them; where two ids share a bucket of a map, it shows.
    side : str or None
        Who assigns: ``"client"``, ``"broker"`` or ``"old-consumer"``, as in `find_assignor`. It matters for
        ``range`` and ``roundrobin``, which more than one side has.
    release : str or Release
        Of the code that assigns; without one the newest that has the assignor. It matters for ``uniform`` (another
        rule up to 4.0.0), static members (up to 2.3 sorted like all others) and the round robin of the old consumer.
    topic_ids : mapping of str to str, optional
        The topics' ids as Kafka prints them. ``uniform`` walks topics by id; without ids it is as if they had
        ids that are walked in the order of `partition_counts`.
    fix_defects : bool
        True: without the known defects of Kafka's sticky assignors; see `kafkalearn.assignors.sticky`.
    replica_racks : mapping of str to sequence of collections of str, optional
        For each topic the racks of each partition's replicas, partition 0 first. ``range`` and the sticky assignors
        of the client look at them since 3.5, if members name a rack; all others do not, as in Kafka.

    Returns
    -------
    Assignment
        A mapping of each member (or thread) to its topic-partitions. A group without members gets an empty one.

    Raises
    ------
    KafkaLearnError
        If the assignor is unknown (the nearest names are given), the release did not have it, or no coordinator
        could form such a group (it says why).

    Examples
    --------
    >>> shop = {"orders": 4, "clicks": 3}
    >>> members = [Member("C0", ["orders", "clicks"]), Member("C1", ["orders", "clicks"])]
    >>> for assignor in ("range", "roundrobin", "sticky", "uniform"):
    ...     print(assignor, assign(assignor, shop, members).counts())
    range {'C0': 4, 'C1': 3}
    roundrobin {'C0': 4, 'C1': 3}
    sticky {'C0': 4, 'C1': 3}
    uniform {'C0': 3, 'C1': 4}
    >>> assign("stiky", shop, members)
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: unknown assignor 'stiky'; did you mean 'sticky'? Known: 'range', \
'roundrobin', 'sticky', 'cooperative-sticky', 'uniform'

    References
    ----------
    Apache Kafka, ``ConsumerPartitionAssignor`` and (KIP-848) ``ConsumerGroupPartitionAssignor``.
    """
    chosen = find_assignor(assignor, side)
    release = chosen.until if release is None else release
    if not at_least(chosen.since, release) or parse_release(release_line(release)) > parse_release(chosen.until):
        raise KafkaLearnError(
            f"{assignor} is modelled as it is from Kafka {chosen.since} to {chosen.until}, got release {release!s}"
        )
    given = tuple(iterable("members", members, of="members"))
    old_consumers = tuple(each for each in given if isinstance(each, OldConsumer))
    others = tuple(each for each in given if not isinstance(each, OldConsumer))
    spec = GroupSpec(
        partition_counts,
        others,
        release,
        topic_ids,
        fix_defects,
        old_consumers=old_consumers,
        replica_racks=replica_racks,
    )
    if side == "old-consumer" and others:
        raise KafkaLearnError(f"{assignor} assigns to OldConsumer objects, got {shown(others[0])}")
    if side != "old-consumer" and old_consumers:
        hint = 'side="old-consumer" has the assignors for these'
        raise KafkaLearnError(f"{assignor} assigns to Member objects, got {shown(old_consumers[0])}; {hint}")
    return chosen.rule(spec) if given else Assignment({})


# From one rebalance to the next.


def rejoin(
    assignor: str, members: Iterable[Member], assignment: Mapping[str, Sequence[TopicPartition]], generation: int
) -> tuple[Member, ...]:
    """The members as they join the next rebalance, each reporting what it was assigned in this one.

    Parameters
    ----------
    assignor : str
        A cooperative client reports its partitions sorted, without those of topics that it no longer subscribes to:
        it gives them up before it joins. The others leave them as they are.
    members : iterable of Member
        Those in the group now. A new one, that is not in `assignment`, stays as it is.
    assignment : Assignment
        The last one.
    generation : int
        Of the group then.

    Examples
    --------
    >>> members = [Member("C0", ["t"]), Member("C1", ["t"])]
    >>> first = assign("sticky", {"t": 4}, members)
    >>> second = assign("sticky", {"t": 4}, rejoin("sticky", members[:1], first, generation=1))
    >>> print(second)
    C0: t-0 t-2 t-1 t-3
    """
    find_assignor(assignor)  # refuses an unknown one
    return tuple(
        replace(member, owned=_reported(assignor, member, assignment[member.member_id]), generation=generation)
        if member.member_id in assignment
        else member
        for member in members
    )


def _reported(assignor: str, member: Member, owned: Sequence[TopicPartition]) -> tuple[TopicPartition, ...]:
    if assignor != "cooperative-sticky":
        return tuple(owned)
    keys = {topic: utf16_key(topic) for topic in member.topics}
    kept = [partition for partition in owned if partition.topic in keys]
    return tuple(sorted(kept, key=lambda partition: (keys[partition.topic], partition.partition)))


@dataclass(frozen=True, slots=True)
class Round:
    """One rebalance of a cooperative group."""

    members: tuple[Member, ...]  # as they joined, with what they reported
    assignment: Assignment

    def revoked(self) -> dict[str, tuple[TopicPartition, ...]]:
        """What each member has to give up, without those that give up nothing."""
        gone = {each.member_id: set(each.owned) - set(self.assignment[each.member_id]) for each in self.members}
        return {member_id: tuple(sorted(partitions)) for member_id, partitions in gone.items() if partitions}


def cooperative_rounds(
    partition_counts: Mapping[str, int],
    members: Iterable[Member],
    replica_racks: Mapping[str, Sequence[Collection[str]]] | None = None,
) -> tuple[Round, ...]:
    """The rebalances of a cooperative-sticky group until nobody has to give anything up.

    A member that gives something up joins again, so that another round follows; a partition that is to move belongs
    to nobody in the first round. What does not move is read all the time. There are one or two rounds; with
    different subscriptions, now and then three. What a member no longer subscribes to it has given up before the first
    round, which may assign it to another one at once.

    Examples
    --------
    >>> C0 = Member("C0", ["t"], owned=[("t", 0), ("t", 1)], generation=1)
    >>> for each in cooperative_rounds({"t": 2}, [C0, Member("C1", ["t"])]):
    ...     print(each.assignment, each.revoked())
    C0: t-0
    C1: none {'C0': (TopicPartition(topic='t', partition=1),)}
    C0: t-0
    C1: t-1 {}
    """
    members = tuple(
        replace(each, owned=tuple(partition for partition in each.owned if partition.topic in each.topics))
        for each in members
    )
    generation = max(map(generation_of, members), default=0)

    def assigned() -> Assignment:
        return assign("cooperative-sticky", partition_counts, members, replica_racks=replica_racks)

    rounds = [Round(members, assigned())]
    while rounds[-1].revoked():
        generation += 1
        members = rejoin("cooperative-sticky", members, rounds[-1].assignment, generation)
        rounds.append(Round(members, assigned()))
    return tuple(rounds)


Costs = TypedDict(
    "Costs",
    {
        "assignor": str,
        "moved": int,
        "fewest": int,
        "revoked, eager": int,
        "revoked, cooperative": int,
        "spread": int,
    },
)
"""What a rebalance costs by one assignor: a row of `compare`."""


def compare(
    assignors: Iterable[str], partition_counts: Mapping[str, int], before: Sequence[Member], after: Sequence[Member]
) -> list[Costs]:
    """A row for each assignor: what the rebalance costs when the members `before` become the members `after`.

    Examples
    --------
    >>> from kafkalearn.base.tables import text_table
    >>> ten = [Member(f"m{number:02}", ["t"]) for number in range(10)]
    >>> nine = [member for member in ten if member.member_id != "m03"]
    >>> print(text_table(compare(["range", "roundrobin", "sticky"], {"t": 50}, ten, nine)))
    assignor    moved  fewest  revoked, eager  revoked, cooperative  spread
    range       9      5       50              9                     1
    roundrobin  47     5       50              47                    1
    sticky      5      5       50              5                     1
    """
    rows: list[Costs] = []
    for assignor in iterable("assignors", assignors, of="names"):
        first = settled(assignor, partition_counts, before)
        second = settled(assignor, partition_counts, rejoin(assignor, after, first, generation=1))
        moved = change(first, second)
        rows.append(
            {
                "assignor": assignor,
                "moved": moved.moved_count,
                "fewest": fewest_moves(first, partition_counts, after),
                "revoked, eager": moved.revoked_count("eager"),
                "revoked, cooperative": moved.revoked_count("cooperative"),
                "spread": load(second).spread,
            }
        )
    return rows


def settled(assignor: str, partition_counts: Mapping[str, int], members: Sequence[Member]) -> Assignment:
    """The assignment with which a group settles: the assignor's, or of a cooperative group that of its last round."""
    if assignor == "cooperative-sticky":
        return cooperative_rounds(partition_counts, members)[-1].assignment
    return assign(assignor, partition_counts, members)
