"""The exercises of chapter 15: why does the reader stand still?"""

from __future__ import annotations

from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Open
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.transactions import EndTxn, InitProducerId, MarkerArrived, Produce, simulate
from kafkalearn.transactions import Settings as Cluster
from kafkalearn.transactions.client import Arrived, Ended, GaveUp, Sent, Settings, Started, broken, start, step
from kafkalearn.transactions.client_errors import ABORTABLE, FATAL, RETRIED, kind_of
from kafkalearn.transactions.model import Partition
from kafkalearn.transactions.reader import lag, poll
from kafkalearn.transactions.simulator import NOBODY_HELD_BACK


def _log() -> Partition:
    """The partition of the first exercise."""
    events = [
        InitProducerId("shop"),
        Produce("shop", "t-0", 0, 0, 0, ("A", "B")),
        Produce(None, "t-0", records=("C",), is_transactional=False),
        EndTxn("shop", 0, 0, commit=False),
        MarkerArrived("shop", "t-0"),
        Produce("shop", "t-0", 0, 1, 0, ("D",)),
        Produce(None, "t-0", records=("E",), is_transactional=False),
    ]
    log = simulate(Cluster(), events)[-1].state.partition("t-0")
    assert log is not None
    return log


def reading() -> dict[str, object]:
    """What a reader of that partition gets, and where it stands then."""
    log = _log()
    got = poll(log)
    behind = lag(log, got.position)
    return {
        "gets": {str(record) for _, record in got.records},
        "position": got.position,
        "lag of the tool": behind.by_the_tool,
        "records-lag": behind.by_the_client,
    }


predict_poll = Exercise(
    name="predict_poll",
    asks=(
        "A prediction. A partition holds, by offset:\n\n"
        "| 0 | 1 | 2 | 3 | 4 | 5 |\n| --- | --- | --- | --- | --- | --- |\n"
        "| A | B | C | ABORT | D | E |\n\n"
        "A, B and D were sent by one transactional producer, C and E without a transaction. The marker at 3 ended the "
        "transaction of A and B; that of D is open. A consumer with `isolation.level=read_committed` reads from 0 "
        "until "
        "it gets no more, and commits its position. Which records does it **get** (a set), at which **position** "
        "does it "
        "stand, "
        "what lag does `kafka-consumer-groups.sh` print (**lag of the tool**), and what does its own metric "
        "**records-lag** say?"
    ),
    start=(
        'answer = {"gets": ..., "position": ..., "lag of the tool": ..., "records-lag": ...}\n'
        "exercises.predict_poll.check(answer)"
    ),
    judge=Value(reading),
    hints=(
        "How far may it read? Not beyond the first offset of the oldest open transaction.",
        "It passes over aborted records and over markers; both have offsets.",
        "The tool takes the committed offset from the high watermark; the metric takes the position from the LSO.",
    ),
    reasoning=(
        "It gets **C** alone: A and B are aborted, D is open, and E lies behind D. The LSO is 4, and so is its "
        "position: "
        "it has passed the marker. The tool prints 6 - 4 = **2**, the metric 4 - 4 = **0**. Both are right, about "
        "different ends."
    ),
    misconceptions=(
        Misconception({"gets": {"C", "E"}}, "E is in no transaction, but it lies beyond the LSO: readers go in order."),
        Misconception({"position": 3}, "The position is behind all that it has passed, and it has passed the marker."),
        Misconception({"records-lag": 2}, "For a read_committed reader the metric's end is the last stable offset."),
        Misconception({"lag of the tool": 0}, "The tool knows no isolation level: its end is the high watermark."),
    ),
    moral="A lag is a difference of two numbers; ask which two.",
)


_CLIENT = Settings(Cluster(transaction_version=0, verification=False))
_GAME = Game(
    step,
    broken,
    _CLIENT,
    start(_CLIENT),
    NOBODY_HELD_BACK,
    {
        **moves_of(Started(), Sent(), Arrived(), GaveUp(), Ended()),
        "Ended(commit=False)": Ended(commit=False),
        **moves_of(MarkerArrived("x", "t-0")),
    },
    "Started > Sent > GaveUp > Ended(commit=False) > MarkerArrived('x', 't-0') > Arrived",
)

