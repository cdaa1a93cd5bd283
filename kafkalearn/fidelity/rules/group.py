"""The entries of the ledger on the coordinator of a group, classic and KIP-848."""

from __future__ import annotations

from kafkalearn.fidelity.model import Check, Rule

_REQUESTS = Check(
    "recording",
    "tests/group/consumer/test_recorded_requests.py::test_a_real_broker_answered_every_request_like_this",
    "tests/vectors/group/kip848-requests.json",
    "cases",
    126,
)
_RANDOM_REQUESTS = Check(
    "recording",
    "tests/group/consumer/test_recorded_requests.py::test_it_did_so_in_histories_that_were_drawn_at_random",
    "tests/vectors/group/kip848-requests.json",
    "random",
    22,
)

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
            _REQUESTS,
            _RANDOM_REQUESTS,
        ),
        left_out="regular expressions, racks, members of the classic protocol in such a group (so no group changes "
        "from one protocol to the other, and back), share and streams groups; an assignor that runs beside the "
        "request; the hash of the topics in a group's record; IllegalStateException of 4.0.0, 4.0.1, 4.1.0 and 4.1.1 "
        "where their books of who holds a partition disagree",
    ),
    Rule(
        name="the order of members and the vote for an assignor in a KIP-848 group",
        function="kafkalearn.group.consumer.simulator.step",
        versions="4.0 to 4.3",
        source="TargetAssignmentBuilder.build, ConsumerGroup.computePreferredServerAssignor, TimelineHashMap, "
        "java.util.HashMap of Java 17",
        checks=(_REQUESTS, _RANDOM_REQUESTS),
        left_out="since Java 19 a copied set can be smaller; a bucket of nine ids in a map of 64 becomes a tree",
    ),
    Rule(
        name="quirks of the KIP-848 coordinator, answered as it answers them",
        function="kafkalearn.group.consumer.simulator.step",
        versions="4.0 to 4.3: a member that joins without topics while a target is due is taken for one like the "
        "others, and gets a share that nobody reads; a dynamic member that has not reached its target and joins again "
        "under an instance id has an empty target in that heartbeat; a member that had two instance ids leaves one "
        "behind, under which nobody can join (UNKNOWN_MEMBER_ID). 4.3: a member that has nothing and gives up all its "
        "topics while the next target waits may no longer use the epoch before",
        source="GroupMetadataManager.consumerGroupHeartbeat, ConsumerGroup.targetAssignment and removeStaticMember, "
        "CurrentAssignmentBuilder.updateCurrentAssignment",
        checks=(_REQUESTS, _RANDOM_REQUESTS),
        left_out="",
    ),
    Rule(
        name="how a KIP-848 group ends, and how it goes on under another coordinator",
        function="kafkalearn.group.consumer.simulator.step",
        versions="4.0 to 4.3",
        source="GroupCoordinatorShard.deleteGroups and cleanupExpiredOffsets, GroupMetadataManager.onLoaded, "
        "ConsumerGroup.createGroupTombstoneRecords",
        checks=(
            _REQUESTS,
            Check(
                "examples",
                "tests/group/consumer/test_ending.py::"
                "test_under_a_new_coordinator_all_is_as_it_was_written_but_sessions_begin_anew",
            ),
        ),
        left_out="NOT_COORDINATOR and COORDINATOR_LOAD_IN_PROGRESS while the partition moves; what compaction has "
        "taken away, which can change the order of members; when each offset expires (see the store of offsets)",
    ),
    Rule(
        name="which commits a KIP-848 group takes",
        function="kafkalearn.group.consumer.simulator.step",
        versions="4.0 to 4.3; and which fetches",
        source="KafkaApis.handleOffsetCommitRequest, OffsetMetadataManager.commitOffset and fetchOffsets, "
        "ConsumerGroup.validateOffsetCommit and validateOffsetFetch; KIP-1251",
        checks=(
            _REQUESTS,
            _RANDOM_REQUESTS,
            Check(
                "examples",
                "tests/group/consumer/test_ending.py::"
                "test_a_fetch_with_another_epoch_or_of_a_stranger_is_refused_and_a_tool_may_always_ask",
            ),
        ),
        left_out="transactional commits, metadata that is too large, authorisation; the offsets themselves",
    ),
    Rule(
        name="what a KIP-848 heartbeat is refused with",
        function="kafkalearn.group.consumer.heartbeats.requests.refusal",
        versions="4.0 to 4.3",
        source="GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid, GroupMetadataManager",
        checks=(
            Check(
                "examples",
                "tests/group/consumer/test_heartbeats.py::"
                "test_a_heartbeat_is_refused_with_kafkas_error_and_changes_nothing",
            ),
        ),
        left_out="ConsumerGroupHeartbeat version 0, where the broker may choose the member id; racks",
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
        "time a write takes, the offsets of a commit, the loading of a group, classic groups that change to KIP-848 "
        "and back; of several members whose ids nobody knows the first leads next, where Java's is any",
    ),
    Rule(
        name="which commits a classic group takes",
        function="kafkalearn.group.classic.simulator.step",
        versions="0.9 to 4.3",
        source="OffsetMetadataManager.commitOffset and validateOffsetCommit, ClassicGroup.validateOffsetCommit; to 3.9 "
        "GroupCoordinator.doCommitOffsets",
        checks=(
            Check(
                "examples",
                "tests/group/classic/test_simulator.py::test_a_commit_is_answered_by_who_sends_it_and_when",
            ),
            Check(
                "examples",
                "tests/group/classic/test_simulator.py::test_a_commit_keeps_its_member_alive_as_a_heartbeat_does",
            ),
        ),
        left_out="transactional commits, metadata that is too large, authorisation, topics that do not exist",
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
        "every retry.backoff.ms; no request times out: cut off, it arrives later; finding the coordinator; before "
        "0.10.1 heartbeats wait for long work only; nothing is committed, records are a flow",
    ),
    Rule(
        name="rebalances that no member caused",
        function="kafkalearn.group.scenario.simulator.simulate",
        versions="0.9 to 4.3, recorded with consumers of 4.3.1",
        source="ConsumerCoordinator.rejoinNeededOrPending, maybeUpdateSubscriptionMetadata, updateGroupSubscription; "
        "Metadata.handleMetadataResponse; AsyncKafkaConsumer.updatePatternSubscription",
        checks=(
            Check(
                "recording",
                "tests/group/scenario/test_recorded_changes.py::test_a_group_of_real_consumers_did_the_same",
                "tests/vectors/group/topic-changes.json",
                "cases",
                5,
            ),
            Check("examples", "tests/group/scenario/test_simulator.py::test_rebalances_that_no_member_caused"),
            Check(
                "examples",
                "tests/group/scenario/test_simulator.py::test_a_leader_that_assigns_uses_the_topics_as_it_knows_them",
            ),
            Check(
                "law",
                "tests/group/world/test_engine.py::"
                "test_a_group_that_is_left_alone_comes_to_rest_and_reads_everything_once",
            ),
        ),
        left_out="metadata that are renewed for other reasons, as a leader that has moved; the time that a metadata "
        "request takes; auto commit, which keeps a member that holds a partition of a deleted topic from joining; "
        "racks in the leader's comparison; a topic that is created again under its old name",
    ),
    Rule(
        name="how long a rebalance takes that a newcomer brings",
        function="kafkalearn.group.scenario.durations.newcomer_ms",
        versions="0.10.1 to 4.3, eager assignors",
        source="as the classic coordinator and its consumers in a scenario",
        checks=(
            Check("equality", "tests/spark/rebalances/test_durations.py::test_so_do_random_groups"),
            Check(
                "examples",
                "tests/group/scenario/test_durations.py::test_a_rebalance_is_as_slow_as_the_slowest_poll_and_no_slower",
            ),
        ),
        left_out="the time that the coordinator and the leader work; the spread of real heartbeats and polls",
    ),
)

RULES: tuple[Rule, ...] = (*_CLASSIC, *_KIP_848)
