"""The exercises of chapter 10: how does an acknowledged record get lost?"""

from kafkalearn.exercises.chapter10.exercises import (
    all_exercises,
    lost_without_a_crash,
    mend_the_settings,
    predict_fates,
    score,
    six_hours,
    two_faults,
    write_verdict,
)

__all__ = [
    "all_exercises",
    "lost_without_a_crash",
    "mend_the_settings",
    "predict_fates",
    "score",
    "six_hours",
    "two_faults",
    "write_verdict",
]
