"""The exercises of chapter 10b: what else can happen to a record?"""

from __future__ import annotations

from kafkalearn.delivery.produce_errors import NO, produce_error
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import FaultyCode, Function
from kafkalearn.log.sequences import BatchMetadata, ProducerStateEntry, Stamp, judge


def verdict(epoch: int, batches: list[tuple[int, int]], batch_epoch: int, first: int, last: int) -> str:
    """What a broker does with a batch: "write", "duplicate", or the name of the error."""
    known = ProducerStateEntry(epoch, tuple(BatchMetadata(*ends, base_offset=0) for ends in batches))
    judged = judge(known, Stamp(7, batch_epoch, first, last - first + 1))
    if judged.duplicate_of is not None:
        return "duplicate"
    return "write" if judged.is_accepted else judged.error


_SINGLE = [(number, number) for number in range(3, 8)]
VERDICT_CASES = (
    (0, _SINGLE, 0, 8, 8),
    (0, _SINGLE, 0, 7, 7),
    (0, _SINGLE, 0, 3, 3),
    (0, _SINGLE, 0, 2, 2),
    (0, _SINGLE, 0, 9, 9),
    (0, [(0, 2), (3, 4)], 0, 3, 3),
    (0, [(0, 2), (3, 4)], 0, 0, 2),
    (0, [(0, 2), (3, 4)], 0, 0, 1),
    (0, [(0, 2), (3, 4)], 0, 5, 9),
    (1, [(0, 0)], 0, 1, 1),
    (1, [(0, 0)], 0, 0, 0),
    (1, [(0, 4)], 2, 0, 0),
    (1, [(0, 4)], 2, 5, 5),
)
"""Known epoch, known batches, and the epoch, first and last sequence of the batch that comes."""


def _by_last_alone(epoch: int, batches: list, batch_epoch: int, first: int, last: int) -> str:
    return verdict(epoch, batches[-1:], batch_epoch, first, last)


def _by_number(epoch: int, batches: list, batch_epoch: int, first: int, last: int) -> str:
    if batch_epoch == epoch and last <= batches[-1][1]:
        return "duplicate"
    return verdict(epoch, batches, batch_epoch, first, last)


def _by_first(epoch: int, batches: list, batch_epoch: int, first: int, last: int) -> str:
    if batch_epoch == epoch and any(first == known[0] for known in batches):
        return "duplicate"
    return verdict(epoch, batches, batch_epoch, first, last)


def _without_epoch(epoch: int, batches: list, batch_epoch: int, first: int, last: int) -> str:
    return verdict(epoch, batches, epoch, first, last)


write_verdict = Exercise(
    name="write_verdict",
    asks=(
        "Write `my_verdict(epoch, batches, batch_epoch, first, last)`: what a broker does with a batch of a producer "
        "that it knows. `epoch` is the producer's epoch as the broker has it; `batches` are the last batches it "
        "remembers, at most five, oldest first, each as (first, last) sequence number; then the epoch and the numbers "
        "of the batch "
        'that comes. The answer is `"write"`, `"duplicate"`, `"OUT_OF_ORDER_SEQUENCE_NUMBER"` or '
        '`"INVALID_PRODUCER_EPOCH"`. Numbers need not wrap.'
    ),
    start=(
        "def my_verdict(epoch, batches, batch_epoch, first, last):\n    return ...\n\n\n"
        "exercises.write_verdict.check(my_verdict)"
    ),
    judge=Function(verdict, ("epoch", "batches", "batch_epoch", "first", "last"), VERDICT_CASES),
    hints=(
        "Compare the epochs first: same, older, newer.",
        "In the same epoch: is it exactly one of those remembered? If not, does it follow on the newest?",
        "A newer epoch begins at 0.",
    ),
    reasoning=(
        "```python\ndef my_verdict(epoch, batches, batch_epoch, first, last):\n"
        '    if batch_epoch < epoch:\n        return "INVALID_PRODUCER_EPOCH"\n'
        '    if batch_epoch == epoch and (first, last) in batches:\n        return "duplicate"\n'
        "    follows = batches[-1][1] + 1 if batch_epoch == epoch else 0\n"
        '    return "write" if first == follows else "OUT_OF_ORDER_SEQUENCE_NUMBER"\n```\n\n'
        "A batch older than the five is no duplicate but an error: for the broker it looks like a gap. That is why a "
        "producer may have no more than five requests in flight."
    ),
    misconceptions=(
        Misconception(_by_last_alone, "That is 0.11: one batch remembered. Since 1.0 there are five."),
        Misconception(
            _by_number, "A number below the newest is not yet a duplicate: the broker knows only the batches it keeps."
        ),
        Misconception(_by_first, "The same start with another length is another batch, and it does not follow on."),
        Misconception(_without_epoch, "An older epoch is a producer that was replaced: it is fenced."),
    ),
)

