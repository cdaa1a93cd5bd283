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
    TimePassed,
    doubled,
    lost,
    simulate,
    start,
    step,
    summary,
    sweep,
)
from kafkalearn.commits.simulator import NOT_LOST, broken
from kafkalearn.exercises.chapter06b import billed_twice
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import FaultyCode, Function, Open
from kafkalearn.exercises.kit.game import Game, moves_of

ONCE_HERE = (billed_twice,)
"""The exercises of 06 when it was one lesson: a copy of that time looks for them here."""

_FORTY = Settings(100, max_poll_records=40)
_POLLS = {
    "after": [Start(), Poll(), *[Process()] * 40, CommitSync(), Poll(), *[Process()] * 20],
    "before": [Start(), Poll(), CommitSync(), *[Process()] * 40, Poll(), CommitSync(), *[Process()] * 20],
}


@cache
def _after_the_crash(order: str) -> tuple[int, int, int]:
    """Where the next owner begins, and how many records are lost and doubled once it has read on."""
    begun = simulate(_FORTY, [*_POLLS[order], Crash(), Start("B")])[-1].state
    (owner,) = begun.consumers
    position = owner.position
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


def offsets_to_commit(processed):
    """The offset to commit for each partition."""
    offsets = {}
    for partition, offset in processed:
        if offset > offsets.get(partition, 0):
            offsets[partition] = offset
    return offsets


OFFSETS_TO_COMMIT = FaultyCode(
    offsets_to_commit,
    (
        ("offsets[partition] = offset\n", "offsets[partition] = offset + 1\n"),
        ("if offset > offsets.get(partition, 0):", "if offset >= offsets.get(partition, 0):"),
    ),
)

PROCESSED_CASES = tuple(
    (processed,)
    for processed in (
        (),
        ((0, 0),),
        ((0, 5),),
        ((0, 0), (0, 1)),
        ((3, 0), (1, 7)),
        ((0, 5), (0, 6), (0, 7)),
        ((0, 41), (1, 0), (0, 42), (2, 8)),
    )
)
"""What was processed, each as (partition, offset), in the order of each partition."""

last_or_next = Exercise(
    name="last_or_next",
    asks=(
        "**Find the bug**, and there are two. From the records that were processed, as (partition, offset), this "
        "function makes the offsets to commit. After every restart the last record of each partition came once more, "
        "as in confluent-kafka-go#286 and kafka-rust#161; and a partition with one single record was never committed "
        "at all, as in go_kafka_client#70. Fix it."
    ),
    start=f"{OFFSETS_TO_COMMIT.source}\n\nexercises.last_or_next.check(offsets_to_commit)",
    judge=Function(
        OFFSETS_TO_COMMIT.repaired(),
        ("processed",),
        PROCESSED_CASES,
        unrepaired=OFFSETS_TO_COMMIT.function,
    ),
    solve=OFFSETS_TO_COMMIT.repaired,
    hints=(
        "After record 5: with which offset should a restarted consumer begin?",
        "What does the comparison do with a partition's very first record, offset 0?",
        "Once the next offset is stored, the record that follows has exactly that offset.",
    ),
    reasoning=(
        "What is committed is the *next* offset, last + 1. And `offset > 0` leaves offset 0 out: 0 is a real offset, "
        'and stands here for "nothing yet" as well.\n\n'
        f"{OFFSETS_TO_COMMIT.diff()}\n\n"
        "Java's `commitSync()` without arguments commits the positions and cannot make this mistake; a map made by "
        "hand can."
    ),
    misconceptions=(
        Misconception(
            OFFSETS_TO_COMMIT.repaired(0),
            "The next offset is stored now. But a record whose offset equals what is stored is left out, and so is a "
            "first record with offset zero.",
        ),
        Misconception(
            OFFSETS_TO_COMMIT.repaired(1), "Every record counts now; the last of them will still come again."
        ),
    ),
    moral="The committed offset is a promise about where to go on, not a receipt for what was done.",
)


def bill(deliveries):
    """Each record once: its place in Kafka is its name."""
    cents_by_order, seen = {}, set()
    for topic, partition, offset, order, cents in deliveries:
        if (topic, partition, offset) not in seen:
            seen.add((topic, partition, offset))
            cents_by_order[order] = cents_by_order.get(order, 0) + cents
    return cents_by_order


def bill_everything(deliveries):
    """No memory at all."""
    cents_by_order = {}
    for *_, order, cents in deliveries:
        cents_by_order[order] = cents_by_order.get(order, 0) + cents
    return cents_by_order


def bill_by_offset(deliveries):
    """Two partitions have the same offsets."""
    return bill([("orders", 0, *rest) for _, _, *rest in deliveries])


