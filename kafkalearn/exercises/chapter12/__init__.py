"""The exercises of chapter 12: how did a group agree before there was a coordinator?"""

from kafkalearn.exercises.chapter12.exercises import (
    all_exercises,
    block_the_finder,
    move_the_group,
    no_glob,
    patient_settings,
    score,
    stand_still,
    which_offset,
    who_owns,
    worse_about_the_topic,
)

__all__ = [
    "all_exercises",
    "block_the_finder",
    "move_the_group",
    "no_glob",
    "patient_settings",
    "score",
    "stand_still",
    "which_offset",
    "who_owns",
    "worse_about_the_topic",
]
