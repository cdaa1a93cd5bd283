"""The exercises of chapter 05: can a rebalance be avoided?"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from kafkalearn.exercises.chapter05.games import stable_no_more
from kafkalearn.exercises.chapter05.incidents import smallest_change, ten_minutes
from kafkalearn.exercises.chapter05.topics import no_members_fault
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.values import Value
from kafkalearn.group import simulate

START = "at 0 s: c1, c2 and c3 join"


@cache
def _brings(line: str, **arguments: object) -> int:
    """The rebalances that a line adds to those of the start."""
    calm = simulate(f"{START}\nthe end is at 20 min", **arguments).rebalance_count
    return simulate(f"{START}\n{line}\nthe end is at 20 min", **arguments).rebalance_count - calm


def _will_it_rebalance() -> dict[str, int]:
    works = "at 60 s: c2 works 320 s on one poll"
    return {
        "pause 12 s, session 10 s": _brings("at 60 s: c2 pauses for 12 s", session_timeout_ms=10_000),
        "pause 12 s, defaults": _brings("at 60 s: c2 pauses for 12 s"),
        "work 320 s, defaults": _brings(works),
        "work 320 s, session 10 min": _brings(works, session_timeout_ms=600_000),
        "work 320 s, static members": _brings(works, group_instance_id=True),
        "pause 50 s, static members": _brings("at 60 s: c2 pauses for 50 s", group_instance_id=True),
    }


will_it_rebalance = Exercise(
    name="will_it_rebalance",
    asks=(
        "Predict. Three consumers, Kafka 4.3, defaults but for what is said. How many rebalances does each line bring, "
        "counted until everything is as before?\n\n"
        "- c2 pauses for 12 s (garbage collection), with `session.timeout.ms` 10 s, and with the default;\n"
        "- c2 works 320 s on the records of one poll: with defaults; with `session.timeout.ms` 10 minutes; with static "
        "members;\n"
        "- c2 pauses for 50 s in a group of static members."
    ),
    start=(
        "answer = {\n"
        '    "pause 12 s, session 10 s": ...,\n'
        '    "pause 12 s, defaults": ...,\n'
        '    "work 320 s, defaults": ...,\n'
        '    "work 320 s, session 10 min": ...,\n'
        '    "work 320 s, static members": ...,\n'
        '    "pause 50 s, static members": ...,\n'
        "}\n"
        "exercises.will_it_rebalance.check(answer)"
    ),
    judge=Value(_will_it_rebalance),
    solve=_will_it_rebalance,
    hints=(
        "A member that is removed comes back: one rebalance when it goes, one when it returns.",
        "Which of the two threads does a pause stop, and which does long work stop?",
        "A static member sends no LeaveGroup: it only falls silent, and then the session timeout has to pass as well.",
        "How long is the place of a static member kept?",
    ),
    reasoning=(
        "A pause stops the heartbeats. 12 s of silence are more than 10 s: out, and in again, 2. The default is 45 s: "
        "0.\n\n"
        "Long work stops only the poll thread. After `max.poll.interval.ms` (300 s) the heartbeat thread itself leaves "
        "the group: 2, and a longer session changes nothing, because no heartbeat was missing: 2. A static member does "
        "not leave, it falls silent after 300 s; it would be removed 45 s later, but is back after 20: 0.\n\n"
        "A static member that is silent for 50 s has lost its place after 45: 2. Each of these is a line for "
        "`simulate`."
    ),
    misconceptions=(
        Misconception(
            {"work 320 s, session 10 min": 0},
            "While the poll thread works, the heartbeat thread goes on: no heartbeat is missing, so their timeout "
            "does not matter.",
        ),
        Misconception(
            {"pause 50 s, static members": 0},
            "The place of a static member is kept for its session timeout, not for ever.",
        ),
        Misconception(
            {"work 320 s, defaults": 1},
            "When the work is done the consumer polls again, and joins again.",
        ),
    ),
    moral="Ask first which thread stood still, then whose clock was running.",
)


def _when_evicted(heartbeats_ms: tuple[int, ...], session_timeout_ms: int) -> int:
    for heard_ms, next_ms in pairwise(heartbeats_ms):
        if next_ms - heard_ms > session_timeout_ms:
            return heard_ms + session_timeout_ms
    return heartbeats_ms[-1] + session_timeout_ms


def _from_the_last(heartbeats_ms: tuple[int, ...], session_timeout_ms: int) -> int:
    return heartbeats_ms[-1] + session_timeout_ms


def _from_the_first(heartbeats_ms: tuple[int, ...], session_timeout_ms: int) -> int:
    return heartbeats_ms[0] + session_timeout_ms


def _when_the_next_comes(heartbeats_ms: tuple[int, ...], session_timeout_ms: int) -> int:
    gaps = pairwise(heartbeats_ms)
    late = [later for earlier, later in gaps if later - earlier > session_timeout_ms]
    return late[0] if late else heartbeats_ms[-1] + session_timeout_ms


_CASES = (
    ((0,), 10_000),
    ((0, 3_000), 10_000),
    ((0, 3_000, 6_000), 45_000),
    ((0, 3_000, 14_000), 10_000),
    ((0, 3_000, 12_000, 15_000), 10_000),
    ((0, 3_000, 60_000, 63_000), 45_000),
    ((0, 9_000, 18_000, 30_000, 50_000), 10_000),
)

when_evicted = Exercise(
    name="when_evicted",
    asks=(
        "Write `evicted_ms(heartbeats_ms, session_timeout_ms)`: a coordinator has got heartbeats of a member at these "
        "moments, in rising order, and no more after the last. At which moment does it remove the member? (A "
        "heartbeat that comes when the time is just up is still in time.)"
    ),
    start=(
        "def evicted_ms(heartbeats_ms, session_timeout_ms):\n    return ...\n\n\n"
        "exercises.when_evicted.check(evicted_ms)"
    ),
    judge=Function(_when_evicted, ("heartbeats_ms", "session_timeout_ms"), _CASES),
    solve=lambda: _when_evicted,
    hints=(
        "Each heartbeat starts the clock anew.",
        "A gap that is too long removes the member inside the gap; the heartbeats after it come from a stranger.",
        "`itertools.pairwise` gives the gaps.",
    ),
    reasoning=(
        "The coordinator has one timer for each member. A heartbeat sets it to the session timeout; if it runs out, "
        "the member is removed at that very moment, not when the next heartbeat is missed and not at the next look "
        "around: so the answer is the last heartbeat before the first gap that is too long, plus the timeout.\n\n"
        "```python\n"
        "for heard_ms, next_ms in pairwise(heartbeats_ms):\n"
        "    if next_ms - heard_ms > session_timeout_ms:\n"
        "        return heard_ms + session_timeout_ms\n"
        "return heartbeats_ms[-1] + session_timeout_ms\n"
        "```"
    ),
    misconceptions=(
        Misconception(
            _from_the_last,
            "Right as long as no gap is too long. After one, the later heartbeats come too late.",
        ),
        Misconception(_from_the_first, "Every heartbeat starts the clock anew, not only the first."),
        Misconception(
            _when_the_next_comes,
            "The coordinator does not wait for the late heartbeat to find out: its timer runs out before.",
        ),
    ),
    moral="One timer for each member, set anew by each heartbeat.",
)


def _rolling(after_s: int) -> str:
    times = zip(("c1", "c2", "c3"), (60, 180, 300), strict=True)
    return "\n".join(f"at {at} s: {name} restarts after {after_s} s" for name, at in times)


def _rolling_restart() -> dict[str, int]:
    return {
        "dynamic, 10 s": _brings(_rolling(10)),
        "static, 10 s": _brings(_rolling(10), group_instance_id=True),
        "static, 60 s": _brings(_rolling(60), group_instance_id=True),
        "static, 40 s": _brings(_rolling(40), group_instance_id=True),
    }


rolling_restart = Exercise(
    name="rolling_restart",
    asks=(
        "A new version of `billing` is rolled out: each of three consumers is closed and started again, one after the "
        "other, two minutes apart. Kafka 4.3, `session.timeout.ms` 45 s. How many rebalances does that bring with "
        "dynamic members that are away for 10 s each? With static members, away for 10 s, for 60 s, or for 40 s?"
    ),
    start=(
        "answer = {\n"
        '    "dynamic, 10 s": ...,\n'
        '    "static, 10 s": ...,\n'
        '    "static, 60 s": ...,\n'
        '    "static, 40 s": ...,\n'
        "}\n"
        "exercises.rolling_restart.check(answer)"
    ),
    judge=Value(_rolling_restart),
    solve=_rolling_restart,
    hints=(
        "What does a dynamic member send when it is closed, and what a static one?",
        "How long does the coordinator keep the place of a static member that is silent?",
        "What happens to the members that stay, while a static one is away?",
    ),
    reasoning=(
        "A dynamic member leaves and joins: two rebalances each, 6. A static one sends nothing when it is closed and "
        "gets its place back if it returns within the session timeout: 0. After 60 s it is too late: it was removed "
        "after 45, and joins as new: 6 again. 40 s are in time: 0; but for 40 s nobody reads its partitions."
    ),
    misconceptions=(
        Misconception({"static, 40 s": 6}, "It is back before its session ends, so its place is still there."),
        Misconception({"static, 60 s": 0}, "Its place is kept only for the session timeout."),
        Misconception({"dynamic, 10 s": 3}, "It leaves, and it joins: both change the group."),
    ),
    moral="Static members make a deployment quiet, as long as each is back within the session timeout.",
)

_CHAPTER = Chapter(
    "05 rebalance",
    (will_it_rebalance, when_evicted, rolling_restart, smallest_change, no_members_fault, stable_no_more, ten_minutes),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
