"""How many consumers a group needs to catch up in a given time: from two looks, the rates of writing and reading."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from itertools import accumulate
from math import ceil, inf
from typing import TYPE_CHECKING

from kafkalearn.base.errors import KafkaLearnError, counted, shown
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.oncall.answer import Outcome, lasting, wrapped
from kafkalearn.oncall.lag_looks import Look, Seen

if TYPE_CHECKING:
    from kafkalearn.oncall.shapes import CatchUpData

_UNITS_S = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_TIME = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(|s|m|min|h)")
MOST_S = 30 * 24 * 3600.0
UNEVEN = 2.0  # so many times an even share of the work
MOST_NAMED = 3


def seconds_of(written: str) -> float:
    """A time as it is written in a shell.

    >>> seconds_of("10m"), seconds_of("90"), seconds_of("1.5h"), seconds_of("30 s")
    (600.0, 90.0, 5400.0, 30.0)

    Raises
    ------
    KafkaLearnError
        If it is none, or not above 0.
    """
    found = _TIME.fullmatch(written.strip())
    length_s = float(found[1]) * _UNITS_S[found[2]] if found else 0.0
    if not 0 < length_s <= MOST_S:
        raise KafkaLearnError(f"{shown(written)} is no time to catch up in: give 90s, 10m or 2h, at most 30 days")
    return length_s


# The rule: what a member can do, and what the members of a group have to do.


@dataclass(frozen=True, slots=True)
class Flow:
    """What two looks show of one partition; the rates are records a second."""

    at: TopicPartition
    member: str | None
    lag: int
    written: float
    read: float
    has_work: bool = False  # more waited at the first look than was read until the second: its member never ran out


def takes_s(flows: Sequence[Flow], speed: float, members: int) -> float:
    """How long it takes at most until nothing waits, if so many members share the partitions.

    Members read `speed` records a second each, as long as anything waits in their partitions. Kafka's assignors give
    each as many partitions as the others, give or take one: of all together (``uniform``, ``sticky``, ``roundrobin``),
    or of each topic (``range``). Which ones a member gets is not up to anybody, so the time is that of the member that
    is worst off. It is `inf` where more is written than read.

    >>> orders = [Flow(TopicPartition("orders", number), None, 600, 10.0, 0.0) for number in range(4)]
    >>> takes_s(orders, 50.0, 1), takes_s(orders, 50.0, 2), takes_s(orders, 50.0, 4), takes_s(orders, 10.0, 4)
    (240.0, 40.0, 15.0, inf)
    """
    return max(_worst_s([(part, ceil(len(part) / members)) for part in parts], speed) for parts in _dealt_evenly(flows))


def _dealt_evenly(flows: Sequence[Flow]) -> list[list[list[Flow]]]:
    """The ways to deal partitions out, each with the parts that are dealt evenly: all at once, and topic by topic."""
    by_topic: dict[str, list[Flow]] = {}
    for each in flows:
        by_topic.setdefault(each.at.topic, []).append(each)
    return [[list(flows)], [*by_topic.values()]][: min(2, len(by_topic))]


def _worst_s(parts: Sequence[tuple[list[Flow], int]], speed: float) -> float:
    """The longest time that a member with so many of each part can need.

    It has L records before it and W more each second, and is done after ``L / (speed - W)``: the greatest of such
    quotients, found by asking again and again who has most to do within the time that was found last (Dinkelbach).
    """
    heaviest = [each for part, count in parts for each in nlargest(count, part, key=lambda flow: flow.written)]
    if sum(each.written for each in heaviest) > speed:
        return inf
    time_s = 0.0
    while True:
        worst = [
            each
            for part, count in parts
            for each in nlargest(count, part, key=lambda flow: flow.lag + time_s * flow.written)
        ]
        needed_s = alone_s(worst, speed)
        if needed_s <= time_s or needed_s == inf:
            return needed_s
        time_s = needed_s


def alone_s(flows: Iterable[Flow], speed: float) -> float:
    """How long one member needs for its partitions.

    >>> alone_s([Flow(TopicPartition("orders", 0), None, 600, 10.0, 0.0)], 50.0)
    15.0
    """
    mine = list(flows)
    waiting, spare = sum(each.lag for each in mine), speed - sum(each.written for each in mine)
    if spare <= 0:
        return inf if waiting or spare < 0 else 0.0
    return waiting / spare


def members_for(flows: Sequence[Flow], speed: float, wanted_s: float) -> int | None:
    """The fewest members that catch up in a time, whoever gets what; None: no number does.

    >>> orders = [Flow(TopicPartition("orders", number), None, 600, 10.0, 0.0) for number in range(4)]
    >>> members_for(orders, 50.0, 60), members_for(orders, 50.0, 15), members_for(orders, 50.0, 14)
    (2, 4, None)
    """
    work = [  # within the time, of the so many partitions that have most of it
        [[*accumulate(sorted((each.lag + wanted_s * each.written for each in part), reverse=True))] for part in parts]
        for parts in _dealt_evenly(flows)
    ]

    def is_enough(members: int) -> bool:
        return all(sum(most[ceil(len(most) / members) - 1] for most in way) <= speed * wanted_s for way in work)

    count = max(1, len(flows))
    return 1 + bisect_left(range(1, count), True, key=is_enough) if is_enough(count) else None


# Two looks, and what they show.


@dataclass(frozen=True)
class CatchUp:
    """Whether a group catches up in a time, and how many members it needs for it."""

    group: str
    wanted_s: float
    flows: tuple[Flow, ...]
    speed: float | None  # records a second that a member reads, as far as the looks show it
    why_not: str | None = None  # why it cannot be told

    @cached_property
    def members(self) -> dict[str, tuple[Flow, ...]]:
        """The partitions of each member."""
        found: dict[str, list[Flow]] = {}
        for each in self.flows:
            if each.member is not None:
                found.setdefault(each.member, []).append(each)
        return {name: tuple(mine) for name, mine in found.items()}

    @cached_property
    def now_s(self) -> float | None:
        """How long it takes with the members there are, each as fast as it was; None: not known."""
        if self.speed is None:
            return None if self.why_not else 0.0
        left = [each for each in self.flows if each.member is None and (each.lag or each.written)]
        speeds = {name: speed for name, speed in _speeds(self.members).items() if speed is not None}
        return inf if left else max(alone_s(mine, speeds.get(name, self.speed)) for name, mine in self.members.items())

    @cached_property
    def needed(self) -> int | None:
        """The fewest members that make it in the time; None: no number does, or it is not known."""
        return None if self.speed is None else members_for(self.flows, self.speed, self.wanted_s)

    @cached_property
    def takes_s(self) -> float | None:
        """How long it takes with those, or with one for each partition if no number is enough."""
        return None if self.speed is None else takes_s(self.flows, self.speed, self.needed or len(self.flows))

    @cached_property
    def uneven(self) -> tuple[tuple[TopicPartition, float], ...]:
        """The partitions with far more than an even share of the work, and their shares; the largest first."""
        work = {each.at: each.lag + self.wanted_s * each.written for each in self.flows}
        total = sum(work.values())
        found = [(at, part / total) for at, part in work.items() if total and part * len(work) > UNEVEN * total]
        return tuple(sorted(found, key=lambda each: -each[1]))[:MOST_NAMED]

    @cached_property
    def standing(self) -> tuple[TopicPartition, ...]:
        """The partitions that have an owner, and of which nothing was read although something waited."""
        return tuple(each.at for each in self.flows if each.member is not None and each.lag and not each.read)

    @property
    def outcome(self) -> Outcome:
        """Fine: the members there are make it; cannot tell: so it is if they also read what stands."""
        if self.now_s is None:
            return Outcome.CANNOT_TELL
        if self.now_s > self.wanted_s:
            return Outcome.FOUND
        return Outcome.CANNOT_TELL if self.standing and self.speed is not None else Outcome.FINE

    def as_data(self) -> CatchUpData:
        """As `kafkalearn.oncall.answer.Answer.as_data`; a time that never comes is None."""
        return {
            "group": self.group,
            "wanted_s": self.wanted_s,
            "outcome": self.outcome.name.lower(),
            "words": "\n".join(self.sentences()),
            "why_not": self.why_not,
            "members": len(self.members),
            "now_s": _finite(self.now_s),
            "needed": self.needed,
            "takes_s": _finite(self.takes_s),
            "most_members": len(self.flows),
            "speed": self.speed,
            "lag": sum(each.lag for each in self.flows),
            "written": sum(each.written for each in self.flows),
            "read": sum(each.read for each in self.flows),
            "uneven": [{"topic": at.topic, "partition": at.partition, "share": share} for at, share in self.uneven],
        }

    def sentences(self) -> list[str]:
        """The answer, and what it was worked out from."""
        if self.why_not:
            return [f"{self.group}: how many members catch up cannot be told: {self.why_not}"]
        if self.speed is None:
            return [f"{self.group}: nothing waits, its {counted(len(self.members), 'member')} keep up"]
        waiting, written = sum(each.lag for each in self.flows), sum(each.written for each in self.flows)
        said = [
            f"{self.group}: {self._verdict()}",
            f"{written:,.1f} records a second are written and {sum(each.read for each in self.flows):,.1f} read; "
            f"{waiting:,} wait",
            f"a member that always had work read {self.speed:,.1f} a second, the slowest of "
            f"{len(self._busy())} such; so each is counted",
            self._most(),
        ]
        said += [
            f"{at} has {share:.0%} of the work, where {1 / len(self.flows):.0%} would be even: with a member of its "
            f"own it takes {_time(alone_s([each for each in self.flows if each.at == at], self.speed))}"
            for at, share in self.uneven
        ]
        if self.standing:
            said.append(
                f"of {counted(len(self.standing), 'partition')} nothing was read, such as {self.standing[0]}: counted "
                "as if it will be; where its member is stuck, or only markers are left, no number of members helps"
            )
        return said

    def __str__(self) -> str:
        """The sentences, those behind the first below it."""
        first, *more = self.sentences()
        return "\n".join([wrapped(f"{first}.", hanging="  "), *(wrapped(f"{each}.", "  - ", "    ") for each in more)])

    def _verdict(self) -> str:
        there = len(self.members)
        now, needed, wanted = self.now_s or 0.0, self.needed, _time(self.wanted_s)
        its = f"its {counted(there, 'member')} {_needs(there, now)}"
        if now <= self.wanted_s:
            so = f", if {counted(len(self.standing), 'partition')} not read now will be" if self.standing else ""
            return f"its {counted(there, 'member')} {'catch' if there != 1 else 'catches'} up in {_time(now)}{so}"
        if needed is None:
            most = counted(len(self.flows), "member")
            return f"no number of members catches up in {wanted}: {most}, one a partition, {_needs(2, self.takes_s)}"
        will = f"{counted(needed, 'member')} {'catch' if needed != 1 else 'catches'} up in {_time(self.takes_s or 0.0)}"
        if needed > there:
            return f"{will}; {its}"
        nobodys = [each.at for each in self.flows if each.member is None and (each.lag or each.written)]
        why = f"nobody owns {nobodys[0]}" if nobodys else "the work lies unevenly, or one of them is slower"
        return f"{will} where all have a part; {its}: {why}"

    def _most(self) -> str:
        topics = {each.at.topic for each in self.flows}
        most = max(sum(each.at.topic == topic for each in self.flows) for topic in topics)
        said = f"more than {counted(len(self.flows), 'member')} do not help: so many partitions are there"
        if len(topics) > 1:
            said += f", and with the assignor range not more than {most}, as it begins anew with each topic"
        return f"{said}. Each that joins makes the group rebalance, which is not counted: add them at once"

    def _busy(self) -> list[str]:
        return [name for name, speed in _speeds(self.members).items() if speed is not None]


def _speeds(members: Mapping[str, Sequence[Flow]]) -> dict[str, float | None]:
    """What each member read a second; None: it may have waited for records."""
    return {
        name: sum(each.read for each in mine) if any(each.has_work for each in mine) else None
        for name, mine in members.items()
    }


def _finite(time_s: float | None) -> float | None:
    return None if time_s is None or time_s == inf else time_s


def _time(time_s: float) -> str:
    return "for ever" if time_s == inf else lasting(round(time_s) * 1000 or ceil(time_s * 1000))


def _needs(count: int, time_s: float | None) -> str:
    if time_s is None or time_s == inf:
        return "never catch up" if count != 1 else "never catches up"
    return f"{'take' if count != 1 else 'takes'} {_time(time_s)}"


def catch_ups(before: Look, now: Look, apart_s: float, wanted_s: float) -> tuple[CatchUp, ...]:
    """For each group of two looks whether it catches up, and with how many members.

    >>> def look(committed, end):
    ...     at = TopicPartition("orders", 0)
    ...     return Look("describe", (Seen("billing", at, committed, end, end - committed, "c1"),))
    >>> print(*catch_ups(look(0, 9000), look(1000, 9500), 10, 600))
    billing: its 1 member catches up in 2 min 50 s.
      - 50.0 records a second are written and 100.0 read; 8,500 wait.
      - a member that always had work read 100.0 a second, the slowest of 1 such; so
        each is counted.
      - more than 1 member do not help: so many partitions are there. Each that joins
        makes the group rebalance, which is not counted: add them at once.
    """
    old = {(each.group, each.at): each for each in before.partitions}
    by_group: dict[str, list[Seen]] = {}
    for each in now.partitions:
        by_group.setdefault(each.group, []).append(each)
    return tuple(
        _catch_up(group, [(old.get((group, each.at)), each) for each in seen], apart_s, wanted_s)
        for group, seen in by_group.items()
    )


def _catch_up(group: str, pairs: Sequence[tuple[Seen | None, Seen]], apart_s: float, wanted_s: float) -> CatchUp:
    why_not = _unclear(pairs)
    flows = () if why_not else tuple(_flow(then, seen, apart_s) for then, seen in pairs if then is not None)
    if why_not or not any(each.lag for each in flows):
        return CatchUp(group, wanted_s, flows, None, why_not)
    plan = CatchUp(group, wanted_s, flows, None)
    speeds = [speed for speed in _speeds(plan.members).values() if speed is not None]
    if not speeds:
        why = (
            "no member is seen to have had work all the time, so how fast one can read is not known; take the looks "
            "so close together that less is read between them than waits at the first"
        )
        return CatchUp(group, wanted_s, flows, None, why)
    return CatchUp(group, wanted_s, flows, min(speeds))


def _unclear(pairs: Sequence[tuple[Seen | None, Seen]]) -> str | None:
    """Why two looks at a group say nothing of its speed; None: they do."""
    if any(now.is_share for _, now in pairs):
        return "members of a share group share partitions, so that their number is no limit"
    if not any(now.is_owner_known for _, now in pairs):
        return "who owns the partitions does not stand there: give a table with the column CONSUMER-ID"
    whole = [(then, now) for then, now in pairs if then is not None and _is_known(then) and _is_known(now)]
    if len(whole) < len(pairs):
        at = next(now.at for then, now in pairs if then is None or not (_is_known(then) and _is_known(now)))
        return f"of {at} a committed offset or the end of the log is not known at one of the looks"
    if not any((then.committed, then.end) != (now.committed, now.end) for then, now in whole):
        return "nothing was written or read between the looks: they are of one moment, or nothing moves"
    for then, now in whole:
        if (now.committed or 0) < (then.committed or 0) or (now.end or 0) < (then.end or 0):
            return f"the offsets of {now.at} went back between the looks: it was reset, or its topic was made anew"
        if (now.lag or 0) < 0:
            return f"what is committed for {now.at} lies beyond the end of its log"
        if then.member != now.member:
            return f"{now.at} changed its owner between the looks: take them when the group is stable"
    return None


def _is_known(seen: Seen) -> bool:
    """Whether it is known what waits; of a log that is empty nothing does."""
    return seen.end == 0 or None not in (seen.committed, seen.end)


def _flow(then: Seen, now: Seen, apart_s: float) -> Flow:
    read = (now.committed or 0) - (then.committed or 0)
    waited = (then.end or 0) - (then.committed or 0)
    return Flow(
        now.at,
        now.member,
        max(0, (now.end or 0) - (now.committed or 0)),
        ((now.end or 0) - (then.end or 0)) / apart_s,
        read / apart_s,
        0 < read < waited,
    )
