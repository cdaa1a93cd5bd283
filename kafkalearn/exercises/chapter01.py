"""The exercises of chapter 01: which broker coordinates my group?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, count
from types import MappingProxyType

from kafkalearn.base.hashing import INTEGER_MIN_VALUE, int32, java_string_hash, kafka_abs, to_positive
from kafkalearn.coordinator.leaders import OFFSETS_PARTITION_COUNT, round_robin_leaders
from kafkalearn.coordinator.rule import find_coordinator, offsets_partition
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function, Having, Open, Property
from kafkalearn.exercises.kit.result import say
from kafkalearn.offsets.formatter import formatter_line
from kafkalearn.offsets.records import encode_key, encode_value
from kafkalearn.partitioning.keyed import moved_share

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
LEADERS = round_robin_leaders([1, 2, 3])


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
                and find_coordinator(group_id, LEADERS).broker_id == LEADERS[_BILLING_PARTITION]
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


# Kafka's rule as people write it in Python: right once, and wrong in the ways that are known. Each wrong one is
# recognised by running it beside the student's function.
def right(group_id: str, partition_count: int) -> int:
    """Kafka's answer, in the steps of the exercise's solution."""
    group_hash = 0
    units = group_id.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        group_hash = int32(31 * group_hash + (high << 8 | low))
    return kafka_abs(group_hash) % partition_count


def of_code_points(group_id: str, partition_count: int) -> int:
    """A character above U+FFFF counts as one."""
    return kafka_abs(_hash_of(map(ord, group_id))) % partition_count


def of_utf8_bytes(group_id: str, partition_count: int) -> int:
    """The bytes that cross the wire are hashed instead of the text."""
    return kafka_abs(_hash_of(group_id.encode())) % partition_count


def without_wrapping(group_id: str, partition_count: int) -> int:
    """The hash grows past 32 bits, as Python's integers do."""
    group_hash = 0
    for letter in group_id:
        group_hash = 31 * group_hash + ord(letter)
    return abs(group_hash) % partition_count


def unsigned(group_id: str, partition_count: int) -> int:
    """The hash is kept in 32 bits, without a sign."""
    return java_string_hash(group_id) % 2**32 % partition_count


def signed_remainder(group_id: str, partition_count: int) -> int:
    """``abs(h % n)``, right in Java but for one hash, wrong in Python for every negative one."""
    return abs(java_string_hash(group_id) % partition_count)


def masked(group_id: str, partition_count: int) -> int:
    """The producer's way to lose the sign."""
    return to_positive(java_string_hash(group_id)) % partition_count


def with_plain_abs(group_id: str, partition_count: int) -> int:
    """Python's ``abs``, which knows an absolute value of -2**31."""
    return abs(java_string_hash(group_id)) % partition_count


def _hash_of(numbers: Iterable[int]) -> int:
    group_hash = 0
    for number in numbers:
        group_hash = int32(31 * group_hash + number)
    return group_hash


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
        "Write `my_offsets_partition(group_id, partition_count)`, without the library: from the group id, "
        "a string, to the partition of `__consumer_offsets`. It is run on ids in several scripts."
    ),
    start=(
        "def my_offsets_partition(group_id, partition_count):\n    return ...\n\n\n"
        "exercises.write_offsets_partition.check(my_offsets_partition)"
    ),
    judge=Function(offsets_partition, ("group_id", "partition_count"), OFFSETS_CASES),
    solve=lambda: right,
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
            of_code_points,
            "Java sees a character above U+FFFF, such as an emoji, as two UTF-16 units; `ord` sees one.",
        ),
        Misconception(of_utf8_bytes, "UTF-8 is how the id crosses the wire; Java hashes its UTF-16 units."),
        Misconception(
            without_wrapping,
            "Python's integers grow; a Java int keeps its lowest 32 bits and wraps.",
        ),
        Misconception(unsigned, "A Java int has a sign: 32 bits from 2**31 on stand for negative numbers."),
        Misconception(
            signed_remainder,
            "In Java `%` keeps the sign and `abs(h % n)` works; Python's `%` of a negative number gives another "
            "remainder, so take `abs` first.",
        ),
        Misconception(
            masked,
            "`& 0x7fffffff` drops the sign bit and leaves another number than `abs` does; producers do so with keys, "
            "the coordinator does not.",
        ),
        Misconception(
            with_plain_abs,
            "Only the smallest int is left: it has no absolute value in 32 bits, so Kafka's `abs` has to choose one.",
        ),
    ),
)

_RESIZES = {"50 to 100": (50, 100), "50 to 51": (50, 51)}

