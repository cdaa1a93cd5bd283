"""The exercises of chapter 05b: how long does a rebalance take, and for whom?"""

from __future__ import annotations

from functools import cache

from kafkalearn.exercises.chapter05b.games import fenced
from kafkalearn.exercises.chapter05b.incidents import alive_and_silent, hours_of_rebalance
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.values import Value
from kafkalearn.group import simulate

START = "topic orders has 8 partitions\nat 0 s: c1 to c4 join\n"
WAYS = {
    "eager": {"assignor": "range"},
    "cooperative": {"assignor": "cooperative-sticky"},
    "KIP-848": {"protocol": "consumer"},
}


def _given_up(line: str, way: str) -> int:
    """Partitions that members give up from the first minute on."""
    outcome = simulate(f"{START}{line}\nthe end is at 4 min", **WAYS[way])
    return sum(row["revoked"] for row in outcome.rebalances if row["from_ms"] >= 60_000)


def _given_up_by_way() -> dict[str, int]:
    return {
        f"c4 {what}, {way}": _given_up(f"at 60 s: c4 {verb}", way)
        for what, verb in (("leaves", "leaves"), ("crashes", "crashes"))
        for way in WAYS
    }


given_up = Exercise(
    name="given_up",
    asks=(
        "Predict. `orders` has 8 partitions, four consumers have two each. At 60 s c4 leaves; or it crashes. How many "
        "partitions do the *three others* give up because of it, in an eager group (`range`), in a cooperative one "
        "(`cooperative-sticky`), and with KIP-848?"
    ),
    start=(
        "answer = {\n"
        '    "c4 leaves, eager": ...,\n'
        '    "c4 leaves, cooperative": ...,\n'
        '    "c4 leaves, KIP-848": ...,\n'
        '    "c4 crashes, eager": ...,\n'
        '    "c4 crashes, cooperative": ...,\n'
        '    "c4 crashes, KIP-848": ...,\n'
        "}\n"
        "exercises.given_up.check(answer)"
    ),
    judge=Value(_given_up_by_way),
    solve=_given_up_by_way,
    hints=(
        "An eager member gives up all that it has, before it joins again.",
        "Which partitions have to move when c4 is gone: those of c4, or others too?",
        "Is it a difference for the others whether c4 said good-bye?",
    ),
    reasoning=(
        "An eager group: each of the three gives up its two partitions, 6, and gets most of them back. A cooperative "
        "group and one of KIP-848 only hand out what c4 had: nobody else gives up anything, 0. Whether c4 left or "
        "crashed changes *when* the group learns of it (at once, or after 45 s), not what it costs then."
    ),
    misconceptions=(
        Misconception(
            {"c4 leaves, eager": 2}, "Two partitions need a new owner; how many does an eager group give up for that?"
        ),
        Misconception(
            {"c4 leaves, cooperative": 2}, "These were the two of c4, and c4 is gone. What do the others give up?"
        ),
        Misconception({"c4 crashes, eager": 8}, "The two partitions of c4 are given up by nobody: c4 is dead."),
    ),
    moral="Eager: everybody pays. Cooperative and KIP-848: only what moves, moves.",
)


def _rolling() -> str:
    times = zip(("c1", "c2", "c3"), (60, 180, 300), strict=True)
    return "at 0 s: c1, c2 and c3 join\n" + "\n".join(f"at {at} s: {name} restarts after 10 s" for name, at in times)


@cache
def _brings(line: str, **arguments: object) -> int:
    """The rebalances that a line adds to those of the start."""
    story = "at 0 s: c1, c2 and c3 join\nthe end is at 20 min"
    calm = simulate(story, protocol="consumer", **arguments).rebalance_count
    return simulate(f"{line}\nthe end is at 20 min", protocol="consumer", **arguments).rebalance_count - calm


