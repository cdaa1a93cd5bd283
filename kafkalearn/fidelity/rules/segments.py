"""The ledger's entries on segment files: batches, codecs, what a broker's disk says of producers and transactions."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

_BATCHES, _DAMAGE = "tests/segments/test_batches.py", "tests/segments/test_damage.py"
_PIECES, _PARTITIONS = "tests/segments/test_pieces.py", "tests/log/test_from_segments.py"
_SPARK, _SPARK_STATE = "tests/spark/offsets/test_segments.py", "tests/spark/offsets/test_state.py"
_REAL_PARTITIONS = "tests/vectors/segments/cleaned-partitions.json"

RULES = (
    Rule(
        name="record batches",
        function="kafkalearn.segments.batches.read_batch",
        versions="0.11 to 4.3: format 2",
        source="DefaultRecordBatch, DefaultRecord; KIP-534 for the delete horizon",
        checks=(
            Check(
                "vectors",
                f"{_BATCHES}::test_a_batch_of_any_codec_is_read_as_kafka_wrote_it",
                "tests/vectors/segments/record-batches.json",
                "cases",
                32,
            ),
            Check("equality", f"{_BATCHES}::test_what_another_implementation_writes_is_read"),
            Check("law", f"{_BATCHES}::test_a_changed_byte_behind_the_checksum_is_noticed"),
        ),
        left_out="formats 0 and 1; a batch that decodes to more than 64 MiB is refused unless a higher limit is given, "
        "where Kafka has no limit",
    ),
    Rule(
        name="segment files of a broker's disk",
        function="kafkalearn.segments.files.parse_segment",
        versions="0.11 to 4.3",
        source="FileRecords, LogSegment.recover, LogLoader",
        checks=(
            Check("law", f"{_BATCHES}::test_a_batch_that_is_cut_off_is_a_torn_tail_of_its_file"),
            Check("examples", f"{_DAMAGE}::test_damage_in_the_middle_is_passed_over_when_asked_and_only_then"),
            Check(
                "law",
                f"{_DAMAGE}::test_mutated_recorded_files_end_in_no_other_error_and_what_was_readable_is_read",
            ),
        ),
        left_out="what a broker does at a damaged batch: it cuts the log there and deletes all later segments, here "
        "they are only read or not; indexes beside the log file, which it does not need",
    ),
    Rule(
        name="checkpoint files of a log dir",
        function="kafkalearn.segments.checkpoints.read_checkpoint",
        versions="0.8 to 4.3",
        source="OffsetCheckpointFile, CheckpointFile: version 0",
        checks=(Check("examples", "tests/segments/test_checkpoints.py::test_the_offset_of_each_partition_is_read"),),
        left_out="leader-epoch-checkpoint and partition.metadata, which are in the partition's folder",
    ),
    Rule(
        name="a partition's log from a broker's disk: producers and transactions",
        function="kafkalearn.log.from_segments.read_log",
        versions="0.11 to 4.3; recorded for 4.3.1",
        source="LogLoader, UnifiedLog.rebuildProducerState, ProducerAppendInfo.append, ProducerStateManager; KIP-98",
        checks=(
            Check(
                "recording",
                f"{_PARTITIONS}::test_the_simulated_cleaner_leaves_of_a_real_partition_what_the_real_one_left",
                _REAL_PARTITIONS,
                "cases",
                4,
            ),
            Check(
                "recording",
                f"{_PARTITIONS}::test_producers_and_open_transactions_are_those_that_the_broker_wrote_down",
                _REAL_PARTITIONS,
                "cases",
                4,
            ),
            Check(
                "recording",
                f"{_PARTITIONS}::test_aborted_transactions_are_those_of_the_broker_s_transaction_index",
                _REAL_PARTITIONS,
                "cases",
                4,
            ),
            Check(
                "law",
                f"{_PARTITIONS}::test_a_log_that_was_written_to_a_disk_is_read_from_it_with_all_that_a_broker_knows",
            ),
            Check("law", f"{_PARTITIONS}::test_a_log_from_a_disk_is_cleaned_as_the_one_that_was_written"),
        ),
        left_out="producer snapshots and transaction indexes beside the segments: an aborted transaction begins with "
        "the first batch that is left of it; the high watermark: all that is on the disk counts as replicated; of "
        "the headers of records only their size; what a codec makes of a batch that lost records",
    ),
    Rule(
        name="on Spark: segment files as records",
        function="kafkalearn.spark.offsets.segments.segments_df",
        versions="0.11 to 4.3",
        source="as kafkalearn.segments.disk.read_disk",
        checks=(
            Check(
                "equality", f"{_SPARK}::test_records_carry_their_batch_their_producer_and_how_their_transaction_ended"
            ),
            Check("equality", f"{_SPARK}::test_mutated_files_give_what_the_scalar_reader_gives"),
            Check("equality", f"{_SPARK_STATE}::test_segment_files_become_the_rows_that_the_scalar_reader_gives"),
            Check("equality", f"{_SPARK_STATE}::test_a_torn_file_gives_its_records_and_a_row_that_says_where_it_ends"),
        ),
        left_out="headers of records; of a marker, has_data counts a batch before it that was skipped as damaged, too",
    ),
)