two_faults = Exercise(
    name="two_faults",
    asks=(
        "**Find the bugs.** The shop's topic and order service:\n\n"
        "```\n"
        " 1  topic: min.insync.replicas = 2, replication factor 3\n"
        " 2  topic: unclean.leader.election.enable = true\n"
        " 3  producer: acks = all\n"
        " 4  producer: enable.idempotence = true\n"
        " 5  producer: max.in.flight.requests.per.connection = 5\n"
        " 6  producer: delivery.timeout.ms = 120000\n"
        " 7  if send() fails with a TimeoutException: send(the same order) again\n"
        " 8  at start-up: send every order that the database does not mark as acknowledged\n"
        "```\n\n"
        "Which lines can put an order into the topic **twice**, and which can **lose** one that was acknowledged? Give "
        "two sets of line numbers, like `{1, 2}`."
    ),
    start='lines = {"twice": ..., "lost": ...}\nexercises.two_faults.check(lines)',
    judge=Value(lambda: {"twice": {7, 8}, "lost": {2}}),
    hints=(
        "Idempotence knows a batch by producer id and sequence number. Which sends get new ones?",
        "A call of send() is a new record, whatever is in it. A new process is a new producer.",
        "For the loss, look at the topic.",
    ),
    reasoning=(
        "Line 7: the timed-out record may be in the log, and the second send() has the next number: a new record. Line "
        "8: a new process gets a new producer id, so nothing it sends is a duplicate to anyone. Both need a key in the "
        "order by which the consumer recognises it. Line 2 lets a broker lead that lacks what was acknowledged.\n\n"
        "Line 5 is allowed with idempotence, and line 6 only sets how long the producer itself goes on trying."
    ),
    misconceptions=(
        Misconception(
            {"twice": {7}},
            "Line 8 is the same mistake in a new process: its producer id is new, so nothing is recognised.",
        ),
        Misconception(
            {"twice": {5, 7, 8}}, "Five in flight are as many as the broker remembers: with idempotence that is safe."
        ),
        Misconception(
            {"twice": set()},
            "Idempotence covers the producer's own retries, within one life of one producer, and nothing else.",
        ),
        Misconception(
            {"lost": {2, 6}}, "When delivery.timeout.ms is over the callback gets an error: the application knows."
        ),
    ),
)

FAILED = (
    "NOT_ENOUGH_REPLICAS",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "TIMEOUT",
    "MESSAGE_TOO_LARGE",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "TOPIC_AUTHORIZATION_FAILED",
)
"""Errors of the exercise on what a service puts aside."""

AGAIN, LOOK, FIX = "again", "look", "fix"


def advice(name: str) -> str:
    """What to do with a record whose callback got this error: send it again, look first, or fix something first."""
    error = produce_error(name)
    if not error.is_retriable:
        return FIX
    return AGAIN if error.written == NO else LOOK


send_again = Exercise(
    name="send_again",
    asks=(
        "The order service puts aside what its callback reports as failed. Six orders lie in its store, each with the "
        "error it got after all retries. For each, choose\n\n"
        '- `"again"`: send it again; it cannot be in the log,\n'
        '- `"look"`: it may be in the log; look there first, or be sure that readers know an order that they have,\n'
        '- `"fix"`: sending it again gives the same error; somebody must change something first.'
    ),
    start="advice = {\n"
    + "".join(f'    "{name}": ...,\n' for name in FAILED)
    + "}\nexercises.send_again.check(advice)",
    judge=Value(lambda: {name: advice(name) for name in FAILED}),
    hints=(
        "Two questions for each error: does its class extend RetriableException? May the record have been written?",
        "Both answers are columns of the tables in section 3.",
        "After a time-out the producer does not know what happened to the request.",
    ),
    reasoning=(
        "NOT_ENOUGH_REPLICAS and UNKNOWN_TOPIC_OR_PARTITION are refusals before anything is written: **again**, when "
        "the cluster is well. NOT_ENOUGH_REPLICAS_AFTER_APPEND says that it is written, and TIMEOUT that nobody knows: "
        "**look**. MESSAGE_TOO_LARGE and TOPIC_AUTHORIZATION_FAILED are fatal: **fix** the size or the right first."
    ),
    misconceptions=(
        Misconception(
            {"TIMEOUT": "again"}, "A time-out says that no answer came; the request may have arrived all the same."
        ),
        Misconception(
            {"NOT_ENOUGH_REPLICAS_AFTER_APPEND": "again"}, "Read the end of its name: when did the leader find out?"
        ),
        Misconception({"NOT_ENOUGH_REPLICAS": LOOK}, "The leader looks at the ISR before it writes anything."),
        Misconception({"NOT_ENOUGH_REPLICAS": FIX}, "When a broker is back in the ISR the same request goes well."),
        Misconception({"MESSAGE_TOO_LARGE": "again"}, "It will be as large tomorrow."),
        Misconception({"TOPIC_AUTHORIZATION_FAILED": "again"}, "Who gives the producer the right meanwhile?"),
    ),
)


