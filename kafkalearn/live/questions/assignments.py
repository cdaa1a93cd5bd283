"""Who gets which partitions: by the range assignor of real consumers, and by the coordinator of a KIP-848 group."""

from __future__ import annotations

from confluent_kafka import Consumer

from kafkalearn.live.kafka import Kafka
from kafkalearn.live.reading.groups import DescribedGroup
from kafkalearn.live.requests.values import consumer_heartbeat
from kafkalearn.live.waiting import wait_for

TOPICS = {"orders": 7, "payments": 3}
ONE_TOPIC = {"orders": 7}
GROUP = "billing"
MEMBERS = ("c1", "c2", "c3")
LEAVES = "c2"
TIMEOUT_S = 30.0
COORDINATOR = {
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.heartbeat.interval.ms": 50,
}
SINCE_4_3 = {"group.consumer.assignment.interval.ms": 0, "group.consumer.assignor.offload.enable": False}
JOINS, GOES = 0, -1  # as member epochs
REBALANCE_MS = 3_000_000

Owners = list[dict[str, list[list[object]]]]
"""After each join and after the leave: of each member its partitions, as [topic, number]."""


def owners_by_range(release: str) -> Owners:
    """Three consumers join one after the other, then one leaves: two topics, the range assignor."""
    return _owners_of_consumers(release, "range")


def owners_by_round_robin(release: str) -> Owners:
    """The same with the round-robin assignor."""
    return _owners_of_consumers(release, "roundrobin")


def owners_by_uniform(release: str) -> Owners:
    """The same in a KIP-848 group, of one topic, by the uniform assignor: what the coordinator wants each to have."""
    config = COORDINATOR | (SINCE_4_3 if release == "4.3" else {})
    with Kafka(1, release, config=config) as kafka:
        for name, count in ONE_TOPIC.items():
            kafka.create_topic(name, count)
        broker = kafka.coordinator(GROUP)
        epochs: dict[str, int] = {}

        def send(member: str, epoch: int, *joining: object) -> None:
            answer = kafka.ask(broker, "ConsumerGroupHeartbeat", consumer_heartbeat(GROUP, member, epoch, *joining))
            epochs[member] = answer["memberEpoch"]

        def look() -> DescribedGroup:
            for member, epoch in list(epochs.items()):
                send(member, epoch)  # a target is computed when somebody asks
            return kafka.group(GROUP)

        seen = []
        for member in (*MEMBERS, LEAVES):
            if member in epochs:
                send(member, GOES)
                del epochs[member]
            else:
                send(member, JOINS, list(ONE_TOPIC), {}, "uniform", REBALANCE_MS)
            group = wait_for(look, lambda found: found.group_epoch == found.assignment_epoch, "the target", TIMEOUT_S)
            seen.append({each.member_id: [list(place) for place in each.target] for each in group.members})
        return seen


def _owners_of_consumers(release: str, strategy: str) -> Owners:
    with Kafka(1, release) as kafka:
        for name, count in TOPICS.items():
            kafka.create_topic(name, count)
        kafka.coordinator(GROUP)
        consumers: dict[str, Consumer] = {}
        seen = []
        for member in MEMBERS:
            consumers[member] = kafka.consumer(
                GROUP, client_id=member, partition_assignment_strategy=strategy, heartbeat_interval_ms=50
            )
            consumers[member].subscribe(list(TOPICS))
            seen.append(_settled(kafka, consumers))
        consumers.pop(LEAVES).close()
        seen.append(_settled(kafka, consumers))
        for each in consumers.values():
            each.close()
        return seen


def _settled(kafka: Kafka, consumers: dict[str, Consumer]) -> dict[str, list[list[object]]]:
    """Of each member its partitions, when all of them have settled."""

    def look() -> DescribedGroup:
        for each in consumers.values():
            each.poll(0.01)
        return kafka.group(GROUP)

    def is_settled(group: DescribedGroup) -> bool:
        owned = {each.client_id: [tuple(place) for place in each.assignment] for each in group.members}
        known = {
            client_id: sorted((place.topic, place.partition) for place in consumer.assignment())
            for client_id, consumer in consumers.items()
        }
        return group.state == "Stable" and owned == known and sum(map(len, known.values())) == sum(TOPICS.values())

    group = wait_for(look, is_settled, f"group {GROUP!r} settled", TIMEOUT_S)
    return {each.client_id: [list(place) for place in each.assignment] for each in group.members}
