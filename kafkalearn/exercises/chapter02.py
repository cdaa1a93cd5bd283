"""The exercises of chapter 02: where does my record land?"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from kafkalearn.base.files import data_file
from kafkalearn.base.hashing import MASK_32, crc32, int32, java_abs, java_remainder, murmur2, to_positive
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import FaultyCode, Function
from kafkalearn.partitioning.keyed import PARTITIONERS, moved_share, partition_for_key
from kafkalearn.partitioning.keyless import Send, Settings, simulate

_LETTERS = "abcdefghijklmnop"
KEYS = (
    *(_LETTERS[:length] for length in range(len(_LETTERS) + 1)),
    *("0", "1", "é", "21", "😀", "test", "key-1", "kafka", "位移", "订单", "foobar", "user_42", "Ключ"),
    "key with spaces",
)
"""Keys whose partitions were recorded from the real Java producer's classes, in several scripts."""

PARTITION_COUNTS = (6, 10, 12, 50)
TEXT_CASES = tuple(
    (key, partition_count)
    for key in sorted(KEYS, key=lambda key: (len(key.encode()), key))
    for partition_count in PARTITION_COUNTS
)
BYTES_CASES = tuple((key.encode(), partition_count) for key, partition_count in TEXT_CASES)

HASH_CASES = tuple((murmur2(key), partition_count) for key, partition_count in BYTES_CASES)


def _partition_of_hash(key_hash: int, partition_count: int) -> int:
    return to_positive(key_hash) % partition_count


mask_step = Exercise(
    name="mask_step",
    asks=(
        "The last step of the producer: write `partition_of_hash(key_hash, partition_count)`, from the murmur2 of a "
        "key, a signed 32-bit number, to its partition. At least four clients got just this step wrong."
    ),
    start=(
        "def partition_of_hash(key_hash, partition_count):\n    return ...\n\n\n"
        "exercises.mask_step.check(partition_of_hash)"
    ),
    judge=Function(_partition_of_hash, ("key_hash", "partition_count"), HASH_CASES),
    hints=(
        "A partition is never negative, and half of all hashes are.",
        "Kafka calls the step `toPositive`, but it takes no absolute value.",
        "It clears one bit: the sign.",
    ),
    reasoning=(
        "`(key_hash & 0x7fffffff) % partition_count`: the sign bit is cleared, the other 31 bits stay. For -1 that is "
        "2147483647, not 1.\n\n"
        "The unsigned hash, `& 0xffffffff` or `>>> 0`, agrees for every hash that is not negative and whenever the "
        "partition count is a power of two, so it passes quick tests. KafkaEx had it (kafkaex/kafka_ex#398, 2020), "
        "librdkafka's first murmur2 (confluentinc/librdkafka#1816, 2018), platformatic (platformatic/kafka#121, 2025) "
        "and Dekaf (thomhurst/Dekaf#1336, 2026)."
    ),
    misconceptions=(
        Misconception(
            lambda key_hash, partition_count: abs(key_hash) % partition_count,
            "`abs` is for groups, in the coordinator, and for keys in Sarama; the Java producer clears the sign bit, "
            "which leaves another number.",
        ),
        Misconception(
            lambda key_hash, partition_count: key_hash % partition_count,
            "Python's `%` is never negative here, but it is not what is left when the sign bit is cleared.",
        ),
        Misconception(
            lambda key_hash, partition_count: (key_hash & MASK_32) % partition_count,
            "That reads the hash as unsigned and keeps its highest bit; Java clears it.",
        ),
        Misconception(
            java_remainder, "A negative hash leaves a negative remainder in Java, Go and JavaScript: no partition."
        ),
    ),
    moral="One bit, and half of the keys.",
)


