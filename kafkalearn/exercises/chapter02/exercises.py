"""The exercises of chapter 02: where does my record land?"""

from __future__ import annotations

from kafkalearn.exercises.chapter02.client_reports import REPORTS
from kafkalearn.exercises.chapter02.find_the_bug import BYTES_CASES, float_products, tail_bytes, three_faults
from kafkalearn.exercises.chapter02.incidents import hot_key, one_more_partition
from kafkalearn.exercises.kit.exercise import Chapter, Exercise, Misconception
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.values import Value
from kafkalearn.hashing import MASK_32, java_remainder, murmur2, to_positive
from kafkalearn.partitioning.keyed import PARTITIONERS, partition_for_key
from kafkalearn.partitioning.keyless import Send, Settings, simulate

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
    solve=lambda: _partition_of_hash,
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
    solve=_which_hash,
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
    solve=_without_a_key,
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
