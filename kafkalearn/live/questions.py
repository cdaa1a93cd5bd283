"""Fixed questions to a real Kafka, whose answers never change; `kafkalearn.releases.real_answers` has them recorded.

Each question is a function of a release line: it starts a cluster, and its answer is something that JSON can hold. At
the end they have names, by which `ask`, `ask_a_real_broker` and `ask_live` ask them. `Shop` and `Company` are what
Spark reads from.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from types import MappingProxyType
from typing import Any, Self

import confluent_kafka
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

from kafkalearn.base.checks import one_of
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.records import Record
from kafkalearn.live import clients
from kafkalearn.live.cluster import CLEANED, DescribedGroup
from kafkalearn.live.errors import KafkaNotFetched, KafkaNotStarted, NoAnswer, NotReached, Refused, wait_for
from kafkalearn.live.jars import connector_jars, find_release, missing
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.nodes import prepare
from kafkalearn.live.reading import parse_addresses, refuse_error
from kafkalearn.live.request_values import (
    NEWEST_COMMIT_WITH_NAMES,
    NEWEST_PRODUCE_WITH_NAMES,
    commit,
    consumer_heartbeat,
    error_name,
    produce,
)
from kafkalearn.live.requests import Connection, Pending
from kafkalearn.offsets import decode_key, decode_value, formatter_line
from kafkalearn.offsets.records import OFFSET_TYPES, decode
from kafkalearn.offsets.replay import committed
from kafkalearn.releases import real_answers
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least

__all__ = [
    "QUESTIONS",
    "ask",
    "ask_a_real_broker",
    "ask_live",
]


# Who gets which partitions: by the range assignor of real consumers, and by the coordinator of a KIP-848 group.

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

Owners = list[dict[str, list[list[str | int]]]]
"""After each join and after the leave: of each member its partitions, as [topic, number]."""


def owners_by_range(release: str) -> Owners:
    """Three consumers join one after the other, then one leaves: two topics, the range assignor."""
    return _owners_of_consumers(release, "range")


def owners_by_round_robin(release: str) -> Owners:
    """The same with the round-robin assignor."""
    return _owners_of_consumers(release, "roundrobin")


def owners_by_uniform(release: str) -> Owners:
    """The same in a KIP-848 group, of one topic, by the uniform assignor: what the coordinator wants each to have."""
    config = COORDINATOR | (SINCE_4_3 if at_least("4.3", release) else {})
    with Kafka(1, release, config=config) as kafka:
        for name, count in ONE_TOPIC.items():
            kafka.create_topic(name, count)
        broker = kafka.coordinator(GROUP)
        epochs: dict[str, int] = {}

        def send(member: str, epoch: int, *joining: Any) -> None:
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
            seen.append({each.member_id: [list(place) for place in each.target or ()] for each in group.members})
        return seen


def _owners_of_consumers(release: str, strategy: str) -> Owners:
    with Kafka(1, release) as kafka:
        for name, count in TOPICS.items():
            kafka.create_topic(name, count)
        kafka.coordinator(GROUP)
        consumers: dict[str, confluent_kafka.Consumer] = {}
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


def _settled(kafka: Kafka, consumers: dict[str, confluent_kafka.Consumer]) -> dict[str, list[list[str | int]]]:
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


# Which broker coordinates a group, and in which partition of the offsets topic its commits lie.
#
# The topic's replicas are placed by hand, in turn, so that the answer is the same in every run: partition p is led by
# broker p mod 3 + 1.

BROKERS = 3
PARTITIONS = 50
GROUPS = (
    *("billing", "shipping", "search", "console-consumer-77682", "polygenelubricants"),
    *("refunds", "warehouse", "night-report"),
)
"""The shop's, the articles', one whose hash is -2147483648, and those of an exercise."""


def coordinators(release: str) -> dict[str, dict[str, int]]:
    """Of each of `GROUPS` the partition in whose files its commit was found, and the broker that coordinates it."""
    with Kafka(BROKERS, release) as kafka:
        place_offsets_topic(kafka, BROKERS)
        kafka.create_topic("orders")
        brokers = {group: kafka.coordinator(group) for group in GROUPS}
        for group, broker in brokers.items():
            commit_one(kafka, broker, group)
        partitions = partitions_of_groups(kafka)
        return {group: {"partition": partitions[group], "broker": brokers[group]} for group in GROUPS}


def short_group_ids(release: str) -> dict[str, int]:
    """Of each group id of one or two small letters the partition in whose files its commit was found."""
    ids = [*ascii_lowercase, *map("".join, product(ascii_lowercase, repeat=2))]
    with Kafka(1, release) as kafka:
        place_offsets_topic(kafka, 1)
        kafka.create_topic("orders")
        for group in ids:
            commit_one(kafka, 1, group)
        partitions = partitions_of_groups(kafka)
        return {group: partitions[group] for group in ids}


def place_offsets_topic(kafka: Kafka, brokers: int) -> None:
    """Create the offsets topic with one replica of each partition, in turn."""
    kafka.create_topic(
        OFFSETS_TOPIC,
        assignment=[[number % brokers + 1] for number in range(PARTITIONS)],
        config={"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": 100 * 2**20},
    )


def commit_one(kafka: Kafka, broker: int, group: str) -> None:
    """Commit an offset of a group, as soon as its coordinator takes it."""
    values = commit(group, {TopicPartition("orders", 0): 0})

    def sent() -> str:
        answer = kafka.ask(broker, "OffsetCommit", values, NEWEST_COMMIT_WITH_NAMES)
        return error_name(answer["topics"][0]["partitions"][0]["errorCode"])

    wait_for(sent, "NONE", f"the commit of {group!r}:")


def partitions_of_groups(kafka: Kafka) -> dict[str, int]:
    """In which partition of the offsets topic each group's records lie, on the brokers' disks."""
    return {
        str(decode_key(each.key or b"")[1]["group"]): partition
        for disk in map(kafka.disk, kafka.broker_ids)
        for topic, partition in disk.replicas()
        if topic == OFFSETS_TOPIC
        for each in disk.records(topic, partition)
    }


# The articles' walk through Kafka's command-line tools, from a new topic to the bytes of a commit.

TOPIC, CONSOLE_GROUP, RECORDS = "tp_test_01", "console-consumer-77682", 60
FORMATTER = "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"
WAIT_MS = "20000"


def command_walk(release: str) -> dict[str, Any]:
    """What each tool printed, without what differs from run to run: ids, times, which partition took the records."""
    with Kafka(1, release) as kafka:
        created = kafka.tool("topics", "--create", "--topic", TOPIC, "--partitions", "5", "--replication-factor", "1")
        sent = "".join(f"hello {number}\n" for number in range(1, RECORDS + 1))
        kafka.tool("console-producer", "--topic", TOPIC, said=sent)
        ends = kafka.tool("get-offsets", "--topic", TOPIC)
        consumed = kafka.tool(
            *("console-consumer", "--topic", TOPIC, "--group", CONSOLE_GROUP, "--from-beginning"),
            *("--max-messages", str(RECORDS), "--timeout-ms", WAIT_MS),
        )
        groups = kafka.tool("consumer-groups", "--list")
        partition = partitions_of_groups(kafka)[CONSOLE_GROUP]
        records = kafka.disk(1).records(OFFSETS_TOPIC, partition)
        printed = kafka.tool(
            *("console-consumer", "--topic", OFFSETS_TOPIC, "--partition", str(partition), "--offset", "earliest"),
            *("--max-messages", str(len(records)), "--timeout-ms", WAIT_MS, "--formatter", FORMATTER),
        )
        ours = [formatter_line(each.key, each.value, kafka.release.version) for each in records]
        offsets = _committed(records)
        return {
            "create": created.strip().splitlines()[-1],
            "log ends": sorted(int(line.rpartition(":")[2]) for line in ends.split()),
            "consumed": consumed == sent,
            "groups": groups.split(),
            "partition": partition,
            "partitions with a commit": sorted(offsets),
            "committed offsets": sorted(offsets.values()),
            "printed as we print it": printed == "".join(line for line in ours if line is not None),
        }


def _committed(records: Iterable[Record]) -> dict[int, int]:
    """The last committed offset of each partition."""
    found: dict[int, int] = {}
    for each in records:
        record = decode(each.key or b"", each.value)
        if record.type.number in OFFSET_TYPES and not record.is_tombstone:
            said = committed(record)
            found[said.partition] = said.offset
    return found


# Where keys land: what the producers' own partitioners do with them.

KEYS = ("order-4711", "order-42", "order-1001", "", "订单-7")
KEYED_PARTITIONS = 6
FLUSH_TIMEOUT_S = 15.0
PARTITIONERS = {"murmur2": "murmur2", "crc32": "consistent", "fnv1a": "fnv1a"}
"""librdkafka's name for each rule; `murmur2` is the Java client's."""


def partitions_of_keys(release: str) -> dict[str, dict[str, int]]:
    """Of each of `KEYS` the partition that it was written to, by the rule that picked it."""
    landed: dict[str, dict[str, int]] = {key: {} for key in KEYS}
    with Kafka(1, release) as kafka:
        for rule, partitioner in PARTITIONERS.items():
            kafka.create_topic(rule, KEYED_PARTITIONS)
            producer = kafka.producer(partitioner=partitioner)
            for key in KEYS:
                producer.produce(rule, b"", key.encode())
            if producer.flush(FLUSH_TIMEOUT_S):
                raise NotReached(f"records of the topic {rule} were not taken within {FLUSH_TIMEOUT_S:.0f} s")
            for number in range(KEYED_PARTITIONS):
                for each in kafka.disk(1).records(rule, number):
                    landed[(each.key or b"").decode()][rule] = number
    return landed


# The same questions to two releases, side by side.

OLDER, NEWER = "4.0", DEFAULT_RELEASE

LINGER = "group.coordinator.append.linger.ms"
OLD_PLACES = struct.Struct(">hqihq")  # version, offset, leader epoch, the length of metadata that is empty, commit time


def releases_side_by_side(release: str = NEWER) -> dict[str, dict[str, Any]]:
    """Of 4.0, and of a newer release, what each answers to the same requests."""
    return {line: _answers_of(line) for line in dict.fromkeys((OLDER, release))}


def _answers_of(line: str) -> dict[str, Any]:
    with Kafka(1, line) as kafka:
        place_offsets_topic(kafka, 1)
        kafka.create_topic("orders")
        commit_one(kafka, kafka.coordinator(GROUP), GROUP)
        partition, value = _commit_on_the_disk(kafka)
        return {
            "partition of billing": partition,
            "version of a commit's value": decode_value(1, value)[0],
            "bytes of a commit's value": len(value),
            "read at the places of 4.0": _read_at_old_places(value),
            "a topic with segment.bytes=1000": _small_segments_created(kafka),
            LINGER: _linger_ms(kafka),
        }


def _commit_on_the_disk(kafka: Kafka) -> tuple[int, bytes]:
    disk = kafka.disk(1)
    for topic, partition in disk.replicas():
        for each in disk.records(topic, partition) if topic == OFFSETS_TOPIC else ():
            if each.value is not None and decode_key(each.key or b"")[1]["group"] == GROUP:
                return partition, each.value
    raise AssertionError("the commit was answered, so it is on the disk")


def _read_at_old_places(value: bytes) -> dict[str, bool]:
    """Which fields come out right if the places are those of version 3 with no metadata, as 4.0 writes them."""
    _, offset, epoch, _, at_ms = OLD_PLACES.unpack(value[: OLD_PLACES.size])
    fields = decode_value(1, value)[1]
    return {
        "offset": offset == fields["offset"],
        "leader epoch": epoch == fields["leaderEpoch"],
        "commit time": at_ms == fields["commitTimestamp"],
    }


def _small_segments_created(kafka: Kafka) -> str:
    try:
        kafka.create_topic("small", config={"segment.bytes": 1000})
    except Refused as error:
        return error.error
    return "created"


def _linger_ms(kafka: Kafka) -> int:
    admin = kafka.admin()
    (future,) = admin.describe_configs([ConfigResource(ConfigResource.Type.BROKER, "1")]).values()
    return int(future.result(10.0)[LINGER].value)


# LEO, HW and ISR while followers stand still, and an acknowledged record that is lost.

PLACE = TopicPartition("orders", 0)
REPLICAS = (1, 2, 3)
ACKS = {0: 0, 1: 1, "all": -1}
LAGGARDS_LEAVE = {"replica.lag.time.max.ms": 3000, "broker.session.timeout.ms": 60_000}
THE_DEAD_ARE_MISSED = {"replica.lag.time.max.ms": 60_000, "broker.session.timeout.ms": 4000}
HURRY_S = 2.0  # for what must happen before a follower leaves the ISR, or a broker is missed
PATIENCE_S = 30.0

State = dict[str, Any]
"""Of the partition: what happened, the LEO of each broker, the HW, the ISR."""


def frozen_follower(release: str) -> list[State]:
    """Broker 3 stands still, two records come with acks=1, it leaves the ISR, and comes back."""
    return _frozen(release, (3,))


def frozen_followers(release: str) -> list[State]:
    """The same with both followers."""
    return _frozen(release, (2, 3))


def _frozen(release: str, still: tuple[int, ...]) -> list[State]:
    with Kafka(3, release, config=LAGGARDS_LEAVE) as kafka:
        kafka.create_topic(PLACE.topic, assignment=[list(REPLICAS)])
        send(kafka, 1, ["a", "b", "c"], "all")
        seen = [_state(kafka, "3 records with acks=all", lambda state: state["HW"] == 3 and len(state["ISR"]) == 3)]
        with _in_a_hurry():
            for broker in still:
                kafka.freeze(broker)
            send(kafka, 1, ["d", "e"], 1)
            wanted = [3 if each in still else 5 for each in REPLICAS]
            seen.append(
                _state(
                    kafka,
                    f"{_named(still)} frozen, 2 records with acks=1",
                    lambda state: [state[f"LEO {each}"] for each in REPLICAS] == wanted,
                )
            )
        stays = [each for each in REPLICAS if each not in still]
        seen.append(_state(kafka, f"{_named(still)} left the ISR", lambda state: state["ISR"] == stays))
        for broker in still:
            kafka.thaw(broker)
        seen.append(_state(kafka, "thawed", lambda state: len(state["ISR"]) == 3 and state["HW"] == state["LEO 3"]))
        return seen


def lost_record(release: str) -> dict[str, Any]:
    """A record with acks=1 is acknowledged, its leader dies before a follower has it, and another takes its offset."""
    with Kafka(3, release, config=THE_DEAD_ARE_MISSED) as kafka:
        kafka.create_topic(PLACE.topic, assignment=[list(REPLICAS)])
        send(kafka, 1, ["a", "b"], "all")
        _state(kafka, "", lambda state: state["HW"] == 2 and len(state["ISR"]) == 3)
        with _in_a_hurry():
            kafka.freeze(2)
            kafka.freeze(3)
            answer = send(kafka, 1, ["paid"], 1)
            on_the_leader = _values(kafka, 1)
            kafka.kill(1)
            kafka.thaw(2)
            kafka.thaw(3)
        found = wait_for(
            lambda: kafka.partition(*PLACE, 2), lambda seen: seen.leader in (2, 3), "a new leader", PATIENCE_S
        )
        assert found.leader is not None, "it was waited for"
        next_answer = send(kafka, found.leader, ["next"], 1)
        wait_for(lambda: kafka.disk(3).log_end_offset(*PLACE), 3, "the end of broker 3:", PATIENCE_S)
        kafka.restart(1)
        wait_for(lambda: _values(kafka, 1), _values(kafka, found.leader), "the log of broker 1:", PATIENCE_S)
        return {
            "answer": answer,
            "log of 1 before": on_the_leader,
            "new leader": found.leader,
            "next answer": next_answer,
            "log of 1 after": _values(kafka, 1),
            "epochs of 1 after": [each[1] for each in kafka.disk(1).leader_epochs(*PLACE)],
        }


def send(kafka: Kafka, leader: int, values: list[str], acks: int | str) -> dict[str, Any]:
    """Send one batch to a broker: the error, and the first offset."""
    now_ms = int(time.time() * 1000)
    words = produce(PLACE, [(None, each.encode(), now_ms) for each in values], ACKS[acks], timeout_ms=10_000)

    def look() -> dict[str, Any]:
        answer = kafka.ask(leader, "Produce", words, NEWEST_PRODUCE_WITH_NAMES)
        (found,) = answer["responses"][0]["partitionResponses"]
        return {"error": error_name(found["errorCode"]), "offset": found["baseOffset"]}

    return wait_for(look, lambda seen: seen["error"] != "NOT_LEADER_OR_FOLLOWER", "the leader's answer")


def _state(kafka: Kafka, moment: str, is_there) -> State:
    def look() -> State:
        found = kafka.partition(*PLACE, 1)
        ends = {f"LEO {each}": kafka.disk(each).log_end_offset(*PLACE) for each in REPLICAS}
        return {"moment": moment, **ends, "HW": kafka.high_watermark(*PLACE), "ISR": sorted(found.isr)}

    return wait_for(look, is_there, f"the state after: {moment};", PATIENCE_S)


def _values(kafka: Kafka, broker: int) -> list[str]:
    return [(each.value or b"").decode() for each in kafka.disk(broker).records(*PLACE)]


@contextmanager
def _in_a_hurry() -> Iterator[None]:
    """Refuse what was done in this block if it took so long that somebody was missed meanwhile."""
    began = time.monotonic()
    yield
    if time.monotonic() - began > HURRY_S:
        raise NotReached(f"this machine is too busy: it took longer than {HURRY_S:.0f} s")


def _named(brokers: tuple[int, ...]) -> str:
    return " and ".join(f"broker {each}" for each in brokers)


# The shop's topics on a real broker, for Spark: orders, and groups that have committed.

ORDERS, SIMULATED = "orders", "simulated"
SHOP_PARTITIONS = 3
OFFSETS_PARTITIONS = 4
COMMITTED = {"billing": (40, 60, 50), "shipping": (10, 0, 20)}  # of each group the offset in each partition
SOON_MISSED = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 500}  # no broker takes less, by its default
READ_AT_ONCE, READ_S = 500, 0.1


class OnABroker:
    """A broker on this machine with topics, and Spark's connector; or nothing of it, and in `asked` the reason.

    Parameters
    ----------
    topics : mapping of str to int
        How many partitions each has.
    config : mapping
        Settings of the broker.
    release : str
        A release line.
    """

    def __init__(self, topics: Mapping[str, int], config: Mapping[str, object], release: str) -> None:
        """Start it, if it can be started."""
        self.kafka: Kafka | None = None
        self.jars: list[Path] = []
        try:
            self.jars = connector_jars(update=lambda done_bytes, total_bytes: None)
            self.kafka = Kafka(1, release, config).start()
            for topic, count in topics.items():
                self.kafka.create_topic(topic, count)
            self.asked = real_answers.started_sentence(self.kafka.release.version)
        except (KafkaNotFetched, KafkaNotStarted, NoAnswer, NotReached) as error:
            self.close()
            self.asked = real_answers.recorded_sentence(real_answers.reason_of(error))

    @property
    def address(self) -> str | None:
        """Where the broker is, as ``bootstrap.servers`` has it; None: there is none."""
        return self.kafka.bootstrap if self.kafka else None

    def close(self) -> None:
        """Stop it; a second time does nothing."""
        if self.kafka is not None:
            self.kafka.close()
            self.kafka = None

    def __enter__(self) -> Self:
        """The broker itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.close()


