"""The exercises of chapter 02: where does my record land?"""

from kafkalearn.exercises.chapter02.exercises import (
    all_exercises,
    float_products,
    hot_key,
    mask_step,
    one_more_partition,
    score,
    tail_bytes,
    three_faults,
    which_hash,
    without_a_key,
)

__all__ = [
    "all_exercises",
    "float_products",
    "hot_key",
    "mask_step",
    "one_more_partition",
    "score",
    "tail_bytes",
    "three_faults",
    "which_hash",
    "without_a_key",
]
