"""The ledger's entries on positions and commits."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

SWEEPS = "tests/commits/test_sweep.py"
SIMULATOR = "tests/commits/test_simulator.py"

RULES: tuple[Rule, ...] = (
    Rule(
        name="position, commits, crashes",
        function="kafkalearn.commits.simulate",
        versions="0.9 to 4.3, the consumer of the classic protocol",
        source="ConsumerCoordinator, SubscriptionState.allConsumed; GroupMetadataManager, OffsetMetadataManager",
        checks=(
            Check(
                "vectors",
                "tests/commits/test_recorded_cases.py::test_every_recorded_crash_loses_and_doubles_what_it_should",
                "tests/vectors/commits/log-consumer-dedup.json",
                "cases",
                6,
            ),
            Check(
                "examples",
                f"{SIMULATOR}::test_auto_commit_happens_inside_a_poll_and_covers_what_earlier_polls_returned",
            ),
            Check("examples", f"{SIMULATOR}::test_a_zombie_may_process_but_not_commit"),
            Check(
                "equality",
                "tests/commits/test_cost.py"
                "::test_the_coordinators_store_ends_with_the_same_committed_offset_and_as_many_records",
            ),
        ),
        left_out="the six recorded cases are worked out by hand, no run of a real consumer is behind them; several "
        "partitions; heartbeats, session and poll time-outs (a takeover is an event); the answer to an auto commit, "
        "which counts as stored at once; transactions and read_committed; interceptors. The consumer of the new group "
        "protocol (KIP-848) commits from a background thread, prompted by poll",
    ),
    Rule(
        name="metadata of a commit, and checkpoints that keep the offset elsewhere",
        function="kafkalearn.commits.simulate",
        versions="0.9 to 4.3 for metadata; checkpoints as Flink and Spark make them, which are no part of Kafka",
        source="SubscriptionState.allConsumed (an empty text), OffsetMetadataManager.isMetadataInvalid; Flink's "
        "KafkaSource, Spark's MicroBatchExecution",
        checks=(
            Check("examples", f"{SIMULATOR}::test_metadata_is_kept_with_its_offset_and_the_next_commit_wipes_it_out"),
            Check("examples", f"{SIMULATOR}::test_metadata_that_is_too_large_is_refused_and_the_offset_with_it"),
            Check("examples", f"{SIMULATOR}::test_a_crash_goes_back_to_the_last_checkpoint_with_results_and_offset"),
            Check("examples", f"{SIMULATOR}::test_a_zombies_checkpoint_is_refused_and_its_results_never_count"),
        ),
        left_out="metadata of asynchronous commits; what a checkpoint takes in time, and its barriers between several "
        "tasks; sinks outside the job that take part in it (two-phase commit); no Flink and no Spark job was run "
        "against a broker for it",
    ),
    Rule(
        name="what a crash costs by strategy",
        function="kafkalearn.commits.sweep",
        versions="any: it is the order of poll, process and commit",
        source="the rule above; KafkaConsumer's documentation on manual offset control",
        checks=(
            Check("law", f"{SWEEPS}::test_every_record_is_applied_or_lost_and_every_moment_keeps_what_always_holds"),
            Check("law", f"{SWEEPS}::test_who_commits_after_processing_loses_nothing_in_a_crash"),
            Check("law", f"{SWEEPS}::test_what_a_crash_costs_is_the_distance_between_processed_and_committed"),
            Check("law", f"{SWEEPS}::test_an_idempotent_sink_and_a_lock_hold_every_result_once_whatever_happens"),
        ),
        left_out="a crash in the middle of processing one record, whose effect may or may not be there; two accidents "
        "in one run",
    ),
    Rule(
        name="where a consumer begins",
        function="kafkalearn.commits.start_offset",
        versions="0.9 to 4.3; by_duration since 4.0 (KIP-1106)",
        source="OffsetFetcherUtils, SubscriptionState; KIP-1106",
        checks=(
            Check("examples", "tests/commits/test_starting.py::test_without_one_or_out_of_range_the_reset_decides"),
            Check(
                "examples",
                "tests/commits/test_starting.py::test_by_duration_begins_at_the_first_record_that_is_young_enough",
            ),
        ),
        left_out="by_duration where no record is young enough was not seen in a run, the log end is taken; truncation "
        "by leader epochs (KIP-320)",
    ),
    Rule(
        name="bytes of a commit",
        function="kafkalearn.commits.commit_bytes",
        versions="0.11 to 4.3",
        source="OffsetCommitKey, OffsetCommitValue, DefaultRecord.sizeInBytes",
        checks=(
            Check(
                "equality",
                "tests/commits/test_cost.py::test_a_commit_takes_the_bytes_that_it_took_on_a_real_brokers_disk",
            ),
        ),
        left_out="commits that share a batch, compression, metadata of the commit",
    ),
    Rule(
        name="what crashes cost over many runs, in Spark",
        function="kafkalearn.spark.crash_cost.crash_costs",
        versions="as position, commits, crashes",
        source="the same",
        checks=(
            Check(
                "equality",
                "tests/spark/test_crash_cost.py::test_each_strategy_costs_in_the_query_what_it_costs_in_the_simulator",
            ),
        ),
        left_out="strategies that process out of order, and sinks that keep the offset",
    ),
)
