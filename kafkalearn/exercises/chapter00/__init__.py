"""The exercises of chapter 00: does it all work here?"""

from kafkalearn.exercises.chapter00.exercises import (
    all_exercises,
    first_loss,
    leader_of,
    my_question,
    name_it,
    predict_coordinator,
    proof_of_install,
    score,
)

__all__ = [
    "all_exercises",
    "first_loss",
    "leader_of",
    "my_question",
    "name_it",
    "predict_coordinator",
    "proof_of_install",
    "score",
]
