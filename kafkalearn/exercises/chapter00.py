"""The exercises of chapter 00: what is lost when a broker dies?"""

from __future__ import annotations

from kafkalearn.coordinator.rule import find_coordinator
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Open
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.replication import (
    ACKNOWLEDGED_SURVIVE,
    BrokerCrashed,
    BrokerStarted,
    Fetch,
    Produce,
    SessionExpired,
    Settings,
    broken,
    start,
    step,
)

_ID_COUNT = 1_000_000
_PARTITION_COUNT = 50
_REMAINDER = 12


proof_of_install = Exercise(
    name="proof_of_install",
    asks=(
        "Let Spark count: how many of the ids 0 to 999,999 leave the remainder 12 when divided by 50? "
        "`spark.range(1_000_000)` has the ids in a column `id`. Give the number."
    ),
    start="count = ...\nexercises.proof_of_install.check(count)",
    judge=Value(lambda: len(range(_REMAINDER, _ID_COUNT, _PARTITION_COUNT))),
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

_BROKER_IDS = (1, 2, 3)


predict_coordinator = Exercise(
    name="predict_coordinator",
    asks=(
        "A prediction; you need no code. The group `billing` is kept in partition 9 of `__consumer_offsets`. The 50 "
        "partitions of that topic are led by the brokers 1, 2 and 3 in turn: partition 0 by broker 1, partition 1 by "
        "broker 2, and so on. Which broker coordinates `billing`? Give its id."
    ),
    start="broker_id = ...\nexercises.predict_coordinator.check(broker_id)",
    judge=Value(lambda: find_coordinator("billing", brokers=_BROKER_IDS, partition_count=_PARTITION_COUNT).broker_id),
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

_WORDS = {"one server": "broker", "a place in a partition": "offset", "consumers that share": "group"}

name_it = Exercise(
    name="name_it",
    asks=(
        "Kafka's words; docs/glossary.md has them all. What is the name of one server of a cluster? What do "
        "you call the number that says where a record is in its partition? And consumers that share the partitions of "
        "a topic, so that each record is read by one of them: what are they together? Give one word for each; capitals "
        "do not matter."
    ),
    start="words = {\n" + "".join(f'    "{asked}": ...,\n' for asked in _WORDS) + "}\nexercises.name_it.check(words)",
    judge=Value(lambda: _WORDS),
    hints=(
        "All three are in the table of section 4, in the column *English*.",
        "The second one is also what a group commits: the place from which it goes on.",
    ),
    reasoning=(
        "A server is a **broker**. The place of a record in its partition is its **offset**, counted from 0. Consumers "
        "that share the partitions are a consumer **group**, known by its group id."
    ),
    misconceptions=(
        Misconception(
            {"one server": "controller"}, "The controller is a role: every other server of the cluster has a name, too."
        ),
        Misconception(
            {"a place in a partition": "key"}, "A key says which partition a record goes to, not where in it."
        ),
        Misconception({"a place in a partition": "position"}, "Right in English; Kafka has a word of its own for it."),
        Misconception({"consumers that share": "topic"}, "A topic is what they read; what are they together?"),
    ),
)


def _leader_of(partition: int, brokers: list[int]) -> int:
    return brokers[partition % len(brokers)]


def _counted_from_one(partition: int, brokers: list[int]) -> int:
    return brokers[(partition - 1) % len(brokers)]


def _remainder_as_id(partition: int, brokers: list[int]) -> int:
    return partition % len(brokers)


def _divided(partition: int, brokers: list[int]) -> int:
    return brokers[partition // len(brokers) % len(brokers)]


leader_of = Exercise(
    name="leader_of",
    asks=(
        "Your first function. `brokers` is a list of broker ids, and the brokers lead the partitions in turn: the "
        "first one leads partition 0, the second one partition 1, and after the last one it is the first one's turn "
        "again. Write `leader_of(partition, brokers)`. The check calls your function with several arguments, and "
        "shows you the smallest for which it is wrong."
    ),
    start="def leader_of(partition, brokers):\n    return ...\n\n\nexercises.leader_of.check(leader_of)",
    judge=Function(
        _leader_of,
        ("partition", "brokers"),
        ((0, [7]), (1, [7]), (0, [1, 2, 3]), (1, [1, 2, 3]), (3, [1, 2, 3]), (49, [1, 2, 3]), (5, [30, 10, 20, 40])),
    ),
    hints=(
        "`brokers[0]` is the first broker; `len(brokers)` says how many there are.",
        "The remainder by the number of brokers says whose turn it is: `partition % len(brokers)`.",
    ),
    reasoning=(
        "```python\ndef leader_of(partition, brokers):\n    return brokers[partition % len(brokers)]\n```\n\n"
        "The remainder is a place in the list, not an id: broker ids may be any numbers."
    ),
    misconceptions=(
        Misconception(_remainder_as_id, "The remainder is a place in the list; take the id that stands there."),
        Misconception(_counted_from_one, "Partitions are counted from 0, and so are the places in a list."),
        Misconception(_divided, "That gives a broker several partitions in a row; here they take turns."),
    ),
    moral="Many rules of Kafka end with a remainder.",
)

_TWO = Settings(2, fetch_wait_max_ms=0)
_LOSS = Game(
    step,
    broken,
    _TWO,
    start(_TWO),
    ACKNOWLEDGED_SURVIVE,
    moves_of(Produce(acks=1), Fetch(2), BrokerCrashed(1), SessionExpired(1), BrokerStarted(1)),
    "Produce(acks=1) > BrokerCrashed(1) > SessionExpired(1)",
)

first_loss = Exercise(
    name="first_loss",
    asks=(
        "A game. A partition has two copies: broker 1 leads, broker 2 follows. A producer is answered as soon as the "
        f"leader has its record (`acks=1`). Kafka's users hope that *{_LOSS.promise}*. Break that promise in as few "
        f"moves as you can; **par {_LOSS.par}**. The moves: {_LOSS.table()}. Write them in one line, with `>` between "
        "them. (`Fetch(2)`: broker 2 copies what is new. `SessionExpired(1)`: the cluster notices that broker 1 is "
        "gone, and broker 2 leads.)"
    ),
    start='run = ""  # for example "Fetch(2) > BrokerCrashed(1)"\nexercises.first_loss.check(run)',
    judge=_LOSS,
    hints=(
        "A record is lost when nobody who can still lead has a copy.",
        "Let the leader fail after it has answered, and before the other one has copied.",
    ),
    reasoning=(
        f"`{_LOSS.best}`. The record is answered when it is on broker 1 alone. Broker 1 fails, broker 2 leads, and has "
        "never seen the record. Chapters 09 and 10 are about what helps. The line is your whole run: send it to a "
        "friend, who can check it or go on from it."
    ),
    misconceptions=(
        Misconception(
            "Produce(acks=1) > Fetch(2) > BrokerCrashed(1) > SessionExpired(1)",
            "Broker 2 has copied the record, so it is still there when broker 2 leads.",
        ),
        Misconception(
            "Produce(acks=1) > BrokerCrashed(1)",
            "As long as nobody else leads, the record may come back with broker 1.",
        ),
    ),
    moral="One copy is no copy.",
)

my_question = Exercise(
    name="my_question",
    asks=(
        "**Open question.** Section 2 has the question of each chapter. Which of them have you met at work or in an "
        "article, and what do you believe the answer is today? Write a few sentences, and read them again when you "
        "have done that chapter."
    ),
    start='answer = """\n"""\nexercises.my_question.check(answer)',
    judge=Open(),
    solve=lambda: "Who coordinates my group? I believe it is the broker with the fewest groups.",
    hints=(
        "Any of them will do; one that you have an opinion on is best.",
        "Say what you would do if it happened tonight.",
    ),
    reasoning=(
        "There is nothing yet to compare it with. If you have written down what you believe, you will notice later "
        "where you were wrong. An open question like this one ends every chapter; its solution is what somebody with "
        "experience would answer."
    ),
)

_CHAPTER = Chapter("00 start", (proof_of_install, predict_coordinator, name_it, leader_of, first_loss, my_question))
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