class Shop(OnABroker):
    """The topics ``orders`` and ``simulated`` on a real broker, and groups that commit, live and die."""

    def __init__(self, release: str = DEFAULT_RELEASE) -> None:
        """Start it, if it can be started."""
        self._members: dict[str, subprocess.Popen] = {}
        super().__init__(
            {ORDERS: SHOP_PARTITIONS, SIMULATED: 1}, {"offsets.topic.num.partitions": OFFSETS_PARTITIONS}, release
        )

    def commit(self) -> None:
        """Let the groups commit: two of them by hand, one that has a member which leaves again."""
        if self.kafka is None:
            return
        for group, offsets in COMMITTED.items():
            self.kafka.coordinator(group)
            consumer = self.kafka.consumer(group)
            places = [confluent_kafka.TopicPartition(ORDERS, *each) for each in enumerate(offsets)]
            consumer.commit(offsets=places, asynchronous=False)
            consumer.close()
        self._read_and_leave(self.kafka, "search")

    def start_member(self, group: str) -> None:
        """Let a member of a group, in a process of its own, read all orders and commit; it goes on reading."""
        kafka = self.kafka
        if kafka is None:
            return
        kafka.coordinator(group)
        self._members[group] = subprocess.Popen(
            [sys.executable, "-c", MEMBER, kafka.bootstrap, group], stdin=subprocess.PIPE
        )
        ends, committed_by = {at: kafka.high_watermark(ORDERS, at) for at in range(SHOP_PARTITIONS)}, kafka.committed

        def missing() -> dict[int, int]:
            done = {place.partition: each.offset for place, each in committed_by(group).items()}
            return {number: end for number, end in ends.items() if done.get(number, 0) < end}

        wait_for(lambda: kafka.group(group).state, "Stable", f"the state of {group!r}:", PATIENCE_S)
        wait_for(missing, {}, f"the log ends that {group!r} has yet to commit:", PATIENCE_S)

    def kill_member(self, group: str) -> None:
        """End that process as a machine fails: nobody leaves the group. Done when the coordinator has missed it."""
        kafka = self.kafka
        if kafka is not None and group in self._members:
            _killed(self._members.pop(group))
            wait_for(lambda: kafka.group(group).state, "Empty", f"the state of {group!r}:", PATIENCE_S)

    def close(self) -> None:
        """Stop it; a second time does nothing."""
        while self._members:
            _killed(self._members.popitem()[1])
        super().close()

    def _read_and_leave(self, kafka: Kafka, group: str) -> None:
        kafka.coordinator(group)
        consumer = kafka.consumer(group)
        consumer.subscribe([ORDERS])
        wait_for(lambda: (consumer.poll(0.05), len(consumer.assignment()))[1], SHOP_PARTITIONS, "partitions of search:")
        consumer.close()
        wait_for(lambda: kafka.group(group).state, "Empty", f"the state of {group!r}:")


