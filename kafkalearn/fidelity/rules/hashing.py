"""The ledger's entries on hashes of ids and keys."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RULES = (
    Rule(
        name="hash of a group id",
        function="kafkalearn.hashing.java_string_hash",
        versions="0.8.2 to 4.3",
        source="java.lang.String.hashCode",
        checks=(
            Check(
                "vectors",
                "tests/test_hashing.py::test_the_hash_of_a_group_id_is_what_java_computed",
                "tests/vectors/hashing/groups-hash.json",
                "vectors",
                77,
            ),
            Check("law", "tests/test_hashing.py::test_a_hash_of_two_texts_is_built_from_the_hash_of_the_first"),
            Check(
                "equality",
                "tests/spark/test_coordinator.py::test_a_hundred_thousand_random_ids_get_what_the_scalar_functions_give",
            ),
        ),
        left_out="texts with lone surrogates are refused: no client can send them",
    ),
    Rule(
        name="murmur2 of a key",
        function="kafkalearn.hashing.murmur2",
        versions="0.8.2 to 4.3",
        source="Utils.murmur2",
        checks=(
            Check(
                "vectors",
                "tests/test_hashing.py::test_murmur2_is_what_java_computed",
                "tests/vectors/hashing/groups-murmur2.json",
                "vectors",
                45,
            ),
        ),
        left_out="",
    ),
    Rule(
        name="CRC-32 of a key",
        function="kafkalearn.hashing.crc32",
        versions="librdkafka 2.16",
        source="the polynomial of zlib",
        checks=(
            Check(
                "vectors",
                "tests/test_hashing.py::test_crc32_is_what_librdkafka_computed",
                "tests/vectors/hashing/groups-murmur2.json",
                "librdkafka",
                45,
            ),
        ),
        left_out="",
    ),
    Rule(
        name="FNV-1a of a key",
        function="kafkalearn.hashing.fnv1a",
        versions="librdkafka 2.16",
        source="Fowler, Noll and Vo",
        checks=(Check("published", "tests/test_hashing.py::test_fnv1a_gives_the_values_its_authors_publish"),),
        left_out="",
    ),
)
