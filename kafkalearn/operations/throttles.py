"""Throttles of a reassignment: the limits that ``kafka-reassign-partitions`` sets, and who takes them away.

A limit has two halves: a rate on brokers, and on topics the lists of replicas that it is meant for. The tool sets both
with ``--execute --throttle``; ``--verify`` and ``--cancel`` clear the rates of *every* broker, and the lists of the
plan's topics alone. What follows from that, for the plan that is still running, is in the promises.

>>> settings = Settings((1, 2, 3), {"big": [(1, 2)], "orders": [(1, 2)]})
>>> events = [Execute([Target("big", 0, (3, 2))], 1000), Cancel([Target("orders", 0, (1, 2))])]
>>> broken(settings, simulate(settings, events)[-1].state)
('what was begun with a limit moves under it',)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import LARGEST_LONG, BrokerId, Checked, Index, Whole, check_fields, mapping, text
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, no_event, shown
from kafkalearn.base.promises import Predicate
from kafkalearn.base.simulator import simulator
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.operations.placement import Placement, Replicas, brokers_of, placement_of
from kafkalearn.operations.reassignment import Cluster, Move, Target, refusal, targets_of
from kafkalearn.replication.settings import Assignment, without

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "Cancel",
    "Copied",
    "Execute",
    "Settings",
    "Throttled",
    "Verify",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """A cluster whose brokers all live.

    Parameters
    ----------
    broker_ids : tuple of int
        All brokers.
    topics : mapping of str to placement
        ``topics[name][p]`` are the replicas of partition ``p``; kept as pairs.

    Raises
    ------
    KafkaLearnError
        If a replica lies on a broker that is not there.

    Examples
    --------
    >>> Settings((1, 2, 3), {"orders": [(1, 2), (2, 3)]}).topics
    (('orders', ((1, 2), (2, 3))),)
    """

    broker_ids: tuple[BrokerId, ...]
    topics: tuple[tuple[str, Placement], ...]

    def __post_init__(self) -> None:
        """Take the topics as pairs, and refuse what is no cluster."""
        kept: Mapping[Any, object] = mapping(
            "topics", _as_mapping(self.topics), of="name to replicas of each partition"
        )
        names = [text("a name of topics", name) for name in kept]
        pairs = tuple((name, placement_of(f"topics[{name!r}]", kept[name])) for name in sorted(names))
        object.__setattr__(self, "topics", pairs)
        check_fields(self)
        if not self.broker_ids or len({*self.broker_ids}) < len(self.broker_ids):
            raise KafkaLearnError(f"broker_ids must name at least one broker, each once, got {shown(self.broker_ids)}")
        named = {broker for _, placement in pairs for replicas in placement for broker in replicas}
        if unknown := sorted(named - {*self.broker_ids}):
            raise KafkaLearnError(f"topics has replicas on {unknown}; the brokers are {list(self.broker_ids)}")


def _as_mapping(topics: object) -> object:
    """Pairs as a mapping; anything else as it is, for `mapping` to refuse."""
    are_pairs = isinstance(topics, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in topics)
    return dict(topics) if are_pairs and all(isinstance(name, str) for name, _ in topics) else topics


# The state: where partitions lie and what moves, and the two halves of every limit.


class Placed(NamedTuple):
    """A partition, its replicas, those that come and go too, and the limit its move was begun with; None: none."""

    at: TopicPartition
    assignment: Assignment
    throttle: int | None = None

    @property
    def sides(self) -> tuple[Replicas, Replicas]:
        """Who sends and who receives while it moves."""
        return self.assignment.original, self.assignment.adding


class Lists(NamedTuple):
    """The throttled replicas of a topic, each (partition, broker): on the leader's side, and on the follower's."""

    topic: str
    leader: tuple[tuple[int, int], ...]
    follower: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Throttled:
    """A cluster with its moves and limits.

    Attributes
    ----------
    partitions : tuple of Placed
        Every partition.
    rates : tuple of (int, int)
        ``leader.replication.throttled.rate`` and ``follower.replication.throttled.rate`` of each broker that has them.
    lists : tuple of Lists
        ``leader.replication.throttled.replicas`` and ``follower.replication.throttled.replicas`` of each topic.
    """

    partitions: tuple[Placed, ...]
    rates: tuple[tuple[int, int], ...] = ()
    lists: tuple[Lists, ...] = ()
    effects: tuple[Effect, ...] = field(default=(), compare=False)

    @property
    def moves(self) -> tuple[Placed, ...]:
        """What moves."""
        return tuple(each for each in self.partitions if each.assignment.is_changing)

    def with_partitions(self, changed: Mapping[TopicPartition, Placed]) -> Throttled:
        """The state with these in place of those of their names."""
        return replace(self, partitions=tuple(changed.get(each.at, each) for each in self.partitions))

    def limit(self, at: TopicPartition, broker_id: int) -> int | None:
        """The limit that a new replica's copying has on its own broker; None: none."""
        listed = any((at.partition, broker_id) in each.follower for each in self.lists if each.topic == at.topic)
        return dict(self.rates).get(broker_id) if listed else None

    def cluster(self, settings: Settings) -> Cluster:
        """The same as `kafkalearn.operations.reassignment` takes it, for what the tool prints."""
        topics: dict[str, list[Replicas]] = {}
        for at, assignment, _ in self.partitions:
            topics.setdefault(at.topic, []).append(assignment.replicas)
        moves = {each.at: Move(each.assignment.adding, each.assignment.removing) for each in self.moves}
        placed = {topic: tuple(placement) for topic, placement in topics.items()}
        return Cluster(brokers_of(settings.broker_ids), placed, moves)


