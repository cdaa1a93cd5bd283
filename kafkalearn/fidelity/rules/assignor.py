"""The ledger's entries on the assignors, and on the order of Java's maps, on which their answers depend."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

_ANSWERS = "tests/assignor/test_recorded_answers.py"
_SNAPSHOT = Check(
    "vectors",
    f"{_ANSWERS}::test_every_assignor_answers_as_kafkas_own",
    "tests/vectors/assignor/groups-assignors.json",
    "vectors",
    113,
)
_RELEASED = Check(
    "vectors",
    f"{_ANSWERS}::test_random_groups_are_assigned_as_by_the_released_classes",
    "tests/vectors/assignor/assignor-answers.json",
    "cases",
    241,
)
_BROKER = Check(
    "recording",
    "tests/assignor/test_recorded_histories.py::test_a_group_is_assigned_as_on_the_real_broker_at_every_step",
    "tests/vectors/assignor/assignments.json",
    "cases",
    40,
)
_LAWS = "tests/assignor/test_laws.py"
_COLLECTIONS = Check(
    "vectors",
    "tests/test_java_collections.py::test_a_collection_is_walked_in_the_order_of_javas_or_kafkas",
    "tests/vectors/hashing/java-collections.json",
    "cases",
    100,
)

RULES = (
    Rule(
        name="who gets which partition",
        function="kafkalearn.assignor.assign",
        versions="clients: range and round robin 0.9 to 4.3, sticky and cooperative sticky 3.8 to 4.3; "
        "broker: uniform and range 4.0 to 4.3; consumers before the coordinator: 0.8.2 to 1.1",
        source="RangeAssignor, RoundRobinAssignor, StickyAssignor, CooperativeStickyAssignor, AbstractStickyAssignor; "
        "UniformAssignor and RangeAssignor of the group coordinator; PartitionAssignor (Scala)",
        checks=(
            _SNAPSHOT,
            _RELEASED,
            Check(
                "vectors",
                f"{_ANSWERS}::test_uniform_passes_the_extra_partition_on_since_4_0_1",
                "tests/vectors/assignor/groups-assignors-since.json",
                "groups-assignors uniform",
                2,
            ),
            _BROKER,
            Check("law", f"{_LAWS}::test_a_fresh_assignment_keeps_all_laws"),
            Check("law", f"{_LAWS}::test_a_sticky_assignment_keeps_all_laws_through_changes_and_then_rests"),
        ),
        left_out="racks (KIP-881, since 3.5): of the 113 recorded answers one needs them, and the test says that it "
        "differs; the sticky assignor before 3.8; user data that cannot be parsed; a client's own assignor class",
    ),
    Rule(
        name="the rounds of a cooperative group",
        function="kafkalearn.assignor.cooperative_rounds",
        versions="3.8 to 4.3",
        source="CooperativeStickyAssignor, ConsumerCoordinator.onJoinComplete; KIP-429",
        checks=(Check("law", f"{_LAWS}::test_a_cooperative_group_never_has_an_owner_twice_and_ends"),),
        left_out="members that are late for a round, or fail during it",
    ),
    Rule(
        name="a rebalance moment by moment",
        function="kafkalearn.assignor.rebalance",
        versions="2.4 to 4.3, clients that assign for themselves",
        source="ConsumerPartitionAssignor.RebalanceProtocol, ConsumerCoordinator; KIP-429",
        checks=(
            Check(
                "law",
                "tests/assignor/test_carrying_out.py::test_no_partition_ever_has_two_readers_and_in_the_end_all_have_one",
            ),
            Check(
                "law",
                "tests/assignor/test_carrying_out.py::"
                "test_an_eager_group_stops_as_a_whole_and_then_reads_what_the_assignor_says",
            ),
        ),
        left_out="time: how long each member takes, heartbeats, timeouts and the coordinator's part",
    ),
    Rule(
        name="the fewest partitions that must move",
        function="kafkalearn.assignor.fewest_moves",
        versions="none: what the assignors are measured against",
        source="counting, and minimum-cost flow where subscriptions differ",
        checks=(Check("equality", f"{_LAWS}::test_no_small_group_beats_the_true_minimum_and_few_miss_it"),),
        left_out="",
    ),
    Rule(
        name="the laws of an assignment",
        function="kafkalearn.assignor.broken_laws",
        versions="none: what every assignment must hold",
        source="ConsumerPartitionAssignor; the promises are each assignor's own",
        checks=(Check("examples", f"{_LAWS}::test_a_broken_law_is_named_with_its_place"),),
        left_out="",
    ),
    Rule(
        name="the order of a HashMap",
        function="kafkalearn.java_collections.JavaHashMap",
        versions="Java 8 to 21",
        source="java.util.HashMap",
        checks=(_COLLECTIONS,),
        left_out="in a map of 64 and more, buckets of nine and more keys, which become trees",
    ),
    Rule(
        name="the order of a broker's map of members",
        function="kafkalearn.java_collections.TimelineHashSet",
        versions="4.0 to 4.3",
        source="org.apache.kafka.timeline.BaseHashTable",
        checks=(_COLLECTIONS,),
        left_out="snapshots",
    ),
)
