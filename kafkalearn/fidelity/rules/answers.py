"""The ledger's entries on what the command answers by rules of its own; the rest stands on the rules of other parts."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RULES = (
    Rule(
        name="settings that a client refuses",
        function="kafkalearn.answers.settings.refusals.refusals",
        versions="0.11 to 4.3",
        source="ConfigDef, ProducerConfig, ConsumerConfig, KafkaProducer.configureDeliveryTimeout, Heartbeat; KIP-848",
        checks=(
            Check(
                "vectors",
                "tests/answers/test_upgrade.py::test_what_a_client_of_a_release_refuses_is_refused_here",
                "tests/vectors/answers/client-settings.json",
                "cases",
                64,
            ),
            Check("law", "tests/answers/test_upgrade.py::test_no_release_refuses_its_own_default"),
        ),
        left_out="what a broker checks beyond the limits of single settings; whether the case of a value matters; "
        "codecs that no class states before 3.1; classes that a release does not have yet; what a program sets besides "
        "its file; settings of Connect, Streams and plug-ins",
    ),
    Rule(
        name="Java's properties files",
        function="kafkalearn.answers.settings.properties.parse_properties",
        versions="Java 8 to 25",
        source="java.util.Properties.load",
        checks=(
            Check(
                "vectors",
                "tests/answers/test_properties.py::test_a_text_has_the_settings_that_java_reads",
                "tests/vectors/answers/java-properties.json",
                "cases",
                240,
            ),
            Check("law", "tests/answers/test_properties.py::test_what_is_written_is_read"),
        ),
        left_out="config providers: what stands for ${...} is not looked up",
    ),
    Rule(
        name="the coordinator of a transactional id",
        function="kafkalearn.answers.where",
        versions="0.11 to 4.3",
        source="TransactionStateManager.partitionFor",
        checks=(Check("law", "tests/answers/test_where.py::test_groups_and_transactional_ids_have_one_rule"),),
        left_out="share groups, whose state is in __share_group_state by a rule of its own",
    ),
    Rule(
        name="how far a streaming query has come",
        function="kafkalearn.answers.streaming.streaming_progress",
        versions="Spark 4.3",
        source="OffsetSeqLog, CommitLog, KafkaSourceOffset, KafkaMicroBatchStream",
        checks=(
            Check(
                "vectors",
                "tests/answers/test_streaming.py::test_a_batch_that_was_begun_only_counts_as_not_read",
                "tests/vectors/answers/streaming-checkpoints.json",
                "in a batch",
                9,
            ),
        ),
        left_out="checkpoints of versions other than 1 and of continuous processing; sources that are not Kafka",
    ),
    Rule(
        name="what fills the offsets topic, in words",
        function="kafkalearn.spark.offsets.findings.group_findings",
        versions="0.8.2 to 4.3",
        source="the counts of kafkalearn.answers.xray",
        checks=(
            Check(
                "equality",
                "tests/spark/offsets/test_findings.py::test_each_group_has_the_counts_that_an_x_ray_of_the_files_has",
            ),
        ),
        left_out="when an offset expires; what the cleaner has not come to, which the disk alone tells",
    ),
)
