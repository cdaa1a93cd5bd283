"""Resets of chapter 13: at which offset a group goes on."""

from __future__ import annotations

from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.values import Value
from kafkalearn.offsets.groups import Committed, Group, Member
from kafkalearn.operations.groups import PartitionLog, reset_offsets
from kafkalearn.topic_partition import TopicPartition

MINUTE_MS = 60_000
_START, _END, _COMMITTED = 100, 125, 120
_LOGS = {"orders": [PartitionLog(_END, _START, [(offset, offset * MINUTE_MS) for offset in range(_START, _END)])]}
_STOPPED = Group("shipping", offsets=(Committed("orders", 0, _COMMITTED),))
_RUNNING = Group(
    "shipping",
    state="Stable",
    members=(Member("shipping-1", "shipping", "/10.0.0.7", assigned=(TopicPartition("orders", 0),)),),
    offsets=_STOPPED.offsets,
)
_ASKED = {
    "to-offset 90": ("to-offset", 90),
    "shift-by 1000": ("shift-by", 1000),
    "by-duration PT10M": ("by-duration", "PT10M"),
    "to-datetime in 2100": ("to-datetime", "2100-01-01T00:00:00.000"),
}


def _resets() -> dict[str, object]:
    found: dict[str, object] = {}
    for name, (scenario, value) in _ASKED.items():
        reset = reset_offsets(_STOPPED, _LOGS, scenario, value, now_ms=_END * MINUTE_MS)
        found[name] = reset.offsets[0][1]
    found["done while a consumer runs"] = not reset_offsets(_RUNNING, _LOGS, "to-earliest").is_refused
    return found


where_it_goes_on = Exercise(
    name="where_it_goes_on",
    asks=(
        f"`orders-0` begins at offset {_START}, as retention has taken the rest, and ends at {_END}. A record comes "
        f"every minute: that of offset 100 has the time 01:40, that of 124 has 02:04, and now it is 02:05. `shipping` "
        f"has committed {_COMMITTED}, and its consumers are stopped. At which offset does it go on after each of these "
        "scenarios of `kafka-consumer-groups --reset-offsets --execute`? And is a reset done while one of its "
        "consumers runs?"
    ),
    start=(
        "answer = {\n" + "".join(f'    "{name}": ...,\n' for name in (*_ASKED, "done while a consumer runs")) + "}\n"
        "exercises.where_it_goes_on.check(answer)"
    ),
    judge=Value(_resets),
    solve=_resets,
    hints=(
        "The tool never commits an offset outside the log. What does it do with one, instead of failing?",
        "`by-duration` asks for the first record that is not older than so long ago.",
        "Which record has a time in 2100 or after it? The last answer is yes or no.",
    ),
    reasoning=(
        "90 lies before the log, 1,120 behind it: each is moved to the nearer end. Ten minutes before 02:05 is 01:55, "
        "the time of offset 115. No record has reached 2100, so the log's end is taken. And while a member is there "
        "the group is *Stable*, and the tool refuses: a commit from outside would be overwritten by the next one from "
        "inside.\n\n"
        "None of this fails. Of the two that were moved a warning stands on standard error: *New offset (1120) is "
        "higher than latest offset for topic partition orders-0. Value will be set to 125*; a script that keeps only "
        "what is printed never sees it. Of the time in 2100 the tool prints that the partition *is empty*, which it "
        "is not. So look at the dry run first, and keep what `--export` prints."
    ),
    misconceptions=(
        Misconception(
            {"shift-by 1000": 1120}, "The log does not reach that far, and the tool does not fail: it goes to the end."
        ),
        Misconception({"to-offset 90": 90}, "Retention has taken that record; the tool moves the offset into the log."),
        Misconception(
            {"by-duration PT10M": 110}, "The duration counts back from the clock, not from what was committed."
        ),
        Misconception(
            {"to-datetime in 2100": 120}, "A time that no record has reached does not leave the offset as it was."
        ),
        Misconception(
            {"done while a consumer runs": True},
            "Only a group without members is reset; with one the tool prints an error and changes nothing.",
        ),
    ),
    moral="Dry run, look, execute: a reset past an end goes to the end, and only standard error warns of it.",
)
