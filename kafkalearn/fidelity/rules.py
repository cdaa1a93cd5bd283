"""The ledger's entries. A rule that is added to kafkalearn is added here; a test holds every entry to the files."""

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
                "tests/vectors/groups-hash.json",
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
        name="group id to offsets partition",
        function="kafkalearn.coordinator.offsets_partition",
        versions="0.8.2 to 4.3",
        source="GroupCoordinatorService.partitionFor (to 4.0 also GroupMetadataManager), Utils.abs",
        checks=(
            Check(
                "recording",
                "tests/test_coordinator.py::test_every_group_of_a_real_cluster_is_found_where_its_commit_was_written",
                "data/coordinator.json",
                "cases",
                300,
            ),
            Check(
                "vectors",
                "tests/test_coordinator.py::test_each_formula_gives_what_java_gave",
                "tests/vectors/groups-hash.json",
                "vectors",
                77,
            ),
        ),
        left_out="",
    ),
    Rule(
        name="the formulas people write",
        function="kafkalearn.coordinator.FORMULAS",
        versions="none: only the one called kafka is Kafka's",
        source="articles; Java's Math.abs, % and &",
        checks=(
            Check(
                "vectors",
                "tests/test_coordinator.py::test_each_formula_gives_what_java_gave",
                "tests/vectors/groups-hash.json",
                "vectors",
                77,
            ),
            Check(
                "law",
                "tests/test_coordinator.py::test_the_formulas_without_a_mask_agree_except_on_the_smallest_hash",
            ),
            Check(
                "equality",
                "tests/spark/test_coordinator.py::test_a_hundred_thousand_random_ids_get_what_the_scalar_functions_give",
            ),
        ),
        left_out="",
    ),
    Rule(
        name="FindCoordinator",
        function="kafkalearn.coordinator.find_coordinator",
        versions="0.8.2 to 4.3",
        source="KafkaApis.handleFindCoordinatorRequest",
        checks=(
            Check(
                "recording",
                "tests/test_coordinator.py::test_every_group_of_a_real_cluster_is_found_where_its_commit_was_written",
                "data/coordinator.json",
                "cases",
                300,
            ),
        ),
        left_out="coordinators of transactions and share groups; the request itself, its retries and authorization; "
        "a broker whose knowledge of the leaders is out of date",
    ),
    Rule(
        name="FindCoordinator step by step",
        function="kafkalearn.lookup.lookup",
        versions="0.8.2 to 4.3",
        source="as the two rules it goes through",
        checks=(
            Check(
                "recording",
                "tests/test_lookup.py::test_a_look_up_on_a_real_cluster_ends_at_the_broker_that_answered",
                "data/coordinator.json",
                "cases",
                300,
            ),
            Check("law", "tests/test_lookup.py::test_a_look_up_ends_where_the_calculator_says_and_keeps_its_promises"),
        ),
        left_out="Java computes the hash in one call; the steps are for the reader",
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
                "tests/vectors/groups-murmur2.json",
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
                "tests/vectors/groups-murmur2.json",
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
    Rule(
        name="key to partition, Java producer (murmur2)",
        function="kafkalearn.partitioner.partition_for_key",
        versions="0.8.2 to 4.3; librdkafka murmur2, murmur2_random",
        source="BuiltInPartitioner.partitionForKey (before 3.3 DefaultPartitioner)",
        checks=(
            Check(
                "recording",
                "tests/test_partitioner.py::test_real_producers_wrote_a_thousand_keys_where_we_say",
                "tests/vectors/keys.json",
                "keys",
                1000,
            ),
            Check(
                "vectors",
                "tests/test_partitioner.py::test_a_key_lands_where_the_java_client_put_it",
                "tests/vectors/groups-murmur2.json",
                "vectors",
                45,
            ),
            Check(
                "equality",
                "tests/spark/test_partitioner.py::test_a_hundred_thousand_random_keys_land_where_the_scalar_functions_put_them",
            ),
        ),
        left_out="a partitioner.class of your own; partitioner.ignore.keys",
    ),
    Rule(
        name="key to partition, librdkafka (crc32) and Sarama (fnv1a)",
        function="kafkalearn.partitioner.partition_for_key",
        versions="librdkafka 2.16 consistent, consistent_random, fnv1a, fnv1a_random",
        source="librdkafka, rd_kafka_msg_partitioner_consistent and _fnv1a",
        checks=(
            Check(
                "recording",
                "tests/test_partitioner.py::test_real_producers_wrote_a_thousand_keys_where_we_say",
                "tests/vectors/keys.json",
                "keys",
                1000,
            ),
            Check(
                "vectors",
                "tests/test_partitioner.py::test_a_key_lands_where_librdkafka_put_it",
                "tests/vectors/groups-murmur2.json",
                "librdkafka",
                45,
            ),
            Check(
                "equality",
                "tests/spark/test_partitioner.py::test_a_hundred_thousand_random_keys_land_where_the_scalar_functions_put_them",
            ),
        ),
        left_out="an empty key under consistent_random, which draws for it as for none; Sarama itself was not run, "
        "librdkafka's copy of its rule was",
    ),
    Rule(
        name="key to partition, murmur2 without its mask",
        function="kafkalearn.partitioner.partition_for_key",
        versions="none: a mistake that clients made",
        source="the Java rule, with the hash as an unsigned number",
        checks=(
            Check(
                "law",
                "tests/test_partitioner.py::test_forgetting_the_mask_changes_the_partition_only_of_a_negative_hash",
            ),
            Check(
                "equality",
                "tests/spark/test_partitioner.py::test_a_hundred_thousand_random_keys_land_where_the_scalar_functions_put_them",
            ),
        ),
        left_out="no client that makes the mistake was run",
    ),
    Rule(
        name="key to task, Spark's shuffle",
        function="kafkalearn.partitioner.partition_for_key",
        versions="none: Spark's rule, not Kafka's",
        source="Spark 4.3, Murmur3_x86_32.hashUnsafeBytes, pmod(hash(key), n)",
        checks=(
            Check(
                "equality",
                "tests/spark/test_partitioner.py::test_a_hundred_thousand_random_keys_land_where_the_scalar_functions_put_them",
            ),
        ),
        left_out="keys of other types than binary and string, which Spark hashes in other ways",
    ),
    Rule(
        name="which keyless rule a release has",
        function="kafkalearn.keyless.rule_of",
        versions="0.8.2 to 4.3",
        source="DefaultPartitioner of each release (0.8.2: Partitioner); KIP-480; KIP-794",
        checks=(Check("examples", "tests/test_keyless.py::test_the_rules_follow_the_releases"),),
        left_out="0.8.2.0 alone, which counted over all partitions; partitioners that have to be asked for: "
        "RoundRobinPartitioner, UniformStickyPartitioner",
    ),
    Rule(
        name="keyless records, round robin",
        function="kafkalearn.keyless.send_all",
        versions="0.8.2 to 2.3",
        source="DefaultPartitioner: one counter to 0.10.1, one for each topic from 0.10.2",
        checks=(
            Check(
                "examples",
                "tests/test_keyless.py::test_round_robin_deals_sixty_records_evenly_over_five_partitions",
            ),
            Check(
                "law",
                "tests/test_keyless.py::test_round_robin_is_even_to_one_record_and_sticky_is_not_meant_to_be",
            ),
        ),
        left_out="no recorded run of these releases; metadata that changes under way",
    ),
    Rule(
        name="one counter for two topics",
        function="kafkalearn.keyless.step",
        versions="0.8.2 to 0.10.1, against 0.10.2",
        source="DefaultPartitioner",
        checks=(
            Check(
                "examples", "tests/test_keyless.py::test_one_counter_for_two_topics_leaves_every_other_partition_empty"
            ),
        ),
        left_out="no recorded run of these releases",
    ),
    Rule(
        name="keyless records, sticky (KIP-480)",
        function="kafkalearn.keyless.send_all",
        versions="2.4 to 3.2",
        source="StickyPartitionCache.nextPartition, KafkaProducer.doSend; KIP-480",
        checks=(
            Check(
                "examples",
                "tests/test_keyless.py::test_sticky_rules_put_sixty_small_records_in_one_batch_of_one_partition",
            ),
            Check("law", "tests/test_keyless.py::test_the_sticky_rule_of_2_4_never_draws_the_partition_it_leaves"),
        ),
        left_out="no recorded run of these releases; compression and headers; which number Java's random source "
        "draws is an input",
    ),
    Rule(
        name="keyless records, uniform sticky (KIP-794)",
        function="kafkalearn.keyless.send_all",
        versions="3.3 to 4.3",
        source="RecordAccumulator.append, BuiltInPartitioner.updatePartitionInfo; KIP-794",
        checks=(
            Check(
                "vectors",
                "tests/test_keyless.py::test_the_uniform_sticky_rule_switches_where_the_real_producer_did",
                "tests/vectors/groups-partitioner.json",
                "batch_switching",
                6,
            ),
        ),
        left_out="compression, headers and timestamps that differ within a batch; several threads that send at "
        "once; which number Java's random source draws is an input",
    ),
    Rule(
        name="adaptive weights",
        function="kafkalearn.keyless.queue_weights",
        versions="3.3 to 4.3",
        source="BuiltInPartitioner.updatePartitionLoadStats",
        checks=(
            Check(
                "vectors",
                "tests/test_keyless.py::test_the_weights_are_those_the_real_partitioner_computed",
                "tests/vectors/groups-partitioner.json",
                "adaptive_weights",
                6,
            ),
        ),
        left_out="when the sending thread looks, and which broker counts as stalled, are inputs",
    ),
    Rule(
        name="bytes of a record and of a batch",
        function="kafkalearn.batching.append",
        versions="0.11 to 4.3",
        source="DefaultRecord.sizeInBytes, MemoryRecordsBuilder.hasRoomFor",
        checks=(
            Check(
                "examples",
                "tests/test_batching.py::test_a_keyless_record_takes_the_bytes_the_real_producer_appended",
            ),
            Check("law", "tests/test_batching.py::test_batches_hold_every_record_and_only_the_last_is_open"),
        ),
        left_out="compression, headers, timestamps that differ; the message formats before 0.11. The bytes recorded "
        "of the real producer are checked with the uniform sticky rule",
    ),
    Rule(
        name="defaults of settings by release",
        function="kafkalearn.versions.default",
        versions="0.8.2 to 4.3, the newest patch of each line",
        source="ConsumerConfig, ProducerConfig, KafkaConfig, LogConfig, GroupConfig of each release",
        checks=(
            Check(
                "recording",
                "tests/test_versions.py::test_the_package_holds_every_default_of_the_recorded_file_and_no_other",
                "tests/vectors/settings-by-release.json",
                "settings",
                371,
            ),
        ),
        left_out="settings of security, listeners, quotas, metrics, tiered storage and the KRaft quorum; "
        "what a distribution's own server.properties sets",
    ),
    Rule(
        name="what an upgrade changes",
        function="kafkalearn.versions.changes",
        versions="0.8.2 to 4.3",
        source="the recorded defaults of both releases",
        checks=(
            Check(
                "vectors",
                "tests/test_versions.py::test_the_changes_of_each_setting_are_the_recorded_ones",
                "tests/vectors/settings-by-release.json",
                "settings",
                371,
            ),
            Check(
                "law",
                "tests/test_versions.py::test_changes_carry_the_defaults_of_one_release_over_into_those_of_another",
            ),
        ),
        left_out="in which patch of a line a change came; changed meanings and limits of a setting, except where "
        "a note tells",
    ),
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
"""Every rule, in the order of the modules."""
