"""The incidents of chapter 08: a cleaner that stopped, a deletion with a deadline, and the morning after."""

from __future__ import annotations

from functools import cache

from kafkalearn.exercises.chapter08.writes import DAY_MS, HOUR_MS, put
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.forms import as_settings
from kafkalearn.exercises.kit.properties import Having, Open, Property
from kafkalearn.exercises.kit.values import Value
from kafkalearn.log import Clean, CleanerRound, Roll, Settings, reader, simulate
from kafkalearn.log.reader import Read

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
    events = [put(f"user-{number}", "p" * 400, 0) for number in range(10)]
    events += [Roll(0), Clean(HOUR_MS, is_forced=True)]
    for hour in range(2, deleted_h + 24 * (_LIMIT_D + 2), 2):
        if hour == deleted_h:
            events.append(put("user-3", None, hour * HOUR_MS))
        if hour % 12 == 0 and hour > deleted_h:
            events.append(put("user-1", "q", hour * HOUR_MS))
        events.append(CleanerRound(hour * HOUR_MS))
    passes = [frame for frame in simulate(settings, events) if isinstance(frame.event, CleanerRound)]
    return [
        (frame.event.now_ms // HOUR_MS, any(each.key == "user-3" and each.value for each in frame.state.records))
        for frame in passes
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
