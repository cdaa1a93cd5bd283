"""The exercise of chapter 08 on retention: which segments go, by time and by size."""

from __future__ import annotations

from kafkalearn.exercises.chapter08.writes import DAY_MS
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.values import Value
from kafkalearn.log import Log, Retain, Settings, simulate
from kafkalearn.log.state import Batch, Segment

_MB = 1_000_000
_SEGMENTS = ((0, 100, 6), (100, 100, 2), (200, 100, 5), (300, 100, 1), (400, 50, 0))  # base, MB, youngest record's days
_SETTINGS = Settings("delete", retention_ms=4 * DAY_MS, retention_bytes=320 * _MB)
_NOW_MS = 10 * DAY_MS


def _which_go() -> frozenset[int]:
    segments = tuple(
        Segment(base, (Batch(base, base + 99, (), megabytes * _MB, _NOW_MS - days * DAY_MS),))
        for base, megabytes, days in _SEGMENTS
    )
    left = simulate(_SETTINGS, [Retain(_NOW_MS)], Log(segments, log_end_offset=500))[-1].state
    return frozenset(base for base, *_ in _SEGMENTS if base < left.segments[0].base_offset)


which_segments_go = Exercise(
    name="which_segments_go",
    asks=(
        "Predict. A topic with `cleanup.policy=delete`, `retention.ms` of 4 days and `retention.bytes` of 320 MB has "
        "these segments; the last one is active. The broker looks at them now.\n\n"
        "| segment | size | age of its youngest record |\n| --- | --- | --- |\n"
        + "\n".join(f"| {base} | {megabytes} MB | {days} days |" for base, megabytes, days in _SEGMENTS)
        + "\n\nGive the set of the segments that it deletes, by their numbers."
    ),
    start="deleted = ...  # a set of segments\nexercises.which_segments_go.check(deleted)",
    judge=Value(_which_go),
    solve=_which_go,
    hints=(
        "Begin at the old end, with the rule of size: how much may go, so that 320 MB are left?",
        "Then the rule of time, at the oldest segment that is left. What does the broker do when it may not go?",
    ),
    reasoning=(
        "The log has 450 MB, so 130 MB may go. Segment 0 takes 100 of them; segment 100 would leave less than 320 MB, "
        "so the rule of size stops. Then the rule of time looks at segment 100: its youngest record is 2 days old, so "
        "it stays, and all behind it stay with it. Segment 200 is 5 days old, and nobody looks at it."
    ),
    misconceptions=(
        Misconception({0, 200}, "The broker stops at the first segment that may not go; it does not look behind it."),
        Misconception({0, 100}, "By size only as much goes as leaves at least retention.bytes in the log."),
        Misconception({0, 100, 200}, "One young record keeps its segment, and all segments behind it."),
        Misconception(set(), "Segment 0 may go by size and by time."),
    ),
    moral="Whole segments, from the old end, up to the first one that must stay.",
)
