"""The ledger's entries on group ids and keys on Spark."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RULES = (
    Rule(
        name="on Spark: group id to offsets partition",
        function="kafkalearn.spark.coordinator.with_offsets_partition",
        versions="0.8.2 to 4.3",
        source="as kafkalearn.coordinator; the hash is Java's own function",
        checks=(
            Check(
                "vectors",
                "tests/spark/test_coordinator.py::test_recorded_ids_get_what_java_gave",
                "tests/vectors/groups-hash.json",
                "vectors",
                77,
            ),
            Check(
                "equality",
                "tests/spark/test_coordinator.py::test_a_hundred_thousand_random_ids_get_what_the_scalar_functions_give",
            ),
        ),
        left_out="",
    ),
    Rule(
        name="on Spark: group id to coordinator",
        function="kafkalearn.spark.coordinator.with_coordinator",
        versions="0.8.2 to 4.3",
        source="as kafkalearn.coordinator",
        checks=(
            Check(
                "recording",
                "tests/spark/test_coordinator.py::test_every_group_of_a_real_cluster_is_found_at_its_coordinator",
                "data/coordinator.json",
                "cases",
                300,
            ),
        ),
        left_out="leaders that change while the query runs",
    ),
    Rule(
        name="on Spark: key to partition",
        function="kafkalearn.spark.partitioner.with_partition",
        versions="as kafkalearn.partitioner",
        source="as kafkalearn.partitioner; murmur2 is that of Apache Commons Codec",
        checks=(
            Check(
                "recording",
                "tests/spark/test_partitioner.py::test_real_producers_wrote_a_thousand_keys_where_we_say",
                "tests/vectors/keys.json",
                "keys",
                1000,
            ),
            Check(
                "vectors",
                "tests/spark/test_partitioner.py::test_recorded_keys_land_where_the_java_client_put_them",
                "tests/vectors/groups-murmur2.json",
                "vectors",
                45,
            ),
            Check(
                "equality",
                "tests/spark/test_partitioner.py::test_a_hundred_thousand_random_keys_land_where_the_scalar_functions_put_them",
            ),
        ),
        left_out="keys that are not serialised yet: a number has no bytes until a serialiser gives it some",
    ),
)
