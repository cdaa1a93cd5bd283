"""The exercises of chapter 07: what is inside __consumer_offsets?"""

from __future__ import annotations

from typing import Literal

from kafkalearn.base.files import data_directory
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Open
from kafkalearn.exercises.kit.game import Game
from kafkalearn.formats.disk import committed_records, read_disk
from kafkalearn.groups import classic
from kafkalearn.groups.classic.model import GroupWritten
from kafkalearn.offsets import Member, decode, decode_key, replay
from kafkalearn.offsets.records import encode_key
from kafkalearn.offsets.replay import CLASSIC, CONSUMER
from kafkalearn.offsets.store import Commit, DeleteOffset, Settings, StoreGroup, Sweep, start, step
from kafkalearn.offsets.store.simulator import OFFSET_KEPT, broken

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
    judge=Value(lambda: {"3.9": _records_written("3.9"), "4.3": _records_written("4.3"), "4.3, assign": 0}),
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

_HOUR_MS = 3_600_000

_COMMIT_H, _STOP_H = 9, 9 * 24 + 18
_ASKED = {
    "1.1": ("1.1", CLASSIC),
    "2.0": ("2.0", CLASSIC),
    "4.3": ("4.3", CLASSIC),
    "4.3, KIP-848": ("4.3", CONSUMER),
    "4.3, assign": ("4.3", None),
}


def _hour_of_expiry(release: str, kind: str | None) -> int:
    """The hour after which a sweep takes the offset; without a kind, of a consumer in no group."""
    member_id, generation = ("", -1) if kind is None else ("billing-1", 1)
    commit = Commit("billing", "orders", 3, 7, _COMMIT_H * _HOUR_MS, member_id=member_id, generation=generation)
    events: list[Commit | StoreGroup] = [commit]
    if kind is not None:
        member = Member("billing-1", subscribed=("orders",))
        joined = StoreGroup("billing", 1, 0, (member,), kind=kind)
        events = [joined, *events, StoreGroup("billing", 2, _STOP_H * _HOUR_MS, kind=kind)]
    store, settings = start(Settings(release)), Settings(release)
    hour = 0
    while True:
        while events and events[0].now_ms <= hour * _HOUR_MS:
            store = step(settings, store, events.pop(0))
        store = step(settings, store, Sweep(hour * _HOUR_MS + 1))
        if hour >= _COMMIT_H and not any(group.offsets for group in store.groups):
            return hour
        hour += 1


when_gone = Exercise(
    name="when_gone",
    asks=(
        "A prediction. `billing` commits by hand, and partition 3 of `orders` is quiet: one offset is committed for it "
        "on Wednesday at 09:00, and never again. The consumers run and poll until Friday of the next week, 18:00, "
        "hour 234 after Wednesday 00:00; then they stop. No retention is configured, and sweeps come every few "
        "minutes. After how many hours has the offset expired: of `billing`, a classic group, on brokers of 1.1, 2.0 "
        "and 4.3; and on 4.3 if `billing` is a KIP-848 group (`group.protocol=consumer`), or a single consumer that "
        "uses `assign`?"
    ),
    start=(
        'hours = {"1.1": ..., "2.0": ..., "4.3": ..., "4.3, KIP-848": ..., "4.3, assign": ...}\n'
        "exercises.when_gone.check(hours)"
    ),
    judge=Value(lambda: {name: _hour_of_expiry(*asked) for name, asked in _ASKED.items()}),
    hints=(
        "Three things count: the default retention (another one since 2.0), from when it runs, and since 2.1 who "
        "subscribes.",
        "Up to 2.0 the clock starts with the commit, whoever is there. Since 2.1 nothing expires while a member "
        "subscribes to the topic; then a classic group's clock starts when it has become Empty, a KIP-848 group's has "
        "run since the commit.",
        "A consumer that uses `assign` is no member of a group and subscribes to nothing.",
    ),
    reasoning=(
        "1.1: one day after the commit, Thursday 09:00, hour 33, while the group is consuming. 2.0: seven days after "
        "the commit, hour 9 + 168 = 177. 4.3, classic: seven days after the group became Empty, hour 234 + 168 = 402. "
        "4.3, KIP-848: as long as a member subscribes, the offset stays; but its clock has run since the commit, and "
        "the seven days are over since hour 177. So it goes with the first sweep after the last member has left, hour "
        "234. 4.3, `assign`: hour 177, though the consumer polls all the time. (With auto commit there would be a "
        "commit every five seconds, and each starts the clock again.)\n\n"
        "The old rule was reported again and again, first as KAFKA-3806 and KAFKA-4682; KIP-186 and KIP-211 are the "
        "answer. That a KIP-848 group counts otherwise than a classic one is in `offsetExpirationCondition` of "
        "`ConsumerGroup` and `ClassicGroup`."
    ),
    misconceptions=(
        Misconception(
            {"4.3": 177},
            "Since 2.1 nothing expires while a member subscribes to the topic, and a classic group's clock starts when "
            "it becomes Empty, for all its offsets.",
        ),
        Misconception(
            {"4.3, KIP-848": 402},
            "From when it became Empty: that is the classic group's clock. A KIP-848 group's runs since the commit.",
        ),
        Misconception(
            {"4.3, KIP-848": 177}, "A member still subscribes to the topic then; until it leaves, the offset stays."
        ),
        Misconception(
            {"4.3, assign": 234}, "A consumer that uses `assign` is no member: nobody knows that it is there or gone."
        ),
        Misconception({"4.3, assign": 402}, "Without members a group has no moment at which it becomes Empty."),
        Misconception({"1.1": 24}, "The day begins with the commit, not at midnight."),
        Misconception({"2.0": 168}, "The seven days begin with the commit, not at midnight."),
        Misconception(
            {"4.3": 234}, "That is when the group becomes Empty; the retention of a classic group begins then."
        ),
        Misconception({"1.1": 258}, "Up to 2.0 the sweep did not look at the group, only at the time of the commit."),
        Misconception({"2.0": 33}, "One day was the default up to 1.1 only (KIP-186)."),
        Misconception({"2.0": 402}, "The longer default came one release before the new rule (KIP-211)."),
    ),
    moral="An upgrade changes when offsets expire, twice; so does another group protocol.",
)


