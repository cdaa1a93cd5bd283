"""Scripts of an operator on a real cluster: replicas move, leadership is given back, brokers fail meanwhile.

What is written down of a script has the form of tests/vectors/replication/reassignment.json. Each script has a topic of
its own; the cluster is whole when it begins.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.live import Kafka
from kafkalearn.live.errors import NoAnswer, Refused, wait_for
from kafkalearn.live.request_values import NEWEST_PRODUCE_WITH_NAMES, elect, error_name, produce, reassign

BROKERS = (1, 2, 3, 4)
ACKS = {0: 0, 1: 1, "all": -1}
CONFIG = {"replica.lag.time.max.ms": 60000, "broker.session.timeout.ms": 2000}
QUIET_S = 0.25
PATIENCE_S = 120.0

# name -> topic (replicas, min ISR), then the steps
SCRIPTS: dict[str, tuple[tuple[int, ...], int, list[tuple]]] = {
    "a replica moves while its new broker stands still": (
        (1, 2, 3), 1,
        [("produce", 2, "all"), ("freeze", 4), ("reassign", [4, 2, 3]), ("produce", 1, "all"), ("thaw", 4), ("end",),
         ("produce", 1, "all"), ("reassign", None)],
    ),
    "cancelled": (
        (1, 2, 3), 1,
        [("produce", 1, "all"), ("freeze", 4), ("reassign", [4, 2, 3]), ("reassign", None), ("reassign", None),
         ("thaw", 4), ("produce", 1, "all"), ("elect", "preferred")],
    ),
    "asked for the old replicas again": (
        (1, 2, 3), 1, [("freeze", 4), ("reassign", [4, 2, 3]), ("reassign", [1, 2, 3]), ("thaw", 4)],
    ),
    "asked for fewer of the old replicas": (
        (1, 2, 3), 1, [("freeze", 4), ("reassign", [4, 2, 3]), ("reassign", [2, 3]), ("thaw", 4)],
    ),
    "asked for others meanwhile": (
        (1, 2), 1,
        [("produce", 1, "all"), ("freeze", 4), ("reassign", [4, 2]), ("reassign", [3, 2]), ("end",), ("thaw", 4)],
    ),
    "one that stays dies meanwhile": (
        (1, 2, 3), 1,
        [("produce", 1, "all"), ("freeze", 4), ("reassign", [4, 2, 3]), ("kill", 3), ("wait", [1, 2]), ("thaw", 4),
         ("end",), ("produce", 1, "all"), ("restart", 3)],
    ),
    "the new one dies meanwhile": (
        (1, 2), 1,
        [("produce", 1, "all"), ("freeze", 4), ("reassign", [4, 1]), ("kill", 4), ("produce", 1, "all"),
         ("restart", 4), ("end",)],
    ),
    "the leader dies meanwhile": (
        (1, 2), 1,
        [("produce", 1, "all"), ("freeze", 4), ("reassign", [4, 2]), ("kill", 1), ("wait", [2]), ("produce", 1, "all"),
         ("thaw", 4), ("end",), ("restart", 1), ("produce", 1, "all")],
    ),
    "fewer, more, in another order": (
        (1, 2, 3), 1,
        [("produce", 1, "all"), ("reassign", [2, 1]), ("reassign", [1, 2]), ("elect", "preferred"),
         ("elect", "preferred"), ("reassign", [1, 2, 3, 4]), ("end",), ("reassign", [2, 3]), ("reassign", [2, 3])],
    ),
    "to brokers of which none had a replica": (
        (1, 2), 1, [("produce", 3, "all"), ("reassign", [4, 3]), ("end",), ("produce", 1, "all")],
    ),
    "what is refused": (
        (1, 2), 1,
        [("reassign", []), ("reassign", [1, 1]), ("reassign", [1, 9]), ("reassign", [1, 2, 3], False),
         ("reassign", None), ("elect", "preferred"), ("elect", "unclean")],
    ),
    "a factor that may not change while another move runs": (
        (1, 2), 1,
        [("freeze", 4), ("reassign", [4, 2], False), ("reassign", [1, 2, 3], False), ("reassign", [4, 1], False),
         ("thaw", 4), ("end",)],
    ),
    "min ISR counts against all replicas": (
        (1,), 2,
        [("produce", 1, "all"), ("freeze", 2), ("reassign", [1, 2]), ("produce", 1, "all"), ("produce", 1, 1),
         ("thaw", 2), ("end",), ("produce", 1, "all"), ("reassign", [1]), ("produce", 1, "all")],
    ),
    "fewer than min ISR": ((1, 2, 3), 3, [("produce", 1, "all"), ("reassign", [1]), ("produce", 1, "all")]),
    "leadership is given back by command": (
        (1, 2, 3), 1,
        [("produce", 1, "all"), ("kill", 1), ("wait", [2, 3]), ("elect", "preferred"), ("elect", "unclean"),
         ("restart", 1), ("wait", [1, 2, 3]), ("elect", "preferred"), ("elect", "preferred"), ("produce", 1, "all")],
    ),
    "an unclean election by command": (
        (1, 2), 1,
        [("produce", 1, "all"), ("kill", 2), ("wait", [1]), ("produce", 1, "all"), ("kill", 1), ("leaderless",),
         ("elect", "unclean"), ("restart", 2), ("elect", "preferred"), ("elect", "unclean"), ("restart", 1),
         ("wait", [1, 2])],
    ),
    "cancelled when only a new one is in sync": (
        (1,), 1,
        [("produce", 1, "all"), ("freeze", 3), ("reassign", [2, 3]), ("wait", [1, 2]), ("kill", 1), ("wait", [2]),
         ("reassign", None), ("restart", 1), ("thaw", 3), ("end",)],
    ),
    "a stop while replicas move": (
        (1, 2), 1,
        [("produce", 1, "all"), ("freeze", 4), ("reassign", [4, 2]), ("stop", 1), ("thaw", 4), ("end",),
         ("restart", 1)],
    ),
}  # fmt: skip


@dataclass
class Script:
    """One script while it is played on a cluster of four brokers."""

    kafka: Kafka
    topic: str
    replicas: tuple[int, ...]
    min_isr: int
    elr: bool
    steps: list[dict] = field(default_factory=list)
    sent: int = 0

    @property
    def place(self) -> TopicPartition:
        return TopicPartition(self.topic, 0)

    def play(self, steps: list[tuple]) -> dict:
        """Play all steps; the case as a vector has it."""
        self.kafka.create_topic(
            self.topic, assignment=[self.replicas], config={"min.insync.replicas": str(self.min_isr)}
        )
        begin = self._quiet()
        for place, (op, *words) in enumerate(steps):
            act = getattr(self, f"_{op}", None) or getattr(self.kafka, op)
            answer = act(*words)
            is_under_way = op in ("kill", "thaw", "restart", "stop") or steps[place + 1 : place + 2] == [("end",)]
            state = None if is_under_way else self._quiet()  # what follows is waited for
            self.steps.append({"op": op, "words": words, "answer": answer, "state": state})
        self.steps.append({"op": "rest", "words": [], "answer": None, "state": self._quiet()})
        topic = {"replicas": list(self.replicas), "min_isr": self.min_isr, "elr": self.elr}
        return {**topic, "begin": begin, "steps": self.steps}

    def heal(self) -> None:
        """Let every broker run again."""
        for broker_id in BROKERS:
            if self.kafka.status(broker_id) == "frozen":
                self.kafka.thaw(broker_id)
            elif self.kafka.status(broker_id) == "down":
                self.kafka.restart(broker_id)
        wait_for(self._offline, lambda offline: not offline, "all brokers alive", PATIENCE_S)

    def _offline(self) -> tuple[int, ...]:
        running = self.kafka.ask(self._any(), "Metadata", {"topics": []})["brokers"]
        return tuple(set(BROKERS) - {each["nodeId"] for each in running})

    def _any(self) -> int:
        return next(each for each in BROKERS if self.kafka.status(each) == "running")

    def _reassign(self, replicas: list[int] | None, may_change_factor: bool = True) -> str:
        words = reassign(self.place, replicas, may_change_factor)
        answer = self.kafka.ask(self._any(), "AlterPartitionReassignments", words, timeout_s=60)
        return error_name(answer["responses"][0]["partitions"][0]["errorCode"])

    def _elect(self, kind: str) -> str:
        words = elect(self.place, is_unclean=kind == "unclean") | {"timeoutMs": 200}
        answer = self.kafka.ask(self._any(), "ElectLeaders", words, timeout_s=60)
        return error_name(answer["replicaElectionResults"][0]["partitionResult"][0]["errorCode"])

    def _produce(self, count: int, acks: int | str) -> list:
        values = [f"m{self.sent + number}" for number in range(1, count + 1)]
        self.sent += count
        now_ms = int(time.time() * 1000)
        words = produce(self.place, [(None, value.encode(), now_ms) for value in values], ACKS[acks])
        leader = wait_for(self._metadata, lambda seen: seen["leader"] is not None, "a leader that all know")["leader"]
        answer = self.kafka.ask(leader, "Produce", words, NEWEST_PRODUCE_WITH_NAMES)
        (found,) = answer["responses"][0]["partitionResponses"]
        return [error_name(found["errorCode"]), None if found["baseOffset"] == -1 else found["baseOffset"]]

    def _wait(self, isr: list[int]) -> None:
        wait_for(lambda: self._metadata()["isr"], isr, f"ISR {isr}", PATIENCE_S)

    def _leaderless(self) -> None:
        wait_for(lambda: self._metadata()["leader"], None, "no leader", PATIENCE_S)

    def _end(self) -> None:
        wait_for(self._moves, [[], []], "the end of the reassignment", PATIENCE_S)

    def _moves(self) -> list[list[int]]:
        words = {"topics": [{"name": self.topic, "partitionIndexes": [0]}]}
        found = self.kafka.ask(self._any(), "ListPartitionReassignments", words)["topics"]
        if not found:
            return [[], []]
        (moving,) = found[0]["partitions"]
        return [moving["addingReplicas"], moving["removingReplicas"]]

    def _metadata(self) -> dict:
        running = [each for each in BROKERS if self.kafka.status(each) == "running"]
        seen = {self.kafka.partition(self.topic, 0, each) for each in running}
        if len(seen) > 1:
            raise NoAnswer(f"the brokers do not agree yet: {seen}")
        (known,) = seen
        return {
            "leader": known.leader,
            "leader_epoch": known.leader_epoch,
            "replicas": list(known.replicas),
            "isr": sorted(known.isr),
            "elr": sorted(known.elr),
            "last_known": list(known.last_known_elr),
        }

    def _state(self) -> dict:
        adding, removing = self._moves()
        return {**self._metadata(), "adding": adding, "removing": removing,
                "logs": {str(each): self._log(each) for each in BROKERS}}  # fmt: skip

    def _log(self, broker_id: int) -> list | None:
        """Offset, value and leader epoch of each record on a disk; None: there is no replica."""
        disk = self.kafka.disk(broker_id)
        if not (disk.folder / f"{self.topic}-0").is_dir():
            return None
        return [[record.offset, record.value.decode(), batch.leader_epoch] for batch in disk.batches(self.topic, 0)
                for record in batch.records]  # fmt: skip

    def _quiet(self) -> dict:
        """The state, once nothing has moved for a while."""
        deadline, since, seen = time.monotonic() + PATIENCE_S, time.monotonic(), None
        while time.monotonic() < deadline:
            try:
                now = self._state()
            except (NoAnswer, Refused, OSError):
                now = None
            if now is None or now != seen:
                since, seen = time.monotonic(), now
            elif time.monotonic() - since > QUIET_S:
                return seen
            time.sleep(0.05)
        raise AssertionError(f"the cluster does not come to rest: {seen}")


def play(kafka: Kafka, name: str, topic: str, elr: bool) -> dict:
    """One script on a cluster, as a vector has it."""
    replicas, min_isr, steps = SCRIPTS[name]
    script = Script(kafka, topic, replicas, min_isr, elr)
    script.heal()
    case = script.play(steps)
    script.heal()
    return {"name": name, **case}
