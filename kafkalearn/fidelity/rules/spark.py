"""The ledger's entries on group ids and keys on Spark."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RULES = (
    Rule(
        name="on Spark: group id to offsets partition",
        function="kafkalearn.spark.coordinator.with_offsets_partition",
        versions="0.8.2 to 4.3",
        source="as kafkalearn.coordinator; the hash is Java's own function",
        checks=(
            Check(
                "vectors",
                "tests/spark/test_coordinator.py::test_recorded_ids_get_what_java_gave",
                "tests/vectors/hashing/groups-hash.json",
                "vectors",
                77,
            ),
            Check(
                "equality",
                "tests/spark/test_coordinator.py::test_a_hundred_thousand_random_ids_get_what_the_scalar_functions_give",
            ),
        ),
        left_out="",
    ),
    Rule(
        name="on Spark: group id to coordinator",
        function="kafkalearn.spark.coordinator.with_coordinator",
        versions="0.8.2 to 4.3",
        source="as kafkalearn.coordinator",
        checks=(
            Check(
                "recording",
                "tests/spark/test_coordinator.py::test_every_group_of_a_real_cluster_is_found_at_its_coordinator",
                "data/coordinator.json",
                "cases",
                300,
            ),
        ),
        left_out="leaders that change while the query runs",
    ),
    Rule(
        name="on Spark: what places of offsets cost",
        function="kafkalearn.spark.offsets.places.place_costs",
        versions="as where committed offsets could live",
        source="as where committed offsets could live",
        checks=(Check("equality", "tests/spark/offsets/test_places.py::test_the_sums_are_those_of_the_scalar_rule"),),
        left_out="",
    ),
    Rule(
        name="on Spark: the busiest coordinators of clusters",
        function="kafkalearn.spark.coordinator.busiest_broker_shares",
        versions="as leaders of an undisturbed cluster",
        source="as leaders of an undisturbed cluster",
        checks=(
            Check(
                "equality",
                "tests/spark/test_coordinator.py::"
                "test_the_busiest_coordinators_are_those_that_are_found_group_by_group",
            ),
        ),
        left_out="",
    ),
    Rule(
        name="on Spark: key to partition",
        function="kafkalearn.spark.partitioning.keyed.with_partition",
        versions="as kafkalearn.partitioning.keyed",
        source="as kafkalearn.partitioning.keyed; murmur2 is that of Apache Commons Codec",
        checks=(
            Check(
                "recording",
                "tests/spark/partitioning/test_keyed.py::test_real_producers_wrote_a_thousand_keys_where_we_say",
                "tests/vectors/hashing/keys.json",
                "keys",
                1000,
            ),
            Check(
                "vectors",
                "tests/spark/partitioning/test_keyed.py::test_recorded_keys_land_where_the_java_client_put_them",
                "tests/vectors/hashing/groups-murmur2.json",
                "vectors",
                45,
            ),
            Check(
                "equality",
                "tests/spark/partitioning/test_keyed.py::test_a_hundred_thousand_random_keys_land_where_the_scalar_functions_put_them",
            ),
        ),
        left_out="keys that are not serialised yet: a number has no bytes until a serialiser gives it some",
    ),
    Rule(
        name="on Spark: how long a rebalance takes",
        function="kafkalearn.spark.rebalances.durations.with_rebalance_ms",
        versions="as how long a rebalance takes that a newcomer brings",
        source="as how long a rebalance takes that a newcomer brings",
        checks=(
            Check(
                "equality",
                "tests/spark/rebalances/test_durations.py::test_each_group_takes_as_long_as_the_simulator_says",
            ),
        ),
        left_out="",
    ),
    Rule(
        name="on Spark: rebalances in a coordinator's log",
        function="kafkalearn.spark.group_logs.standstill.rebalances",
        versions="4.1 to 4.3",
        source="the log lines of GroupMetadataManager; AbstractCoordinator for what clients say (KIP-800)",
        checks=(
            Check(
                "equality",
                "tests/spark/group_logs/test_standstill.py::test_the_query_finds_the_rebalances_that_the_simulator_went_through",
            ),
            Check("examples", "tests/spark/group_logs/test_standstill.py::test_a_reason_of_the_coordinator_has_a_name"),
        ),
        left_out="the lines themselves: a log has to be taken apart into columns first; KIP-848 groups; up to 4.0 the "
        "client's reason stands in the line of the rebalance",
    ),
    Rule(
        name="on Spark: backlogs of consumers that pull, or are pushed to",
        function="kafkalearn.spark.consuming.backlogs",
        versions="0.8 to 4.3, the log alone",
        source="KafkaConsumer.poll; the queues are a comparison and no rule of Kafka's",
        checks=(
            Check(
                "equality",
                "tests/spark/consuming/test_backlogs.py::test_each_consumer_stands_where_the_simulator_has_it",
            ),
            Check("law", "tests/spark/consuming/test_backlogs.py::test_without_limits_nothing_is_lost"),
        ),
        left_out="queues that refuse the producer; within an interval all records come first, then all work is done",
    ),
    Rule(
        name="on Spark: lag",
        function="kafkalearn.spark.lag.lag_by_partition",
        versions="0.9 to 4.3",
        source="ConsumerGroupCommand",
        checks=(
            Check("equality", "tests/spark/test_lag.py::test_lag_is_that_of_the_simulator_partition_by_partition"),
            Check(
                "examples", "tests/spark/test_lag.py::test_of_several_commits_the_last_one_counts_also_if_it_goes_back"
            ),
        ),
        left_out="commits that were deleted or have expired; records of open transactions count",
    ),
    Rule(
        name="on Spark: what a rebalance costs",
        function="kafkalearn.spark.rebalances.costs.rebalance_costs",
        versions="as the assignors",
        source="as the assignors, whose code the workers get",
        checks=(
            Check("equality", "tests/spark/rebalances/test_costs.py::test_every_assignor_costs_what_it_costs_here"),
        ),
        left_out="what the assignors leave out; members' previous ownership is that of one settled assignment",
    ),
    Rule(
        name="on Spark: topics of a real Kafka, and those that Spark passes over",
        function="kafkalearn.spark.real_topic.topics.topics_of",
        versions="4.0 to 4.3, Spark 4.3 with its connector 4.2",
        source="ConsumerStrategy and KafkaOffsetReaderConsumer of Spark's connector",
        checks=(
            Check(
                "equality",
                "tests/spark/real_topic/test_recorded.py"
                "::test_spark_passes_over_the_internal_topic_and_leaves_a_group_where_it_subscribes",
            ),
            Check(
                "equality",
                "tests/spark/real_topic/test_recorded.py::test_the_simulators_commits_came_back_as_they_were_sent",
            ),
        ),
        left_out="headers of records; topics that are subscribed to by a pattern; Spark Connect, and clusters whose "
        "workers lack the connector; other versions of it",
    ),
)
