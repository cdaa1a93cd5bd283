"""The exercises of chapter 00: does it all work here?"""

from kafkalearn.exercises.chapter00.exercises import (
    all_exercises,
    predict_coordinator,
    proof_of_install,
    score,
)

__all__ = [
    "all_exercises",
    "predict_coordinator",
    "proof_of_install",
    "score",
]
