"""The exercises of chapter 07: what is inside __consumer_offsets?"""

from kafkalearn.exercises.chapter07.exercises import (
    a_year_of_retention,
    all_exercises,
    gone_while_consuming,
    group_records,
    long_weekend,
    my_key,
    read_key,
    score,
    when_gone,
    who_died,
)

__all__ = [
    "a_year_of_retention",
    "all_exercises",
    "gone_while_consuming",
    "group_records",
    "long_weekend",
    "my_key",
    "read_key",
    "score",
    "when_gone",
    "who_died",
]