expand_offsets_topic = Exercise(
    name="expand_offsets_topic",
    asks=(
        "**Incident.** Someone gave `__consumer_offsets` more partitions, and the brokers were restarted. Groups began "
        "to read their topics again from the start: their commits are not found. Which share of all groups is hit, if "
        "the topic went from 50 to 100 partitions, and which if it went from 50 to 51? Give two numbers between 0 and "
        "1; 0.01 off is near enough."
    ),
    start=(
        "share = {" + ", ".join(f'"{name}": ...' for name in _RESIZES) + "}\n"
        "exercises.expand_offsets_topic.check(share)"
    ),
    judge=Value(lambda: {name: moved_share(*counts) for name, counts in _RESIZES.items()}, within=0.01),
    solve=lambda: {name: float(moved_share(*counts)) for name, counts in _RESIZES.items()},
    hints=(
        "A group is hit when the formula gives it another partition than before. Commits do not move.",
        "Take 10,000 ids, compute both partitions of each, and count.",
        "With 100 partitions a group stays if its remainder by 100 is below 50.",
    ),
    reasoning=(
        "A group stays where it was if its hash leaves the same remainder by both counts. The remainders repeat every "
        "lcm(50, 100) = 100 hashes, and agree for 50 of them: half of the groups are hit. For 51 they repeat every "
        "2,550 hashes and agree for 50: 50 of 51 groups are hit, 98 %.\n\n"
        "Their records still lie in the old partition, but nobody looks there. Members get no committed offset and "
        "start where `auto.offset.reset` says. Brokers read the count once, when they start, so a rolling restart even "
        "has brokers that disagree (KAFKA-14418, apache/kafka#12911; KIP-895)."
    ),
    misconceptions=(
        Misconception(
            {"50 to 51": 1 / 51},
            "1 in 51 is what a consistent hash would move, to fill the new partition; a remainder moves nearly all.",
        ),
        Misconception({"50 to 100": 0}, "Kafka moves no records when partitions are added, not even its own commits."),
        Misconception(
            {"50 to 100": 1}, "Some remainders by 50 and by 100 are equal: those of hashes that end in 00 to 49."
        ),
    ),
    moral="The partition count of this topic is chosen once, before the first group.",
)

REQUESTS_PER_SECOND = MappingProxyType({"billing": 4000, "fraud-check": 3000, "tracking": 3000, "orders-audit": 2000})
LIMIT_PER_SECOND = 5000
_KEPT = "billing"  # its committed offsets must not be lost


def load_by_broker(new_ids: Mapping[str, str]) -> dict[int, int]:
    """Group requests a second that each broker would serve, if the groups had these ids.

    >>> load_by_broker({group_id: group_id for group_id in REQUESTS_PER_SECOND})
    {1: 12000, 2: 0, 3: 0}
    """
    loads: Counter[int | None] = Counter()
    for old_id, new_id in new_ids.items():
        loads[find_coordinator(new_id, LEADERS).broker_id] += REQUESTS_PER_SECOND[old_id]
    return {broker_id: loads[broker_id] for broker_id in sorted(set(LEADERS))}


def _spread() -> dict[str, str]:
    """Each group in turn gets the first id with which its broker stays within the limit."""
    new_ids = {_KEPT: _KEPT}
    for old_id in REQUESTS_PER_SECOND:
        if old_id != _KEPT:
            new_ids[old_id] = next(
                new_id for new_id in _candidates(old_id) if _is_within_limit({**new_ids, old_id: new_id})
            )
    return new_ids


def _candidates(old_id: str) -> Iterator[str]:
    return chain([old_id], (f"{old_id}-{number}" for number in count(2)))


def _is_within_limit(new_ids: Mapping[str, str]) -> bool:
    return max(load_by_broker(new_ids).values()) <= LIMIT_PER_SECOND


def _overload(new_ids: Mapping[str, str]) -> str:
    loads = load_by_broker(new_ids)
    broker_id = max(loads, key=loads.__getitem__)
    return f"Broker {broker_id} would still serve {loads[broker_id]:,} requests a second; the limit is 5,000."


_PROPERTIES = (
    Property(
        lambda ids: set(ids) == set(REQUESTS_PER_SECOND),
        lambda ids: f"The keys must be the four present ids, {', '.join(map(repr, REQUESTS_PER_SECOND))}.",
    ),
    Property(
        lambda ids: all(isinstance(new, str) and new.startswith(old) for old, new in ids.items()),
        lambda ids: "Each new id must be text that begins with the present one, or nobody will recognise it.",
    ),
    Property(
        lambda ids: len(set(ids.values())) == len(ids),
        lambda ids: "Two groups would have the same id: they would become one group and share out its partitions.",
    ),
    Property(
        lambda ids: ids[_KEPT] == _KEPT,
        lambda ids: f"{_KEPT!r} must keep its id: under another one it would not find its committed offsets.",
    ),
    Property(_is_within_limit, _overload),
)

