"""The ledger's entries on replication."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

_CLASSES = (
    "tests/replication/test_recorded_classes.py::"
    "test_every_event_of_a_recorded_script_leads_to_the_recorded_effects_answer_and_state"
)
_CLUSTER = (
    "tests/replication/test_recorded_cluster.py::"
    "test_a_recorded_run_comes_to_the_recorded_states_and_tells_the_producer_the_same"
)
_MARKS = Check("vectors", _CLASSES, "tests/vectors/replication/log-hw-leo.json", "cases", 11)
_CUTS = Check("vectors", _CLASSES, "tests/vectors/replication/log-truncation.json", "cases", 5)
_RUNS = Check("recording", _CLUSTER, "tests/vectors/replication/replication.json", "cases", 19)
_MOVES = Check(
    "recording",
    "tests/replication/test_recorded_reassignments.py::"
    "test_a_recorded_script_comes_to_the_recorded_replicas_leaders_logs_and_answers",
    "tests/vectors/replication/reassignment.json",
    "cases",
    34,
)

_VERSIONS = "4.0 to 4.3; the rules of 0.8.2 to 3.9 as read at the release tags"

RULES = (
    Rule(
        name="LEO, HW, remote LEO and ISR of a partition",
        function="kafkalearn.replication.step",
        versions=_VERSIONS,
        source="Partition.fetchRecords, updateFollowerFetchState, maybeIncrementLeaderHW; ReplicaManager; DelayedFetch",
        checks=(
            _MARKS,
            _RUNS,
            Check(
                "law",
                "tests/replication/test_promises.py::test_left_alone_with_every_broker_back_all_replicas_become_equal",
            ),
        ),
        left_out="the bytes of a fetch: an answer brings all there is; transactions, so LSO is HW; more than one log "
        "directory",
    ),
    Rule(
        name="truncation by high watermark and by leader epoch",
        function="kafkalearn.replication.step",
        versions="4.3 by epoch; the cut to the HW of 0.10.2 was applied by the driver of the recording",
        source="AbstractFetcherThread, ReplicaFetcherThread; KIP-101, KIP-279, KIP-595",
        checks=(
            _CUTS,
            _RUNS,
            Check(
                "examples",
                "tests/replication/replica_log/test_truncation.py::test_an_epoch_without_records_leaves_nothing_to_cut",
            ),
            Check(
                "examples",  # Log.truncateTo of 0.10.2 to 2.7: "has no effect"
                "tests/replication/replica_log/test_truncation.py::"
                "test_up_to_2_7_nothing_to_cut_differs_from_not_being_asked_to_cut",
            ),
        ),
        left_out="the extra leader epoch that controllers before 3.6 gave out when the ISR shrank",
    ),
    Rule(
        name="the leader epoch cache",
        function="kafkalearn.replication.replica_log.epochs.end_offset_for",
        versions="0.11.0 to 4.3",
        source="LeaderEpochFileCache",
        checks=(
            Check(
                "vectors",
                "tests/replication/test_recorded_classes.py::"
                "test_the_epoch_cache_answers_and_keeps_what_kafka_s_own_does",
                "tests/vectors/replication/log-leader-epoch-cache.json",
                "cases",
                5,
            ),
        ),
        left_out="its file on disk",
    ),
    Rule(
        name="when a follower counts as caught up",
        function="kafkalearn.replication.leader.in_sync.with_fetch",
        versions="0.9.0 to 4.3",
        source="Replica.updateFetchStateOrThrow, Replica.isCaughtUp",
        checks=(
            Check(
                "examples",
                "tests/replication/leader/test_in_sync.py::test_having_all_that_was_there_at_the_fetch_before_counts_since_0_10_2",
            ),
        ),
        left_out="",
    ),
    Rule(
        name="who leaves the ISR and who joins it, by release",
        function="kafkalearn.replication.simulate",
        versions="0.8.2 to 4.3",
        source="Partition.maybeShrinkIsr, maybeExpandIsr; KIP-16, KIP-497, KIP-841",
        checks=(
            Check("examples", "tests/replication/leader/test_in_sync.py::test_the_lag_time_has_to_be_exceeded"),
            Check(
                "examples",
                "tests/replication/leader/test_in_sync.py::test_0_8_2_also_removed_whoever_was_too_many_records_behind",
            ),
            Check(
                "examples",
                "tests/replication/leader/test_in_sync.py::"
                "test_who_joins_must_have_reached_the_start_of_the_leader_s_epoch_since_2_0",
            ),
            Check(
                "examples",
                "tests/replication/leader/test_in_sync.py::test_a_follower_just_removed_still_holds_the_high_watermark_since_0_10_2",
            ),
            Check(
                "examples",
                "tests/replication/leader/test_in_sync.py::test_an_error_that_no_controller_answers_is_refused",
            ),
        ),
        left_out="when the leader looks for laggards is an event",
    ),
    Rule(
        name="the controller: elections, ISR changes, eligible leader replicas",
        function="kafkalearn.replication.controller.record.changed",
        versions="0.8.2 to 4.3",
        source="PartitionChangeBuilder; KIP-966",
        checks=(
            Check(
                "examples",
                "tests/replication/controller/test_record.py::test_eligible_leader_replicas_take_over_without_loss",
            ),
            Check(
                "examples",
                "tests/replication/controller/test_record.py::"
                "test_without_them_the_last_member_stays_in_the_isr_and_has_to_be_waited_for",
            ),
        ),
        left_out="every broker that runs and is not cut off learns at once what the controller records; failures of "
        "the controller itself",
    ),
    Rule(
        name="reassignment of replicas: adding, removing, cancelling",
        function="kafkalearn.replication.step",
        versions="3.3 to 4.3, KRaft",
        source="PartitionReassignmentReplicas, PartitionReassignmentRevert; KIP-455, KIP-860",
        checks=(
            _MOVES,
            Check(
                "law",
                "tests/replication/test_operations.py::test_committed_records_survive_every_move",
            ),
            Check(
                "law",
                "tests/replication/test_operations.py::"
                "test_left_alone_every_reassignment_ends_and_the_preferred_replica_leads",
            ),
            Check(
                "law",
                "tests/replication/controller/test_reassigning.py::"
                "test_no_acknowledged_record_is_lost_by_a_reassignment_with_acks_all",
            ),
        ),
        left_out="the ZooKeeper controller (2.4 to 3.9); log directories; quotas: an answer brings all there is, so a "
        "throttle is counted and not stepped",
    ),
    Rule(
        name="when a reassignment ends, by release",
        function="kafkalearn.replication.controller.assignment.completed",
        versions="3.0 to 4.3, KRaft; 3.5, 3.7 to 3.9 read in source, 4.0.2, 4.1.2, 4.2.1 and 4.3.1 in their classes",
        source="PartitionReassignmentReplicas.maybeCompleteReassignment; KAFKA-15665",
        checks=(
            Check(
                "examples",
                "tests/replication/controller/test_assignment.py::test_a_reassignment_ends_when_who_has_to_be_in_sync_is",
            ),
            Check(
                "law",
                "tests/replication/controller/test_assignment.py::test_with_all_in_sync_what_was_asked_for_is_there",
            ),
        ),
        left_out="patch releases count as their line: 4.3 is 4.3.1",
    ),
    Rule(
        name="leadership given back to preferred replicas",
        function="kafkalearn.replication.step",
        versions="0.8.2 to 4.3; the answers of ElectLeaders 3.0 to 4.3",
        source="ReplicationControlManager.electLeader, maybeBalancePartitionLeaders; KafkaController; KIP-460",
        checks=(
            _MOVES,
            Check(
                "law",
                "tests/replication/controller/test_elections.py::"
                "test_giving_leadership_back_loses_nothing_and_elects_nobody_else",
            ),
            Check(
                "examples",
                "tests/replication/controller/test_elections.py::"
                "test_left_alone_a_cluster_gives_leadership_back_within_five_minutes_unless_that_is_off",
            ),
        ),
        left_out="up to 3.9 the round of a controller with KRaft begins an interval after the imbalance, not at the "
        "interval's ends",
    ),
    Rule(
        name="fencing, registration, unfencing and controlled shutdown, step by step",
        function="kafkalearn.replication.step",
        versions="3.3 to 4.3",
        source="BrokerHeartbeatManager.calculateNextBrokerState, ReplicationControlManager; KIP-631, KIP-841",
        checks=(
            Check(
                "examples",
                "tests/replication/controller/test_fencing.py::"
                "test_a_registered_broker_copies_but_joins_the_isr_only_once_it_is_unfenced",
            ),
            Check(
                "examples",
                "tests/replication/controller/test_fencing.py::"
                "test_in_controlled_shutdown_a_broker_gives_up_leadership_and_isr_and_still_follows",
            ),
            Check(
                "examples",
                "tests/replication/controller/test_fencing.py::test_registered_and_unfenced_is_what_a_restart_is_at_once",
            ),
        ),
        left_out="how far a broker is behind in the metadata: unfencing is an event; a broker that leads nothing is "
        "stopped without controlled shutdown; a frozen one reconnects in one step",
    ),
    Rule(
        name="the leaders of many partitions, and which brokers count as imbalanced",
        function="kafkalearn.operations.leadership.step",
        versions="0.8.2 to 4.3",
        source="KafkaController.checkAndTriggerAutoLeaderRebalance up to 3.9; ReplicationControlManager since 3.2",
        checks=(
            Check(
                "equality",
                "tests/operations/leadership/test_simulator.py::"
                "test_each_partition_does_what_the_simulator_of_one_partition_does",
            ),
            Check(
                "law",
                "tests/operations/leadership/test_simulator.py::"
                "test_the_invariants_hold_and_a_round_leaves_no_leadership_that_could_be_given_back",
            ),
            Check(
                "examples",
                "tests/operations/leadership/test_simulator.py::test_one_of_ten_is_ten_percent_which_is_not_above_ten",
            ),
        ),
        left_out="a broker that is back is in sync at once; at most 1,000 elections a round, after which the next "
        "begins at once; with ZooKeeper partitions that are being reassigned or deleted are passed over; ELR",
    ),
    Rule(
        name="the load of dead brokers, and what a plan moves under a throttle",
        function="kafkalearn.operations.leadership.moved_bytes",
        versions="0.10.1 to 4.3",
        source="PartitionChangeBuilder.electLeader; KIP-73, ReplicationQuotaManager",
        checks=(
            Check(
                "law",
                "tests/operations/leadership/test_load.py::"
                "test_load_without_a_broker_is_that_of_the_simulator_after_its_loss",
            ),
        ),
        left_out="the windows of the quota (replication.quota.window.num), networks and disks slower than the "
        "throttle; the busiest broker decides on the time, as if it were busy to the end",
    ),
    Rule(
        name="the load of dead brokers and the bytes of a plan, as queries",
        function="kafkalearn.spark.operations.leadership.moved_bytes",
        versions="as the simulator it equals",
        source="as the simulator it equals",
        checks=(
            Check(
                "equality",
                "tests/spark/operations/test_leadership.py::"
                "test_leaders_and_load_are_those_of_the_simulator_for_every_dead_broker",
            ),
            Check(
                "equality",
                "tests/spark/operations/test_leadership.py::test_moved_bytes_and_their_time_are_those_of_the_simulator",
            ),
        ),
        left_out="lines of a plan for partitions that are not there, or that nobody leads, are left out of the sums",
    ),
    Rule(
        name="a cluster left to itself",
        function="kafkalearn.replication.settle",
        versions="4.3",
        source="the brokers' own rounds: fetchers, the ISR check, sessions, checkpoints",
        checks=(_RUNS,),
        left_out="one round of all fetchers at a time; real ones run each by themselves",
    ),
    Rule(
        name="which release replicates by which rule",
        function="kafkalearn.replication.rules_of",
        versions="0.8.2 to 4.3",
        source="KIP-16, KIP-101, KIP-279, KIP-320, KIP-497, KIP-595, KIP-841, KIP-966; KAFKA-8443, KAFKA-9952, "
        "KAFKA-15583",
        checks=(
            Check(
                "examples",
                "tests/replication/test_settings.py::test_the_ladder_of_truncation_rules_follows_the_releases",
            ),
            Check(
                "examples",
                "tests/replication/test_settings.py::"
                "test_every_change_of_a_rule_is_listed_with_the_release_that_brought_it",
            ),
        ),
        left_out="patch releases count as their line",
    ),
    Rule(
        name="the promises of replication",
        function="kafkalearn.replication.broken",
        versions="0.8.2 to 4.3, where old rules break some",
        source="what Partition and UnifiedLog assert, and what users take replication to promise",
        checks=(
            Check(
                "law",
                "tests/replication/test_promises.py::"
                "test_committed_records_survive_whatever_happens_as_long_as_disks_keep_what_they_have",
            ),
            Check(
                "law",
                "tests/replication/test_promises.py::test_logs_agree_even_where_records_are_lost",
            ),
            Check(
                "law",
                "tests/replication/test_promises.py::test_the_invariants_hold_under_every_release_whatever_happens",
            ),
        ),
        left_out="judged by the leader that the controller has recorded",
    ),
    Rule(
        name="the search for a run that breaks a promise",
        function="kafkalearn.replication.find",
        versions="0.8.2 to 4.3",
        source="ours: all schedules of the events allowed; brokers that no event names apart are interchangeable",
        checks=(
            Check("law", "tests/replication/search/test_find.py::test_a_step_of_a_search_is_the_simulator_s_step"),
            Check("law", "tests/replication/search/test_find.py::test_brokers_under_other_names_do_the_same"),
            Check("examples", "tests/replication/search/test_find.py::test_only_the_broker_that_is_named_crashes"),
            Check(
                "examples",
                "tests/replication/search/test_find.py::test_brokers_that_are_named_apart_are_not_relabelled",
            ),
        ),
        left_out="elections follow no order of assignment: any candidate may be the successor",
    ),
    Rule(
        name="HW and ISR from fetch logs, as a query",
        function="kafkalearn.spark.replication.marks.high_watermarks",
        versions="2.1 to 4.3",
        source="as the simulator it equals",
        checks=(
            Check(
                "equality",
                "tests/spark/replication/test_marks.py::"
                "test_leo_isr_and_hw_of_every_partition_are_those_of_the_simulator_at_every_moment",
            ),
        ),
        left_out="elections, partial answers, more than one follower out at a time; moments between catching up and "
        "being back in the ISR",
    ),
    Rule(
        name="shrinking and growing of the ISR from fetch logs, as a query",
        function="kafkalearn.spark.replication.marks.isr_changes",
        versions="2.1 to 4.3",
        source="as the simulator it equals",
        checks=(
            Check(
                "equality",
                "tests/spark/replication/test_marks.py::"
                "test_who_leaves_the_isr_and_comes_back_is_to_the_millisecond_what_the_simulator_does",
            ),
        ),
        left_out="as the rule before; a controller that takes its time",
    ),
)
