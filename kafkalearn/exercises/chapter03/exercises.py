"""The exercises of chapter 03: who reads what?"""

from __future__ import annotations

from kafkalearn.assignor import Member, assign, load
from kafkalearn.exercises.chapter03.games import out_of_order
from kafkalearn.exercises.chapter03.incidents import one_partition, read_describe, twice_as_fast, wrong_group_id
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.values import Value

_PARTITIONS = 6


def _load_of(member_count: int):
    members = [Member(f"c{number}", ["orders"]) for number in range(member_count)]
    return load(assign("range", {"orders": _PARTITIONS}, members))


def _idle_members() -> dict[str, int]:
    return {
        "idle of 4": _load_of(4).idle_count,
        "idle of 6": _load_of(6).idle_count,
        "idle of 9": _load_of(9).idle_count,
        "most with 4": _load_of(4).most,
    }


idle_members = Exercise(
    name="idle_members",
    asks=(
        f"Predict. `orders` has {_PARTITIONS} partitions and one group reads it. How many members are idle when the "
        "group has 4, when it has 6, when it has 9? And with 4 members: how many partitions does the busiest have?"
    ),
    start=(
        'answer = {"idle of 4": ..., "idle of 6": ..., "idle of 9": ..., "most with 4": ...}\n'
        "exercises.idle_members.check(answer)"
    ),
    judge=Value(_idle_members),
    solve=_idle_members,
    hints=(
        "A partition is read by one member of a group, never by two.",
        "6 = 2 + 2 + 1 + 1.",
    ),
    reasoning=(
        "With 4 members two have two partitions and two have one; with 6 each has one; with 9 three have none. They "
        "are not broken: they send heartbeats, and take over when another one goes. But they add no speed. With 4 "
        "members the group is as slow as those with *two* partitions: 4 are no faster than 3."
    ),
    misconceptions=(
        Misconception(
            {"idle of 9": 0},
            "Two members never share a partition, so beyond one member for each there is nothing to get.",
        ),
        Misconception({"most with 4": 1.5}, "A partition is not cut in halves: it belongs to one member as a whole."),
    ),
    moral="The number of partitions is the largest number of consumers that work.",
)


_IN_ORDER = {"1 before 2": True, "2 before 3": False, "1 before 2, no key": False, "1 before 2, more partitions": False}

whose_order = Exercise(
    name="whose_order",
    asks=(
        "`orders` has several partitions, and the Java producer chooses by key. Customer A does: order placed (1), "
        "order paid (2). Customer B: order placed (3), produced after (2). Which of these can be relied on, whatever "
        "the group, its members and their speed? Answer yes or no (or True or False): is 1 always read before 2, with "
        "the customer as key; 2 before 3, with the customer as key; 1 before 2 without keys; and 1 before 2 with the "
        "customer as key, if between them somebody adds partitions to the topic?"
    ),
    start=(
        'answer = {\n    "1 before 2": ...,\n    "2 before 3": ...,\n    "1 before 2, no key": ...,\n'
        '    "1 before 2, more partitions": ...,\n}\n'
        "exercises.whose_order.check(answer)"
    ),
    judge=Value(lambda: _IN_ORDER),
    solve=lambda: _IN_ORDER,
    hints=(
        "Order holds inside one partition, and nowhere else.",
        "For each pair: are both certainly in the same partition?",
        "Chapter 02: what does another number of partitions do to the partition of a key?",
    ),
    reasoning=(
        "1 and 2 have one key, one partition, one reader: yes. 2 and 3 have two keys; they may lie in two partitions, "
        "read by two members, one of which is slow: no. Without keys 1 and 2 may lie anywhere: no. And with more "
        "partitions the key is likely to go elsewhere from then on: 1 stays in the old partition, 2 lies in the new "
        "one: no."
    ),
    misconceptions=(
        Misconception(
            {"2 before 3": True},
            "Two customers are two keys, most likely in two partitions, and order ends where the partition ends.",
        ),
        Misconception(
            {"1 before 2, no key": True},
            "Without a key the producer puts each record, or each batch, where it likes.",
        ),
        Misconception(
            {"1 before 2, more partitions": True},
            "The partition of a key is a remainder by the number of partitions: change that, and most keys move.",
        ),
    ),
    moral="Ask of two records only this: are they in one partition?",
)