def offsets_to_commit(processed, leader_epochs):
    to_commit = {}
    for partition, offset, _ in processed:
        to_commit[partition] = (offset + 1, None)
    return to_commit


CODE = FaultyCode(
    offsets_to_commit,
    (("partition, offset, _ in", "partition, offset, epoch in"), ("(offset + 1, None)", "(offset + 1, epoch)")),
)

CASES: tuple[tuple[list[tuple[int, int, int | None]], dict[int, int]], ...] = (
    ([], {}),
    ([(0, 0, 0)], {0: 0}),
    ([(0, 2, 1)], {0: 1}),
    ([(0, 1, 0), (0, 2, 1)], {0: 1}),
    ([(0, 1, 0), (0, 2, 0)], {0: 3}),
    ([(0, 7, 4), (1, 3, 2), (0, 8, 4)], {0: 5, 1: 2}),
    ([(2, 9, None)], {2: 6}),
)
"""Records as (partition, offset, leader epoch), and the epochs in which today's leaders lead."""


def _of_the_leader(processed, leader_epochs):
    return {partition: (offset + 1, leader_epochs[partition]) for partition, offset, _ in processed}


def _of_the_first(processed, leader_epochs):
    first = {}
    for partition, _, epoch in processed:
        first.setdefault(partition, epoch)
    return {partition: (offset + 1, first[partition]) for partition, offset, _ in processed}


def _last_not_next(processed, leader_epochs):
    return {partition: (offset, epoch) for partition, offset, epoch in processed}


bare_offsets = Exercise(
    name="bare_offsets",
    asks=(
        "**Find the bug.** A rebalance listener gets the records that were processed, as (partition, offset, leader "
        "epoch), and makes what is to be committed: for each partition the offset and the leader epoch that belongs to "
        "it. `leader_epochs` has the epoch in which each partition's leader leads now. After a rebalance in a night of "
        "failures the next owner read a whole partition again, although nothing was lost (KAFKA-19902, the run "
        "of section 4). Fix it. A record of an old format has no epoch: None."
    ),
    start=f"{CODE.source.replace('  # noqa: D103', '')}\n\nexercises.bare_offsets.check(offsets_to_commit)",
    judge=Function(CODE.repaired(), ("processed", "leader_epochs"), CASES, unrepaired=CODE.function),
    solve=CODE.repaired,
    hints=(
        "What did the next owner not know, that would have kept it from asking an old leader?",
        "A position is an offset, and the epoch of the record *before* it.",
        'In Java: `new OffsetAndMetadata(record.offset() + 1, record.leaderEpoch(), "")`.',
    ),
    reasoning=(
        "The offset was right, the epoch was left out: `new OffsetAndMetadata(offset)` does that in Java. The next "
        "owner then cannot know that its leader is an old one: it asks there, hears that the offset is out of range, "
        "and begins anew. With the epoch of the last record it has heard of a newer leader, and looks for it first.\n\n"
        f"{CODE.diff()}\n\n"
        "`commitSync()` without arguments commits positions with their epochs, and cannot make this mistake."
    ),
    misconceptions=(
        Misconception(
            _of_the_leader,
            "The epoch belongs to the record before the position, not to whoever leads today: a cut of older records "
            "would go unnoticed.",
        ),
        Misconception(_last_not_next, "The epoch is right now; but what is committed is the *next* offset to read."),
        Misconception(_of_the_first, "Between two records the leader may change: take the epoch of the last one."),
    ),
    moral="Commit positions, not numbers.",
)

_CHAPTER = Chapter("10b twice", (write_verdict, two_faults, send_again, bare_offsets))
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
