"""The exercises of chapter 07: what is inside __consumer_offsets?"""

from __future__ import annotations

from kafkalearn.datafiles import data_directory
from kafkalearn.exercises.chapter07 import keys
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.properties import Open
from kafkalearn.exercises.kit.values import Value
from kafkalearn.offsets import decode, decode_key, encode_key, replay
from kafkalearn.offsets.store import Settings
from kafkalearn.segments import committed_records, read_disk

_HEX = encode_key(1, {"group": "billing", "topic": "orders", "partition": 3}).hex()
_HOUR_MS = 3_600_000


def _read_key() -> dict[str, object]:
    kind, fields = decode_key(bytes.fromhex(_HEX))
    return {"record type": kind.number, **fields}


read_key = Exercise(
    name="read_key",
    asks=(
        "With pen and paper. This is a key from `__consumer_offsets`; letters are ASCII, `61` is a, `7a` is z. What "
        f"does it say?\n\n`{' '.join(_HEX[at : at + 2] for at in range(0, len(_HEX), 2))}`"
    ),
    start=('said = {"record type": ..., "group": ..., "topic": ..., "partition": ...}\nexercises.read_key.check(said)'),
    judge=Value(_read_key),
    solve=_read_key,
    hints=(
        "Two bytes for the record type, then two for the length of the group id.",
        "After the group id come two bytes of length and the topic; the last four bytes are the partition.",
    ),
    reasoning=(
        "`00 01`: record type 1, a committed offset. `00 07`: seven bytes of group id follow, `62 69 6c 6c 69 6e 67`, "
        "`billing`. `00 06`: six bytes, `orders`. The last four bytes, `00 00 00 03`, are partition 3."
    ),
    misconceptions=(
        Misconception(
            {"record type": 7}, "The length of the group id comes second: the record type is in front of it."
        ),
        Misconception({"partition": 3 << 24}, "The first byte of a number is its highest: Kafka writes big-endian."),
        Misconception({"group": "orders"}, "The group id comes before the topic."),
    ),
)