# A company's topics on a real broker: a million orders, and the commits of ten thousand groups in all 50 partitions of
# the offsets topic.

COMPANY_PARTITIONS = 6
UNANSWERED = 100  # commits that are sent ahead of their answers


class Company(OnABroker):
    """A broker with ``orders`` in six partitions, ``__consumer_offsets`` in fifty, and many groups that commit."""

    def __init__(self, release: str = DEFAULT_RELEASE) -> None:
        """Start it, if it can be started."""
        super().__init__({ORDERS: COMPANY_PARTITIONS}, {"offsets.topic.num.partitions": PARTITIONS}, release)

    def commit(self, offsets: Mapping[str, Sequence[int]]) -> None:
        """Let each group commit an offset for each partition of ``orders``, in this order.

        Each commit is a request of its own, as a consumer without members sends it. They go out on one connection, a
        hundred ahead of their answers: the broker takes the requests of a connection one after the other, so that the
        records of a partition lie in this order.

        Raises
        ------
        Refused
            If the broker does not take one.
        """
        if self.kafka is None or not offsets:
            return
        self.kafka.coordinator(next(iter(offsets)))  # the topic is made when it is first asked for
        sent: deque[tuple[str, Pending]] = deque()
        with Connection(*parse_addresses(self.kafka.bootstrap)[0], timeout_s=TIMEOUT_S) as connection:

            def answered() -> None:
                group, pending = sent.popleft()
                for each in connection.receive(pending)["topics"][0]["partitions"]:
                    refuse_error(each, f"the commit of {group!r}")

            for group, committed_offsets in offsets.items():
                places = {TopicPartition(ORDERS, at): offset for at, offset in enumerate(committed_offsets)}
                values = commit(group, places)
                sent.append((group, connection.send("OffsetCommit", values, NEWEST_COMMIT_WITH_NAMES)))
                if len(sent) > UNANSWERED:
                    answered()
            while sent:
                answered()


