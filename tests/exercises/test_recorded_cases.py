"""What the exercises hold a student's function against was recorded from real Kafka, case by case."""

from kafkalearn.base.hashing import to_positive
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.exercises.chapter01 import OFFSETS_CASES
from kafkalearn.exercises.chapter02 import BYTES_CASES, HASH_CASES, TEXT_CASES
from kafkalearn.partitioning.keyed import partition_for_key
from tests.recorded import recorded

GROUPS = {(case["group_id"], case["partitions"]): case["partition"] for case in recorded("groups-hash")["vectors"]}
KEYS = {
    (bytes.fromhex(case["key_hex"]), int(partition_count)): partition
    for case in recorded("groups-murmur2")["vectors"]
    for partition_count, partition in case["partition"].items()
}
HASHES = {bytes.fromhex(case["key_hex"]): case["murmur2"] for case in recorded("groups-murmur2")["vectors"]}


def test_each_group_lies_where_kafka_put_it():
    assert {case: offsets_partition(*case) for case in OFFSETS_CASES} == {case: GROUPS[case] for case in OFFSETS_CASES}


def test_each_key_lands_where_kafka_put_it():
    assert {case: partition_for_key(*case) for case in BYTES_CASES} == {case: KEYS[case] for case in BYTES_CASES}


def test_the_keys_given_as_text_are_the_same_keys():
    assert tuple((key.encode(), partition_count) for key, partition_count in TEXT_CASES) == BYTES_CASES


def test_each_hash_and_its_partition_are_those_of_a_key():
    for (key, partition_count), (key_hash, same_count) in zip(BYTES_CASES, HASH_CASES, strict=True):
        assert (key_hash, same_count) == (HASHES[key], partition_count)
        assert to_positive(key_hash) % partition_count == KEYS[key, partition_count]