def start(settings: Settings) -> Throttled:
    """Nothing moves, and nothing is limited.

    >>> start(Settings((1, 2), {"orders": [(1, 2)]})).partitions[0].assignment.replicas
    (1, 2)
    """
    return Throttled(
        tuple(
            Placed(TopicPartition(topic, number), Assignment(replicas))
            for topic, placement in settings.topics
            for number, replicas in enumerate(placement)
        )
    )


# Events: what an administrator does with plans, and a copy that comes to its end.


class _OfAPlan(facts.Event):
    plan: tuple[Target, ...]

    def __post_init__(self) -> None:
        """Refuse what is no plan."""
        object.__setattr__(self, "plan", targets_of(self.plan))
        check_fields(self)


class Execute(_OfAPlan):
    """``--execute``: a plan begins, with a limit in bytes a second or without one."""

    throttle: Annotated[int, Whole(0, LARGEST_LONG)] | None = None
    is_additional: bool = False


class Copied(facts.Event):
    """All new replicas of a partition are in sync: its reassignment ends."""

    topic: str
    partition: Index


class Verify(_OfAPlan):
    """``--verify``: clears throttles when nothing moves in the cluster, but with ``--preserve-throttles``."""

    keeps_throttles: bool = False


class Cancel(_OfAPlan):
    """``--cancel``: the plan's partitions go back, and throttles are cleared, but with ``--preserve-throttles``."""

    keeps_throttles: bool = False


Event: TypeAlias = Execute | Copied | Verify | Cancel


# Effects.


class Started(facts.Effect):
    """Partitions that move now, or that were given another order of their replicas at once."""

    partitions: tuple[TopicPartition, ...]


class Refused(facts.Effect):
    """The tool did not begin the plan; `message` is what it prints."""

    message: str


class Completed(facts.Effect):
    """A partition has its new replicas, and no others."""

    partition: TopicPartition


class Cancelled(facts.Effect):
    """Partitions that have gone back to the replicas they had."""

    partitions: tuple[TopicPartition, ...]


class ThrottlesSet(facts.Effect):
    """A rate on brokers, and lists of replicas on topics; each list takes the place of the one before."""

    broker_ids: tuple[int, ...]
    topics: tuple[str, ...]
    bytes_per_s: int


class ThrottlesCleared(facts.Effect):
    """No rate on these brokers any more, and no list on these topics."""

    broker_ids: tuple[int, ...]
    topics: tuple[str, ...]


Effect: TypeAlias = Started | Refused | Completed | Cancelled | ThrottlesSet | ThrottlesCleared


# The step: a plan begins, ends, is looked at or cancelled, and limits are set and cleared as Kafka's tool does it.


def step(settings: Settings, state: Throttled, event: Event) -> Throttled:
    """The cluster after an event.

    Raises
    ------
    IllegalEvent
        If a partition that does not move is said to be copied.

    Examples
    --------
    >>> settings = Settings((1, 2, 3), {"orders": [(1, 2)]})
    >>> moving = step(settings, start(settings), Execute([Target("orders", 0, (3, 2))], throttle=1000))
    >>> moving.rates, moving.lists[0].follower
    (((1, 1000), (2, 1000), (3, 1000)), ((0, 3),))

    References
    ----------
    Apache Kafka 2.6 to 4.3, ``ReassignPartitionsCommand``; KIP-73, KIP-455.
    """
    match event:
        case Execute():
            return _executed(settings, state, event)
        case Copied(topic, partition):
            return _copied(state, TopicPartition(topic, partition))
        case Verify():
            seen = replace(state, effects=())
            return seen if state.moves or event.keeps_throttles else _cleared(settings, seen, event.plan)
        case Cancel():
            return _cancelled(settings, state, event)
    raise no_event(event, (Execute, Copied, Verify, Cancel))


