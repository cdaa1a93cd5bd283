"""The exercises of chapter 05: can a rebalance be avoided?"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

from kafkalearn.exercises.kit.compare import Value, as_settings
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Having, Open, Property
from kafkalearn.exercises.kit.game import Game
from kafkalearn.exercises.kit.result import as_words, say
from kafkalearn.groups.classic import Heartbeat, JoinGroup, Settings, SyncGroup, TimePassed, start, step
from kafkalearn.groups.classic.simulator import STAYS_STABLE, broken
from kafkalearn.scenarios import simulate
from kafkalearn.scenarios.finder import probe
from kafkalearn.scenarios.outcome import Outcome
from kafkalearn.scenarios.playing import settings_of
from kafkalearn.scenarios.text import scenario

FIRST_CELL = "at 0 s: c1, c2 and c3 join"


@cache
def _brings(line: str, **arguments: Any) -> int:
    """The rebalances that a line adds to those of the start."""
    calm = simulate(f"{FIRST_CELL}\nthe end is at 20 min", **arguments).rebalance_count
    return simulate(f"{FIRST_CELL}\n{line}\nthe end is at 20 min", **arguments).rebalance_count - calm


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
        "Predict. Three consumers, Kafka 4.4, defaults but for what is said. How many rebalances does each line bring, "
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
        "other, two minutes apart. Kafka 4.4, `session.timeout.ms` 45 s. How many rebalances does that bring with "
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

STORY = """topic orders has 6 partitions
at 0 s: c1, c2 and c3 join
at 60 s: c2 works 330 s on one poll"""
FOUND_WITHIN_MS = 400_000


@cache
def _played(setting: str, value: object) -> Outcome:
    return simulate(STORY, settings={setting: value})


@cache
def _hang_ms(setting: str, value: object) -> int | None:
    story = scenario(STORY)
    return probe(story, settings_of(story, settings={setting: value}), "classic", "a hang in one poll")


def _is_quiet(answer: dict) -> bool:
    return _played(*next(iter(answer.items()))).rebalance_count == 1


def _is_found(answer: dict) -> bool:
    hang_ms = _hang_ms(*next(iter(answer.items())))
    return hang_ms is not None and hang_ms <= FOUND_WITHIN_MS


smallest_change = Exercise(
    name="smallest_change",
    asks=(
        "**A real report** (confluentinc/confluent-kafka-python#552, 2019): a consumer calls a web service for each "
        "record, waits and tries again when the service is slow, and logs *Application maximum poll interval "
        "(300000ms) exceeded by 88ms*. Each time it leaves its group and joins again. Here it is as a scenario:\n\n"
        f"```\n{STORY}\n```\n\n"
        "Change **one** setting of the clients so that the scenario brings no rebalance but the first, and so that a "
        "consumer that really hangs in a poll is still found out: its partitions must be read by others within 400 "
        "seconds."
    ),
    start='answer = {"...": ...}  # a setting and its value\nexercises.smallest_change.check(answer)',
    judge=Having(
        {"setting": 1},
        (
            Property(lambda answer: len(answer) == 1, lambda answer: f"It names {len(answer)} settings, not one."),
            Property(
                _is_quiet,
                lambda answer: say(
                    "The group still rebalances: {}.",
                    as_words("; ".join(row["cause"] for row in _played(*next(iter(answer.items()))).rebalances[1:])),
                ),
            ),
            Property(
                _is_found,
                lambda answer: (
                    "No rebalance; but the partitions of a consumer that hangs stay unread for "
                    f"{(_hang_ms(*next(iter(answer.items()))) or 0) / 1000:.0f} s."
                ),
            ),
        ),
        form=as_settings,
    ),
    solve=lambda: {"max.poll.interval.ms": 360_000},
    hints=(
        "Which thread stands still while the consumer waits for the web service, and which setting watches it?",
        "`simulate(story, settings={...})` plays it; `find_change(story)` looks for you, and says what it costs.",
        "There is a second way: less work in one poll.",
    ),
    reasoning=(
        "The heartbeats never stopped, so `session.timeout.ms` is not it. `max.poll.interval.ms` must be above the "
        "longest work, 330 s, and not much above: it is also the time after which a consumer that hangs is found out. "
        "360 s does it.\n\n"
        "Or `max.poll.records`: with 400 instead of 500 the work on one poll takes 264 s. In the report nobody knew "
        "how long the longest call was; then a limit on the calls is the better cure, and a poll for fewer records the "
        "second best."
    ),
    misconceptions=(
        Misconception(
            {"session.timeout.ms": 400_000},
            "The session timeout watches heartbeats, and these never stopped: they have a thread of their own.",
        ),
        Misconception(
            {"heartbeat.interval.ms": 1_000},
            "More heartbeats do not help: none was missing.",
        ),
        Misconception(
            {"max.poll.interval.ms": 3_600_000},
            "The limit is also the time in which a consumer that hangs for ever is found out: not so generous.",
        ),
    ),
    moral="Above the longest honest work, and not much above: the limit is also what finds the consumers that hang.",
)

START = (
    "topic orders has 6 partitions\ntopic refunds has 2 partitions\nat 0 s: c1, c2 and c3 join\nthe end is at 15 min\n"
)
PATTERN = "c1 to c3 subscribe to the pattern orders.*\n"
HAPPENS_S = 60


@cache
def _after_s(line: str, **settings: Any) -> int:
    """Whole seconds from what happens to the rebalance."""
    return round(simulate(START + line, **settings).rebalances[1]["from_ms"] / 1000) - HAPPENS_S


def _no_members_fault() -> dict[str, int]:
    grows = "at 60 s: orders grows to 9 partitions"
    return {
        "orders grows": _after_s(grows),
        "orders grows, metadata.max.age.ms 90 s": _after_s(grows, metadata_max_age_ms=90_000),
        "orders-eu is created": _after_s(f"{PATTERN}at 60 s: topic orders-eu is created with 3 partitions"),
        "refunds is deleted": _after_s("at 60 s: refunds is deleted"),
        "c2 subscribes to orders only": _after_s("at 60 s: c2 subscribes to orders"),
    }


no_members_fault = Exercise(
    name="no_members_fault",
    asks=(
        "Predict. Three consumers started at 0 s, and all is well; `metadata.max.age.ms` is 5 minutes, its default. At "
        "60 s one of these happens. After how many seconds does the group begin to rebalance (whole seconds; 0 if it "
        "is less than half a second)?\n\n"
        "- `orders`, which all have subscribed to by name, gets more partitions; the same with "
        "`metadata.max.age.ms` 90 s;\n"
        "- a topic `orders-eu` is created, and all subscribe to the pattern `orders.*`;\n"
        "- `refunds` is deleted, which all read;\n"
        "- the application of c2 calls `subscribe` again, without `refunds`."
    ),
    start=(
        "answer = {\n"
        '    "orders grows": ...,\n'
        '    "orders grows, metadata.max.age.ms 90 s": ...,\n'
        '    "orders-eu is created": ...,\n'
        '    "refunds is deleted": ...,\n'
        '    "c2 subscribes to orders only": ...,\n'
        "}\n"
        "exercises.no_members_fault.check(answer)"
    ),
    judge=Value(_no_members_fault),
    hints=(
        "Nobody tells a consumer that a topic has changed. When does it ask?",
        "It asked at 0 s, when it started. When does it ask next?",
        "Who fetches from a topic that is gone gets an error, and asks at once.",
    ),
    reasoning=(
        "In the classic protocol the clients find out by themselves. They asked at 0 s and ask again when what they "
        "know is 5 minutes old: 240 s after the change. With 90 s it is 30. A pattern is compared with the topics that "
        "the client knows, so a new topic takes as long: 240 s.\n\n"
        "A topic that is gone is noticed at once, because fetching from it fails: 0. And a member that subscribes to "
        "something else says so with its next poll: 0. Only this last one was caused by a member at all, and none of "
        "them by a member that came or went."
    ),
    misconceptions=(
        Misconception(
            {"orders grows": 0}, "The coordinator of the classic protocol does not watch topics; the leader does."
        ),
        Misconception(
            {"orders grows": 300}, "That is the most it can take. Count from the moment when the leader asked last."
        ),
        Misconception({"refunds is deleted": 240}, "Until then it would fetch from partitions that are not there."),
        Misconception(
            {"orders-eu is created": 0}, "The pattern is compared by the client, with the topics that it knows so far."
        ),
    ),
    moral="In the classic protocol topics are watched by clients, and they look every five minutes.",
)

_GROUP = Settings()
_MOVES = {
    "a asks for a member id": JoinGroup("a"),
    "a joins": JoinGroup("a", "a-1"),
    "b asks for a member id": JoinGroup("b"),
    "b joins": JoinGroup("b", "b-2"),
    "3 s pass": TimePassed(3000),
    "a hands in the assignment": SyncGroup("a", "a-1", 1, (("a-1", "orders-0"), ("b-2", "orders-1"))),
    "b asks for its partitions": SyncGroup("b", "b-2", 1),
    "a's heartbeat": Heartbeat("a", "a-1", 1),
}
_GAME = Game(
    step,
    broken,
    _GROUP,
    start(_GROUP),
    STAYS_STABLE,
    _MOVES,
    "a asks for a member id > a joins > 3 s pass > a hands in the assignment > a joins",
)

stable_no_more = Exercise(
    name="stable_no_more",
    asks=(
        "A game with the coordinator of a classic group. Users hope that *a group that is Stable stays so*. Break it; "
        f"**par {_GAME.par}**. The moves: {_GAME.table()}. A member first asks for its id, then joins with it; the "
        "coordinator waits 3 s for others before the first generation; the first member that joined is the leader and "
        "hands in the assignment. Give a line with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.stable_no_more.check(run)',
    judge=_GAME,
    hints=(
        "First make the group Stable. Four moves do it, if one member is enough.",
        "A new member would have to ask for its id first. Who has one already?",
        "Which member may ask for a rebalance just by joining again?",
    ),
    reasoning=(
        f"`{_GAME.best}`. When the leader of a Stable group joins again, the coordinator begins a rebalance: it is the "
        "leader's way to say that something has changed, a topic with more partitions for example. A second member "
        "breaks it as well, but needs one move more, since it has to ask for an id. So a client that joins again and "
        "again, for whatever reason, keeps a whole group from working."
    ),
    misconceptions=(
        Misconception(
            "a asks for a member id > a joins > 3 s pass > a hands in the assignment > b asks for a member id > b "
            "joins",
            "A new member always does it. There is somebody who can do it without asking for an id first.",
        ),
        Misconception(
            "a asks for a member id > a joins > 3 s pass > a joins",
            "The group is not Stable yet: its leader has not handed in the assignment.",
        ),
    ),
    moral="A rebalance needs no new member: the leader can ask for one.",
)

ten_minutes = Exercise(
    name="ten_minutes",
    asks=(
        "Open. After the night of the incident somebody proposes for `billing`: *session.timeout.ms = 10 minutes, "
        "max.poll.interval.ms = 1 hour; then nothing ever rebalances.* Is the proposal allowed by the broker? What "
        "does it cost, and when? What would you do instead? `find_change` and "
        "`kafkalearn.scenarios.experiments` have numbers."
    ),
    start='advice = """\n"""\nexercises.ten_minutes.check(advice)',
    judge=Open(),
    solve=lambda: "It is allowed, and it costs ten minutes of unread partitions after each crash.",
    hints=(
        "The broker's bounds are `group.min.session.timeout.ms` and `group.max.session.timeout.ms`.",
        "What happens to the partitions of a consumer that really crashes, and of one that really hangs?",
        "Deployments, pauses and slow work are three different things, with three different cures.",
    ),
    reasoning=(
        "It is allowed: the upper bound is 30 minutes by default. But a session timeout works in both directions: "
        "after a crash the partitions of the dead member are read by nobody for up to ten minutes, after a hang "
        "for an hour. Orders wait, and the lag must be worked off afterwards.\n\n"
        "Better: find the cause first (the coordinator's log names it). Deployments: static members, or KIP-848. "
        "Pauses: a session timeout above the longest pause, and less garbage. Slow work: `max.poll.interval.ms` just "
        "above the longest honest work, fewer records in a poll, limits on calls to others. And make processing "
        "idempotent: some rebalances cannot be avoided, and none of them must bill an order twice."
    ),
)

_CHAPTER = Chapter(
    "05 rebalance",
    (will_it_rebalance, when_evicted, rolling_restart, smallest_change, no_members_fault, stable_no_more, ten_minutes),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
