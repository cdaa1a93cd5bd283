"""The exercises of chapter 10: how does an acknowledged record get lost?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.delivery import NONE_LOST, AnswerArrived, RequestArrived, Send, broken, model, start, step
from kafkalearn.delivery.matrix_search import witnesses_of
from kafkalearn.delivery.model import DeliveryEvent
from kafkalearn.delivery.simulator import DOUBLED, LOST, OUT_OF_ORDER, REJECTED, SAFE, WRITTEN, record_results, simulate
from kafkalearn.exercises.chapter10b import send_again, two_faults, write_verdict
from kafkalearn.exercises.kit.compare import Value, as_events, as_settings
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Having, Open, Property
from kafkalearn.exercises.kit.game import Game, moves_of
from kafkalearn.replication import AlterPartitionAnswered, BrokerCrashed, BrokerStarted, Fetch, SessionExpired
from kafkalearn.replication.events import (
    BrokerStopped,
    PowerLost,
    TimePassed,
)

ONCE_HERE = (send_again, two_faults, write_verdict)
"""The exercises of 10 when it was one lesson: a copy of that time looks for them here."""

SENT = (Send(), RequestArrived())
LEADER_DIES = (BrokerCrashed(1), SessionExpired(1))
FOLLOWER_GOES = (BrokerCrashed(2), SessionExpired(2))
FOLLOWER_COMES = (BrokerStarted(2), Fetch(2), Fetch(2), AlterPartitionAnswered())

_TWO = model.TopicSettings(2, fetch_wait_max_ms=0)
_BOTH = model.TopicSettings(2, min_insync_replicas=2, fetch_wait_max_ms=0)
_NEVER_AGAIN = model.ProducerSettings(acks="all", retries=0)
_RETRIED = (
    *SENT,
    model.ConnectionLost(),
    model.RequestSent(),
    RequestArrived(),
    Fetch(2),
    Fetch(2),
    AnswerArrived(),
)

STORIES: Mapping[str, tuple[model.Settings, tuple[DeliveryEvent, ...]]] = {
    "a": (model.Settings(_TWO, model.ProducerSettings(acks=1)), (*SENT, AnswerArrived(), *LEADER_DIES)),
    "b": (model.Settings(_TWO, model.ProducerSettings(acks="all", is_idempotent=False)), _RETRIED),
    "c": (model.Settings(_TWO, model.ProducerSettings(acks="all")), _RETRIED),
    "d": (model.Settings(_BOTH, _NEVER_AGAIN), (*FOLLOWER_GOES, *SENT, AnswerArrived())),
    "e": (
        model.Settings(_BOTH, _NEVER_AGAIN),
        (*SENT, *FOLLOWER_GOES, TimePassed(30_000), AnswerArrived(), *FOLLOWER_COMES),
    ),
}
"""The stories of the first exercise: settings and schedule."""


def result_in(story: str) -> str:
    """The result of the one record of a story."""
    settings, events = STORIES[story]
    return record_results(simulate(settings, events)[-1].state)[0].result


predict_results = Exercise(
    name="predict_results",
    asks=(
        "A prediction. Two brokers, 1 leads, both in sync; one record. What is its result at the end: "
        "`safe`, `lost`, `doubled`, `rejected` (an error, and not in the log), or `rejected, yet written`?\n\n"
        "- **a** `acks=1`. The record is acknowledged; broker 1 dies before broker 2 has fetched; broker 2 leads.\n"
        "- **b** `acks=all`, not idempotent. The leader writes it, the connection breaks, the producer sends it again, "
        "broker 2 copies.\n"
        "- **c** as b, idempotent.\n"
        "- **d** `acks=all`, `min.insync.replicas=2`, no retries. Broker 2 is dead and out of the ISR; then the record "
        "is sent.\n"
        "- **e** as d, but the record arrives first; then broker 2 dies and leaves the ISR; 30 seconds pass; broker 2 "
        "comes back and copies."
    ),
    start='results = {"a": ..., "b": ..., "c": ..., "d": ..., "e": ...}\nexercises.predict_results.check(results)',
    judge=Value(lambda: {story: result_in(story) for story in STORIES}),
    hints=(
        "Ask two questions of each: what did the callback get, and what is in the log of the leader at the end?",
        "In d the leader looks at the ISR before it writes. In e it has written already.",
        "In e the request waits for the high watermark until its time is over. Nobody takes the record out of the log.",
    ),
    reasoning=(
        "a: acknowledged by the leader alone, and the leader is gone: **lost**. b: written, not answered, written "
        "again: **doubled**. c: the second is recognised: **safe**. d: refused before anything is written: "
        "**rejected**.\n\n"
        "e: the append went well, the answer is REQUEST_TIMED_OUT, and later the record is committed: **rejected, yet "
        'written**. An error of this kind says "I do not know", not "no".'
    ),
    misconceptions=(
        Misconception(
            {"a": REJECTED}, "The callback got no error: with acks=1 the leader answers as soon as it has it."
        ),
        Misconception({"b": SAFE}, "Count the appends: what does a broker do with a batch that carries no sequence?"),
        Misconception({"b": REJECTED}, "The connection broke, but the producer sends again, and that is answered."),
        Misconception({"d": LOST}, "Lost is what was acknowledged and is gone. What did the callback get here?"),
        Misconception({"d": SAFE}, "With one broker in the ISR a minimum of two is not there."),
        Misconception({"e": SAFE}, "It is in the log in the end; but what did the callback get after 30 seconds?"),
        Misconception({"e": LOST}, "Broker 2 copies it in the end: it is in the log. And was it acknowledged?"),
        Misconception({"e": REJECTED}, "An error after the append takes nothing back: look at the log of broker 1."),
        Misconception({"d": WRITTEN}, "NOT_ENOUGH_REPLICAS comes before the append: nothing was written."),
        Misconception({"a": SAFE}, "acks=1 was answered before anyone but broker 1 had the record."),
        Misconception({"c": DOUBLED}, "The second request carries the same sequence number, and the leader knows it."),
        Misconception({"b": LOST}, "It was written the first time; only the answer was lost."),
    ),
)

QUIET = model.Settings(model.TopicSettings(fetch_wait_max_ms=0), model.ProducerSettings(acks=1))


def end_of(events: list[DeliveryEvent]) -> model.Delivery:
    """Where a schedule of the reader leads, with acks=1 on three brokers."""
    return simulate(QUIET, events)[-1].state


def is_lost(events: list[DeliveryEvent]) -> bool:
    """Whether an acknowledged record is gone at the end of a schedule."""
    return any(record.result == LOST for record in record_results(end_of(events)))


def has_crash(events: list[DeliveryEvent]) -> bool:
    """Whether anything in a schedule is a failure rather than a planned act."""
    return any(isinstance(each, BrokerCrashed | PowerLost | SessionExpired) for each in events)


def _said(events: list[DeliveryEvent]) -> str:
    leader = end_of(events).partition.controller.leader
    return f"No acknowledged record is missing at the end; broker {leader} leads." if leader else "Nobody leads then."


lost_without_a_crash = Exercise(
    name="lost_without_a_crash",
    asks=(
        "**Incident** (KAFKA-20554, 2026, on Kafka 4.1.2). Records acknowledged with `acks=1` were gone, and nothing "
        "had failed: no crash, no power cut, no lost session. There was only planned work on the brokers.\n\n"
        "Find such a schedule. Three brokers, broker 1 leads. Give a list of at most five events that ends with a "
        "lost record. The producer's: `Send()`, `RequestArrived()`, `AnswerArrived()`. The brokers': `Fetch(2)`, "
        "`BrokerStopped(1)` (a clean stop), `BrokerStarted(1)`, and the same for other brokers. `BrokerCrashed`, "
        "`PowerLost` and `SessionExpired` are not allowed."
    ),
    start=(
        "from kafkalearn.delivery import AnswerArrived, RequestArrived, Send\n"
        "from kafkalearn.replication import BrokerStarted, BrokerStopped, Fetch\n\n"
        "events = [...]\nexercises.lost_without_a_crash.check(events)"
    ),
    judge=Having(
        [],
        (
            Property(lambda events: not has_crash(events), lambda _: "Somebody crashes: it has to be planned work."),
            Property(
                lambda events: len(events) <= 5, lambda events: f"These are {len(events)} events; five are enough."
            ),
            Property(is_lost, _said),
        ),
        form=as_events,
    ),
    solve=lambda: [Send(), RequestArrived(), AnswerArrived(), BrokerStopped(1)],
    hints=(
        "A record is lost when its only copy no longer leads. What takes the lead from a broker without harming it?",
        "A clean stop hands the leadership over first. Does it wait for the followers to catch up?",
        "Send, arrive, answer, and then stop broker 1 before anyone has fetched.",
    ),
    reasoning=(
        "`[Send(), RequestArrived(), AnswerArrived(), BrokerStopped(1)]`: the controller makes broker 2 the leader, "
        "which has not copied the record; when broker 1 is back, it cuts its log to agree.\n\n"
        "The same happens when a preferred leader is elected or a partition is moved. With `acks=1` every rolling "
        "restart is a matter of luck; `acks=all` is answered only when broker 2 and 3 have the record."
    ),
    misconceptions=(
        Misconception(
            [Send(), RequestArrived(), AnswerArrived(), BrokerCrashed(1), SessionExpired(1)],
            "That is the famous way. The incident needed no failure at all.",
            lambda events: isinstance(events, list) and has_crash(events),
        ),
        Misconception(
            [Send(), RequestArrived(), AnswerArrived(), Fetch(2), BrokerStopped(1)],
            "Broker 2 has copied it, and broker 2 is elected: that record is safe.",
        ),
    ),
)

NAMES = ("acks", "enable.idempotence", "min.insync.replicas", "unclean.leader.election.enable")


def settings_of(answer: Mapping[str, Any]) -> model.Settings:
    """The settings of an answer, on three brokers.

    Raises
    ------
    KafkaLearnError
        If a setting is missing, unknown, or refused by Kafka.
    """
    if set(answer) != set(NAMES):
        raise KafkaLearnError(f"the settings are {', '.join(NAMES)}; got {', '.join(map(shown, answer))}")
    for name in (NAMES[1], NAMES[3]):
        if not isinstance(answer[name], bool):
            raise KafkaLearnError(f"{name} must be True or False, got {shown(answer[name])}")
    topic = model.TopicSettings(
        3,
        min_insync_replicas=answer["min.insync.replicas"],
        is_unclean_election_enabled=answer["unclean.leader.election.enable"],
        fetch_wait_max_ms=0,
    )
    return model.Settings(
        topic, model.ProducerSettings(acks=answer["acks"], is_idempotent=answer["enable.idempotence"])
    )


HURTS = ("the leader dies", "the followers are away, the leader dies", "the last in sync loses its power")


def worst_of(answer: Mapping[str, Any]) -> tuple[str, str] | None:
    """The first failure that costs or doubles a record under the settings of an answer, and the result; None: none."""
    settings = settings_of(answer)
    for failure in HURTS:
        for result, _ in witnesses_of(settings, failure)[0]:
            if result in (LOST, DOUBLED, OUT_OF_ORDER):
                return failure, result
    return None


def takes_records_without_one(answer: Mapping[str, Any]) -> bool:
    """Whether a record is taken while one broker of three is away."""
    events = [BrokerCrashed(3), SessionExpired(3), *SENT]
    effects = simulate(settings_of(answer), events)[-1].state.effects
    return not any(isinstance(each, model.BatchRefused) for each in effects)


def _what_hurts(answer: Mapping[str, Any]) -> str:
    found = worst_of(answer)
    assert found is not None, "or there would be nothing to say"
    failure, result = found
    return f"The search found a schedule: {failure}, and a record is {result}."


fix_the_settings = Exercise(
    name="fix_the_settings",
    asks=(
        "Correct the shop's settings. Three brokers hold the partition. Choose the four values so that a search of all "
        "schedules finds neither a lost nor a doubled record when the leader dies, when the followers are away and the "
        "leader dies, and when the last broker in sync loses its power; and so that records are still taken while one "
        "broker of three is down. The check runs the search; it takes a second or two."
    ),
    start=(
        'chosen = {\n    "acks": ...,\n    "enable.idempotence": ...,\n    "min.insync.replicas": ...,\n'
        '    "unclean.leader.election.enable": ...,\n}\nexercises.fix_the_settings.check(chosen)'
    ),
    judge=Having(
        {},
        (
            Property(
                takes_records_without_one,
                lambda _: "With one broker down, the leader answers NOT_ENOUGH_REPLICAS: nobody can order any more.",
            ),
            Property(lambda answer: worst_of(answer) is None, _what_hurts),
        ),
        form=as_settings,
    ),
    solve=lambda: {
        "acks": "all",
        "enable.idempotence": True,
        "min.insync.replicas": 2,
        "unclean.leader.election.enable": False,
    },
    hints=(
        "Read the matrix: which columns are safe in the first row of each failure?",
        'Begin with `acks`; it is 0, 1 or the text "all".',
        "How small may the ISR become before you would rather be refused? And how many brokers may be down?",
    ),
    reasoning=(
        "`acks=all` so that the answer waits for the ISR; `min.insync.replicas=2` so that the ISR is never the leader "
        "alone when it is given; no unclean election, so that nobody leads who lacks it; idempotence against the "
        "retries. With 3 as minimum one dead broker would stop all orders.\n\n"
        "The power cut is harmless only because this is a cluster of 4.3 with eligible leader replicas (KIP-966, new "
        "clusters since 4.1): up to 4.0 the last member of the ISR would lead again with less than it had.\n\n"
        "Three of the four are defaults of today. `min.insync.replicas` is not: its default is 1."
    ),
    misconceptions=(
        Misconception(
            {
                "acks": "all",
                "enable.idempotence": True,
                "min.insync.replicas": 1,
                "unclean.leader.election.enable": False,
            },
            "The answer waits for the ISR, and an ISR of one is the leader. What keeps the ISR from being that small?",
        ),
        Misconception(
            {
                "acks": "all",
                "enable.idempotence": True,
                "min.insync.replicas": 3,
                "unclean.leader.election.enable": False,
            },
            "More is not safer here: the answer waits for every member of the ISR anyway.",
        ),
        Misconception(
            {
                "acks": "all",
                "enable.idempotence": False,
                "min.insync.replicas": 2,
                "unclean.leader.election.enable": False,
            },
            "A record that was copied but not answered for is sent again. Who would notice?",
        ),
        Misconception(
            {
                "acks": "all",
                "enable.idempotence": True,
                "min.insync.replicas": 2,
                "unclean.leader.election.enable": True,
            },
            "An unclean election elects whoever is up, whatever it lacks.",
        ),
    ),
    moral="Four settings, and the default of one of them is wrong for orders.",
)


_DELIVERY = model.Settings(
    model.TopicSettings(2, is_unclean_election_enabled=True, fetch_wait_max_ms=0), model.ProducerSettings("all")
)
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
        *(each(broker) for each in (BrokerCrashed, SessionExpired, BrokerStarted) for broker in (1, 2)),
        AlterPartitionAnswered(),
    ),
    "Send > RequestArrived > BrokerCrashed(2) > BrokerStarted(2) > AnswerArrived > BrokerCrashed(1) > "
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
            "Send > RequestArrived > BrokerCrashed(2) > SessionExpired(2) > AnswerArrived > BrokerStarted(2) > "
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

six_hours = Exercise(
    name="six_hours",
    asks=(
        "**Open question.** 02:10. A partition of `orders` is offline. The ISR was broker 1 alone, and its machine "
        "will be back in six hours. Brokers 2 and 3 are up; they left the ISR twenty minutes before broker 1 died. You "
        "could elect broker 2 uncleanly now. What do you find out first, what would be lost and what would not, whom "
        "do you ask, and which setting would have spared you the question?"
    ),
    start="answer = ...\nexercises.six_hours.check(answer)",
    judge=Open(),
    solve=lambda: "How much of twenty minutes is missing, and can it be sent again?",
    hints=(
        "What is in the log of broker 1 and nowhere else?",
        "Who could send it again: is there a database behind the orders?",
        "With a minimum ISR of 2, what would have happened in those twenty minutes?",
    ),
    reasoning=(
        "**Find out** the log ends: of broker 2 and 3 from their folders, of broker 1 from the last metrics; and since "
        "4.1 whether the partition has eligible leader replicas: then a clean leader may be there. **Lost** is what "
        "broker 1 took in those twenty minutes; what lies below is on all three. **Not only lost:** consumers have "
        "read some of it, so billing knows orders that the topic no longer has. **Ask** those who own the orders, not "
        "those who own the cluster: can the shop send twenty minutes again from its database, and is six hours without "
        "orders worse? **Spared** by min.insync.replicas=2: nothing would have been acknowledged in those twenty "
        "minutes; the shop would have seen errors at 01:50, with two brokers left to repair it."
    ),
)

_CHAPTER = Chapter(
    "10 durability", (predict_results, lost_without_a_crash, fix_the_settings, lost_with_acks_all, six_hours)
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
