"""One step: a plan begins, ends, is looked at or cancelled, and limits are set and cleared as Kafka's tool does it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.operations.placement.brokers import Replicas
from kafkalearn.operations.reassignment.plan import Target
from kafkalearn.operations.reassignment.refusals import refusal
from kafkalearn.operations.throttles.effects import (
    Cancelled,
    Completed,
    Refused,
    Started,
    ThrottlesCleared,
    ThrottlesSet,
)
from kafkalearn.operations.throttles.events import Cancel, Copied, Event, Execute, Verify
from kafkalearn.operations.throttles.settings import Settings
from kafkalearn.operations.throttles.state import Lists, Placed, Throttled, start
from kafkalearn.replication.controller.assignment import Assignment, without
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import Trace, run


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


def simulate(settings: Settings, events: Iterable[Event], initial: Throttled | None = None) -> Trace[Throttled, Event]:
    """A run: from `initial`, or from a cluster in which nothing moves.

    To cancel one plan takes the limit from the other:

    >>> settings = Settings((1, 2, 3), {"big": [(1, 2)], "orders": [(1, 2)]})
    >>> big, orders = [Target("big", 0, (3, 2))], [Target("orders", 0, (2, 3))]
    >>> trace = simulate(settings, [Execute(big, 1000), Execute(orders, 1000, is_additional=True), Cancel(orders)])
    >>> [frame.state.limit(TopicPartition("big", 0), 3) for frame in trace]
    [None, 1000, 1000, None]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


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
