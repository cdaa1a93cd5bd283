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
)