def _kip_848() -> dict[str, int]:
    pause = "at 0 s: c1, c2 and c3 join\nat 60 s: c2 pauses for 55 s"
    return {
        "restarts, dynamic": _brings(_rolling()),
        "restarts, static": _brings(_rolling(), group_instance_id=True),
        "pause 55 s, client's session 60 s": _brings(pause, session_timeout_ms=60_000),
        "pause 55 s, broker's session 60 s": _brings(pause, group_consumer_session_timeout_ms=60_000),
    }


kip_848 = Exercise(
    name="kip_848",
    asks=(
        "Predict, for a group of three with KIP-848. How many rebalances do three restarts bring, one every two "
        "minutes, each consumer away for 10 s: with dynamic members, with static ones? And a pause of 55 s, if the "
        "*clients* set `session.timeout.ms` to 60 s, or if the *broker* has `group.consumer.session.timeout.ms` 60 s?"
    ),
    start=(
        "answer = {\n"
        '    "restarts, dynamic": ...,\n'
        '    "restarts, static": ...,\n'
        '    "pause 55 s, client\'s session 60 s": ...,\n'
        '    "pause 55 s, broker\'s session 60 s": ...,\n'
        "}\n"
        "exercises.kip_848.check(answer)"
    ),
    judge=Value(_kip_848),
    solve=_kip_848,
    hints=(
        "KIP-848 makes a rebalance gentler. Does it make fewer?",
        "What does a static member send when it is closed?",
        "Whose setting is the session timeout now?",
    ),
    reasoning=(
        "A dynamic member leaves and joins: the group epoch goes up twice for each of the three, 6. A static one says "
        "that it will be back (member epoch -2) and keeps its place: 0.\n\n"
        "The session timeout is the broker's: what the clients set is not even sent, so 55 s are more than the "
        "default of 45: out, and in again, 2. With 60 s on the broker: 0."
    ),
    misconceptions=(
        Misconception(
            {"restarts, dynamic": 0},
            "Each rebalance is gentler; a member that leaves and one that joins still change the group.",
        ),
        Misconception(
            {"pause 55 s, client's session 60 s": 0},
            "In the new protocol the session timeout is the broker's setting; the client's is not sent.",
        ),
    ),
    moral="KIP-848 makes each rebalance cheaper, not rarer; and its session timeout is the broker's.",
)


def _takes_ms(heartbeats_ms: tuple[int, ...], polls_ms: tuple[int, ...], limit_ms: int) -> int:
    return max(max(heard, min(poll, limit_ms)) for heard, poll in zip(heartbeats_ms, polls_ms, strict=True))


def _sum_ms(heartbeats_ms: tuple[int, ...], polls_ms: tuple[int, ...], limit_ms: int) -> int:
    return sum(max(heard, min(poll, limit_ms)) for heard, poll in zip(heartbeats_ms, polls_ms, strict=True))


def _without_limit_ms(heartbeats_ms: tuple[int, ...], polls_ms: tuple[int, ...], limit_ms: int) -> int:
    return max(*heartbeats_ms, *polls_ms)


def _only_heartbeats_ms(heartbeats_ms: tuple[int, ...], polls_ms: tuple[int, ...], limit_ms: int) -> int:
    return max(heartbeats_ms)


_CASES = (
    ((1000,), (0,), 300_000),
    ((1000, 2000, 3000), (0, 0, 0), 300_000),
    ((1000, 2000, 3000), (0, 20_000, 0), 300_000),
    ((1000, 2000, 3000), (500, 2500, 2500), 300_000),
    ((1000, 2000), (400_000, 100), 300_000),
    ((100, 2900, 1500), (3_600_000, 0, 290_000), 300_000),
)

