"""The exercises of chapter 00b: can Kafka be read in one sitting?"""

from __future__ import annotations

from kafkalearn import journey, tiny
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Open
from kafkalearn.exercises.kit.game import Game

# A partition that is played from the text of an exercise.


def _marks() -> dict[str, int]:
    """What the leader has for safe, and what it has written, after the moves of `predict_marks`."""
    orders = tiny.Partition([1, 2, 3])
    orders.produce(b"ann", "tea")
    orders.fetch(2), orders.fetch(3), orders.fetch(2)
    orders.produce(b"bob", "jam")
    orders.fetch(3)
    log = orders.leader_log
    return {"LEO": log.end_offset, "HW": log.high_watermark}


predict_marks = Exercise(
    name="predict_marks",
    asks=(
        "A prediction; you need no code. Broker 1 leads, 2 and 3 follow, all are in sync. A producer sends tea with "
        "acks=all; then 2 fetches, 3 fetches, 2 fetches. A producer sends jam; then 3 fetches. What are the LEO and "
        "the "
        "HW of the leader?"
    ),
    start='marks = {"LEO": ..., "HW": ...}\nexercises.predict_marks.check(marks)',
    judge=Value(_marks),
    hints=(
        "A fetch says from which offset a follower asks: so much it has, and no more.",
        "Write down for each follower the offset of its last question.",
        "Broker 2 has asked for 0 and 1, broker 3 for 0 and 1. What have both?",
    ),
    reasoning=(
        "Two records are written: LEO 2. Broker 2 asked last for offset 1. Broker 3 asked for 0, and at the end for "
        "1; "
        "only then does the leader know that both have tea: HW 1. That broker 3 has been sent jam, the leader will "
        "learn from its next question."
    ),
    misconceptions=(
        Misconception({"HW": 0}, "Each follower has asked for what comes after tea: so both have it."),
        Misconception(
            {"HW": 2}, "Nobody has asked yet for what comes after jam. What is on its way counts for nothing."
        ),
    ),
    moral="The high watermark is moved by questions, not by answers.",
)


# The rule of the high watermark.


def safe(high_watermark: int, ends: dict[int, int], isr: list[int], min_insync_replicas: int) -> int:
    """The leader's high watermark, by the rule of `kafkalearn.tiny`."""
    partition = tiny.Partition([*ends], min_insync_replicas)
    partition.isr = set(isr)
    log = partition.leader_log
    log.end_offset, log.high_watermark = ends[1], high_watermark
    partition.remote_ends = {broker: end for broker, end in ends.items() if broker != 1}
    partition.raise_high_watermark()
    return log.high_watermark


_SAFE_CASES = (
    (0, {1: 1, 2: 0, 3: 0}, [1, 2, 3], 2),
    (0, {1: 3, 2: 2, 3: 1}, [1, 2, 3], 2),
    (1, {1: 4, 2: 4, 3: 1}, [1, 2], 2),
    (3, {1: 5, 2: 4, 3: 2}, [1, 2, 3], 2),
    (1, {1: 4, 2: 1, 3: 1}, [1], 2),
    (1, {1: 4, 2: 1, 3: 1}, [1], 1),
    (2, {1: 6, 2: 6, 3: 5}, [1, 3], 2),
)
"""What was safe, the log ends of the brokers of which 1 leads, who is in sync, min.insync.replicas."""


def _of_all(high_watermark: int, ends: dict[int, int], isr: list[int], min_insync_replicas: int) -> int:
    return safe(high_watermark, ends, [*ends], min_insync_replicas)


def _may_fall(high_watermark: int, ends: dict[int, int], isr: list[int], min_insync_replicas: int) -> int:
    return min(ends[broker] for broker in isr) if len(isr) >= min_insync_replicas else high_watermark


def _however_few(high_watermark: int, ends: dict[int, int], isr: list[int], min_insync_replicas: int) -> int:
    return max(high_watermark, min(ends[broker] for broker in isr))


