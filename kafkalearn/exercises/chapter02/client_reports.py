"""Real reports of clients that disagreed about a key, each reproduced exactly.

A row of `REPORTS` is what somebody saw and wrote down in a public thread: the key, the partition count, the partition
that came and the one that another client picked. `Report.reproduce` is the arithmetic behind the unexpected one, and
the tests hold both numbers against what was reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kafkalearn.exercises.chapter02.client_code import SINEK, kafkajs_partition, sinek_partition
from kafkalearn.hashing import crc32, int32, java_abs, java_remainder
from kafkalearn.partitioning.keyed import partition_for_key


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
    expected_rule: str  # the other client's, by its name in partitioner.PARTITIONERS
    mistake: str
    reproduce: Callable[[str, int], int]  # key and partition count -> the partition that was seen


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
