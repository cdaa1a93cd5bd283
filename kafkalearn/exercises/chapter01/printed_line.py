"""What a line of Kafka's formatter says: the exercise on the walk from an empty topic to the bytes of a commit."""

from __future__ import annotations

from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.values import Value
from kafkalearn.offsets.records.codec import encode_key, encode_value
from kafkalearn.offsets.records.formatter import formatter_line

GROUP_ID, TOPIC, PARTITION, NEXT_OFFSET, LOG_END = "console-consumer-77682", "tp_test_01", 3, 47, 60
_COMMIT = {"offset": NEXT_OFFSET, "metadata": "", "commitTimestamp": 1516353600000}


def printed() -> str:
    """The line that Kafka 1.0 prints of the commit.

    >>> print(printed())
    [console-consumer-77682,tp_test_01,3]::[OffsetMetadata[47,NO_METADATA],CommitTime 1516353600000,ExpirationTime -1]
    """
    key = encode_key(1, {"group": GROUP_ID, "topic": TOPIC, "partition": PARTITION})
    return formatter_line(key, encode_value(1, 1, _COMMIT), "1.0") or ""


def _answer() -> dict[str, int]:
    return {
        "next record": NEXT_OFFSET,
        "still unread": LOG_END - NEXT_OFFSET,
        "partition of the line": offsets_partition(GROUP_ID),
    }


read_the_line = Exercise(
    name="read_the_line",
    asks=(
        f"The console consumer prints this line of `__consumer_offsets`:\n\n```\n{printed()}\n```\n\n"
        f"At the same moment `GetOffsetShell` prints `{TOPIC}:{PARTITION}:{LOG_END}`. Which offset will the group read "
        f"next in partition {PARTITION} of `{TOPIC}`? How many records are still unread there? And in which of the 50 "
        "partitions of `__consumer_offsets` does the line itself lie? Give three numbers."
    ),
    start="answer = {\n"
    + "".join(f'    "{name}": ...,\n' for name in _answer())
    + "}\nexercises.read_the_line.check(answer)",
    judge=Value(_answer),
    solve=_answer,
    hints=(
        "A committed offset is the place from which the group goes on.",
        "The offset that `GetOffsetShell` prints is the one that the next record will get.",
        "The partition in the brackets is one of the topic's. Where the line lies follows from the group id alone.",
    ),
    reasoning=(
        f"The number behind `OffsetMetadata[` is the committed offset, {NEXT_OFFSET}: the next one to read; "
        f"{NEXT_OFFSET - 1} was the last one read. The log ends at {LOG_END}, so the records {NEXT_OFFSET} to "
        f"{LOG_END - 1} are unread: {LOG_END - NEXT_OFFSET} of them.\n\n"
        f'The line lies in partition {offsets_partition(GROUP_ID)}: `offsets_partition("{GROUP_ID}")`. Whichever '
        "partition of whichever topic the group commits, all its commits lie there."
    ),
    misconceptions=(
        Misconception(
            {"next record": NEXT_OFFSET + 1},
            "A committed offset is the next one to read, not the last one that was read.",
        ),
        Misconception(
            {"next record": NEXT_OFFSET - 1}, "That is the last one that was read; the group goes on behind it."
        ),
        Misconception(
            {"still unread": LOG_END - NEXT_OFFSET - 1},
            "Both numbers are the next ones: of the record to read and of the record to come. So the difference is "
            "right as it is.",
        ),
        Misconception({"still unread": LOG_END}, "That is where the log ends; how much of it has the group read?"),
        Misconception(
            {"partition of the line": PARTITION},
            "That is the partition of the topic. The line is a record of another topic, `__consumer_offsets`.",
        ),
    ),
    moral="All commits of a group lie in one partition, whatever the group reads.",
)
