"""The incidents of chapter 10: lost by planned work, two faults in an order service, six hours without a leader."""

from __future__ import annotations

from kafkalearn.delivery.events import AnswerArrived, DeliveryEvent, RequestArrived, Send
from kafkalearn.exercises.chapter10.lost_records import (
    end_of,
    has_crash,
    is_lost,
)
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.forms import as_events
from kafkalearn.exercises.kit.properties import Having, Open, Property
from kafkalearn.exercises.kit.values import Value
from kafkalearn.replication.events import BrokerCrashed, BrokerStopped, Fetch, SessionExpired


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
        "`BrokerStopped(1)` (a clean stop), `BrokerRestarted(1)`, and the same for other brokers. `BrokerCrashed`, "
        "`PowerLost` and `SessionExpired` are not allowed."
    ),
    start=(
        "from kafkalearn.delivery import AnswerArrived, RequestArrived, Send\n"
        "from kafkalearn.replication import BrokerRestarted, BrokerStopped, Fetch\n\n"
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


two_faults = Exercise(
    name="two_faults",
    asks=(
        "**Find the bugs.** The shop's topic and order service:\n\n"
        "```\n"
        " 1  topic: min.insync.replicas = 2, replication factor 3\n"
        " 2  topic: unclean.leader.election.enable = true\n"
        " 3  producer: acks = all\n"
        " 4  producer: enable.idempotence = true\n"
        " 5  producer: max.in.flight.requests.per.connection = 5\n"
        " 6  producer: delivery.timeout.ms = 120000\n"
        " 7  if send() fails with a TimeoutException: send(the same order) again\n"
        " 8  at start-up: send every order that the database does not mark as acknowledged\n"
        "```\n\n"
        "Which lines can put an order into the topic **twice**, and which can **lose** one that was acknowledged? Give "
        "two sets of line numbers, like `{1, 2}`."
    ),
    start='lines = {"twice": ..., "lost": ...}\nexercises.two_faults.check(lines)',
    judge=Value(lambda: {"twice": {7, 8}, "lost": {2}}),
    solve=lambda: {"twice": {7, 8}, "lost": {2}},
    hints=(
        "Idempotence knows a batch by producer id and sequence number. Which sends get new ones?",
        "A call of send() is a new record, whatever is in it. A new process is a new producer.",
        "For the loss, look at the topic.",
    ),
    reasoning=(
        "Line 7: the timed-out record may be in the log, and the second send() has the next number: a new record. Line "
        "8: a new process gets a new producer id, so nothing it sends is a duplicate to anyone. Both need a key in the "
        "order by which the consumer recognises it. Line 2 lets a broker lead that lacks what was acknowledged.\n\n"
        "Line 5 is allowed with idempotence, and line 6 only sets how long the producer itself goes on trying."
    ),
    misconceptions=(
        Misconception(
            {"twice": {7}},
            "Line 8 is the same mistake in a new process: its producer id is new, so nothing is recognised.",
        ),
        Misconception(
            {"twice": {5, 7, 8}}, "Five in flight are as many as the broker remembers: with idempotence that is safe."
        ),
        Misconception(
            {"twice": set()},
            "Idempotence covers the producer's own retries, within one life of one producer, and nothing else.",
        ),
        Misconception(
            {"lost": {2, 6}}, "When delivery.timeout.ms is over the callback gets an error: the application knows."
        ),
    ),
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