hot_broker = Exercise(
    name="hot_broker",
    asks=(
        "**Incident.** Broker 1 is at 100 % CPU, brokers 2 and 3 are idle. The request log shows why: heartbeats and "
        "commits of four groups, all answered by broker 1.\n\n"
        "| group | requests a second |\n| --- | --- |\n"
        + "\n".join(f"| {group_id} | {rate:,} |" for group_id, rate in REQUESTS_PER_SECOND.items())
        + "\n\nThe 50 partitions of `__consumer_offsets` are led by brokers 1, 2, 3 in turn "
        "(`round_robin_leaders([1, 2, 3])`). Three of the four groups may be renamed; `billing` may not. Give a dict "
        "from each present id to its new id, so that no broker serves more than 5,000 of these requests a second. A "
        "new id begins with the present one; a group may keep its id."
    ),
    start=(
        "new_ids = {\n"
        + "".join(f'    "{group_id}": ...,\n' for group_id in REQUESTS_PER_SECOND)
        + "}\nexercises.hot_broker.check(new_ids)"
    ),
    judge=Having({}, _PROPERTIES),
    solve=_spread,
    hints=(
        "Where are the four groups? Compute not only their brokers but their partitions.",
        "4,000 + 3,000 is already too much for one broker: at least two of the three must move.",
        'Try suffixes in a loop: `find_coordinator(f"tracking-{n}", leaders).broker_id` for n = 2, 3, 4, ...',
    ),
    reasoning=(
        f"All four ids hash to partition {offsets_partition(_KEPT)}: not just the same broker, the same partition. So "
        "moving the leadership of partitions to other brokers cannot separate them: the leader of that partition "
        "serves all 12,000 requests. Their ids must differ in the hash.\n\n"
        "One spread that works is "
        + ", ".join(f"`{old}` as `{new}`" for old, new in _spread().items())
        + ", with the loads "
        + ", ".join(f"{load:,} on broker {broker_id}" for broker_id, load in load_by_broker(_spread()).items())
        + ".\n\nThe price: a group with a new id is a new group. It has no committed offsets and starts where "
        "`auto.offset.reset` says. Stop the old group, carry its offsets over (`kafka-consumer-groups "
        "--reset-offsets --from-file`), then start the new one."
    ),
    misconceptions=(
        Misconception(
            {group_id: group_id for group_id in REQUESTS_PER_SECOND},
            "The ids are unchanged: the same id hashes to the same partition, today and tomorrow.",
        ),
        Misconception(
            {**{group_id: f"{group_id}-2" for group_id in REQUESTS_PER_SECOND}, _KEPT: _KEPT},
            "One suffix for all spreads nothing by itself: the hash of the whole id decides, so look where each lands.",
        ),
    ),
    moral="In production, remember that a renamed group begins without committed offsets.",
)

at_three_in_the_morning = Exercise(
    name="at_three_in_the_morning",
    asks=(
        "**Open question.** The same incident, and it is 3 a.m. Three remedies are on the table: rename groups; move "
        "the leadership of the hot partition of `__consumer_offsets` to another broker; give that topic more "
        "partitions. Which would you take tonight, which tomorrow, and which never on a running cluster? Say what each "
        "one breaks."
    ),
    start="answer = ...\nexercises.at_three_in_the_morning.check(answer)",
    judge=Open(),
    solve=lambda: "Tonight I would move the leadership; tomorrow rename; more partitions never on a live cluster.",
    hints=(
        "Which of the three needs a change in somebody's application, and a release?",
        "Which of the three changes the answer of the formula for every group of the cluster?",
    ),
    reasoning=(
        "*Tonight:* move the leadership of the hot partition to the most idle broker. No group changes its partition, "
        "its commits stay where they are; its members get NOT_COORDINATOR once and look the coordinator up again. But "
        "groups of one partition stay together.\n\n"
        "*Tomorrow:* rename the heaviest groups, in a planned stop, and carry their offsets over.\n\n"
        "*Never on a running cluster:* more partitions. The formula's n changes, half of the groups (50 to 100) or "
        "nearly all (50 to 51) are looked for in another partition, where none of their commits are; and a broker "
        "reads the new count only when it starts, so until the last restart brokers disagree about who coordinates "
        "whom (KAFKA-14418, apache/kafka#12911; KIP-895 proposes to read it at once)."
    ),
)

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
__all__ = _CHAPTER.public_names()
