"""The ledger's entries on the records of __consumer_offsets."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

_CODEC, _REPLAY = "tests/offsets/records/test_codec.py", "tests/offsets/test_replay.py"
_STORE = "tests/offsets/store/test_simulator.py"
_SPARK, _SPARK_STATE = "tests/spark/offsets/test_decode.py", "tests/spark/offsets/test_state.py"

RULES = (
    Rule(
        name="records of the offsets topic, decoded and encoded",
        function="kafkalearn.offsets.records.codec.decode",
        versions="0.8.2 to 4.3: record types 0 to 23 without 18, all versions",
        source="OffsetCommitKey, OffsetCommitValue, GroupMetadataKey, GroupMetadataValue and the 17 later pairs",
        checks=(
            Check(
                "vectors",
                f"{_CODEC}::test_a_record_of_any_type_is_what_the_released_classes_say_and_comes_back_the_same",
                "tests/vectors/offsets/offsets-records.json",
                "cases",
                104,
            ),
            Check("law", f"{_CODEC}::test_a_generated_record_of_any_type_and_version_passes_both_ways"),
            Check("law", f"{_CODEC}::test_a_record_cut_short_or_with_more_bytes_says_at_which_byte"),
        ),
        left_out="",
    ),
    Rule(
        name="keys of commits and groups",
        function="kafkalearn.offsets.records.codec.decode_key",
        versions="0.8.2 to 4.3",
        source="OffsetCommitKey, GroupMetadataKey",
        checks=(
            Check(
                "vectors",
                f"{_CODEC}::test_a_recorded_key_passes_both_ways",
                "tests/vectors/offsets/groups-codec.json",
                "vectors",
                50,
            ),
        ),
        left_out="",
    ),
    Rule(
        name="a record byte by byte",
        function="kafkalearn.offsets.records.codec.dissect",
        versions="0.8.2 to 4.3",
        source="as the records",
        checks=(Check("law", f"{_CODEC}::test_a_dissected_record_leaves_no_byte_out"),),
        left_out="",
    ),
    Rule(
        name="what the console formatters print",
        function="kafkalearn.offsets.records.formatter.formatter_line",
        versions="0.8.2 to 4.3",
        source="OffsetsMessageFormatter, GroupMetadataMessageFormatter and their predecessors",
        checks=(
            Check(
                "vectors",
                "tests/offsets/records/test_formatter.py::"
                "test_strange_records_are_printed_skipped_or_refused_as_by_the_released_tools",
                "tests/vectors/offsets/offsets-formatter.json",
                "cases",
                232,
            ),
            Check(
                "vectors",
                "tests/offsets/records/test_formatter.py::test_the_json_line_since_4_0_is_kafkas",
                "tests/vectors/offsets/groups-codec-since.json",
                "formatter-json",
                8,
            ),
        ),
        left_out="the text of the groups formatter up to 3.8, which was not meant to be read",
    ),
    Rule(
        name="record batches",
        function="kafkalearn.segments.batches.read_batch",
        versions="0.11 to 4.3: format 2",
        source="DefaultRecordBatch, DefaultRecord; KIP-534 for the delete horizon",
        checks=(
            Check(
                "vectors",
                "tests/segments/test_batches.py::test_a_batch_of_any_codec_is_read_as_kafka_wrote_it",
                "tests/vectors/segments/record-batches.json",
                "cases",
                32,
            ),
            Check("law", "tests/segments/test_batches.py::test_a_changed_byte_behind_the_checksum_is_noticed"),
        ),
        left_out="formats 0 and 1",
    ),
    Rule(
        name="segment files of a broker's disk",
        function="kafkalearn.segments.files.read_segment",
        versions="0.11 to 4.3",
        source="FileRecords, LogSegment.recover",
        checks=(Check("examples", "tests/segments/test_files.py::test_a_torn_file_is_read_up_to_the_tear"),),
        left_out="indexes beside the log file, which it does not need",
    ),
    Rule(
        name="the groups in the records of a disk",
        function="kafkalearn.offsets.replay.replay",
        versions="4.3 for groups of newer protocols; classic groups 0.9 to 4.3",
        source="GroupMetadataManager.loadGroupsAndOffsets, CoordinatorLoaderImpl and the replay methods",
        checks=(
            Check("equality", f"{_REPLAY}::test_the_replayed_groups_are_those_the_broker_listed"),
            Check("equality", f"{_REPLAY}::test_the_replayed_offsets_are_those_the_broker_gave"),
        ),
        left_out="the delivery state of share groups, which is in another topic; tasks of streams groups",
    ),
    Rule(
        name="when a committed offset expires",
        function="kafkalearn.offsets.store.expiry.is_expired",
        versions="0.9 to 4.3",
        source="GroupMetadata.removeExpiredOffsets, OffsetExpirationConditionImpl; KIP-186, KIP-211",
        checks=(
            Check(
                "vectors",
                "tests/offsets/store/test_expiry.py::test_an_offset_expires_when_kafkas_rule_says_so",
                "tests/vectors/offsets/groups-expiry.json",
                "vectors",
                15,
            ),
        ),
        left_out="0.8.2, which counted from the timestamp of the commit",
    ),
    Rule(
        name="the coordinator's store: commits, expiry, tombstones, loading",
        function="kafkalearn.offsets.store.simulator.step",
        versions="0.8.2 to 4.3",
        source="OffsetManager, GroupMetadataManager with GroupCoordinator, OffsetMetadataManager",
        checks=(
            Check("law", f"{_STORE}::test_the_reloaded_cache_equals_the_one_that_was_lost"),
            Check("examples", f"{_STORE}::test_a_group_dies_at_the_sweep_when_it_is_empty_and_its_last_offset_expires"),
        ),
        left_out="replication is there only as confirmed or not; authorization; quotas",
    ),
    Rule(
        name="on Spark: records of the offsets topic decoded",
        function="kafkalearn.spark.offsets.decode.decode_offsets",
        versions="0.8.2 to 4.3",
        source="as kafkalearn.offsets.records.codec.decode",
        checks=(
            Check(
                "vectors",
                f"{_SPARK}::test_what_kafka_s_classes_encoded_is_decoded_to_their_fields",
                "tests/vectors/offsets/groups-codec.json",
                "vectors",
                50,
            ),
            Check(
                "equality",
                f"{_SPARK}::test_every_record_of_a_real_broker_is_decoded_to_what_its_own_formatter_printed",
            ),
            Check("equality", f"{_SPARK}::test_generated_records_are_decoded_as_the_scalar_function_does"),
            Check("equality", f"{_SPARK}::test_damaged_records_keep_their_row_and_get_the_scalar_function_s_reason"),
        ),
        left_out="of record types 3 to 23 only kind, group and version become columns; members of a group are counted",
    ),
    Rule(
        name="on Spark: segment files as records",
        function="kafkalearn.spark.offsets.segments.segments_df",
        versions="0.11 to 4.3",
        source="as kafkalearn.segments.files.read_disk",
        checks=(
            Check("equality", f"{_SPARK_STATE}::test_segment_files_become_the_rows_that_the_scalar_reader_gives"),
            Check("equality", f"{_SPARK_STATE}::test_a_torn_file_gives_its_records_and_a_row_that_says_where_it_ends"),
        ),
        left_out="headers, which records of this topic do not have",
    ),
    Rule(
        name="on Spark: the last record of each key",
        function="kafkalearn.spark.offsets.state.latest_state",
        versions="as kafkalearn.offsets.replay.replay",
        source="CoordinatorLoaderImpl",
        checks=(
            Check("equality", f"{_SPARK_STATE}::test_the_latest_offsets_are_those_the_broker_gave"),
            Check(
                "equality",
                f"{_SPARK_STATE}::test_the_living_groups_are_those_the_broker_listed_in_the_states_it_reported",
            ),
        ),
        left_out="metadata and topic ids of commits; the state of groups of the newer protocols",
    ),
)
