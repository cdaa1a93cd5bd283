"""Records that are removed, by age, by size and by administrators; and what ListOffsets says of what is left."""

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
    appends,
    asked,
    line,
)
from kafkalearn.live.conform.mechanisms.log.simulated import say
from kafkalearn.versions.releases import at_least


def cases(release: str) -> Any:
    """Scripts of a log that retention takes from."""
    number = strategies.integers(0, PRODUCER_COUNT - 1)
    append = appends(strategies.sampled_from(KEYS) | strategies.none(), ("none", "gzip"))
    bytes_left = strategies.none() | strategies.sampled_from([1, 100, 200, 400, 800])
    retain = line("retain", strategies.none() | strategies.integers(0, 2), bytes_left)
    delete = line("delete", strategies.integers(-2, 40))
    end = line("end", number, strategies.booleans(), strategies.booleans())
    event = strategies.one_of(append, append, append, append, retain, delete, asked(), line("roll"), end)
    return strategies.fixed_dictionaries(
        {
            "policy": strategies.sampled_from(["delete", "compact,delete", *[""] * at_least("4.2", release)]),
            "dirty_ratio": strategies.just(0.5),
            "events": strategies.lists(event, min_size=1, max_size=MOST_EVENTS),
        }
    )


REMOVAL = Mechanism(
    name="retention and DeleteRecords",
    rules=(
        "segments: rolling, indexes, retention",
        "moving the log start",
        "which batches a log takes",
        "the offset for a time",
    ),
    cases=cases,
    ask=ask,
    say=say,
    settings={"brokers": 1, "config": HOUSEKEEPING},
    tries=2,
)
