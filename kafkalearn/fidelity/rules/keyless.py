"""The ledger's entries on records without a key, and their batches."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RULES = (
    Rule(
        name="which keyless rule a release has",
        function="kafkalearn.partitioning.keyless.rule_of",
        versions="0.8.2 to 4.3",
        source="DefaultPartitioner of each release (0.8.2: Partitioner); KIP-480; KIP-794",
        checks=(Check("examples", "tests/partitioning/test_keyless.py::test_the_rules_follow_the_releases"),),
        left_out="0.8.2.0 alone, which counted over all partitions; partitioners that have to be asked for: "
        "RoundRobinPartitioner, UniformStickyPartitioner",
    ),
    Rule(
        name="keyless records, round robin",
        function="kafkalearn.partitioning.keyless.simulate",
        versions="0.8.2 to 2.3",
        source="DefaultPartitioner: one counter to 0.10.1, one for each topic from 0.10.2",
        checks=(
            Check(
                "examples",
                "tests/partitioning/test_keyless.py::test_round_robin_deals_sixty_records_evenly_over_five_partitions",
            ),
            Check(
                "law",
                "tests/partitioning/test_keyless.py::test_round_robin_is_even_to_one_record_and_sticky_is_not_meant_to_be",
            ),
        ),
        left_out="no recorded run of these releases; metadata that changes during the run",
    ),
    Rule(
        name="one counter for two topics",
        function="kafkalearn.partitioning.keyless.step",
        versions="0.8.2 to 0.10.1, against 0.10.2",
        source="DefaultPartitioner",
        checks=(
            Check(
                "examples",
                "tests/partitioning/test_keyless.py::test_one_counter_for_two_topics_leaves_every_other_partition_empty",
            ),
        ),
        left_out="no recorded run of these releases",
    ),
    Rule(
        name="keyless records, sticky (KIP-480)",
        function="kafkalearn.partitioning.keyless.simulate",
        versions="2.4 to 3.2",
        source="StickyPartitionCache.nextPartition, KafkaProducer.doSend; KIP-480",
        checks=(
            Check(
                "examples",
                "tests/partitioning/test_keyless.py::test_sticky_rules_put_sixty_small_records_in_one_batch_of_one_partition",
            ),
            Check(
                "law",
                "tests/partitioning/test_keyless.py::test_the_sticky_rule_of_2_4_never_draws_the_partition_it_leaves",
            ),
        ),
        left_out="no recorded run of these releases; compression and headers; which number Java's random source "
        "draws is an input",
    ),
    Rule(
        name="keyless records, uniform sticky (KIP-794)",
        function="kafkalearn.partitioning.keyless.simulate",
        versions="3.3 to 4.3",
        source="RecordAccumulator.append, BuiltInPartitioner.updatePartitionInfo; KIP-794",
        checks=(
            Check(
                "vectors",
                "tests/partitioning/test_keyless.py::test_the_uniform_sticky_rule_switches_where_the_real_producer_did",
                "tests/vectors/partitioning/groups-partitioner.json",
                "batch_switching",
                6,
            ),
        ),
        left_out="compression, headers and timestamps that differ within a batch; several threads that send at "
        "once; which number Java's random source draws is an input",
    ),
    Rule(
        name="adaptive weights",
        function="kafkalearn.partitioning.keyless.queue_weights",
        versions="3.3 to 4.3",
        source="BuiltInPartitioner.updatePartitionLoadStats",
        checks=(
            Check(
                "vectors",
                "tests/partitioning/test_keyless.py::test_the_weights_are_those_the_real_partitioner_computed",
                "tests/vectors/partitioning/groups-partitioner.json",
                "adaptive_weights",
                6,
            ),
        ),
        left_out="when the sending thread looks, and which broker counts as stalled, are inputs",
    ),
    Rule(
        name="bytes of a record and of a batch",
        function="kafkalearn.partitioning.batching.append",
        versions="0.11 to 4.3",
        source="DefaultRecord.sizeInBytes, MemoryRecordsBuilder.hasRoomFor",
        checks=(
            Check(
                "examples",
                "tests/partitioning/test_batching.py::test_a_keyless_record_takes_the_bytes_the_real_producer_appended",
            ),
            Check(
                "law", "tests/partitioning/test_batching.py::test_batches_hold_every_record_and_only_the_last_is_open"
            ),
        ),
        left_out="compression, headers, timestamps that differ; the message formats before 0.11. The bytes recorded "
        "of the real producer are checked with the uniform sticky rule",
    ),
)