slowest_member = Exercise(
    name="slowest_member",
    asks=(
        "Write `takes_ms(heartbeats_ms, polls_ms, limit_ms)`: an eager group begins to rebalance. For each member you "
        "get after how many ms its next heartbeat comes, which tells it of the rebalance, and after how many ms it is "
        "in `poll()` next. A member joins again as soon as both have happened; one that is not in `poll()` within "
        "`limit_ms` leaves then. After how many ms is nobody missing any more? (The network takes no time here.)"
    ),
    start=(
        "def takes_ms(heartbeats_ms, polls_ms, limit_ms):\n    return ...\n\n\nexercises.slowest_member.check(takes_ms)"
    ),
    judge=Function(_takes_ms, ("heartbeats_ms", "polls_ms", "limit_ms"), _CASES),
    solve=lambda: _takes_ms,
    hints=(
        "When does one member join: at the earlier of the two moments, or at the later?",
        "All members go their way at the same time. Whom does the group wait for?",
        "`zip(heartbeats_ms, polls_ms)` gives the two times of each member.",
    ),
    reasoning=(
        "A member joins at the later of its two moments, but nobody waits for a poll longer than the limit; and the "
        "group waits for the last member:\n\n"
        "```python\n"
        "return max(max(heard, min(poll, limit_ms)) for heard, poll in zip(heartbeats_ms, polls_ms))\n"
        "```\n\n"
        "Nothing in it grows with the number of members by itself. But the more members, the likelier that one of them "
        "is slow."
    ),
    misconceptions=(
        Misconception(_sum_ms, "The members do not wait for each other in turn: all are on their way at once."),
        Misconception(_without_limit_ms, "Who does not come to `poll()` in time leaves, and is not waited for."),
        Misconception(
            _only_heartbeats_ms, "A member that knows of the rebalance still has to come back to `poll()` to join."
        ),
    ),
    moral="A rebalance is as slow as the slowest member, and never slower than max.poll.interval.ms.",
)


def _price() -> dict[str, int]:
    session_ms, interval_ms, member_count = 10_000, 2500, 1000
    return {
        "heartbeats a second": member_count * 1000 // interval_ms,
        "always survived, ms": session_ms - interval_ms,
        "never survived, ms": session_ms,
    }


price_of_heartbeats = Exercise(
    name="price_of_heartbeats",
    asks=(
        "A group of 1,000 members has `session.timeout.ms` 10 s and `heartbeat.interval.ms` 2.5 s. How many heartbeats "
        "a second does its coordinator get? A member's network fails: how long may that take, in ms, so that the "
        "member is *never* removed, whenever it begins? And from how long on is it *always* removed? (Leave out the "
        "ms that a request travels.)"
    ),
    start=(
        "answer = {\n"
        '    "heartbeats a second": ...,\n'
        '    "always survived, ms": ...,\n'
        '    "never survived, ms": ...,\n'
        "}\n"
        "exercises.price_of_heartbeats.check(answer)"
    ),
    judge=Value(_price),
    solve=_price,
    hints=(
        "Each member sends one heartbeat in each interval.",
        "The session begins anew with each heartbeat. When is the worst moment for the network to fail?",
        "Just before a heartbeat the session has run for one interval already.",
    ),
    reasoning=(
        "1,000 members / 2.5 s = 400 a second. If the network fails just before a heartbeat, 2.5 s of the session have "
        "gone already, and 7.5 s are left: session minus interval. If it fails just after one, all 10 s are left. So "
        "more heartbeats in a session buy less and less: with two half of the session is safe, with three two thirds, "
        "with ten nine tenths; and the price grows with their number."
    ),
    misconceptions=(
        Misconception(
            {"always survived, ms": 10_000}, "Only if the last heartbeat arrived just before. Take the worst moment."
        ),
        Misconception(
            {"heartbeats a second": 2500}, "That is an interval in ms. How many fit into a second, times 1,000?"
        ),
    ),
    moral="What a member is sure to survive is the session less one heartbeat interval.",
)

_CHAPTER = Chapter(
    "05b rebalance cost",
    (given_up, kip_848, alive_and_silent, slowest_member, price_of_heartbeats, fenced, hours_of_rebalance),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
