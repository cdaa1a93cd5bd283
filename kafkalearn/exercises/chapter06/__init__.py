"""The exercises of chapter 06: lost or twice?"""

from kafkalearn.exercises.chapter06.exercises import (
    all_exercises,
    billed_twice,
    last_or_next,
    lost_by_auto_commit,
    my_sink,
    one_slow_record,
    read_again,
    score,
    where_to_keep_it,
    which_order,
)

__all__ = [
    "all_exercises",
    "billed_twice",
    "last_or_next",
    "lost_by_auto_commit",
    "my_sink",
    "one_slow_record",
    "read_again",
    "score",
    "where_to_keep_it",
    "which_order",
]