MEMBER = "import sys; from kafkalearn.live.questions import read_and_commit; read_and_commit(*sys.argv[1:])"


def read_and_commit(bootstrap: str, group: str) -> None:
    """What a member does in its process, until its standard input is closed: the shop has it open."""
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    consumer = clients.consumer(bootstrap, group, SOON_MISSED)
    consumer.subscribe([ORDERS])
    while True:
        if consumer.consume(READ_AT_ONCE, READ_S):
            consumer.commit(asynchronous=False)


def _killed(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


# What the cleaner leaves of a log in its first pass and in a later one: when a tombstone goes.

CUSTOMERS = TopicPartition("customers", 0)
DELETE_RETENTION_MS = 1000
SEGMENT_MS = 1000
NEVER_MS = 10**14  # as min.compaction.lag.ms: leave the log alone
BEGAN_MS = 1_700_000_000_000  # timestamps are those of the script: a segment is closed by them, not by the clock
QUICK_CLEANER = {"log.cleaner.backoff.ms": 100, "log.initial.task.delay.ms": 100}
LATER_MS = 100_000  # so much later comes the record that closes the active segment

Script = tuple[tuple[str, str | None, int], ...]
"""(key, value or None, milliseconds since the script began)"""

ANNA_LEAVES: Script = (
    *(("anna", "Paris", 0), ("ben", "Rome", 10), ("anna", "Oslo", 1500)),
    *(("carl", "Bonn", 1510), ("anna", None, 3000), ("ben", "Bern", 3010)),
)
DORA_WAS_NEVER_THERE: Script = (
    *(("dora", None, 0), ("emil", "Lyon", 10), ("emil", "Graz", 1500)),
    *(("fay", "Kiel", 1510), ("fay", None, 3000), ("emil", None, 3010)),
)


def tombstone(release: str) -> dict[str, list[list[object]]]:
    """What is in the log before, after the first pass, and after one that comes later: [offset, key, value]."""
    return _log_after_passes(release, ANNA_LEAVES)


def tombstone_of_a_new_key(release: str) -> dict[str, list[list[object]]]:
    """The same where a tombstone is the first record of its key."""
    return _log_after_passes(release, DORA_WAS_NEVER_THERE)


def _log_after_passes(release: str, script: Script) -> dict[str, list[list[object]]]:
    with Kafka(1, release, config=QUICK_CLEANER) as kafka:
        config = {
            "cleanup.policy": "compact",
            "segment.ms": SEGMENT_MS,
            "min.cleanable.dirty.ratio": 0,
            "delete.retention.ms": DELETE_RETENTION_MS,
            "min.compaction.lag.ms": NEVER_MS,
        }
        kafka.create_topic(CUSTOMERS.topic, config=config)
        _send_script(kafka, script)
        _send_script(kafka, closing(script, 1))
        seen = {"before": _shown_log(kafka)}
        began_s = time.monotonic()
        _clean_once(kafka)
        seen["first pass"] = _shown_log(kafka)
        if time.monotonic() - began_s > DELETE_RETENTION_MS / 1000:  # the cleaner may have come a second time
            raise NotReached(f"the first pass was not over and looked at within {DELETE_RETENTION_MS} ms")
        time.sleep(DELETE_RETENTION_MS / 1000 + 0.2)  # the delete horizon, which the first pass has written, is past
        _send_script(kafka, closing(script, 2))
        _clean_once(kafka)
        seen["later pass"] = _shown_log(kafka)
        return seen


def closing(script: Script, number: int) -> Script:
    """A record whose timestamp closes the active segment, so that the cleaner may take it."""
    return (("closing", f"{number}", script[-1][2] + number * LATER_MS),)


def _send_script(kafka: Kafka, records: Iterable[tuple[str, str | None, int]]) -> None:
    kafka.send_records(
        CUSTOMERS.topic,
        [
            (key.encode(), None if value is None else value.encode(), BEGAN_MS + since_ms)
            for key, value, since_ms in records
        ],
    )


def _clean_once(kafka: Kafka) -> None:
    """One pass, which takes all but the active segment."""
    wanted = kafka.disk(1).segments(*CUSTOMERS)[-1].base_offset
    kafka.alter_topic(CUSTOMERS.topic, {"min.compaction.lag.ms": 0})
    wait_for(lambda: kafka.disk(1).checkpoint(CLEANED).get(CUSTOMERS), wanted, f"{CUSTOMERS} cleaned up to")
    kafka.alter_topic(CUSTOMERS.topic, {"min.compaction.lag.ms": NEVER_MS})


def _shown_log(kafka: Kafka) -> list[list[object]]:
    records = wait_for(lambda: kafka.disk(1).records(*CUSTOMERS), lambda found: True)
    return [[each.offset, (each.key or b"").decode(), each.value and each.value.decode()] for each in records]


# One order that nobody can process, and a share consumer that gives it back each time.

SHARE_GROUP = "workers"
BAD, GOOD = "bad", "good"
ACCEPTED, GIVEN_BACK = confluent_kafka.AcknowledgeType.ACCEPT, confluent_kafka.AcknowledgeType.RELEASE


def poison_order(release: str) -> dict[str, Any]:
    """What is delivered of two orders, as [offset, delivery count]; the lag after each poll; the log's end."""
    with Kafka(1, release) as kafka:
        kafka.create_topic(ORDERS)
        begins = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
        of_group = ConfigResource(ConfigResource.Type.GROUP, SHARE_GROUP, incremental_configs=[begins])
        admin = kafka.admin()
        (future,) = admin.incremental_alter_configs([of_group]).values()
        future.result(TIMEOUT_S)
        kafka.send(ORDERS, [BAD, GOOD])
        config = {"group.id": SHARE_GROUP, "share.acknowledgement.mode": "explicit"}
        deliveries: list[list[int | None]] = []
        lags: list[int | None] = []
        with confluent_kafka.ShareConsumer(clients.client_config(kafka.bootstrap, config)) as consumer:
            consumer.subscribe([ORDERS])

            def work() -> list[int | None]:
                messages = list(consumer.poll(1.0))
                for each in messages:
                    deliveries.append([each.offset(), each.delivery_count()])
                    consumer.acknowledge(each, GIVEN_BACK if each.value() == BAD.encode() else ACCEPTED)
                if messages:
                    consumer.commit_sync()
                    lags.extend(each.lag for each in kafka.share_offsets(SHARE_GROUP).values())
                return lags

            wait_for(work, lambda seen: 0 in seen, f"the end of the work of {SHARE_GROUP}", PATIENCE_S)
        return {"deliveries": deliveries, "lags": lags, "log end": kafka.high_watermark(ORDERS, 0)}


# Asks a question by its name: of a cluster that is started for it, and gone afterwards.

TRIES = 3

QUESTIONS: MappingProxyType[str, Callable[[str], object]] = MappingProxyType(
    {
        "coordinators": coordinators,
        "short group ids": short_group_ids,
        "partitions of keys": partitions_of_keys,
        "range": owners_by_range,
        "uniform": owners_by_uniform,
        "round robin": owners_by_round_robin,
        "tombstone": tombstone,
        "tombstone of a new key": tombstone_of_a_new_key,
        "frozen follower": frozen_follower,
        "frozen followers": frozen_followers,
        "lost record": lost_record,
        "command walk": command_walk,
        "releases": releases_side_by_side,
        "poison order": poison_order,
    }
)
"""Each question by its name: from a release line to the answer, which JSON can hold."""


def ask(name: str, release: str = DEFAULT_RELEASE) -> object:
    """The answer of a real Kafka of a release to a question, in one to ten seconds.

    Parameters
    ----------
    name : str
        One of `QUESTIONS`.
    release : str
        One of `kafkalearn.live.jars.releases`.

    Raises
    ------
    KafkaNotFetched, KafkaNotStarted
        If there is no Kafka here; the message says why, and what to do.
    NotReached
        If this machine is so busy that it was not in time, three times.
    KafkaLearnError
        If there is no such question.

    Examples
    --------
    ::

        ask("coordinators")["billing"]  # {'partition': 9, 'broker': 1}
    """
    question = QUESTIONS[one_of("question", name, QUESTIONS)]
    for attempt in range(1, TRIES + 1):
        try:
            return question(release)
        except (NotReached, NoAnswer):
            if attempt == TRIES:
                raise
    raise AssertionError("unreachable")


def ask_live(release: str = DEFAULT_RELEASE) -> None:
    """From now on `kafkalearn.releases.real_answers.real_answer` asks a Kafka of this release, started each time.

    All that the questions need is fetched and prepared now, if it is not there yet, with its progress shown. Where
    that cannot be had, or no Kafka can be started, it gives the recorded answers, and says so.
    """
    nobody = _reason_why_nobody_can_be_asked(release)

    def asked(name: str) -> object:
        if nobody is not None:
            raise real_answers.NobodyAnswers(nobody)
        return _asked_now(name, release)

    real_answers.ask_with(asked, find_release(release).version)


def ask_a_real_broker(name: str) -> Any:
    """The answer of a real Kafka to a question: asked now, if one was fetched before, else as it was recorded.

    It prints which of both it is. It fetches nothing itself: `make live` does, and `ask_live`.

    Parameters
    ----------
    name : str
        One of `QUESTIONS`.

    Raises
    ------
    KafkaLearnError
        If there is no such question.

    Examples
    --------
    ::

        ask_a_real_broker("coordinators")["billing"]  # {'partition': 9, 'broker': 1}
    """
    one_of("question", name, QUESTIONS)
    answer = real_answers.asked_or_recorded(name, _asked_if_fetched, find_release(DEFAULT_RELEASE).version)
    print(answer.asked)
    return answer.value


def _asked_if_fetched(name: str) -> object:
    if missing(find_release(DEFAULT_RELEASE)):
        raise real_answers.NobodyAnswers  # which needs no reason: the chapter says what to do
    return _asked_now(name, DEFAULT_RELEASE)


def _asked_now(name: str, release: str) -> object:
    try:
        return ask(name, release)
    except (KafkaNotFetched, KafkaNotStarted, NoAnswer, NotReached) as error:
        raise real_answers.NobodyAnswers(real_answers.reason_of(error)) from None


def _reason_why_nobody_can_be_asked(release: str) -> str | None:
    """None: all is there."""
    try:
        for each in dict.fromkeys((release, OLDER)):
            prepare(find_release(each))
        connector_jars()
    except (KafkaNotFetched, KafkaNotStarted) as error:
        return real_answers.reason_of(error)
    return None
