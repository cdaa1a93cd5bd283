"""The exercises of chapter 06: lost or twice?"""

from __future__ import annotations

from functools import cache

from kafkalearn.commits import (
    CommitSync,
    Crash,
    Poll,
    Process,
    Settings,
    Start,
    doubled,
    lost,
    simulate,
    summary,
    sweep,
)
from kafkalearn.exercises.chapter06 import commit_code as code
from kafkalearn.exercises.chapter06.games import lost_by_auto_commit
from kafkalearn.exercises.chapter06.incidents import billed_twice, one_slow_record, where_to_keep_it
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.values import Value

_FORTY = Settings(100, max_poll_records=40)
_POLLS = {
    "after": [Start(), Poll(), *[Process()] * 40, CommitSync(), Poll(), *[Process()] * 20],
    "before": [Start(), Poll(), CommitSync(), *[Process()] * 40, Poll(), CommitSync(), *[Process()] * 20],
}


@cache
def _after_the_crash(order: str) -> tuple[int, int, int]:
    """Where the next owner begins, and how many records are lost and doubled once it has read on."""
    begun = simulate(_FORTY, [*_POLLS[order], Crash(), Start("B")])[-1].state
    position = begun.consumer("B").position
    end = simulate(Settings(100), [Poll("B"), *[Process("B")] * (100 - position)], begun)[-1].state
    return position, len(lost(end)), len(doubled(end))


def _read_again() -> dict[str, int]:
    (begins, _, twice), (later, gone, _) = _after_the_crash("after"), _after_the_crash("before")
    return {"begins at": begins, "twice": twice, "begins at, commit first": later, "lost, commit first": gone}


read_again = Exercise(
    name="read_again",
    asks=(
        "A prediction. A partition holds the records 0 to 99, and a poll returns up to 40. The application processes "
        "what it got, commits, polls again. It has done 0 to 39 and committed, polled 40 to 79, and **crashes while "
        "it works on record 60**. At which offset does the next owner begin, and how many records are processed "
        "twice? And if the application committed *before* processing each poll's records: where would the next owner "
        "begin, and how many records would be lost?"
    ),
    start=(
        'answer = {\n    "begins at": ...,\n    "twice": ...,\n'
        '    "begins at, commit first": ...,\n    "lost, commit first": ...,\n'
        "}\nexercises.read_again.check(answer)"
    ),
    judge=Value(_read_again),
    solve=_read_again,
    hints=(
        "The next owner knows only what was committed. What was the last commit?",
        "Record 60 was not done yet when the crash came.",
        "With the commit first, the second commit says: 0 to 79 are dealt with.",
    ),
    reasoning=(
        "The last commit was 40, the *next* offset to read: the new owner begins there and processes 40 to 59, 20 "
        "records, for the second time. Record 60 was not done, so it is done once.\n\n"
        "With the commit first, 80 was committed as soon as the second poll had returned. The new owner begins at 80; "
        "60 to 79, 20 records, are never processed, and no log shows it."
    ),
    misconceptions=(
        Misconception({"begins at": 60}, "The coordinator does not know how far the work had come: it knows commits."),
        Misconception({"begins at": 39}, "What is committed is the next offset to read, not the last one done."),
        Misconception({"begins at": 80}, "That was the position, which died with the consumer."),
        Misconception({"begins at": 61}, "Nobody has committed the record that it was working on, nor the one before."),
        Misconception(
            {"begins at": 0}, "The group has committed once: the next owner goes on from there, not from the start."
        ),
        Misconception({"twice": 21}, "The record that it was working on at the crash had not taken effect yet."),
        Misconception({"twice": 40}, "Only those are done twice that were done once already: not the whole poll."),
        Misconception({"twice": 0}, "Records were done after the last commit; the next owner gets them again."),
        Misconception(
            {"begins at, commit first": 40},
            "The second commit came right after the second poll, before any work on it.",
        ),
        Misconception(
            {"begins at, commit first": 60}, "A commit without an offset commits the position: all that was polled."
        ),
        Misconception(
            {"lost, commit first": 0}, "Whatever was committed and not yet done will not be delivered again."
        ),
        Misconception(
            {"lost, commit first": 19}, "The record that it was working on has not taken effect: it is lost as well."
        ),
        Misconception({"lost, commit first": 40}, "Some records of the second poll were done before the crash."),
    ),
    moral="Duplicates or losses: the distance between what was done and what was committed.",
)

