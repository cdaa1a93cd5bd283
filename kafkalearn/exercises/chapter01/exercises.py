"""The exercises of chapter 01: which broker coordinates my group?"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from kafkalearn.coordinator.leaders import OFFSETS_PARTITION_COUNT, round_robin_leaders
from kafkalearn.coordinator.rule import find_coordinator, offsets_partition
from kafkalearn.exercises.chapter01 import answers
from kafkalearn.exercises.chapter01.incidents import at_three_in_the_morning, expand_offsets_topic, hot_broker
from kafkalearn.exercises.chapter01.printed_line import read_the_line
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.properties import Having, Property
from kafkalearn.exercises.kit.sentences import say
from kafkalearn.exercises.kit.values import Value
from kafkalearn.hashing import INTEGER_MIN_VALUE, java_string_hash, to_positive

_PREDICTED = ("foo", "payments.v1", "GydZG_")

predict_partition = Exercise(
    name="predict_partition",
    asks=(
        "A prediction, with pen and paper or a calculator. Which of the 50 partitions of `__consumer_offsets` holds "
        "each of these groups?\n\n| group | hash |\n| --- | --- |\n"
        + "\n".join(f"| {group_id} | {java_string_hash(group_id)} |" for group_id in _PREDICTED)
    ),
    start=(
        "partitions = {" + ", ".join(f'"{group_id}": ...' for group_id in _PREDICTED) + "}\n"
        "exercises.predict_partition.check(partitions)"
    ),
    judge=Value(lambda: {group_id: offsets_partition(group_id) for group_id in _PREDICTED}),
    solve=lambda: {group_id: offsets_partition(group_id) for group_id in _PREDICTED},
    hints=(
        "The sign goes first, then the remainder by 50: the last two digits are all you need.",
        "One of the three hashes is the smallest int there is, -2147483648. What does Kafka's `abs` make of it?",
        "`foo`: 74 - 50. `payments.v1`: the sign goes, 40 stays.",
    ),
    reasoning=(
        "`foo`: 101574 ends in 74, and 74 - 50 = 24.\n\n`payments.v1`: without the sign the hash ends in 40, so 40.\n\n"
        "`GydZG_`: -2147483648 has no absolute value in 32 bits; Kafka's `Utils.abs` returns 0 for it, so partition 0."
    ),
    misconceptions=(
        Misconception(
            {"payments.v1": java_string_hash("payments.v1") % OFFSETS_PARTITION_COUNT},
            "Python's `%` gives a negative number a remainder that is not negative: take the absolute value first.",
        ),
        Misconception(
            {"payments.v1": offsets_partition("payments.v1", formula="(h & 0x7fffffff) % n")},
            "`& 0x7fffffff` is how producers lose the sign of a key's hash; the coordinator takes the absolute value.",
        ),
        Misconception(
            {"GydZG_": abs(offsets_partition("GydZG_", formula="Math.abs(h % n)"))},
            "In 32 bits there is no 2147483648: for the smallest int Kafka's `abs` needs another answer.",
        ),
        Misconception(
            {"GydZG_": offsets_partition("GydZG_", formula="Math.abs(h) % n")},
            "Java's `Math.abs` would leave the smallest int negative, and no partition is; Kafka has an `abs` of its "
            "own.",
        ),
    ),
)

_BILLING_PARTITION = offsets_partition("billing")
_LEADERS = round_robin_leaders([1, 2, 3])


def _by_pythons_remainder(group_id: str) -> bool:
    group_hash = java_string_hash(group_id)
    return group_hash < 0 and group_hash % OFFSETS_PARTITION_COUNT == _BILLING_PARTITION


def _by_the_mask(group_id: str) -> bool:
    group_hash = java_string_hash(group_id)
    return group_hash < 0 and to_positive(group_hash) % OFFSETS_PARTITION_COUNT == _BILLING_PARTITION


def _first_id(is_found: Callable[[str], bool]) -> str:
    return next(group_id for number in count() if is_found(group_id := f"group-{number}"))


same_partition = Exercise(
    name="same_partition",
    asks=(
        f"`billing` lives in partition {_BILLING_PARTITION} of 50. Find another group id that lives in the same "
        "partition. Any legal id will do; write a loop that tries some."
    ),
    start="group_id = ...\nexercises.same_partition.check(group_id)",
    judge=Having(
        "",
        (
            Property(lambda group_id: group_id != "billing", lambda group_id: "That is `billing` itself."),
            Property(lambda group_id: group_id != "", lambda group_id: "The empty id cannot join a group."),
            Property(
                lambda group_id: offsets_partition(group_id) == _BILLING_PARTITION,
                lambda group_id: say("{} lives in partition {}.", group_id, offsets_partition(group_id)),
            ),
        ),
    ),
    solve=lambda: next(
        group_id
        for group_id in (f"billing-{number}" for number in range(10_000))
        if offsets_partition(group_id) == _BILLING_PARTITION
    ),
    hints=(
        "Every 50th id or so lands there: how many would you have to try?",
        '`for number in range(1000): ...` with `offsets_partition(f"group-{number}")`.',
    ),
    reasoning=(
        "There are 50 partitions, so about one id in 50 lands in any of them. A loop over "
        '`f"billing-{n}"` finds one after some 50 tries. Three of the shop\'s own groups, `fraud-check`, `tracking` '
        "and `orders-audit`, happen to live there too: exercise 6 is about them."
    ),
    misconceptions=(
        Misconception(
            "Billing",
            "Ids are hashed as they are written: capitals and blanks count.",
            lambda group_id: group_id.strip().lower() == "billing",
        ),
        Misconception(
            "search",
            "It has the same coordinator as `billing`, but through another partition with the same leader: they are "
            "separated as soon as the leadership of one of the two moves.",
            lambda group_id: (
                offsets_partition(group_id) != _BILLING_PARTITION
                and find_coordinator(group_id, _LEADERS).broker_id == _LEADERS[_BILLING_PARTITION]
            ),
        ),
        Misconception(
            _first_id(_by_pythons_remainder),
            "Its hash is negative, and Python's `%` then gives another remainder: take the absolute value first.",
            _by_pythons_remainder,
        ),
        Misconception(
            _first_id(_by_the_mask),
            "`& 0x7fffffff` is how a producer loses the sign of a key's hash; a coordinator takes the absolute value.",
            _by_the_mask,
        ),
    ),
    moral="Groups that share a partition share a coordinator, whoever leads it.",
)

_COUNTS = (1, 2, 3, 7, 10, 50, 100)
_GROUP_IDS_OF_50 = (
    *("a", "é", "𝒳", "Aa", "BB", "foo", "групп", "消费者组", "GydZG_", "my-group", "测试-group", "group-😀"),
    *("payments.v1", "schema-registry", "DESIGNING WORKHOUSES", "x" * 255),
)
_GROUP_IDS_OF_ALL = ("", "😀", "位移主题", "test-group", "polygenelubricants", "console-consumer-77682")
OFFSETS_CASES = tuple(
    sorted(
        [(group_id, 50) for group_id in _GROUP_IDS_OF_50]
        + [(group_id, partition_count) for group_id in _GROUP_IDS_OF_ALL for partition_count in _COUNTS],
        key=lambda case: (len(case[0]), case),
    )
)
"""Group ids and partition counts whose partitions were recorded from Kafka's own classes, shortest first."""

