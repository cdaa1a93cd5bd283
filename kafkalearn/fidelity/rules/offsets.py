"""The ledger's entries on the records of __consumer_offsets."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

_CODEC, _REPLAY = "tests/offsets/records/test_codec.py", "tests/offsets/test_replay.py"
_STORE, _EXPIRY = "tests/offsets/store/test_simulator.py", "tests/offsets/store/test_expiry.py"
_NEWER, _BROKER = "tests/offsets/store/test_newer_groups.py", "tests/offsets/store/test_expiry_on_a_broker.py"
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
        name="the groups in the records of a disk",
        function="kafkalearn.offsets.replay.replay",
        versions="4.3 for groups of newer protocols; classic groups 0.9 to 4.3",
        source="GroupMetadataManager.loadGroupsAndOffsets, CoordinatorLoaderImpl and the replay methods; record "
        "types 0 and 1 are one offset: GroupCoordinatorShard.replay",
        checks=(
            Check("equality", f"{_REPLAY}::test_the_replayed_groups_are_those_the_broker_listed"),
            Check("equality", f"{_REPLAY}::test_the_replayed_offsets_are_those_the_broker_gave"),
            Check(
                "equality",
                f"{_BROKER}::test_the_groups_are_those_the_broker_listed_of_their_kinds_and_in_their_states",
            ),
            Check(
                "law",
                f"{_REPLAY}::test_the_replayed_offsets_are_those_that_a_coordinator_has_after_each_record_in_turn",
            ),
        ),
        left_out="the delivery state of share groups, which is in another topic; tasks of streams groups",
    ),
    Rule(
        name="when a committed offset expires",
        function="kafkalearn.offsets.store.expiry.is_expired",
        versions="0.9 to 4.3, by kind of group: classic, KIP-848 (4.0), streams (4.1, in the store 4.2), standalone",
        source="GroupMetadata.removeExpiredOffsets; OffsetMetadataManager.cleanupExpiredOffsets with the "
        "offsetExpirationCondition of ClassicGroup, ConsumerGroup and StreamsGroup; KIP-186, KIP-211",
        checks=(
            Check(
                "vectors",
                f"{_EXPIRY}::test_a_sweep_writes_the_tombstones_that_the_coordinator_of_each_release_wrote",
                "tests/vectors/offsets/groups-expiry-released.json",
                "scenarios",
                40,
            ),
            Check(
                "vectors",
                f"{_EXPIRY}::test_an_offset_expires_when_kafkas_rule_says_so",
                "tests/vectors/offsets/groups-expiry.json",
                "vectors",
                15,
            ),
            Check("law", f"{_NEWER}::test_a_sweep_takes_what_the_rule_calls_expired_and_nothing_else"),
        ),
        left_out="0.8.2, which counted from the timestamp of the commit; 4.1 between a load and the first heartbeat, "
        "when its coordinator does not know the topology of a streams group, and what the group reads may expire",
    ),
    Rule(
        name="the coordinator's store: commits, expiry, tombstones, loading",
        function="kafkalearn.offsets.store.simulator.step",
        versions="0.8.2 to 4.3",
        source="OffsetManager, GroupMetadataManager with GroupCoordinator, OffsetMetadataManager",
        checks=(
            Check("equality", f"{_BROKER}::test_a_sweep_writes_what_the_broker_wrote_and_nothing_a_second_before"),
            Check("law", f"{_STORE}::test_the_reloaded_cache_equals_the_one_that_was_lost"),
            Check("law", f"{_NEWER}::test_the_reloaded_cache_equals_the_one_that_was_lost_for_groups_of_every_kind"),
            Check("examples", f"{_STORE}::test_a_group_dies_at_the_sweep_when_it_is_empty_and_its_last_offset_expires"),
        ),
        left_out="replication is there only as confirmed or not; authorization; quotas; of groups of newer protocols "
        "their assignments, hashes of topics, members on their way to an epoch, and a change of kind while there are "
        "members (regular expressions are read, not written); the newer coordinator before it was the default (4.0)",
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
        name="on Spark: the last record of each key",
        function="kafkalearn.spark.offsets.state.latest_state",
        versions="as kafkalearn.offsets.replay.replay",
        source="CoordinatorLoaderImpl",
        checks=(
            Check("equality", f"{_SPARK_STATE}::test_the_latest_offsets_are_those_the_broker_gave"),
            Check(
                "equality",
                f"{_SPARK_STATE}"
                "::test_the_latest_offsets_are_those_that_are_replayed_with_metadata_epochs_and_topic_ids",
            ),
            Check(
                "equality",
                f"{_SPARK_STATE}::test_mixed_records_of_types_0_and_1_leave_the_offsets_that_are_replayed",
            ),
            Check(
                "equality",
                f"{_SPARK_STATE}::test_the_living_groups_are_those_the_broker_listed_in_the_states_it_reported",
            ),
        ),
        left_out="the state of groups of the newer protocols; members and their assignments",
    ),
)
