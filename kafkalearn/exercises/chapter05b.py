"""The exercises of chapter 05b: how long does a rebalance take, and for whom?"""

from __future__ import annotations

from functools import cache, reduce
from typing import Any

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Open
from kafkalearn.exercises.kit.game import Game
from kafkalearn.groups.consumer import ConsumerGroupHeartbeat, Settings, TimePassed, join, leave, start, step
from kafkalearn.groups.consumer.simulator import NONE_FENCED, broken
from kafkalearn.scenarios import simulate
from kafkalearn.scenarios.outcome import Outcome

START = "topic orders has 8 partitions\nat 0 s: c1 to c4 join\n"
WAYS = {  # each with its protocol and assignor
    "eager": ("classic", "range"),
    "cooperative": ("classic", "cooperative-sticky"),
    "KIP-848": ("consumer", None),
}


def _given_up(line: str, way: str) -> int:
    """Partitions that members give up from the first minute on."""
    outcome = simulate(f"{START}{line}\nthe end is at 4 min", *WAYS[way])
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
def _brings(line: str, **arguments: Any) -> int:
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

POD = """at 0 s: c1, c2 and c3 join
at 60 s: c3 crashes and returns after {} s
the end is at 10 min"""


@cache
def _pod(after_s: int, protocol: str) -> Outcome:
    return simulate(POD.format(after_s), protocol=protocol, group_instance_id=True)


def _reads_again(after_s: int, protocol: str) -> bool:
    return _pod(after_s, protocol).trace[-1].state.member("c3").doing == "consuming"


def _alive_and_silent() -> dict[str, object]:
    return {
        "classic, back after 10 s": _reads_again(10, "classic"),
        "KIP-848, back after 10 s": _reads_again(10, "consumer"),
        "KIP-848, back after 60 s": _reads_again(60, "consumer"),
        "error": "UNRELEASED_INSTANCE_ID",
    }


