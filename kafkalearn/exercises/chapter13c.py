"""The exercises of chapter 13c: where is the fault?"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Any

from kafkalearn.base.files import data_directory
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator import find_coordinator
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Having, Property
from kafkalearn.exercises.kit.result import Said, say
from kafkalearn.offsets.replay import Committed, Group, Member
from kafkalearn.oncall.logs import read_files
from kafkalearn.oncall.logs.causes import HEARTBEATS
from kafkalearn.oncall.logs.rebalances import histories
from kafkalearn.operations.faults import Finding, Judgement, cluster_logs, find_faults, judge, plant
from kafkalearn.operations.faults import findings as kind
from kafkalearn.operations.faults.findings import ABANDONED, START_MS
from kafkalearn.operations.faults.planting import BatchRow, CommitRow, MemberRow, ReplicaRow
from kafkalearn.operations.faults.rules import frozen_followers, hanging_consumers, progress
from kafkalearn.operations.groups import PartitionLog, reset_offsets
from kafkalearn.operations.topic_description import (
    UNAVAILABLE,
    UNDER_REPLICATED,
    PartitionInfo,
    TopicInfo,
    describe_topics,
)

_OWN = data_directory("own-cluster")


@cache
def _asked() -> dict[str, int | None]:
    """What files alone say about the recorded cluster."""
    described = (_OWN / "offsets-topic.txt").read_text(encoding="utf-8")
    audit = find_coordinator("audit", describe=described)
    found = [each for history in histories(read_files([_OWN / "server.log"]).events) for each in history.rebalances]
    return {
        "partition of audit": audit.partition,
        "coordinator of audit": audit.broker_id,
        "rebalances in server.log": len(found),
        "begun by a silent member": sum(each.cause == HEARTBEATS for each in found),
    }


asked_of_files = Exercise(
    name="asked_of_files",
    asks=(
        "Ask the files of `data/own-cluster`, here or in a shell. In which partition is the group `audit`, and which "
        "broker coordinates it? How many rebalances does `server.log` know, and how many of them began because a "
        "member was not heard of?"
    ),
    start=(
        'answers = {\n    "partition of audit": ...,\n    "coordinator of audit": ...,\n'
        '    "rebalances in server.log": ...,\n    "begun by a silent member": ...,\n}\n'
        "exercises.asked_of_files.check(answers)"
    ),
    judge=Value(_asked),
    hints=(
        "`where` and `why`: section 1 calls each of them once.",
        '`where(["audit"], describe=described)` takes the text of `offsets-topic.txt`.',
        "A member that leaves says so, if only a moment before; one that is silent is missed by its heartbeats.",
    ),
    reasoning=(
        "The partition is the group id's hash by 50, and its leader stands in the description: partition 5, broker 2. "
        "The log names seven rebalances with their causes, six of `billing`; two of them began because `billing-2` was "
        "not heard of: it was killed once, and missed once more at the end. When it stood still in one poll it left by "
        "itself."
    ),
    misconceptions=(
        Misconception(
            {"coordinator of audit": 1},
            "That is the first broker of the list; the coordinator is the leader of the group's partition.",
        ),
        Misconception(
            {"begun by a silent member": 3},
            "Who leaves by itself, after `max.poll.interval.ms`, was heard of until then: its heartbeats came.",
        ),
    ),
    moral="Ask the files first: they need no cluster, and they answer at three in the morning.",
)

MINUTE_MS = 60_000
_START, _END, _COMMITTED = 100, 125, 120
_LOGS = {"orders": [PartitionLog(_END, _START, tuple((offset, offset * MINUTE_MS) for offset in range(_START, _END)))]}
_STOPPED = Group("shipping", offsets=(Committed("orders", 0, _COMMITTED),))
_RUNNING = Group(
    "shipping",
    state="Stable",
    members=(Member("shipping-1", "shipping", "/10.0.0.7", assigned=(TopicPartition("orders", 0),)),),
    offsets=_STOPPED.offsets,
)
_ASKED = {
    "to-offset 90": ("to-offset", 90),
    "shift-by 1000": ("shift-by", 1000),
    "by-duration PT10M": ("by-duration", "PT10M"),
    "to-datetime in 2100": ("to-datetime", "2100-01-01T00:00:00.000"),
}


def _resets() -> dict[str, object]:
    found: dict[str, object] = {}
    for name, (scenario, value) in _ASKED.items():
        reset = reset_offsets(_STOPPED, _LOGS, scenario, value, now_ms=_END * MINUTE_MS)
        found[name] = reset.offsets[0][1]
    found["done while a consumer runs"] = not reset_offsets(_RUNNING, _LOGS, "to-earliest").is_refused
    return found


where_it_goes_on = Exercise(
    name="where_it_goes_on",
    asks=(
        f"`orders-0` begins at offset {_START}, as retention has taken the rest, and ends at {_END}. A record comes "
        f"every minute: that of offset 100 has the time 01:40, that of 124 has 02:04, and now it is 02:05. `shipping` "
        f"has committed {_COMMITTED}, and its consumers are stopped. At which offset does it go on after each of these "
        "scenarios of `kafka-consumer-groups --reset-offsets --execute`? And is a reset done while one of its "
        "consumers runs?"
    ),
    start=(
        "answer = {\n" + "".join(f'    "{name}": ...,\n' for name in (*_ASKED, "done while a consumer runs")) + "}\n"
        "exercises.where_it_goes_on.check(answer)"
    ),
    judge=Value(_resets),
    hints=(
        "The tool never commits an offset outside the log. What does it do with one, instead of failing?",
        "`by-duration` asks for the first record that is not older than so long ago.",
        "Which record has a time in 2100 or after it? The last answer is yes or no.",
    ),
    reasoning=(
        "90 lies before the log, 1,120 behind it: each is moved to the nearer end. Ten minutes before 02:05 is 01:55, "
        "the time of offset 115. No record has reached 2100, so the log's end is taken. And while a member is there "
        "the group is *Stable*, and the tool refuses: a commit from outside would be overwritten by the next one from "
        "inside.\n\n"
        "None of this fails. Of the two that were moved a warning stands on standard error: *New offset (1120) is "
        "higher than latest offset for topic partition orders-0. Value will be set to 125.* A script that keeps only "
        "what is printed never sees it. Of the time in 2100 the tool prints that the partition *is empty*, which it "
        "is not. So look at the dry run first, and keep what `--export` prints."
    ),
    misconceptions=(
        Misconception(
            {"shift-by 1000": 1120}, "The log does not reach that far, and the tool does not fail: it goes to the end."
        ),
        Misconception({"to-offset 90": 90}, "Retention has taken that record; the tool moves the offset into the log."),
        Misconception(
            {"by-duration PT10M": 110}, "The duration counts back from the clock, not from what was committed."
        ),
        Misconception(
            {"to-datetime in 2100": 120}, "A time that no record has reached does not leave the offset as it was."
        ),
        Misconception(
            {"done while a consumer runs": True},
            "Only a group without members is reset; with one the tool prints an error and changes nothing.",
        ),
    ),
    moral="Dry run, look, execute: a reset past an end goes to the end, and only standard error warns of it.",
)

_PARTITIONS = (
    PartitionInfo((1, 2, 3), (1, 2, 3), 1),
    PartitionInfo((4, 2, 3, 1), (1, 2, 3), 1, adding=(4,), removing=(1,)),
    PartitionInfo((1, 2, 3), (1, 2), 1),
    PartitionInfo((5,), (5,), None),
    PartitionInfo((3, 4, 1), (3, 1), 3),
)
_LIVE = (1, 2, 3, 4)
_FROZEN_AT, _RESTARTED_AT = 2, 4  # partitions
_SAMPLE_MS, _SAMPLE_COUNT = 300_000, 25
_END_MS = _SAMPLE_MS * (_SAMPLE_COUNT - 1)
_LOG_END = 1000  # of every log that consumers read


def _listed(option: str) -> frozenset[int]:
    printed = describe_topics([TopicInfo("orders", _PARTITIONS)], _LIVE, only=option)
    return frozenset(int(line.split("Partition: ")[1].split()[0]) for line in printed.splitlines())


def _replica_rows() -> list[ReplicaRow]:
    """Broker 3 has stood still in one partition for 90 minutes; broker 4 was away for the last sample only."""
    rows = []
    for sample in range(_SAMPLE_COUNT):
        at_ms = sample * _SAMPLE_MS
        is_frozen = at_ms >= _END_MS - 90 * 60_000
        rows.append(ReplicaRow(at_ms, "orders", _FROZEN_AT, 1, 3, not is_frozen, 500 if is_frozen else 400, None, 0))
        is_away = sample == _SAMPLE_COUNT - 1
        rows.append(ReplicaRow(at_ms, "orders", _RESTARTED_AT, 3, 4, not is_away, 10 * sample, None, 0))
    return rows


_COMMITS = {  # member: (offset, minutes ago) of each commit
    "a": [(_LOG_END, 100)],
    "b": [(600, 60), (700, 25)],
    "c": [(400, 95)],
    "d": [(400, ago) for ago in range(115, 0, -5)],
}


def _hanging() -> frozenset[str]:
    batches = [BatchRow("clicks", place, 1, _END_MS, 0, _LOG_END, 0) for place, _ in enumerate(_COMMITS)]
    commits = [
        CommitRow("search", "clicks", place, offset, _END_MS - 60_000 * ago)
        for place, of_member in enumerate(_COMMITS.values())
        for offset, ago in of_member
    ]
    members = [MemberRow(_END_MS, "search", name, "clicks", place) for place, name in enumerate(_COMMITS)]
    found = hanging_consumers(progress(batches, commits), members, _END_MS)
    return frozenset(str(each.member_id) for each in found)


def _ill() -> dict[str, frozenset]:
    return {
        "under-replicated": _listed(UNDER_REPLICATED),
        "unavailable": _listed(UNAVAILABLE),
        "faults": frozenset(each.partition for each in frozen_followers(_replica_rows()) if each.partition is not None),
        "hang": _hanging(),
    }


def _lines() -> str:
    rows = []
    for number, each in enumerate(_PARTITIONS):
        lists = (",".join(map(str, ids)) for ids in (each.replicas, each.isr, each.adding))
        replicas, isr, adding = lists
        rows.append(f"| {number} | {each.leader or 'none'} | {replicas} | {isr} | {adding} |")
    return "\n".join(("| partition | leader | replicas | ISR | adding |", "| --- | --- | --- | --- | --- |", *rows))


who_is_ill = Exercise(
    name="who_is_ill",
    asks=(
        "Brokers 1 to 4 live, broker 5 is dead; the cluster is an old one, without eligible leader replicas. `orders` "
        f"looks like this:\n\n{_lines()}\n\n"
        "In partition 2 broker 3 has been out of the ISR for 90 minutes, its log's end standing still; in partition 4 "
        "broker 4 has been out for less than five, since its restart. Of the group `search`, each member of which owns "
        "one partition that ends at 1,000:\n\n"
        "- `a` has committed 1,000, and nothing for 100 minutes,\n"
        "- `b` has committed 700, 25 minutes ago, and nothing since,\n"
        "- `c` has committed 400, 95 minutes ago, and nothing since,\n"
        "- `d` has committed 400 every five minutes for two hours.\n\n"
        "Which partitions does `--under-replicated-partitions` list, and which `--unavailable-partitions`? In which "
        "is a follower at fault, if a sign counts after an hour? Which members hang?"
    ),
    start=(
        'answer = {\n    "under-replicated": ...,\n    "unavailable": ...,\n    "faults": ...,\n    "hang": ...,\n}\n'
        "exercises.who_is_ill.check(answer)"
    ),
    judge=Value(_ill),
    hints=(
        "A replica that is only being added is not missed yet.",
        "The last in-sync replica stays in the ISR, even if its broker is dead: how many are missing then?",
        "To hang takes two things: no progress for an hour, and something to read.",
    ),
    reasoning=(
        "Under-replicated are 2 and 4: three replicas, two in sync. Partition 1 is being moved, and broker 4 is not "
        "missed before it has copied everything. Partition 3 has one replica and one in the ISR, dead: the list of the "
        "under-replicated is *silent* about the worst of them, and only `--unavailable-partitions` has it. (On a "
        "cluster with eligible leader replicas the ISR is empty then, and both lists have it.)\n\n"
        "A fault is partition 2. In 4 the follower catches up after a restart, as in every rolling restart. `a` has "
        "nothing to read, `b` may be in a long batch. `c` is silent and has 600 records to read; `d` commits as if all "
        "were well, and gets no further."
    ),
    misconceptions=(
        Misconception(
            {"under-replicated": frozenset({1, 2, 4})},
            "A partition that is being moved has more replicas than it will keep; those still to come do not count.",
        ),
        Misconception(
            {"under-replicated": frozenset({2, 3, 4})},
            "The dead broker is the last one in sync and stays in the ISR, so no replica is missing from it.",
        ),
        Misconception(
            {"faults": frozenset({2, 4})},
            "After a restart every follower is behind for a while. It is a fault if it stays so.",
        ),
        Misconception({"hang": frozenset("acd")}, "An idle consumer has nothing to read: its lag is zero."),
        Misconception(
            {"hang": frozenset("c")}, "A commit shows that a thread lives. Look whether the offset gets any further."
        ),
        Misconception({"hang": frozenset("bcd")}, "Half an hour may be one long batch; wait until the hour is over."),
    ),
    moral="One sign is no fault: ask how long, and whether there was work to do.",
)


TAKEN = (0, 1, 42)  # seeds of the chapter and its tests
PARTS = ("seed", "findings", "first")

FIRST: MappingProxyType[str, tuple[str, str]] = MappingProxyType(
    {
        kind.ONE_LEADER: (
            "A",
            "Have the preferred leaders elected (`kafka-leader-election.sh`), and look why "
            "`auto.leader.rebalance.enable` does not do it.",
        ),
        kind.HANGING_CONSUMER: ("B", "Take a thread dump of that member, then restart it: others take over its work."),
        kind.FUTURE_RECORD: (
            "C",
            "Bound what producers may send (`message.timestamp.after.max.ms`), and let size delete what time will not.",
        ),
        kind.DEAD_CLEANER: (
            "D",
            "Look for the error of the cleaner's thread, remove its cause, and have new threads: change "
            "`log.cleaner.threads`, or restart the broker.",
        ),
        kind.KEPT_GROUP: ("E", "Find the job that commits, stop it, then delete the group."),
        kind.FROZEN_FOLLOWER: ("F", "Look at that one broker's disk and its fetcher thread; the leader is well."),
        kind.UNCLEANABLE: (
            "G",
            "Look for what the cleaner could not read in this one log, repair it, and restart the broker: no new "
            "thread takes the mark away.",
        ),
        kind.HOT_PARTITION: ("H", "Count the keys of its newest records: one of them is most of the traffic."),
    }
)
"""For each kind of fault a letter, and what to do first."""


def _letters(found: tuple[Finding, ...]) -> dict[str, str]:
    return {each.kind: FIRST[each.kind][0] for each in found}


def _judged(answer: dict) -> Judgement:
    return judge(answer["findings"], plant(answer["seed"]))


def _wrong_letters(answer: dict) -> list[str]:
    wanted, given = _letters(plant(answer["seed"])), answer["first"]
    return [name for name, letter in wanted.items() if str(given.get(name, "")).strip().upper() != letter]


def _is_own_seed(answer: dict) -> bool:
    return type(answer["seed"]) is int and answer["seed"] not in TAKEN


def _of_seed(seed: int) -> dict[str, Any]:
    found = find_faults(cluster_logs(seed))
    return {"seed": seed, "findings": list(found), "first": _letters(found)}


def _with_the_abandoned() -> dict[str, Any]:
    whole = _of_seed(2026)
    return whole | {"findings": [*whole["findings"], Finding(kind.KEPT_GROUP, START_MS, group_id=ABANDONED)]}


def _with_letters_exchanged() -> dict[str, Any]:
    whole = _of_seed(5)
    dead, one = whole["first"][kind.DEAD_CLEANER], whole["first"][kind.UNCLEANABLE]
    return whole | {"first": whole["first"] | {kind.DEAD_CLEANER: one, kind.UNCLEANABLE: dead}}


def _says_letters(answer: dict) -> Said:
    return say("All is found. The first thing to do is another for: {}.", ", ".join(_wrong_letters(answer)))


def _are_exchanged(answer: dict) -> bool:
    given = {name: str(letter).strip().upper() for name, letter in answer["first"].items()}
    dead, one = (FIRST[name][0] for name in (kind.DEAD_CLEANER, kind.UNCLEANABLE))
    return given.get(kind.DEAD_CLEANER) == one or given.get(kind.UNCLEANABLE) == dead


my_cluster = Exercise(
    name="my_cluster",
    asks=(
        "**The capstone, a game for a class.** Choose a **seed of your own**, your birthday for example: 20050412. It "
        "draws a cluster of six brokers with six faults, another for each of you. Find them, in the four tables of "
        "`cluster_logs(seed)` or, as in section 3, with Spark; who has all six and nothing else first, wins. A finding "
        "names the kind, the place and the time, as `Finding` does.\n\n"
        "And what do you do first about each? Give a dict from the kind to a letter.\n\n"
        + "\n".join(f"- **{letter}** {words}" for letter, words in FIRST.values())
    ),
    start=(
        'answer = {\n    "seed": ...,\n    "findings": ...,\n    "first": ...,\n}\nexercises.my_cluster.check(answer)'
    ),
    judge=Having(
        {},
        (
            Property(
                lambda answer: all(name in answer for name in PARTS),
                lambda answer: "Three parts are wanted: the seed, the findings, and what is first for each kind.",
            ),
            Property(
                _is_own_seed, lambda answer: say("{} is no seed of your own; take another number.", answer["seed"])
            ),
            Property(lambda answer: _judged(answer).is_perfect, lambda answer: f"{_judged(answer)}."),
            Property(lambda answer: not _wrong_letters(answer), _says_letters),
        ),
    ),
    solve=lambda: _of_seed(2026),
    hints=(
        "`find_faults(cluster_logs(seed))` does it at once. Before you use it, try one kind by hand: which log's line "
        "in the cleaner's checkpoint stands still?",
        "What lasts less than an hour is an ordinary day: a rolling restart, a follower that lags, a consumer that "
        "pauses.",
        "Of D and G one is about a whole broker, the other about one log.",
    ),
    reasoning=(
        "The rules of section 3 find all six, and none in a cluster without faults: each is sure only of what has "
        "lasted an hour. `judge(find_faults(cluster_logs(seed)), plant(seed))` compares.\n\n"
        + "\n".join(f"- {name}: {letter}." for name, (letter, _) in FIRST.items())
        + "\n\nA restart of the broker ends two of the eight, and takes the traces of most of them away: look first."
    ),
    misconceptions=(
        Misconception(
            _of_seed(2027) | {"seed": 2026},
            "None of these belongs to the cluster of your seed: were the tables made from another one?",
            lambda answer: bool(answer["findings"]) and not _judged(answer).right,
        ),
        Misconception(
            _with_the_abandoned(),
            f"Nobody reads for `{ABANDONED}`, and nobody commits for it: its offsets expire by themselves.",
            lambda answer: any(each.group_id == ABANDONED for each in answer["findings"]),
        ),
        Misconception(
            _with_letters_exchanged(),
            "A dead thread stops all compacted logs of a broker, and a new thread is enough; a mark stops a single "
            "log, and stays until a restart.",
            _are_exchanged,
        ),
    ),
    moral="Findings first, hands afterwards.",
)

_CHAPTER = Chapter("13c faults", (asked_of_files, where_it_goes_on, who_is_ill, my_cluster))
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
