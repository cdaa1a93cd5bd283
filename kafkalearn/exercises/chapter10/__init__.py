"""The exercises of chapter 10: how does an acknowledged record get lost?"""

from kafkalearn.exercises.chapter10.exercises import (
    all_exercises,
    fix_the_settings,
    lost_with_acks_all,
    lost_without_a_crash,
    predict_results,
    score,
    send_again,
    six_hours,
    two_faults,
    write_verdict,
)

__all__ = [
    "all_exercises",
    "fix_the_settings",
    "lost_with_acks_all",
    "lost_without_a_crash",
    "predict_results",
    "score",
    "send_again",
    "six_hours",
    "two_faults",
    "write_verdict",
]
