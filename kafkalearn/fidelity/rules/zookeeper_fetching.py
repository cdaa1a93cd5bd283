"""The ledger's entries on how the old consumer fetches, and where it commits."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RECORDED = "tests/zookeeper/fetching/test_recorded.py"
LAWS = "tests/zookeeper/fetching/test_laws.py"
RULES_ALONE = "tests/zookeeper/fetching/test_simulator.py"
PIPELINE = "tests/vectors/zookeeper/fetch-pipeline.json"
BY_HAND = "tests/zookeeper/test_simple_consumer.py"
REAL_HAND = "tests/zookeeper/test_simple_consumer_recorded.py"
COMMITS = "tests/zookeeper/commits"
MIGRATIONS = "tests/vectors/zookeeper/offset-migrations.json"

RULES: tuple[Rule, ...] = (
    Rule(
        name="the old consumer's fetcher of a partition",
        function="kafkalearn.zookeeper.fetching.fetcher_id",
        versions="0.8.2 to 1.1; followers to 4.3",
        source="AbstractFetcherManager.getFetcherId",
        checks=(
            Check(
                "vectors",
                f"{RECORDED}::test_a_partition_has_the_fetcher_that_the_real_class_gives_it",
                "tests/vectors/zookeeper/fetcher-ids.json",
                "vectors",
                300,
            ),
        ),
        left_out="",
    ),
    Rule(
        name="the old consumer's fetch pipeline",
        function="kafkalearn.zookeeper.fetching.simulate",
        versions="0.8.2 to 1.1",
        source="ConsumerFetcherManager, AbstractFetcherManager, AbstractFetcherThread, ConsumerFetcherThread, "
        "PartitionTopicInfo, ConsumerIterator; ZookeeperConsumerConnector for start, stop and shutdown",
        checks=(
            Check(
                "recording",
                f"{RECORDED}::test_every_layer_holds_what_it_held_in_the_real_consumer",
                PIPELINE,
                "scripts",
                44,
            ),
            Check(
                "recording",
                f"{RECORDED}::test_the_application_gets_the_same_records_and_exceptions",
                PIPELINE,
                "scripts",
                44,
            ),
            Check(
                "recording",
                f"{RECORDED}::test_the_consumer_says_that_it_may_lose_data_where_the_real_one_logged_it",
                PIPELINE,
                "scripts",
                44,
            ),
            Check("law", f"{LAWS}::test_records_come_once_and_in_order_while_nothing_is_out_of_range"),
            Check("law", f"{LAWS}::test_the_check_on_enqueue_finds_nothing_while_every_broker_runs"),
            Check("law", f"{LAWS}::test_who_reads_every_stream_stops_nobody"),
            Check(
                "examples",
                f"{RULES_ALONE}::test_a_record_that_is_too_large_ends_the_stream_before_0_10_1_and_comes_whole_since",
            ),
            Check("examples", f"{RULES_ALONE}::test_two_threads_can_come_to_one_partition_and_then_the_later_one_dies"),
        ),
        left_out="releases before 1.1 and the fetcher that dies are by the source, not from a run. Time: a round is an "
        "event, backoffs and fetch.wait.max.ms are not counted; a request and its answer are one event. A record that "
        "hasNext has taken already when a rebalance clears the stream: the real iterator still returns it. Batches of "
        "several records, compression, corrupt records. In which order the leader finder serves several fetchers hangs "
        "on the hash of host names; here it is the order of the partitions",
    ),
    Rule(
        name="the low-level consumer",
        function="kafkalearn.zookeeper.simple_consumer.simulate",
        versions="0.8.2 to 1.1",
        source="kafka.consumer.SimpleConsumer, and its example of 0.8",
        checks=(
            Check(
                "recording",
                f"{REAL_HAND}::test_each_request_is_answered_as_the_real_one_was",
                "tests/vectors/zookeeper/simple-consumer.json",
                "scripts",
                22,
            ),
            Check("examples", f"{BY_HAND}::test_any_broker_that_runs_names_the_leader_even_one_that_is_gone"),
            Check(
                "examples",
                f"{BY_HAND}::test_a_fetch_goes_to_the_broker_that_it_is_connected_to_until_another_leader_is_found",
            ),
            Check("examples", f"{BY_HAND}::test_out_of_range_is_the_applications_to_answer"),
            Check("law", f"{BY_HAND}::test_every_record_between_two_starts_comes_once_and_in_order"),
        ),
        left_out="releases before 1.1 are by the source, not from a run. A broker that has just started and does not "
        "know its partitions; a lost connection, which is made again once; records of compressed batches below the "
        "offset that was asked for",
    ),
    Rule(
        name="commits to ZooKeeper, to the topic, to both",
        function="kafkalearn.zookeeper.commits.simulate",
        versions="0.8.2 to 1.1",
        source="ZookeeperConsumerConnector.commitOffsets, fetchOffsets, addPartitionTopicInfo; "
        "ClientUtils.channelToOffsetManager",
        checks=(
            Check(
                "recording",
                f"{COMMITS}/test_recorded.py::test_both_stores_hold_what_the_real_ones_held",
                MIGRATIONS,
                "scripts",
                16,
            ),
            Check(
                "recording",
                f"{COMMITS}/test_recorded.py::test_each_consumer_reads_the_same_records",
                MIGRATIONS,
                "scripts",
                16,
            ),
            Check(
                "recording",
                f"{COMMITS}/test_recorded.py::test_a_commit_takes_as_many_backoffs_as_it_is_tried_again",
                MIGRATIONS,
                "scripts",
                16,
            ),
            Check(
                "law",
                f"{COMMITS}/test_search.py::"
                "test_with_dual_commit_no_schedule_loses_or_doubles_a_record_where_each_shutdown_commits",
            ),
            Check(
                "examples",
                f"{COMMITS}/test_simulator.py::test_which_commits_are_tried_again_turned_round_with_0_9",
            ),
        ),
        left_out="the coordinator is that of kafkalearn.offsets.replicated, of 4.0 and later: who commits once and "
        "waits for the answer hears the same of 1.1's. A consumer that dies between the topic's answer and the write "
        "to ZooKeeper, or between two nodes; two consumers that believe they own one partition; what a slow ZooKeeper "
        "does to sessions. 0.8.2 and 0.9 to 0.11 are by the source",
    ),
    Rule(
        name="ZooKeeper and the topic under one load",
        function="kafkalearn.zookeeper.commits.load.backlogs",
        versions="any: the costs are settings",
        source="commitOffsetToZooKeeper writes node by node, and only what has changed; OffsetCommit takes all at "
        "once; ZooKeeper's SyncRequestProcessor flushes together what came meanwhile. MEASURED: one ZooKeeper 3.4.10 "
        "and one broker of 1.1.1 on one machine with other work",
        checks=(
            Check("equality", "tests/spark/test_offset_stores.py::test_what_waits_is_what_the_rule_says"),
            Check(
                "equality",
                "tests/spark/test_offset_stores.py::test_each_second_has_the_writes_that_are_counted_commit_by_commit",
            ),
            Check(
                "recording",
                f"{COMMITS}/test_load.py::test_the_costs_are_the_measured_ones",
                "tests/vectors/zookeeper/offset-stores.json",
                "runs",
                3,
            ),
        ),
        left_out="networks and followers: all was measured on one machine, one server of each kind; reads of nodes; "
        "what ZooKeeper has to do besides (sessions, controllers); compaction of the topic, its load after a failure",
    ),
    Rule(
        name="on Spark: which fetcher serves what",
        function="kafkalearn.spark.zookeeper_fetching.with_fetcher",
        versions="as kafkalearn.zookeeper.fetching.fetcher_id",
        source="as kafkalearn.zookeeper.fetching.fetcher_id; the hash is Java's own function",
        checks=(
            Check(
                "vectors",
                "tests/spark/test_zookeeper_fetching.py"
                "::test_partitions_get_the_fetcher_that_the_real_class_gives_them",
                "tests/vectors/zookeeper/fetcher-ids.json",
                "vectors",
                300,
            ),
            Check(
                "equality",
                "tests/spark/test_zookeeper_fetching.py::test_a_cluster_of_partitions_gets_what_the_scalar_rule_gives",
            ),
            Check("equality", "tests/spark/test_zookeeper_fetching.py::test_loads_add_up_broker_by_broker"),
        ),
        left_out="",
    ),
)
