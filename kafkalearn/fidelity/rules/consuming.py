"""The ledger's entries on what a group reads, and its lag."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RULES = (
    Rule(
        name="what the members of groups read",
        function="kafkalearn.consuming.step",
        versions="0.9 to 4.3",
        source="KafkaConsumer, ConsumerCoordinator, Fetcher; who owns what is the assignors' rule",
        checks=(
            Check(
                "law", "tests/consuming/test_promises.py::test_every_moment_of_every_schedule_keeps_what_always_holds"
            ),
            Check("law", "tests/consuming/test_simulator.py::test_groups_do_not_notice_each_other"),
            Check(
                "examples",
                "tests/consuming/test_simulator.py::test_where_nothing_is_committed_the_setting_says_where_to_begin",
            ),
        ),
        left_out="the time between reading and committing (kafkalearn.commits), time in a rebalance "
        "(kafkalearn.group), fetching ahead, records of several partitions in one poll, more than one topic; keyless "
        "records are dealt out one by one, as producers did up to 2.3",
    ),
    Rule(
        name="lag",
        function="kafkalearn.consuming.lags",
        versions="0.9 to 4.3",
        source="ConsumerGroupCommand",
        checks=(
            Check(
                "examples",
                "tests/consuming/test_lag.py::test_lag_counts_from_what_is_committed_and_is_not_known_before",
            ),
            Check("equality", "tests/spark/test_lag.py::test_lag_is_that_of_the_simulator_partition_by_partition"),
        ),
        left_out="the log end that tools see is the high watermark, or the last stable offset",
    ),
    Rule(
        name="what kafka-consumer-groups --describe prints",
        function="kafkalearn.consuming.describe_group",
        versions="0.10.2 to 4.3",
        source="ConsumerGroupCommand.printAssignment, printOffsets",
        checks=(
            Check(
                "examples",
                "tests/consuming/test_describe.py::test_each_release_prints_its_own_columns_to_the_character",
            ),
            Check(
                "examples",
                "tests/consuming/test_describe.py::test_members_with_most_partitions_come_first_then_what_nobody_owns",
            ),
        ),
        left_out="--members, --state, --verbose, --all-groups; the columns up to 0.10.1; groups of the old consumer",
    ),
)
