"""Rebalances that no member caused: after how long they come. An exercise of chapter 05."""

from __future__ import annotations

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.values import Value
from kafkalearn.group import simulate

START = (
    "topic orders has 6 partitions\ntopic refunds has 2 partitions\nat 0 s: c1, c2 and c3 join\nthe end is at 15 min\n"
)
PATTERN = "c1 to c3 subscribe to the pattern orders.*\n"
HAPPENS_S = 60


def _after_s(line: str, **settings: object) -> int:
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
    solve=_no_members_fault,
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
