"""The exercises of chapter 13: what do I do about it?"""

from __future__ import annotations

from kafkalearn.exercises.chapter13.capstone import my_cluster
from kafkalearn.exercises.chapter13.commit_code import bare_offsets
from kafkalearn.exercises.chapter13.games import nobody_answers
from kafkalearn.exercises.chapter13.incidents import four_proposals
from kafkalearn.exercises.chapter13.plans import third_replica, who_inherits
from kafkalearn.exercises.chapter13.resets import where_it_goes_on
from kafkalearn.exercises.chapter13.signs import who_is_ill
from kafkalearn.exercises.kit.exercise import Chapter

_CHAPTER = Chapter(
    "13 operations",
    (
        four_proposals,
        who_inherits,
        where_it_goes_on,
        who_is_ill,
        third_replica,
        bare_offsets,
        nobody_answers,
        my_cluster,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