alive_and_silent = Exercise(
    name="alive_and_silent",
    asks=(
        "**A real incident** (PostHog/posthog#65809, 2026): a container runs out of memory and is started again at "
        "once, in the same pod. Its `group.instance.id` is the pod's name, its group uses the KIP-848 protocol. From "
        "then on the pod is *Running* and *Ready*, and reads nothing.\n\n"
        "Does such a consumer read again (yes or no) if it is back 10 s after its crash, with the classic "
        "protocol and with KIP-848? And 60 s after it, with KIP-848? Which error does its join get in the case that "
        "goes wrong?"
    ),
    start=(
        "answer = {\n"
        '    "classic, back after 10 s": ...,\n'
        '    "KIP-848, back after 10 s": ...,\n'
        '    "KIP-848, back after 60 s": ...,\n'
        '    "error": ...,\n'
        "}\n"
        "exercises.alive_and_silent.check(answer)"
    ),
    judge=Value(_alive_and_silent),
    hints=(
        "A crash is no `close()`: the coordinator does not know that the process is gone.",
        "The classic coordinator gives the place to the newcomer and fences the old process. The new one does not.",
        'Play it: `simulate(..., protocol="consumer", group_instance_id=True)`, and look at the last frames.',
    ),
    reasoning=(
        "Classic: the newcomer with the same instance id takes the place over at once; it is the *old* process, if it "
        "still lived, that would be fenced. KIP-848 turns it round: as long as the old member has not said that it "
        "leaves (epoch -2) and its session has not ended, the instance id counts as in use, and the join is answered "
        "UNRELEASED_INSTANCE_ID. Clients take that as fatal. After 45 s the session has ended, and a new process is "
        "welcome: so after 60 s it reads again.\n\n"
        "In the incident the program did not end on the fatal error: it polled a dead client for ever, and the probe "
        "of Kubernetes found it alive. The cure was to let the process end, so that it is started again until the id "
        "is free, and to make members static only where the names of pods outlive a deployment."
    ),
    misconceptions=(
        Misconception(
            {"KIP-848, back after 10 s": True},
            "A crash sends nothing, and the new coordinator protects the member it knows.",
        ),
        Misconception(
            {"classic, back after 10 s": False},
            "In the classic protocol the newcomer wins, and the older process with the same id is fenced.",
        ),
        Misconception({"error": "FENCED_INSTANCE_ID"}, "That one is for a process whose place another has taken."),
    ),
    moral="A static member needs a clean end, or patience. And a fatal error must end the process.",
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

_GROUP = Settings(topics={"orders": 2})
_MOST_MS = 20_000  # to give up partitions
_BEGIN = reduce(
    lambda group, event: step(_GROUP, group, event),
    [join("A", ("orders",), rebalance_timeout_ms=_MOST_MS), TimePassed(1000)],
    start(_GROUP),
)
_MOVES = {
    "B joins": join("B", ("orders",), rebalance_timeout_ms=_MOST_MS),
    "A's heartbeat": ConsumerGroupHeartbeat("A", 2),
    "A has given up orders-1": ConsumerGroupHeartbeat("A", 2, owned=(TopicPartition("orders", 0),)),
    "B's heartbeat": ConsumerGroupHeartbeat("B", 3),
    "B leaves": leave("B"),
    "10 s pass": TimePassed(10_000),
}
_GAME = Game(step, broken, _GROUP, _BEGIN, NONE_FENCED, _MOVES, "B joins > A's heartbeat > 10 s pass > 10 s pass")

fenced = Exercise(
    name="fenced",
    asks=(
        "A game with the coordinator of a KIP-848 group. A is a member, at epoch 2, and reads both partitions of "
        "`orders`. Its session timeout is 45 s, its `max.poll.interval.ms` 20 s. Users hope that *no member is "
        f"fenced* (removed by the coordinator). Break it; **par {_GAME.par}**. The moves: {_GAME.table()}. Give a line "
        "with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.fenced.check(run)',
    judge=_GAME,
    hints=(
        "Silence does it: five times ten seconds. There is a way that is shorter, and A sends heartbeats in it.",
        "A is asked to do something when B comes. When does A hear of it?",
        "Which time limit begins when A has heard that it must give up a partition?",
    ),
    reasoning=(
        f"`{_GAME.best}`. When B joins, one of A's partitions belongs to B. A hears it with its heartbeat, and from "
        "then on it has its own `max.poll.interval.ms` to give the partition up: that is done in `poll()`. If it does "
        "not, the coordinator removes it, however many heartbeats it sends. So the second clock of the classic "
        "protocol is here too, now on the broker's side."
    ),
    misconceptions=(
        Misconception(
            "10 s pass > 10 s pass > 10 s pass > 10 s pass > 10 s pass",
            "That is the session timeout: right, but there is a shorter way, with a member that is not silent.",
        ),
        Misconception(
            "B joins > A's heartbeat > A has given up orders-1 > 10 s pass > 10 s pass",
            "A has done what it was asked to do, so no time limit runs any more.",
        ),
    ),
    moral="With KIP-848 the coordinator itself watches that a member gives up its partitions in time.",
)

hours_of_rebalance = Exercise(
    name="hours_of_rebalance",
    asks=(
        "Open. *Our group has 300 consumers; a deployment restarts them one after the other, and for hours nothing is "
        "read. The article says so: a rebalance of a large group takes hours, and there is no cure.* Each poll of "
        "theirs takes about a minute. What takes hours here, and when is nothing read in them? Name at least three "
        "changes that help, each with what it costs, and say which you would try first. "
        "`kafkalearn.scenarios.durations` has numbers."
    ),
    start='advice = """\n"""\nexercises.hours_of_rebalance.check(advice)',
    judge=Open(),
    solve=lambda: "Not one rebalance, but a hundred and fifty in a row. Static members first.",
    hints=(
        "How long does one rebalance take at most, and what decides it?",
        "How many rebalances does such a deployment bring? Who reads while one of them waits?",
        "Which of static members, cooperative, KIP-848, shorter polls, restarting all at once changes the number of "
        "rebalances, and which changes what one of them costs?",
    ),
    reasoning=(
        "One rebalance takes as long as the slowest member's poll, here about a minute, and never more than "
        "`max.poll.interval.ms`. But each restart begins one, or comes while one is under way: about one for two "
        "restarts, and so they fill most of the two and a half hours that the deployment takes. Yet who is in a poll "
        "goes on with its records until it comes back. If all polls take a minute, they come back together, and a "
        "partition is unread for some 20 seconds in all. If one consumer is slower than the rest, all others wait for "
        "it each time, and then nearly nothing is read for hours: see `rolling_restart(30, is_one_slow=True)`.\n\n"
        "Static members: no rebalance at all if each is back within its session timeout; the price is that nobody "
        "reads its partitions meanwhile. Fewer records in a poll (`max.poll.records`): each rebalance becomes short; "
        "the price is more polls. Cooperative or KIP-848: as many rebalances, but only what moves stands still. All "
        "at once: one rebalance, and for its length nothing is read. Static members are the smallest change; KIP-848 "
        "is the one that lasts."
    ),
)

_CHAPTER = Chapter(
    "05b rebalance cost",
    (given_up, kip_848, alive_and_silent, slowest_member, price_of_heartbeats, fenced, hours_of_rebalance),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
