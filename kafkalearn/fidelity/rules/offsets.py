"""The ledger's entries on the records of __consumer_offsets."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

_CODEC, _REPLAY = "tests/offsets/records/test_codec.py", "tests/offsets/test_replay.py"
_STORE, _EXPIRY = "tests/offsets/store/test_simulator.py", "tests/offsets/store/test_expiry.py"
_NEWER, _BROKER = "tests/offsets/store/test_newer_groups.py", "tests/offsets/store/test_expiry_on_a_broker.py"
_PATH = "tests/offsets/replicated/test_simulator.py"
_MEMBERS, _WAITING = "tests/offsets/records/test_members.py", "tests/offsets/store/test_waiting.py"
_SETTINGS, _SPARK_MEMBERS = "tests/offsets/test_broker_settings.py", "tests/spark/offsets/test_members.py"
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
        name="the members in a group's record byte by byte",
        function="kafkalearn.offsets.records.members.dissect_members",
        versions="0.9 to 4.3: versions 0 to 4 of the group's value, 0 to 3 of the consumer protocol",
        source="GroupMetadataValue, ConsumerProtocol",
        checks=(
            Check(
                "equality",
                f"{_MEMBERS}::test_every_group_record_of_a_real_broker_is_taken_apart_to_what_the_decoders_say",
            ),
            Check("law", f"{_MEMBERS}::test_a_generated_group_leaves_no_byte_out_whatever_its_members_have_written"),
        ),
        left_out="the user data of assignors, and what members of other protocol types (Connect) write, stay bytes",
    ),
    Rule(
        name="which version of a value has which field",
        function="kafkalearn.offsets.records.field_versions.fields_by_version",
        versions="0.8.2 to 4.3",
        source="the JSON files of Kafka's messages, as in the layouts",
        checks=(
            Check("law", f"{_MEMBERS}::test_the_table_of_fields_has_in_each_version_what_a_record_of_it_needs"),
            Check("examples", f"{_MEMBERS}::test_fields_of_a_groups_value_by_version"),
        ),
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
        name="a partition's files as the console consumer prints them",
        function="kafkalearn.offsets.printing.formatter_lines",
        versions="0.8.2 to 4.3",
        source="ConsoleConsumer with its formatters",
        checks=(
            Check(
                "recording",
                "tests/offsets/test_printing.py::"
                "test_commits_of_aborted_transactions_and_groups_are_printed_as_the_tool_printed_them",
                "tests/vectors/offsets/printed-partitions.json",
                "clusters",
                2,
            ),
            Check(
                "equality",
                "tests/offsets/test_printing.py::"
                "test_the_files_of_the_walk_are_printed_as_the_console_consumer_printed_their_partition",
            ),
        ),
        left_out="the order in which the tool prints several partitions; --isolation-level read_committed",
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
        name="a commit's path over the brokers, and the life of its coordinator",
        function="kafkalearn.offsets.replicated.simulator.step",
        versions="4.0 to 4.3, the newer coordinator",
        source="CoordinatorRuntime (append, onHighWatermarkUpdated, unload), CoordinatorPartitionWriter, "
        "CoordinatorLoaderImpl, GroupCoordinatorService.fetchOffsets, CoordinatorOperationExceptionHelper",
        checks=(
            Check(
                "vectors",
                f"{_PATH}::test_everybody_is_answered_what_a_real_cluster_answered",
                "tests/vectors/offsets/commit-path.json",
                "scripts",
                3,
            ),
            Check(
                "law",
                f"{_PATH}::test_whatever_happens_the_invariants_hold_and_no_answered_commit_is_lost_without_a_power_cut",
            ),
            Check("law", f"{_PATH}::test_whoever_takes_over_knows_what_its_own_log_says"),
            Check("equality", f"{_PATH}::test_with_time_to_replicate_the_brokers_answer_as_one_broker_does"),
        ),
        left_out="transactions, of which the store of one broker has the rules; compaction of the topic while it is "
        "read; several partitions of a request; requests that wait together in one batch (4.0: "
        "group.coordinator.append.linger.ms); the older coordinator, up to 3.9",
    ),
    Rule(
        name="commits that wait for the replicas: time-out, required acks, crash",
        function="kafkalearn.offsets.store.simulator.step",
        versions="0.8.2 to 4.3",
        source="GroupMetadataManager.storeOffsets, GroupMetadata.failPendingOffsetWrite (up to 3.9, read in 0.9, "
        "0.10.2 and 2.8); CoordinatorRuntime, GroupCoordinatorService.handleOperationException; KIP-1041",
        checks=(
            Check(
                "recording",
                f"{_WAITING}::test_commits_with_a_follower_that_stands_still_end_as_on_a_broker",
                "tests/vectors/offsets/coordinator-settings.json",
                "cases",
                5,
            ),
            Check(
                "recording",
                f"{_WAITING}::test_metadata_are_refused_as_by_a_broker",
                "tests/vectors/offsets/coordinator-settings.json",
                "metadata",
                2,
            ),
            Check("law", f"{_WAITING}::test_reads_of_any_size_load_what_one_read_loads"),
            Check("law", f"{_WAITING}::test_whatever_waits_and_dies_the_store_keeps_its_invariants"),
            Check("examples", f"{_WAITING}::test_with_acks_1_a_commit_counts_at_once_and_dies_with_the_leader"),
        ),
        left_out="no broker before 3.9 was asked: its answers are from the source; records of groups that wait; too "
        "few in-sync replicas; what a read of the load brings is counted in batches of format 2, one a record",
    ),
    Rule(
        name="the coordinator's sixteen settings",
        function="kafkalearn.offsets.broker_settings.catalog.coordinator_settings",
        versions="0.8.2 to 4.3",
        source="OffsetConfig, GroupConfig; since 4.0 GroupCoordinatorConfig",
        checks=(
            Check("equality", f"{_SETTINGS}::test_a_default_is_what_the_release_has"),
            Check(
                "examples",
                f"{_SETTINGS}::test_there_are_sixteen_settings_each_once",
            ),
        ),
        left_out="how large a compressed batch is was recorded of one broker, and is not computed; the creation of the "
        "topic is a rule of one line (KIP-115, since 0.11) and no simulator",
    ),
    Rule(
        name="on Spark: members of groups",
        function="kafkalearn.spark.offsets.members.group_members",
        versions="0.9 to 4.3: versions 0 to 4 of the group's value",
        source="as kafkalearn.offsets.replay.replay",
        checks=(
            Check("equality", f"{_SPARK_MEMBERS}::test_the_members_on_a_real_disk_are_those_that_the_core_decodes"),
            Check(
                "equality",
                f"{_SPARK_MEMBERS}::test_generated_members_of_every_version_are_those_that_the_core_decodes",
            ),
        ),
        left_out="members of groups of the newer protocols",
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
        left_out="of record types 3 to 23 only kind, group and version become columns; members are counted, and rows "
        "in kafkalearn.spark.offsets.members",
    ),
    Rule(
        name="on Spark: the formatter's line",
        function="kafkalearn.spark.offsets.printing.with_formatter_line",
        versions="0.9.0 to 3.8, 4.0 to 4.3",
        source="as what the console formatters print",
        checks=(
            Check(
                "equality",
                "tests/spark/offsets/test_printing.py::test_a_real_partition_has_the_lines_that_the_real_tool_printed",
            ),
            Check(
                "equality",
                "tests/spark/offsets/test_printing.py::test_each_release_has_the_lines_of_the_scalar_function",
            ),
        ),
        left_out="the groups formatter; records with more bytes than their layout, which the tool prints",
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
        left_out="the state of groups of the newer protocols; members and their assignments, which are in "
        "kafkalearn.spark.offsets.members",
    ),
)
