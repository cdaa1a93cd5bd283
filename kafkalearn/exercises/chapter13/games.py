"""The game of chapter 13: three replicas, a live broker, and no coordinator."""

from __future__ import annotations

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.operations.offsets_topic import (
    BrokerDied,
    BrokerStarted,
    FindCoordinator,
    Settings,
    broken,
    simulate,
    step,
)

_BROKERS = (1, 2, 3)
_SETTINGS = Settings(_BROKERS, replication_factor=3)
_BEGUN = simulate(_SETTINGS, [*map(BrokerStarted, _BROKERS), FindCoordinator("billing")])[-1].state
_GAME = Game(
    step,
    broken,
    _SETTINGS,
    _BEGUN,
    "every group has a coordinator while a broker lives",
    moves_of(*map(BrokerDied, _BROKERS), *map(BrokerStarted, _BROKERS)),
    "BrokerDied(1) > BrokerDied(2) > BrokerDied(3) > BrokerStarted(1)",
)

nobody_answers = Exercise(
    name="nobody_answers",
    asks=(
        "A game. The offsets topic has three replicas of each partition on brokers 1, 2, 3, all in sync. Operators "
        f"hope that *{_GAME.promise}*. Break that promise; **par {_GAME.par}**. The moves: {_GAME.table()}. Give a "
        "line with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.nobody_answers.check(run)',
    judge=_GAME,
    solve=lambda: _GAME.best,
    hints=(
        "With one of three alive, whoever it is leads everything. When may a live broker not lead?",
        "Only a member of the ISR is elected, and the last one stays in it when it dies.",
        "All three die, one after the other. Who is in the ISR then, and who may come back first?",
    ),
    reasoning=(
        f"`{_GAME.best}`. With each death the ISR shrinks; broker 3 is the last one in it, and stays. Broker 1 comes "
        "back with a log that may lack what came after its death: it must not lead, and no group has a coordinator "
        "until broker 3 is back. Unclean election would end the waiting and lose commits."
    ),
    misconceptions=(
        Misconception(
            "BrokerDied(1) > BrokerDied(2)", "Broker 3 has everything and is in the ISR: it leads all fifty partitions."
        ),
        Misconception(
            "BrokerDied(1) > BrokerDied(2) > BrokerDied(3)",
            "Now no broker lives at all. The promise speaks of the time while one does.",
        ),
        Misconception(
            "BrokerDied(1) > BrokerDied(2) > BrokerDied(3) > BrokerStarted(3)",
            "That is the one broker that may lead: it died last, and is in the ISR.",
        ),
    ),
    moral="After an outage of all brokers start the one first that died last.",
)
