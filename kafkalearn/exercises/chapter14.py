"""The exercises of chapter 14: is it true?"""

from __future__ import annotations

from typing import Any

from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Having, Open, Property
from kafkalearn.exercises.kit.result import Sentence, say
from kafkalearn.releases.lines import DEFAULT_RELEASE
from kafkalearn.releases.real_answers import real_answer

# What a real Kafka says to each prediction: asked now where one can be started, else as recorded.
GROUPS = ("refunds", "warehouse")


def _real(question: str) -> Any:
    """The answer, of whatever shape the question has."""
    return real_answer(question).value


def coordinators() -> dict[str, int]:
    """Partition and broker of two groups."""
    found = _real("coordinators")
    return {f"{part} of {group}": found[group][part] for group in GROUPS for part in ("partition", "broker")}


predict_coordinators = Exercise(
    name="predict_coordinators",
    asks=(
        "Predict, then a broker judges. Three brokers; partition p of `__consumer_offsets` (there are 50) is led by "
        "broker p mod 3 + 1. In whose files lie the commits of `refunds` and of `warehouse`, and which broker "
        "coordinates each? With or without the library's help."
    ),
    start=(
        'places = {\n    "partition of refunds": ...,\n    "broker of refunds": ...,\n'
        '    "partition of warehouse": ...,\n    "broker of warehouse": ...,\n}\n'
        "exercises.predict_coordinators.check(places)"
    ),
    judge=Value(coordinators),
    hints=(
        "The partition is Kafka's own abs of the hash of the id, modulo 50: `offsets_partition`.",
        "The leader of that partition is the coordinator; broker ids begin at 1.",
    ),
    reasoning=(
        "`offsets_partition` gives 45 and 23. Partition 45 is led by broker 45 mod 3 + 1 = 1, partition 23 by broker "
        "3. The broker was asked twice: for the coordinator of each group, and, on its disk, for the partition that "
        "a commit of the group has gone to."
    ),
    misconceptions=(
        Misconception(
            {"broker of refunds": 0},
            "A remainder of 0 names no broker: their ids begin one higher, and so does each leader of a partition.",
        ),
        Misconception({"broker of warehouse": 2}, "2 is the remainder; the ids of brokers begin one above it."),
    ),
)

WANTED_PARTITION = 41
LONGEST = 2  # of the group ids that were asked for


def partition_of(group_id: str) -> int:
    """The partition in whose files the commit of a short group id was found."""
    return _real("short group ids")[group_id]


def _says(group_id: str) -> Sentence:
    return say("The broker has put a commit of {} into partition {}.", group_id, partition_of(group_id))


hit_the_partition = Exercise(
    name="hit_the_partition",
    asks=(
        "A game. The articles' group `console-consumer-77682` is in partition 41 of 50, and has 22 characters. Find "
        "a group id of small letters, a to z, that a real broker puts into partition **41**, too: **par is 2 "
        "characters**."
    ),
    start="group_id = ...\nexercises.hit_the_partition.check(group_id)",
    judge=Having(
        "",
        (
            Property(
                lambda group_id: group_id.isascii() and group_id.isalpha() and group_id.islower(),
                lambda group_id: say("{} has something else than the letters a to z.", group_id),
            ),
            Property(
                lambda group_id: len(group_id) <= LONGEST,
                lambda group_id: say("{} has {} characters; par is {}.", group_id, len(group_id), LONGEST),
            ),
            Property(lambda group_id: partition_of(group_id) == WANTED_PARTITION, _says),
        ),
    ),
    solve=lambda: "bg",
    hints=(
        "Java's hash of two characters is 31 times the first plus the second; a is 97.",
        "Which of 26 x 26 give a remainder of 41 by 50? Try them with `offsets_partition`.",
        "With b in front, 31 x 98 = 3038; then the second letter has to leave 41 in all: 3141 does.",
    ),
    reasoning=(
        "`bg`: 31 x 98 + 103 = 3141, and 3141 mod 50 = 41. One letter is not enough: a to z hash to 97 to 122, and "
        "91 or 141 would be needed. About one id in fifty falls there, whatever its length: the 676 ids of two "
        "letters share 50 partitions. Each of them has committed once on a real broker, and was looked for on its disk."
    ),
    misconceptions=(
        Misconception("m", "One letter hashes to its own number, 97 to 122: no remainder by 50 of these is 41."),
        Misconception(
            "cat",
            "Three letters do it for some ids, but two are enough.",
            lambda given: len(given) == LONGEST + 1,
        ),
    ),
    moral="Any two of a few hundred groups may share a partition, and so a coordinator; nobody has planned that.",
)


def owners() -> dict[str, set[str]]:
    """Who has what after c2 has left, by round robin."""
    left = _real("round robin")[-1]
    return {member: {f"{topic}-{number}" for topic, number in places} for member, places in left.items()}