def bill_by_partition_and_offset(deliveries):
    """Two topics have the same partitions."""
    return bill([("orders", *rest) for _, *rest in deliveries])


def bill_by_order(deliveries):
    """An order may have more than one record."""
    cents_by_order = {}
    for *_, order, cents in deliveries:
        cents_by_order.setdefault(order, cents)
    return cents_by_order


def bill_if_different_from_last(deliveries):
    """A batch that comes again comes as a whole."""
    kept = [each for at, each in enumerate(deliveries) if at == 0 or each != deliveries[at - 1]]
    return bill_everything(kept)


_A, _B = ("orders", 0, 7, "A", 500), ("orders", 0, 8, "B", 900)
DELIVERY_CASES = tuple(
    (deliveries,)
    for deliveries in (
        (),
        (_A,),
        (_A, _A),
        (_A, _B, _A, _B),
        (_A, ("orders", 1, 7, "C", 300)),
        (_A, ("returns", 0, 7, "A", -500)),
        (_A, ("orders", 0, 9, "A", 200), ("orders", 0, 9, "A", 200)),
        (_A, ("orders", 0, 12, "A", 500)),
    )
)
"""Deliveries, each as (topic, partition, offset, order, cents)."""

my_sink = Exercise(
    name="my_sink",
    asks=(
        "Write an idempotent sink: `bill(deliveries)` returns a dict from each order to the cents billed. A delivery "
        "is `(topic, partition, offset, order, cents)`; after crashes some records are delivered again, alone or in "
        "batches. An order may well have several records, even two with the same amount."
    ),
    start="def bill(deliveries):\n    return ...\n\n\nexercises.my_sink.check(bill)",
    judge=Function(bill, ("deliveries",), DELIVERY_CASES),
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
        Misconception(bill_everything, "That adds up every delivery, the repeated ones as well."),
        Misconception(bill_by_offset, "Each partition counts its offsets from zero: another one has the same."),
        Misconception(bill_by_partition_and_offset, "Another topic has a partition of that number, too."),
        Misconception(bill_by_order, "An order may have several records, and each of them is to be billed."),
        Misconception(
            bill_if_different_from_last,
            "A batch is delivered again as a whole: between a record and its copy there are others.",
        ),
    ),
    moral="An idempotent sink asks what a record is, not what it says.",
)


def safe_to_commit(polled, done):
    """The first record that is not done; when all are, one past the last."""
    for offset in polled:
        if offset not in done:
            return offset
    return polled[-1] + 1


def highest_done(polled, done):
    """What the client in the report did."""
    return max(done) + 1 if done else polled[0]


def as_many_as_done(polled, done):
    """Counts where it should look."""
    return polled[0] + len(done)


def last_safe(polled, done):
    """The last record before the gap, and not the next."""
    return max(polled[0], safe_to_commit(polled, done) - 1)


def next_number(polled, done):
    """Takes for granted that offsets have no gaps."""
    offset = polled[0]
    while offset in done:
        offset += 1
    return offset


SAFE_CASES = (
    ((0,), frozenset()),
    ((0,), frozenset({0})),
    ((4, 5, 6), frozenset({4})),
    ((4, 5, 6), frozenset({5, 6})),
    ((4, 5, 6), frozenset({4, 5, 6})),
    ((1, 2, 3, 4, 5, 6, 7, 8, 9, 10), frozenset({1, 2, 3, 4, 6, 7, 8, 9, 10})),
    ((10, 12, 15), frozenset({10, 12})),
    ((10, 12, 15), frozenset({10, 12, 15})),
    ((10, 12, 15), frozenset({12})),
)
"""Offsets that poll returned, ascending, and those that the threads are done with; a compacted topic has gaps."""