def _my_lags(log_ends, committed, reset):
    lags = {}
    for partition, log_end in log_ends.items():
        begin = 0 if reset == "earliest" else log_end
        lags[partition] = log_end - committed.get(partition, begin)
    return lags


_LAG_CASES = (
    ({}, {}, "latest"),
    ({0: 5}, {0: 5}, "latest"),
    ({0: 5}, {0: 3}, "latest"),
    ({0: 5}, {0: 0}, "latest"),
    ({0: 5}, {}, "earliest"),
    ({0: 5}, {}, "latest"),
    ({0: 5, 1: 7}, {1: 6}, "earliest"),
    ({0: 5, 1: 7}, {1: 6}, "latest"),
    ({0: 5, 1: 7}, {0: 9, 1: 0}, "latest"),
    ({0: 0, 1: 0}, {0: 0}, "earliest"),
)

my_lags = Exercise(
    name="my_lags",
    asks=(
        "Write `my_lags(log_ends, committed, reset)`: for each partition in `log_ends` how many records the group has "
        "before it. `log_ends` maps partitions to the offset the next record will get; `committed` maps *some* of them "
        'to the committed offset. Where nothing is committed, the group begins where `reset` says: `"earliest"` '
        '(offset 0 here) or `"latest"` (the log end). Give a dict. A lag may be negative: somebody may have '
        "committed too much."
    ),
    start=("def my_lags(log_ends, committed, reset):\n    return ...\n\n\nexercises.my_lags.check(my_lags)"),
    judge=Function(_my_lags, ("log_ends", "committed", "reset"), _LAG_CASES),
    solve=lambda: _my_lags,
    hints=(
        "With a committed offset it is one subtraction.",
        "A committed offset of 0 is a committed offset. `committed.get(partition) or ...` would miss that.",
    ),
    reasoning=(
        "```python\n"
        "def my_lags(log_ends, committed, reset):\n"
        "    lags = {}\n"
        "    for partition, log_end in log_ends.items():\n"
        '        begin = 0 if reset == "earliest" else log_end\n'
        "        lags[partition] = log_end - committed.get(partition, begin)\n"
        "    return lags\n"
        "```\n\n"
        "No `- 1` anywhere: both numbers are *next* offsets. With `latest`, the default, a new group has no lag at "
        "all, although it will never read what is there already."
    ),
    misconceptions=(
        Misconception(
            lambda log_ends, committed, reset: {
                partition: end - 1 - committed.get(partition, 0 if reset == "earliest" else end)
                for partition, end in log_ends.items()
            },
            "One too few: log end and committed offset both name the *next* record, so the difference is the count.",
        ),
        Misconception(
            lambda log_ends, committed, reset: {
                partition: end - (committed.get(partition) or (0 if reset == "earliest" else end))
                for partition, end in log_ends.items()
            },
            "A group that has committed 0 has committed: `or` takes it for nothing.",
        ),
        Misconception(
            lambda log_ends, committed, reset: {
                partition: max(0, end - committed.get(partition, 0 if reset == "earliest" else end))
                for partition, end in log_ends.items()
            },
            "The tools show a negative lag as it is, and it is worth seeing: somebody reset offsets by hand.",
        ),
    ),
    moral="Two next-offsets, one subtraction.",
)


_CHAPTER = Chapter(
    "03 groups",
    (idle_members, wrong_group_id, whose_order, read_describe, my_lags, one_partition, out_of_order, twice_as_fast),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
