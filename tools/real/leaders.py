"""Who leads many partitions while brokers fail and come back: tests/vectors/operations/leaders.json."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

from kafkalearn.live import Kafka
from kafkalearn.live.errors import wait_for
from kafkalearn.live.reading import metadata_request
from kafkalearn.live.request_values import error_name

FILE = "operations/leaders.json"
ABOUT = (
    "Partitions (each of a topic of its own) of a cluster of three brokers (KRaft, one controller, no eligible leader "
    "replicas), the replicas of each, and of each leader, leader epoch and ISR at the start and after each event: "
    "fence (a broker is killed, and its session ends), unfence (it is back, and in every ISR that it can be in), elect "
    "(ElectLeaders of the preferred leader: of a partition, or of all; with the answers), check (the controller has "
    "balanced the leaders by itself: that cluster balances, and what stood between an unfence and the next check is "
    "not kept). Leader -1: nobody. Written by python3 -m tools.real leaders."
)
BROKERS = (1, 2, 3)
CHECK_S = 2
BALANCED = {"auto.leader.rebalance.enable": True, "leader.imbalance.check.interval.seconds": CHECK_S}
SEED, RANDOM_COUNT = 53, 3
QUIET_S = 1.0
Event = list[Any]

REPLICAS = ((1, 2, 3), (2, 3, 1), (3, 1, 2), (1, 2), (1,), (2, 1), (3, 2))
TOLD: Sequence[tuple[str, bool, Sequence[Sequence[int]], list[Event]]] = (
    (
        "one is lost and back, and leadership is given back when an administrator asks", False, REPLICAS,
        [["fence", 1], ["elect"], ["unfence", 1], ["elect", 0], ["elect", 1], ["elect"], ["elect", 4]],
    ),
    (
        "all are lost one by one, and back in another order", False, REPLICAS,
        [
            ["fence", 3], ["fence", 2], ["elect"], ["unfence", 2], ["fence", 1], ["unfence", 3], ["elect"],
            ["unfence", 1], ["elect"],
        ],
    ),
    (
        "the controller gives one of ten back by itself", True, ((1, 2, 3), *((2, 3),) * 9, (3, 2)),
        [
            ["fence", 1], ["unfence", 1], ["check"], ["fence", 3], ["fence", 2], ["unfence", 2], ["unfence", 3],
            ["check"],
        ],
    ),
)  # fmt: skip


def drawn(number: int) -> tuple[str, bool, Sequence[Sequence[int]], list[Event]]:
    """A script by chance; a broker is left alive."""
    chance = random.Random(f"{SEED}/{number}")
    replicas = [chance.sample(BROKERS, chance.randint(1, 3)) for _ in range(8)]
    fenced: list[int] = []
    events: list[Event] = []
    for _ in range(9):
        kind = chance.choice(("fence", "fence", "unfence", "unfence", "elect"))
        if kind == "fence" and len(fenced) < 2:
            fenced.append(chance.choice([each for each in BROKERS if each not in fenced]))
            events.append(["fence", fenced[-1]])
        elif kind == "unfence" and fenced:
            events.append(["unfence", fenced.pop(chance.randrange(len(fenced)))])
        elif kind == "elect":
            events.append(["elect", *([chance.randrange(len(replicas))] if chance.random() < 0.5 else [])])
    return f"by chance, {number}", False, replicas, events


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every case, by brokers of a release."""
    cases = []
    scripts = [*TOLD, *map(drawn, range(RANDOM_COUNT))]
    for is_balanced in (False, True):
        config = BALANCED if is_balanced else {}
        with Kafka(len(BROKERS), line, config, has_eligible_leader_replicas=False) as kafka:
            for number, (name, balances, replicas, events) in enumerate(scripts):
                if balances == is_balanced:
                    played = _played(kafka, f"led-{number}", replicas, events, is_balanced)
                    cases.append({"name": name, "balances": balances, **played})
                    print(name, flush=True)
    return cases


def _played(
    kafka: Kafka, topic: str, replicas: Sequence[Sequence[int]], events: Sequence[Event], is_balanced: bool
) -> dict[str, Any]:
    for place, each in enumerate(replicas):
        kafka.create_topic(_name(topic, place), assignment=[each])
    states: list[list[list[Any]] | None] = [_settled(kafka, topic, len(replicas))]
    answers: list[list[list[Any]] | None] = []
    for kind, *rest in events:
        answers.append(None)
        if kind == "fence":
            kafka.kill(rest[0])
            wait_for(lambda who=rest[0]: _leads(kafka, topic, len(replicas), who), False, f"broker {rest[0]} is missed")
        elif kind == "unfence":
            kafka.restart(rest[0])
            alive = {each for each in BROKERS if kafka.status(each) == "running"}
            wait_for(
                lambda alive=alive: [
                    set(isr) >= {*replicas[place]} & alive
                    for place, (leader, _, isr) in enumerate(_state(kafka, topic, len(replicas)))
                    if leader > 0
                ],
                all,
                f"broker {rest[0]} is in sync",
            )
        elif kind == "elect":
            answers[-1] = _elected(kafka, topic, rest)
        else:
            time.sleep(CHECK_S + 1)
        states.append(None if is_balanced and kind == "unfence" else _settled(kafka, topic, len(replicas)))
    for each in BROKERS:
        if kafka.status(each) != "running":
            kafka.restart(each)
    return {"replicas": replicas, "events": events, "states": states, "answers": answers}


def _name(topic: str, place: int) -> str:
    """The topic of a partition: partitions of one topic have as many replicas as each other."""
    return f"{topic}-{place:02}"


def _elected(kafka: Kafka, topic: str, rest: Sequence[int]) -> list[list[Any]]:
    partitions = [{"topic": _name(topic, each), "partitions": [0]} for each in rest] or None
    words = {"electionType": 0, "topicPartitions": partitions, "timeoutMs": 10_000}
    answer = kafka.ask(_somebody(kafka), "ElectLeaders", words)
    return sorted(
        [int(found["topic"].rpartition("-")[2]), error_name(each["errorCode"])]
        for found in answer["replicaElectionResults"]
        if found["topic"].startswith(f"{topic}-")
        for each in found["partitionResult"]
    )


def _somebody(kafka: Kafka) -> int:
    return next(each for each in BROKERS if kafka.status(each) == "running")


def _state(kafka: Kafka, topic: str, count: int) -> list[list[Any]]:
    """Leader, leader epoch and ISR of each partition, as a broker knows it."""
    names = [_name(topic, place) for place in range(count)]
    answer = kafka.ask(_somebody(kafka), "Metadata", metadata_request(names))
    partitions = [found["partitions"][0] for found in sorted(answer["topics"], key=lambda each: each["name"])]
    return [[each["leaderId"], each["leaderEpoch"], sorted(each["isrNodes"])] for each in partitions]


def _leads(kafka: Kafka, topic: str, count: int, who: int) -> bool:
    """Whether a broker leads, or is in an ISR beside others."""
    return any(leader == who or (who in isr and len(isr) > 1) for leader, _, isr in _state(kafka, topic, count))


def _settled(kafka: Kafka, topic: str, count: int) -> list[list[Any]]:
    """The state once it has stayed the same for a while."""
    state, since_s = _state(kafka, topic, count), time.monotonic()
    while time.monotonic() - since_s < QUIET_S:
        time.sleep(0.1)
        now = _state(kafka, topic, count)
        if now != state:
            state, since_s = now, time.monotonic()
    return state