write_offsets_partition = Exercise(
    name="write_offsets_partition",
    asks=(
        "Write `my_offsets_partition(group_id, partition_count)`, without the library: from the text of the "
        "group id to the partition of `__consumer_offsets`. It is run on ids in several scripts."
    ),
    start=(
        "def my_offsets_partition(group_id, partition_count):\n    return ...\n\n\n"
        "exercises.write_offsets_partition.check(my_offsets_partition)"
    ),
    judge=Function(offsets_partition, ("group_id", "partition_count"), OFFSETS_CASES),
    solve=lambda: answers.right,
    hints=(
        "The hash starts at 0; for each unit of the text it becomes 31 times itself plus the unit.",
        "A Java int has 32 bits and a sign: after each step keep 32 bits, and at the end read the highest as a sign.",
        'The units are those of UTF-16: `group_id.encode("utf-16-be")` has two bytes for each.',
        "The smallest int, -2**31, counts as 0.",
    ),
    reasoning=(
        "```python\ndef offsets_partition(group_id, partition_count):\n    h = 0\n"
        '    units = group_id.encode("utf-16-be")\n    for high, low in zip(units[::2], units[1::2]):\n'
        "        h = (31 * h + (high << 8 | low)) & 0xFFFFFFFF   # 32 bits\n"
        "    if h >= 2**31:\n        h -= 2**32                      # with a sign\n"
        "    if h == -2**31:\n        h = 0                           # Kafka's own abs\n"
        "    return abs(h) % partition_count\n```\n\n"
        "Each line is there for a group that would be looked for on the wrong broker without it."
    ),
    misconceptions=(
        Misconception(
            answers.of_code_points,
            "Java sees a character above U+FFFF, such as an emoji, as two UTF-16 units; `ord` sees one.",
        ),
        Misconception(answers.of_utf8_bytes, "UTF-8 is how the id crosses the wire; Java hashes its UTF-16 units."),
        Misconception(
            answers.without_wrapping,
            "Python's integers grow; a Java int keeps its lowest 32 bits and wraps.",
        ),
        Misconception(answers.unsigned, "A Java int has a sign: 32 bits from 2**31 on stand for negative numbers."),
        Misconception(
            answers.signed_remainder,
            "In Java `%` keeps the sign and `abs(h % n)` works; Python's `%` of a negative number gives another "
            "remainder, so take `abs` first.",
        ),
        Misconception(
            answers.masked,
            "`& 0x7fffffff` drops the sign bit and leaves another number than `abs` does; producers do so with keys, "
            "the coordinator does not.",
        ),
        Misconception(
            answers.with_plain_abs,
            "Only the smallest int is left: it has no absolute value in 32 bits, so Kafka's `abs` has to choose one.",
        ),
    ),
)

