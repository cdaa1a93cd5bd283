"""The exercises of chapter 13: what do I do about it?"""

from kafkalearn.exercises.chapter13.exercises import (
    all_exercises,
    bare_offsets,
    four_proposals,
    my_cluster,
    nobody_answers,
    score,
    third_replica,
    where_it_goes_on,
    who_inherits,
    who_is_ill,
)

__all__ = [
    "all_exercises",
    "bare_offsets",
    "four_proposals",
    "my_cluster",
    "nobody_answers",
    "score",
    "third_replica",
    "where_it_goes_on",
    "who_inherits",
    "who_is_ill",
]