# Ways to read a key: the right one, and those that go wrong in a known way.
_GROUPS = ("g", "billing", "位移组", "grüße-東京", "search-" + "x" * 300)
CASES = tuple(
    (encode_key(number, {"group": group} | ({} if number == 2 else {"topic": topic, "partition": partition})),)
    for group in _GROUPS
    for number, topic, partition in ((2, "", 0), (1, "orders", 3), (0, "t", 70_000), (1, "位", 1))
)
"""Keys of record types 0 to 2, shortest group ids first."""


def _read(
    raw: bytes, order: Literal["big", "little"] = "big", encoding: str = "utf-8", units: int = 1
) -> tuple[object, ...]:
    def text(at: int) -> tuple[str, int]:
        size = int.from_bytes(raw[at : at + 2], order)
        if units:
            return raw[at + 2 : at + 2 + size].decode(encoding, "replace"), at + 2 + size
        rest = raw[at + 2 :].decode(encoding, "replace")[:size]  # as many characters
        return rest, at + 2 + size

    number = int.from_bytes(raw[:2], order)
    group, end = text(2)
    if number == 2:
        return number, group
    topic, end = text(end)
    return number, group, topic, int.from_bytes(raw[end : end + 4], order)


def right(raw: bytes) -> tuple[object, ...]:
    """Record type and group id; topic and partition of a committed offset."""
    return _read(raw)


def in_latin_1(raw: bytes) -> tuple[object, ...]:
    """Every byte as a letter."""
    return _read(raw, encoding="latin-1")


def length_in_characters(raw: bytes) -> tuple[object, ...]:
    """As many characters as the length says."""
    return _read(raw, units=0)


def little_endian(raw: bytes) -> tuple[object, ...]:
    """The lowest byte first."""
    return _read(raw, order="little")


def with_partition_always(raw: bytes) -> tuple[object, ...]:
    """A topic and a partition in every key."""
    said = _read(raw)
    return said if len(said) == 4 else (*said, "", 0)


my_key = Exercise(
    name="my_key",
    asks=(
        "Write `my_key(raw)`, without the library: from the bytes of a key of record type 0, 1 or 2 to a tuple: record "
        "type and group id, and for committed offsets (0 and 1) topic and partition as well."
    ),
    start="def my_key(raw):\n    return ...\n\n\nexercises.my_key.check(my_key)",
    judge=Function(right, ("raw",), CASES),
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
        Misconception(in_latin_1, "A text is UTF-8: a letter outside ASCII takes more than one byte."),
        Misconception(length_in_characters, "Lengths count bytes, not characters."),
        Misconception(little_endian, "The highest byte comes first."),
        Misconception(with_partition_always, "A group's own key ends with the group id."),
    ),
)


