"""The exercises of chapter 18: who has this record now, and what if he never says so?"""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Open
from kafkalearn.exercises.kit.game import Game
from kafkalearn.formats.share_state_log import SharePartition, ShareState
from kafkalearn.sharing.shifts import ACCEPTED, Job, Settings, Try, work_off
from kafkalearn.sharing.work import (
    PROCESSED_AT_ALL,
    Accept,
    Arrive,
    Crash,
    Poll,
    Release,
    TimePassed,
    broken,
    settings,
    simulate,
    step,
)


def _too_long() -> dict[str, int]:
    done = work_off(Settings(member_count=2, lock_ms=15_000), [Job(0, (Try(20_000),))])
    return {
        "deliveries": len(done),
        "times processed": len(done),
        "times accepted": sum(each.end == ACCEPTED for each in done),
    }


longer_than_its_lock = Exercise(
    name="longer_than_its_lock",
    asks=(
        "Predict. The lock is 15 s, the limit is 5 deliveries, two members. Whoever gets a certain order works at it "
        "for 20 s, without an error, and accepts it then. How often is it delivered, how often is it processed to its "
        "end, and how often is it accepted?"
    ),
    start=(
        'answer = {"deliveries": ..., "times processed": ..., "times accepted": ...}\n'
        "exercises.longer_than_its_lock.check(answer)"
    ),
    judge=Value(_too_long),
    hints=(
        "After 15 s the record may be had again, and the first member does not know.",
        "The limit is looked at when a delivery ends without success, and a lock that runs out is such an end.",
    ),
    reasoning=(
        "Each delivery ends after 15 s, and each member works on for 5 s more and comes to the end of its work. So it "
        "is processed **five** times and accepted **never**: after the fifth delivery it is ARCHIVED, and counts as "
        "given up. A longer lock, or a renewed one, is all that it needs."
    ),
    misconceptions=(
        Misconception({"deliveries": 1}, "The lock does not wait for the member: after 15 s somebody else gets it."),
        Misconception(
            {"times accepted": 1}, "Its word comes too late, each time: the record is with somebody else by then."
        ),
        Misconception({"times processed": 1}, "No member knows that its lock has run out; each works on to the end."),
    ),
    moral="A lock that is shorter than the work is worse than none.",
)


def _lag_left() -> int:
    done = (5, 6, 7, 8)
    state = ShareState(
        SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", 0), snapshot_epoch=0, state_epoch=2, leader_epoch=0,
        start_offset=4, complete_count=len(done), created_ms=0, written_ms=0,
    )  # fmt: skip
    return state.lag(end_offset=12)


share_lag = Exercise(
    name="share_lag",
    asks=(
        "A share-partition has the stored start offset 4. Of the records 4 to 9 somebody has accepted 5, 6 and 8, and "
        "7 was rejected. The log ends at 12 (the next record gets 12), and two members hold 4 and 9. What is the lag "
        "that `kafka-share-groups.sh --describe` prints?"
    ),
    start="lag = ...\nexercises.share_lag.check(lag)",
    judge=Value(_lag_left),
    hints=(
        "The end minus the start counts what is done behind the start, too.",
        "A rejected record is done as well: nobody will get it again.",
    ),
    reasoning=(
        "12 - 4 = 8 offsets from the start on; 5, 6, 7 and 8 of them are done (`deliveryCompleteCount` is 4): **4** "
        "are left. What a member holds at the moment is still to be done, and counts."
    ),
    misconceptions=(
        Misconception(8, "That is the subtraction of a consumer group. Four of these eight are done."),
        Misconception(5, "A rejected record is over as well; it is ARCHIVED, and counts as done."),
        Misconception(2, "What is acquired is not done yet: both may come back."),
    ),
)


