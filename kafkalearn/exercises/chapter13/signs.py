"""Signs of chapter 13: what an alarm lists, who hangs, and what is only an ordinary day."""

from __future__ import annotations

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.values import Value
from kafkalearn.operations.faults.logs import BatchRow, CommitRow, MemberRow, ReplicaRow
from kafkalearn.operations.faults.rules import frozen_followers, hanging_consumers, progress
from kafkalearn.operations.topic_description import (
    UNAVAILABLE,
    UNDER_REPLICATED,
    PartitionInfo,
    TopicInfo,
    describe_topics,
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
_END = 1000  # of every log that consumers read


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


def _faults() -> frozenset[int]:
    return frozenset(each.partition for each in frozen_followers(_replica_rows()) if each.partition is not None)


_COMMITS = {  # member: (offset, minutes ago) of each commit
    "a": [(_END, 100)],
    "b": [(600, 60), (700, 25)],
    "c": [(400, 95)],
    "d": [(400, ago) for ago in range(115, 0, -5)],
}


def _hanging() -> frozenset[str]:
    batches = [BatchRow("clicks", place, 1, _END_MS, 0, _END, 0) for place, _ in enumerate(_COMMITS)]
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
        "faults": _faults(),
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
    solve=_ill,
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
