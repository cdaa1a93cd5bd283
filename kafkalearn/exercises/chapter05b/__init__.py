"""The exercises of chapter 05b: how long does a rebalance take, and for whom?"""

from kafkalearn.exercises.chapter05b.exercises import (
    alive_and_silent,
    all_exercises,
    fenced,
    given_up,
    hours_of_rebalance,
    kip_848,
    price_of_heartbeats,
    score,
    slowest_member,
)

__all__ = [
    "alive_and_silent",
    "all_exercises",
    "fenced",
    "given_up",
    "hours_of_rebalance",
    "kip_848",
    "price_of_heartbeats",
    "score",
    "slowest_member",
]
