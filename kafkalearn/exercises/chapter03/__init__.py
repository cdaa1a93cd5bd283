"""The exercises of chapter 03: who reads what?"""

from kafkalearn.exercises.chapter03.exercises import (
    all_exercises,
    idle_members,
    my_lags,
    one_partition,
    out_of_order,
    read_describe,
    score,
    twice_as_fast,
    whose_order,
    wrong_group_id,
)

__all__ = [
    "all_exercises",
    "idle_members",
    "my_lags",
    "one_partition",
    "out_of_order",
    "read_describe",
    "score",
    "twice_as_fast",
    "whose_order",
    "wrong_group_id",
]
