"""The exercises of chapter 11: where do requests wait?"""

from __future__ import annotations

from collections.abc import Mapping

from kafkalearn.base.errors import counted
from kafkalearn.exercises.kit.compare import Value, as_settings
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Having, Open, Property
from kafkalearn.exercises.kit.game import Game
from kafkalearn.exercises.kit.result import names, say
from kafkalearn.purgatory.requests import (
    WITHIN_TIMEOUT,
    ConsumerAnswered,
    ConsumerFetch,
    Settings,
    SizedProduce,
    broken,
    simulate,
    start,
    step,
)
from kafkalearn.purgatory.wheel import journey, place
from kafkalearn.replication import events

_DELAYS = (19, 20, 445, 8_000, 8_001)

predict_buckets = Exercise(
    name="predict_buckets",
    asks=(
        "A prediction. Kafka's wheels (20 buckets each, the finest of 1 ms) stand at clock 0. How many buckets does a "
        "timer pass through until it runs, the first one included, if it is set for 19, 20, 445, 8,000 and 8,001 ms?"
    ),
    start=(
        "buckets = {" + ", ".join(f"{delay}: ..." for delay in _DELAYS) + "}\nexercises.predict_buckets.check(buckets)"
    ),
    judge=Value(lambda: {delay: len(journey(delay)) for delay in _DELAYS}),
    hints=(
        "The wheels cover 20 ms, 400 ms, 8 s and 160 s. First find the finest wheel that reaches the timer.",
        "When its bucket is emptied, the clock stands at the start of that bucket's range. What is left of 445 then?",
        "445 = 1 x 400 + 2 x 20 + 5 x 1: each digit that is not 0 is a bucket.",
    ),
    reasoning=(
        "Write the delay with the base 20: each digit that is not 0 is one bucket, the finest wheel that reaches the "
        "timer being the place of the first digit.\n\n19 is one digit: 1. 20 is `1 0`: 1, it sits in the second wheel "
        "and is due when its bucket begins. 445 is `1 2 5`: 3. 8,000 is `1 0 0 0`: 1. 8,001 is `1 0 0 1`: 2."
    ),
    misconceptions=(
        Misconception(
            {445: 1},
            "A coarse bucket holds timers of a whole range; emptying it is too early for most of them, so they are put "
            "into a finer wheel.",
        ),
        Misconception(
            {20: 2},
            "20 ms lie beyond the first wheel, which reaches to 19. In the second wheel its bucket begins at 20, just "
            "when it is due: it has no need of a finer one.",
        ),
        Misconception(
            {8_001: 4},
            "Wheels in which the rest of its time has the digit 0 are passed over: just before its time it goes "
            "straight into the finest.",
        ),
    ),
)

_SCRIPT = (
    ("1", "broker 2 fetches", events.Fetch(2)),
    ("2", "consumer c1 fetches", ConsumerFetch("c1", 0, max_wait_ms=60_000)),
    ("3", "a producer sends p1, acks=1", SizedProduce(events.Produce(acks=1))),
    ("4", "a producer sends p2, acks=all", SizedProduce(events.Produce(acks="all"))),
    ("5", "broker 2 fetches", events.Fetch(2)),
    ("6", "broker 2 fetches", events.Fetch(2)),
)
_WAITING = ("broker 2 (event 1)", "c1", "p1", "p2")


def _answered_at() -> dict[str, int]:
    """The number of the event that brings each its answer."""
    found: dict[str, int] = {}
    for frame in simulate(Settings(replica_count=2), [event for *_, event in _SCRIPT])[1:]:
        for effect in frame.state.effects:
            match effect:
                case events.FetchAnswered(broker_id=2):
                    found.setdefault("broker 2 (event 1)", frame.index)
                case ConsumerAnswered(name="c1"):
                    found.setdefault("c1", frame.index)
                case events.ProduceAnswered(request=request):
                    found.setdefault(f"p{request}", frame.index)
    return {name: found[name] for name in _WAITING}


