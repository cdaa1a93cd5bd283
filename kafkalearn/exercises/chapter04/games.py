"""The game of chapter 04: a rebalance by range that moves what nobody needed to move."""

from __future__ import annotations

from collections.abc import Iterable

from kafkalearn.assignor import Member, compare
from kafkalearn.consuming import Join, Leave, Settings, Topic, start, step
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.game import Game, moves_of

_TOPIC = Settings(2)
_NAMES = ("C0", "C1", "C2")
FEWEST_MOVES = "a rebalance moves no more partitions than it must"


def _members(topic: Topic) -> list[Member]:
    return [Member(each, [topic.name]) for group in topic.groups for each in group.member_ids]


def _broken(settings: Settings, topic: Topic, before: Topic | None, names: Iterable[str]) -> tuple[str, ...]:
    """The promise, if the last rebalance moved more than was needed."""
    if before is None or not _members(before) or not _members(topic):
        return ()
    counts = {settings.topic: settings.partition_count}
    (row,) = compare([settings.assignor], counts, _members(before), _members(topic))
    return (FEWEST_MOVES,) if row["moved"] > row["fewest"] else ()


_GAME = Game(
    step,
    _broken,
    _TOPIC,
    start(_TOPIC),
    FEWEST_MOVES,
    moves_of(*(Join("billing", name) for name in _NAMES), *(Leave("billing", name) for name in _NAMES)),
    "Join('billing', 'C1') > Join('billing', 'C2') > Join('billing', 'C0')",
)

needless_moves = Exercise(
    name="needless_moves",
    asks=(
        "A game. `orders` has two partitions, the group `billing` shares them by `range`, and nobody is in it yet. "
        f"Users hope that *{_GAME.promise}*. Break that promise; **par {_GAME.par}**. The moves: {_GAME.table()}. "
        "Give a line with `>` between the moves, or a list of events."
    ),
    start='run = ""  # moves with > between them\nexercises.needless_moves.check(run)',
    judge=_GAME,
    solve=lambda: _GAME.best,
    hints=(
        "With three members and two partitions one is idle. Which one, by `range`?",
        "`range` sorts the members by their ids. What if the newcomer is the first of them?",
    ),
    reasoning=(
        f"`{_GAME.best}`. C1 and C2 have one partition each. C0 comes, and nobody needs it; but it is the first by "
        "name, so it gets partition 0, C1 gets partition 1, and C2 gets nothing: two partitions move where none had "
        "to. In Kafka the coordinator makes the member ids, so nobody can choose who is the first."
    ),
    misconceptions=(
        Misconception(
            "Join('billing', 'C0') > Join('billing', 'C1') > Join('billing', 'C2') > Leave('billing', 'C0')",
            "It works: both partitions move where one would do. But a newcomer can do it as well, and nobody leaves.",
        ),
        Misconception(
            "Join('billing', 'C0') > Join('billing', 'C1') > Join('billing', 'C2')",
            "The third one comes last by name as well, and stays idle. In which other order can the three join?",
        ),
    ),
    moral="Range remembers nothing, so a newcomer that is not even needed can move everything.",
)
