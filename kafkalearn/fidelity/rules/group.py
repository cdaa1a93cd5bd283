"""The entries of the ledger on the coordinator of a group, classic and KIP-848."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

_KIP_848 = (
    Rule(
        name="the consumer protocol, KIP-848",
        function="kafkalearn.group.consumer.simulator.step",
        versions="4.0 to 4.3",
        source="GroupMetadataManager, CurrentAssignmentBuilder, TargetAssignmentBuilder, ConsumerGroup; KIP-848, "
        "KIP-1251, KIP-1263",
        checks=(
            Check(
                "vectors",
                "tests/group/consumer/test_recorded_traces.py::"
                "test_the_coordinator_of_4_0_answers_and_writes_what_the_real_one_did",
                "tests/vectors/group/groups-kip848.json",
                "vectors",
                5,
            ),
            Check(
                "vectors",
                "tests/group/consumer/test_recorded_traces.py::"
                "test_the_coordinator_of_4_3_answers_and_writes_what_the_real_one_did",
                "tests/vectors/group/groups-kip848-since.json",
                "vectors",
                6,
            ),
            Check(
                "equality",
                "tests/group/consumer/test_recorded_groups.py::"
                "test_a_group_comes_to_rest_as_on_the_real_broker_at_every_step",
            ),
        ),
        left_out="regular expressions, racks, members of the classic protocol in such a group, share and streams "
        "groups; an assignor that runs beside the request; which assignor the broker takes when two have as many votes",
    ),
    Rule(
        name="what a KIP-848 heartbeat is refused with",
        function="kafkalearn.group.consumer.requests.refusal",
        versions="4.0 to 4.3",
        source="GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid, GroupMetadataManager",
        checks=(
            Check(
                "examples",
                "tests/group/consumer/test_heartbeats.py::"
                "test_a_heartbeat_is_refused_with_kafkas_error_and_changes_nothing",
            ),
        ),
        left_out="in which patch of 4.1 or 4.2 a known member may always rejoin with epoch 0",
    ),
    Rule(
        name="what holds in every state of a KIP-848 group",
        function="kafkalearn.group.consumer.promises.check",
        versions="4.0 to 4.3",
        source="KIP-848",
        checks=(
            Check(
                "law",
                "tests/group/consumer/test_laws.py::"
                "test_a_run_keeps_the_promises_and_a_group_that_goes_on_beating_becomes_stable",
            ),
        ),
        left_out="",
    ),
    Rule(
        name="KIP-848 clients in a scenario",
        function="kafkalearn.group.scenario.simulator.simulate",
        versions="4.0 to 4.3",
        source="ConsumerMembershipManager, ConsumerHeartbeatRequestManager",
        checks=(
            Check(
                "examples",
                "tests/group/clients/consumer/test_client.py::"
                "test_a_silent_member_is_removed_after_the_brokers_session_timeout_and_learns_it_when_it_wakes",
            ),
        ),
        left_out="rebalance listeners and commits that delay a revocation; retries of a lost connection; the phase of "
        "each member's heartbeats is spread evenly",
    ),
)

_CLASSIC = (
    Rule(
        name="the classic coordinator",
        function="kafkalearn.group.classic.simulator.step",
        versions="0.9 to 4.3",
        source="GroupMetadataManager and ClassicGroup (since 4.0), GroupCoordinator and GroupMetadata (before); "
        "KIP-62, KIP-134, KIP-345, KIP-389, KIP-394",
        checks=(
            Check(
                "vectors",
                "tests/group/classic/test_recorded.py::test_every_step_is_answered_as_the_real_coordinator_answered",
                "tests/vectors/group/groups-classic-protocol.json",
                "vectors",
                19,
            ),
            Check(
                "recording",
                "tests/group/classic/test_recorded.py::test_a_real_broker_answered_every_request_like_this",
                "tests/vectors/group/group-requests.json",
                "scripts",
                20,
            ),
            Check(
                "recording",
                "tests/group/classic/test_recorded.py::test_it_did_so_in_scripts_that_were_drawn_at_random",
                "tests/vectors/group/group-requests.json",
                "random",
                31,
            ),
            Check(
                "law",
                "tests/group/classic/test_laws.py::"
                "test_every_state_keeps_the_promises_and_every_transition_is_in_the_table",
            ),
            Check(
                "examples",
                "tests/group/classic/test_simulator.py::"
                "test_a_group_that_was_empty_extends_its_delay_only_under_the_java_coordinator",
            ),
        ),
        left_out="the recorded traces are of the Java coordinator, what Scala's did otherwise is from its source; the "
        "time a write takes, commits, the loading of a group, upgrades to KIP-848; of several members the first leads "
        "next, where Java's is any",
    ),
    Rule(
        name="consumers of the classic protocol in a scenario",
        function="kafkalearn.group.scenario.simulator.simulate",
        versions="0.9 to 4.3",
        source="AbstractCoordinator, ConsumerCoordinator, Heartbeat; KIP-62, KIP-345, KIP-429",
        checks=(
            Check("law", "tests/group/world/test_engine.py::test_no_partition_has_two_owners_in_one_generation"),
            Check(
                "law",
                "tests/group/world/test_engine.py::"
                "test_a_group_that_is_left_alone_comes_to_rest_and_reads_everything_once",
            ),
            Check(
                "examples",
                "tests/group/scenario/test_simulator.py::"
                "test_one_consumer_is_at_work_after_the_initial_delay_and_three_round_trips",
            ),
        ),
        left_out="heartbeats are spread evenly, real ones drift; the heartbeat thread reads the clock at once, not "
        "every retry.backoff.ms; no request times out: cut off, it arrives later; finding the coordinator; the leader "
        "knows all partitions when it assigns; before 0.10.1 heartbeats wait for long work only; nothing is "
        "committed, records are a flow",
    ),
)

RULES: tuple[Rule, ...] = (*_CLASSIC, *_KIP_848)
