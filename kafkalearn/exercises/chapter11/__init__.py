"""The exercises of chapter 11: where do requests wait?"""

from kafkalearn.exercises.chapter11.exercises import (
    all_exercises,
    count_the_left_behind,
    predict_buckets,
    read_the_metrics,
    score,
    tune_the_fetch,
    waits_too_long,
    what_to_watch,
    who_is_woken_when,
    write_place,
)

__all__ = [
    "all_exercises",
    "count_the_left_behind",
    "predict_buckets",
    "read_the_metrics",
    "score",
    "tune_the_fetch",
    "waits_too_long",
    "what_to_watch",
    "who_is_woken_when",
    "write_place",
]