hang_the_reader = Exercise(
    name="hang_the_reader",
    asks=(
        "A game. Brokers that do not verify, as before Kafka 3.6; one producer with the transactional id `x`, one "
        f"partition. Users hope that *{_GAME.promise}*. Hang the reader; **par {_GAME.par}**, as the search needs. The "
        f"moves: {_GAME.table()}. `Arrived` brings the oldest request on its way to its leader, also one that the "
        "producer has given up. Give a line with `>` between the moves, or a list of events."
    ),
    start='run = ""  # moves with > between them\nexercises.hang_the_reader.check(run)',
    judge=_GAME,
    hints=(
        "A transaction that the coordinator knows it will end by itself. So the coordinator must be through with it.",
        "Which message can still be under way when the transaction has ended?",
        "The record must come after the marker; until then its producer must have stopped to wait for it.",
    ),
    reasoning=(
        f"`{_GAME.best}`. The producer gives its record up and aborts. The marker is written, the coordinator is "
        "through. Then the record comes: same producer id, same epoch, the first sequence number. For the partition "
        "it begins a transaction, and nobody will ever end that one.\n\n"
        "With verification (3.6) the leader asks the coordinator before it begins a transaction, and refuses. With "
        "`transaction.version=2` (4.0) the marker has raised the epoch, and the record is of an old one."
    ),
    misconceptions=(
        Misconception(
            "Started > Sent > Arrived",
            "The coordinator knows of that transaction: it ends it after transaction.timeout.ms at the latest.",
        ),
        Misconception(
            "Started > Sent > GaveUp > Ended(commit=False) > Arrived > MarkerArrived('x', 't-0')",
            "The marker came after the record, and ended what the record had begun.",
        ),
    ),
    moral="A timeout of the client says nothing about the request: it may arrive at any time.",
)


def three() -> dict[str, object]:
    """The answer about the three open transactions."""
    return {"holds readers back": 4713, "hangs": {4713}, "seconds": 70}


three_open = Exercise(
    name="three_open",
    asks=(
        "**Incident.** Monday, 08:30. `kafka-transactions.sh describe-producers` shows three open transactions in "
        "`orders-7`, and `describe` what the coordinator knows of their ids. Broker settings are Kafka's defaults.\n\n"
        "| producer id | first offset | begun | the coordinator says | transaction.timeout.ms |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| 4711 | 92410 | 08:29:40 | Ongoing, orders-7 | 60000 |\n"
        "| 4712 | 91877 | 08:20:05 | Ongoing, orders-7 | 900000 |\n"
        "| 4713 | 83372 | Friday 18:56 | CompleteAbort, no partition | 60000 |\n\n"
        "Which producer id **holds readers back** now? Which of them **hangs**, so that nobody will end it (a set)? "
        "And "
        "if 4711's pod dies now, after how many **seconds** from its begin is its abort decided, at the latest?"
    ),
    start=('answer = {"holds readers back": ..., "hangs": ..., "seconds": ...}\nexercises.three_open.check(answer)'),
    judge=Value(three),
    hints=(
        "The last stable offset is the smallest first offset of all open transactions.",
        "The coordinator ends what it calls Ongoing once its time is over. What of the others?",
        "It looks for transactions whose time is over every 10 seconds.",
    ),
    reasoning=(
        "4713 began first, so the LSO is 83372 and everything behind it is hidden. It also **hangs**: the partition "
        "says open, and the coordinator is through. 4712 is old, but its time-out is 15 minutes. 4711's abort is "
        "decided after 60 s and at most the 10 s of `transaction.abort.timed.out.transaction.cleanup.interval.ms`: "
        "70.\n\n"
        "`kafka-transactions.sh abort --topic orders --partition 7 --start-offset 83372` writes the marker that 4713 "
        "lacks."
    ),
    misconceptions=(
        Misconception(
            {"hangs": {4712, 4713}}, "4712 may be open for 15 minutes, and its coordinator knows of it: it will end."
        ),
        Misconception({"seconds": 60}, "After 60 s its time is over; the coordinator looks every 10 s."),
        Misconception({"holds readers back": 4711}, "The newest holds back nobody whom an older one does not hold."),
    ),
    moral="Hanging is not old: it is open at the partition, and unknown to the coordinator.",
)

