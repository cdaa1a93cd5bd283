"""Replication through failures: every disk, leader, ISR, epoch and answer after each action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from hypothesis import strategies

from kafkalearn.live.conform.mechanism import Answer, Case, Mechanism
from kafkalearn.live.conform.mechanisms.replication import scripts
from kafkalearn.live.conform.mechanisms.replication.playing import (
    BROKERS,
    LAGGARDS_LEAVE,
    THE_DEAD_ARE_MISSED,
    Run,
    heal,
)
from kafkalearn.live.conform.mechanisms.replication.simulated import replayed
from kafkalearn.live.kafka import FROZEN, RUNNING, Kafka

RULES = (
    "LEO, HW, remote LEO and ISR of a partition",
    "a cluster left to itself",
    "which release replicates by which rule",
    "the controller: elections, ISR changes, eligible leader replicas",
    "the leader epoch cache",
    "acks, failures and the result of a record",
)
ON_LAG = ("who leaves the ISR and who joins it, by release", "when a follower counts as caught up")
ON_CUTS = ("truncation by high watermark and by leader epoch", "the promises of replication")

MISSED_AFTER_MS = THE_DEAD_ARE_MISSED["broker.session.timeout.ms"] + 1000
LEFT_AFTER_MS = 2 * LAGGARDS_LEAVE["replica.lag.time.max.ms"]


def cases(*kinds: str) -> Callable[[str], Any]:
    """What draws scripts with these kinds of failures; every release can play them all."""
    drawn = strategies.fixed_dictionaries({"topics": scripts.topics(), "actions": scripts.actions(*kinds)})
    return lambda release: drawn


def ask(is_missed: bool, kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> Answer:
    """For each topic what was done, what its producer was answered, and what stood after each action.

    Where brokers are missed, an action is over when those that do not run count as dead; else when time enough for
    a laggard to leave has passed.
    """
    heal(kafka)
    names = {new_name("topic"): topic for topic in scripts.topics_of(case)}
    run = Run(kafka, names)
    for action in scripts.sensible(case):
        # A frozen follower that has all leaves with the next look behind a record: some time within half its lag time.
        may_leave = not is_missed and any(kafka.status(each) == FROZEN for each in BROKERS)
        scripts.play(run, action, has_state=not may_leave)
        lost = [each for each in BROKERS if kafka.status(each) != RUNNING]
        if not is_missed:
            if lost or action[0] == "thaw":
                run.pause(LEFT_AFTER_MS)
        elif len(lost) == len(BROKERS):
            run.pause(MISSED_AFTER_MS)
        elif action[0] != "produce":
            run.wait(offline=lost)
    return {f"topic {number}": run.entries[name] for number, name in enumerate(names)}


def say(config: Mapping[str, int], has_elr: bool, release: str, case: Case, seen: Answer) -> Answer:
    """The same entries with the simulator's states and answers.

    Where a cut of power has left a log is read from the entries: it was chosen when the script was played.
    """
    topics = scripts.topics_of(case)
    return {
        name: replayed(topic.case(config, has_elr), entries, release)
        for topic, (name, entries) in zip(topics, sorted(seen.items()), strict=True)
    }


def _mechanism(name: str, config: Mapping[str, int], has_elr: bool, kinds: tuple[str, ...], *rules: str) -> Mechanism:
    is_missed = config is THE_DEAD_ARE_MISSED
    return Mechanism(
        name, (*RULES, *rules), cases(*kinds), partial(ask, is_missed), partial(say, config, has_elr),
        {"brokers": len(BROKERS), "config": config, "has_eligible_leader_replicas": has_elr}, tries=3,
    )  # fmt: skip


ALL_KINDS = ("freeze", "thaw", "kill", "stop", "restart", "restart", "power", "race", "race")

WITH_ELR = _mechanism("replication with eligible leader replicas", THE_DEAD_ARE_MISSED, True, ALL_KINDS, *ON_CUTS)
WITHOUT_ELR = _mechanism(
    "replication without eligible leader replicas", THE_DEAD_ARE_MISSED, False, ALL_KINDS, *ON_CUTS
)
LAGGARDS = _mechanism("laggards leave the ISR", LAGGARDS_LEAVE, True, ("freeze", "thaw", "thaw"), *ON_LAG)
