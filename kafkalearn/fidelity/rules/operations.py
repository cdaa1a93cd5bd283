"""The ledger's entries on running a cluster: placement, plans, the tools' texts, faults."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

PLACEMENTS = "tests/vectors/operations/placements.json"
GROUP_TOOL = "tests/vectors/operations/group-tools.json"
PLAN_TOOL = "tests/vectors/operations/reassignment-tool.json"

RULES = (
    Rule(
        name="replicas of a new topic with KRaft",
        function="kafkalearn.operations.placement.place_striped",
        versions="3.0 to 4.3",
        source="StripedReplicaPlacer",
        checks=(
            Check(
                "vectors",
                "tests/operations/test_placement.py::test_a_controller_of_kraft_places_as_its_class_does",
                PLACEMENTS,
                "striped",
                60,
            ),
            Check(
                "law",
                "tests/operations/test_placement.py::"
                "test_no_placer_puts_two_replicas_on_one_broker_and_leaders_are_spread",
            ),
        ),
        left_out="the seed that a real controller draws; log directories that are cordoned",
    ),
    Rule(
        name="replicas of a new topic with ZooKeeper",
        function="kafkalearn.operations.placement.place_shifted",
        versions="0.8.1 to 4.0, with racks since 0.10.0",
        source="AdminUtils.assignReplicasToBrokers",
        checks=(
            Check(
                "vectors",
                "tests/operations/test_placement.py::test_with_racks_the_old_placer_does_as_its_class_does",
                PLACEMENTS,
                "shifted",
                40,
            ),
            Check(
                "vectors",
                "tests/operations/test_placement.py::test_without_racks_the_old_placer_does_as_its_class_does",
                "tests/vectors/coordinator/groups-replicas.json",
                "tool",
                9,
            ),
        ),
        left_out="the two numbers that Kafka draws",
    ),
    Rule(
        name="creation of the offsets topic",
        function="kafkalearn.operations.offsets_topic.create_offsets_topic",
        versions="0.8.2 to 4.3",
        source="KafkaApis.createInternalTopic, AutoTopicCreationManager, ReplicationControlManager; KIP-115",
        checks=(
            Check("examples", "tests/operations/test_offsets_topic.py::test_how_many_replicas_it_gets"),
            Check("law", "tests/operations/test_offsets_topic.py::test_whatever_happens_the_invariants_hold"),
        ),
        left_out="the time that creation takes; Metadata requests; quotas on creating topics",
    ),
    Rule(
        name="what kafka-reassign-partitions refuses",
        function="kafkalearn.operations.reassignment.refusal",
        versions="2.6 to 4.3",
        source="ReassignPartitionsCommand.parseExecuteAssignmentArgs, executeAssignment",
        checks=(
            Check(
                "recording",
                "tests/operations/test_reassignment.py::test_a_plan_is_refused_as_the_tool_refuses_it",
                PLAN_TOOL,
                "cases",
                191,
            ),
        ),
        left_out="the messages of Jackson for what is no JSON or no plan: we say it in our own words; what the "
        "controller refuses",
    ),
    Rule(
        name="what --execute prints",
        function="kafkalearn.operations.reassignment.execute_text",
        versions="2.6 to 4.3",
        source="ReassignPartitionsCommand.executeAssignment",
        checks=(
            Check(
                "recording", "tests/operations/test_reassignment.py::test_what_execute_prints", PLAN_TOOL, "cases", 191
            ),
        ),
        left_out="moves between log directories of one broker; stack traces; the tool that wrote into ZooKeeper, up to"
        " 2.5",
    ),
    Rule(
        name="what --verify prints",
        function="kafkalearn.operations.reassignment.verify_text",
        versions="2.6 to 4.3",
        source="ReassignPartitionsCommand.verifyAssignment, clearAllThrottles",
        checks=(
            Check(
                "recording", "tests/operations/test_reassignment.py::test_what_verify_prints", PLAN_TOOL, "cases", 191
            ),
        ),
        left_out="moves between log directories; up to 3.6 the order of more than four brokers or topics whose "
        "throttles are cleared",
    ),
    Rule(
        name="what --cancel prints",
        function="kafkalearn.operations.reassignment.cancel_text",
        versions="2.6 to 4.3",
        source="ReassignPartitionsCommand.cancelAssignment",
        checks=(
            Check(
                "recording", "tests/operations/test_reassignment.py::test_what_cancel_prints", PLAN_TOOL, "cases", 191
            ),
        ),
        left_out="moves between log directories; an answer of the controller that refuses; up to 3.6 the order of more "
        "than four brokers or topics whose throttles are cleared",
    ),
    Rule(
        name="throttles of a reassignment: set, written anew, cleared",
        function="kafkalearn.operations.throttles.step",
        versions="2.6 to 4.3",
        source="ReassignPartitionsCommand.modifyReassignmentThrottle, clearAllThrottles; KIP-73, KIP-455",
        checks=(
            Check(
                "recording",
                "tests/operations/test_throttles.py::"
                "test_rates_lists_and_moves_are_those_of_a_real_cluster_after_every_step",
                "tests/vectors/operations/throttles.json",
                "steps",
                14,
            ),
            Check(
                "law",
                "tests/operations/test_throttles.py::test_whatever_is_executed_and_cancelled_the_invariants_hold",
            ),
        ),
        left_out="limits between log directories (--replica-alter-log-dirs-throttle); how much a limit slows: that a "
        "replica in sync is not held back, and the quota's windows",
    ),
    Rule(
        name="what --generate proposes",
        function="kafkalearn.operations.reassignment.generate",
        versions="0.8.1 to 4.3",
        source="ReassignPartitionsCommand.generateAssignment",
        checks=(
            Check(
                "recording",
                "tests/operations/test_reassignment.py::test_generate_prints_the_replicas_as_they_are_and_proposes_as_many",
                PLAN_TOOL,
                "cases",
                191,
            ),
        ),
        left_out="the numbers that Kafka draws: the same placement for a seed of ours only",
    ),
    Rule(
        name="the JSON of a reassignment",
        function="kafkalearn.operations.reassignment.write_plan",
        versions="1.1 to 4.3",
        source="ReassignPartitionsCommand.formatAsReassignmentJson",
        checks=(
            Check("law", "tests/operations/test_reassignment.py::test_what_is_written_is_read_again_and_is_valid_json"),
        ),
        left_out="",
    ),
    Rule(
        name="what --describe prints of offsets",
        function="kafkalearn.operations.groups.describe_offsets",
        versions="0.9.0 to 4.3",
        source="ConsumerGroupCommand.printOffsets; KIP-1099",
        checks=(
            Check(
                "recording",
                "tests/operations/test_groups.py::test_each_release_describes_offsets_as_its_tool_did",
                GROUP_TOOL,
                "clusters",
                2,
            ),
            Check(
                "examples",
                "tests/operations/test_groups.py::test_the_tools_of_0_9_and_0_10_name_owners_and_know_no_offsets_without_one",
            ),
            Check(
                "examples",
                "tests/operations/test_groups.py::test_members_that_own_nothing_have_a_line_from_0_10_2_to_1_0",
            ),
            Check(
                "examples", "tests/operations/test_groups.py::test_no_member_is_shown_before_the_first_commit_up_to_2_0"
            ),
        ),
        left_out="up to 3.8 the order of what the tool keeps in Scala maps; of releases that were not recorded, and of "
        "members that own nothing, the source was compared; old-consumer groups (--zookeeper); partitions without a "
        "leader",
    ),
    Rule(
        name="what --describe --members prints",
        function="kafkalearn.operations.groups.describe_members",
        versions="1.1 to 4.3",
        source="ConsumerGroupCommand.printMembers; KIP-175, KIP-1099",
        checks=(
            Check(
                "recording",
                "tests/operations/test_groups.py::test_each_release_describes_members_as_its_tool_did",
                GROUP_TOOL,
                "clusters",
                2,
            ),
        ),
        left_out="up to 3.8 the order of what the tool keeps in Scala maps; of releases that were not recorded the "
        "source was compared; the column UPGRADED",
    ),
    Rule(
        name="what --describe --state prints",
        function="kafkalearn.operations.groups.describe_state",
        versions="1.1 to 4.3",
        source="ConsumerGroupCommand.printStates; KIP-175",
        checks=(
            Check(
                "recording",
                "tests/operations/test_groups.py::test_each_release_describes_the_state_as_its_tool_did",
                GROUP_TOOL,
                "clusters",
                2,
            ),
        ),
        left_out="up to 3.8 the order of what the tool keeps in Scala maps; of releases that were not recorded the "
        "source was compared",
    ),
    Rule(
        name="what --reset-offsets plans and prints",
        function="kafkalearn.operations.groups.reset_offsets",
        versions="0.11.0 to 4.3",
        source="ConsumerGroupCommand.resetOffsets, OffsetsUtils; KIP-122",
        checks=(
            Check(
                "recording",
                "tests/operations/test_groups.py::test_each_release_resets_offsets_as_its_tool_did",
                GROUP_TOOL,
                "clusters",
                2,
            ),
        ),
        left_out="up to 3.8 the order of what the tool keeps in Scala maps; of releases that were not recorded the "
        "source was compared; several groups at once; when its logger warns, and in which order",
    ),
    Rule(
        name="what --delete does and prints",
        function="kafkalearn.operations.groups.delete_groups",
        versions="2.0 to 4.3",
        source="ConsumerGroupCommand.deleteGroups; KIP-229",
        checks=(
            Check(
                "recording",
                "tests/operations/test_groups.py::test_each_release_deletes_groups_as_its_tool_did",
                GROUP_TOOL,
                "clusters",
                2,
            ),
        ),
        left_out="up to 3.8 the order of what the tool keeps in Scala maps; of releases that were not recorded the "
        "source was compared",
    ),
    Rule(
        name="what --delete-offsets does and prints",
        function="kafkalearn.operations.groups.delete_offsets",
        versions="2.4 to 4.3",
        source="ConsumerGroupCommand.deleteOffsets; KIP-496",
        checks=(
            Check(
                "recording",
                "tests/operations/test_groups.py::test_each_release_deletes_offsets_as_its_tool_did",
                GROUP_TOOL,
                "clusters",
                2,
            ),
        ),
        left_out="up to 3.8 the order of what the tool keeps in Scala maps; of releases that were not recorded the "
        "source was compared",
    ),
    Rule(
        name="what kafka-topics --describe prints",
        function="kafkalearn.operations.topic_description.describe_topics",
        versions="0.8.2 to 4.3",
        source="TopicCommand",
        checks=(
            Check(
                "recording",
                "tests/operations/test_topic_description.py::test_what_is_printed_of_all_says_what_each_option_chooses",
                "tests/vectors/operations/topic-tool.json",
                "cases",
                11,
            ),
            Check(
                "recording",
                "tests/operations/test_topic_description.py::test_older_tools_leave_out_blanks_and_ids",
                "tests/vectors/coordinator/topic-descriptions.json",
                "cases",
                8,
            ),
        ),
        left_out="topics marked for deletion",
    ),
    Rule(
        name="the incident of the offsets topic, stage by stage",
        function="kafkalearn.operations.incident.play",
        versions="0.8.2 to 4.3",
        source="LogCleaner, GroupCoordinator; KIP-346",
        checks=(
            Check(
                "examples",
                "tests/operations/test_incident.py::test_groups_are_lost_with_one_replica_and_not_with_three",
            ),
            Check(
                "equality",
                "tests/spark/operations/test_incident.py::test_the_stages_measured_are_those_of_the_simulators",
            ),
        ),
        left_out="the full disk is said, not simulated; sizes on Spark are of records without batches and compression",
    ),
    Rule(
        name="faults in a cluster's logs",
        function="kafkalearn.operations.faults.find_faults",
        versions="none: rules of this course, over what every release logs",
        source="log-cleaner checkpoints, metadata, commits; KIP-346, KIP-211",
        checks=(
            Check("law", "tests/operations/test_faults.py::test_everything_planted_is_found_and_nothing_else"),
            Check("law", "tests/operations/test_faults.py::test_a_cluster_without_faults_gives_no_finding"),
            Check(
                "equality",
                "tests/spark/operations/test_findings.py::test_both_ways_find_the_same_and_all_that_was_planted",
            ),
        ),
        left_out="the logs are generated, not taken from a broker; troubles that end within the hour",
    ),
)
