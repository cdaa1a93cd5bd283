"""The exercises of chapter 09: what are HW and LEO, exactly?"""

from kafkalearn.exercises.chapter09.exercises import (
    all_exercises,
    flapping,
    lose_a_committed_record,
    make_marks,
    predict_marks,
    score,
    tighter_lag,
    when_it_leaves,
    write_high_watermark,
)

__all__ = [
    "all_exercises",
    "flapping",
    "lose_a_committed_record",
    "make_marks",
    "predict_marks",
    "score",
    "tighter_lag",
    "when_it_leaves",
    "write_high_watermark",
]