def sinek_partition(key: str, partition_count: int) -> int:
    """The partition of a key, with a murmur2 made for hash tables."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    data = [ord(letter) & 0xFF for letter in key]
    h = len(data)
    whole = len(data) // 4 * 4
    for start in range(0, whole, 4):
        k = int.from_bytes(data[start : start + 4], "little") * m & mask
        k = (k ^ k >> 24) * m & mask
        h = h * m & mask ^ k
    if data[whole:]:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    h ^= h >> 15
    return h % partition_count


def kafkajs_partition(key: bytes, partition_count: int) -> int:
    """The partition of a key, with the arithmetic of JavaScript."""

    def int32(number):  # ^ and >>> bring a number down to 32 bits first
        return (int(number) + 2**31) % 2**32 - 2**31

    def times(a, b):  # * does not
        return float(a) * float(b)

    m = 0x5BD1E995
    h = 0x9747B28C ^ len(key)
    i = 0
    while i < len(key) / 4:
        k = int32(int.from_bytes(key[4 * i : 4 * i + 4], "little"))
        k = times(k, m)
        k = int32(k) ^ int32(k) % 2**32 >> 24
        k = times(k, m)
        h = times(h, m)
        h = int32(h) ^ int32(k)
        i += 1
    tail = key[len(key) // 4 * 4 :]
    if tail:
        h = times(int32(h) ^ int.from_bytes(tail, "little"), m)
    h = int32(h) ^ int32(h) % 2**32 >> 13
    h = times(h, m)
    h = int32(h) ^ int32(h) % 2**32 >> 15
    return (h & 0x7FFFFFFF) % partition_count


SINEK = FaultyCode(
    sinek_partition,
    (
        ("h = len(data)\n", "h = 0x9747B28C ^ len(data)\n"),
        ("data = [ord(letter) & 0xFF for letter in key]", "data = key.encode()"),
        ("return h % partition_count", "return (h & 0x7FFFFFFF) % partition_count"),
    ),
)


# Real reports of clients that disagreed about a key: what somebody saw and wrote down in a public thread, and the
# arithmetic behind the unexpected partition. The tests hold both numbers against what was reported.
@dataclass(frozen=True, slots=True)
class Report:
    """One report: who sent which key where, and who sent it elsewhere."""

    thread: str  # repository and number
    year: int
    client: str  # that surprised
    key: str
    partition_count: int
    seen: int  # the partition that client picked
    expected: int  # the partition the other client picked
    other_client: str
    expected_rule: str  # the other client's, by its name in `PARTITIONERS`
    mistake: str
    reproduce: Callable[[str, int], object]  # key and partition count -> the partition that was seen


def _crc32(key: str, partition_count: int) -> int:
    return partition_for_key(key.encode(), partition_count, "crc32")


def _signed_crc32(key: str, partition_count: int) -> int:
    return java_abs(java_remainder(int32(crc32(key.encode())), partition_count))


def _kafkajs(key: str, partition_count: int) -> int:
    return kafkajs_partition(key.encode(), partition_count)


_OTHER_HASH = "no fault: librdkafka's default partitioner hashes with CRC-32, Java's with murmur2"
_SIGNED = "the unsigned CRC-32 was read as a signed number before the remainder was taken"

REPORTS = (
    Report(
        "Blizzard/node-rdkafka#616",
        2019,
        "node-rdkafka 2.5.1",
        "354afe16-939a-4ea8-8e17-8bb0840b6886",
        *(10, 9, 4),
        "kafka-console-producer",
        "murmur2",
        _OTHER_HASH,
        _crc32,
    ),
    Report(
        "tulios/kafkajs#1154",
        2021,
        "node-rdkafka, kafkacat",
        "TT0124",
        *(15, 9, 10),
        "KafkaJS, JavaCompatiblePartitioner",
        "murmur2",
        _OTHER_HASH,
        _crc32,
    ),
    Report(
        "confluentinc/confluent-kafka-python#1481",
        2022,
        "confluent-kafka-python 1.8.2",
        'Struct{documentKey={"_id": "638d1b94ce8def06be68b439"}}',
        *(50, 36, 40),
        "MongoDB source connector",
        "murmur2",
        _OTHER_HASH,
        _crc32,
    ),
    Report(
        "nodefluent/node-sinek#39",
        2017,
        "node-sinek",
        "wu",
        *(10, 5, 0),
        "Java producer",
        "murmur2",
        "murmur2 without Kafka's seed",
        sinek_partition,
    ),
    Report(
        "nodefluent/node-sinek#40",
        2017,
        "node-sinek, seed fixed",
        "thingäöüÄÖÜ",
        *(10, 4, 2),
        "Java producer",
        "murmur2",
        "the low byte of each letter was hashed instead of the key's UTF-8 bytes",
        SINEK.repaired(0),
    ),
    Report(
        "tulios/kafkajs#357",
        2019,
        "KafkaJS, DefaultPartitioner",
        "100:48069",
        *(12, 6, 9),
        "Java producer",
        "murmur2",
        "products of 32-bit numbers in 64-bit floats lose their lowest bits; one round of the loop too many",
        _kafkajs,
    ),
    Report(
        "IBM/sarama#1213",
        2018,
        "Sarama with CRC-32",
        "d4eeeb1b-8c45-4250-9c2c-131b38208ee8",
        *(9, 8, 5),
        "confluent-kafka-dotnet (librdkafka)",
        "crc32",
        _SIGNED,
        _signed_crc32,
    ),
    Report(
        "twmb/franz-go#669",
        2024,
        "franz-go, SaramaCompatHasher with CRC-32",
        "test",
        *(840, 180, 76),
        "Ruby, and franz-go's SaramaHasher",
        "crc32",
        _SIGNED,
        _signed_crc32,
    ),
)
"""The reports, by mistake."""

_REPORT = next(report for report in REPORTS if report.thread == "confluentinc/confluent-kafka-python#1481")


def _hash_that_gives(partition: int) -> str:
    key = _REPORT.key.encode()
    (name,) = [name for name in PARTITIONERS if partition_for_key(key, _REPORT.partition_count, name) == partition]
    return name


def _which_hash() -> dict[str, str]:
    return {
        _REPORT.other_client: _hash_that_gives(_REPORT.expected),
        _REPORT.client: _hash_that_gives(_REPORT.seen),
        "partitioner": "murmur2_random",
    }


which_hash = Exercise(
    name="which_hash",
    asks=(
        f"**A real report** ({_REPORT.thread}). Two producers write the key\n\n```\n{_REPORT.key}\n```\n\n"
        f"to a topic with {_REPORT.partition_count} partitions. The {_REPORT.other_client} puts it into partition "
        f"{_REPORT.expected}, {_REPORT.client} into {_REPORT.seen}. By which rule of `PARTITIONERS` does each go? And "
        "which value of librdkafka's setting `partitioner` makes the Python client place every record as the Java "
        "producer would, keyless ones spread?"
    ),
    start=(
        f'rules = {{\n    "{_REPORT.other_client}": ...,\n    "{_REPORT.client}": ...,\n    "partitioner": ...,\n}}\n'
        "exercises.which_hash.check(rules)"
    ),
    judge=Value(_which_hash),
    hints=(
        "`partition_for_key(key, 50, name)` for every name in `PARTITIONERS`; the key is bytes.",
        "For the setting: librdkafka knows random, consistent, consistent_random, murmur2, murmur2_random, fnv1a and "
        "fnv1a_random.",
        "The endings say what happens to a record without a key.",
    ),
    reasoning=(
        "Each partition is given by one rule only: the connector is a Java producer and uses murmur2, librdkafka's "
        "default `consistent_random` uses CRC-32. Neither is wrong, and Kafka does not care: the producer decides. "
        "With `partitioner=murmur2_random` the Python client does as Java does. Plain `murmur2` would put all keyless "
        "records into one partition.\n\n"
        "The change moves nearly every key to another partition, as adding partitions does: plan it like that. And an "
        "empty key, which `consistent_random` spreads, is hashed by `murmur2_random` like any other "
        "(confluentinc/librdkafka#4510)."
    ),
    misconceptions=(
        Misconception(
            {"partitioner": "murmur2"}, "That hashes null keys too, so all records without a key share one partition."
        ),
        Misconception(
            {"partitioner": "consistent_random"}, "That is the default, which the client in the report had: CRC-32."
        ),
        Misconception(
            {_REPORT.client: "murmur2"},
            "librdkafka can place keys as Java does, but only when it is configured so.",
        ),
    ),
    moral="Before two clients share a topic, compare their partitioners.",
)

_TOPIC_PARTITIONS = 5
_RECORD_COUNT = 60


def _partitions_used(release: str) -> int:
    trace = simulate(Settings(_TOPIC_PARTITIONS, release), [Send(value_bytes=100)] * _RECORD_COUNT)
    return sum(count > 0 for count in trace[-1].state.record_counts)


def _without_a_key() -> dict[str, int]:
    return {
        "2.3": _partitions_used("2.3"),
        "4.3": _partitions_used("4.3"),
        "empty key": partition_for_key(b"", _TOPIC_PARTITIONS),
        "partition 3 and a key": 3,
    }


without_a_key = Exercise(
    name="without_a_key",
    asks=(
        f"Predict, for the Java producer and a topic with {_TOPIC_PARTITIONS} partitions. It writes {_RECORD_COUNT} "
        "records without a key, 100 bytes each, faster than any batch is sent: in how many partitions do they land "
        'with release 2.3, and in how many with 4.3? Which partition gets a record with the empty key `b""`? And which '
        "one gets a record for which the application names partition 3 and gives a key as well?"
    ),
    start=(
        'answer = {"2.3": ..., "4.3": ..., "empty key": ..., "partition 3 and a key": ...}\n'
        "exercises.without_a_key.check(answer)"
    ),
    judge=Value(_without_a_key),
    hints=(
        "2.3 gives each record without a key to the next partition. Since 2.4 the producer fills one batch first.",
        "`batch.size` is 16,384 bytes: do 60 records of 100 bytes fit?",
        "For Java only null is no key. `partition_for_key` takes any bytes, even none.",
    ),
    reasoning=(
        "2.3: round robin, 12 records in each of the 5 partitions. 4.3: the producer stays on one partition until "
        "`batch.size` bytes went there; 60 small records fit into one batch, so 1 partition.\n\n"
        "The empty key is a key: its murmur2 is 275646681, partition 1 of 5. (librdkafka's default takes it for no "
        "key: confluentinc/librdkafka#4510.) A partition named by the application wins over the key, which is stored "
        "but not hashed: 3."
    ),
    misconceptions=(
        Misconception(
            {"4.3": _TOPIC_PARTITIONS},
            "Round robin ended with 2.3: since then the producer stays on a partition while a batch fills up.",
        ),
        Misconception(
            {"2.3": 1}, "Staying on one partition came with 2.4 (KIP-480); 2.3 takes the next one for each record."
        ),
        Misconception(
            {"empty key": 0},
            "The hash of nothing is not 0: murmur2 starts from a seed.",
        ),
    ),
    moral="Only null is no key, and only a record without key and partition is placed by the release's rule.",
)


# Partitioners that clients shipped with a fault, rewritten in Python so that they go wrong in the same way.
def kafka_python_partition(key: bytes, partition_count: int) -> int:
    """The partition of a key, translated line by line from Java."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = 0x9747B28C ^ len(key)
    whole = len(key) // 4 * 4
    for start in range(0, whole, 4):
        k = int.from_bytes(key[start : start + 4], "little") * m & mask
        k = (k ^ k >> 24) * m & mask
        h = h * m & mask ^ k
    extra = len(key) % 4
    if extra == 3:  # Java: switch (length % 4) { case 3: ... case 2: ... }
        h ^= key[whole + 2] << 16
    if extra == 2:
        h ^= key[whole + 1] << 8
    if extra == 1:
        h ^= key[whole]
        h = h * m & mask
    h = (h ^ h >> 13) * m & mask
    h ^= h >> 15
    return (h & 0x7FFFFFFF) % partition_count


