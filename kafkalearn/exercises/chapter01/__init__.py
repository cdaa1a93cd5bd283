"""The exercises of chapter 01: which broker coordinates my group?"""

from kafkalearn.exercises.chapter01.exercises import (
    all_exercises,
    at_three_in_the_morning,
    expand_offsets_topic,
    hot_broker,
    overflow_id,
    predict_partition,
    read_the_line,
    same_partition,
    score,
    write_offsets_partition,
)

__all__ = [
    "all_exercises",
    "at_three_in_the_morning",
    "expand_offsets_topic",
    "hot_broker",
    "overflow_id",
    "predict_partition",
    "read_the_line",
    "same_partition",
    "score",
    "write_offsets_partition",
]
