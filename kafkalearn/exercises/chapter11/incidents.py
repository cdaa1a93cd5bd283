"""The incidents of chapter 11: a fetch to be tuned, an alarm in a quiet night, a queue that fills the heap."""

from __future__ import annotations

from collections.abc import Mapping

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.forms import as_settings
from kafkalearn.exercises.kit.properties import Having, Open, Property
from kafkalearn.exercises.kit.sentences import names, say
from kafkalearn.exercises.kit.values import Value
from kafkalearn.phrases import counted
from kafkalearn.purgatory.requests.effects import ConsumerAnswered
from kafkalearn.purgatory.requests.events import ConsumerFetch, SizedProduce
from kafkalearn.purgatory.requests.settings import Settings
from kafkalearn.purgatory.requests.simulator import step
from kafkalearn.purgatory.requests.state import start
from kafkalearn.replication.events import Produce, TimePassed

_ORDER_BYTES, _ORDER_INTERVAL_MS, _ORDER_COUNT = 200, 20, 100


def _first_answer(answer: Mapping[str, int], order_count: int) -> tuple[int, int]:
    """How many orders the first answer brings, and after how many ms: an order every 20 ms, from an empty log."""
    settings = Settings(replica_count=1)
    fetch = ConsumerFetch("c1", 0, answer["fetch.min.bytes"], answer["fetch.max.wait.ms"])
    broker = step(settings, start(settings), fetch)
    for number in range(1, order_count + 1):
        if broker.consumers:
            broker = step(settings, broker, TimePassed(_ORDER_INTERVAL_MS))
        if broker.consumers:
            broker = step(settings, broker, SizedProduce(Produce(acks=1, values=(f"order {number}",)), _ORDER_BYTES))
    if broker.consumers:
        broker = step(settings, broker, TimePassed(answer["fetch.max.wait.ms"]))
    (first,) = [effect for effect in broker.effects if isinstance(effect, ConsumerAnswered)]
    return len(first.records), min(broker.partition.now_ms, answer["fetch.max.wait.ms"])


def _orders_in_an_answer(answer: Mapping[str, int]) -> int:
    return _first_answer(answer, _ORDER_COUNT)[0]


tune_the_fetch = Exercise(
    name="tune_the_fetch",
    asks=(
        "The topic `orders` gets one order of 200 bytes every 20 ms, and `search` fetches each of them by itself: 50 "
        "answers a second. Choose its `fetch.min.bytes` and `fetch.max.wait.ms` so that an answer brings at least 10 "
        "orders while they come, and so that a single order, after which nothing comes for an hour, is never kept back "
        "for more than 300 ms."
    ),
    start=('settings = {"fetch.min.bytes": ..., "fetch.max.wait.ms": ...}\nexercises.tune_the_fetch.check(settings)'),
    judge=Having(
        {"fetch.min.bytes": 1, "fetch.max.wait.ms": 500},
        (
            Property(
                lambda answer: set(answer) == {"fetch.min.bytes", "fetch.max.wait.ms"},
                lambda answer: say("Give exactly the two settings; here are {}.", names(answer)),
            ),
            Property(
                lambda answer: _orders_in_an_answer(answer) >= 10,
                lambda answer: f"The first answer brings {counted(_orders_in_an_answer(answer), 'order')}.",
            ),
            Property(
                lambda answer: _first_answer(answer, 1)[1] <= 300,
                lambda answer: f"A single order is kept back until {_first_answer(answer, 1)[1]} ms after the request.",
            ),
        ),
        form=as_settings,
    ),
    solve=lambda: {"fetch.min.bytes": 2_000, "fetch.max.wait.ms": 300},
    hints=(
        "Which of the two settings ends the wait while orders come, and which when they stop?",
        "Ten orders are 2,000 bytes, and they take 200 ms to come.",
    ),
    reasoning=(
        "`fetch.min.bytes` = 2,000 ends the wait with the tenth order, after 200 ms; `fetch.max.wait.ms` = 300 ends it "
        "when too little comes, and must leave the ten orders their 200 ms. The price is delay: an order waits up to "
        "200 ms for the others. The default, 1 byte, answers with each order by itself: least delay, most requests."
    ),
    misconceptions=(
        Misconception(
            {"fetch.min.bytes": 2_000, "fetch.max.wait.ms": 100},
            "Whichever comes first ends the wait: after 100 ms five orders are there, and five are sent.",
        ),
        Misconception(
            {"fetch.min.bytes": 2_000, "fetch.max.wait.ms": 500},
            "The default wait of 500 ms holds for a lonely order too.",
        ),
        Misconception(
            {"fetch.min.bytes": 10, "fetch.max.wait.ms": 300},
            "`fetch.min.bytes` counts bytes, not records.",
        ),
        Misconception(
            {"fetch.min.bytes": 1, "fetch.max.wait.ms": 300},
            "One byte is the default: the first order is enough for an answer, and the wait ends with it.",
            recognises=lambda answer: as_settings(answer)["fetch.min.bytes"] in (0, 1, _ORDER_BYTES),
        ),
        Misconception(
            {"fetch.min.bytes": 2_000, "fetch.max.wait.ms": 199},
            "The tenth order comes at the end of the time in which ten orders come: leave the wait a little longer.",
            recognises=lambda answer: 180 <= as_settings(answer)["fetch.max.wait.ms"] <= 200,
        ),
        Misconception(
            {"fetch.min.bytes": 50_000, "fetch.max.wait.ms": 1_000},
            "So many bytes never come in time, so every answer waits for the clock; a lonely order waits as long.",
            recognises=lambda answer: as_settings(answer)["fetch.max.wait.ms"] > 500,
        ),
    ),
    moral="Two settings end a wait, one by size, one by time; the first to come true wins.",
)


