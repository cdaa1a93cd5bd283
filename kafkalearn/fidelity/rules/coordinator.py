"""The ledger's entries on finding the coordinator."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RULES = (
    Rule(
        name="group id to offsets partition",
        function="kafkalearn.coordinator.offsets_partition",
        versions="0.8.2 to 4.3",
        source="GroupCoordinatorService.partitionFor (to 4.0 also GroupMetadataManager), Utils.abs",
        checks=(
            Check(
                "recording",
                "tests/coordinator/test_rule.py::test_every_group_of_a_real_cluster_is_found_where_its_commit_was_written",
                "data/coordinator.json",
                "cases",
                300,
            ),
            Check(
                "vectors",
                "tests/coordinator/test_rule.py::test_each_formula_gives_what_java_gave",
                "tests/vectors/hashing/groups-hash.json",
                "vectors",
                77,
            ),
        ),
        left_out="",
    ),
    Rule(
        name="the formulas people write",
        function="kafkalearn.coordinator.FORMULAS",
        versions="none: only the one called kafka is Kafka's",
        source="articles; Java's Math.abs, % and &",
        checks=(
            Check(
                "vectors",
                "tests/coordinator/test_rule.py::test_each_formula_gives_what_java_gave",
                "tests/vectors/hashing/groups-hash.json",
                "vectors",
                77,
            ),
            Check(
                "law",
                "tests/coordinator/test_rule.py::test_the_formulas_without_a_mask_agree_except_on_the_smallest_hash",
            ),
            Check(
                "equality",
                "tests/spark/test_coordinator.py::test_a_hundred_thousand_random_ids_get_what_the_scalar_functions_give",
            ),
        ),
        left_out="",
    ),
    Rule(
        name="FindCoordinator",
        function="kafkalearn.coordinator.find_coordinator",
        versions="0.8.2 to 4.3",
        source="KafkaApis.handleFindCoordinatorRequest",
        checks=(
            Check(
                "recording",
                "tests/coordinator/test_rule.py::test_every_group_of_a_real_cluster_is_found_where_its_commit_was_written",
                "data/coordinator.json",
                "cases",
                300,
            ),
            Check(
                "recording",
                "tests/coordinator/test_leaders.py::test_a_real_broker_names_the_coordinator_that_the_pasted_text_gives",
                "tests/vectors/coordinator/topic-descriptions.json",
                "cases",
                8,
            ),
        ),
        left_out="coordinators of transactions and share groups; the request itself, its retries and authorization; "
        "a broker whose knowledge of the leaders is out of date",
    ),
    Rule(
        name="leaders that kafka-topics --describe names",
        function="kafkalearn.coordinator.leaders.leaders_of",
        versions="0.8.1 to 4.3",
        source="TopicCommand",
        checks=(
            Check(
                "recording",
                "tests/coordinator/test_leaders.py::"
                "test_what_the_tool_of_each_release_prints_names_the_leaders_that_the_brokers_had",
                "tests/vectors/coordinator/topic-descriptions.json",
                "cases",
                8,
            ),
        ),
        left_out="up to 2.3 the tool with --zookeeper may name a leader that is gone; what it prints is believed",
    ),
    Rule(
        name="leaders of an undisturbed cluster",
        function="kafkalearn.coordinator.round_robin_leaders",
        versions="0.8.1 to 3.9 with ZooKeeper; with KRaft as many partitions for each broker, in another order",
        source="AdminUtils.assignReplicasToBrokers; StripedReplicaPlacer",
        checks=(
            Check(
                "vectors",
                "tests/coordinator/test_leaders.py::"
                "test_leaders_are_dealt_out_as_the_tool_of_clusters_with_zookeeper_places_them",
                "tests/vectors/coordinator/groups-replicas.json",
                "tool",
                9,
            ),
            Check(
                "law",
                "tests/coordinator/test_leaders.py::"
                "test_a_real_controller_gives_every_broker_as_many_leaders_in_each_round_as_the_dealing_does",
            ),
        ),
        left_out="which broker begins, as a real cluster draws it; the shuffle after each round (KRaft); racks; "
        "leaders that failures have moved",
    ),
    Rule(
        name="FindCoordinator step by step",
        function="kafkalearn.coordinator.look_up",
        versions="0.8.2 to 4.3",
        source="as the two rules it goes through",
        checks=(
            Check(
                "recording",
                "tests/coordinator/test_simulator.py::test_a_look_up_on_a_real_cluster_ends_at_the_broker_that_answered",
                "data/coordinator.json",
                "cases",
                300,
            ),
            Check(
                "law",
                "tests/coordinator/test_simulator.py::test_a_look_up_ends_where_the_calculator_says_and_keeps_its_promises",
            ),
        ),
        left_out="Java computes the hash in one call; the steps are for the reader",
    ),
    Rule(
        name="the connections of clients",
        function="kafkalearn.coordinator.connections.connections",
        versions="0.9 to 4.3, Java clients",
        source="KafkaProducer, Fetcher, AbstractCoordinator (a node id of its own for the coordinator)",
        checks=(
            Check(
                "law",
                "tests/coordinator/test_connections.py::"
                "test_all_members_go_to_the_one_coordinator_and_nobody_else_does",
            ),
            Check(
                "law", "tests/coordinator/test_connections.py::test_each_partition_is_written_and_read_at_its_leader"
            ),
        ),
        left_out="the connection for Metadata, fetches from a follower (KIP-392), connections closed when idle, groups "
        "of KIP-848, transactions",
    ),
    Rule(
        name="where committed offsets could live, and what it costs",
        function="kafkalearn.coordinator.places.place_cost",
        versions="none but by group: the other places are no release's",
        source="GroupCoordinatorService.partitionFor for groups; the same formula for the other names",
        checks=(
            Check(
                "law",
                "tests/coordinator/test_places.py::test_by_group_every_member_has_one_node_before_and_after",
            ),
            Check(
                "law",
                "tests/coordinator/test_places.py::test_no_place_needs_fewer_connections_or_reads_than_by_group",
            ),
        ),
        left_out="members that own nothing; how much goes over a connection; a coordinator that moves",
    ),
)
