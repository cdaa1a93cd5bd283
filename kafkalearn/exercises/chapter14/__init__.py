"""The exercises of chapter 14: is it true?"""

from kafkalearn.exercises.chapter14.exercises import (
    all_exercises,
    hit_the_partition,
    predict_coordinators,
    predict_frozen_followers,
    predict_owners,
    predict_tombstones,
    read_with_old_places,
    score,
    seen_by_others,
)

__all__ = [
    "all_exercises",
    "hit_the_partition",
    "predict_coordinators",
    "predict_frozen_followers",
    "predict_owners",
    "predict_tombstones",
    "read_with_old_places",
    "score",
    "seen_by_others",
]
