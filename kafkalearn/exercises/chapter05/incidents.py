"""Incidents with groups that really happened, and a proposal to be judged: exercises of chapter 05."""

from __future__ import annotations

from functools import cache

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.forms import as_settings
from kafkalearn.exercises.kit.properties import Having, Open, Property
from kafkalearn.exercises.kit.sentences import as_words, say
from kafkalearn.group import simulate
from kafkalearn.group.scenario.parse import scenario
from kafkalearn.group.scenario.probes import probe
from kafkalearn.group.scenario.simulator import settings_of
from kafkalearn.group.world.outcome import Outcome

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

ten_minutes = Exercise(
    name="ten_minutes",
    asks=(
        "Open. After the night of the incident somebody proposes for `billing`: *session.timeout.ms = 10 minutes, "
        "max.poll.interval.ms = 1 hour; then nothing ever rebalances.* Is the proposal allowed by the broker? What "
        "does it cost, and when? What would you do instead? `find_change` and "
        "`kafkalearn.group.scenario.experiments` have numbers."
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