MET = (
    ("CONCURRENT_TRANSACTIONS", "AddPartitionsToTxn"),
    ("PRODUCER_FENCED", "EndTxn"),
    ("TRANSACTION_ABORTABLE", "Produce"),
    ("ILLEGAL_GENERATION", "TxnOffsetCommit"),
    ("INVALID_PRODUCER_EPOCH", "Produce"),
    ("INVALID_TXN_STATE", "EndTxn"),
)
"""Errors of the exercise on what to do next, each with the request that it answers."""

_NEXT = {RETRIED: "wait", ABORTABLE: "abort", FATAL: "close"}


def next_step(name: str, request: str) -> str:
    """What an application does after an error: it waits, aborts, or closes the producer."""
    return _NEXT[kind_of(name, request)]


what_next = Exercise(
    name="what_next",
    asks=(
        "A transactional producer of today gets these errors, each as the answer to the request in brackets. What "
        "comes next?\n\n"
        '- `"wait"`: nothing; the client sends the request again by itself,\n'
        '- `"abort"`: abortTransaction, then begin anew with the same producer,\n'
        '- `"close"`: close the producer; no call of it will work again.'
    ),
    start="steps = {\n"
    + "".join(f'    "{name}": ...,  # {request}\n' for name, request in MET)
    + "}\nexercises.what_next.check(steps)",
    judge=Value(lambda: {name: next_step(*pair) for pair in MET for name in pair[:1]}),
    hints=(
        "Who is still right about the id: this instance, or another one?",
        "A fence at the coordinator is final, whoever raised the epoch. At a partition the client may still abort.",
        "`client_errors()` in the section on fences has all of them.",
    ),
    reasoning=(
        "CONCURRENT_TRANSACTIONS: markers are under way, **wait**. PRODUCER_FENCED and INVALID_TXN_STATE at the "
        "coordinator: **close**. TRANSACTION_ABORTABLE says it in its name. ILLEGAL_GENERATION: the group had a "
        "rebalance, the work is somebody else's; **abort**, and poll. INVALID_PRODUCER_EPOCH at a partition: **abort** "
        "(since 2.7, KIP-588), and the abort says more: it is answered PRODUCER_FENCED, and then close, if another "
        "instance has the id, and below transaction.version 2 also if the coordinator has aborted for time; at 2 it "
        "succeeds after a time-out, and the producer goes on."
    ),
    misconceptions=(
        Misconception(
            {"PRODUCER_FENCED": "abort"},
            "Another instance has the id now, or the coordinator has aborted for time; either way it answers the same "
            "again.",
        ),
        Misconception(
            {"INVALID_PRODUCER_EPOCH": "close"},
            "So it was up to 2.6. Today the client lets you give the transaction up, and at transaction.version 2 that "
            "succeeds where the coordinator had aborted for time.",
        ),
        Misconception({"ILLEGAL_GENERATION": "close"}, "The producer is well; it is the group that has moved on."),
        Misconception(
            {"CONCURRENT_TRANSACTIONS": "abort"}, "The last transaction is being finished; it takes moments."
        ),
    ),
)


def delivered(batches: list, aborted: list, stable: int) -> list:
    """What an application is given of batches (first offset, producer id, kind, values)."""
    begun, got = set(), []
    for first, producer_id, kind, values in batches:
        if first >= stable:
            break
        begun |= {each for each, offset in aborted if offset == first}
        if kind == "ABORT":
            begun.discard(producer_id)
        elif kind == "data" and producer_id not in begun:
            got += values
    return got