_METRICS = {"PurgatorySize": 6_940, "NumDelayedOperations": 2_100, "partitions": 3}


read_the_metrics = Exercise(
    name="read_the_metrics",
    asks=(
        "**Incident.** An alarm went off: '6,940 fetches hang in the purgatory, and there is no traffic'. The broker's "
        "metrics, at night:\n\n| metric (delayedOperation=Fetch) | |\n| --- | --- |\n"
        f"| PurgatorySize | {_METRICS['PurgatorySize']:,} |\n"
        f"| NumDelayedOperations | {_METRICS['NumDelayedOperations']:,} |\n\n"
        "Each of these fetches asks for three partitions. How many fetches really wait, and how many entries on the "
        "watch lists are of fetches that were answered long ago?"
    ),
    start='fetches = {"waiting": ..., "stale entries": ...}\nexercises.read_the_metrics.check(fetches)',
    judge=Value(
        lambda: {
            "waiting": _METRICS["NumDelayedOperations"],
            "stale entries": (_METRICS["PurgatorySize"] - _METRICS["partitions"] * _METRICS["NumDelayedOperations"]),
        }
    ),
    solve=lambda: {"waiting": 2_100, "stale entries": 640},
    hints=(
        "PurgatorySize counts entries on lists, NumDelayedOperations counts operations in the timer.",
        "An operation that watches three keys is on three lists.",
    ),
    reasoning=(
        "What waits is in the timer: 2,100 fetches. Each is on three lists, which makes 6,300 entries; the other 640 "
        "belong to fetches that were answered through another of their partitions and stay until these lists are "
        "walked or purged.\n\nAnd nothing hangs: a quiet topic's consumers and followers *all* wait, 500 ms at a "
        "time. A large fetch purgatory in a quiet night is how it looks when nothing happens. Worth an alarm is the "
        "produce purgatory: it grows when followers are slow."
    ),
    misconceptions=(
        Misconception(
            {"waiting": 6_940}, "PurgatorySize counts list entries: one for each key that an operation watches."
        ),
        Misconception(
            {"stale entries": 6_940 - 2_100},
            "Each waiting fetch has an entry for each of its three partitions, not one.",
        ),
    ),
)


count_the_left_behind = Exercise(
    name="count_the_left_behind",
    asks=(
        "**Incident.** Up to 0.8.2 a produce request that was done stayed in the timer's queue until its timeout. A "
        "broker got 2,000 produce requests a second with acks=all; each was done after 30 ms, the timeout was 30 s. "
        "Its heap filled up. How many requests lay in the queue at any time, and how many would lie there if the done "
        "ones were taken out?"
    ),
    start='requests = {"left in": ..., "taken out": ...}\nexercises.count_the_left_behind.check(requests)',
    judge=Value(lambda: {"left in": 60_000, "taken out": 60}),
    solve=lambda: {"left in": 60_000, "taken out": 60},
    hints=(
        "In a steady flow, how many are inside is how many come each second times how many seconds each stays.",
        "Once each stays 30 s, once 30 ms.",
    ),
    reasoning=(
        "Little's law: what is inside = what comes a second x how long each stays. 2,000 x 30 s = 60,000, each with "
        "its request and the answer's buffers; 2,000 x 0.03 s = 60. The redesign of 0.9 (KAFKA-1989) came from "
        "exactly this: timing wheels, from which a done operation can be taken out at once."
    ),
    misconceptions=(
        Misconception({"left in": 2_000}, "That is how many come in one second; each stays for thirty of them."),
        Misconception({"taken out": 2_000}, "Each stays for 30 ms, a small part of a second."),
    ),
)


what_to_watch = Exercise(
    name="what_to_watch",
    asks=(
        "**Open question.** A colleague wants followers to be faster and sets `replica.fetch.wait.max.ms` from 500 to "
        "5. What becomes faster, what becomes slower, and which two numbers would you have looked at first?"
    ),
    start="answer = ...\nexercises.what_to_watch.check(answer)",
    judge=Open(),
    solve=lambda: "Nothing gets faster; idle partitions are asked 100 times as often.",
    hints=(
        "What ends the wait of a follower when a record comes?",
        "How many requests does an idle follower send with 500 ms, and how many with 5 ms?",
    ),
    reasoning=(
        "Nothing becomes faster: an append ends the wait at once, whether 5 or 500 ms were left of it. An idle "
        "follower asks 200 times a second instead of twice, for each of its fetchers; request threads, network and "
        "metrics pay for it. Slow acks=all has its reason elsewhere: the time between a follower's two fetches, which "
        "is its disk, its network and its other partitions. So look at the produce purgatory's size and at the "
        "follower's lag, and at the remote time of Produce requests."
    ),
)
