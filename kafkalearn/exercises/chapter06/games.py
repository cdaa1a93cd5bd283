"""The game of chapter 06: auto commit loses a record, and nobody has called commit."""

from __future__ import annotations

from kafkalearn.commits import Crash, Poll, Process, Settings, Start, Wait, start, step
from kafkalearn.commits.promises import NOT_LOST, broken
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.game import Game, moves_of

_CONSUMER = Settings(6, max_poll_records=2, is_auto=True)
_GAME = Game(
    step,
    broken,
    _CONSUMER,
    start(_CONSUMER),
    NOT_LOST,
    moves_of(Start(), Poll(), Process(), Wait(5000), Crash(), Start("B"), Poll("B"), Process("B")),
    "Start > Poll > Wait(5000) > Poll > Crash",
)

lost_by_auto_commit = Exercise(
    name="lost_by_auto_commit",
    asks=(
        "A game. Consumer A has auto commit on (every 5 s), and a poll returns up to two records. Users hope that "
        f"*{_GAME.promise}*. Break that promise; **par {_GAME.par}**. The moves: {_GAME.table()}; those with `'B'` are "
        "of a second consumer, which gets the partition when it starts. Give a line with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.lost_by_auto_commit.check(run)',
    judge=_GAME,
    solve=lambda: _GAME.best,
    hints=(
        "An auto commit commits the position: all that polls have returned. In which call does it happen?",
        "In a poll, when five seconds have passed since the last one. What if the records are not processed by then?",
    ),
    reasoning=(
        f"`{_GAME.best}`. The second poll commits what the first one has returned, and nothing of it was processed: "
        "when A crashes, no owner will ever get these records again. An application that processes each poll's records "
        "before it polls again cannot lose any this way; one that hands them to other threads can."
    ),
    misconceptions=(
        Misconception(
            "Start > Poll > Process > Wait(5000) > Poll > Process > Crash",
            "A record that was processed is not lost; leave out what saves it.",
            recognises=lambda run: "Process" in str(run) and str(run).count("Poll") > 1,
        ),
        Misconception(
            "Start > Poll > Wait(5000) > Crash",
            "Time alone commits nothing: it is the next poll that looks whether a commit is due.",
        ),
        Misconception("Start > Poll > Crash", "Nothing was committed, so the next owner gets the same records again."),
    ),
    moral="Auto commit trusts you to be done with the last poll when you call the next one.",
)
