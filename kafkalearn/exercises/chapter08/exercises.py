"""The exercises of chapter 08: what does a tombstone do, and when does it go?"""

from __future__ import annotations

from kafkalearn.exercises.chapter08.games import make_a_ghost
from kafkalearn.exercises.chapter08.incidents import deleted_in_time, small_map, the_morning_after
from kafkalearn.exercises.chapter08.segments import which_segments_go
from kafkalearn.exercises.chapter08.writes import HOUR_MS, put
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.values import Value
from kafkalearn.log import (
    Clean,
    Record,
    Roll,
    Settings,
    log_from_records,
    simulate,
)

_CLOSED = (("anna", "Lyon"), ("ben", "Graz"), ("anna", "Oslo"), ("cleo", "Porto"), ("ben", None), ("anna", ""))
_ACTIVE = (("cleo", "Turku"),)


def _which_remain() -> frozenset[int]:
    events = [put(*each, at_ms) for at_ms, each in enumerate(_CLOSED)]
    events += [Roll(), *(put(*each, 100) for each in _ACTIVE), Clean(1000)]
    return frozenset(record.offset for record in simulate(Settings("compact"), events)[-1].state.records)


which_remain = Exercise(
    name="which_remain",
    asks=(
        "Predict. A closed segment holds offsets 0 to 5, the active segment offset 6; nothing was ever cleaned. "
        '`null` is a tombstone, `""` a text of no characters.\n\n'
        "| offset | key | value |\n| --- | --- | --- |\n"
        + "\n".join(
            f"| {at} | {key} | {'null' if value is None else value or chr(34) * 2} |"
            for at, (key, value) in enumerate(_CLOSED + _ACTIVE)
        )
        + "\n\nThe cleaner comes. Give the set of all offsets that are in the log afterwards, in both segments."
    ),
    start="remaining = ...  # a set of offsets\nexercises.which_remain.check(remaining)",
    judge=Value(_which_remain),
    solve=_which_remain,
    hints=(
        "Go through the keys one by one: which is the last record of each that the cleaner may look at?",
        "The cleaner never reads the active segment: not to clean it, and not to learn of newer records either.",
        "What does the first pass that meets a tombstone do with it?",
    ),
    reasoning=(
        "`anna`: 0 and 2 are overtaken by 5; an empty text is a value like any other. `ben`: 1 is overtaken by the "
        "tombstone 4, and 4 stays, for this pass only starts its clock. `cleo`: 3 stays, for offset 6 lies in the "
        "active segment and overtakes nothing. And 6 itself was not looked at. So 3, 4, 5 and 6 remain."
    ),
    misconceptions=(
        Misconception({3, 5, 6}, "A tombstone does not go with the values it deletes: the first pass keeps it."),
        Misconception({4, 5, 6}, "What lies in the active segment overtakes nothing: the cleaner has not read it."),
        Misconception({3, 4, 6}, "Only null is a tombstone; an empty text is a value."),
        Misconception({3, 4, 5}, "The active segment is not cleaned, so what is in it is still there."),
    ),
    moral="The last of each key, tombstones too, and nothing of the active segment counts.",
)

_PASSES_H = (24, 48, 80, 90, 103, 105, 130)


