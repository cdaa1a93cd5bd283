"""The game of chapter 05b: a member of a KIP-848 group is removed although it sends heartbeats."""

from __future__ import annotations

from functools import reduce

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.game import Game
from kafkalearn.group.consumer import ConsumerGroupHeartbeat, Settings, TimePassed, join, leave, start, step
from kafkalearn.group.consumer.promises import NONE_FENCED, broken
from kafkalearn.topic_partition import TopicPartition

_GROUP = Settings(topics={"orders": 2})
_MOST_MS = 20_000  # to give up partitions
_BEGIN = reduce(
    lambda group, event: step(_GROUP, group, event),
    [join("A", ("orders",), rebalance_timeout_ms=_MOST_MS), TimePassed(1000)],
    start(_GROUP),
)
_MOVES = {
    "B joins": join("B", ("orders",), rebalance_timeout_ms=_MOST_MS),
    "A's heartbeat": ConsumerGroupHeartbeat("A", 2),
    "A has given up orders-1": ConsumerGroupHeartbeat("A", 2, owned=(TopicPartition("orders", 0),)),
    "B's heartbeat": ConsumerGroupHeartbeat("B", 3),
    "B leaves": leave("B"),
    "10 s pass": TimePassed(10_000),
}
_GAME = Game(step, broken, _GROUP, _BEGIN, NONE_FENCED, _MOVES, "B joins > A's heartbeat > 10 s pass > 10 s pass")

fenced = Exercise(
    name="fenced",
    asks=(
        "A game with the coordinator of a KIP-848 group. A is a member, at epoch 2, and reads both partitions of "
        "`orders`. Its session timeout is 45 s, its `max.poll.interval.ms` 20 s. Users hope that *no member is "
        f"fenced* (removed by the coordinator). Break it; **par {_GAME.par}**. The moves: {_GAME.table()}. Give a line "
        "with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.fenced.check(run)',
    judge=_GAME,
    solve=lambda: _GAME.best,
    hints=(
        "Silence does it: five times ten seconds. There is a way that is shorter, and A sends heartbeats in it.",
        "A is asked to do something when B comes. When does A hear of it?",
        "Which time limit begins when A has heard that it must give up a partition?",
    ),
    reasoning=(
        f"`{_GAME.best}`. When B joins, one of A's partitions belongs to B. A hears it with its heartbeat, and from "
        "then on it has its own `max.poll.interval.ms` to give the partition up: that is done in `poll()`. If it does "
        "not, the coordinator removes it, however many heartbeats it sends. So the second clock of the classic "
        "protocol is here too, now on the broker's side."
    ),
    misconceptions=(
        Misconception(
            "10 s pass > 10 s pass > 10 s pass > 10 s pass > 10 s pass",
            "That is the session timeout: right, but there is a shorter way, with a member that is not silent.",
        ),
        Misconception(
            "B joins > A's heartbeat > A has given up orders-1 > 10 s pass > 10 s pass",
            "A has done what it was asked to do, so no time limit runs any more.",
        ),
    ),
    moral="With KIP-848 the coordinator itself watches that a member gives up its partitions in time.",
)
