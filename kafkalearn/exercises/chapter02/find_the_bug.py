"""The find-the-bug exercises of chapter 02: faults that clients really shipped."""

from __future__ import annotations

from kafkalearn.exercises.chapter02.client_code import KAFKA_PYTHON, KAFKAJS, SINEK
from kafkalearn.exercises.kit.exercise import Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.partitioning.keyed import partition_for_key

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


def _partition_for_text(key: str, partition_count: int) -> int:
    return partition_for_key(key.encode(), partition_count)


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

three_faults = Exercise(
    name="three_faults",
    asks=(
        "**Find the bug**, and there are three. A Node.js client took a murmur2 from a package made for hash tables. "
        'It put `"wu"` into partition 5 of 10 where Java puts it into 0 (nodefluent/node-sinek#39); with that fixed, '
        '`"thingäöüÄÖÜ"` went to 4 instead of 2 (nodefluent/node-sinek#40). Here keys are text, as they were there. '
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