_CASES = {
    "a": ("before the batch", "crash", "poll, commitSync, process; the process is killed"),
    "b": ("each batch", "crash", "poll, process, commitSync; the process is killed"),
    "c": ("auto", "crash", "auto commit, one thread that processes all of a poll before the next; it is killed"),
    "d": ("auto", "close", "the same as c, but an exception ends the loop, and `finally` calls `consumer.close()`"),
    "e": ("auto, other threads", "crash", "auto commit, records handed to a thread pool, poll goes on; it is killed"),
    "f": ("offset in the sink", "crash", "result and next offset in one transaction of a database; it is killed"),
}


@cache
def _which_order() -> dict[str, frozenset[str]]:
    rows = {name: summary(sweep(strategy, accident=accident)) for name, (strategy, accident, _) in _CASES.items()}
    return {what: frozenset(name for name, row in rows.items() if row[what]) for what in ("lose", "double")}


which_order = Exercise(
    name="which_order",
    asks=(
        "Six consumers, and what ends them:\n\n| | consumer |\n| --- | --- |\n"
        + "\n".join(f"| {name} | {words} |" for name, (*_, words) in _CASES.items())
        + "\n\nThe end may come at any moment. Which of them *can* lose a record? Which *can* process one twice? Give "
        'the letters, for example `"ab"` or `{"a", "b"}`.'
    ),
    start='answer = {"lose": ..., "double": ...}\nexercises.which_order.check(answer)',
    judge=Value(_which_order),
    solve=_which_order,
    hints=(
        "A record is lost if a commit can be ahead of the work, and doubled if it can be behind.",
        "An auto commit commits the *position*: all that polls have returned. When does it happen in c, in d, in e?",
        '`summary(sweep("auto", accident="close"))` tries every moment for d; the other names are in `STRATEGIES`.',
    ),
    reasoning=(
        "Lose: a, d and e. In all three a commit can be ahead of the work: by choice in a; in d because `close` "
        "commits the position while records of the last poll are unprocessed; in e because other threads still work on "
        "what the next poll's auto commit covers.\n\n"
        "Double: b, c and e, where the commit can be behind. In e it can be either, at different moments.\n\n"
        "f does neither, as long as only one consumer at a time writes. d is no theory: kafka-python#932, "
        "confluent-kafka-python#76 and logstash-input-kafka#267 are reports of it."
    ),
    misconceptions=(
        Misconception(
            {"lose": frozenset("a")},
            "A close with auto commit, and a thread pool, let the commit run ahead of the work.",
        ),
        Misconception(
            {"lose": frozenset("acde")},
            "In one thread the next poll comes only when the work is done, so its auto commit is never ahead.",
        ),
        Misconception(
            {"double": frozenset("bc")}, "A pool can also be faster than the next auto commit: what then, in a crash?"
        ),
        Misconception(
            {"double": frozenset("bce") | {"f"}},
            "If result and offset are stored together, a crash finds both or neither.",
        ),
    ),
    moral="Ahead: lost. Behind: twice. Together: once.",
)

