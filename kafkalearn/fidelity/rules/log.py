"""The ledger's entries on segments, retention and the cleaner."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

_RECORDED = "tests/log/test_recorded_cases.py"
_SPARK_SEGMENTS = "tests/spark/offsets/test_segment_compaction.py"
_ANSWERS = Check(
    "vectors",
    f"{_RECORDED}::test_random_scripts_end_with_the_very_files_of_the_released_classes",
    "tests/vectors/log/log-answers.json",
    "cases",
    48,
)

_REAL_PARTITIONS = "tests/vectors/segments/cleaned-partitions.json"

RULES = (
    Rule(
        name="segments: rolling, indexes, retention",
        function="kafkalearn.log.step",
        versions="0.8 to 4.3; recorded for 4.3 and October 2024",
        source="UnifiedLog, LocalLog, LogSegment, OffsetIndex, TimeIndex; KIP-71 for compact,delete",
        checks=(
            Check(
                "vectors",
                f"{_RECORDED}::test_segments_roll_are_indexed_and_are_deleted_as_by_kafkas_log",
                "tests/vectors/log/log-segments.json",
                "cases",
                11,
            ),
            _ANSWERS,
            Check(
                "law",
                "tests/log/test_retention.py::"
                "test_retention_takes_whole_segments_from_the_old_end_and_leaves_the_bytes_it_must",
            ),
            Check(
                "examples",
                "tests/log/test_retention.py::"
                "test_each_segment_goes_by_the_first_rule_that_takes_it_and_since_3_0_time_comes_last",
            ),
        ),
        left_out="compressing: a compressed batch is given with its size; message formats before version 2; tiered "
        "storage; the delay of file.delete.delay.ms between a segment's deletion and the disk",
    ),
    Rule(
        name="which batches a log takes",
        function="kafkalearn.log.step",
        versions="0.11 to 4.3 for sequences, recorded for October 2024; 0.10.0 to 4.3 for timestamps",
        source="UnifiedLog.append, LogValidator, ProducerStateManager; KIP-98, KIP-360, KIP-937 (3.6), KIP-1030 (4.0)",
        checks=(
            Check(
                "vectors",
                "tests/log/test_sequences.py::test_a_log_answers_every_batch_as_kafka_s_log_did",
                "tests/vectors/delivery/log-idempotence.json",
                "cases",
                6,
            ),
            Check("law", "tests/log/test_sequences.py::test_a_log_judges_as_the_shared_rule"),
            Check(
                "examples",
                "tests/log/test_appending.py::test_a_record_more_than_an_hour_in_the_future_is_refused_since_4_0",
            ),
            Check(
                "examples",
                "tests/log/test_simulator.py::test_a_producer_writes_nothing_else_while_its_transaction_is_open",
            ),
        ),
        left_out="message.timestamp.type=LogAppendTime; early releases, which judged a sequence before they closed a "
        "full segment; transactions that were not verified (KIP-890); a compression.type of the topic that makes the "
        "broker compress batches again",
    ),
    Rule(
        name="the offset for a time",
        function="kafkalearn.log.list_offsets.list_offset",
        versions="0.10.1 to 4.3; recorded for 4.0 and 4.3",
        source="Partition.fetchOffsetForTimestamp, UnifiedLog.fetchOffsetByTimestamp, FileRecords.searchForTimestamp; "
        "KIP-79, KIP-734 (max timestamp, 3.0)",
        checks=(
            Check(
                "recording",
                "tests/log/test_list_offsets.py::test_a_leader_of_4_3_answered_the_same",
                "tests/vectors/log/list-offsets.json",
                "cases",
                30,
            ),
            Check(
                "recording",
                "tests/log/test_list_offsets.py::test_a_segment_below_the_log_start_counts_until_it_is_deleted",
                "tests/vectors/log/list-offsets-after-removal.json",
                "below_the_start",
                4,
            ),
            Check(
                "recording",
                "tests/log/test_list_offsets.py"
                "::test_a_batch_that_the_cleaner_has_emptied_keeps_its_largest_timestamp_and_has_no_record",
                "tests/vectors/log/list-offsets-after-removal.json",
                "emptied",
                2,
            ),
            Check("law", "tests/log/test_list_offsets.py::test_in_one_segment_it_is_the_first_record_that_is_as_late"),
        ),
        left_out="the leader epoch that the answer also has; a leader whose high watermark is behind the start of its "
        "epoch (OFFSET_NOT_AVAILABLE); remote storage; which numbers a version of the request knows",
    ),
    Rule(
        name="moving the log start",
        function="kafkalearn.log.step",
        versions="0.11 to 4.3",
        source="Partition.deleteRecordsOnLeader, UnifiedLog.maybeIncrementLogStartOffset; KIP-107, KAFKA-17803 (4.0)",
        checks=(
            _ANSWERS,
            Check(
                "examples",
                "tests/log/test_simulator.py::test_records_above_the_high_watermark_are_not_deleted",
            ),
            Check(
                "examples",
                "tests/log/test_simulator.py::test_an_administrator_deletes_no_records_of_a_log_that_is_compacted_alone",
            ),
            Check(
                "examples",
                "tests/log/test_simulator.py::test_what_is_unstable_may_begin_below_the_log_start_since_4_0",
            ),
        ),
        left_out="remote storage; the start of a follower's log, which follows the leader's",
    ),
    Rule(
        name="the cleaner: what is dirty, what stays, how files are merged",
        function="kafkalearn.log.step",
        versions="3.1 to 4.3, differences down to 0.8",
        source="LogCleanerManager, Cleaner, SkimpyOffsetMap, MemoryRecords.filterTo; KIP-534 (3.1), KIP-354 (2.3), "
        "KAFKA-8764 (2.4.1), KAFKA-17076 (4.0)",
        checks=(
            Check(
                "recording",
                f"{_RECORDED}::test_the_same_offsets_survive_as_on_a_real_broker_s_disk",
                "tests/vectors/log/compaction.json",
                "cases",
                30,
            ),
            Check(
                "vectors",
                f"{_RECORDED}::test_the_cleaner_does_what_kafkas_cleaner_does",
                "tests/vectors/log/log-compaction.json",
                "cases",
                25,
            ),
            _ANSWERS,
            Check(
                "recording",
                "tests/log/test_from_segments.py::"
                "test_the_simulated_cleaner_leaves_of_a_real_partition_what_the_real_one_left",
                _REAL_PARTITIONS,
                "cases",
                4,
            ),
            Check("law", "tests/log/cleaner/test_keep_rule.py::test_the_last_value_of_every_key_survives"),
            Check(
                "law",
                "tests/log/cleaner/test_keep_rule.py::"
                "test_a_last_tombstone_goes_only_after_the_horizon_that_an_earlier_cleaning_gave_it",
            ),
        ),
        left_out="two keys with one MD5; which of several dirty logs a thread takes first; buffers that are too small "
        "for a batch; throttling; how many bytes are left of a compressed batch that lost records: only the codec "
        "knows, here they are in proportion, and so are later segments' sizes and dirty ratios",
    ),
    Rule(
        name="tombstones up to 3.0: the times of the files decide",
        function="kafkalearn.log.step",
        versions="0.9 to 3.0",
        source="Cleaner.shouldRetainRecord and LogCleaner.cleanSegments of 2.8.2",
        checks=(
            Check("examples", f"{_RECORDED}::test_up_to_3_0_the_times_of_the_files_decide_about_tombstones"),
            Check(
                "examples",
                "tests/log/cleaner/test_grouping.py::test_a_merged_segment_kept_old_tombstones_alive_up_to_3_0",
            ),
        ),
        left_out="read in the source, never run; batches of format 0 and 1 keep to this rule in later releases too",
    ),
    Rule(
        name="looking an offset up in a segment's index",
        function="kafkalearn.log.look_up",
        versions="0.8 to 4.3",
        source="LogSegment.translateOffset, OffsetIndex.lookup",
        checks=(
            Check(
                "law",
                "tests/log/test_index.py::test_a_look_up_finds_the_record_or_the_next_one_behind_its_index_entry",
            ),
        ),
        left_out="looking up by time; the index entries themselves are held to recordings with the rule of segments",
    ),
    Rule(
        name="a cleaner that stopped, and what shows it",
        function="kafkalearn.log.cleaner_metrics",
        versions="0.8 to 4.3",
        source="LogCleaner.CleanerThread, LogCleanerManager.markPartitionUncleanable; KIP-346 (2.1)",
        checks=(
            Check(
                "examples", "tests/log/cleaner/test_failures.py::test_an_operator_sees_a_checkpoint_that_stands_still"
            ),
        ),
        left_out="read in the source of each release, never run; an IOException, which takes the whole log directory "
        "offline",
    ),
    Rule(
        name="when the cleaner comes next",
        function="kafkalearn.log.next_clean",
        versions="as the cleaner",
        source="follows from LogCleanerManager.grabFilthiestCompactedLog",
        checks=(
            Check(
                "law",
                "tests/log/cleaner/test_next_clean.py::"
                "test_the_log_is_eligible_from_that_moment_on_and_not_a_millisecond_before",
            ),
            Check(
                "law",
                "tests/log/cleaner/test_next_clean.py::"
                "test_the_missing_bytes_lift_the_ratio_above_the_limit_and_one_less_does_not",
            ),
        ),
        left_out="the thread looks every log.cleaner.backoff.ms, and may be busy with another log",
    ),
    Rule(
        name="a slow reader, and the deleted key it keeps",
        function="kafkalearn.log.reader.step",
        versions="as the cleaner",
        source="the documentation of delete.retention.ms; follows from the cleaner's rule",
        checks=(
            Check(
                "law",
                "tests/log/reader/test_simulator.py::test_whatever_the_reader_misses_only_deleted_keys_are_wrong_in_the_end",
            ),
            Check(
                "law",
                "tests/log/reader/test_simulator.py::test_a_reader_that_takes_less_than_delete_retention_ms_has_no_ghost",
            ),
            Check(
                "examples",
                "tests/log/reader/test_simulator.py::test_where_the_map_is_full_even_a_quick_reader_can_miss_a_tombstone",
            ),
        ),
        left_out="transactions; what a client has fetched and poll() has not returned yet; auto.offset.reset",
    ),
    Rule(
        name="on Spark: a cleaner's pass",
        function="kafkalearn.spark.compaction.compact",
        versions="3.1 to 4.3",
        source="as the cleaner",
        checks=(
            Check(
                "recording",
                "tests/spark/test_compaction.py::test_all_recorded_passes_leave_what_a_real_broker_left_on_its_disk",
                "tests/vectors/log/compaction.json",
                "cases",
                30,
            ),
            Check(
                "recording",
                f"{_SPARK_SEGMENTS}::test_real_partitions_are_compacted_to_what_the_real_cleaner_left",
                _REAL_PARTITIONS,
                "cases",
                4,
            ),
            Check("equality", f"{_SPARK_SEGMENTS}::test_generated_partitions_are_compacted_as_by_the_simulator"),
            Check(
                "equality",
                "tests/spark/test_compaction.py::"
                "test_random_logs_with_null_keys_and_gaps_keep_what_the_simulator_keeps",
            ),
            Check(
                "equality",
                "tests/spark/test_compaction.py::test_two_passes_one_after_the_other_are_those_of_the_simulator",
            ),
        ),
        left_out="an offset map that is full; batches and files: which offsets stay, not how they lie; where an open "
        "transaction stops the cleaner, which is an error here",
    ),
    Rule(
        name="on Spark: which segments retention deletes",
        function="kafkalearn.spark.retention.with_retention",
        versions="0.10.1 to 4.3",
        source="as retention of a log: UnifiedLog.deleteOldSegments",
        checks=(Check("equality", "tests/spark/test_retention.py::test_the_segments_go_that_the_simulator_deletes"),),
        left_out="that a broker looks only every log.retention.check.interval.ms, and at each replica by itself",
    ),
    Rule(
        name="on Spark: why records stay or go",
        function="kafkalearn.spark.compaction.count_reasons",
        versions="3.1 to 4.3",
        source="as the cleaner",
        checks=(
            Check(
                "equality",
                "tests/spark/test_compaction.py::test_tombstones_go_in_two_phases_as_in_the_simulator",
            ),
            Check("equality", f"{_SPARK_SEGMENTS}::test_the_reasons_are_those_of_the_simulator"),
        ),
        left_out="which offset overtakes a record",
    ),
)