def _executed(settings: Settings, state: Throttled, event: Execute) -> Throttled:
    if (message := refusal(event.plan, state.cluster(settings), event.is_additional)) is not None:
        return replace(state, effects=(Refused(message),))
    limited = replace(state, effects=()) if event.throttle is None else _limited(state, event, event.throttle)
    there = {each.at: each for each in state.partitions}
    changed: dict[TopicPartition, Placed] = {}
    for target in event.plan:
        old = there[target.at]
        wanted = old.assignment.toward(target.replicas)
        if not wanted.adding:  # nothing is to be copied: it ends at once
            wanted = Assignment(wanted.target)
        throttle = event.throttle if event.throttle is not None or not old.assignment.is_changing else old.throttle
        changed[target.at] = Placed(target.at, wanted, throttle if wanted.is_changing else None)
    started = Started(tuple(sorted(changed)))
    return replace(limited.with_partitions(changed), effects=(*limited.effects, started))


def _limited(state: Throttled, event: Execute, throttle: int) -> Throttled:
    """The limits for the plan and for all that moves already: a topic's lists are written anew."""
    sides = {each.at: each.sides for each in state.moves}
    there = {each.at: each.assignment.replicas for each in state.partitions}
    for target in event.plan:
        sources = sides[target.at][0] if target.at in sides else there[target.at]
        sides[target.at] = sources, without(target.replicas, sources)
    brokers = sorted({broker for both in sides.values() for side in both for broker in side})
    topics = sorted({at.topic for at in sides})
    lists = {each.topic: each for each in state.lists}
    lists |= {topic: Lists(topic, *(_listed(sides, topic, side) for side in (0, 1))) for topic in topics}
    return replace(
        state,
        rates=tuple(sorted({**dict(state.rates), **dict.fromkeys(brokers, throttle)}.items())),
        lists=tuple(lists[topic] for topic in sorted(lists)),
        effects=(ThrottlesSet(tuple(brokers), tuple(topics), throttle),),
    )


def _listed(
    sides: Mapping[TopicPartition, tuple[Replicas, Replicas]], topic: str, side: int
) -> tuple[tuple[int, int], ...]:
    return tuple(
        sorted((at.partition, broker) for at, both in sides.items() if at.topic == topic for broker in both[side])
    )


def _copied(state: Throttled, at: TopicPartition) -> Throttled:
    moving = {each.at: each.assignment for each in state.moves}
    if at not in moving:
        raise IllegalEvent(f"{at} does not move; what moves: {[*map(str, moving)]}")
    return replace(state.with_partitions({at: Placed(at, Assignment(moving[at].target))}), effects=(Completed(at),))


def _cancelled(settings: Settings, state: Throttled, event: Cancel) -> Throttled:
    named = {each.at for each in event.plan}
    back = {each.at: Placed(each.at, Assignment(each.assignment.original)) for each in state.moves if each.at in named}
    effects = (Cancelled(tuple(sorted(back))),) if back else ()
    ended = replace(state.with_partitions(back), effects=effects)
    return ended if event.keeps_throttles else _cleared(settings, ended, event.plan)


def _cleared(settings: Settings, state: Throttled, plan: tuple[Target, ...]) -> Throttled:
    """No rates on any broker, no lists on the plan's topics."""
    topics = {each.topic for each in plan}
    brokers = {*settings.broker_ids, *(broker for each in plan for broker in each.replicas)}
    return replace(
        state,
        rates=tuple(each for each in state.rates if each[0] not in brokers),
        lists=tuple(each for each in state.lists if each.topic not in topics),
        effects=(*state.effects, ThrottlesCleared(tuple(sorted(brokers)), tuple(sorted(topics)))),
    )


# What holds.

MOVES_LIMITED = "what was begun with a limit moves under it"
NONE_LEFT = "no limit is left when nothing moves"
ONLY_MOVES = "only what moves can be limited"


def _moves_fit(settings: Settings, state: Throttled) -> bool:
    return all(
        {*each.assignment.adding, *each.assignment.removing} <= {*each.assignment.replicas} for each in state.partitions
    )


def _moves_are_limited(settings: Settings, state: Throttled) -> bool:
    return all(
        state.limit(each.at, broker_id) is not None
        for each in state.moves
        if each.throttle is not None
        for broker_id in each.assignment.adding
    )


def _only_moves_are_limited(settings: Settings, state: Throttled) -> bool:
    moving = {(each.at.topic, each.at.partition) for each in state.moves}
    listed = {(each.topic, partition) for each in state.lists for partition, _ in each.follower}
    return listed <= moving


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        "what comes and what goes are replicas": _moves_fit,
        "every partition keeps a replica": lambda settings, state: all(
            each.assignment.replicas for each in state.partitions
        ),
        "rates are on brokers of the cluster": lambda settings, state: (
            {broker for broker, _ in state.rates} <= {*settings.broker_ids}
        ),
    }
)
"""What holds in every state that can be reached."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        MOVES_LIMITED: _moves_are_limited,
        NONE_LEFT: lambda settings, state: bool(state.moves) or not (state.rates or state.lists),
        ONLY_MOVES: _only_moves_are_limited,
    }
)
"""What an administrator hopes for; ``--cancel`` of another plan breaks the first, a forgotten ``--verify`` the rest."""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