def _when_gone() -> dict[str, int]:
    commit_h, empty_h = 9, 2 * 24 + 18
    hours = {release: Settings(release).retention_ms // _HOUR_MS for release in ("1.1", "2.0", "4.3")}
    return {"1.1": commit_h + hours["1.1"], "2.0": commit_h + hours["2.0"], "4.3": empty_h + hours["4.3"]}


when_gone = Exercise(
    name="when_gone",
    asks=(
        "A prediction. `billing`, a classic group, commits for partition 3 on Wednesday at 09:00, and never again: "
        "nothing is written there. Its consumers run until Friday 18:00, then the group is Empty. No retention is "
        "configured. How many hours after Wednesday 00:00 has the offset of partition 3 expired, on brokers of these "
        "releases?"
    ),
    start='hours = {"1.1": ..., "2.0": ..., "4.3": ...}\nexercises.when_gone.check(hours)',
    judge=Value(_when_gone),
    solve=_when_gone,
    hints=(
        "Two things changed: the default retention (2.0), and from when it counts (2.1).",
        "Up to 2.0 the clock starts with the commit; since 2.1 a classic group's starts when it has become Empty.",
    ),
    reasoning=(
        "1.1: one day after the commit, Thursday 09:00, hour 33, while the group is consuming. 2.0: seven days "
        "after the commit, hour 9 + 168 = 177. 4.3: seven days after the group became Empty, hour 66 + 168 = 234. "
        "(A group of the new protocol, KIP-848, or a standalone consumer would lose it at hour 177 on 4.3 too: theirs "
        "count from the commit, and nobody subscribes any more.)\n\n"
        "The old rule was reported again and again, first as KAFKA-3806 and KAFKA-4682; KIP-186 and KIP-211 are the "
        "answer."
    ),
    misconceptions=(
        Misconception(
            {"4.3": 177},
            "That is right for a KIP-848 group and for a standalone consumer. Since 2.1 a classic group's clock starts "
            "when it becomes Empty, for all its offsets.",
        ),
        Misconception({"1.1": 90}, "Up to 2.0 the sweep did not look at the group, only at the time of the commit."),
        Misconception({"2.0": 33}, "One day was the default up to 1.1 only (KIP-186)."),
        Misconception({"2.0": 234}, "The longer default came one release before the new rule (KIP-211)."),
    ),
    moral="An upgrade changes when offsets expire, twice.",
)

my_key = Exercise(
    name="my_key",
    asks=(
        "Write `my_key(raw)`, without the library: from the bytes of a key of record type 0, 1 or 2 to a tuple: record "
        "type and group id, and for committed offsets (0 and 1) topic and partition as well."
    ),
    start="def my_key(raw):\n    return ...\n\n\nexercises.my_key.check(my_key)",
    judge=Function(keys.right, ("raw",), keys.CASES),
    solve=lambda: keys.right,
    hints=(
        '`int.from_bytes(raw[:2], "big")` is the record type.',
        "Keep a position: read two bytes of length, then so many bytes, then go on from there.",
        "A length counts bytes, so cut first and decode as UTF-8 then.",
    ),
    reasoning=(
        '```python\ndef my_key(raw):\n    kind, size = struct.unpack_from(">hh", raw)\n    end = 4 + size\n'
        '    group = raw[4:end].decode("utf-8")\n    if kind == 2:\n        return kind, group\n'
        '    (size,) = struct.unpack_from(">h", raw, end)\n    topic = raw[end + 2 : end + 2 + size].decode("utf-8")\n'
        '    (partition,) = struct.unpack_from(">i", raw, end + 2 + size)\n'
        "    return kind, group, topic, partition\n```"
    ),
    misconceptions=(
        Misconception(keys.in_latin_1, "A text is UTF-8: a letter outside ASCII takes more than one byte."),
        Misconception(keys.length_in_characters, "Lengths count bytes, not characters."),
        Misconception(keys.little_endian, "The highest byte comes first."),
        Misconception(keys.with_partition_always, "A group's own key ends with the group id."),
    ),
)


def _who_died() -> set[str]:
    """Groups of the recorded disk of which nothing but tombstones is left."""
    records = [
        (each.key, each.value) for each in committed_records(read_disk(data_directory("offsets-topic") / "disk"))
    ]
    living = {group.group_id for group in replay(records).groups}
    return {decode(key, value).group for key, value in records} - living


def _with_a_tombstone() -> set[str]:
    segments = read_disk(data_directory("offsets-topic") / "disk")
    return {decode(each.key, None).group for each in committed_records(segments) if each.value is None}


who_died = Exercise(
    name="who_died",
    asks=(
        "The disk of the dead broker, `segments` of section 3: which groups were there once, and of which is nothing "
        "left but tombstones? Give the set of their ids."
    ),
    start="dead = ...\nexercises.who_died.check(dead)",
    judge=Value(_who_died),
    solve=_who_died,
    hints=(
        "`replay` gives the groups that live; every record's key names a group.",
        "`decode(record.key, record.value).group` for each of `committed_records(segments)`, less the living.",
    ),
    reasoning=(
        "`{decode(r.key, r.value).group for r in committed_records(segments)}` less "
        "`{group.group_id for group in replay(...).groups}`. A tombstone alone says little: groups that live have "
        "some, for offsets that were deleted, or from the time when they spoke another protocol."
    ),
    misconceptions=(
        Misconception(
            _with_a_tombstone(), "A tombstone ends one key, not the group: some of these have newer records."
        ),
    ),
)


long_weekend = Exercise(
    name="long_weekend",
    asks=(
        "**Incident.** On a 4.3 cluster somebody carried `offsets.retention.minutes=1440` over from an old "
        "`server.properties`. `billing`, a classic group, is stopped on Friday at 18:00 and started on Monday at "
        "08:00, and begins from the start of its topics. What is the smallest number of minutes that would have kept "
        "its offsets until exactly then?"
    ),
    start="minutes = ...\nexercises.long_weekend.check(minutes)",
    judge=Value(lambda: 62 * 60 + 1),
    solve=lambda: 62 * 60 + 1,
    hints=(
        "How long was the group Empty?",
        "Since 2.1 an offset has expired when *now - base >= retention*: what if they are equal?",
    ),
    reasoning=(
        "From Friday 18:00 to Monday 08:00 are 62 hours, 3720 minutes. With 3720 the condition is just met, and a "
        "sweep at 08:00 takes the offsets; one minute more keeps them. Nobody should cut it so fine: the default "
        "is a week."
    ),
    misconceptions=(
        Misconception(3720, "That is how long it stood still; at equality the offset has expired already."),
        Misconception(10080, "The default would have done, but it is not the smallest."),
    ),
)

a_year_of_retention = Exercise(
    name="a_year_of_retention",
    asks=(
        "**Open question.** After the incident somebody proposes `offsets.retention.minutes=525600`, a year. What does "
        "it cost, what does it not protect against, and what would you do instead or as well?"
    ),
    start="answer = ...\nexercises.a_year_of_retention.check(answer)",
    judge=Open(),
    solve=lambda: "A month at most, an alert on Empty groups, and a decision about auto.offset.reset for each group.",
    hints=(
        "Where do the offsets of groups live that will never come back, and who reads them at every failover?",
        "What remains of an offset if the records it points at were deleted meanwhile?",
    ),
    reasoning=(
        "*Cost:* every console consumer and every renamed group stays for a year, in the coordinator's memory and "
        "in the log that it reads when it takes over: slower failover.\n\n*No protection:* if the topic keeps its "
        "records for seven days, an offset of last month points at nothing, and `auto.offset.reset` decides all "
        "the same; nor against a deleted topic or group.\n\n*Instead:* at least as long as the longest planned "
        "stop; an alert when a group that should run is Empty; `auto.offset.reset=none` where starting anywhere is "
        "worse than not starting."
    ),
)

_CHAPTER = Chapter("07 offsets topic", (read_key, when_gone, my_key, who_died, long_weekend, a_year_of_retention))
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
