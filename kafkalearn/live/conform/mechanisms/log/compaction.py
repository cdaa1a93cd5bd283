"""Logs that are compacted: what is left of them, to the header of every batch."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies

from kafkalearn.live.conform.mechanism import Mechanism
from kafkalearn.live.conform.mechanisms.log.canaries import HOUSEKEEPING
from kafkalearn.live.conform.mechanisms.log.playing import ask
from kafkalearn.live.conform.mechanisms.log.scripts import (
    KEYS,
    MOST_EVENTS,
    PRODUCER_COUNT,
    RETENTIONS_MS,
    TIMES_ASKED_MS,
    appends,
    asked,
    line,
)
from kafkalearn.live.conform.mechanisms.log.simulated import say

ALL_ASKED = ["offsets", [*TIMES_ASKED_MS]]


def cases(release: str) -> Any:
    """Scripts of a compacted log."""
    number = strategies.integers(0, PRODUCER_COUNT - 1)
    append = appends(strategies.sampled_from(KEYS))
    clean = line("clean", strategies.integers(0, 2), strategies.sampled_from(RETENTIONS_MS))
    end = line("end", number, strategies.booleans(), strategies.booleans())
    roll, epoch, delete = line("roll"), line("epoch", number), line("delete", strategies.integers(-1, 20))
    event = strategies.one_of(append, append, append, append, append, end, end, roll, clean, epoch, delete, asked())
    return strategies.fixed_dictionaries(
        {
            "policy": strategies.sampled_from(["compact", "compact,delete"]),
            "dirty_ratio": strategies.sampled_from([0.0, 0.5]),
            "events": strategies.lists(event, min_size=1, max_size=MOST_EVENTS).map(
                lambda events: [*events, ["roll"], ["clean", 0, 1], ["roll"], ["clean", 0, 1], ALL_ASKED]
            ),
        }
    )


COMPACTION = Mechanism(
    name="compaction",
    rules=(
        "the cleaner: what is dirty, what stays, how files are merged",
        "segments: rolling, indexes, retention",
        "which batches a log takes",
        "bytes of a record and of a batch",
        "sequence numbers and the window of five batches",
        "the offset for a time",
    ),
    cases=cases,
    ask=ask,
    say=say,
    settings={"brokers": 1, "config": HOUSEKEEPING},
    tries=2,
)