KAFKA_PYTHON = FaultyCode(
    kafka_python_partition,
    (
        ("if extra == 2:", "if extra >= 2:"),
        ("if extra == 1:", "if extra >= 1:"),
    ),
)

tail_bytes = Exercise(
    name="tail_bytes",
    asks=(
        "**Find the bug.** In 2015 kafka-python got a murmur2, translated from Java, and keys still landed elsewhere "
        "than with Java (dpkp/kafka-python#439). The code has the same fault. Fix it, so that every key lands where "
        "Java puts it."
    ),
    start=f"{KAFKA_PYTHON.source}\n\nexercises.tail_bytes.check(kafka_python_partition)",
    judge=Function(partition_for_key, ("key", "partition_count"), BYTES_CASES, unrepaired=KAFKA_PYTHON.function),
    solve=KAFKA_PYTHON.repaired,
    hints=(
        "Sort the keys that land right and those that do not by their length.",
        "A `case` of Java's `switch` without a `break` goes on with the next `case`.",
        "With three bytes left over, Java mixes in all three, and so on down.",
    ),
    reasoning=(
        "Keys go wrong when their length leaves 2 or 3 over 4. Java's `switch` has no `break`: `case 3` mixes in the "
        "third byte and falls through to `case 2`, that one to `case 1`. Tests with `==` take only one of them.\n\n"
        f"{KAFKA_PYTHON.diff()}\n\nThe pull request that fixed it brought tests against values taken from Java."
    ),
    misconceptions=(
        Misconception(
            KAFKA_PYTHON.repaired(0), "The last case, with its product, is still left out where 2 or 3 bytes are over."
        ),
        Misconception(
            KAFKA_PYTHON.repaired(1), "With two bytes over it is right now; with three the middle one is lost."
        ),
    ),
    moral="A port is right when it agrees with the original's own answers, not when its hash looks well mixed.",
)


