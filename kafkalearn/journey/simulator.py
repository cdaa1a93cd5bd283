"""What happens to the shop: `kafkalearn.tiny` does it, and what came of it is frozen again.

>>> events = [Send("ann"), FollowersFetch(), FollowersFetch(), Poll("c1"), Commit("c1")]
>>> last = simulate(Settings(), events)[-1].state
>>> last.producers[0].told, last.consumers[0].read, last.partitions[2].on(3).labels
(('A1',), ((0, 'A1'),), ('0→1',))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafkalearn import tiny
from kafkalearn.base.errors import IllegalEvent, listed, no_event
from kafkalearn.base.promises import Since
from kafkalearn.base.simulator import simulator
from kafkalearn.journey.model import (
    BROKERS,
    CONSUMERS,
    GROUP,
    PARTITIONS,
    PRODUCERS,
    TOPIC,
    BrokerCrashed,
    BrokerStarted,
    Commit,
    Consumer,
    Cut,
    Effect,
    Event,
    FollowersFetch,
    Join,
    Journey,
    LeaderChanged,
    Leave,
    Partition,
    Poll,
    Producer,
    Send,
    Settings,
    Told,
    Travelled,
    drawn,
    frozen,
    label_of,
    thawed,
)

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "BrokerCrashed",
    "BrokerStarted",
    "Commit",
    "FollowersFetch",
    "Join",
    "Journey",
    "Leave",
    "Poll",
    "Send",
    "Settings",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]


def start(settings: Settings) -> Journey:
    """Three brokers without a record, two producers, and the group with both its consumers."""
    cluster = tiny.Cluster(list(BROKERS))
    cluster.create_topic(TOPIC, 2)
    group = tiny.Group(cluster, GROUP, TOPIC)
    group.rebalance(*CONSUMERS)
    producers = tuple(map(Producer, PRODUCERS))
    return Journey(tuple(map(frozen, drawn(cluster, group))), producers, _members(group))


def step(settings: Settings, state: Journey, event: Event) -> Journey:
    """The shop after an event.

    Raises
    ------
    IllegalEvent
        If it makes no sense: a broker that is dead dies, a consumer that is not in the group polls, nobody leads.

    Examples
    --------
    >>> sent = step(Settings(), start(Settings()), Send("ann"))
    >>> sent.partitions[0].on(1).labels, sent.producers[0].unanswered
    (('A1',), ('A1',))
    >>> sent.effects
    (Travelled(what='A1', source='ann', target=(1, 'orders-0')),)
    """
    cluster, group = thawed(state)
    try:
        changed = _changed(state, event, cluster, group)
    except ValueError as error:  # tiny's words for what a broker refuses
        raise IllegalEvent(str(error)) from error
    partitions = tuple(map(frozen, drawn(cluster, group)))
    after = replace(changed, partitions=partitions, positions=tuple(group.positions.values()))
    return _answered(state, replace(after, effects=(*changed.effects, *_cut(state, after), *_led(state, after))))


def _changed(state: Journey, event: Event, cluster: tiny.Cluster, group: tiny.Group) -> Journey:
    """The state with what is not tiny's: producers, consumers, effects. The rest happens to `cluster` and `group`."""
    match event:
        case Send():
            return _sent(state, event.producer, cluster)
        case FollowersFetch():
            return replace(state, effects=tuple(_fetched(cluster, group)))
        case Poll():
            return _polled(state, event.consumer, group)
        case Commit():
            return _committed(state, event.consumer, group)
        case Leave() | Join():
            return _rebalanced(state, event, group)
        case BrokerCrashed(broker_id) | BrokerStarted(broker_id) if broker_id not in BROKERS:
            raise IllegalEvent(f"there is no broker {broker_id}; there are {listed(BROKERS)}")
        case BrokerCrashed():
            if event.broker_id not in state.alive:
                raise IllegalEvent(f"broker {event.broker_id} is dead already")
            cluster.kill(event.broker_id)
            return replace(state, effects=())
        case BrokerStarted():
            if event.broker_id in state.alive:
                raise IllegalEvent(f"broker {event.broker_id} is up already")
            cluster.restart(event.broker_id)
            return replace(state, effects=())
    raise no_event(event, (Send, FollowersFetch, Poll, Commit, Leave, Join, BrokerCrashed, BrokerStarted))


def _sent(state: Journey, name: str, cluster: tiny.Cluster) -> Journey:
    producer = next(each for each in state.producers if each.name == name)
    record, number = producer.next, tiny.partition_for_key(name.encode(), 2)
    partition = cluster.topics[TOPIC][number]
    known = next((each.offset for each in partition.leader_log.records if each.value == record), None)
    if known is None:
        partition.produce(name.encode(), record, acks="all")
    else:  # it was copied before its leader died: by its sequence number it is found, and not written twice
        partition.waiting.append(known)
        partition.raise_high_watermark()
    is_new = not producer.again
    after = replace(
        producer,
        made=producer.made + is_new,
        unanswered=(*producer.unanswered, record),
        again=producer.again[1:],
    )
    went = Travelled(record, name, (partition.leader or 0, PARTITIONS[number]))
    return _with(replace(state, effects=(went,)), after)


def _fetched(cluster: tiny.Cluster, group: tiny.Group) -> Iterator[Effect]:
    for name, partition in zip(PARTITIONS, drawn(cluster, group), strict=True):
        if partition.leader is None:
            continue
        for follower in partition.replicas:
            log = partition.logs[follower]
            had = {each.offset for each in log.records}
            partition.fetch(follower)
            for each in log.records:
                if each.offset not in had:
                    yield Travelled(label_of(each), (partition.leader, name), (follower, name))


