"""The ledger's entries on the consumer before the coordinator: ZooKeeper's tree, its nodes, the old connector."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RECORDED = "tests/vectors/zookeeper/old-consumer-groups.json"


def _recorded(test: str, file: str = "test_recordings") -> Check:
    return Check("recording", f"tests/zookeeper/{file}.py::{test}", RECORDED, "scripts", 51)


RULES: tuple[Rule, ...] = (
    Rule(
        name="a small ZooKeeper",
        function="kafkalearn.zookeeper.tree.step",
        versions="ZooKeeper 3.4",
        source="org.apache.zookeeper.server.DataTree, WatchManager, PrepRequestProcessor, SessionTrackerImpl 3.4.10",
        checks=(
            Check("law", "tests/zookeeper/tree/test_tree.py::test_invariants_hold_over_any_schedule"),
            Check(
                "law", "tests/zookeeper/tree/test_tree.py::test_a_watch_fires_at_most_once_for_each_time_it_was_left"
            ),
            Check(
                "law",
                "tests/zookeeper/tree/test_tree.py::test_ephemeral_nodes_go_with_their_session_and_with_nothing_else",
            ),
            Check("examples", "tests/zookeeper/tree/test_tree.py::test_requests_are_refused_as_zookeeper_refuses_them"),
        ),
        left_out=(
            "sequential nodes, access rights, transactions of many requests, several servers; in a node's stat all but "
            "its version and its session; data is text; which of several watchers is notified first (here by name)"
        ),
    ),
    Rule(
        name="nodes of old consumers, to the byte",
        function="kafkalearn.zookeeper.contents.Registration",
        versions="1.0.1 to 1.1; the paths since 0.8",
        source="kafka.utils.ZkUtils, kafka.zk.TopicZNode, BrokerIdZNode 1.1.1; Scala 2.11's HashMap",
        checks=(
            _recorded("test_a_registration_is_written_as_a_real_one", "test_contents"),
            _recorded("test_a_topic_of_few_and_of_many_partitions_is_written_as_a_real_one", "test_contents"),
            _recorded("test_a_broker_is_written_as_a_real_one", "test_contents"),
        ),
        left_out=(
            "the order of the partitions in the node of a topic that has grown; brokers with more than one listener; "
            "topics whose names have the same hash"
        ),
    ),
    Rule(
        name="topic filters of old consumers",
        function="kafkalearn.zookeeper.filters.TopicFilter",
        versions="0.8 to 1.1; a backslash is doubled since 1.0.1",
        source="kafka.consumer.TopicFilter, Whitelist, Blacklist; kafka.utils.CoreUtils.JSONEscapeString",
        checks=(
            _recorded("test_consumers_with_a_filter_owned_topics_that_it_lets_through", "test_filters"),
            Check("examples", "tests/zookeeper/test_filters.py::test_a_filter_is_no_glob"),
        ),
        left_out="what Java's expressions have and Python's have not, and long repeats: both are refused with a word",
    ),
    Rule(
        name="the old consumer's connector",
        function="kafkalearn.zookeeper.connector.step",
        versions="0.8.2 to 1.1 (order and nodes as in 1.1.1)",
        source="kafka.consumer.ZookeeperConsumerConnector, kafka.utils.ZKCheckedEphemeral 1.1.1; ZkClient 0.10",
        checks=(
            _recorded("test_every_operation_leaves_the_recorded_nodes"),
            _recorded("test_every_consumer_reads_the_recorded_records"),
            _recorded("test_every_application_is_thrown_the_recorded_words"),
            _recorded("test_every_rebalance_is_made_by_the_recorded_thread_in_the_recorded_number_of_tries"),
            _recorded("test_nodes_agree_to_the_byte"),
            _recorded("test_whoever_is_quicker_the_group_ends_as_recorded"),
            Check(
                "equality",
                "tests/live/test_old_consumers.py::test_random_operations_leave_the_nodes_and_records_of_the_simulator",
            ),
            Check("law", "tests/zookeeper/connector/test_laws.py::test_invariants_hold_over_any_schedule"),
            Check(
                "law",
                "tests/zookeeper/connector/test_laws.py::"
                "test_in_the_end_each_partition_has_one_thread_or_somebody_has_given_up",
            ),
            Check(
                "law",
                "tests/zookeeper/connector/test_laws.py::"
                "test_no_partition_has_two_owners_in_zookeeper_and_each_owner_has_a_session",
            ),
        ),
        left_out=(
            "each of the eight steps is one turn: nobody comes between its requests, and they are sent in the order of "
            "topics and partitions; the rebalance listener of an application; a new topic of a filter that a rebalance "
            "sees before its streams are made; the leader finder's two requests to ZooKeeper after each rebalance; "
            "offsets in the offsets topic and fetchers (kafkalearn.zookeeper.commits, fetching)"
        ),
    ),
    Rule(
        name="the split brain of old consumers",
        function="kafkalearn.zookeeper.search.find",
        versions="0.8.2 to 1.1",
        source="as the old consumer's connector",
        checks=(
            Check("law", "tests/zookeeper/search/test_search.py::test_after_four_tries_it_gives_up"),
            Check(
                "law",
                "tests/zookeeper/search/test_search.py::"
                "test_with_every_schedule_of_two_that_join_nobody_reads_what_another_reads",
            ),
        ),
        left_out="as the old consumer's connector; time: a pause after a failed try may be over at any moment",
    ),
    Rule(
        name="the herd of old consumers",
        function="kafkalearn.zookeeper.search.herd",
        versions="0.8.2 to 1.1",
        source="as the old consumer's connector",
        checks=(
            Check("law", "tests/zookeeper/search/test_search.py::test_every_change_calls_everybody"),
            Check("examples", "tests/zookeeper/search/test_search.py::test_a_herd_reads_as_the_square_of_its_size"),
        ),
        left_out="pings, and the leader finder's two requests after each rebalance",
    ),
    Rule(
        name="old consumers in virtual time",
        function="kafkalearn.zookeeper.eras.simulate_zookeeper",
        versions="0.8.2 to 1.1",
        source="as the old consumer's connector; ZooKeeper's SessionTrackerImpl and ClientCnxn",
        checks=(
            Check(
                "law",
                "tests/zookeeper/eras/test_eras.py::test_every_era_ends_with_all_partitions_read_once",
            ),
            Check(
                "examples",
                "tests/zookeeper/eras/test_eras.py::test_a_crash_is_noticed_when_the_session_ends",
            ),
        ),
        left_out=(
            "work besides the network: a turn takes the time of its requests alone; a client pings each third of its "
            "time-out whatever else it asked; settings of single members; reading is a flow, as for the other protocols"
        ),
    ),
    Rule(
        name="on Spark: how long old consumers take to agree",
        function="kafkalearn.spark.zookeeper.with_agreement",
        versions="as old consumers in virtual time",
        source="as old consumers in virtual time",
        checks=(
            Check("equality", "tests/spark/test_zookeeper.py::test_each_group_takes_as_long_as_the_simulator_says"),
            Check(
                "equality",
                "tests/spark/test_zookeeper.py::"
                "test_random_groups_take_what_the_simulator_says_and_are_the_same_in_every_run",
            ),
        ),
        left_out="more than one topic or broker, round robin; pauses in which a session expires",
    ),
    Rule(
        name="on Spark: the same newcomer under the classic protocol",
        function="kafkalearn.spark.rebalances.eras.with_classic_cost",
        versions="0.10.1 to 4.3, eager (range)",
        source="as a classic group in virtual time: ConsumerCoordinator.onJoinPrepare commits before it revokes; "
        "AbstractCoordinator's heartbeat thread leaves after max.poll.interval.ms",
        checks=(
            Check(
                "equality",
                "tests/spark/test_zookeeper.py::test_each_group_costs_the_classic_protocol_what_its_simulator_says",
            ),
        ),
        left_out="what a member that was thrown out reads twice when it comes back, and the rebalance that it brings; "
        "cooperative assignors; heartbeats of more than one interval",
    ),
)