def _partition_for_text(key: str, partition_count: int) -> int:
    return partition_for_key(key.encode(), partition_count)


three_faults = Exercise(
    name="three_faults",
    asks=(
        "**Find the bug**, and there are three. A Node.js client took a murmur2 from a package made for hash tables. "
        'It put `"wu"` into partition 5 of 10 where Java puts it into 0 (nodefluent/node-sinek#39); with that fixed, '
        '`"thingäöüÄÖÜ"` went to 4 instead of 2 (nodefluent/node-sinek#40). Here keys are strings, as they were there. '
        "Fix the code."
    ),
    start=f"{SINEK.source}\n\nexercises.three_faults.check(sinek_partition)",
    judge=Function(_partition_for_text, ("key", "partition_count"), TEXT_CASES, unrepaired=SINEK.function),
    solve=SINEK.repaired,
    hints=(
        "Begin with the empty key: what does the hash start from, here and in Kafka?",
        "Then the keys that are not ASCII: what does `ord(letter) & 0xFF` make of them, and what does a producer send?",
        "The rest is right for about half of the keys. Print the hash of those that fail, in hex.",
    ),
    reasoning=(
        "1. Kafka starts from the seed 0x9747b28c and the length; hash tables use seed 0.\n"
        "2. A key is bytes: what the serialiser made of the text, UTF-8 as a rule. The low byte of each letter is "
        "right for ASCII only.\n"
        "3. The hash must lose its sign bit before the remainder is taken. The change proposed in the first report "
        "fixes only the seed; about half of all keys would still have gone elsewhere.\n\n"
        f"{SINEK.diff()}"
    ),
    misconceptions=(
        Misconception(SINEK.repaired(0), "The seed is right. A key with an umlaut, and the sign bit, are still open."),
        Misconception(
            SINEK.repaired(0, 1), "Half of the keys are right: those whose hash has its highest bit not set."
        ),
        Misconception(SINEK.repaired(0, 2), "ASCII keys are right; a producer sends the other letters as UTF-8."),
    ),
    moral="Seed, bytes, sign bit: three places where two murmur2 can differ.",
)