def _who_died() -> set[str]:
    """Groups of the recorded disk of which nothing but tombstones is left."""
    records = [
        (each.key, each.value)
        for each in committed_records(read_disk(data_directory("offsets-topic") / "disk"))
        if each.key is not None
    ]
    living = {group.group_id for group in replay(records).groups}
    return {decode(key, value).group for key, value in records} - living


def _with_a_tombstone() -> set[str]:
    segments = read_disk(data_directory("offsets-topic") / "disk")
    tombstones = [each.key for each in committed_records(segments) if each.value is None]
    return {decode(key, None).group for key in tombstones if key is not None}


who_died = Exercise(
    name="who_died",
    asks=(
        "The disk of the dead broker, `segments` of section 4: which groups were there once, and have nothing left but "
        "tombstones? Give the set of their ids."
    ),
    start="dead = ...\nexercises.who_died.check(dead)",
    judge=Value(_who_died),
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
    hints=(
        "How long was the group Empty?",
        "Since 2.1 an offset has expired when *now - base >= retention*: what if they are equal?",
    ),
    reasoning=(
        "From Friday 18:00 to Monday 08:00 are 62 hours, 3720 minutes. With 3720 the condition is just met, and a "
        "sweep at 08:00 takes the offsets; one minute more keeps them. In practice leave more room: the default is "
        "a week."
    ),
    misconceptions=(
        Misconception(3720, "That is how long it stood still; at equality the offset has expired already."),
        Misconception(62, "These are the hours; the setting is in minutes."),
        Misconception(1440, "That is what somebody had set: one day, and the group was away for longer."),
        Misconception(
            86 * 60,
            "From Friday evening to Monday morning are two days and some hours, not three: count them again.",
            recognises=lambda minutes: minutes in (86 * 60, 86 * 60 + 1, 38 * 60, 38 * 60 + 1),
        ),
        Misconception(10080, "The default would have done, but it is not the smallest."),
    ),
)

_DAY_MS = 86_400_000
_STORE = Settings("2.0")
_MEMBER = Member("billing-1", subscribed=("orders",))
_GAME = Game(
    step,
    broken,
    _STORE,
    start(_STORE),
    OFFSET_KEPT,
    {
        "billing joins": StoreGroup("billing", 1, 0, (_MEMBER,), protocol="range", leader="billing-1"),
        "billing commits": Commit("billing", "orders", 0, 7, 0, member_id="billing-1", generation=1),
        "a sweep after 1 day": Sweep(_DAY_MS),
        "billing leaves": StoreGroup("billing", 2, 0),
        "a sweep after 8 days": Sweep(8 * _DAY_MS),
        "somebody deletes the offset": DeleteOffset("billing", "orders", 0),
    },
    "billing joins > billing commits > a sweep after 8 days",
)

gone_while_consuming = Exercise(
    name="gone_while_consuming",
    asks=(
        f"A game with a coordinator of Kafka 2.0. Users hope that *{_GAME.promise}*. Break that promise; **par "
        f"{_GAME.par}**. The moves: {_GAME.table()}. All but the sweeps happen at time 0. Give a line with `>` between "
        "the moves."
    ),
    start='run = ""  # moves with > between them\nexercises.gone_while_consuming.check(run)',
    judge=_GAME,
    hints=(
        "The promise is about a group that is still there: who must not leave?",
        "In 2.0 the retention is seven days, and it counts from the commit.",
    ),
    reasoning=(
        f"`{_GAME.best}`. Up to 2.0 a sweep compared only the time of the commit with the retention. A partition into "
        "which nothing is written for a week gets no new commits from a consumer that commits by hand, so its offset "
        "went, though the consumer was there all the time. Since 2.1 (KIP-211) the same moves break nothing."
    ),
    misconceptions=(
        Misconception(
            "billing joins > billing commits > a sweep after 1 day",
            "One day was the default up to 1.1; here it is more.",
        ),
        Misconception(
            "billing joins > billing commits > billing leaves > a sweep after 8 days",
            "A group that has left does not consume any more, so this is no broken promise. Let it stay.",
        ),
    ),
    moral="A quiet partition is what old brokers forgot first.",
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

_CHAPTER = Chapter(
    "07 offsets topic",
    (
        read_key,
        group_records,
        when_gone,
        my_key,
        who_died,
        long_weekend,
        gone_while_consuming,
        a_year_of_retention,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
