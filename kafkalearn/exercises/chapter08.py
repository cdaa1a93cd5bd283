"""The exercises of chapter 08: what does a tombstone do, and when does it go?"""

from __future__ import annotations

from functools import cache

from kafkalearn.exercises.kit.compare import Value, as_settings
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Having, Open, Property
from kafkalearn.exercises.kit.game import Game
from kafkalearn.log import (
    Append,
    Clean,
    CleanerRound,
    Log,
    NewBatch,
    Record,
    Retain,
    Roll,
    Settings,
    log_from_records,
    reader,
    simulate,
)
from kafkalearn.log.model import Batch, LogEvent, Segment
from kafkalearn.log.reader import Read, broken


def put(key: str, value: str | None, at_ms: int = 0) -> Append:
    """A record in a batch of its own; None is a tombstone.

    >>> put("anna", None).batches[0].records
    (('anna', None, 0),)
    """
    return Append((NewBatch(((key, value, at_ms),)),))


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
        '`null` is a tombstone, `""` an empty string.\n\n'
        "| offset | key | value |\n| --- | --- | --- |\n"
        + "\n".join(
            f"| {at} | {key} | {'null' if value is None else value or chr(34) * 2} |"
            for at, (key, value) in enumerate(_CLOSED + _ACTIVE)
        )
        + "\n\nThe cleaner comes. Give the set of all offsets that are in the log afterwards, in both segments."
    ),
    start="remaining = ...  # a set of offsets\nexercises.which_remain.check(remaining)",
    judge=Value(_which_remain),
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

HOUR_MS = 3_600_000

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

DAY_MS = 24 * HOUR_MS

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

_MESSAGES = 9_750_860
_BYTES_A_KEY = 24


