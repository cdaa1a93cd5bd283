"""A script of failures played on a real cluster, with several topics looking on; and the same on the simulator.

What is written down of a topic has the form of tests/vectors/replication/replication.json, and is compared in the same
way as what was recorded there.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from kafkalearn.live import Kafka
from kafkalearn.live.errors import NoAnswer, NotReached, Refused
from kafkalearn.live.reading.disk import HIGH_WATERMARKS
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.requests.values import NEWEST_PRODUCE_WITH_NAMES, produce
from kafkalearn.live.waiting import wait_for
from kafkalearn.replication import PowerLost, Settings, settle, simulate, step
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import extend
from tests.replication.test_recorded_cluster import carried_on, producer_answer, shown

QUIET_S = 0.3  # a state that has stood unchanged for so long is kept
PATIENCE_S = 30.0
ACKS = {0: 0, 1: 1, "all": -1}
BROKERS = (1, 2, 3)

LAGGARDS_LEAVE = {"replica.lag.time.max.ms": 1500, "broker.session.timeout.ms": 30000}
"""A follower that stands still leaves the ISR, and its broker is not missed."""

THE_DEAD_ARE_MISSED = {"replica.lag.time.max.ms": 60000, "broker.session.timeout.ms": 2000}
"""A broker that stands still or is gone is fenced, and nobody leaves the ISR for its lag."""


class TooSlow(Exception):  # noqa: N818  (a state of this machine, not a fault)
    """This machine was so busy that a broker was missed before the script meant it to be; play it again."""


@dataclass(frozen=True)
class Topic:
    """A topic that looks on."""

    min_isr: int = 1
    is_unclean: bool = False
    replicas: tuple[int, ...] = BROKERS

    @property
    def config(self) -> dict[str, str]:
        return {
            "min.insync.replicas": str(self.min_isr),
            "unclean.leader.election.enable": str(self.is_unclean).lower(),
        }


@dataclass(frozen=True)
class RunCluster:
    """A cluster of three brokers, all of them running when a script begins."""

    kafka: Kafka
    config: Mapping[str, int]
    elr: bool

    def heal(self) -> None:
        """Let every broker run again."""
        for broker_id in BROKERS:
            if self.kafka.status(broker_id) == "frozen":
                self.kafka.thaw(broker_id)
            elif self.kafka.status(broker_id) == "down":
                self.kafka.restart(broker_id)


class Run:
    """A script while it is played: what was done, and for each topic what stood then."""

    def __init__(self, cluster: RunCluster, topics: Mapping[str, Topic]) -> None:
        self.kafka = kafka = cluster.kafka
        config, elr = cluster.config, cluster.elr
        self.topics = dict(topics)
        self.sent = dict.fromkeys(topics, 0)
        for name, topic in topics.items():
            kafka.create_topic(name, assignment=[topic.replicas], config=topic.config)
        broker_settings = {"replica.fetch.wait.max.ms": 100, **config}
        self.cases = {
            name: {
                "topic_config": topic.config,
                "broker_settings": broker_settings,
                "elr": elr,
                "replicas": topic.replicas,
            }
            | {"events": []}
            for name, topic in topics.items()
        }
        self._is_hurried = False
        self._note("start")

    def produce(self, count: int, acks: int | str) -> None:
        """One request with one batch to the leader of each topic."""
        told = {name: self._send(name, count, acks) for name in self.topics}
        self._note("produce", by_topic={name: {"n": count, "acks": acks, "told": told[name]} for name in told})

    def freeze(self, *brokers: int) -> None:
        for each in brokers:
            self.kafka.freeze(each)
        self._note("freeze", brokers=list(brokers))

    def thaw(self, *brokers: int) -> None:
        for each in brokers:
            self.kafka.thaw(each)
        self._note("thaw", is_under_way=True, brokers=list(brokers))

    def kill(self, *brokers: int) -> None:
        for each in brokers:
            self.kafka.kill(each)
        self._note("kill", is_under_way=True, brokers=list(brokers))

    def lose_power(self, broker: int, flushed_to: int, torn_bytes: int = 0) -> None:
        """Cut the power of a broker: of each topic what lies behind an offset has not reached its disk."""
        places = {TopicPartition(name, 0): flushed_to for name in self.topics}
        self.kafka.lose_power(broker, places, torn_bytes)
        self._note("power", is_under_way=True, brokers=[broker], flushed_to=flushed_to)

    def stop(self, broker: int) -> None:
        self.kafka.stop(broker)
        self._note("stop", brokers=[broker])

    def restart(self, *brokers: int) -> None:
        for each in brokers:
            self.kafka.restart(each)
        self._note("restart", is_under_way=True, brokers=list(brokers))

    def wait(self, isr: Sequence[int] | None = None, leader: int | None = None, only: Sequence[str] = ()) -> None:
        """Wait until a topic, or only these, has this ISR, and this leader; -1: none."""
        wanted = {"isr": list(isr)} if isr is not None else {}
        wanted |= {} if leader is None else {"leader": leader}
        for name in only or self.topics:
            wait_for(lambda name=name: self._metadata(name), lambda seen: seen and wanted.items() <= seen.items(),
                     f"{name} with {wanted}", PATIENCE_S)  # fmt: skip
        by_topic = {name: wanted if name in (only or self.topics) else {} for name in self.topics}
        self._note("wait", by_topic=by_topic)

    @contextmanager
    def in_a_hurry(self, limit_ms: int):
        """Note no states in this block, and refuse the run if it takes longer than nobody may be missed."""
        began, self._is_hurried = time.monotonic(), True
        yield
        self._is_hurried = False
        if (time.monotonic() - began) * 1000 > limit_ms:
            raise TooSlow

    def _note(self, op: str, is_under_way: bool = False, by_topic: Mapping[str, dict] | None = None, **facts) -> None:
        states = {} if is_under_way or self._is_hurried else self._quiet_states()
        for name, case in self.cases.items():
            entry = {"op": op, **facts, **(by_topic or {}).get(name, {}), "state": states.get(name)}
            case["events"].append(entry)

    def _send(self, name: str, count: int, acks: int | str) -> dict:
        values = [f"v{self.sent[name] + number}" for number in range(count)]
        self.sent[name] += count
        now_ms = int(time.time() * 1000)
        words = produce(TopicPartition(name, 0), [(None, value.encode(), now_ms) for value in values], ACKS[acks])
        leader = wait_for(lambda: self._metadata(name), lambda seen: seen is not None)["leader"]
        if leader == -1 or self.kafka.status(leader) != "running":
            return {"broker": -1, "error": "no reachable leader", "base_offset": None, "values": values}
        answer = self.kafka.ask(leader, "Produce", words, NEWEST_PRODUCE_WITH_NAMES)
        (found,) = answer["responses"][0]["partitionResponses"]
        base_offset = None if found["baseOffset"] == -1 else found["baseOffset"]
        return {
            "broker": leader, "error": error_name(found["errorCode"]), "base_offset": base_offset, "values": values,
        }  # fmt: skip

    def _quiet_states(self) -> dict[str, dict]:
        """The states of all topics, once nothing moves."""
        deadline, since, seen = time.monotonic() + PATIENCE_S, time.monotonic(), None
        while time.monotonic() < deadline:
            try:
                now = {name: self._state(name) for name in self.topics}
            except (NoAnswer, Refused, OSError):
                now = None
            if now is None or now != seen:
                since, seen = time.monotonic(), now
            elif time.monotonic() - since > QUIET_S:
                return seen
            time.sleep(0.1)
        raise NotReached(f"the cluster does not come to rest: {seen}")

    def _state(self, name: str) -> dict:
        status = {each: self.kafka.status(each) for each in BROKERS}
        disks = {str(each): self.kafka.disk(each) for each in BROKERS}
        metadata = self._metadata(name)
        leader = metadata["leader"] if metadata else -1
        place = TopicPartition(name, 0)
        return {
            "up": [each for each in BROKERS if status[each] == "running"],
            "frozen": [each for each in BROKERS if status[each] == "frozen"],
            "dead": [each for each in BROKERS if status[each] == "down"],
            "metadata": metadata,
            "hw": self.kafka.high_watermark(name, 0) if leader in BROKERS and status[leader] == "running" else None,
            "leo": {key: disk.log_end_offset(name, 0) for key, disk in disks.items()},
            "hw_checkpoint": {key: disk.checkpoint(HIGH_WATERMARKS).get(place, 0) for key, disk in disks.items()},
            "epochs": {key: [list(each) for each in disk.leader_epochs(name, 0)] for key, disk in disks.items()},
            "values": {
                key: [
                    [record.offset, record.value.decode(), batch.leader_epoch]
                    for batch in disk.batches(name, 0)
                    for record in batch.records
                ]
                for key, disk in disks.items()
            },
        }

    def _metadata(self, name: str) -> dict | None:
        """What all running brokers know of a topic; None while they do not agree, or none runs."""
        running = [each for each in BROKERS if self.kafka.status(each) == "running"]
        seen = [self.kafka.partition(name, 0, each) for each in running]
        if not seen or any(each != seen[0] for each in seen):
            if seen:
                raise NoAnswer(f"the brokers do not agree yet about {name}: {seen}")
            return None
        return {
            "leader": -1 if seen[0].leader is None else seen[0].leader,
            "leader_epoch": seen[0].leader_epoch,
            "isr": list(seen[0].isr),
            "elr": list(seen[0].elr),
            "last_known_elr": list(seen[0].last_known_elr),
            "offline": list(seen[0].offline),
        }


def compare(case: dict, release: str) -> None:
    """Fail at the first line of a run after which the simulator stands otherwise, or answers otherwise."""
    topic, broker = case["topic_config"], case["broker_settings"]
    settings = Settings(
        release=release,
        min_insync_replicas=int(topic["min.insync.replicas"]),
        is_unclean_election_enabled=topic["unclean.leader.election.enable"] == "true",
        has_eligible_leader_replicas=case["elr"],
        assignment=tuple(case["replicas"]),
        replica_lag_time_max_ms=broker["replica.lag.time.max.ms"],
        fetch_wait_max_ms=broker["replica.fetch.wait.max.ms"],
    )
    trace = settle(settings, simulate(settings, []))
    for entry in case["events"]:
        since, leader = len(trace), trace[-1].state.controller.leader
        if entry["op"] == "power":
            lost = [PowerLost(broker_id, entry["flushed_to"]) for broker_id in entry["brokers"]]
            trace = extend(step, settings, trace, lost)
            continue
        trace = carried_on(case, settings, trace, entry)
        if entry["state"] is not None:
            assert shown(trace[-1].state) == entry["state"], entry
        if "told" in entry:
            answer = {key: value for key, value in entry["told"].items() if key != "values"}
            assert producer_answer(trace[since:], leader) == answer, entry
