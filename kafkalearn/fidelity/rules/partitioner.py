"""The ledger's entries on the partition of a key."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RULES = (
    Rule(
        name="key to partition, Java producer (murmur2)",
        function="kafkalearn.partitioning.partition_for_key",
        versions="0.8.2 to 4.3; librdkafka murmur2, murmur2_random",
        source="BuiltInPartitioner.partitionForKey (before 3.3 DefaultPartitioner)",
        checks=(
            Check(
                "recording",
                "tests/partitioning/test_keyed.py::test_real_producers_wrote_a_thousand_keys_where_we_say",
                "tests/vectors/hashing/keys.json",
                "keys",
                1000,
            ),
            Check(
                "vectors",
                "tests/partitioning/test_keyed.py::test_a_key_lands_where_the_java_client_put_it",
                "tests/vectors/hashing/groups-murmur2.json",
                "vectors",
                45,
            ),
            Check(
                "equality",
                "tests/spark/partitioning/test_keyed.py::test_a_hundred_thousand_random_keys_land_where_the_scalar_functions_put_them",
            ),
        ),
        left_out="a partitioner.class of your own; partitioner.ignore.keys",
    ),
    Rule(
        name="key to partition, librdkafka (crc32) and Sarama (fnv1a)",
        function="kafkalearn.partitioning.partition_for_key",
        versions="librdkafka 2.16 consistent, consistent_random, fnv1a, fnv1a_random",
        source="librdkafka, rd_kafka_msg_partitioner_consistent and _fnv1a",
        checks=(
            Check(
                "recording",
                "tests/partitioning/test_keyed.py::test_real_producers_wrote_a_thousand_keys_where_we_say",
                "tests/vectors/hashing/keys.json",
                "keys",
                1000,
            ),
            Check(
                "vectors",
                "tests/partitioning/test_keyed.py::test_a_key_lands_where_librdkafka_put_it",
                "tests/vectors/hashing/groups-murmur2.json",
                "librdkafka",
                45,
            ),
            Check(
                "equality",
                "tests/spark/partitioning/test_keyed.py::test_a_hundred_thousand_random_keys_land_where_the_scalar_functions_put_them",
            ),
        ),
        left_out="an empty key under consistent_random, which draws for it as for none; Sarama itself was not run, "
        "librdkafka's copy of its rule was",
    ),
    Rule(
        name="key to partition, murmur2 without its mask",
        function="kafkalearn.partitioning.partition_for_key",
        versions="none: a mistake that clients made",
        source="the Java rule, with the hash as an unsigned number",
        checks=(
            Check(
                "law",
                "tests/partitioning/test_keyed.py::test_forgetting_the_mask_changes_the_partition_only_of_a_negative_hash",
            ),
            Check(
                "equality",
                "tests/spark/partitioning/test_keyed.py::test_a_hundred_thousand_random_keys_land_where_the_scalar_functions_put_them",
            ),
        ),
        left_out="no client that makes the mistake was run",
    ),
    Rule(
        name="key to task, Spark's shuffle",
        function="kafkalearn.partitioning.partition_for_key",
        versions="none: Spark's rule, not Kafka's",
        source="Spark 4.3, Murmur3_x86_32.hashUnsafeBytes, pmod(hash(key), n)",
        checks=(
            Check(
                "equality",
                "tests/spark/partitioning/test_keyed.py::test_a_hundred_thousand_random_keys_land_where_the_scalar_functions_put_them",
            ),
        ),
        left_out="keys of other types than binary and string, which Spark hashes in other ways",
    ),
)