who_is_woken_when = Exercise(
    name="who_is_woken_when",
    asks=(
        "Broker 1 leads `orders-0`, broker 2 follows, the log is empty. Everybody is ready to wait a minute. With "
        "which event does each of them get an answer? Give the number of the event.\n\n| event | |\n| --- | --- |\n"
        + "\n".join(f"| {number} | {words} |" for number, words, _ in _SCRIPT)
    ),
    start=(
        "event = {" + ", ".join(f'"{name}": ...' for name in _WAITING) + "}\nexercises.who_is_woken_when.check(event)"
    ),
    judge=Value(_answered_at),
    hints=(
        "A follower waits for records, committed or not; a consumer for committed ones.",
        "A fetch from offset n tells the leader that everything below n is on the follower's disk.",
        "The fetch of event 1 is answered with the record of p1 alone. From which offset is the fetch of event 5?",
    ),
    reasoning=(
        "Broker 2's fetch is answered by the append of event 3, and so is `p1`, which asked for acks=1 only. The fetch "
        "of event 5 starts at offset 1: now the leader knows that offset 0 is on both, the HW becomes 1, and `c1` gets "
        "its first committed record. The same fetch takes the record of `p2` along; but the leader learns that it "
        "arrived only with the next fetch, event 6."
    ),
    misconceptions=(
        Misconception(
            {"c1": 3}, "When it is appended, the record is on the leader alone. Consumers get what is below the HW."
        ),
        Misconception({"p1": 5}, "acks=1 asks for the leader's own log and nothing else: it is answered at once."),
        Misconception(
            {"p2": 5},
            "With the answer to this fetch the record only sets out for broker 2; the leader knows that it has arrived "
            "when broker 2 asks for what comes after it.",
        ),
        Misconception(
            {"broker 2 (event 1)": 5},
            "A waiting fetch is answered by the append, at once; the follower need not ask again.",
        ),
    ),
)


# Ways to place a timer in wheels of 20 buckets: the right one, and those with one thing wrong.
AT_ONCE = (0, 0)


def right(clock_ms: int, expires_ms: int) -> tuple[int, int]:
    """The finest wheel that reaches it, in absolute time."""
    if expires_ms < clock_ms + 1:
        return AT_ONCE
    wheel, tick_ms = 1, 1
    while expires_ms >= clock_ms - clock_ms % tick_ms + 20 * tick_ms:
        wheel, tick_ms = wheel + 1, 20 * tick_ms
    return wheel, expires_ms // tick_ms % 20


