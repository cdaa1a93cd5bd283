"""A script of failures, played on a real cluster and on the simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

import pytest

from conformance.mechanism import TooSlow
from conformance.mechanisms.replication import THE_DEAD_ARE_MISSED, Run, Topic, heal, replayed
from kafkalearn.live import Kafka

REPLICATION = (
    "LEO, HW, remote LEO and ISR of a partition", "a cluster left to itself", "which release replicates by which rule",
    "the controller: elections, ISR changes, eligible leader replicas", "the leader epoch cache",
)  # fmt: skip

TRIES = 10  # what has to be quick is played again where this machine was not
_ATTEMPTS = count(1)


def check(
    kafka: Kafka,
    script: Callable[[Run], None],
    topics: Mapping[str, Topic],
    has_elr: bool,
    config: Mapping[str, int] = THE_DEAD_ARE_MISSED,
) -> None:
    """Play a script, again if this machine was too busy for it, and compare what each topic has come to."""
    for _ in range(TRIES):
        heal(kafka)
        attempt = next(_ATTEMPTS)
        names = {f"{name}-{attempt}": topic for name, topic in topics.items()}
        run = Run(kafka, names)
        try:
            script(run)
        except TooSlow:
            continue
        for name, topic in names.items():
            simulated = replayed(topic.case(config, has_elr), run.entries[name], kafka.release.version)
            for real, ours in zip(run.entries[name], simulated, strict=True):
                assert ours == real, name
        return
    pytest.fail(f"this machine is too busy: {TRIES} times a broker stood still for longer than the script allows")