predict_owners = Exercise(
    name="predict_owners",
    asks=(
        "Three real consumers c1, c2 and c3 read `orders` (7 partitions) and `payments` (3), with the **round-robin** "
        'assignor. c2 leaves. Who has what then? Give a set of names for each: `{"orders-0", ...}`.'
    ),
    start='owners = {"c1": ..., "c3": ...}\nexercises.predict_owners.check(owners)',
    judge=Value(owners),
    hints=(
        "All ten partitions in one row, by topic and number, are dealt out in turn to the members that are left.",
        "The first goes to c1, the second to c3, the third to c1.",
    ),
    reasoning=(
        "The ten partitions in one row: orders-0 to orders-6, payments-0 to payments-2. c1 gets the first, third, "
        "fifth, seventh and ninth: orders-0, 2, 4, 6 and payments-1; c3 the others. Round robin remembers nothing: "
        "of the partitions that c1 had before, orders-0, 3, 6 and payments-2, it keeps two."
    ),
    misconceptions=(
        Misconception(
            {
                "c1": {"orders-0", "orders-1", "orders-2", "orders-3", "payments-0", "payments-1"},
                "c3": {"orders-4", "orders-5", "orders-6", "payments-2"},
            },
            "That is *range*, which goes topic by topic and gives whole stretches.",
        ),
        Misconception(
            {"c1": {"orders-0", "orders-2", "orders-4", "orders-6", "payments-0", "payments-2"}},
            "The row goes on from topic to topic: it does not begin anew with c1 at payments.",
        ),
    ),
)


def tombstones() -> dict[str, set[int]]:
    """Which offsets are left after each pass."""
    found = _real("tombstone of a new key")
    return {moment: {offset for offset, _, _ in found[moment]} for moment in ("first pass", "later pass")}


predict_tombstones = Exercise(
    name="predict_tombstones",
    asks=(
        "A compacted topic, each record with its offset:\n\n"
        "| offset | 0 | 1 | 2 | 3 | 4 | 5 | 6 |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n"
        "| key | dora | emil | emil | fay | fay | emil | closing |\n"
        "| value | null | Lyon | Graz | Kiel | null | null | 1 |\n\n"
        "The cleaner takes all but the last record, which is in the active segment. After `delete.retention.ms` one "
        "more record comes, offset 7 (`closing`, 2), and a second pass takes all but that one. Which offsets are "
        "left after each pass? Give a set of numbers for each."
    ),
    start='left = {"first pass": ..., "later pass": ...}\nexercises.predict_tombstones.check(left)',
    judge=Value(tombstones),
    hints=(
        "The newest record of each key stays in the first pass, also if it is a tombstone.",
        "A tombstone of a key that never had a value is a tombstone like others.",
        "In the later pass the delete horizon of all three is past.",
    ),
    reasoning=(
        "First pass: 0, 4, 5 and 6. Of each key the newest record stays, and three of these are tombstones; that "
        "dora never had a value is nothing the cleaner would know. Their batch gets a delete horizon. Later pass: 6 "
        "and 7. The three tombstones are past their horizon, 6 is the only closed `closing`, 7 is in the active "
        "segment and not looked at."
    ),
    misconceptions=(
        Misconception(
            {"first pass": {6}},
            "A first pass keeps tombstones: a reader on its way through the log still has to hear of them.",
        ),
        Misconception(
            {"first pass": {4, 5, 6}},
            "The cleaner sees the keys of what it cleans, no history: dora's tombstone is the newest record of its "
            "key.",
        ),
        Misconception(
            {"later pass": {7}},
            "Both `closing` records are there: 7 is in the active segment, which is not read, so it replaces nothing "
            "yet.",
        ),
        Misconception(
            {"later pass": {0, 4, 5, 6, 7}},
            "Their horizon, the time of the first pass plus `delete.retention.ms`, is past: in this pass they go.",
        ),
    ),
)


def frozen_followers() -> dict[str, int]:
    """The marks while both followers stand still, and when they have left the ISR."""
    _, still, left, _ = _real("frozen followers")
    return {
        "HW while they are in the ISR": still["HW"],
        "HW when they have left it": left["HW"],
        "LEO of broker 2 then": left["LEO 2"],
    }


