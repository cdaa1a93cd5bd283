"""The ledger's entries on delayed operations and timing wheels."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

RULES: tuple[Rule, ...] = (
    Rule(
        name="timing wheels",
        function="kafkalearn.purgatory.wheel.step",
        versions="0.9 to 4.3",
        source="org.apache.kafka.server.util.timer.TimingWheel, TimerTaskList, SystemTimer",
        checks=(
            Check(
                "vectors",
                "tests/purgatory/wheel/test_simulator.py::test_every_recorded_run_places_moves_and_fires_the_same",
                "tests/vectors/purgatory/log-timing-wheel.json",
                "cases",
                6,
            ),
            Check(
                "law",
                "tests/purgatory/wheel/test_simulator.py::test_a_timer_runs_exactly_once_in_the_step_in_which_it_is_due",
            ),
        ),
        left_out=(
            "which of two buckets with the same time is emptied first (here the finer); the reaper's rounds of up to "
            "200 ms: a bucket is emptied when the time passes it"
        ),
    ),
    Rule(
        name="where a timer goes",
        function="kafkalearn.purgatory.wheel.placing.place",
        versions="0.9 to 4.3",
        source="org.apache.kafka.server.util.timer.TimingWheel.add",
        checks=(
            Check(
                "law", "tests/purgatory/wheel/test_placing.py::test_a_place_is_the_finest_wheel_that_reaches_the_timer"
            ),
            Check(
                "law",
                "tests/purgatory/wheel/test_placing.py::test_the_journey_of_a_timer_is_the_one_that_the_wheels_take",
            ),
        ),
        left_out="",
    ),
    Rule(
        name="delayed operations and their watch lists",
        function="kafkalearn.purgatory.operations.step",
        versions="0.9 to 4.3",
        source="org.apache.kafka.server.purgatory.DelayedOperationPurgatory, DelayedOperation",
        checks=(
            Check(
                "published",
                "tests/purgatory/operations/test_simulator.py::test_entries_of_completed_operations_stay_until_their_lists_are_walked",
            ),
            Check(
                "law",
                "tests/purgatory/operations/test_simulator.py::test_every_operation_is_completed_once_and_never_with_time_left_for_nothing",
            ),
        ),
        left_out="threads and their locks: events come one at a time; the 512 shards; cancelForKey",
    ),
    Rule(
        name="consumers, followers and producers that wait for a partition",
        function="kafkalearn.purgatory.requests.step",
        versions="2.7 to 4.3; followers by the rules of the replication settings' release",
        source="kafka.server.DelayedFetch, DelayedProduce, ReplicaManager.fetchMessages",
        checks=(
            Check(
                "vectors",
                "tests/purgatory/requests/test_simulator.py::"
                "test_every_recorded_script_wakes_the_same_requests_with_the_same_answers",
                "tests/vectors/purgatory/log-purgatory.json",
                "cases",
                7,
            ),
            Check(
                "law",
                "tests/purgatory/requests/test_simulator.py::"
                "test_a_consumer_is_answered_once_with_enough_committed_bytes_or_when_its_time_is_over",
            ),
        ),
        left_out=(
            "fetches of several partitions at once (conditions of operations have them), byte caps of a partition, "
            "older segments, read_committed, consumers that read from followers (KIP-392)"
        ),
    ),
    Rule(
        name="deleting records waits for the low watermark",
        function="kafkalearn.purgatory.requests.step",
        versions="0.11 to 4.3; followers by the rules of the replication settings' release",
        source="ReplicaManager.deleteRecords, kafka.server.DelayedDeleteRecords, Partition.lowWatermarkIfLeader, "
        "KIP-107",
        checks=(
            Check(
                "law",
                "tests/purgatory/requests/test_deleting.py::"
                "test_a_delete_is_answered_once_when_all_begin_there_or_when_its_time_is_over",
            ),
            Check(
                "examples",
                "tests/purgatory/requests/test_deleting.py::"
                "test_the_leader_deletes_at_once_and_answers_with_the_second_fetch",
            ),
        ),
        left_out=(
            "requests for several partitions at once (conditions of operations have them); a replica that moves from "
            "one folder to another"
        ),
    ),
    Rule(
        name="the kinds of delayed operations",
        function="kafkalearn.purgatory.operations.kinds.delayed_produce",
        versions="0.9 to 4.3; joins and heartbeats 0.9 to 3.9 (in 4.0 still there, not the default; gone in 4.1)",
        source="kafka.server.DelayedProduce, DelayedFetch; kafka.coordinator.group.DelayedJoin, DelayedHeartbeat",
        checks=(
            Check(
                "examples",
                "tests/purgatory/operations/test_kinds.py::"
                "test_a_produce_request_waits_for_the_high_watermark_of_all_its_partitions",
            ),
            Check(
                "examples",
                "tests/purgatory/operations/test_kinds.py::test_a_join_ends_when_the_member_that_is_missing_is_removed",
            ),
        ),
        left_out=(
            "what runs when an operation completes: here the operation's end is the result; delayed syncs; the timers "
            "of the event loop that joins and heartbeats are in the coordinator of today (default since 4.0, alone "
            "since 4.1)"
        ),
    ),
    Rule(
        name="what timers cost in wheels and in a heap",
        function="kafkalearn.purgatory.wheel.counting.wheel_cost",
        versions="0.9 to 4.3 (the heap: Java's PriorityQueue)",
        source="org.apache.kafka.server.util.timer.TimingWheel; java.util.PriorityQueue",
        checks=(
            Check("equality", "tests/purgatory/wheel/test_counting.py::test_the_wheels_count_what_the_simulator_does"),
            Check("law", "tests/purgatory/wheel/test_counting.py::test_the_heap_is_one"),
        ),
        left_out="steps are counted, not timed; the queue of buckets costs a little more for each bucket",
    ),
    Rule(
        name="on Spark: how often a timer moves",
        function="kafkalearn.spark.timers.with_wheel_moves",
        versions="0.9 to 4.3",
        source="org.apache.kafka.server.util.timer.TimingWheel",
        checks=(
            Check("equality", "tests/spark/test_timers.py::test_each_timer_moves_as_often_as_the_wheels_move_it"),
            Check(
                "equality",
                "tests/spark/test_timers.py::test_a_busy_millisecond_by_millisecond_load_costs_what_the_counted_wheels_say",
            ),
        ),
        left_out="the wheels' clock is taken to be the real time, as on a busy broker",
    ),
    Rule(
        name="on Spark: how long writes with acks=all wait",
        function="kafkalearn.spark.waiting.acks_all_waits",
        versions="2.5 to 4.3",
        source="kafka.server.DelayedProduce, Partition.maybeIncrementLeaderHW",
        checks=(
            Check(
                "equality",
                "tests/spark/test_waiting.py::test_each_write_waits_until_the_simulated_high_watermark_passes_it",
            ),
        ),
        left_out="requests that write to several partitions; more than one follower of a partition out of the ISR at a "
        "time; a change of leader",
    ),
    Rule(
        name="on Spark: how long fetches wait for enough bytes",
        function="kafkalearn.spark.waiting.fetch_waits",
        versions="as the consumers that wait for a partition",
        source="kafka.server.DelayedFetch",
        checks=(
            Check(
                "equality",
                "tests/spark/test_waiting.py::test_each_consumer_waits_as_long_as_the_simulated_one_and_gets_as_much",
            ),
        ),
        left_out="fetches of several partitions, which add up their bytes; records of different sizes",
    ),
)
