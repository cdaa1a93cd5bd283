"""The ledger's entries on a coordinator's life: orders, loads, what clients hear, and the cleaner beside a load."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

MOVES = "tests/vectors/operations/coordinator-moves.json"

RULES = (
    Rule(
        name="a coordinator's life: orders, loads, answers",
        function="kafkalearn.operations.coordinator_life.step",
        versions="0.9.0 to 4.3",
        source="GroupCoordinator, GroupMetadataManager up to 3.9 (KAFKA-10614 in 2.8.1); CoordinatorRuntime, "
        "CoordinatorLoaderImpl, GroupCoordinatorService since 4.0",
        checks=(
            Check(
                "recording",
                "tests/operations/coordinator_life/test_life.py::test_each_broker_answers_as_a_real_one_did",
                MOVES,
                "cases",
                4,
            ),
            Check(
                "law",
                "tests/operations/coordinator_life/test_life.py::test_whatever_happens_the_invariants_hold",
            ),
            Check(
                "law",
                "tests/operations/coordinator_life/test_life.py::"
                "test_since_2_8_1_orders_that_are_carried_out_lead_to_one_coordinator_that_knows_all",
            ),
            Check(
                "examples",
                "tests/operations/coordinator_life/test_life.py::"
                "test_up_to_2_8_0_a_late_order_does_harm_and_since_2_8_1_none_does",
            ),
        ),
        left_out="recorded are 4.0.2 and 4.3.1, the others were read from the source; replicas have a commit at once "
        "(the store on its brokers has the high watermark) and a frozen leader is not played; what a group does with a "
        "JoinGroup, and who waits in it (the classic coordinator has both); after a record that somebody else has "
        "produced a broker of 4.x answers the next write NOT_COORDINATOR and loads again; the new coordinator as a "
        "preview, 3.7 to 3.9",
    ),
    Rule(
        name="what brokers answer before they look at the group",
        function="kafkalearn.operations.coordinator_life.answer_without_group",
        versions="0.9.0 to 4.3",
        source="GroupCoordinator.handleHeartbeat and others up to 1.1, validateGroupStatus since 2.0; "
        "CoordinatorRuntime.withActiveContextOrThrow since 4.0",
        checks=(
            Check(
                "recording",
                "tests/operations/coordinator_life/test_life.py::test_each_broker_answers_as_a_real_one_did",
                MOVES,
                "cases",
                4,
            ),
            Check("examples", "tests/operations/coordinator_life/test_life.py::test_what_clients_hear_during_a_load"),
        ),
        left_out="recorded are 4.0.2 and 4.3.1; DescribeGroups, ListGroups, DeleteGroups; the names that errors had up "
        "to 0.10.2",
    ),
    Rule(
        name="the timers of a coordinator: sessions anew after a load, and the expiry task",
        function="kafkalearn.operations.coordinator_life.step",
        versions="0.9.0 to 4.3",
        source="GroupCoordinator.onGroupLoaded, GroupMetadataManager.startup; GroupCoordinatorShard.onLoaded, "
        "scheduleGroupMetadataExpiration",
        checks=(
            Check(
                "examples",
                "tests/operations/coordinator_life/test_life.py::"
                "test_members_get_their_whole_session_anew_from_the_load",
            ),
            Check(
                "examples",
                "tests/operations/coordinator_life/test_life.py::"
                "test_the_expiry_task_is_the_brokers_up_to_3_9_and_the_partitions_since_4_0",
            ),
        ),
        left_out="the rebalance timeout of a KIP-848 member that revokes; a group above group.max.size, which is "
        "rebalanced after its load; timers of share and streams groups",
    ),
    Rule(
        name="a broker dies: what clients hear, second by second",
        function="kafkalearn.operations.failover.step",
        versions="1.1 to 4.3",
        source="AbstractCoordinator, ConsumerCoordinator; CoordinatorRequestManager, CommitRequestManager, "
        "AbstractHeartbeatRequestManager",
        checks=(
            Check(
                "law",
                "tests/operations/test_failover.py::"
                "test_whatever_fails_the_invariants_hold_and_once_all_brokers_are_back_everybody_is_served",
            ),
            Check(
                "examples",
                "tests/operations/test_failover.py::"
                "test_a_client_of_4_3_looks_for_nine_seconds_then_waits_for_the_load",
            ),
            Check(
                "examples",
                "tests/operations/test_failover.py::test_with_one_replica_nobody_is_served_until_its_broker_is_back",
            ),
        ),
        left_out="a client tries once a second, a real one after its backoff of 0.1 s and more; a broker that is shut "
        "down in order answers NOT_COORDINATOR until it ends; when the metadata reaches each broker; other clients "
        "than Java's",
    ),
    Rule(
        name="a load beside the log cleaner (KAFKA-19862)",
        function="kafkalearn.operations.loading.beside_cleaner.step",
        versions="4.0.0 to 4.3",
        source="ConsumerGroup.addPartitionEpochs, removePartitionEpochs; apache/kafka#20907, #21118, #21119",
        checks=(
            Check(
                "recording",
                "tests/operations/test_loading.py::test_each_release_ends_the_load_of_these_records_as_its_broker_did",
                "tests/vectors/operations/load-beside-cleaner.json",
                "cases",
                12,
            ),
            Check(
                "examples",
                "tests/operations/test_loading.py::test_the_search_finds_the_load_that_the_cleaner_makes_fail",
            ),
            Check(
                "law",
                "tests/operations/test_loading.py::test_whatever_is_cleaned_a_load_that_ends_knows_what_the_log_says",
            ),
        ),
        left_out="streams groups, which had the same fault; partitions that a member still has to revoke, which count "
        "as owned; the moment at which the cleaner takes the records away, which "
        "no test of ours can choose; a group that changes its protocol while it is cleaned (KAFKA-20254)",
    ),
    Rule(
        name="what a load reads and keeps",
        function="kafkalearn.operations.loading.load_size",
        versions="0.9.0 to 4.3",
        source="GroupMetadataManager.doLoadGroupsAndOffsets, CoordinatorLoaderImpl.doLoad",
        checks=(
            Check(
                "law", "tests/operations/test_loading.py::test_the_cleaner_changes_what_is_read_and_not_what_is_kept"
            ),
            Check("equality", "tests/operations/test_loading.py::test_the_load_of_the_simulator_reads_as_many"),
        ),
        left_out="headers of batches and records; the time: a measured rate, which another disk and another broker "
        "change",
    ),
    Rule(
        name="what a load reads and keeps, on Spark",
        function="kafkalearn.spark.operations.loading.load_sizes",
        versions="0.9.0 to 4.3",
        source="as in the core",
        checks=(
            Check(
                "equality",
                "tests/spark/operations/test_loading.py::"
                "test_each_partition_reads_and_keeps_what_the_core_says_before_and_after_cleaning",
            ),
        ),
        left_out="a damaged record, which would end the load: it is counted as read; transactions",
    ),
)