def by_delay(clock_ms: int, expires_ms: int) -> tuple[int, int]:
    """Counts the bucket from the clock."""
    found = right(clock_ms, expires_ms)
    return found if found == AT_ONCE else (found[0], (expires_ms - clock_ms) // 20 ** (found[0] - 1) % 20)


def with_exact_clock(clock_ms: int, expires_ms: int) -> tuple[int, int]:
    """Lets every wheel reach a whole turn from the exact clock."""
    if expires_ms < clock_ms + 1:
        return AT_ONCE
    wheel, tick_ms = 1, 1
    while expires_ms >= clock_ms + 20 * tick_ms:
        wheel, tick_ms = wheel + 1, 20 * tick_ms
    return wheel, expires_ms // tick_ms % 20


def reaching_too_far(clock_ms: int, expires_ms: int) -> tuple[int, int]:
    """Lets a wheel hold the time at which its turn is over."""
    if expires_ms < clock_ms + 1:
        return AT_ONCE
    wheel, tick_ms = 1, 1
    while expires_ms > clock_ms - clock_ms % tick_ms + 20 * tick_ms:
        wheel, tick_ms = wheel + 1, 20 * tick_ms
    return wheel, expires_ms // tick_ms % 20


def never_at_once(clock_ms: int, expires_ms: int) -> tuple[int, int]:
    """Puts into a bucket what is due already."""
    found = right(clock_ms, expires_ms)
    return (1, expires_ms % 20) if found == AT_ONCE else found


PLACE_CASES = (
    *((0, delay) for delay in (0, 1, 19, 20, 21, 399, 400, 445, 8_000)),
    *((7, 7 + delay) for delay in (1, 15, 19, 20)),
    *((1003, 1003 + delay) for delay in (15, 500, 30_000)),
    (1500, 1503),
    (100, 115),
    (390, 789),
)
"""Clocks and times due, simple ones first; the placements of the recorded runs are among them."""


def _kafkas_place(clock_ms: int, expires_ms: int) -> tuple[int, int]:
    found = place(clock_ms, expires_ms)
    return AT_ONCE if found is None else (found.level, found.bucket)


write_place = Exercise(
    name="write_place",
    asks=(
        "Write `my_place(clock_ms, expires_ms)`: wheel and bucket for a timer in Kafka's wheels (20 buckets each, "
        "ticks of 1, 20, 400, ... ms), as a tuple such as `(3, 1)`; `(0, 0)` if it is due and runs at once. Each wheel "
        "rounds the clock down to its own tick."
    ),
    start=("def my_place(clock_ms, expires_ms):\n    return ...\n\n\nexercises.write_place.check(my_place)"),
    judge=Function(_kafkas_place, ("clock_ms", "expires_ms"), PLACE_CASES),
    solve=lambda: right,
    hints=(
        "Start with wheel 1 and a tick of 1; while the wheel does not reach the timer, go on to the next.",
        "A wheel of tick u reaches to `clock_ms - clock_ms % u + 20 * u`, exclusive.",
        "The bucket is counted in absolute time: `expires_ms // u % 20`, whatever the clock says.",
    ),
    reasoning=(
        "```python\ndef my_place(clock_ms, expires_ms):\n    if expires_ms < clock_ms + 1:\n        return 0, 0\n"
        "    wheel, tick_ms = 1, 1\n    while expires_ms >= clock_ms - clock_ms % tick_ms + 20 * tick_ms:\n"
        "        wheel, tick_ms = wheel + 1, 20 * tick_ms\n    return wheel, expires_ms // tick_ms % 20\n```\n\n"
        "Buckets belong to absolute times, so a timer can be added and found again without looking at the others."
    ),
    misconceptions=(
        Misconception(
            by_delay,
            "The bucket is that of the time when it is due, not of how long it waits: a wheel turns on.",
        ),
        Misconception(
            with_exact_clock,
            "A coarse wheel rounds the clock down to its own tick before it looks how far it reaches.",
        ),
        Misconception(
            reaching_too_far,
            "A wheel of 20 buckets of 1 ms at clock 0 holds 1 to 19 ms: at 20 its bucket 0 comes round again.",
        ),
        Misconception(never_at_once, "What is due within the present tick goes into no bucket: it runs at once."),
    ),
)

_ORDER_BYTES, _ORDER_INTERVAL_MS, _ORDER_COUNT = 200, 20, 100


def _first_answer(answer: Mapping[str, int], order_count: int) -> tuple[int, int]:
    """How many orders the first answer brings, and after how many ms: an order every 20 ms, from an empty log."""
    settings = Settings(replica_count=1)
    fetch = ConsumerFetch("c1", 0, answer["fetch.min.bytes"], answer["fetch.max.wait.ms"])
    broker = step(settings, start(settings), fetch)
    for number in range(1, order_count + 1):
        if broker.consumers:
            broker = step(settings, broker, events.TimePassed(_ORDER_INTERVAL_MS))
        if broker.consumers:
            broker = step(
                settings, broker, SizedProduce(events.Produce(acks=1, values=(f"order {number}",)), _ORDER_BYTES)
            )
    if broker.consumers:
        broker = step(settings, broker, events.TimePassed(answer["fetch.max.wait.ms"]))
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
    start='counted = {"waiting": ..., "stale entries": ...}\nexercises.read_the_metrics.check(counted)',
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
    start='in_queue = {"left in": ..., "taken out": ...}\nexercises.count_the_left_behind.check(in_queue)',
    judge=Value(lambda: {"left in": 60_000, "taken out": 60}),
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

_PARTITION = Settings(replica_count=2)
_GAME = Game(
    step,
    broken,
    _PARTITION,
    start(_PARTITION),
    WITHIN_TIMEOUT,
    {
        "a producer sends": SizedProduce(events.Produce(acks="all", timeout_ms=1000), 200),
        "broker 2 fetches": events.Fetch(2),
        "500 ms pass": events.TimePassed(500),
        "the leader freezes": events.BrokerFrozen(1),
        "the leader goes on": events.BrokerThawed(1),
        "broker 2 is elected": events.LeaderElected(2, (1, 2)),
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

_CHAPTER = Chapter(
    "11 purgatory",
    (
        predict_buckets,
        who_is_woken_when,
        write_place,
        tune_the_fetch,
        read_the_metrics,
        count_the_left_behind,
        waits_too_long,
        what_to_watch,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
