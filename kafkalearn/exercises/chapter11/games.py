"""The game of chapter 11: a request that waits longer than it said it would."""

from __future__ import annotations

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.game import Game
from kafkalearn.purgatory.requests.events import SizedProduce
from kafkalearn.purgatory.requests.promises import WITHIN_TIMEOUT, broken
from kafkalearn.purgatory.requests.settings import Settings
from kafkalearn.purgatory.requests.simulator import step
from kafkalearn.purgatory.requests.state import start
from kafkalearn.replication.events import BrokerFrozen, BrokerThawed, Fetch, LeaderElected, Produce, TimePassed

_PARTITION = Settings(replica_count=2)
_GAME = Game(
    step,
    broken,
    _PARTITION,
    start(_PARTITION),
    WITHIN_TIMEOUT,
    {
        "a producer sends": SizedProduce(Produce(acks="all", timeout_ms=1000), 200),
        "broker 2 fetches": Fetch(2),
        "500 ms pass": TimePassed(500),
        "the leader freezes": BrokerFrozen(1),
        "the leader goes on": BrokerThawed(1),
        "broker 2 is elected": LeaderElected(2, (1, 2)),
    },
    "a producer sends > the leader freezes > 500 ms pass > 500 ms pass > 500 ms pass",
)

waits_too_long = Exercise(
    name="waits_too_long",
    asks=(
        "A game. A produce request with `acks=all` and a timeout of 1,000 ms waits in the purgatory of broker 1. Users "
        f"hope that *{_GAME.promise}*. Break that promise; **par {_GAME.par}**. The moves: {_GAME.table()}. A frozen "
        "broker stands still (a long garbage collection, a stopped virtual machine). Give a line with `>` between the "
        "moves."
    ),
    start='run = ""  # moves with > between them\nexercises.waits_too_long.check(run)',
    judge=_GAME,
    solve=lambda: _GAME.best,
    hints=(
        "Who answers when the time is over?",
        "A timer runs only if the broker runs. And the time must be *past* the timeout.",
    ),
    reasoning=(
        f"`{_GAME.best}`. The request's timer is in broker 1, and broker 1 stands still: nobody answers, and when it "
        "wakes up the time is long over. That is why a client has a timeout of its own, `request.timeout.ms`, and does "
        "not rely on the one that it sends along."
    ),
    misconceptions=(
        Misconception(
            "a producer sends > 500 ms pass > 500 ms pass > 500 ms pass",
            "Broker 1 is awake: its timer answers the request when the time is over.",
        ),
        Misconception(
            "a producer sends > the leader freezes > 500 ms pass > 500 ms pass",
            "That is exactly its time, and not longer.",
        ),
    ),
    moral="A timeout on the broker holds only as long as the broker does; the client needs one of its own.",
)