one_slow_record = Exercise(
    name="one_slow_record",
    asks=(
        "**A real report** (confluent-kafka-go#1179). Ten messages, 1 to 10, are processed in parallel. Number 5 is "
        "slow; 10 is done and its offset stored for the next commit. The program is stopped and started again, and 5 "
        "is never processed. Write `safe_to_commit(polled, done)`: from the offsets that poll returned, ascending, "
        "and the set of those that are done, the offset that may be committed so that nothing is lost and as little "
        "as possible comes twice. The topic is compacted: offsets have gaps."
    ),
    start=("def safe_to_commit(polled, done):\n    return ...\n\n\nexercises.one_slow_record.check(safe_to_commit)"),
    judge=Function(safe_to_commit, ("polled", "done"), SAFE_CASES),
    hints=(
        "Everything below a committed offset will never be delivered again.",
        "Walk through `polled` from the front: where must you stop?",
        "If nothing stops you, the next offset is one past the last.",
    ),
    reasoning=(
        "The first record that is not done holds the commit back, whatever is done behind it.\n\n```python\n"
        "def safe_to_commit(polled, done):\n    for offset in polled:\n        if offset not in done:\n"
        "            return offset\n    return polled[-1] + 1\n```\n\n"
        "The price: one slow record keeps the committed offset where it is, and after a crash all that was done "
        "behind it comes again. Libraries that process in parallel remember, beside the offset, which later records "
        "are done; they write that into the commit's metadata."
    ),
    misconceptions=(
        Misconception(highest_done, "That is what the program in the report did: slower records are passed by."),
        Misconception(as_many_as_done, "How many are done says nothing about which."),
        Misconception(last_safe, "A commit names the next record to read, not the last one that is done."),
        Misconception(
            next_number,
            "A compacted topic has no record at some offsets: the next to wait for is the next polled.",
        ),
    ),
    moral="A committed offset is one number: it cannot say that the fifth is missing.",
)

_CONSUMER = Settings(6, max_poll_records=2, is_auto=True)
_GAME = Game(
    step,
    broken,
    _CONSUMER,
    start(_CONSUMER),
    NOT_LOST,
    moves_of(Start(), Poll(), Process(), TimePassed(5000), Crash(), Start("B"), Poll("B"), Process("B")),
    "Start > Poll > TimePassed(5000) > Poll > Crash",
)

lost_by_auto_commit = Exercise(
    name="lost_by_auto_commit",
    asks=(
        "A game. Consumer A has auto commit on (every 5 s), and a poll returns up to two records. Users hope that "
        f"*{_GAME.promise}*. Break that promise; **par {_GAME.par}**. The moves: {_GAME.table()}; those with `'B'` are "
        "of a second consumer, which gets the partition when it starts. Give a line with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.lost_by_auto_commit.check(run)',
    judge=_GAME,
    hints=(
        "An auto commit commits the position: all that polls have returned. In which call does it happen?",
        "In a poll, when five seconds have passed since the last one. What if the records are not processed by then?",
    ),
    reasoning=(
        f"`{_GAME.best}`. The second poll commits what the first one has returned, and nothing of it was processed: "
        "when A crashes, no owner will ever get these records again. An application that processes each poll's records "
        "before it polls again cannot lose any this way; one that hands them to other threads can."
    ),
    misconceptions=(
        Misconception(
            "Start > Poll > Process > TimePassed(5000) > Poll > Process > Crash",
            "A record that was processed is not lost; leave out what saves it.",
            recognises=lambda run: "Process" in str(run) and str(run).count("Poll") > 1,
        ),
        Misconception(
            "Start > Poll > TimePassed(5000) > Crash",
            "Time alone commits nothing: it is the next poll that looks whether a commit is due.",
        ),
        Misconception("Start > Poll > Crash", "Nothing was committed, so the next owner gets the same records again."),
    ),
    moral="Auto commit trusts you to be done with the last poll when you call the next one.",
)

where_to_keep_it = Exercise(
    name="where_to_keep_it",
    asks=(
        "**Open question.** `billing` charges a card through the HTTP interface of a bank, and then writes a row into "
        "its own database. Which of the three cures fits where: an idempotent sink, the offset stored with the "
        "result, the offset as a lock? What can still go wrong between the bank and the database, and what would you "
        'ask the bank for? And what do you tell a colleague who says: "we set enable.auto.commit=false, so nothing '
        'can come twice"?'
    ),
    start="answer = ...\nexercises.where_to_keep_it.check(answer)",
    judge=Open(),
    solve=lambda: "The offset goes into the database with the row; the bank needs an idempotency key for each charge.",
    hints=(
        "Which of the two sinks can take part in a transaction with the offset?",
        "A crash between the charge and the row: what does the next owner see?",
        "Many payment interfaces take a key with each request, and answer a key's second one as its first.",
    ),
    reasoning=(
        "The database can hold row and offset in one transaction, and with the offset as a lock it also refuses a "
        "zombie. The bank cannot take part in it. If the crash comes after the charge and before the transaction, the "
        "next owner charges again, whatever is stored where. So the bank must be the idempotent one: a request with a "
        "key made of topic, partition and offset, or of the order, which it answers the second time with the first "
        "result.\n\n"
        "The colleague: without auto commit *you* say when to commit, which is before or after the work. Before loses, "
        "after doubles; turning the setting off prevents neither."
    ),
)

_CHAPTER = Chapter(
    "06 commits",
    (
        read_again,
        which_order,
        last_or_next,
        my_sink,
        one_slow_record,
        lost_by_auto_commit,
        where_to_keep_it,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