predict_frozen_followers = Exercise(
    name="predict_frozen_followers",
    asks=(
        "Broker 1 leads `orders-0`, 2 and 3 follow; all have three records, HW 3. **Both** followers are frozen, and "
        "the leader gets two records with acks=1. A little later both leave the ISR; they are still frozen. "
        "`min.insync.replicas` is 1."
    ),
    start=(
        'frozen_marks = {\n    "HW while they are in the ISR": ...,\n    "HW when they have left it": ...,\n'
        '    "LEO of broker 2 then": ...,\n}\nexercises.predict_frozen_followers.check(frozen_marks)'
    ),
    judge=Value(frozen_followers),
    hints=(
        "Who holds the HW back: who is in the ISR and has not fetched.",
        "An ISR may be as small as one. Whose LEO is the smallest then?",
    ),
    reasoning=(
        "While both are in the ISR the HW waits for them: 3. When they have left it, the ISR is the leader alone, "
        "and its LEO decides: HW 5. Broker 2 is frozen, its log ends where it ended: 3. So two records count as "
        "committed of which there is one copy; `min.insync.replicas=2` would have held the HW at 3."
    ),
    misconceptions=(
        Misconception(
            {"HW while they are in the ISR": 5},
            "acks=1 says when the producer is answered; what is committed is decided by the ISR all the same.",
        ),
        Misconception(
            {"HW when they have left it": 3},
            "Nobody in the ISR holds it back any more: with a minimum of 1 the leader commits alone.",
        ),
        Misconception(
            {"LEO of broker 2 then": 5}, "It is frozen: it has fetched nothing. Leaving the ISR copies nothing."
        ),
    ),
)


def old_places() -> dict[str, bool]:
    """Which fields of a commit of today come out right at the places of 4.0."""
    return dict(_real("releases")[DEFAULT_RELEASE]["read at the places of 4.0"])


read_with_old_places = Exercise(
    name="read_with_old_places",
    asks=(
        "**Find the bug.** A monitoring script reads the values of commits at fixed places, as brokers of 4.0 wrote "
        "them (value version 3, without metadata): bytes 0-1 version, 2-9 offset, 10-13 leader epoch, 14-15 length "
        "of the metadata, 16-23 commit time. After an upgrade to 4.1 or later (value version 4, a flexible layout) it "
        "still runs, without an error. Which of its numbers are still right? True or False."
    ),
    start=(
        'is_right = {"offset": ..., "leader epoch": ..., "commit time": ...}\n'
        "exercises.read_with_old_places.check(is_right)"
    ),
    judge=Value(old_places),
    hints=(
        "Fields keep their order. Which of them change their length?",
        "In a flexible layout the length of a text is a varint: one byte here, where there were two.",
    ),
    reasoning=(
        "Offset and leader epoch are right: they have a fixed length and nothing before them has changed. The "
        "metadata's length takes one byte in place of two, so the commit time begins one byte earlier, and the "
        "script reads nonsense without a word. Since 4.3 the value is 18 bytes longer at its end: the topic id is a "
        "tagged field. A reader has to look at the version first; `decode_value` does."
    ),
    misconceptions=(
        Misconception(
            {"commit time": True}, "The field before it has become a byte shorter: everything behind it has moved."
        ),
        Misconception(
            {"offset": False}, "What lies in front of the first text is where it was: version, offset, leader epoch."
        ),
    ),
)

seen_by_others = Exercise(
    name="seen_by_others",
    asks=(
        "**Open question.** A Spark job reads `__consumer_offsets`, a hundred queries each night. Since last week the "
        "dashboard shows up to a hundred groups named `spark-kafka-relation-...` while it runs; a quarter of an hour "
        "later they are gone, and the cleaner of that topic has more to do. What has somebody changed, why do the "
        "groups go, and what do you propose?"
    ),
    start='proposal = """\n"""\nexercises.seen_by_others.check(proposal)',
    judge=Open(),
    solve=lambda: (
        "Somebody has switched on the older way of asking for offsets, and the job subscribes: each query joins a "
        "group of its own. Read by assignment, or from copies of the segment files, or leave it to an exporter that "
        "asks the brokers."
    ),
    hints=(
        "What did the job see before it was changed?",
        "Which two things have to come together so that a query of Spark leaves a group behind?",
        "What does a coordinator's sweep do with a group that is empty and has no offsets?",
    ),
    reasoning=(
        "Before, the job saw nothing: Spark passes over internal topics. So somebody set "
        "`spark.sql.streaming.kafka.useDeprecatedOffsetFetching`, and the job *subscribes*: the consumer on the "
        "driver joins a group with a random name for each query, and its join and leave are three records of the "
        "topic. Spark commits nothing, so there is nothing that could expire: the next sweep "
        "(`offsets.retention.check.interval.ms`, ten minutes) finds a group that is empty and without offsets, and "
        "writes its tombstone, a fourth record. Assign the partitions by number (`assign`): nothing is left behind. "
        "Other good answers: read the segment files of a replica; ask the brokers (`kafka-consumer-groups --describe "
        "--all-groups`, an exporter); a fixed `kafka.group.id` leaves one group in place of a hundred."
    ),
)

_CHAPTER = Chapter(
    "14 real Kafka",
    (
        predict_coordinators,
        hit_the_partition,
        predict_owners,
        predict_tombstones,
        predict_frozen_followers,
        read_with_old_places,
        seen_by_others,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
