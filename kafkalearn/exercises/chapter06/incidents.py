"""The incidents of chapter 06: a slow record in a pool, a commit that came late, and where to keep the offset."""

from __future__ import annotations

from functools import cache

from kafkalearn.commits import Answered, CommitAsync, Crash, Poll, Process, Settings, Start, simulate
from kafkalearn.exercises.chapter06 import commit_code as code
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.properties import Open
from kafkalearn.exercises.kit.values import Value

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
    judge=Function(code.safe_to_commit, ("polled", "done"), code.SAFE_CASES),
    solve=lambda: code.safe_to_commit,
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
        Misconception(code.highest_done, "That is what the program in the report did: slower records are passed by."),
        Misconception(code.as_many_as_done, "How many are done says nothing about which."),
        Misconception(code.last_safe, "A commit names the next record to read, not the last one that is done."),
        Misconception(
            code.next_number,
            "A compacted topic has no record at some offsets: the next to wait for is the next polled.",
        ),
    ),
    moral="A committed offset is one number: it cannot say that the fifth is missing.",
)

_PARALLEL = Settings(400, max_poll_records=100)


@cache
def _committed_in_the_end(is_retried: bool) -> tuple[int, int]:
    """What is committed at the crash, and how many records come twice."""
    events = [Start()]
    for offset in (100, 200, 300):
        events += [Poll(), *[Process()] * 100, CommitAsync(offset=offset)]
    events += [Answered(), Answered(is_retriable=True), *([CommitAsync(offset=200)] if is_retried else []), Answered()]
    events += [Answered()] if is_retried else []
    end = simulate(_PARALLEL, [*events, Poll(), *[Process()] * 40, Crash()])[-1].state
    return end.committed, 340 - end.committed


def _billed_twice() -> dict[str, int]:
    (committed, twice), (_, without) = _committed_in_the_end(True), _committed_in_the_end(False)
    return {"committed": committed, "twice": twice, "twice, without the retry": without}


billed_twice = Exercise(
    name="billed_twice",
    asks=(
        "**Incident.** `billing` commits after every 100 records with `commitAsync`, and its callback sends a commit "
        "again when it failed. The commits of 100, 200 and 300 are on the way one after the other. 100 is stored; 200 "
        "is answered with COORDINATOR_LOAD_IN_PROGRESS, so the callback sends 200 again; 300 is stored; then the "
        "second 200 arrives. `billing` has processed 340 records when it crashes, before the next commit. Which "
        "offset is committed, and how many orders are billed twice? How many would it be if the callback had left "
        "the failure alone?"
    ),
    start=(
        'answer = {"committed": ..., "twice": ..., "twice, without the retry": ...}\n'
        "exercises.billed_twice.check(answer)"
    ),
    judge=Value(_billed_twice),
    solve=_billed_twice,
    hints=(
        "Does the coordinator compare a commit with the one before?",
        "It does not: the last one wins, whatever its number.",
        "The committed offset is the next to read: subtract it from the 340 that are done.",
    ),
    reasoning=(
        "The coordinator takes each commit as it comes, so the late 200 overwrites 300. The next owner begins at 200 "
        "and bills 140 orders again; without the retry it would have begun at 300: 40 orders.\n\n"
        "That is why `commitAsync` never retries by itself. `commitSync` may, for it lets nothing pass it. A callback "
        "that wants to retry must first look whether a newer commit was sent. Kafka Connect had the same trouble with "
        "answers that came in another order than it had asked (KAFKA-5731, fixed in 2017)."
    ),
    misconceptions=(
        Misconception({"committed": 300}, "No one looks whether a commit goes forward: what arrives last is stored."),
        Misconception({"committed": 340}, "That many were processed; the coordinator knows of fewer."),
        Misconception(
            {"twice, without the retry": 0}, "Even then the last commit is some records behind the work at the crash."
        ),
    ),
    moral="A commit that failed is harmless; one that comes late is not.",
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
