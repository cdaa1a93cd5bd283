"""The exercises of chapter 07: what is inside __consumer_offsets?"""

from __future__ import annotations

from kafkalearn.exercises.chapter07.expiry import a_year_of_retention, long_weekend, when_gone
from kafkalearn.exercises.chapter07.games import gone_while_consuming
from kafkalearn.exercises.chapter07.records import group_records, my_key, read_key, who_died
from kafkalearn.exercises.kit.exercise import Chapter

_CHAPTER = Chapter(
    "07 offsets topic",
    (
        read_key,
        group_records,
        when_gone,
        my_key,
        who_died,
        long_weekend,
        gone_while_consuming,
        a_year_of_retention,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