def _two_phases() -> dict[str, int]:
    """When the value and the tombstone go, in hours, from a run with something new before each pass."""
    settings = Settings("compact", min_cleanable_dirty_ratio=0.0)
    events = [put("anna", "Lyon", 0), Roll(), Clean(12 * HOUR_MS), put("anna", None, 20 * HOUR_MS)]
    for hour in _PASSES_H:
        rolls = [Roll()] if hour > 72 else []
        events += [put("other", str(hour), hour * HOUR_MS), *rolls, Clean(hour * HOUR_MS)]
    gone: dict[str, int] = {}
    for frame in simulate(settings, events):
        left = {"value" if each.value else "tombstone" for each in frame.state.records if each.key == "anna"}
        if isinstance(frame.event, Clean) and frame.event.now_ms > 12 * HOUR_MS:
            gone |= dict.fromkeys({"value", "tombstone"} - left - gone.keys(), frame.event.now_ms // HOUR_MS)
    return {"value": gone["value"], "tombstone": gone["tombstone"]}


two_phases = Exercise(
    name="two_phases",
    asks=(
        "Predict. `delete.retention.ms` is 24 hours. The value of `anna` has been in a clean segment for long. At hour "
        "20 her tombstone is written into the active segment, which is closed at **hour 72**. Other keys are written "
        "all the time, so that the cleaner comes at hours "
        + ", ".join(map(str, _PASSES_H))
        + ". At which of these hours does her *value* leave the disk, and at which the *tombstone*?"
    ),
    start='hours = {"value": ..., "tombstone": ...}\nexercises.two_phases.check(hours)',
    judge=Value(_two_phases),
    solve=_two_phases,
    hints=(
        "Which is the first pass that reads the tombstone?",
        "That pass starts the tombstone's clock; from there on 24 hours have to go by.",
        "Nothing wakes the cleaner at the horizon: which pass is the first behind it?",
    ),
    reasoning=(
        "Until hour 72 the tombstone is in the active segment, so the passes at 24 and 48 know nothing of it. The pass "
        "at hour 80 meets it: the value goes, the tombstone gets the horizon 80 + 24 = 104. At 90 and 103 the horizon "
        "is not reached, at 105 it has passed: the tombstone goes. Written at hour 20 with a retention of one day, it "
        "was there for 85 hours."
    ),
    misconceptions=(
        Misconception({"tombstone": 48}, "The clock does not start when the tombstone is written."),
        Misconception({"tombstone": 80}, "The pass that meets a tombstone first only starts its clock."),
        Misconception({"tombstone": 103}, "The clock starts with the pass, not when the segment is closed."),
        Misconception({"value": 24}, "While its tombstone is in the active segment the cleaner knows nothing of it."),
        Misconception({"value": 105}, "The older values need not wait for the tombstone's horizon."),
    ),
    moral="The clock of a tombstone starts with the first pass, and only a later pass ends it.",
)


def _survivors(records: tuple[tuple[int, str | None, str | None], ...]) -> frozenset[int]:
    log = log_from_records(Record(offset, key, value, 0) for offset, key, value in records)
    cleaned = simulate(Settings("compact"), [Clean(1000, is_forced=True)], log)[-1].state
    return frozenset(record.offset for record in cleaned.records)


_CASES = (
    ((),),
    (((0, "a", "1"),),),
    (((0, "a", "1"), (1, "a", "2")),),
    (((0, "a", "1"), (1, "a", None)),),
    (((0, "a", None), (1, "a", "1")),),
    (((0, "a", "1"), (1, "a", "")),),
    (((0, "a", "1"), (1, None, "x"), (2, "b", "1")),),
    (((3, "b", "1"), (7, "a", "1"), (8, "b", "2"), (12, "", "1"), (13, "a", None), (20, "", "2")),),
)


def _last_values(records) -> frozenset[int]:
    last = {key: (offset, value) for offset, key, value in records if key is not None}
    return frozenset(offset for offset, value in last.values() if value is not None)


def _first_of_key(records) -> frozenset[int]:
    return frozenset({key: offset for offset, key, _ in reversed(records) if key is not None}.values())


def _with_null_key(records) -> frozenset[int]:
    return frozenset({key: offset for offset, key, _ in records}.values())


def _empty_is_none(records) -> frozenset[int]:
    return frozenset({key: offset for offset, key, _ in records if key}.values())


def _by_position(records) -> frozenset[int]:
    return frozenset({key: at for at, (_, key, _) in enumerate(records) if key is not None}.values())


my_survivors = Exercise(
    name="my_survivors",
    asks=(
        "Write `my_survivors(records)`: which offsets stay in a closed segment after the first pass that meets it? "
        "`records` is a tuple of `(offset, key, value)` in the order of offsets; key and value are text or None. "
        "Return a set of offsets. Think of tombstones, of records without key, and of gaps in the offsets."
    ),
    start="def my_survivors(records):\n    return ...\n\n\nexercises.my_survivors.check(my_survivors)",
    judge=Function(_survivors, ("records",), _CASES),
    solve=lambda: lambda records: set({key: offset for offset, key, _ in records if key is not None}.values()),
    hints=(
        "A dict from key to offset, filled in the order of the log, knows the last one of each.",
        "A tombstone is a record like any other in this pass. A record without key is none that can stay.",
        "An empty key is a key, an empty value is a value: compare with None.",
    ),
    reasoning=(
        "`{key: offset for offset, key, _ in records if key is not None}`, and of that the set of values: later "
        "offsets overwrite earlier ones, as in the cleaner's offset map. The value is not even looked at: whether it "
        "is null matters only when a tombstone has a horizon from an earlier pass."
    ),
    misconceptions=(
        Misconception(_last_values, "The first pass keeps the tombstone: readers still have to learn of the deletion."),
        Misconception(_first_of_key, "The last record of a key stays, not the first."),
        Misconception(_with_null_key, "A record without key cannot be the last of a key: the cleaner drops it."),
        Misconception(_empty_is_none, "A key of no characters is a key; compare with None."),
        Misconception(_by_position, "Offsets have gaps: an offset is not the place in the list."),
    ),
    moral="The offset map is a dict that is filled in the order of the log.",
)

_CHAPTER = Chapter(
    "08 compaction",
    (
        *(which_remain, two_phases, my_survivors, which_segments_go),
        *(small_map, deleted_in_time, make_a_ghost, the_morning_after),
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