def _polled(state: Journey, name: str, group: tiny.Group) -> Journey:
    consumer = _member(state, name)
    before = dict(group.positions)
    group.poll(name)
    went: list[Effect] = []
    read: list[tuple[int, str]] = []
    for number in consumer.partitions:
        partition = group.partitions[number]
        for record in partition.read(before[TOPIC, number]):
            went.append(Travelled(label_of(record), (partition.leader or 0, PARTITIONS[number]), name))
            read.append((number, label_of(record)))
    after = replace(consumer, read=(*consumer.read, *read))
    return _with(replace(state, effects=tuple(went)), after)


def _committed(state: Journey, name: str, group: tiny.Group) -> Journey:
    _member(state, name)
    if group.offsets_log.leader is None:
        raise IllegalEvent("nobody leads the group's partition of the offsets topic")
    count = len(group.offsets_log.leader_log.records)
    group.commit(name)
    log = group.offsets_log.leader_log
    target = (group.offsets_log.leader, "commits")
    return replace(state, effects=tuple(Travelled(label_of(each), name, target) for each in log.records[count:]))


def _rebalanced(state: Journey, event: Leave | Join, group: tiny.Group) -> Journey:
    is_in = event.consumer in group.assignment
    if is_in == isinstance(event, Join):
        raise IllegalEvent(f"{event.consumer} is {'in the group already' if is_in else 'not in the group'}")
    members = {*group.assignment} ^ {event.consumer}
    group.rebalance(*(each for each in CONSUMERS if each in members))
    return replace(state, consumers=_members(group), effects=())


def _members(group: tiny.Group) -> tuple[Consumer, ...]:
    return tuple(Consumer(name, tuple(number for _, number in owned)) for name, owned in group.assignment.items())


def _member(state: Journey, name: str) -> Consumer:
    for each in state.consumers:
        if each.name == name:
            return each
    raise IllegalEvent(f"{name} is not in the group")


def _with(state: Journey, changed: Producer | Consumer) -> Journey:
    """The state with a producer, or a consumer, as it is now."""
    if isinstance(changed, Producer):
        return replace(
            state, producers=tuple(changed if each.name == changed.name else each for each in state.producers)
        )
    return replace(state, consumers=tuple(changed if each.name == changed.name else each for each in state.consumers))


# What every step may lead to: answers to producers, leaders that change, records that are cut.


def _led(before: Journey, after: Journey) -> Iterator[Effect]:
    for name, old, new in zip(PARTITIONS, before.partitions, after.partitions, strict=True):
        if old.leader != new.leader:
            yield LeaderChanged(name, old.leader, new.leader)


def _cut(before: Journey, after: Journey) -> Iterator[Effect]:
    for name, old, new in zip(PARTITIONS, before.partitions, after.partitions, strict=True):
        for replica in old.replicas:
            kept = new.on(replica.broker).records
            yield from (Cut(replica.broker, name, label_of(each)) for each in replica.records if each not in kept)


def _answered(before: Journey, state: Journey) -> Journey:
    """The state with each producer told what is written; whose leader died unasked sends again."""
    told: list[Effect] = []
    producers = []
    for producer in state.producers:
        number = tiny.partition_for_key(producer.name.encode(), 2)
        partition = state.partitions[number]
        if partition.leader != before.partitions[number].leader:
            again = (*producer.again, *producer.unanswered)
            producers.append(replace(producer, unanswered=(), again=again))
            continue
        answered = _written(partition, producer.unanswered)
        told += [Told(producer.name, each, partition.leader or 0) for each in answered]
        waits = tuple(each for each in producer.unanswered if each not in answered)
        producers.append(replace(producer, unanswered=waits, told=(*producer.told, *answered)))
    return replace(state, producers=tuple(producers), effects=(*state.effects, *told))


def _written(partition: Partition, records: tuple[str, ...]) -> tuple[str, ...]:
    """Those of some records that the leader has said are written."""
    if partition.leader is None:
        return ()
    offsets = {label_of(each): each.offset for each in partition.on(partition.leader).records}
    return tuple(each for each in records if offsets.get(each) in partition.acknowledged)


# What holds, and what is hoped for.


def _leaders_are_alive_and_in_sync(settings: Settings, state: Journey) -> bool:
    return all(each.leader is None or each.leader in each.alive & each.isr for each in state.partitions)


def _told_records_are_in_the_log(settings: Settings, state: Journey) -> bool:
    return all(
        partition.leader is None or {*producer.told} <= {*partition.on(partition.leader).labels}
        for producer in state.producers
        for partition in [state.partitions[tiny.partition_for_key(producer.name.encode(), 2)]]
    )


def _no_record_twice(settings: Settings, state: Journey) -> bool:
    logs = [replica.labels for partition in state.partitions[:2] for replica in partition.replicas]
    return all(len({*labels}) == len(labels) for labels in logs)


def _nothing_is_read_twice(settings: Settings, before: Journey, state: Journey) -> bool:
    return all(new >= old for old, new in zip(before.positions, state.positions, strict=True))


INVARIANTS = {
    "a leader is alive and in sync": _leaders_are_alive_and_in_sync,
    "no record lies twice in a log": _no_record_twice,
}
PROMISES = {
    "what a producer was told is written stays": _told_records_are_in_the_log,
    "nothing is read twice": Since(_nothing_is_read_twice),
    "somebody leads every partition": lambda settings, state: all(each.leader is not None for each in state.partitions),
}
simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