def records_of(size: int, count: int, limit: int) -> int:
    """How many records of a batch are delivered the next time, if its first was delivered `count` times so far."""
    throttle = max(2, -(-limit // 2))
    if count < throttle:
        return size
    if limit > 2 and count == limit - 1:
        return 1
    return max(1, size >> (count - throttle + 1))


_CASES = (
    (8, 1, 5), (8, 2, 5), (8, 3, 5), (8, 4, 5), (1, 4, 5), (500, 3, 5), (8, 1, 2), (8, 1, 3), (8, 2, 3), (100, 5, 10),
    (100, 6, 10), (100, 9, 10), (3, 7, 10), (1, 0, 5),
)  # fmt: skip

smaller_near_the_end = Exercise(
    name="smaller_near_the_end",
    asks=(
        "Write `my_records(size, count, limit)`: how many records a member gets of a batch of `size` whose first "
        "record was delivered `count` times and given back each time; `limit` is the delivery limit. Below "
        "`max(2, limit / 2, rounded up)` deliveries: all. From there on half, with the next delivery a quarter, and so "
        "on, at least one; and the last delivery (count is `limit - 1`) is of one record alone, if the limit is more "
        "than 2."
    ),
    start=("def my_records(size, count, limit):\n    return ...\n\n\nexercises.smaller_near_the_end.check(my_records)"),
    judge=Function(records_of, ("size", "count", "limit"), _CASES),
    hints=(
        "With limit 5 the threshold is 3: batches come whole three times.",
        "Half for count 3, a quarter for count 4; and the last delivery comes before that rule.",
    ),
    reasoning=(
        "```python\ndef my_records(size, count, limit):\n    throttle = max(2, -(-limit // 2))\n"
        "    if count < throttle:\n        return size\n    if limit > 2 and count == limit - 1:\n        return 1\n"
        "    return max(1, size >> (count - throttle + 1))\n```\n\nOne bad record in a batch of 500 would take all "
        "others with it to the limit. So the last deliveries are small, and the very last is of one record: only the "
        "bad one is given up."
    ),
    misconceptions=(
        Misconception(
            lambda size, count, limit: size, "Then one bad record would take its whole batch with it to the limit."
        ),
        Misconception(
            lambda size, count, limit: size if count < max(2, -(-limit // 2)) else max(1, size >> 1),
            "The half of the half comes next; and the last delivery is of one record.",
        ),
        Misconception(
            lambda size, count, limit: 1 if limit > 2 and count == limit - 1 else size,
            "The last one is right; before it come halves.",
        ),
    ),
)

_SETTINGS = settings(max_poll_records=1, acquire_mode="record_limit")
_BEGUN = simulate(_SETTINGS, [Arrive()])[-1].state
_GAME = Game(
    step,
    broken,
    _SETTINGS,
    replace(_BEGUN, cluster=replace(_BEGUN.cluster, effects=()), effects=()),
    PROCESSED_AT_ALL,
    {
        "c1 polls": Poll("c1"),
        "c1 accepts": Accept("c1"),
        "c1 gives it back": Release("c1"),
        "c1 dies": Crash("c1"),
        "30 s pass": TimePassed(30_000),
    },
    " > ".join(["c1 polls > c1 gives it back"] * 5),
)

five_times_and_nobody = Exercise(
    name="five_times_and_nobody",
    asks=(
        "A game. One order lies in the topic. Users hope that *"
        + _GAME.promise
        + "*. Let it be delivered five times and "
        f"processed by nobody; **par {_GAME.par}**. The moves: {_GAME.table()}. Give a line with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.five_times_and_nobody.check(run)',
    judge=_GAME,
    hints=(
        "Each delivery needs a poll. What ends a delivery without success?",
        "Three of the moves do: one by the program's word, one without it, one by the clock.",
    ),
    reasoning=(
        f"`{_GAME.best}`; or with a death, or 30 s, in place of any gift. The count goes up at each poll, and is "
        "looked at when the delivery ends: after the fifth the broker gives the order up, and no error tells anybody. "
        "With a topic for dead letters (4.4) somebody would find it there."
    ),
    misconceptions=(
        Misconception(
            " > ".join(["c1 polls > c1 gives it back"] * 4),
            "Four deliveries; the limit is five, and is compared when a delivery ends.",
        ),
    ),
    moral="A queue that never stops has to drop something.",
)

WORK = ("payments by account", "pictures to resize", "a cache fed by changes", "calls to a slow web service")


which_group = Exercise(
    name="which_group",
    asks=(
        'For each kind of work choose `"consumer"` or `"share"` group: payments, to be booked by account in their '
        "order; pictures that are made smaller, each alone; a cache that takes the newest value of each key from a "
        "changelog; calls to a web service that takes 0.1 to 20 s, in any order."
    ),
    start="choice = {\n" + "".join(f'    "{name}": ...,\n' for name in WORK) + "}\nexercises.which_group.check(choice)",
    judge=Value(lambda: dict(zip(WORK, ("consumer", "share", "consumer", "share"), strict=True))),
    hints=(
        "Does a later record mean something else if an earlier one has not been processed?",
        "And who waits, in a consumer group, behind a record that takes 20 s?",
    ),
    reasoning=(
        "Where the order of a key's records means something (bookings of an account, the newest value of a key) only a "
        "consumer group keeps it. Where each record stands for itself and takes long or fails alone, a share group "
        "lets nobody wait for it."
    ),
    misconceptions=(
        Misconception({"payments by account": "share"}, "Two members may hold two bookings of one account at once."),
        Misconception({"a cache fed by changes": "share"}, "The older value may be processed last, and stay."),
        Misconception(
            {"calls to a slow web service": "consumer"},
            "It works, but one slow call holds all behind it in its partition.",
        ),
        Misconception({"pictures to resize": "consumer"}, "It works with as many members as partitions, and no more."),
    ),
)


def _highest_got() -> int:
    """What c2 gets at most while c1 holds record 0: a run of the simulator, until a poll of c2 is empty."""
    chosen = settings(max_locks=2000)
    state = simulate(chosen, [Arrive(), Poll("c1"), *[Arrive()] * 2100])[-1].state
    highest = 0
    while has := (state := step(chosen, state, Poll("c2"))).program("c2").has:
        highest = max(offset for _, offset in has)
        state = step(chosen, state, Accept("c2"))
    return highest


what_stops_all = Exercise(
    name="what_stops_all",
    asks=(
        "`share.partition.max.record.locks` is 2000. A member holds record 0 and renews its lock for ever; all others "
        "accept what they get at once. The producer goes on. What is the highest offset that anybody gets, if records "
        "come in batches of one?"
    ),
    start="offset = ...\nexercises.what_stops_all.check(offset)",
    judge=Value(_highest_got),
    hints=(
        "What counts as in flight: only what is held, or everything between the start and the end?",
        "The start offset cannot pass record 0. How many offsets may there be from it on?",
    ),
    reasoning=(
        "Everything from the start offset to the last acquired one is in flight, accepted or not. The start stands at "
        "0, so 2000 offsets are 0 to **1999**. Then nobody gets anything, although 1999 of them are done, and every "
        "member is idle. It is the one way in which a single record still stops a partition."
    ),
    misconceptions=(Misconception(2000, "2000 offsets from 0 on end at 1999."),),
)

from_a_queue = Exercise(
    name="from_a_queue",
    asks=(
        "Open. A team moves a queue of SQS (visibility time-out 120 s, maxReceiveCount 3, a dead letter queue; work "
        "takes 5 to 90 s) to a share group of Kafka 4.4. Write down its settings, what its program has to do that it "
        "did not before, what it watches, and what it may have lost without a word."
    ),
    start='plan = """\n"""\nexercises.from_a_queue.check(plan)',
    judge=Open(),
    solve=lambda: (
        "Lock 60 s (the group's most), renewed; limit 3; a DLQ topic by its prefix, enabled; watch share lag."
    ),
    hints=(
        "How long may a group's lock be at most, if nobody changes the brokers?",
        "What happens to a dead letter whose topic is not there?",
    ),
    reasoning=(
        "`share.record.lock.duration.ms` up to 60 s unless the brokers' maximum is raised, so work of 90 s has to "
        "renew (`AcknowledgeType.RENEW`, explicit mode); `share.delivery.count.limit=3`; "
        "`errors.deadletterqueue.topic.name` with the prefix `dlq.`, the topic made beforehand with "
        "`errors.deadletterqueue.group.enable=true`: else the record is gone without an error. Watch the share lag and "
        "the age of the start offset's record: one that is held stops the partition after 2000 more. What is accepted "
        "stays in the topic until retention takes it, which a queue has not."
    ),
)

_CHAPTER = Chapter(
    "18 share groups",
    (
        longer_than_its_lock, share_lag, smaller_near_the_end, five_times_and_nobody, which_group, what_stops_all,
        from_a_queue,
    ),
)  # fmt: skip
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