def _by_majority(high_watermark: int, ends: dict[int, int], isr: list[int], min_insync_replicas: int) -> int:
    return max(high_watermark, sorted(ends.values())[len(ends) // 2])


write_safe = Exercise(
    name="write_safe",
    asks=(
        "Write `my_safe(high_watermark, ends, isr, min_insync_replicas)`: the leader's high watermark after it has "
        "counted a fetch. `high_watermark` is what it was; `ends` has the log end of each broker as the leader "
        "knows it, "
        "by the broker's id, the leader's own among them; `isr` is the list of those in sync. If they are fewer than "
        "`min_insync_replicas`, nothing new is safe."
    ),
    start=(
        "def my_safe(high_watermark, ends, isr, min_insync_replicas):\n    return ...\n\n\n"
        "exercises.write_safe.check(my_safe)"
    ),
    judge=Function(safe, ("high_watermark", "ends", "isr", "min_insync_replicas"), _SAFE_CASES),
    hints=(
        "What do all of those in sync have?",
        "It is the smallest of their log ends; who is not in sync is not asked.",
        "It never falls: a replica that has just come into the ISR may be behind it for a moment.",
    ),
    reasoning=(
        "```python\ndef my_safe(high_watermark, ends, isr, min_insync_replicas):\n"
        "    if len(isr) < min_insync_replicas:\n        return high_watermark\n"
        "    return max(high_watermark, min(ends[broker] for broker in isr))\n```\n\n"
        "No majority is counted. All in sync must have it, and who is too slow is no longer in sync: that is "
        "Kafka's way "
        "to be safe with few replicas."
    ),
    misconceptions=(
        Misconception(_of_all, "A replica that has fallen out of the ISR is not waited for."),
        Misconception(_may_fall, "A high watermark never falls: what was read cannot be taken back."),
        Misconception(_however_few, "Fewer than min.insync.replicas prove nothing."),
        Misconception(_by_majority, "Kafka counts no majority here: all in sync have to have it."),
    ),
)


# What a group reads of its log.


def where(log: list, group: str, partition: int) -> int:
    """Where a group goes on in a partition, by the last commit in a log."""
    found = [offset for name, number, offset in log if (name, number) == (group, partition)]
    return found[-1] or 0 if found else 0


_WHERE_CASES = (
    ([], "billing", 0),
    ([("billing", 0, 3)], "billing", 0),
    ([("billing", 0, 3), ("billing", 1, 8)], "billing", 0),
    ([("billing", 0, 3), ("search", 0, 9)], "billing", 0),
    ([("billing", 0, 7), ("billing", 0, 4)], "billing", 0),
    ([("billing", 0, 3), ("billing", 0, 5), ("billing", 0, 4)], "billing", 0),
    ([("billing", 0, 7), ("billing", 0, None)], "billing", 0),
)


def _the_first(log: list, group: str, partition: int) -> int:
    return where(log[::-1], group, partition)


def _the_largest(log: list, group: str, partition: int) -> int:
    return max([offset or 0 for name, number, offset in log if (name, number) == (group, partition)], default=0)


def _of_any_partition(log: list, group: str, partition: int) -> int:
    return where([(name, partition, offset) for name, _, offset in log], group, partition)


def _without_tombstones(log: list, group: str, partition: int) -> int:
    return where([each for each in log if each[2] is not None], group, partition)


write_where = Exercise(
    name="write_where",
    asks=(
        "Write `my_where(log, group, partition)`: where a group goes on in a partition of its topic. `log` is the "
        "group's "
        "partition of `__consumer_offsets`, a list of `(group, partition, offset)` in the order in which they were "
        "written. "
        "An offset of None is a tombstone: the commit was deleted. Without a commit a group begins at 0."
    ),
    start="def my_where(log, group, partition):\n    return ...\n\n\nexercises.write_where.check(my_where)",
    judge=Function(where, ("log", "group", "partition"), _WHERE_CASES),
    hints=(
        "Only one record of each key counts. Which?",
        "Go through the log in its order, and keep what you saw last of this group and partition.",
        "A tombstone says that the key is gone, as if nothing had been committed.",
    ),
    reasoning=(
        "```python\ndef my_where(log, group, partition):\n    position = 0\n    for name, number, offset in log:\n"
        "        if (name, number) == (group, partition):\n            position = offset or 0\n    return "
        "position\n```\n\n"
        "The last one wins, also if it is smaller: a group may be reset. That is why a cleaner may drop all but the "
        "last."
    ),
    misconceptions=(
        Misconception(_the_first, "That is the first commit; the last one counts."),
        Misconception(_the_largest, "A group may be set back: the last commit counts, also if it is smaller."),
        Misconception(_of_any_partition, "Each partition has a position of its own."),
        Misconception(_without_tombstones, "After a tombstone the commit is gone, not the one before it back."),
    ),
)


# A game: the same record twice.

_TWICE: Game[journey.Settings, journey.Journey, journey.Event] = Game(
    journey.step,
    journey.broken,
    journey.Settings(),
    journey.simulate(journey.Settings(), [journey.Send("ann")])[-1].state,
    "nothing is read twice",
    {
        "the followers fetch": journey.FollowersFetch(),
        "c1 polls": journey.Poll("c1"),
        "c1 commits": journey.Commit("c1"),
        "c1 leaves": journey.Leave("c1"),
        "broker 1 dies": journey.BrokerCrashed(1),
    },
    "the followers fetch > the followers fetch > c1 polls > c1 leaves",
)

read_twice = Exercise(
    name="read_twice",
    asks=(
        "A game, on the picture of chapter 00. ann has sent A1, and broker 1 has written it. c1 and c2 share the "
        "topic. "
        "The group hopes that *nothing is read twice*. Break that promise in as few moves as you can; "
        f"**par {_TWICE.par}**. The moves: {', '.join(f'`{each}`' for each in _TWICE.moves)}. Write them in one "
        "line, "
        "with `>` between them."
    ),
    start='run = ""  # for example "the followers fetch > c1 polls"\nexercises.read_twice.check(run)',
    judge=_TWICE,
    hints=(
        "A record can be read once it is committed. How often do the followers have to fetch until then?",
        "Where does a consumer go on that takes a partition over?",
        "Let c1 read, and leave before it has committed.",
    ),
    reasoning=(
        f"`{_TWICE.best}`. The first fetch copies A1, the second tells the leader so, and c1 may read it. It leaves "
        "before "
        "it has committed; c2 takes the partition over and goes on where the last commit says: at the beginning. "
        "This is "
        "*at least once*, and every consumer has to bear it."
    ),
    misconceptions=(
        Misconception(
            "the followers fetch > the followers fetch > c1 polls > c1 commits > c1 leaves",
            "A commit can itself be too young to be read, but then more moves are needed than par: leave without one.",
        ),
        Misconception(
            "the followers fetch > c1 polls > c1 leaves", "After one fetch nothing is committed, so c1 reads none."
        ),
    ),
    moral="Read, then commit: what lies between is read again.",
)

my_rule = Exercise(
    name="my_rule",
    asks=(
        "**Open question.** Change a fourth rule of `kafkalearn.tiny`, one of your own choice, and ask `held` about "
        "it. "
        "Which recorded answer breaks first? If none does: what would one have to ask a real Kafka so that it did?"
    ),
    start='answer = """\n"""\nexercises.my_rule.check(answer)',
    judge=Open(),
    solve=lambda: "I let a cleaner keep the first record of each key; the first pass of the first log broke.",
    hints=(
        "A subclass of `tiny.Partition` with one method of your own is enough; or a function of the same name.",
        "`held(Partition=MyPartition)` and `held(compact=my_compact)` are asked like tiny's own.",
    ),
    reasoning=(
        "There is more than one answer. Who lets a leader wait for no follower that has fallen behind breaks "
        "nothing until "
        "a broker is frozen for 30 seconds: the recordings have that. Who elects the *last* replica in sync and not "
        "the first "
        "breaks the runs in which the leader was killed. A change that nothing breaks is the interesting one: "
        "either it is no "
        "change, or a recording is missing."
    ),
)

_CHAPTER = Chapter("00b one sitting", (predict_marks, write_safe, write_where, read_twice, my_rule))
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