last_or_next = Exercise(
    name="last_or_next",
    asks=(
        "**Find the bug**, and there are two. From the records that were processed, as (partition, offset), this "
        "function makes the offsets to commit. After every restart the last record of each partition came once more, "
        "as in confluent-kafka-go#286 and kafka-rust#161; and a partition with one single record was never committed "
        "at all, as in go_kafka_client#70. Fix it."
    ),
    start=f"{code.OFFSETS_TO_COMMIT.source}\n\nexercises.last_or_next.check(offsets_to_commit)",
    judge=Function(
        code.OFFSETS_TO_COMMIT.repaired(),
        ("processed",),
        code.PROCESSED_CASES,
        unrepaired=code.OFFSETS_TO_COMMIT.function,
    ),
    solve=code.OFFSETS_TO_COMMIT.repaired,
    hints=(
        "After record 5: with which offset should a restarted consumer begin?",
        "What does the comparison do with a partition's very first record, offset 0?",
        "Once the next offset is stored, the record that follows has exactly that offset.",
    ),
    reasoning=(
        "What is committed is the *next* offset, last + 1. And `offset > 0` leaves offset 0 out: 0 is a real offset, "
        'and stands here for "nothing yet" as well.\n\n'
        f"{code.OFFSETS_TO_COMMIT.diff()}\n\n"
        "Java's `commitSync()` without arguments commits the positions and cannot make this mistake; a map made by "
        "hand can."
    ),
    misconceptions=(
        Misconception(
            code.OFFSETS_TO_COMMIT.repaired(0),
            "The next offset is stored now. But a record whose offset equals what is stored is left out, and so is a "
            "first record with offset zero.",
        ),
        Misconception(
            code.OFFSETS_TO_COMMIT.repaired(1), "Every record counts now; the last of them will still come again."
        ),
    ),
    moral="The committed offset is a promise about where to go on, not a receipt for what was done.",
)

my_sink = Exercise(
    name="my_sink",
    asks=(
        "Write an idempotent sink: `bill(deliveries)` returns a dict from each order to the cents billed. A delivery "
        "is `(topic, partition, offset, order, cents)`; after crashes some records are delivered again, alone or in "
        "batches. An order may well have several records, even two with the same amount."
    ),
    start="def bill(deliveries):\n    return ...\n\n\nexercises.my_sink.check(bill)",
    judge=Function(code.bill, ("deliveries",), code.DELIVERY_CASES),
    solve=lambda: code.bill,
    hints=(
        "What names a record, the same in each delivery and different from all other records?",
        "An offset is a place in one partition of one topic.",
        "Keep a `set` of the places that were billed.",
    ),
    reasoning=(
        "A record's name is its place: topic, partition *and* offset.\n\n```python\ndef bill(deliveries):\n"
        "    cents_by_order, seen = {}, set()\n"
        "    for topic, partition, offset, order, cents in deliveries:\n"
        "        if (topic, partition, offset) not in seen:\n"
        "            seen.add((topic, partition, offset))\n"
        "            cents_by_order[order] = cents_by_order.get(order, 0) + cents\n"
        "    return cents_by_order\n```\n\n"
        "In a database the set is a unique key, inserted in the transaction that bills. It cannot tell a record from "
        "its twin that a *producer* sent twice: those have two offsets, and only an id in the record itself, or an "
        "idempotent producer, helps."
    ),
    misconceptions=(
        Misconception(code.bill_everything, "That adds up every delivery, the repeated ones as well."),
        Misconception(code.bill_by_offset, "Each partition counts its offsets from zero: another one has the same."),
        Misconception(code.bill_by_partition_and_offset, "Another topic has a partition of that number, too."),
        Misconception(code.bill_by_order, "An order may have several records, and each of them is to be billed."),
        Misconception(
            code.bill_if_different_from_last,
            "A batch is delivered again as a whole: between a record and its copy there are others.",
        ),
    ),
    moral="An idempotent sink asks what a record is, not what it says.",
)

_CHAPTER = Chapter(
    "06 commits",
    (
        read_again,
        which_order,
        last_or_next,
        my_sink,
        one_slow_record,
        billed_twice,
        lost_by_auto_commit,
        where_to_keep_it,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
