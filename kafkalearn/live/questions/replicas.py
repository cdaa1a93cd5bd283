"""LEO, HW and ISR while followers stand still, and an acknowledged record that is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from kafkalearn.live.errors import NotReached
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.requests.values import NEWEST_PRODUCE_WITH_NAMES, produce
from kafkalearn.live.waiting import wait_for
from kafkalearn.topic_partition import TopicPartition

PLACE = TopicPartition("orders", 0)
BROKERS = (1, 2, 3)
ACKS = {0: 0, 1: 1, "all": -1}
LAGGARDS_LEAVE = {"replica.lag.time.max.ms": 3000, "broker.session.timeout.ms": 60_000}
THE_DEAD_ARE_MISSED = {"replica.lag.time.max.ms": 60_000, "broker.session.timeout.ms": 4000}
HURRY_S = 2.0  # for what must happen before a follower leaves the ISR, or a broker is missed
PATIENCE_S = 30.0

State = dict[str, object]
"""Of the partition: what happened, the LEO of each broker, the HW, the ISR."""


def frozen_follower(release: str) -> list[State]:
    """Broker 3 stands still, two records come with acks=1, it leaves the ISR, and comes back."""
    return _frozen(release, (3,))


def frozen_followers(release: str) -> list[State]:
    """The same with both followers."""
    return _frozen(release, (2, 3))


def _frozen(release: str, still: tuple[int, ...]) -> list[State]:
    with Kafka(3, release, config=LAGGARDS_LEAVE) as kafka:
        kafka.create_topic(PLACE.topic, assignment=[list(BROKERS)])
        send(kafka, 1, ["a", "b", "c"], "all")
        seen = [_state(kafka, "3 records with acks=all", lambda state: state["HW"] == 3 and len(state["ISR"]) == 3)]
        with _in_a_hurry():
            for broker in still:
                kafka.freeze(broker)
            send(kafka, 1, ["d", "e"], 1)
            running = [each for each in BROKERS if each not in still]
            wanted = [5 if each in running else 3 for each in BROKERS]
            seen.append(
                _state(
                    kafka,
                    f"{_named(still)} frozen, 2 records with acks=1",
                    lambda state: [state[f"LEO {each}"] for each in BROKERS] == wanted,
                )
            )
        stays = [each for each in BROKERS if each not in still]
        seen.append(_state(kafka, f"{_named(still)} left the ISR", lambda state: state["ISR"] == stays))
        for broker in still:
            kafka.thaw(broker)
        seen.append(_state(kafka, "thawed", lambda state: len(state["ISR"]) == 3 and state["HW"] == state["LEO 3"]))
        return seen


def lost_record(release: str) -> dict[str, object]:
    """A record with acks=1 is acknowledged, its leader dies before a follower has it, and another takes its offset."""
    with Kafka(3, release, config=THE_DEAD_ARE_MISSED) as kafka:
        kafka.create_topic(PLACE.topic, assignment=[list(BROKERS)])
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


def send(kafka: Kafka, leader: int, values: list[str], acks: int | str) -> dict[str, object]:
    """Send one batch to a broker: the error, and the first offset."""
    now_ms = int(time.time() * 1000)
    words = produce(PLACE, [(None, each.encode(), now_ms) for each in values], ACKS[acks], timeout_ms=10_000)

    def look() -> dict[str, object]:
        answer = kafka.ask(leader, "Produce", words, NEWEST_PRODUCE_WITH_NAMES)
        (found,) = answer["responses"][0]["partitionResponses"]
        return {"error": error_name(found["errorCode"]), "offset": found["baseOffset"]}

    return wait_for(look, lambda seen: seen["error"] != "NOT_LEADER_OR_FOLLOWER", "the leader's answer")


def _state(kafka: Kafka, moment: str, is_there) -> State:
    def look() -> State:
        found = kafka.partition(*PLACE, 1)
        ends = {f"LEO {each}": kafka.disk(each).log_end_offset(*PLACE) for each in BROKERS}
        return {"moment": moment, **ends, "HW": kafka.high_watermark(*PLACE), "ISR": sorted(found.isr)}

    return wait_for(look, is_there, f"the state after: {moment};", PATIENCE_S)


def _values(kafka: Kafka, broker: int) -> list[str]:
    return [each.value.decode() for each in kafka.disk(broker).records(*PLACE)]


@contextmanager
def _in_a_hurry() -> Iterator[None]:
    """Refuse what was done in this block if it took so long that somebody was missed meanwhile."""
    began = time.monotonic()
    yield
    if time.monotonic() - began > HURRY_S:
        raise NotReached(f"this machine is too busy: it took longer than {HURRY_S:.0f} s")


def _named(brokers: tuple[int, ...]) -> str:
    return " and ".join(f"broker {each}" for each in brokers)
