"""Find the bug of chapter 13: a rebalance listener that commits bare offsets (KIP-320)."""

from __future__ import annotations

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.faulty_code import FaultyCode
from kafkalearn.exercises.kit.functions import Function


def offsets_to_commit(processed, leader_epochs):  # noqa: D103
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
        "failures the next owner read a whole partition again, although nothing was lost (KAFKA-19902, the run of "
        "section 8). Fix it. A record of an old format has no epoch: None."
    ),
    start=f"{CODE.source.replace('  # noqa: D103', '')}\n\nexercises.bare_offsets.check(offsets_to_commit)",
    judge=Function(CODE.repaired(), ("processed", "leader_epochs"), CASES, unrepaired=CODE.function),
    solve=CODE.repaired,
    hints=(
        "What did the next owner of section 8 not know, that would have kept it from asking an old leader?",
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
