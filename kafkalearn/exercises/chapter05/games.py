"""The game of chapter 05: a stable group rebalances, though nobody comes, leaves or is silent for long."""

from __future__ import annotations

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.game import Game
from kafkalearn.group.classic import Heartbeat, JoinGroup, Settings, SyncGroup, TimePassed, start, step
from kafkalearn.group.classic.promises import STAYS_STABLE, broken

_GROUP = Settings()
_MOVES = {
    "a asks for a member id": JoinGroup("a"),
    "a joins": JoinGroup("a", "a-1"),
    "b asks for a member id": JoinGroup("b"),
    "b joins": JoinGroup("b", "b-2"),
    "3 s pass": TimePassed(3000),
    "a hands in the assignment": SyncGroup("a", "a-1", 1, (("a-1", "orders-0"), ("b-2", "orders-1"))),
    "b asks for its partitions": SyncGroup("b", "b-2", 1),
    "a's heartbeat": Heartbeat("a", "a-1", 1),
}
_GAME = Game(
    step,
    broken,
    _GROUP,
    start(_GROUP),
    STAYS_STABLE,
    _MOVES,
    "a asks for a member id > a joins > 3 s pass > a hands in the assignment > a joins",
)

stable_no_more = Exercise(
    name="stable_no_more",
    asks=(
        "A game with the coordinator of a classic group. Users hope that *a group that is Stable stays so*. Break it; "
        f"**par {_GAME.par}**. The moves: {_GAME.table()}. A member first asks for its id, then joins with it; the "
        "coordinator waits 3 s for others before the first generation; the first member that joined is the leader and "
        "hands in the assignment. Give a line with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.stable_no_more.check(run)',
    judge=_GAME,
    solve=lambda: _GAME.best,
    hints=(
        "First make the group Stable. Four moves do it, if one member is enough.",
        "A new member would have to ask for its id first. Who has one already?",
        "Which member may ask for a rebalance just by joining again?",
    ),
    reasoning=(
        f"`{_GAME.best}`. When the leader of a Stable group joins again, the coordinator begins a rebalance: it is the "
        "leader's way to say that something has changed, a topic with more partitions for example. A second member "
        "breaks it as well, but needs one move more, since it has to ask for an id. So a client that joins again and "
        "again, for whatever reason, keeps a whole group from working."
    ),
    misconceptions=(
        Misconception(
            "a asks for a member id > a joins > 3 s pass > a hands in the assignment > b asks for a member id > b "
            "joins",
            "A new member always does it. There is somebody who can do it without asking for an id first.",
        ),
        Misconception(
            "a asks for a member id > a joins > 3 s pass > a joins",
            "The group is not Stable yet: its leader has not handed in the assignment.",
        ),
    ),
    moral="A rebalance needs no new member: the leader can ask for one.",
)
