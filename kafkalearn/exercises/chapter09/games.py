"""The game of chapter 09: a record that was committed, and is gone."""

from __future__ import annotations

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.replication import (
    SURVIVE,
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerRestarted,
    Fetch,
    PowerLost,
    Produce,
    SessionExpired,
    Settings,
    broken,
    start,
    step,
)

_PARTITION = Settings(2, fetch_wait_max_ms=0)
_GAME = Game(
    step,
    broken,
    _PARTITION,
    start(_PARTITION),
    SURVIVE,
    moves_of(
        Produce(acks="all"),
        Fetch(2),
        *(each(broker) for each in (BrokerCrashed, PowerLost, SessionExpired, BrokerRestarted) for broker in (1, 2)),
        AlterPartitionAnswered(),
    ),
    "Produce > BrokerCrashed(2) > SessionExpired(2) > PowerLost(1) > BrokerRestarted(1)",
)

lose_a_committed_record = Exercise(
    name="lose_a_committed_record",
    asks=(
        "A game. Two replicas, broker 1 leads, `min.insync.replicas` is 1, and every request is sent with `acks=all`. "
        f"Users hope that *{_GAME.promise}*, which are all below the HW. Break that promise; **par {_GAME.par}**. The "
        f"moves: {_GAME.table()}. A crash keeps what is in a broker's page cache, a power cut does not. Give a line "
        "with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.lose_a_committed_record.check(run)',
    judge=_GAME,
    solve=lambda: _GAME.best,
    hints=(
        "As long as a record is on two disks, no single accident takes it away. When is one copy enough to commit it?",
        "An ISR of one commits alone. How do you make it that small?",
        "Then the last one in the ISR loses its power, and comes back with less than it had.",
    ),
    reasoning=(
        f"`{_GAME.best}`. Broker 2 crashes and leaves the ISR; what the leader has is then committed, with one copy, "
        "in its page cache. The power cut takes it away, and broker 1, the only one in the ISR, is elected again "
        "without it. A minimum ISR of 2 would have refused the record; eligible leader replicas (KIP-966) help only "
        "together with that."
    ),
    misconceptions=(
        Misconception(
            "Produce > PowerLost(1) > SessionExpired(1)",
            "That record was never committed: broker 2 was in the ISR and had not fetched it.",
        ),
        Misconception(
            "Produce > BrokerCrashed(2) > SessionExpired(2) > BrokerCrashed(1) > BrokerRestarted(1)",
            "After a crash the page cache is still there: the operating system writes it to the disk.",
        ),
        Misconception(
            "Produce > Fetch(2) > Fetch(2) > PowerLost(1) > SessionExpired(1)",
            "Broker 2 has the record and leads. While both are in the ISR, one power cut takes nothing away.",
        ),
    ),
    moral="Committed means: in all logs of the ISR. It does not say how many these are.",
)
