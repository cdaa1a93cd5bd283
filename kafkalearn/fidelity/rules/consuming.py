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
        "records are dealt out one by one, as producers did up to 2.3; offsets_kept_by='member' is no rule of Kafka's "
        "but a comparison with it",
    ),
    Rule(
        name="what a rebalance loses, by whose the offsets are",
        function="kafkalearn.consuming.handovers.handovers",
        versions="0.9 to 4.3",
        source="OffsetCommitKey: a committed offset belongs to group, topic and partition, and not to a member",
        checks=(
            Check(
                "examples",
                "tests/consuming/test_offsets_kept_by.py::test_what_a_rebalance_loses_depends_on_whose_the_offsets_are",
            ),
            Check(
                "law",
                "tests/consuming/test_offsets_kept_by.py::"
                "test_a_handover_goes_back_as_far_as_a_member_of_its_own_would_begin",
            ),
            Check("equality", "tests/spark/consuming/test_handovers.py::test_each_handover_is_that_of_the_simulator"),
        ),
        left_out="offsets by member are a comparison: in Kafka, set_back never happens; each handover is counted as "
        "if it were the only one",
    ),
    Rule(
        name="pull beside push",
        function="kafkalearn.consuming.push.step",
        versions="0.8 to 4.3, the log and its readers alone",
        source="KafkaConsumer.poll; the design document, 'Push vs. pull'; the queues are no rule of Kafka's",
        checks=(
            Check(
                "law",
                "tests/consuming/push/test_promises.py::test_every_moment_of_every_schedule_keeps_what_always_holds",
            ),
            Check("law", "tests/consuming/push/test_promises.py::test_consumers_change_nothing_in_the_log"),
        ),
        left_out="the broker that pushes is not Kafka but a comparison: queues of fixed length, acknowledgements that "
        "arrive at once, consumers that never crash; the log has one partition, and its retention counts records, not "
        "bytes or time",
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
    Rule(
        name="what kafka-consumer-groups --list prints",
        function="kafkalearn.consuming.listing.list_groups",
        versions="0.9 to 4.3",
        source="ConsumerGroupCommand.listGroups, AdminClient, KafkaAdminClient.listConsumerGroups",
        checks=(
            Check(
                "recording",
                "tests/consuming/test_listing.py::test_each_release_prints_what_its_tool_printed",
                "tests/vectors/consuming/tool-lines.json",
                "clusters",
                3,
            ),
            Check(
                "examples",
                "tests/consuming/test_listing.py::test_before_2_1_groups_are_printed_as_the_brokers_answered",
            ),
        ),
        left_out="a state or a type as a value of the option; errors of brokers; groups of ZooKeeper",
    ),
    Rule(
        name="the lines of GetOffsetShell",
        function="kafkalearn.consuming.log_ends.log_end_lines",
        versions="0.8.2 to 4.3",
        source="GetOffsetShell",
        checks=(
            Check(
                "recording",
                "tests/consuming/test_log_ends.py::test_each_release_prints_what_its_tool_printed",
                "tests/vectors/consuming/tool-lines.json",
                "clusters",
                3,
            ),
            Check(
                "examples",
                "tests/consuming/test_log_ends.py::"
                "test_a_partition_without_an_offset_has_an_empty_one_up_to_3_1_and_no_line_since",
            ),
        ),
        left_out="several topics at once; --offsets, which up to 1.1 printed several offsets a line; what the tool "
        "says of partitions without a leader",
    ),
    Rule(
        name="a consumer's position, its leader epoch, and a log that is cut (KIP-320)",
        function="kafkalearn.consuming.truncation.step",
        versions="2.1 to 4.3 (validation since 2.3); librdkafka as its issue 5158 tells it",
        source="SubscriptionState, Metadata, OffsetFetcherUtils, FetchCollector; Partition.lastOffsetForLeaderEpoch; "
        "KAFKA-7747, KAFKA-19902",
        checks=(
            Check(
                "law",
                "tests/consuming/truncation/test_simulator.py::"
                "test_the_report_of_epochless_commits_a_rebalance_brings_everything_again",
            ),
            Check(
                "law",
                "tests/consuming/truncation/test_simulator.py::"
                "test_the_report_of_assigned_offsets_that_are_not_validated",
            ),
            Check(
                "examples",
                "tests/consuming/truncation/test_simulator.py::test_a_cut_log_is_noticed_and_read_on_where_it_was_cut",
            ),
        ),
        left_out="groups and generations (kafkalearn.commits, kafkalearn.group); fetch sessions and batches: a poll "
        "gets all there is; fetching from followers (KIP-392); who refreshes metadata when is an event",
    ),
)
