"""The exercises of chapter 11: where do requests wait?"""

from __future__ import annotations

from kafkalearn.exercises.chapter11 import answers
from kafkalearn.exercises.chapter11.games import waits_too_long
from kafkalearn.exercises.chapter11.incidents import (
    count_the_left_behind,
    read_the_metrics,
    tune_the_fetch,
    what_to_watch,
)
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.values import Value
from kafkalearn.purgatory.requests.effects import ConsumerAnswered
from kafkalearn.purgatory.requests.events import ConsumerFetch, SizedProduce
from kafkalearn.purgatory.requests.settings import Settings
from kafkalearn.purgatory.requests.simulator import simulate
from kafkalearn.purgatory.wheel.placing import journey, place
from kafkalearn.replication.effects import FetchAnswered, ProduceAnswered
from kafkalearn.replication.events import Fetch, Produce

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
    solve=lambda: {delay: len(journey(delay)) for delay in _DELAYS},
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
    ("1", "broker 2 fetches", Fetch(2)),
    ("2", "consumer c1 fetches", ConsumerFetch("c1", 0, max_wait_ms=60_000)),
    ("3", "a producer sends p1, acks=1", SizedProduce(Produce(acks=1))),
    ("4", "a producer sends p2, acks=all", SizedProduce(Produce(acks="all"))),
    ("5", "broker 2 fetches", Fetch(2)),
    ("6", "broker 2 fetches", Fetch(2)),
)
_WAITING = ("broker 2 (event 1)", "c1", "p1", "p2")


def _answered_at() -> dict[str, int]:
    """The number of the event that brings each its answer."""
    found: dict[str, int] = {}
    for frame in simulate(Settings(replica_count=2), [event for *_, event in _SCRIPT])[1:]:
        for effect in frame.state.effects:
            match effect:
                case FetchAnswered(broker_id=2):
                    found.setdefault("broker 2 (event 1)", frame.index)
                case ConsumerAnswered(name="c1"):
                    found.setdefault("c1", frame.index)
                case ProduceAnswered(request=request):
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
    solve=_answered_at,
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
    return answers.AT_ONCE if found is None else (found.level, found.bucket)


write_place = Exercise(
    name="write_place",
    asks=(
        "Write `my_place(clock_ms, expires_ms)`: wheel and bucket for a timer in Kafka's wheels (20 buckets each, "
        "ticks of 1, 20, 400, ... ms), as a tuple such as `(3, 1)`; `(0, 0)` if it is due and runs at once. Each wheel "
        "rounds the clock down to its own tick."
    ),
    start=("def my_place(clock_ms, expires_ms):\n    return ...\n\n\nexercises.write_place.check(my_place)"),
    judge=Function(_kafkas_place, ("clock_ms", "expires_ms"), PLACE_CASES),
    solve=lambda: answers.right,
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
            answers.by_delay,
            "The bucket is that of the time when it is due, not of how long it waits: a wheel turns on.",
        ),
        Misconception(
            answers.with_exact_clock,
            "A coarse wheel rounds the clock down to its own tick before it looks how far it reaches.",
        ),
        Misconception(
            answers.reaching_too_far,
            "A wheel of 20 buckets of 1 ms at clock 0 holds 1 to 19 ms: at 20 its bucket 0 comes round again.",
        ),
        Misconception(
            answers.never_at_once, "What is due within the present tick goes into no bucket: it runs at once."
        ),
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
