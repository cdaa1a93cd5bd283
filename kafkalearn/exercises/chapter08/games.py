"""The game of chapter 08: a reader that was away keeps a customer who was deleted."""

from __future__ import annotations

from kafkalearn.exercises.chapter08.writes import HOUR_MS, put
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.game import Game
from kafkalearn.log import Clean, Roll, Settings, reader
from kafkalearn.log.reader import Read
from kafkalearn.log.reader.promises import broken

_LOG = Settings("compact", min_cleanable_dirty_ratio=0.0)
_BEGUN = reader.simulate(_LOG, [put("anna", "Lyon"), Read(1)])[-1].state
_GAME = Game(
    reader.step,
    broken,
    _LOG,
    _BEGUN,
    "the reader has no ghost",
    {
        "anna is deleted": put("anna", None),
        "ben moves to Graz": put("ben", "Graz"),
        "the segment is closed": Roll(),
        "a pass at hour 30": Clean(30 * HOUR_MS),
        "a pass at hour 60": Clean(60 * HOUR_MS),
        "the reader reads on": Read(),
    },
    "anna is deleted > the segment is closed > ben moves to Graz > a pass at hour 30 > the segment is closed > "
    "a pass at hour 60",
)

make_a_ghost = Exercise(
    name="make_a_ghost",
    asks=(
        "A game with a compacted topic, `delete.retention.ms` 24 hours. A reader has read `anna`'s only record, and "
        "then stands still. Users hope that *the reader has no ghost*: whatever it keeps is in the topic, or it will "
        f"still read that it is gone. Break that promise; **par {_GAME.par}**. The moves: {_GAME.table()}. A pass "
        "cleans only closed segments, and only if they have something new. Give a line with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.make_a_ghost.check(run)',
    judge=_GAME,
    solve=lambda: _GAME.best,
    hints=(
        "The reader learns of the deletion from the tombstone. So the tombstone must go before the reader reads on.",
        "The first pass that meets the tombstone starts its clock; the second one can take it away.",
        "The second pass needs a closed segment with something new in it: what can you write there, and when?",
    ),
    reasoning=(
        f"`{_GAME.best}`. The pass at hour 30 takes anna's value away and gives her tombstone a horizon 24 hours "
        "later; the pass at hour 60, which comes because of ben's record, takes the tombstone away. The reader will "
        "never learn that anna is gone: no record in the topic has her name any more."
    ),
    misconceptions=(
        Misconception(
            "anna is deleted > the segment is closed > a pass at hour 30 > a pass at hour 60",
            "The second pass does not come: nothing new is in a closed segment.",
        ),
        Misconception(
            "anna is deleted > the segment is closed > a pass at hour 60",
            "That pass is the first one that meets the tombstone: it starts its clock and keeps it.",
        ),
        Misconception(
            "anna is deleted > the reader reads on", "The tombstone is still there, so the reader learns of it."
        ),
    ),
    moral="A reader must come back before the tombstone goes.",
)