READ_CASES: tuple[tuple[list[tuple[int, int, str, list[str]]], list[tuple[int, int]], int], ...] = (
    ([], [], 0),
    ([(0, -1, "data", ["a"])], [], 1),
    ([(0, 7, "data", ["a"]), (1, 7, "COMMIT", [])], [], 2),
    ([(0, 7, "data", ["a"]), (1, 7, "ABORT", [])], [(7, 0)], 2),
    ([(0, 7, "data", ["a"]), (1, 8, "data", ["b"]), (2, 8, "COMMIT", [])], [], 0),
    ([(0, 7, "data", ["a"]), (1, 7, "ABORT", []), (2, 7, "data", ["b"]), (3, 7, "COMMIT", [])], [(7, 0)], 4),
    ([(0, 7, "data", ["a"]), (1, 7, "COMMIT", []), (2, 7, "data", ["b"]), (3, 7, "ABORT", [])], [(7, 2)], 4),
    (
        [
            (0, 7, "data", ["a"]),
            (1, 8, "data", ["b"]),
            (2, 7, "ABORT", []),
            (3, 8, "data", ["c"]),
            (4, 8, "COMMIT", []),
        ],
        [(7, 0)],
        5,
    ),
    ([(0, 7, "data", ["a"]), (1, 7, "ABORT", []), (2, 7, "data", ["b"]), (3, -1, "data", ["c"])], [(7, 0)], 2),
)
"""Batches, the aborted transactions that the broker sends along, and the last stable offset."""


def _by_producer(batches: list, aborted: list, stable: int) -> list:
    names = {each for each, _ in aborted}
    return [each for first, who, kind, values in batches if first < stable and who not in names for each in values]


def _never_lets_go(batches: list, aborted: list, stable: int) -> list:
    return [
        each
        for first, who, kind, values in batches
        if first < stable and not any(who == name and first >= offset for name, offset in aborted)
        for each in values
    ]


def _beyond(batches: list, aborted: list, stable: int) -> list:
    return delivered(batches, aborted, 1 << 62)


read_committed = Exercise(
    name="read_committed",
    asks=(
        "Write `my_read(batches, aborted, stable)`: the values that a `read_committed` consumer hands to its "
        "application, as a list. A batch is (first offset, producer id, kind, values); kind is `data`, `COMMIT` or "
        "`ABORT`, and a marker has no values. A record without a transaction has producer id -1. `aborted` is what the "
        "broker sends along: (producer id, first offset) of each aborted transaction. `stable` is the last stable "
        "offset."
    ),
    start=("def my_read(batches, aborted, stable):\n    return ...\n\n\nexercises.read_committed.check(my_read)"),
    judge=Function(delivered, ("batches", "aborted", "stable"), READ_CASES),
    hints=(
        "Go through the batches in order, and remember whose aborted transaction has begun.",
        "When it meets an ABORT marker, a producer id goes from what you remember: its next transaction may be "
        "committed.",
        "Stop at the last stable offset.",
    ),
    reasoning=(
        "```python\ndef my_read(batches, aborted, stable):\n    begun, got = set(), []\n"
        "    for first, producer_id, kind, values in batches:\n        if first >= stable:\n            break\n"
        "        begun |= {each for each, offset in aborted if offset == first}\n"
        '        if kind == "ABORT":\n            begun.discard(producer_id)\n'
        '        elif kind == "data" and producer_id not in begun:\n            got += values\n    return got\n```\n\n'
        "The broker sends everything up to the LSO, aborted records too; the *client* filters. So a reader pays for "
        "aborted records in bytes, not in records."
    ),
    misconceptions=(
        Misconception(_by_producer, "A producer that aborts once may commit before and after that."),
        Misconception(
            _never_lets_go, "Its ABORT marker ends the aborted transaction; what it sends then is another one."
        ),
        Misconception(
            _beyond, "Beyond the last stable offset nobody knows yet what is committed: the broker sends nothing."
        ),
    ),
)


LINES = {"two results": {6}, "no result": {2, 8}, "a result of nothing": {1}, "readers wait": {3}}

