"""Plans for a cluster whose brokers change: as few copies as possible, or everything dealt out anew; and their time.

``kafka-reassign-partitions --generate`` deals a topic's replicas out anew over the brokers it is given, as if the topic
were created today: `deal_anew`. What is there already does not count. `move_least` begins with what is there: only what
must move does, away from brokers that go, out of a rack that has two replicas, onto brokers that hold too little. What
both copy, `kafkalearn.operations.leadership.moved_bytes` says; `copy_seconds` says how long that takes under a throttle
while producers write on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from kafkalearn.base.checks import LARGEST_INT
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.java import JavaRandom
from kafkalearn.operations.leadership import Moved, move_seconds
from kafkalearn.operations.placement import Broker, Placement, Replicas, brokers_of, place_striped, placement_of

__all__ = ["copy_seconds", "deal_anew", "move_least", "shared_rack_count"]


def deal_anew(placement: Placement, brokers: Sequence[Broker | int], seed: int = 0) -> Placement:
    """The replicas that ``--generate`` proposes: those of a topic that is created on these brokers.

    Parameters
    ----------
    placement : sequence of sequence of int
        The replicas of each partition as they are; only how many there are counts.
    brokers : sequence of Broker or int
        Those that are to hold replicas from now on.
    seed : int
        As in `kafkalearn.operations.reassignment.generate`: the same plan.

    Examples
    --------
    >>> deal_anew([(1, 2), (2, 1), (1, 2)], [2, 3, 4])
    ((3, 4), (4, 2), (2, 3))

    References
    ----------
    Apache Kafka 4.1 to 4.4, ``ReassignPartitionsCommand.generateAssignment``, ``StripedReplicaPlacer``.
    """
    kept = _kept(placement)
    return place_striped(brokers, len(kept), len(kept[0]), JavaRandom(seed).next_int(LARGEST_INT))


def move_least(placement: Placement, brokers: Sequence[Broker | int]) -> Placement:
    """The replicas of each partition on these brokers, with as few copies as a pass over the partitions finds.

    What lies on a broker that is not among `brokers` is placed anew. So is a replica whose rack holds another one of
    its partition, as long as a rack holds none. Then brokers that hold too much give to those that hold too little,
    where no rack is lost by it. Last, the order of lists is changed until each broker is preferred as leader of its
    share: that copies nothing.

    Parameters
    ----------
    placement : sequence of sequence of int
        The replicas of each partition as they are, all equally many.
    brokers : sequence of Broker or int
        Those that are to hold replicas from now on; all with a rack, or none.

    Returns
    -------
    tuple of tuple of int
        Where no rack stands in the way each broker holds as many replicas as the others, but for one.

    Raises
    ------
    KafkaLearnError
        If there is no partition, lists are not equally long, there are fewer brokers than replicas, or only some have a
        rack.

    Examples
    --------
    A third broker takes a third of what is there. A broker that goes leaves only what it had.

    >>> move_least([(1, 2), (2, 1), (1, 2)], [1, 2, 3])
    ((2, 3), (3, 1), (1, 2))
    >>> move_least([(1, 2), (2, 3), (3, 1)], [1, 2])
    ((1, 2), (2, 1), (2, 1))

    References
    ----------
    Ours; what tools beside Kafka do (Cruise Control, topicmappr). KIP-36 has the rule for racks.
    """
    kept = _kept(placement)
    plan = _Plan(kept, brokers_of(brokers))
    plan.mend()
    while plan.fill():
        pass
    return tuple(_leading([tuple(each) for each in plan.lists], list(plan.rack_of)))


def shared_rack_count(placement: Placement, racks: Mapping[int, str]) -> int:
    """How many partitions have two replicas in one rack: both are gone when its power is.

    >>> shared_rack_count([(1, 2), (1, 3)], {1: "a", 2: "a", 3: "b"})
    1
    """
    return sum(len({racks[each] for each in replicas}) < len(replicas) for replicas in placement)


def copy_seconds(moved: Sequence[Moved], written: Sequence[Moved], throttle_bytes_per_s: int) -> Fraction | None:
    """How long a plan takes if every broker sends and receives what its throttle allows, and producers write on.

    A new replica has to copy what is written meanwhile, too, under the same throttle: so each broker's throttle has to
    be more than what is written into the partitions that it receives, or sends.

    Parameters
    ----------
    moved : sequence of Moved
        What the plan copies: `kafkalearn.operations.leadership.moved_bytes`.
    written : sequence of Moved
        The same of what is written in a second: of the same plan, with bytes per second for sizes.
    throttle_bytes_per_s : int
        What ``--throttle`` is given, at least 1.

    Returns
    -------
    fractions.Fraction or None
        Seconds until the slowest broker is done; None: never.

    Examples
    --------
    >>> moved, written = [Moved(3, 1000, 0, 0), Moved(1, 0, 1000, 0)], [Moved(3, 4, 0, 0), Moved(1, 0, 4, 0)]
    >>> copy_seconds(moved, written, 24), copy_seconds(moved, written, 4)
    (Fraction(50, 1), None)

    References
    ----------
    KIP-73: the throttle has to be above what is written, else the copy makes no progress.
    """
    rate_of = {each.broker_id: each for each in written}
    slowest = Fraction(0)
    for each in moved:
        rate = rate_of.get(each.broker_id, Moved(each.broker_id, 0, 0, 0))
        for size, produced in ((each.in_bytes, rate.in_bytes), (each.out_bytes, rate.out_bytes)):
            seconds = move_seconds([Moved(each.broker_id, size, 0, 0)], throttle_bytes_per_s, produced)
            if seconds is None:
                return None
            slowest = max(slowest, seconds)
    return slowest


def _kept(placement: Placement) -> Placement:
    kept = placement_of("placement", placement)
    if len({len(replicas) for replicas in kept}) != 1 or not kept[0]:
        raise KafkaLearnError(
            f"placement must have at least one partition, all with equally many replicas, got {shown(placement)}"
        )
    return kept


class _Plan:
    """Lists of replicas that are changed one by one, and how many more replicas each broker is to hold than it does."""

    def __init__(self, kept: Placement, brokers: Sequence[Broker]) -> None:
        if len({each.rack is None for each in brokers}) > 1:
            raise KafkaLearnError("only some of the brokers have a rack; give each a rack, or none")
        if len(kept[0]) > len(brokers):
            raise KafkaLearnError(
                f"{len(kept[0])} replicas need as many brokers, there are {len(brokers)}; name more of them"
            )
        self.lists = [list(replicas) for replicas in kept]
        self.rack_of = {each.id: str(each.rack or "") for each in sorted(brokers, key=lambda each: each.id)}
        self.most_racks = min(len(kept[0]), len({*self.rack_of.values()}))
        held = Counter(each for replicas in kept for each in replicas)
        self.lacks = {each: wanted - held[each] for each, wanted in self._wanted(held).items()}

    def _wanted(self, held: Counter[int]) -> dict[int, int]:
        """How many replicas each broker is to hold: its share, with one of a partition in a rack if racks suffice."""
        left, partition_count, racks = sum(map(len, self.lists)), len(self.lists), {*self.rack_of.values()}
        room = dict.fromkeys(racks, partition_count if len(racks) * partition_count >= left else left)
        wanted = dict.fromkeys(sorted(self.rack_of, key=lambda each: (-held[each], each)), 0)
        while left:
            having = Counter(self.rack_of[each] for each in wanted if room[self.rack_of[each]])
            more = min(left // having.total(), *(room[rack] // count for rack, count in having.items()))
            for each in wanted:
                given = min(max(more, 1), left, room[self.rack_of[each]])
                wanted[each] += given
                room[self.rack_of[each]] -= given
                left -= given
        return wanted

    def put(self, replicas: list[int], place: int, broker_id: int) -> None:
        """Another broker takes this place in a list."""
        if replicas[place] in self.lacks:
            self.lacks[replicas[place]] += 1
        self.lacks[broker_id] -= 1
        replicas[place] = broker_id

    def mend(self) -> None:
        """Place anew what lies on brokers that go, and one replica of two in a rack while another rack has none."""
        rack_of, most = self.rack_of, self.most_racks
        for replicas in self.lists:
            racks = [rack_of.get(each) for each in replicas]
            if len({*racks}) >= most and None not in racks:
                continue
            for place, rack in enumerate(racks):
                if rack is None:
                    self.put(replicas, place, self._best(replicas, place))
            for _ in range(most - len({rack_of[each] for each in replicas})):
                racks = [rack_of[each] for each in replicas]
                twice = [place for place, rack in enumerate(racks) if racks.count(rack) > 1]
                place = min(twice, key=lambda place: (self.lacks[replicas[place]], -place))
                self.put(replicas, place, self._best(replicas, place))

    def _best(self, replicas: list[int], place: int) -> int:
        """Who lacks most, of racks that hold none of the others if there is one."""
        others = {self.rack_of.get(each) for at, each in enumerate(replicas) if at != place}
        free = [each for each in self.rack_of if each not in replicas]
        apart = [each for each in free if self.rack_of[each] not in others]
        return max(apart or free, key=self.lacks.__getitem__)

    def fill(self) -> bool:
        """Let brokers that hold too much give to those that hold too little; whether anything was given."""
        takers, has_given = [each for each, count in self.lacks.items() if count > 0], False
        for replicas in self.lists:
            for place, giver in enumerate(replicas):
                if not takers:
                    return False
                if self.lacks[giver] >= 0:
                    continue
                fit = [each for each in takers if self._may_take(replicas, place, each)]
                if fit:
                    taker = max(fit, key=self.lacks.__getitem__)
                    self.put(replicas, place, taker)
                    has_given = True
                    if not self.lacks[taker]:
                        takers.remove(taker)
        return has_given

    def _may_take(self, replicas: list[int], place: int, taker: int) -> bool:
        if taker in replicas:
            return False
        others = {self.rack_of[each] for at, each in enumerate(replicas) if at != place}
        return self.rack_of[replicas[place]] in others or self.rack_of[taker] not in others


def _leading(lists: Sequence[Replicas], broker_ids: Sequence[int]) -> Iterator[Replicas]:
    """The same replicas, with another one first where a broker would be preferred more often than its share."""
    share = -(-len(lists) // len(broker_ids))
    preferred = Counter(replicas[0] for replicas in lists)
    for replicas in lists:
        first = min(replicas, key=lambda each: (preferred[each], each))
        if preferred[replicas[0]] <= share or preferred[first] >= share:
            yield replicas
            continue
        preferred[replicas[0]] -= 1
        preferred[first] += 1
        yield (first, *(each for each in replicas if each != first))
