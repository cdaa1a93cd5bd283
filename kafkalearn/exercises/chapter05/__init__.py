"""The exercises of chapter 05: can a rebalance be avoided?"""

from kafkalearn.exercises.chapter05.exercises import (
    all_exercises,
    rolling_restart,
    score,
    when_evicted,
    will_it_rebalance,
)
from kafkalearn.exercises.chapter05.incidents import alive_and_silent, smallest_change, ten_minutes

__all__ = [
    "alive_and_silent",
    "all_exercises",
    "rolling_restart",
    "score",
    "smallest_change",
    "ten_minutes",
    "when_evicted",
    "will_it_rebalance",
]
