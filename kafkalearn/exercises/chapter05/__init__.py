"""The exercises of chapter 05: can a rebalance be avoided?"""

from kafkalearn.exercises.chapter05.exercises import (
    all_exercises,
    no_members_fault,
    rolling_restart,
    score,
    smallest_change,
    stable_no_more,
    ten_minutes,
    when_evicted,
    will_it_rebalance,
)

__all__ = [
    "all_exercises",
    "no_members_fault",
    "rolling_restart",
    "score",
    "smallest_change",
    "stable_no_more",
    "ten_minutes",
    "when_evicted",
    "will_it_rebalance",
]
