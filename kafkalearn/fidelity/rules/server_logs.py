"""The ledger's entries on what the logs of brokers and clients say."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RUNS = "tests/server_logs/test_recorded_runs.py"
PATTERNS = "tests/server_logs/test_patterns.py"
LINES = "tests/server_logs/test_lines.py"
CAUSES = "tests/server_logs/test_causes.py"
RECORDED = "tests/vectors/server_logs/server-log-runs.json"

RULES: tuple[Rule, ...] = (
    Rule(
        name="what a line of a log says about a group",
        function="kafkalearn.server_logs.read",
        versions="0.11 to 4.3; Java's consumer 0.9 to 4.3, librdkafka 1.0 to 2.16, kafka-python 1.0 to 3.0, aiokafka",
        source="the classes that kafkalearn/server_logs/patterns names for each form",
        checks=(
            Check("examples", f"{PATTERNS}::test_its_example_is_its_event"),
            Check("examples", f"{LINES}::test_one_line_says_the_same_everywhere"),
            Check("equality", f"{PATTERNS}::test_the_regular_expression_says_the_same"),
        ),
        left_out="half of the forms were not recorded but taken from the sources at their tags, as each says; share "
        "and streams groups; Kafka Connect's own lines; clients other than these",
    ),
    Rule(
        name="why a group rebalanced, from logs",
        function="kafkalearn.server_logs.rebalances.histories",
        versions="0.11 to 4.3, classic groups and KIP-848",
        source="GroupCoordinator (Scala), GroupMetadataManager (Java): every caller of prepareRebalance, every bump of "
        "a group epoch",
        checks=(
            Check(
                "recording",
                f"{RUNS}::test_no_cause_is_wrong_in_the_runs_that_were_apart",
                RECORDED,
                "held_out",
                139,
            ),
            Check(
                "recording",
                f"{RUNS}::test_no_cause_is_wrong_in_the_runs_that_were_looked_at",
                RECORDED,
                "learning",
                269,
            ),
            Check("examples", f"{CAUSES}::test_causes_that_were_not_provoked"),
            Check("examples", f"{CAUSES}::test_a_rebalance_whose_end_is_not_in_the_log_has_no_length"),
        ),
        left_out="up to 2.0 the coordinator writes no reason: without the clients' logs only expired members and first "
        "ones are named; what a log does not decide has a name of its own that says what it may be; not provoked on a "
        "broker: sync lost, over capacity, store failed, an admin's removal, a coordinator that moved",
    ),
)