find_the_lines = Exercise(
    name="find_the_lines",
    asks=(
        "**Find the bugs.** The bills' application reads `orders`, writes `bills`, and shall do so exactly once:\n\n"
        "```\n"
        "1  consumer: isolation.level = read_uncommitted\n"
        "2  consumer: enable.auto.commit = true\n"
        '3  producer: transactional.id = "bills-" + a random number at each start\n'
        "4  for each poll: producer.beginTransaction()\n"
        "5      producer.send(the bill) for each order\n"
        '6      producer.sendOffsetsToTransaction(offsets, new ConsumerGroupMetadata("bills"))\n'
        "7      producer.commitTransaction()\n"
        "8      on an exception that is not fatal: producer.abortTransaction(), and go on with the next poll\n"
        "```\n\n"
        "Which lines can give an order **two results**, which **no result**, which can give **a result of nothing** "
        "(an "
        "order that was aborted), and which lets **readers wait** for a time-out after each crash? Give a set of line "
        "numbers for each."
    ),
    start=(
        'lines = {\n    "two results": ...,\n    "no result": ...,\n    "a result of nothing": ...,\n'
        '    "readers wait": ...,\n}\nexercises.find_the_lines.check(lines)'
    ),
    judge=Value(lambda: LINES),
    hints=(
        "Who else commits offsets of this group, beside the transaction?",
        "`new ConsumerGroupMetadata(name)` knows the group alone. What did `consumer.groupMetadata()` know?",
        "After an abort the consumer's position is still behind the records that were aborted.",
    ),
    reasoning=(
        "**6** leaves out member and generation: the group's coordinator then cannot refuse a worker that a rebalance "
        "has passed over; take `consumer.groupMetadata()`. **2** commits positions whether the transaction ends well "
        "or "
        "not, and **8** polls on: after an abort the positions must go back to the committed offsets. **1** reads "
        "orders of transactions that are aborted later. **3** fences nobody: what a dead instance has left open is "
        "ended by its time-out alone, and until then `bills` stands still for readers."
    ),
    misconceptions=(
        Misconception(
            {"two results": {3, 6}},
            "An id of its own for each instance is what KIP-447 allows: the group's generation keeps the old one out.",
        ),
        Misconception(
            {"no result": {2}},
            "Line 8: where is the consumer's position after the abort?",
        ),
    ),
    moral="Offset and output go together, or one of them is wrong.",
)

checkpoint_of_ten_minutes = Exercise(
    name="checkpoint_of_ten_minutes",
    asks=(
        "**Open question.** A stream job commits its transaction with each checkpoint, every ten minutes; a checkpoint "
        "may fail twice in a row. Which `transaction.timeout.ms` do you give it, which setting of the brokers must "
        "allow "
        "it, and what do you tell the readers of its topic about the worst that they will wait, and after which of its "
        "failures?"
    ),
    start="answer = ...\nexercises.checkpoint_of_ten_minutes.check(answer)",
    judge=Open(),
    solve=lambda: "More than thirty minutes, and so long may readers wait.",
    hints=(
        "The transaction must live longer than the longest time between two checkpoints that succeed.",
        "`transaction.max.timeout.ms` of the brokers is 15 minutes.",
        "A job that is gone for good leaves its transaction open for its whole time-out, unless it comes back with "
        "the same transactional id.",
    ),
    reasoning=(
        "More than three intervals and the time of a restart, say 45 minutes; `transaction.max.timeout.ms` has to be "
        "raised, or InitProducerId is answered INVALID_TRANSACTION_TIMEOUT. In good times a read_committed reader gets "
        "everything ten minutes late, in one piece. If the job dies and comes back with the same id, its first request "
        "ends what was open. If it dies for good, or comes back with another id, readers wait up to 45 minutes and "
        "10 s; and if a transaction hangs, for ever. A shorter time-out would abort good work; a checkpoint of one "
        "minute would help both sides."
    ),
)

_CHAPTER = Chapter(
    "15 transactions",
    (
        predict_poll,
        hang_the_reader,
        three_open,
        what_next,
        read_committed,
        find_the_lines,
        checkpoint_of_ten_minutes,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
