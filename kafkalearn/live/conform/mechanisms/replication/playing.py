"""A script of failures on a real cluster, with several topics that look on: what was done, and what stood then."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kafkalearn.live.conform.mechanism import TooSlow
from kafkalearn.live.conform.mechanisms.replication.simulated import PRODUCE_TIMEOUT_MS
from kafkalearn.live.errors import NoAnswer, NotReached, NotThere, Refused
from kafkalearn.live.kafka import DOWN, FROZEN, RUNNING, Kafka
from kafkalearn.live.reading.brokers import refuse_error
from kafkalearn.live.reading.disk import HIGH_WATERMARKS
from kafkalearn.live.reading.logs import CONSUMER, NEWEST_WITH_NAMES
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.requests.values import NEWEST_PRODUCE_WITH_NAMES, produce
from kafkalearn.live.waiting import wait_for
from kafkalearn.topic_partition import TopicPartition

INTERVAL_S = 0.05
QUIET_S = 0.3  # a state that has stood unchanged for so long is kept
PATIENCE_S = 30.0
REJOIN_S = 3.0
COPY_S = 1.0
ACKS = {0: 0, 1: 1, "all": -1}
BROKERS = (1, 2, 3)

LAGGARDS_LEAVE = {"replica.lag.time.max.ms": 1500, "broker.session.timeout.ms": 30000}
"""A follower that stands still leaves the ISR, and its broker is not missed."""

THE_DEAD_ARE_MISSED = {"replica.lag.time.max.ms": 60000, "broker.session.timeout.ms": 2000}
"""A broker that stands still or is gone is fenced, and nobody leaves the ISR for its lag."""

HURRY_MS = 1300
"""Below ``broker.session.timeout.ms``: within this time nobody is missed."""


@dataclass(frozen=True)
class Topic:
    """A topic that looks on."""

    min_isr: int = 1
    is_unclean: bool = False
    replicas: tuple[int, ...] = BROKERS

    @property
    def config(self) -> dict[str, str]:
        """Its settings, as Kafka writes them."""
        return {
            "min.insync.replicas": str(self.min_isr),
            "unclean.leader.election.enable": str(self.is_unclean).lower(),
        }

    def case(self, config: Mapping[str, int], has_elr: bool) -> dict[str, Any]:
        """What a simulator has to know of it and its cluster, in the form of the recorded runs."""
        return {
            "topic_config": self.config,
            "broker_settings": {"replica.fetch.wait.max.ms": 100, **config},
            "elr": has_elr,
            "replicas": self.replicas,
        }


def heal(kafka: Kafka) -> None:
    """Let every broker run again."""
    for broker_id in BROKERS:
        if kafka.status(broker_id) == FROZEN:
            kafka.thaw(broker_id)
        elif kafka.status(broker_id) == DOWN:
            kafka.restart(broker_id)


class Run:
    """A script while it is played on a cluster of three brokers: for each topic its entries."""

    def __init__(self, kafka: Kafka, topics: Mapping[str, Topic]) -> None:
        """Create the topics, on brokers that all run."""
        self.kafka = kafka
        self.topics = dict(topics)
        self.entries: dict[str, list[dict[str, Any]]] = {name: [] for name in topics}
        self._sent = dict.fromkeys(topics, 0)
        self._is_hurried = False
        for name, topic in topics.items():
            kafka.create_topic(name, assignment=[topic.replicas], config=topic.config)
        self._note("start")

    def produce(self, count: int, acks: int | str, has_state: bool = True) -> None:
        """One request with one batch to the leader of each topic; without a state where laggards are about to leave."""
        answers = {name: self._send(name, count, acks) for name in self.topics}
        if self._is_hurried:
            self._await_copies()
        by_topic = {name: {"n": count, "acks": acks, "answer": answers[name]} for name in answers}
        self._note("produce", is_under_way=not has_state, by_topic=by_topic)

    def freeze(self, *brokers: int) -> None:
        """Let brokers stand still."""
        for each in brokers:
            self.kafka.freeze(each)
        self._note("freeze", brokers=list(brokers))

    def thaw(self, *brokers: int) -> None:
        """Let them go on; to be waited for."""
        for each in brokers:
            self.kafka.thaw(each)
        self._note("thaw", is_under_way=True, brokers=list(brokers))

    def kill(self, *brokers: int) -> None:
        """Kill brokers; to be waited for."""
        for each in brokers:
            self.kafka.kill(each)
        self._note("kill", is_under_way=True, brokers=list(brokers))

    def lose_power(self, broker: int, lost_batches: int, torn_bytes: int = 0) -> None:
        """Cut the power of a broker: so many batches of each topic have not reached its disk; to be waited for."""
        flushed_to = {name: self._offset_before(broker, name, lost_batches) for name in self.topics}
        places = {TopicPartition(name, 0): offset for name, offset in flushed_to.items()}
        self.kafka.lose_power(broker, places, torn_bytes)
        by_topic = {name: {"flushed_to": offset} for name, offset in flushed_to.items()}
        self._note("power", is_under_way=True, by_topic=by_topic, brokers=[broker])

    def stop(self, broker: int) -> None:
        """Stop a broker cleanly."""
        self.kafka.stop(broker)
        self._note("stop", brokers=[broker])

    def restart(self, *brokers: int) -> None:
        """Start brokers again; to be waited for."""
        for each in brokers:
            self.kafka.restart(each)
        self._note("restart", is_under_way=True, brokers=list(brokers))

    def wait(self, only: Sequence[str] = (), **wanted: Any) -> None:
        """Wait until each topic, or only these, has this ``isr``, ``leader`` (-1: none), and these are ``offline``."""
        wanted = {name: list(value) if isinstance(value, tuple) else value for name, value in wanted.items()}
        for name in only or self.topics:
            wait_for(lambda name=name: self._metadata(name), lambda seen: seen and wanted.items() <= seen.items(),
                     f"{name} with {wanted}", PATIENCE_S)  # fmt: skip
        by_topic = {name: wanted if name in (only or self.topics) else {} for name in self.topics}
        self._note("wait", by_topic=by_topic)

    def pause(self, ms: int) -> None:
        """Let time pass."""
        time.sleep(ms / 1000)
        self._note("pause", ms=ms)

    @contextmanager
    def in_a_hurry(self, limit_ms: int = HURRY_MS) -> Iterator[None]:
        """Note no states in this block.

        Raises
        ------
        TooSlow
            If it takes so long that a broker may have been missed.
        """
        began, self._is_hurried = time.monotonic(), True
        try:
            yield
        finally:
            self._is_hurried = False
        if (time.monotonic() - began) * 1000 > limit_ms:
            raise TooSlow(f"this machine is too busy: what has to take less than {limit_ms} ms took longer")

    # --- inside

    def _note(self, op: str, is_under_way: bool = False, by_topic: Mapping[str, dict] | None = None, **facts) -> None:
        states = {} if is_under_way or self._is_hurried else self._quiet_states()
        for name, entries in self.entries.items():
            entries.append({"op": op, **facts, **(by_topic or {}).get(name, {}), "state": states.get(name)})

    def _send(self, name: str, count: int, acks: int | str) -> dict[str, Any]:
        values = [f"v{self._sent[name] + number}" for number in range(count)]
        self._sent[name] += count
        now_ms = int(time.time() * 1000)
        records = [(None, value.encode(), now_ms) for value in values]
        words = produce(TopicPartition(name, 0), records, ACKS[acks], PRODUCE_TIMEOUT_MS)
        leader = wait_for(lambda: self._metadata(name) or {"leader": -1}, lambda _: True)["leader"]
        if leader == -1 or self.kafka.status(leader) != RUNNING:
            return {"broker": -1, "error": "no reachable leader", "base_offset": None, "values": values}
        if acks == 0:
            with self.kafka.connection(leader) as connection:
                connection.send("Produce", words, NEWEST_PRODUCE_WITH_NAMES)
                # The broker reads one request after the other: what comes behind is answered when this is written.
                connection.call("ApiVersions", {}, 0)
            return {"values": values}
        answer = self.kafka.ask(leader, "Produce", words, NEWEST_PRODUCE_WITH_NAMES)
        (found,) = answer["responses"][0]["partitionResponses"]
        base_offset = None if found["baseOffset"] == -1 else found["baseOffset"]
        return {
            "broker": leader, "error": error_name(found["errorCode"]), "base_offset": base_offset, "values": values,
        }  # fmt: skip

    def _await_copies(self) -> None:
        """Return when those that run have the same and have noted it, so that it is no race what a crash leaves."""
        running = [each for each in BROKERS if self.kafka.status(each) == RUNNING]
        for name in self.topics:
            place = TopicPartition(name, 0)
            try:
                wait_for(
                    lambda place=place: {self._noted(each, place) for each in running},
                    lambda seen: len(seen) == 1, f"{place} everywhere the same", COPY_S,
                )  # fmt: skip
            except NotReached as error:
                raise TooSlow(str(error)) from None

    def _noted(self, broker_id: int, place: TopicPartition) -> tuple[int, int]:
        disk = self.kafka.disk(broker_id)
        return disk.log_end_offset(*place), disk.checkpoint(HIGH_WATERMARKS).get(place, 0)

    def _offset_before(self, broker: int, name: str, batch_count: int) -> int:
        disk = self.kafka.disk(broker)
        batches = disk.batches(name, 0)
        if not batch_count or not batches:
            return disk.log_end_offset(name, 0)
        return batches[-min(batch_count, len(batches))].base_offset

    def _quiet_states(self) -> dict[str, dict[str, Any]]:
        """The states of all topics, once nothing moves."""
        began = time.monotonic()
        since, seen = began, None
        while time.monotonic() < began + PATIENCE_S:
            try:
                now = {name: self._state(name) for name in self.topics}
            except (NoAnswer, Refused, NotThere, OSError):
                now = None
            if now is None or now != seen:
                since, seen = time.monotonic(), now
            elif (time.monotonic() - since > QUIET_S and (self._is_at_rest(now) or since - began > REJOIN_S)) or (
                time.monotonic() - began > REJOIN_S + QUIET_S and time.monotonic() - since > QUIET_S
            ):
                return now
            time.sleep(INTERVAL_S)
        raise NotReached(f"the cluster does not come to rest: {seen}")

    def _is_at_rest(self, states: Mapping[str, Mapping[str, Any]]) -> bool:
        """Whether, where a leader runs, all that run are in sync and have noted its high watermark."""
        led = [each for each in states.values() if each["metadata"] and each["metadata"]["leader"] in each["up"]]
        return all(
            {*each["up"]} <= {*each["metadata"]["isr"]}
            and all(each["hw_checkpoint"][str(broker)] == each["hw"] for broker in each["up"])
            for each in led
        )

    def _state(self, name: str) -> dict[str, Any]:
        status = {each: self.kafka.status(each) for each in BROKERS}
        disks = {str(each): self.kafka.disk(each) for each in BROKERS}
        metadata = self._metadata(name)
        leader = metadata["leader"] if metadata else -1
        place = TopicPartition(name, 0)
        return {
            "up": [each for each in BROKERS if status[each] == RUNNING],
            "frozen": [each for each in BROKERS if status[each] == FROZEN],
            "dead": [each for each in BROKERS if status[each] == DOWN],
            "metadata": metadata,
            "hw": self._high_watermark(name, leader) if leader in BROKERS and status[leader] == RUNNING else None,
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

    def _high_watermark(self, name: str, leader: int) -> int:
        """As an answer to Fetch has it.

        ListOffsets gives none while it is below the offset at which the leader took over: OFFSET_NOT_AVAILABLE, for
        as long as fewer brokers than min.insync.replicas are in sync.
        """
        asked = {"partition": 0, "fetchOffset": 0, "partitionMaxBytes": 1}
        topics = [{"topic": name, "partitions": [asked]}]
        values = {"replicaId": CONSUMER, "maxWaitMs": 0, "minBytes": 0, "topics": topics, "forgottenTopicsData": []}
        answer = self.kafka.ask(leader, "Fetch", values, NEWEST_WITH_NAMES)
        (found,) = answer["responses"][0]["partitions"]
        refuse_error(found, f"the high watermark of {name}")
        return found["highWatermark"]

    def _metadata(self, name: str) -> dict[str, Any] | None:
        """What all running brokers know of a topic; None while they do not agree, or none runs."""
        running = [each for each in BROKERS if self.kafka.status(each) == RUNNING]
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
