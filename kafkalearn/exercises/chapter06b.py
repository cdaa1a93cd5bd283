"""The exercises of chapter 06b: who else moves my offsets?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from kafkalearn.commits import (
    Answered,
    Assign,
    Checkpoint,
    Close,
    CommitAsync,
    CommitSync,
    Crash,
    Pipeline,
    Poll,
    Process,
    Settings,
    Start,
    doubled,
    lost,
    simulate,
)
from kafkalearn.commits.changes import moves
from kafkalearn.commits.model import CommitRefused
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Open

_SHARED = (
    *(Assign("A"), Assign("B")),
    *(Poll("A", at_most=40), CommitSync("A"), Poll("B", at_most=10), CommitSync("B")),
    *(Start("C"), Poll("C", at_most=20), CommitSync("C")),
    *(Poll("A", at_most=20), CommitSync("A"), Close("C"), CommitSync("B")),
)


@cache
def _one_id() -> dict[str, object]:
    """What the coordinator has after the member's commit and in the end, and whose commit it refused."""
    trace = simulate(Settings(100), _SHARED)
    states = {type(frame.event).__name__ + getattr(frame.event, "by", ""): frame.state for frame in trace[1:]}
    refused = {
        frame.event.by
        for frame in trace
        for effect in frame.state.effects
        if isinstance(effect, CommitRefused) and isinstance(frame.event, CommitSync)
    }
    (member,) = [each for each in states["StartC"].consumers if each.name == "C"]
    written = {each.by: each.offset for each in trace[-1].state.written}
    end = trace[-1].state.committed
    return {"C begins at": member.position, "C commits": written["C"], "refused": frozenset(refused), "in the end": end}


one_id = Exercise(
    name="one_id",
    asks=(
        "A prediction. A partition holds the records 0 to 99. Two programs A and B name it with `assign`, and commit "
        "under the id `nightly`. A reads 40 records and commits. B reads 10 and commits. Then C *subscribes* under the "
        "same id, reads 20 and commits. A reads 20 more and commits. C closes its consumer, without a commit of its "
        "own, and B, which has read nothing since, commits its position once more. Where does C begin, and what does "
        "it commit? Whose commits are refused (a set of letters)? Which offset is committed in the end?"
    ),
    start=(
        'answer = {"C begins at": ..., "C commits": ..., "refused": ..., "in the end": ...}\n'
        "exercises.one_id.check(answer)"
    ),
    judge=Value(_one_id),
    hints=(
        "Before C comes nobody is a member: each commit is taken, and the last one stands.",
        "While C is a member, a commit without a member id is refused.",
        "When C has left, the group is without members again.",
    ),
    reasoning=(
        "A commits 40, B overwrites it with 10. C begins there, at 10, and reads what A has read already; it commits "
        "30. A's commit of 60 comes while the group has a member: `UNKNOWN_MEMBER_ID`. With C gone B may commit again: "
        "10, and 20 records that C has done will come once more. Nobody looked whether an offset goes forward."
    ),
    misconceptions=(
        Misconception({"C begins at": 40}, "B's commit came after A's, and the last one stands, however small."),
        Misconception({"C begins at": 0}, "A group's offset is there for members as well, whoever committed it."),
        Misconception({"C begins at": 50}, "Each has read from 0 for itself: their counts are not added."),
        Misconception({"C commits": 20}, "What is committed is the next offset to read, not how many were read."),
        Misconception({"C commits": 60}, "C begins at the offset that stands, not at the largest that ever stood."),
        Misconception({"refused": frozenset()}, "As soon as the group has a member, who is none may not commit."),
        Misconception({"refused": frozenset("AB")}, "When B commits for the second time, C is gone."),
        Misconception({"refused": frozenset("B")}, "One of them commits while C is a member. Which one?"),
        Misconception({"refused": frozenset("C")}, "The member is the one whom the coordinator knows."),
        Misconception({"in the end": 60}, "That commit was refused, and nobody sends it again."),
        Misconception({"in the end": 30}, "B commits after C has gone, and its position is still what it was."),
    ),
    moral="An id is a name that anybody may use; only a member keeps the others out.",
)


def _against_the_largest(commits):
    largest, found = {}, []
    for key, offset in commits:
        before = largest.get(key)
        found.append(None if offset is None or before is None else offset - before)
        if offset is not None:
            largest[key] = max(offset, before or 0)
    return found


def _of_one_partition(commits):
    return moves([("all", offset) for _, offset in commits])


