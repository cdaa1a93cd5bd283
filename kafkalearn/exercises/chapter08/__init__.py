"""The exercises of chapter 08: what does a tombstone do, and when does it go?"""

from kafkalearn.exercises.chapter08.exercises import (
    all_exercises,
    deleted_in_time,
    make_a_ghost,
    my_survivors,
    score,
    small_map,
    the_morning_after,
    two_phases,
    which_remain,
    which_segments_go,
)

__all__ = [
    "all_exercises",
    "deleted_in_time",
    "make_a_ghost",
    "my_survivors",
    "score",
    "small_map",
    "the_morning_after",
    "two_phases",
    "which_remain",
    "which_segments_go",
]
