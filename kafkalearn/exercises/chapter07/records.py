"""Exercises with the records of __consumer_offsets: a key by hand and by code, a dead disk, the group's own."""

from __future__ import annotations

from kafkalearn.datafiles import data_directory
from kafkalearn.exercises.chapter07 import keys
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.values import Value
from kafkalearn.group import classic
from kafkalearn.group.classic.effects import GroupWritten
from kafkalearn.offsets import decode, decode_key, encode_key, replay
from kafkalearn.segments import committed_records, read_disk

_KEY = {"group": "search", "topic": "returns", "partition": 300}  # other bytes than the text steps through
_HEX = encode_key(1, _KEY).hex()


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
        "`00 01`: record type 1, a committed offset. `00 06`: six bytes of group id follow, `73 65 61 72 63 68`, "
        "`search`. `00 07`: seven bytes, `returns`. The last four bytes, `00 00 01 2c`, are partition 1 x 256 + 44 = "
        "300."
    ),
    misconceptions=(
        Misconception(
            {"record type": 6}, "The length of the group id comes second: the record type is in front of it."
        ),
        Misconception(
            {"partition": int.from_bytes(bytes.fromhex(_HEX)[-4:], "little")},
            "The first byte of a number is its highest: Kafka writes big-endian.",
        ),
        Misconception({"partition": 44}, "All four bytes are the number; the one before the last is not 0."),
        Misconception({"partition": 1 + 44}, "A byte is worth 256 times the one after it; do not add them up."),
        Misconception({"group": "returns"}, "The group id comes before the topic."),
    ),
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
        "The disk of the dead broker, `segments` of section 4: which groups were there once, and have nothing left but "
        "tombstones? Give the set of their ids."
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


_GROUP_LIFE = (
    classic.JoinGroup("c1", version=3),
    classic.JoinGroup("c2", version=3),
    classic.TimePassed(6000),
    classic.SyncGroup("c1", "c1-1", 1, (("c1-1", "orders-0"), ("c2-2", "orders-1"))),
    classic.SyncGroup("c2", "c2-2", 1),
    classic.LeaveGroup("c2", "c2-2"),
    classic.JoinGroup("c1", "c1-1", version=3),
    classic.SyncGroup("c1", "c1-1", 2, (("c1-1", "orders-0, orders-1"),)),
    classic.LeaveGroup("c1", "c1-1"),
)


def _group_records() -> dict[str, int]:
    return {"3.9": _records_written("3.9"), "4.3": _records_written("4.3"), "4.3, assign": 0}


def _records_written(release: str) -> int:
    run = classic.simulate(classic.Settings(release), _GROUP_LIFE)
    return sum(isinstance(each, GroupWritten) for moment in run for each in moment.state.effects)


group_records = Exercise(
    name="group_records",
    asks=(
        "A prediction. Two consumers join a new classic group within a second; they work, and each commits a hundred "
        "times. One leaves; the other goes on, commits a hundred times more, and leaves too. How many records of the "
        "**group** (record type 2) does the coordinator write, on 3.9 and on 4.3? And on 4.3 if one consumer with "
        "`assign` does all the work and all the commits?"
    ),
    start='records = {"3.9": ..., "4.3": ..., "4.3, assign": ...}\nexercises.group_records.check(records)',
    judge=Value(_group_records),
    solve=_group_records,
    hints=(
        "A record is written when a rebalance ends. How many rebalances end here?",
        "When the last member leaves, no rebalance ends, but the group becomes Empty, and that is written, too.",
        "The coordinator of 4.0 and later writes a new group down at its first JoinGroup as well, still empty.",
    ),
    reasoning=(
        "3.9: one at the end of the first rebalance, with two members; one when the second ends, with one member; one "
        "when the group is Empty: 3. The commits write records of their own (type 1) and none of the group. 4.3: one "
        "more at the start, so 4. With `assign`: 0, nobody joins, so there is no member to write down; the group id "
        "is known by its offsets alone."
    ),
    misconceptions=(
        Misconception(
            {"3.9": 2}, "Two rebalances end; but what is written when the last member leaves and the group is Empty?"
        ),
        Misconception({"4.3": 3}, "As on 3.9; but the newer coordinator also writes a group down when it is created."),
        Misconception(
            {"4.3, assign": 1},
            "With `assign` nobody joins: there is no rebalance that ends, and no group to write down.",
        ),
        Misconception(
            {"3.9": 303},
            "A commit writes a record of type 1, an offset; it does not write the group.",
            recognises=lambda count: (
                isinstance(count, dict) and any(isinstance(each, int) and each >= 100 for each in count.values())
            ),
        ),
    ),
)