@cache
def _small_map() -> dict[str, int]:
    slots = _MESSAGES  # at least; then up to where the load factor lets all of them in
    while int(slots * 0.9) < _MESSAGES:
        slots += max(1, (_MESSAGES - int(slots * 0.9)) // 2)
    while int((slots - 1) * 0.9) >= _MESSAGES:
        slots -= 1
    return {"one thread": slots * _BYTES_A_KEY, "two threads": 2 * slots * _BYTES_A_KEY}


small_map = Exercise(
    name="small_map",
    asks=(
        "**A real incident** (KAFKA-3894, 2016). Disks fill up, and nobody gets an error. The file `log-cleaner.log` "
        "has this line, only once and from some days ago:\n\n"
        "```\nERROR [kafka-log-cleaner-thread-0], Error due to\n"
        f"java.lang.IllegalArgumentException: requirement failed: {_MESSAGES} messages in segment "
        "MY_FAVORITE_TOPIC-2/00000000000047580165.log but offset map can fit only 5033164.\n```\n\n"
        "The map takes 24 bytes a key and may be 90 % full (`log.cleaner.io.buffer.load.factor`); the buffer is shared "
        "by the threads in equal parts. What is the least `log.cleaner.dedupe.buffer.size`, in bytes, with which that "
        "segment fits, with one cleaner thread, and with two? 100 bytes more or less do not matter."
    ),
    start='buffer_size = {"one thread": ..., "two threads": ...}\nexercises.small_map.check(buffer_size)',
    judge=Value(lambda: {name: float(count) for name, count in _small_map().items()}, within=100),
    solve=_small_map,
    hints=(
        "Try it on the number in the message first: 128 MiB is 134,217,728 bytes; how do you get 5,033,164 keys from "
        "it?",
        "Slots are bytes / 24, keys are 0.9 of the slots.",
        "Each of two threads gets half of the buffer.",
    ),
    reasoning=(
        "128 MiB / 24 are 5,592,405 slots, of which 90 % are 5,033,164 keys, as the message says. For 9,750,860 keys "
        "one needs 10,834,289 slots, 260,022,936 bytes; for two threads twice that.\n\n"
        "It counted messages, not keys: the old cleaner took no segment that *might* not fit. The fixed one stops "
        "where the map is full and goes on from there in the next pass; and since 2.1 (KIP-346) an exception costs one "
        "partition its cleaning, not all of them. The thread was gone until the broker was restarted, so the moral "
        "outlived the bug: watch `uncleanable-partitions-count`, `DeadThreadCount` and `max-dirty-percent`."
    ),
    misconceptions=(
        Misconception(
            {"one thread": float(_MESSAGES * _BYTES_A_KEY)}, "The map may not be filled to the brim: the load factor."
        ),
        Misconception(
            {"two threads": float(260_022_936)}, "The buffer is for all threads together: each gets its part of it."
        ),
    ),
    moral="A cleaner that stops makes no noise.",
)

_SLEEP_H, _LIMIT_D = 60, 7


def _settings(answer: dict[str, int]) -> Settings:
    return Settings(
        "compact",
        delete_retention_ms=answer["delete.retention.ms"],
        max_compaction_lag_ms=max(1, answer["max.compaction.lag.ms"]),
    )


def _quiet_days(settings: Settings, deleted_h: int) -> list[tuple[int, bool]]:
    """A quiet topic with ten customers: whether the deleted one's profile is on the disk, as time goes by."""
    events: list[LogEvent] = [put(f"user-{number}", "p" * 400, 0) for number in range(10)]
    events += [Roll(0), Clean(HOUR_MS, is_forced=True)]
    for hour in range(2, deleted_h + 24 * (_LIMIT_D + 2), 2):
        if hour == deleted_h:
            events.append(put("user-3", None, hour * HOUR_MS))
        if hour % 12 == 0 and hour > deleted_h:
            events.append(put("user-1", "q", hour * HOUR_MS))
        events.append(CleanerRound(hour * HOUR_MS))
    return [
        (frame.event.now_ms // HOUR_MS, any(each.key == "user-3" and each.value for each in frame.state.records))
        for frame in simulate(settings, events)
        if isinstance(frame.event, CleanerRound)
    ]


def _is_off_the_disk_in_time(answer: dict[str, int]) -> bool:
    deleted_h = 50
    days = _quiet_days(_settings(answer), deleted_h)
    return not any(is_there for hour, is_there in days if hour > deleted_h + 24 * _LIMIT_D)


def _keeps_no_ghost(answer: dict[str, int]) -> bool:
    """A reader that has just read the profile sleeps; meanwhile the cleaner comes as often as it can."""
    settings = Settings("compact", min_cleanable_dirty_ratio=0.0, delete_retention_ms=answer["delete.retention.ms"])
    events = [put("anna", "Lyon", 0), Read(1, now_ms=HOUR_MS), put("anna", None, HOUR_MS), Roll()]
    for hour in range(1, _SLEEP_H + 1):
        events += [Clean(hour * HOUR_MS), put("ben", str(hour), hour * HOUR_MS), Roll()]
    crossing = reader.simulate(settings, [*events, Clean(_SLEEP_H * HOUR_MS + 1), Read()])[-1].state
    return not reader.ghosts(crossing)


deleted_in_time = Exercise(
    name="deleted_in_time",
    asks=(
        "Two demands on the topic `customers`, which gets only a few records a day. **Operations:** a group may be "
        f"down for {_SLEEP_H} hours, in the middle of reading, and must not keep a deleted customer afterwards. **The "
        f"law:** {_LIMIT_D} days after a deletion the profile must be off the disk. All other settings have their "
        "defaults. Choose values in milliseconds for the two that decide; they are tried out on the simulator."
    ),
    start=(
        'topic = {"delete.retention.ms": ..., "max.compaction.lag.ms": ...}\nexercises.deleted_in_time.check(topic)'
    ),
    judge=Having(
        {},
        (
            Property(
                lambda answer: answer.keys() == {"delete.retention.ms", "max.compaction.lag.ms"},
                lambda answer: "Give exactly the two settings that are named in the cell.",
            ),
            Property(
                lambda answer: all(type(each) is int and each >= 0 for each in answer.values()),
                lambda answer: "Both are whole numbers of milliseconds, not below 0.",
            ),
            Property(
                _keeps_no_ghost,
                lambda answer: f"The reader that slept for {_SLEEP_H} hours still has a customer who was deleted.",
            ),
            Property(
                _is_off_the_disk_in_time,
                lambda answer: f"More than {_LIMIT_D} days after the deletion the profile is still on the disk.",
            ),
        ),
        form=as_settings,
    ),
    solve=lambda: {"delete.retention.ms": 3 * DAY_MS, "max.compaction.lag.ms": 5 * DAY_MS},
    hints=(
        "One of the two is about readers, the other about the disk.",
        "The value goes with the first pass that meets the tombstone. What keeps that pass away from a quiet topic?",
        "The segment must be closed first, and records arrive every 12 hours: leave some room.",
    ),
    reasoning=(
        "`delete.retention.ms` must exceed the longest time a reader may take from reading a value to reaching the "
        f"end: more than {_SLEEP_H} hours, say 3 days. It does not delay the *value*, which goes with the first "
        "pass.\n\nThat pass is the problem of a quiet topic: the active segment is open for `segment.ms`, 7 days, and "
        "few new bytes never make the log half dirty. `max.compaction.lag.ms` (2.3, KIP-354, made for this very law) "
        "closes the segment earlier and makes the cleaner come below the ratio. 5 days leave room for the next append, "
        "which is what closes the segment, and for the cleaner."
    ),
    misconceptions=(
        Misconception(
            {"delete.retention.ms": DAY_MS, "max.compaction.lag.ms": 5 * DAY_MS},
            "The default of one day is shorter than the maintenance.",
            recognises=lambda answer: as_settings(answer).get("delete.retention.ms") == DAY_MS,
        ),
        Misconception(
            {"delete.retention.ms": 3 * DAY_MS, "max.compaction.lag.ms": 2**63 - 1},
            "Without a limit on the lag nothing makes the cleaner come to a quiet topic.",
            recognises=lambda answer: as_settings(answer).get("max.compaction.lag.ms") == 2**63 - 1,
        ),
        Misconception(
            {"delete.retention.ms": 3 * DAY_MS, "max.compaction.lag.ms": _LIMIT_D * DAY_MS},
            "The lag is only when the segment may be closed: the next append and the cleaner take time as well.",
        ),
    ),
    moral="One setting is a promise to readers, the other to those who are deleted.",
)

_LOG = Settings("compact", min_cleanable_dirty_ratio=0.0)
_BEGUN = reader.simulate(_LOG, [put("anna", "Lyon"), Read(1)])[-1].state
_GAME = Game(
    reader.step,
    broken,
    _LOG,
    _BEGUN,
    "the reader has no ghost",
    {
        "anna is deleted": put("anna", None),
        "ben moves to Graz": put("ben", "Graz"),
        "the segment is closed": Roll(),
        "a pass at hour 30": Clean(30 * HOUR_MS),
        "a pass at hour 60": Clean(60 * HOUR_MS),
        "the reader reads on": Read(),
    },
    "anna is deleted > the segment is closed > ben moves to Graz > a pass at hour 30 > the segment is closed > "
    "a pass at hour 60",
)

make_a_ghost = Exercise(
    name="make_a_ghost",
    asks=(
        "A game with a compacted topic, `delete.retention.ms` 24 hours. A reader has read `anna`'s only record, and "
        "then stands still. Users hope that *the reader has no ghost*: whatever it keeps is in the topic, or it will "
        f"still read that it is gone. Break that promise; **par {_GAME.par}**. The moves: {_GAME.table()}. A pass "
        "cleans only closed segments, and only if they have something new. Give a line with `>` between the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.make_a_ghost.check(run)',
    judge=_GAME,
    hints=(
        "The reader learns of the deletion from the tombstone. So the tombstone must go before the reader reads on.",
        "The first pass that meets the tombstone starts its clock; the second one can take it away.",
        "The second pass needs a closed segment with something new in it: what can you write there, and when?",
    ),
    reasoning=(
        f"`{_GAME.best}`. The pass at hour 30 takes anna's value away and gives her tombstone a horizon 24 hours "
        "later; the pass at hour 60, which comes because of ben's record, takes the tombstone away. The reader will "
        "never learn that anna is gone: no record in the topic has her name any more."
    ),
    misconceptions=(
        Misconception(
            "anna is deleted > the segment is closed > a pass at hour 30 > a pass at hour 60",
            "The second pass does not come: nothing new is in a closed segment.",
        ),
        Misconception(
            "anna is deleted > the segment is closed > a pass at hour 60",
            "That pass is the first one that meets the tombstone: it starts its clock and keeps it.",
        ),
        Misconception(
            "anna is deleted > the reader reads on", "The tombstone is still there, so the reader learns of it."
        ),
    ),
    moral="A reader must come back before the tombstone goes.",
)

the_morning_after = Exercise(
    name="the_morning_after",
    asks=(
        "**Open question.** It is the morning after: `search` was down for two days, and some of its customers are "
        "ghosts. Nobody knows how many. What do you do today, so that no deleted customer gets mail? What do you "
        "change, so that it does not happen again? And which part of this would you *not* have to do if the table were "
        "rebuilt from the topic at each start?"
    ),
    start="answer = ...\nexercises.the_morning_after.check(answer)",
    judge=Open(),
    solve=lambda: "Drop the table and read the topic from its beginning.",
    hints=(
        "Which keys of the table does a reader know to be right once it has read the topic from its beginning?",
        "What does a reader know about itself that tells it was away for too long?",
    ),
    reasoning=(
        "**Today:** throw the table away and read the topic from offset 0: what is not in the log is not in the table. "
        "Reading on from the committed offset never helps, since nothing ahead speaks of the ghosts. To find them "
        "without a rebuild, read the topic into a second table and compare the keys.\n\n"
        "**From now on:** `delete.retention.ms` above the longest absence that is planned or feared; an alarm when a "
        "group has not committed for a part of that time; and a reader that notices itself: if its last commit is "
        "older than `delete.retention.ms`, it begins anew. Kafka tells it nothing: the gap in the offsets looks like "
        "any compaction.\n\n"
        "**If it rebuilds at each start,** an absence does no harm, only a slow *start* does: reading the whole topic "
        "must then take less than `delete.retention.ms`."
    ),
    moral="",
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
__all__ = _CHAPTER.public_names()
