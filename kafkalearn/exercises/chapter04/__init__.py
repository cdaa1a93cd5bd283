"""The exercises of chapter 04: who moves when one leaves?"""

from kafkalearn.exercises.chapter04.exercises import (
    all_exercises,
    many_small_topics,
    my_round_robin,
    needless_moves,
    range_pile,
    score,
    two_restarts,
    which_assignor,
    who_moves,
)

__all__ = [
    "all_exercises",
    "many_small_topics",
    "my_round_robin",
    "needless_moves",
    "range_pile",
    "score",
    "two_restarts",
    "which_assignor",
    "who_moves",
]