KAFKAJS = FaultyCode(
    kafkajs_partition,
    (
        ("while i < len(key) / 4:", "while i < len(key) // 4:"),
        ("return float(a) * float(b)", "return a * b"),
    ),
)

float_products = Exercise(
    name="float_products",
    asks=(
        "**Find the bug**, a harder one. KafkaJS and the Java producer disagreed: `100:48069` went to partition 6 of "
        "12 with one and 9 with the other, and the two streams could not be joined (tulios/kafkajs#357). The code "
        "keeps the arithmetic of JavaScript, whose only number is the 64-bit float. There are two faults. Fix them."
    ),
    start=f"{KAFKAJS.source}\n\nexercises.float_products.check(kafkajs_partition)",
    judge=Function(partition_for_key, ("key", "partition_count"), BYTES_CASES, unrepaired=KAFKAJS.function),
    solve=KAFKAJS.repaired,
    hints=(
        "How many rounds does the loop make for a key of 9 bytes? Java's `/` of two ints is an int.",
        "A product of two 32-bit numbers needs up to 64 bits. How many does a 64-bit float keep exactly?",
        "53. The bits that are lost are the lowest ones, and `int32` keeps just those.",
    ),
    reasoning=(
        "`len(key) / 4` is 2.25 for 9 bytes, so the loop makes a third round over the byte that is left, which the "
        "tail then takes again. And a float keeps 53 bits: of a 62-bit product the lowest are rounded away, and these "
        "are the ones a 32-bit hash lives on.\n\n"
        f"{KAFKAJS.diff()}\n\n"
        "The fixed hash puts nearly every key elsewhere than before, so KafkaJS could not just replace it. It came "
        "as a second partitioner, `JavaCompatiblePartitioner` (tulios/kafkajs#358), and became the default in 2.0, in "
        "May 2022, with the old one kept as `LegacyPartitioner` (tulios/kafkajs#1339)."
    ),
    misconceptions=(
        Misconception(KAFKAJS.repaired(0), "The loop is right. The products still lose their lowest bits."),
        Misconception(KAFKAJS.repaired(1), "The products are exact. The loop still makes one round too many."),
    ),
    moral="A wrong partitioner cannot be fixed in place: every key in the topic was placed by it.",
)