def _past_tombstones(commits):
    before, found = {}, []
    for key, offset in commits:
        found.append(None if offset is None or key not in before else offset - before[key])
        if offset is not None:
            before[key] = offset
    return found


def _from_zero(commits):
    before, found = {}, []
    for key, offset in commits:
        found.append(None if offset is None else offset - (before.get(key) or 0))
        before[key] = offset
    return found


def _never_back(commits):
    return [None if moved is None else max(moved, 0) for moved in moves(commits)]


_O, _P = ("billing", "orders", 0), ("billing", "orders", 1)
MOVES_CASES = tuple(
    (commits,)
    for commits in (
        [],
        [(_O, 7)],
        [(_O, 7), (_O, 7)],
        [(_O, 3), (_O, 9), (_O, 6)],
        [(_O, 3), (_O, 9), (_O, 6), (_O, 9)],
        [(_O, 3), (_P, 8), (_O, 5), (_P, 8)],
        [(_O, 3), (("search", "orders", 0), 1), (_O, 4)],
        [(_O, 5), (_O, None), (_O, 8), (_O, 8)],
    )
)
"""Commits, each as (group, topic and partition; offset), in the order of the log."""

write_moves = Exercise(
    name="write_moves",
    asks=(
        "Write `my_moves(commits)`. A commit is `(key, offset)`: the key names group, topic and partition, and an "
        "offset of None is a tombstone. They come in the order of the log. Return a list with a number for each: by "
        "how many records it moves its group, 0 if it says nothing new, less than 0 if it goes back; None for a "
        "tombstone, for the first commit of a key, and for the first behind a tombstone."
    ),
    start="def my_moves(commits):\n    return ...\n\n\nexercises.write_moves.check(my_moves)",
    judge=Function(moves, ("commits",), MOVES_CASES),
    hints=(
        "What must you remember while you go through the list, and of which keys?",
        "A dict from each key to the offset that stands: not the largest one.",
        "A tombstone takes away what stood there.",
    ),
    reasoning=(
        "```python\ndef my_moves(commits):\n    before, found = {}, []\n    for key, offset in commits:\n"
        "        last = before.get(key)\n"
        "        found.append(None if offset is None or last is None else offset - last)\n"
        "        before[key] = offset\n    return found\n```\n\n"
        "That is what the coordinator's memory does, and it does not even subtract. On Spark it is `lag` over a window "
        "for each key."
    ),
    misconceptions=(
        Misconception(_against_the_largest, "What counts is the offset that stands, not the largest that ever stood."),
        Misconception(_of_one_partition, "Each partition of each group has an offset of its own."),
        Misconception(_past_tombstones, "Behind a tombstone nothing stands: the next commit is a first one again."),
        Misconception(_from_zero, "Before a first commit nothing stands, which is not 0."),
        Misconception(_never_back, "A commit may go back: the coordinator compares with nothing."),
    ),
    moral="To see a group go back, compare each commit with the one before: nobody else does.",
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
    committed = end.committed or 0  # of none the next owner begins at the beginning
    return committed, 340 - committed


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

_JOB = Settings(1000, max_poll_records=100, sink="checkpoint", is_auto=True, auto_commit_interval_ms=0)


@cache
def _totals_crash() -> Pipeline:
    """Eight polls; a checkpoint behind the third and the sixth; half of the eighth poll is done."""
    events: list = [Start()]
    for number in range(1, 9):
        events += [Poll(), *[Process()] * (50 if number == 8 else 100)]
        events += [Checkpoint(is_committed=False)] if number in (3, 6) else []
    return simulate(_JOB, [*events, Crash()])[-1].state


@cache
def _two_truths() -> dict[str, int]:
    end = _totals_crash()
    without = replace(
        end, sink=replace(end.sink, stored=None)
    )  # the results are in the database, the checkpoint is lost
    ends = {}
    for name, begun in (("own", end), ("group", without)):
        started = simulate(_JOB, [Start("B")], begun)[-1].state
        (position,) = (each.position for each in started.consumers)
        rest = [Poll("B"), *[Process("B")] * 100] * ((1000 - position) // 100)
        ends[name] = position, simulate(_JOB, [*rest, Checkpoint("B", False)], started)[-1].state
    (own, restarted), (group, moved) = ends["own"], ends["group"]
    return {
        "from its checkpoint": own,
        "results doubled": len(doubled(restarted)),
        "from the group": group,
        "without a result": len(lost(moved)),
    }


two_truths = Exercise(
    name="two_truths",
    asks=(
        "**Incident.** A job like `totals` reads a partition with the records 0 to 999, 100 with each poll. Its "
        "results count with its checkpoints, of which it makes one after every third poll's records. Somebody has "
        "left auto commit on, with an interval so short that every poll commits. It has processed all of seven polls, "
        "and 50 records of the eighth, when it crashes. Where does it begin from its own checkpoint, and how many "
        "results are then doubled? The checkpoint is lost, but the database has the results: where does it begin from "
        "the group's offsets, and how many records never get a result?"
    ),
    start=(
        'answer = {\n    "from its checkpoint": ...,\n    "results doubled": ...,\n'
        '    "from the group": ...,\n    "without a result": ...,\n}\nexercises.two_truths.check(answer)'
    ),
    judge=Value(_two_truths),
    hints=(
        "Results that no checkpoint has made count are gone with the crash.",
        "An auto commit inside a poll commits the position, as the polls *before* have left it.",
        "Without a result: from the last checkpoint up to the offset at which it begins anew.",
    ),
    reasoning=(
        "The last checkpoint came after the sixth poll: 600. From there it begins, processes 600 to 749 again, and no "
        "result is doubled, since those of the first time were held back and are gone. The eighth poll committed 700. "
        "From the group's offsets it begins there: 600 to 699, 100 records, have neither a result in the database nor "
        "anybody who reads them once more. The lag shows nothing of it."
    ),
    misconceptions=(
        Misconception({"from its checkpoint": 750}, "So far it had worked, but no checkpoint says so."),
        Misconception({"from its checkpoint": 700}, "That is the topic's number; its own is older."),
        Misconception({"from its checkpoint": 800}, "That was its position, which died with it."),
        Misconception(
            {"results doubled": 150}, "So many are *processed* twice. What became of their results of the first time?"
        ),
        Misconception({"from the group": 800}, "A poll commits what the polls before it have returned."),
        Misconception({"from the group": 750}, "Auto commit knows positions; it does not know what was processed."),
        Misconception({"from the group": 600}, "That is in its checkpoint. What did the last poll commit?"),
        Misconception({"without a result": 0}, "What lies between the two numbers was read, and its results are gone."),
        Misconception(
            {"without a result": 50},
            "Those of the eighth poll come again: it begins before them. Count from its checkpoint.",
        ),
    ),
    moral="Two numbers for one job: one of them is a trap.",
)

PROGRAMS = {
    "a": "a service that subscribes and commits each batch",
    "b": "a script that names its partitions with `assign` and commits under the id `nightly`",
    "c": "a Flink job that commits with each of its checkpoints, one every ten minutes",
    "d": "a query of Spark Structured Streaming",
    "e": "a service whose results and offsets are in one transaction of a database",
    "f": "a service that commits by `commitAsync`, and whose callback sends again what failed",
}

what_the_dashboard_misses = Exercise(
    name="what_the_dashboard_misses",
    asks=(
        "**Open question.** A dashboard shows the lag that `kafka-consumer-groups --describe` prints for all groups, "
        "once a minute, and calls somebody if a lag grows for ten minutes. Six programs:\n\n"
        "| | program |\n| --- | --- |\n"
        + "\n".join(f"| {name} | {words} |" for name, words in PROGRAMS.items())
        + "\n\nWhich of them does it not see at all, and which does it misjudge, in which direction? What would you "
        "ask instead?"
    ),
    start="answer = ...\nexercises.what_the_dashboard_misses.check(answer)",
    judge=Open(),
    solve=lambda: "d is not there; b, c and e show a number that may be of no meaning; f jumps back now and then.",
    hints=(
        "Where does each of them begin after a restart?",
        "What does the tool read: what a program does, or what somebody has committed under an id?",
        "Which of them is in a group with members?",
    ),
    reasoning=(
        "a is what it was made for. **d** commits nothing: there is no group, so no alarm. **b** looks the same "
        "whether it runs or not: Empty, no consumer; and another program under its id changes its lag. **c** has a lag "
        "of up to ten minutes' records while all is well, and drops at each checkpoint: a rule of ten minutes is a bad "
        "one for it. **e** may commit to Kafka or not; its truth is in the database, and a lag of 0 says nothing about "
        "the results. **f** is judged rightly, but for the seconds after a late commit, when its lag is too large: so "
        "much would a crash bring again.\n\n"
        "Ask each program for the offset at which it would begin again, as a metric of its own, and compare that with "
        "the log end; ask the group only where the group is the truth."
    ),
)

_CHAPTER = Chapter("06b elsewhere", (one_id, billed_twice, write_moves, two_truths, what_the_dashboard_misses))
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
