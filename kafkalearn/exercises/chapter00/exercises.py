"""The exercises of chapter 00: does it all work here?"""

from __future__ import annotations

from kafkalearn.coordinator.rule import find_coordinator
from kafkalearn.exercises.chapter00.forms_of_answers import first_loss, leader_of, my_question, name_it
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.values import Value

_ID_COUNT = 1_000_000
_PARTITION_COUNT = 50
_REMAINDER = 12
_BROKER_IDS = (1, 2, 3)


def _ids_of_the_remainder() -> int:
    return len(range(_REMAINDER, _ID_COUNT, _PARTITION_COUNT))


def _coordinator_of_billing() -> int | None:
    return find_coordinator("billing", brokers=_BROKER_IDS, partition_count=_PARTITION_COUNT).broker_id


proof_of_install = Exercise(
    name="proof_of_install",
    asks=(
        "Let Spark count: how many of the ids 0 to 999,999 leave the remainder 12 when divided by 50? "
        "`spark.range(1_000_000)` has the ids in a column `id`. Give the number."
    ),
    start="count = ...\nexercises.proof_of_install.check(count)",
    judge=Value(_ids_of_the_remainder),
    solve=_ids_of_the_remainder,
    hints=(
        "Keep the rows you want with `.where(...)`; it takes an SQL condition as text.",
        "In SQL the remainder is `id % 50`.",
        '`spark.range(1_000_000).where("id % 50 = 12")` has the rows; `.count()` counts them.',
    ),
    reasoning=(
        '`spark.range(1_000_000).where("id % 50 = 12").count()` gives 20000.\n\n'
        "Each run of 50 ids holds one with the remainder 12, and a million ids are 20,000 such runs. If Spark says "
        "so too, then Python, Java and Spark work together here, and every chapter will run."
    ),
    misconceptions=(
        Misconception(_ID_COUNT, "That is all of them: the condition is missing."),
        Misconception(
            len(range(0, _ID_COUNT, _REMAINDER)),
            "These are the ids that can be divided by 12; the question is about the remainder of a division by 50.",
            recognises=lambda count: count in (_ID_COUNT // _REMAINDER, _ID_COUNT // _REMAINDER + 1),
        ),
        Misconception(1, "`/` divides, and only one id is 50 times 12; the remainder is `%`."),
        Misconception(12, "12 is the remainder; the question is how many ids leave it."),
        Misconception(
            _PARTITION_COUNT,
            "50 is how many remainders there are; the question is how many ids share one of them. (And `div` counts "
            "the ids of one run of 50.)",
        ),
    ),
    moral="Python, Java and Spark work together here.",
)

predict_coordinator = Exercise(
    name="predict_coordinator",
    asks=(
        "A prediction; you need no code. The group `billing` is kept in partition 9 of `__consumer_offsets`. The 50 "
        "partitions of that topic are led by the brokers 1, 2 and 3 in turn: partition 0 by broker 1, partition 1 by "
        "broker 2, and so on. Which broker coordinates `billing`? Give its id."
    ),
    start="broker_id = ...\nexercises.predict_coordinator.check(broker_id)",
    judge=Value(_coordinator_of_billing),
    solve=_coordinator_of_billing,
    hints=(
        "The coordinator of a group is the broker that leads its partition.",
        "The brokers repeat every three partitions: partitions 0, 3 and 6 have the same leader.",
    ),
    reasoning=(
        "Partition 9 is three full rounds of three after partition 0, so it has the same leader: broker 1.\n\n"
        '`find_coordinator("billing", brokers=[1, 2, 3])` says the same, with every step. Chapter 01 '
        "shows why it is partition 9."
    ),
    misconceptions=(
        Misconception(0, "0 is the remainder: a place in the row of brokers. The question is which id stands there."),
        Misconception(3, "Partitions are counted from 0: the last broker leads the third partition of each round."),
        Misconception(9, "9 is the partition; the question is which broker leads it."),
    ),
    moral="Chapter 01 shows where the 9 comes from.",
)

_CHAPTER = Chapter("00 start", (proof_of_install, predict_coordinator, name_it, leader_of, first_loss, my_question))
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