_ORDERS = tuple(f"order-{number}" for number in range(1001, 1013))
_BEFORE, _AFTER = 6, 7


def _one_more_partition() -> dict[str, Any]:
    moved = frozenset(order for order in _ORDERS if _placed(order, _BEFORE) != _placed(order, _AFTER))
    return {"moved": moved, "share": float(moved_share(_BEFORE, _AFTER))}


def _placed(order: str, partition_count: int) -> int:
    return partition_for_key(order.encode(), partition_count)


def _those_in_the_new_partition() -> frozenset[str]:
    return frozenset(order for order in _ORDERS if _placed(order, _AFTER) == _BEFORE)


one_more_partition = Exercise(
    name="one_more_partition",
    asks=(
        "**Incident.** `orders` had 6 partitions and got a seventh, while 12 orders were open: `order-1001` to "
        "`order-1012`, the key of every record of an order. Soon `shipping` sent a parcel for an order that it had "
        "not yet seen as paid. Which of the 12 have their older records in another partition than their newer ones? "
        "And what share of all keys is it, in the long run, 0.01 off allowed?"
    ),
    start='answer = {"moved": ..., "share": ...}  # a set of keys, a number between 0 and 1\n'
    "exercises.one_more_partition.check(answer)",
    judge=Value(_one_more_partition, within=0.01),
    hints=(
        "Old records stay where they are; only new ones go by the new count.",
        "Compare `partition_for_key(key, 6)` and `partition_for_key(key, 7)` for each order.",
        "A key stays only if its masked hash leaves the same remainder by 6 and by 7: how many of 42 do?",
    ),
    reasoning=(
        f"{len(_one_more_partition()['moved'])} of the 12 orders are split: their newer records lie in another "
        "partition, which another member may read sooner. Remainders by 6 and by 7 repeat every 42 hashes and agree "
        "for 6 of them, so 36 of 42 keys move, 6 in 7. From n to n + 1 it is always n in n + 1; from n to 2 n it is "
        "half.\n\n"
        "Order holds per partition, and a key had one partition only as long as the count stood still. Remedies: "
        "choose enough partitions at the start; or make a new topic and switch over when the old one is read to its "
        "end."
    ),
    misconceptions=(
        Misconception(
            {"share": 1 / 7}, "1 in 7 is what the new partition receives; the other partitions swap keys as well."
        ),
        Misconception(
            {"moved": _those_in_the_new_partition()},
            "Those went to the new partition; look at what the six old ones exchanged among themselves.",
        ),
        Misconception({"moved": frozenset(_ORDERS)}, "Not all of them: some hashes leave the same remainder twice."),
    ),
    moral="For `hash % n` every new partition count is a new order of things.",
)