_KNOWN_OVERFLOWS = ("polygenelubricants", "GydZG_", "DESIGNING WORKHOUSES", "group-feyd_ha")


def _twin(group_id: str) -> str:
    """Another id with the same hash: one more in the first letter is worth 31 in the second, as in Aa and BB."""
    return chr(ord(group_id[0]) + 1) + chr(ord(group_id[1]) - 31) + group_id[2:]


overflow_id = Exercise(
    name="overflow_id",
    asks=(
        "`Math.abs(h) % n` is in many articles and programs. Find a group id for which it gives a negative partition, "
        "and which is not one of those that everybody names: "
        + ", ".join(f"`{known}`" for known in _KNOWN_OVERFLOWS)
        + "."
    ),
    start="group_id = ...\nexercises.overflow_id.check(group_id)",
    judge=Having(
        "",
        (
            Property(lambda group_id: group_id not in _KNOWN_OVERFLOWS, lambda group_id: "That one is known."),
            Property(
                lambda group_id: java_string_hash(group_id) == INTEGER_MIN_VALUE,
                lambda group_id: say("{} has the hash {}.", group_id, java_string_hash(group_id)),
            ),
        ),
    ),
    solve=lambda: _twin("GydZG_"),
    hints=(
        "Only one hash goes wrong: the one whose absolute value does not fit into an int.",
        "Trying at random takes four billion tries. But `Aa` and `BB` have the same hash: why?",
        "`A` is 1 less than `B`, worth 31, and `a` is 31 more than `B`. Change two neighbours of a known id that way.",
    ),
    reasoning=(
        "The hash must be -2**31. Two neighbouring letters x, y enter it as 31 * x + y, so one more in x and 31 less "
        f"in y changes nothing: `Aa` and `BB`, and `GydZG_` and `{_twin('GydZG_')}`.\n\n"
        "It is no toy: Sarama's partitioner returned a negative number for such a key (IBM/sarama#709, 2016), and five "
        "years later Filebeat stood still for ever on the key `16000002EFEBA11E` (elastic/beats#25048)."
    ),
    misconceptions=(
        Misconception(
            "my-group",
            "Its hash is negative, but its absolute value fits: of all hashes only the smallest int goes wrong.",
            lambda group_id: INTEGER_MIN_VALUE < java_string_hash(group_id) < 0,
        ),
    ),
    moral="Kafka's own `Utils.abs` exists for exactly this id.",
)

_CHAPTER = Chapter(
    "01 coordinator",
    (
        predict_partition,
        same_partition,
        overflow_id,
        write_offsets_partition,
        expand_offsets_topic,
        hot_broker,
        at_three_in_the_morning,
        read_the_line,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
