"""The game of chapter 03: two members read records in another order than they were written in."""

from __future__ import annotations

from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings, start, step
from kafkalearn.consuming.promises import IN_ORDER, broken
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.game import Game, moves_of

_TOPIC = Settings(2)
_GAME = Game(
    step,
    broken,
    _TOPIC,
    start(_TOPIC),
    IN_ORDER,
    moves_of(
        Produce("order"),
        *(Join("billing", name) for name in ("b0", "b1")),
        *(Poll("billing", name) for name in ("b0", "b1")),
        *(Leave("billing", name) for name in ("b0", "b1")),
    ),
    "Produce('order') > Produce('order') > Join('billing', 'b0') > Join('billing', 'b1') > Poll('billing', 'b1') > "
    "Poll('billing', 'b0')",
)

out_of_order = Exercise(
    name="out_of_order",
    asks=(
        "A game. `orders` has two partitions; records without a key go to them in turn. Users hope that "
        f"*{_GAME.promise}*. Break that promise; **par {_GAME.par}**. A poll returns one record of one partition, and "
        f"commits it. The moves: {_GAME.table()}. Give a line with `>` between the moves, or a list of events."
    ),
    start='run = ""  # moves with > between them\nexercises.out_of_order.check(run)',
    judge=_GAME,
    solve=lambda: _GAME.best,
    hints=(
        "With two records in two partitions, who reads which?",
        "Let the member poll first whose partition has the second record.",
    ),
    reasoning=(
        f"`{_GAME.best}`. The first record is in partition 0, the second one in partition 1; two members have one "
        "each, "
        "and nothing makes them wait for each other. One member alone reads the two in turn and breaks nothing here; "
        "but which partition comes first is no promise of Kafka's either."
    ),
    misconceptions=(
        Misconception(
            "Produce('order') > Produce('order') > Join('billing', 'b0') > Join('billing', 'b1') > Poll('billing', "
            "'b0') > Poll('billing', 'b1')",
            "The member that has the first record reads it first. What if the other one is quicker?",
        ),
    ),
    moral="Order ends where the partition ends.",
)