_FLIGHT_PARTITIONS = 12


@cache
def _flights_by_carrier() -> dict[str, int]:
    by_key = json.loads(data_file("flights").read_text(encoding="utf-8"))
    return {carrier: flight_count for carrier, flight_count, _ in by_key["carrier"]}


def _hot_key() -> dict[str, object]:
    by_carrier = _flights_by_carrier()
    by_partition = [0] * _FLIGHT_PARTITIONS
    for carrier, flight_count in by_carrier.items():
        by_partition[partition_for_key(carrier.encode(), _FLIGHT_PARTITIONS)] += flight_count
    total = sum(by_partition)
    return {
        "busiest": max(by_partition) / total,
        "empty": by_partition.count(0),
        "at best": max(by_carrier.values()) / total,
    }


hot_key = Exercise(
    name="hot_key",
    asks=(
        'The 336,776 flights of `data_file("flights")` are records with the carrier as key, UTF-8, in a topic with '
        "12 partitions. (Under `carrier` the JSON file has each carrier with its flights in the year.) What share of "
        "all records is in the busiest partition? How many partitions have none? And how small can the share of the "
        "busiest partition become at best, however many partitions there are? Shares between 0 and 1; 0.005 off will "
        "do."
    ),
    start='answer = {"busiest": ..., "empty": ..., "at best": ...}\nexercises.hot_key.check(answer)',
    judge=Value(_hot_key, within=0.005),
    hints=(
        "Read the counts of the 16 carriers first, with `json.loads`; then each carrier is one key to place.",
        "16 keys over 12 partitions: that one gets three of them and another none is nothing strange.",
        "All records of a key are in one partition: what does that say about the busiest key?",
    ),
    reasoning=(
        "Placing the 16 carriers with their flights gives: a quarter of all records in the busiest partition, "
        "where 8 % would be even, and 4 partitions with none. All flights of a carrier share a partition, so the "
        "busiest never comes below the share of the biggest carrier, UA with 17 %: more partitions cannot split a "
        "key.\n\n"
        "The aircraft as key, 4,043 of them, spreads nearly evenly. The question is only which records must stay in "
        "order with each other."
    ),
    misconceptions=(
        Misconception(
            {"busiest": 1 / _FLIGHT_PARTITIONS}, "A hash spreads keys evenly, not records, and 16 keys are very few."
        ),
        Misconception({"at best": 0}, "A key is never split, so its partition has at least all of its records."),
        Misconception({"empty": 0}, "No rule gives each partition a key; with 16 keys some partitions get none."),
    ),
    moral="Skew comes from the keys: no partitioner that keeps a key together can remove it.",
)

_CHAPTER = Chapter(
    "02 partitioner",
    (
        mask_step,
        which_hash,
        without_a_key,
        tail_bytes,
        three_faults,
        float_products,
        one_more_partition,
        hot_key,
    ),
)
all_exercises = _CHAPTER.all_exercises
score = _CHAPTER.score
__all__ = _CHAPTER.public_names()
