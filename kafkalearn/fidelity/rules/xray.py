"""The ledger's entries on x-rays of segment files: counts, the transactions' topic, groups, the cleaner's answer."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

_CENSUS, _CODEC = "tests/segments/test_census.py", "tests/transaction_log/test_codec.py"
_CLEANING, _GROUPS = "tests/answers/xray/test_cleaning.py", "tests/answers/xray/test_groups.py"
_FINDINGS, _READ_ONLY = "tests/answers/xray/test_findings.py", "tests/answers/xray/test_read_only.py"
_TRANSACTIONS = "tests/vectors/segments/transaction-log.json"
_REAL_PARTITIONS = "tests/vectors/segments/cleaned-partitions.json"

RULES = (
    Rule(
        name="records of __transaction_state",
        function="kafkalearn.transaction_log.codec.decode_value",
        versions="0.11 to 4.3: versions 0 and 1; recorded for 4.0 to 4.3",
        source="TransactionLogKey, TransactionLogValue, TransactionLog; KIP-98, KIP-890, KIP-915",
        checks=(
            Check(
                "vectors",
                f"{_CODEC}::test_bytes_and_fields_are_those_of_kafka_s_classes",
                _TRANSACTIONS,
                "classes",
                40,
            ),
            Check(
                "recording",
                f"{_CODEC}::test_a_broker_s_records_are_what_its_own_tool_prints",
                _TRANSACTIONS,
                "cases",
                4,
            ),
            Check("law", f"{_CODEC}::test_what_is_written_is_read"),
            Check("law", f"{_CODEC}::test_any_bytes_are_read_or_refused"),
        ),
        left_out="version 0 on the disk of a broker: it was written by Kafka's classes of 4.3",
    ),
    Rule(
        name="transactional ids from their records",
        function="kafkalearn.transaction_log.replay.replay",
        versions="0.11 to 4.3; recorded for 4.0 to 4.3",
        source="TransactionStateManager.loadTransactionMetadata, timedOutTransactions, shouldExpire",
        checks=(
            Check(
                "recording",
                f"{_CODEC}::test_replayed_the_records_are_the_transactional_ids_that_the_coordinator_lists",
                _TRANSACTIONS,
                "cases",
                4,
            ),
        ),
        left_out="what a coordinator does when it loads a transaction that was ending: it ends it",
    ),
    Rule(
        name="the counts of a log's files",
        function="kafkalearn.segments.census.reading.count_log",
        versions="0.11 to 4.3; messages of formats 0 and 1 are counted, those inside compressed ones not",
        source="as kafkalearn.segments.batches.read_batch; ProducerStateManager for open transactions",
        checks=(
            Check("equality", f"{_CENSUS}::test_the_ways_count_the_same_and_what_the_records_say"),
            Check("equality", f"{_CENSUS}::test_any_batches_are_the_same_both_ways"),
            Check("equality", f"{_CENSUS}::test_mutated_files_give_the_same_both_ways"),
            Check("equality", f"{_CENSUS}::test_the_wheel_s_checksum_is_that_of_plain_python"),
        ),
        left_out="timestamps are the largest of each batch; headers alone are believed, checksum and records unseen; a "
        "file that is cut while it is read (a follower does that) ends the process, as with every mapped file",
    ),
    Rule(
        name="x-ray: what the cleaner would take, and when",
        function="kafkalearn.answers.xray.cleaning.simulate_cleaning",
        versions="0.11 to 4.3; recorded for 4.3.0 and 4.3.1",
        source="LogCleanerManager, Cleaner",
        checks=(
            Check(
                "recording",
                f"{_CLEANING}::test_what_goes_is_what_the_real_cleaner_took",
                _REAL_PARTITIONS,
                "cases",
                4,
            ),
            Check(
                "equality",
                f"{_CLEANING}::test_of_the_recorded_offsets_topic_what_stays_is_what_the_real_cleaner_left",
            ),
            Check("equality", f"{_CLEANING}::test_the_outline_has_the_ratio_of_the_whole_log"),
        ),
        left_out="what goes of logs above 16 MiB, of which only the dirty ratio is known; the settings of the broker: "
        "what is not given is by default; the high watermark: all that is on the disk counts as replicated",
    ),
    Rule(
        name="x-ray: open transactions and the last stable offset",
        function="kafkalearn.answers.xray.question.xray",
        versions="0.11 to 4.3; recorded for 4.0 to 4.3",
        source="ProducerStateManager, TransactionsCommand",
        checks=(
            Check(
                "recording",
                f"{_GROUPS}::test_open_transactions_are_those_that_the_broker_s_tool_describes",
                _TRANSACTIONS,
                "cases",
                4,
            ),
            Check("examples", f"{_FINDINGS}::test_an_open_transaction_is_found_once_it_is_older_than_any_may_be"),
        ),
        left_out="",
    ),
    Rule(
        name="x-ray: groups, and until when they are kept",
        function="kafkalearn.answers.xray.question.xray",
        versions="0.11 to 4.3",
        source="as kafkalearn.offsets.replay.replay and kafkalearn.offsets.store.expiry.is_expired",
        checks=(
            Check("equality", f"{_GROUPS}::test_the_groups_are_those_that_the_broker_listed"),
            Check("examples", f"{_GROUPS}::test_how_often_a_group_commits_is_read_from_what_no_cleaner_has_seen"),
            Check(
                "examples",
                f"{_GROUPS}::test_a_dead_group_is_kept_until_its_retention_has_passed",
            ),
        ),
        left_out="when the sweep comes after an offset is due (offsets.retention.check.interval.ms); offsets "
        "in a transaction that has not ended",
    ),
    Rule(
        name="x-ray: files that contradict each other",
        function="kafkalearn.answers.xray.question.xray",
        versions="0.11 to 4.3",
        source="OffsetCheckpointFile, LeaderEpochCheckpointFile; LogLoader for what a broker does with them",
        checks=(
            Check("examples", f"{_FINDINGS}::test_a_checkpoint_ahead_of_the_log_is_found_and_one_at_its_end_is_not"),
            Check("examples", f"{_FINDINGS}::test_leader_epochs_that_the_batches_do_not_have_are_found"),
            Check("examples", f"{_FINDINGS}::test_copies_that_have_diverged_are_found_and_lag_is_not_divergence"),
            Check("examples", f"{_READ_ONLY}::test_a_folder_that_may_not_be_written_stays_as_it_was"),
        ),
        left_out="indexes, producer snapshots, partition.metadata and meta.properties beside the segments; "
        "copies that a cleaner has rewritten are compared from its checkpoint on",
    ),
)
