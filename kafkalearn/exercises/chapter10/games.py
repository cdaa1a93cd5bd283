"""The game of chapter 10: acknowledged by all, and lost all the same."""

from __future__ import annotations

from kafkalearn.delivery import NONE_LOST, AnswerArrived, RequestArrived, Send, broken, start, step
from kafkalearn.delivery.settings import ProducerSettings, Settings, TopicSettings
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.replication import AlterPartitionAnswered, BrokerCrashed, BrokerRestarted, Fetch, SessionExpired

_DELIVERY = Settings(TopicSettings(2, is_unclean_election_enabled=True, fetch_wait_max_ms=0), ProducerSettings("all"))
_GAME = Game(
    step,
    broken,
    _DELIVERY,
    start(_DELIVERY),
    NONE_LOST,
    moves_of(
        Send(),
        RequestArrived(),
        AnswerArrived(),
        Fetch(2),
        *(each(broker) for each in (BrokerCrashed, SessionExpired, BrokerRestarted) for broker in (1, 2)),
        AlterPartitionAnswered(),
    ),
    "Send > RequestArrived > BrokerCrashed(2) > BrokerRestarted(2) > AnswerArrived > BrokerCrashed(1) > "
    "SessionExpired(1)",
)

lost_with_acks_all = Exercise(
    name="lost_with_acks_all",
    asks=(
        "A game. Two replicas, broker 1 leads, an idempotent producer with `acks=all`. `min.insync.replicas` is 1, and "
        "`unclean.leader.election.enable` is true. No broker loses its power: what was written stays on its disk. "
        f"Users hope that *{_GAME.promise}*. Break that promise; **par {_GAME.par}**. The moves: {_GAME.table()}. Give "
        "a line with `>` between the moves, or a list of events."
    ),
    start='run = ""  # moves with > between them\nexercises.lost_with_acks_all.check(run)',
    judge=_GAME,
    solve=lambda: _GAME.best,
    hints=(
        "`acks=all` waits for the ISR. How does broker 2 leave it?",
        "Then the broker that lacks the record must lead: it has to be back, and the other one must be gone.",
        "A broker that comes back after a crash has registered again, and the controller takes it out of the ISR: that "
        "saves the move `SessionExpired(2)`.",
    ),
    reasoning=(
        f"`{_GAME.best}`. The record waits for broker 2. Broker 2 crashes and comes back: it has registered again, so "
        "it "
        "is no longer in the ISR until it has caught up, and the record is committed and acknowledged with one copy. "
        "Then broker 1 dies, nobody in the ISR is left, and the unclean election takes broker 2, without the "
        "record.\n\n"
        "With `min.insync.replicas=2` the producer would have got an error instead of an answer; without unclean "
        "elections the partition would wait for broker 1."
    ),
    misconceptions=(
        Misconception(
            "Send > RequestArrived > Fetch(2) > Fetch(2) > AnswerArrived > BrokerCrashed(1) > SessionExpired(1)",
            "Broker 2 has the record, and it leads now. It must be away while the record is acknowledged.",
        ),
        Misconception(
            "Send > RequestArrived > BrokerCrashed(2) > SessionExpired(2) > AnswerArrived > BrokerRestarted(2) > "
            "BrokerCrashed(1) > SessionExpired(1)",
            "One of these moves happens by itself when broker 2 comes back.",
        ),
        Misconception(
            "Send > RequestArrived > BrokerCrashed(1) > SessionExpired(1)",
            "The producer has no answer yet; a record that was not acknowledged breaks no promise.",
        ),
    ),
    moral="`acks=all` waits for the ISR, and the ISR may be the leader alone.",
)
