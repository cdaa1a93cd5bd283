"""What logs show without a rebalance from its beginning to its end; and what is no all-clear."""

import json

import pytest

from kafkalearn.base.files import data_directory
from kafkalearn.oncall import why
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.logs import read
from tests.oncall.examples import asked

A = "c1-0b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a11"
B = "c2-1b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a12"


def at(second, message):
    return f"[2026-11-22 15:46:{second:02},000] INFO {message} (a.B)"


def java(second, message, client="c1"):
    return at(second, f"[Consumer clientId={client}, groupId=billing] {message}")


def joined(second, generation, member=A):
    return java(
        second,
        f"Successfully joined group with generation Generation{{generationId={generation}, memberId='{member}', "
        "protocol='range'}",
    )


def named(lines):
    return [each.cause for each in why(lines, has_advice=False).rebalances]


NO_ALL_CLEAR = {
    "a join of which the beginning is missing": [joined(1, 76)],
    "a coordinator that was found": [java(1, "Discovered group coordinator kafka-1:9092 (id: 2147483646 rack: null)")],
    "heartbeats": ["2026-11-22 15:46:13,448 DEBUG kafka.coordinator Heartbeat: billing[7240] c1-7"],
    "a group that rebalances": [java(1, "Request joining group due to: group is already rebalancing")],
    "a generation that begins": [at(1, "Stabilized group billing generation 76 with 3 members")],
    "an assignment of KIP-848": [
        at(1, "[GroupId billing] Computed a new target assignment for epoch 7 with 'uniform' assignor in 1ms: x.")
    ],
    "a group that is loaded": [at(1, "Loaded classic group billing with 3 members")],
    "a line of no known form": [
        at(
            1,
            "Assignment received from leader c1-1 for group billing for generation 1. The group has 1 members, 0 "
            "of which are static",
        ),
        at(2, "[GroupCoordinator 1]: The group coordinator sings"),
    ],
    "partitions that are given up": [java(1, "Revoke previously assigned partitions orders-0")],
}


@pytest.mark.parametrize("name", NO_ALL_CLEAR)
def test_what_is_no_all_clear(name):
    answer = why(NO_ALL_CLEAR[name], has_advice=False)
    assert answer.outcome == Outcome.CANNOT_TELL
    assert set(named(NO_ALL_CLEAR[name])) <= {"unknown"}
    assert "0 rebalances" not in str(answer) or answer.reading.unknown_count


def test_a_group_that_forms_and_rests_is_an_all_clear():
    broker = [
        at(
            1,
            "Preparing to rebalance group billing in state PreparingRebalance with old generation 0 (reason: "
            f"Adding new member {A} with group instance id null; client reason: not provided).",
        ),
        at(4, "Stabilized group billing generation 1 with 1 members"),
        at(
            4,
            f"Assignment received from leader {A} for group billing for generation 1. The group has 1 members, 0 of "
            "which are static",
        ),
    ]
    assert why(broker, has_advice=False).outcome == Outcome.FINE
    assert why(broker[:1], has_advice=False).outcome == Outcome.CANNOT_TELL  # nobody sees how it ended
    assert why([java(1, "(Re-)joining group"), joined(4, 1)], has_advice=False).outcome == Outcome.FINE


def test_a_first_join_is_no_proof_of_a_new_member():
    words = " ".join(str(why([java(1, "(Re-)joining group"), joined(2, 76)], has_advice=False)).split())
    assert "c1 joined; whether it was new, the log does not show" in words
    lines = [java(0, "Subscribed to topic(s): orders"), java(1, "(Re-)joining group"), joined(2, 76)]
    assert named(lines) == ["member joined"]


def test_late_polls_of_one_client_and_its_returns():
    def late(second):
        return java(
            second, "consumer poll timeout has expired. This means the time between subsequent calls to poll() was x"
        )

    lines = [late(1), java(20, "(Re-)joining group"), joined(21, 45), late(31)]
    assert named(lines) == ["poll interval exceeded", "member joined", "poll interval exceeded"]


def test_reasons_that_are_written_are_shown_in_their_own_words():
    prepare = "Preparing to rebalance group billing in state PreparingRebalance with old generation 7 (reason: {})."
    lines = [at(1, prepare.format(f"Leader {A} re-joining group during Stable; client reason: the moon is full"))]
    words = " ".join(str(why(lines, has_advice=False)).split())
    assert "it says: 'the moon is full'" in words
    assert "does not say why" not in words


def test_two_members_are_not_one_name():
    reason = f"explicit `LeaveGroup` request for ({A}, {B}) members."
    lines = [
        at(
            1,
            f"Preparing to rebalance group billing in state PreparingRebalance with old generation 7 (reason: "
            f"{reason})",
        )
    ]
    (one,) = why(lines, has_advice=False).rebalances
    assert one.members == (A, B)
    assert one.words.startswith("c1 and c2 left")


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            f"Request memberId={A} for static member with groupInstanceId=till-1 is fenced by existing "
            f"memberId={B} during operation heartbeat",
            "static fenced",
        ),
        (
            f"[GroupId billing] Static member {A} with instance id till-1 is fenced by existing member {B}.",
            "static fenced",
        ),
        (
            "[Consumer clientId=c1, groupId=billing] JoinGroup failed due to fatal error: The consumer group has "
            "reached its max size.",
            "over capacity",
        ),
        (
            "[Consumer clientId=c1, groupId=billing] JoinGroup failed due to fatal error: The group member's supported "
            "protocols are incompatible with those of existing members",
            "inconsistent protocols",
        ),
        (
            "[Consumer clientId=c1, groupId=billing] Group coordinator k:9092 (id: 2147483647 rack: null) is "
            "unavailable or "
            "invalid due to cause: error response NOT_COORDINATOR. isDisconnected: false. Rediscovery will be "
            "attempted.",
            "coordinator moved",
        ),
        (
            "[Consumer clientId=c1, groupId=billing] Group coordinator k:9092 (id: 2147483647 rack: null) is "
            "unavailable or "
            "invalid due to cause: session timed out without receiving a heartbeat response. isDisconnected: false. "
            "Rediscovery will be attempted.",
            "heartbeats lost",
        ),
        (
            "[Consumer clientId=c1, groupId=billing] Resetting generation and member id due to: encountered "
            "UNKNOWN_MEMBER_ID from HEARTBEAT response",
            "member dropped",
        ),
        (
            "[Consumer clientId=c1, groupId=billing] Request joining group due to: triggered followup rebalance "
            "scheduled for 0",
            "followup rebalance",
        ),
        (f"Member {A} in group billing has failed, removing it from the group", "heartbeats lost"),
        (
            f"[Group billing] Member {A} has left group through explicit `LeaveGroup` request; client reason: "
            f"member was removed by an admin: scaled down",
            "member removed",
        ),
        ("Preparing to restabilize group billing with old generation 0", "member joined"),
        (
            f"given member.id {A} is identified as a known static member till-1, but not matching the expected "
            f"member.id {B} during heartbeat, will respond with instance fenced error",
            "static fenced",
        ),
        (
            "[Consumer clientId=c1, groupId=billing] Offset commit failed on partition orders-0 at offset 7: This is "
            "not the correct coordinator.",
            "coordinator moved",
        ),
        (
            "org.apache.kafka.clients.consumer.CommitFailedException: Offset commit cannot be completed since the "
            "consumer is not part of an active group for auto partition assignment; it is likely that the consumer was "
            "kicked out of the group.",
            "member dropped",
        ),
        (
            "stream-thread [shop-StreamThread-1] Detected that the thread is being fenced. This implies that this "
            "thread missed a rebalance and dropped out of the consumer group. Will close out all assigned tasks and "
            "rejoin the consumer group.",
            "member dropped",
        ),
        (
            "stream-thread [shop-StreamThread-1] Detected task 0_1 that got migrated to another thread. This implies "
            "that this thread missed a rebalance and dropped out of the consumer group. Will try to rejoin.",
            "member dropped",
        ),
        (
            "[Consumer clientId=c1, groupId=billing] Member _QWYDXvPR02KpF2cpjxi2g with epoch 7 transitioned to fatal "
            "state",
            "fatal error",
        ),
        ("Coordinator unknown during heartbeat -- will retry", "coordinator lost"),
        (
            "kafka: error while consuming orders/0: kafka server: The provided member is not known in the current "
            "generation.",
            "member dropped",
        ),
        (
            "Consumer error: kafka server: The provided member is not known in the current generation.",
            "member dropped",
        ),
        (
            "[Consumer clientId=c1, groupId=billing] Failing OffsetCommit request since the consumer is not part of an "
            "active group",
            "unknown",
        ),
    ],
)
def test_what_one_line_names(line, cause):
    (group,) = why([at(1, line)], has_advice=False).groups
    assert [each.cause for each in group.rebalances] == [cause]


@pytest.mark.parametrize("change", ["transitioned to fatal state", "transitioned from JOINING to FATAL."])
def test_what_made_a_member_fatal_is_the_error_before(change):
    error = "ConsumerGroupHeartbeatRequest failed due to group authorization failure: Not authorized to access group: g"
    fatal = java(2, f"Member _QWYDXvPR02KpF2cpjxi2g with epoch 0 {change}")

    assert named([java(1, error), fatal]) == ["not authorized"]
    assert named([fatal]) == ["fatal error"]


@pytest.mark.parametrize("end", [" on heartb", " on heartbeat expiration"])
def test_a_reason_that_a_screen_has_cut_off_in_its_end(end):
    head = "[2026-11-22 15:46:01,000] INFO Preparing to rebalance group billing in state PreparingRebalance with old"
    (one,) = why([f"{head} generation 7 (reason: removing member {A}{end}"], has_advice=False).rebalances
    assert (one.cause, one.member) == ("heartbeats lost", A)


def test_a_worker_that_forces_a_rebalance_says_why():
    context = "[Worker clientId=w1, groupId=connect]"
    lines = [
        at(1, f"{context} Current config state offset 3 does not match group assignment 5. Forcing rebalance."),
        at(1, f"{context} Rebalance started"),
        at(1, f"{context} (Re-)joining group"),
        at(
            2,
            f"{context} Successfully joined group with generation Generation{{generationId=8, memberId='{A}', "
            "protocol='sessioned'}",
        ),
    ]
    (one,) = why(lines, has_advice=False).rebalances
    assert one.cause == "member rejoined"
    assert one.words == "w1 joined again; it says: 'Current config state offset 3 does not match group assignment 5'"
    assert one.duration_ms == 1000
    behind = "Current config state offset 3 is behind group assignment 5, reading to end of config log"
    assert not why([at(1, f"{context} {behind}")], has_advice=False).rebalances  # it reads, and stays in its group


def test_a_member_that_left_before_the_group_came_to_rest_is_no_part_of_the_next_rebalance():
    lines = [
        at(1, f"Member {B} in group billing has left, removing it from the group"),
        at(2, "Stabilized group billing generation 7 (__consumer_offsets-1)"),
        at(2, "Assignment received from leader for group billing for generation 7"),
        at(
            3,
            "Preparing to rebalance group billing in state PreparingRebalance with old generation 7 "
            f"(__consumer_offsets-1) (reason: Adding new member {A})",
        ),
    ]
    assert named(lines) == ["member left", "member joined"]
    del lines[1:3]
    assert named(lines) == ["member joined"]  # that rebalance is the one that it began


def test_members_that_a_broker_removed_because_they_did_not_join_again_are_named():
    line = at(1, f"Group billing remove dynamic members who haven't joined: Set({A})")
    answer = why([line], has_advice=False)
    assert answer.outcome == Outcome.CANNOT_TELL
    assert f"did not join again within the rebalance timeout: Set({A})" in " ".join(str(answer).split())


def test_a_group_that_is_loaded_member_by_member_is_told_once():
    loaded = "Loaded member MemberMetadata(memberId={}, groupInstanceId=None) in group billing with generation 7."
    answer = why([at(1, loaded.format(A)), at(1, loaded.format(B))], has_advice=False)
    assert " ".join(str(answer).split()).count("its coordinator has loaded the group") == 1
    assert answer.outcome == Outcome.CANNOT_TELL


WORDS = {
    "franz-go": (
        '{"ts":1795362373.448,"msg":"join group failed","group":"billing","err":"FENCED_INSTANCE_ID: x"}',
        "static fenced",
    ),
    "franz-go on a console": (
        "2026-11-22T15:46:13Z INF heartbeat errored err=UNKNOWN_MEMBER_ID group=billing",
        "heartbeats lost",
    ),
    "franz-go's own logger": ("[INFO] leaving group; group: billing, member_id: c1-7", "member closed"),
    "sarama": (
        "[sarama] 2026/11/22 15:46:13 consumergroup/billing loop check partition number goroutine find partitions in "
        "topics [orders] changed from 6 to 12",
        "topics changed",
    ),
    "sarama's error": (
        "[sarama] 2026/11/22 15:46:13 kafka server: The provided member is not known in the current generation",
        "heartbeats lost",
    ),
    "kafka-go": (
        "2026/11/22 15:46:13 Leaving group billing, member main@billing-7d9f (github.com/segmentio/kafka-go)-7",
        "member closed",
    ),
    "kafkajs": (
        '{"level":"ERROR","timestamp":"2026-11-22T15:46:13.448Z","logger":"kafkajs","message":"[Runner] '
        'The coordinator is not aware of this member, re-joining the group","groupId":"billing","memberId":"c1-7"}',
        "heartbeats lost",
    ),
    "brod without a connection": (
        "15:46:13.448 [info] Group member (billing,coor=#PID<0.512.0>,cb=#PID<0.498.0>,generation=7):\nre-joining "
        "group, reason:{:connection_down, {:shutdown, :tcp_closed}}",
        "coordinator lost",
    ),
    "brod": (
        "15:46:13.448 [info] Group member (billing,coor=<0.512.0>,cb=<0.498.0>,generation=7):\nre-joining group, "
        "reason:unknown_member_id",
        "heartbeats lost",
    ),
    "aiokafka": (
        "ERROR aiokafka.consumer.group_coordinator: Heartbeat session expired - marking coordinator dead",
        "heartbeats lost",
    ),
    "kafka-python": (
        "WARNING:kafka.coordinator.heartbeat:Heartbeat session expired, marking coordinator dead",
        "heartbeats lost",
    ),
    "ruby-kafka": (
        "E, [2026-11-22T15:46:13.448] ERROR -- : [[billing] {}:] Error sending heartbeat: Kafka::UnknownMemberId",
        "heartbeats lost",
    ),
    "ZooKeeper's consumer": (
        "[2026-11-22 15:46:13,448] INFO [billing_k1-1-2], ZK expired; release old broker parition ownership; "
        "re-register consumer billing_k1-1-2 (kafka.consumer.ZookeeperConsumerConnector)",
        "heartbeats lost",
    ),
    "Java's, of an old broker": (
        "org.apache.kafka.common.errors.UnsupportedVersionException: The node does not support JOIN_GROUP",
        "version not supported",
    ),
    "brod, with its reason on a third line": (
        "15:46:13.448 [info] Group member (billing,coor=#PID<0.5.0>,cb=#PID<0.4.0>,generation=7):\nfailed to join "
        "group\nreason: invalid_session_timeout",
        "session timeout refused",
    ),
    "brod, of an old request": (
        "15:46:13.448 [info] Group member (billing,coor=#PID<0.5.0>,cb=#PID<0.4.0>,generation=0):\nLeaving group, "
        "reason: {{:unsupported_vsn_range, :join_group, {0, 1}, {2, 6}},",
        "version not supported",
    ),
    "Java's, of KIP-848": (
        "org.apache.kafka.common.errors.FencedMemberEpochException: The member epoch is fenced by the group "
        "coordinator. The member must abandon all its partitions and rejoin.",
        "member dropped",
    ),
    "Java's, of an instance that is in use": (
        "org.apache.kafka.common.errors.UnreleasedInstanceIdException: The instance ID is still used by another member "
        "in the consumer group. That member must leave first.",
        "static fenced",
    ),
    "Java's, of an assignor that the coordinator has not": (
        "[2026-11-22 15:46:13,448] ERROR [Consumer clientId=c1, groupId=billing] ConsumerGroupHeartbeatRequest failed "
        "due to UNSUPPORTED_ASSIGNOR: ServerAssignor sticky is not supported. (a.B)",
        "inconsistent protocols",
    ),
    "a member of KIP-848 that leaves": (
        "[2026-11-22 15:46:13,448] INFO [Consumer clientId=c1, groupId=billing] Member yA7r_EooRBeb187G_nOenw with "
        "epoch 7 transitioned from STABLE to PREPARE_LEAVING. (a.ConsumerMembershipManager)",
        "member left",
    ),
    "Java's commit": (
        "org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has "
        "already rebalanced and assigned the partitions to another member. This means that the time between subsequent "
        "calls to poll() was longer than the configured max.poll.interval.ms",
        "member dropped",  # the sentence is the same where an admin has removed it
    ),
}
"""From the sources of each, where no run of it is in ``data/server-logs/other-clients``."""


@pytest.mark.parametrize("name", WORDS)
def test_the_words_of_each_client(name):
    line, cause = WORDS[name]
    answer = why(line.split("\n"), has_advice=False)
    assert [each.cause for each in answer.rebalances] == [cause]
    assert answer.outcome == Outcome.FOUND
    assert json.dumps(answer.as_data())


RUN = {
    "aiokafka": {"member joined", "member closed", "heartbeats lost"},
    "franz-go": {"member joined", "member closed", "heartbeats lost"},
    "kafka-go": {"member joined", "member closed", "member dropped"},  # it prints no heartbeat, and its JoinGroup fails
    "kafkajs": {"member joined", "member closed", "heartbeats lost"},
}
"""What was done to each: c2 came and was closed, c1 was stopped for longer than its session, and closed."""


@pytest.mark.parametrize("client", RUN)
def test_runs_of_other_clients(client):
    folder = data_directory("server-logs") / "other-clients"
    logs = [folder / f"{client}-{name}.log" for name in ("c1", "c2")]
    answer = why(logs, has_advice=False)
    (group,) = answer.groups
    assert {each.cause for each in group.rebalances} - {"unknown"} == RUN[client]
    lost = next(each for each in group.rebalances if each.cause in ("heartbeats lost", "member dropped"))
    assert lost.client == "c1"
    assert answer.reading.unknown_count == 0


WORSE = {
    "sarama": set(),  # it prints no heartbeat that is refused, and nothing when it leaves
    "confluent-kafka-go": {
        ("heartbeats lost", "c2"),
        ("poll interval exceeded", "c2"),
        ("coordinator lost", "c1"),
    },  # level INFO: no group, no joins
    "rust-rdkafka": {
        ("heartbeats lost", None),
        ("poll interval exceeded", None),
        ("coordinator lost", None),
    },  # nor a client
    "kafka-javascript": {
        *(("member joined", "c2"), ("member dropped", "c2"), ("poll interval exceeded", "c2"), ("member closed", "c2")),
        *(("member joined", "c1"), ("coordinator moved", "c1"), ("member closed", "c1")),
    },
    "node-rdkafka": {
        *(("heartbeats lost", "c2"), ("member joined", "c2"), ("poll interval exceeded", "c2")),
        ("member closed", "c2"),
    },
    "streams": {
        *(("member joined", "c2"), ("heartbeats lost", "c2"), ("second round", "c1"), ("coordinator lost", "c1")),
        ("member joined", "c1"),
    },
    "connect": {
        *(("heartbeats lost", "c2"), ("member joined", "c2"), ("member closed", "c2")),
        *(("member joined", "c1"), ("coordinator lost", "c1"), ("member closed", "c1")),
    },
}
"""What was done: c2 came, was stopped for longer than its session, late with a poll (librdkafka), and closed; a third
came and was killed; the coordinator's broker was stopped and came back; c1 was closed."""


@pytest.mark.parametrize("client", WORSE)
def test_runs_in_which_the_coordinator_moved(client):
    folder = data_directory("server-logs") / "other-clients"
    answer = why(sorted(folder.glob(f"{client}-c*.log")), has_advice=False)
    assert answer.outcome != Outcome.FINE
    found = {
        (each.cause, each.client and each.client.partition("-Stream")[0])
        for group in answer.groups
        for each in group.rebalances
        if each.cause != "unknown"
    }
    assert found == WORSE[client]


@pytest.mark.parametrize(
    "client", ["franz-go", "sarama", "confluent-kafka-go", "rust-rdkafka", "kafka-javascript", "node-rdkafka"]
)
def test_two_members_with_one_instance_id_in_a_run(client):
    folder = data_directory("server-logs") / "other-clients"
    (group,) = why(sorted(folder.glob(f"{client}-s*.log")), has_advice=False).groups
    assert "static fenced" in [each.cause for each in group.rebalances]
    assert {each.cause for each in group.rebalances} <= {"static fenced", "member joined", "member closed", "unknown"}


def test_a_session_that_was_short_by_the_log_is_not_taken_as_the_default():
    prepare = "Preparing to rebalance group billing in state PreparingRebalance with old generation {} (reason: {})"
    stable = (
        f"Assignment received from leader {B} for group billing for generation {{}}. The group has 2 "
        f"members, 0 of which are static"
    )

    def night(instance):
        came = f"Adding new member {A} with group instance id {instance}; client reason: not provided"
        return [
            at(
                1,
                f"Dynamic member with unknown member id joins group billing in state Stable. Created a new member "
                f"id {A} and added the member to the group",
            ),
            at(1, prepare.format(6, came)),
            at(2, stable.format(7)),
            at(10, f"Member {A} in group billing has failed, removing it from the group"),
            at(10, prepare.format(7, f"removing member {A} on heartbeat expiration")),
            at(11, stable.format(8)),
            at(20, prepare.format(8, came)),
            at(21, stable.format(9)),
        ]

    (advice,) = why(night("null")).advice["billing"]
    assert advice.settings["session.timeout.ms"] == 9000
    assert str(advice).startswith("for heartbeats lost (1 x): session.timeout.ms: 9000 (9 s) -> ")


def test_a_folder_with_an_odd_file_is_read(tmp_path):
    (tmp_path / "server.log").write_text("\n".join(NO_ALL_CLEAR["heartbeats"]))
    (tmp_path / "core.123").write_bytes(bytes(range(256)) * 40)
    answer = why([tmp_path], has_advice=False)
    assert answer.as_data()["skipped_files"] == [str(tmp_path / "core.123")]
    assert "is not text, and was passed over." in " ".join(str(answer).split())
    code, said, _ = asked(["why", str(tmp_path), "--json"])  # the command names the folder as well
    assert (code, json.loads(said)["skipped_files"]) == (answer.outcome, [str(tmp_path / "core.123")])


@pytest.mark.parametrize("lines", [["{", " "], ["{", ""], [" ", "{", "\t", "}"], ['{"a": 1', " ", "  "]])
def test_an_object_that_never_ends_and_blank_lines_are_no_log(lines):
    assert why(lines).outcome == Outcome.CANNOT_TELL


@pytest.mark.parametrize("kind", ["bz2", "xz", "zst"])
def test_packed_logs(tmp_path, kind):
    import bz2
    import lzma

    data = (at(1, f"Member {A} in group billing has failed, removing it from the group") + "\n").encode() * 3000
    if kind == "zst":
        pyarrow = pytest.importorskip("pyarrow")
        packed = pyarrow.Codec("zstd").compress(data, asbytes=True)
    else:
        packed = {"bz2": bz2, "xz": lzma}[kind].compress(data)
    (tmp_path / f"server.log.{kind}").write_bytes(packed)
    (tmp_path / "torn").write_bytes(packed[: len(packed) // 2])
    assert why([tmp_path / f"server.log.{kind}"], has_advice=False).reading.line_count == 3000
    assert why([tmp_path / "torn"], has_advice=False).reading.torn == (str(tmp_path / "torn"),)


# What is no join, no move, no name; and what a client has no setting for.


def test_a_member_that_kip_848_fenced_has_not_joined():
    """The states of the client say it: FENCED is the end of a membership, JOINING is no member yet."""
    lines = [
        java(1, "ConsumerGroupHeartbeatRequest failed for member m-1 because epoch 7 is fenced."),
        java(1, "Member m-1 with epoch 7 transitioned from STABLE to FENCED."),
        java(2, "Member m-1 with epoch 0 transitioned from FENCED to JOINING."),
    ]
    answer = why(lines, has_advice=False)
    (one,) = answer.rebalances
    assert (one.cause, one.protocol, one.client) == ("member dropped", "consumer", "c1")
    assert "heartbeats lost" in one.words or "no member any more" in one.words
    assert {"heartbeats lost", "revoked too late"} <= {*answer.as_data()["groups"][0]["rebalances"][0]["may_be"]}
    assert answer.as_data()["groups"][0]["protocol"] == "consumer"


def test_a_member_of_kip_848_that_is_stale_was_late_with_its_poll():
    assert named([java(1, "Member m-1 with epoch 7 transitioned from LEAVING to STALE.")]) == ["poll interval exceeded"]


def target(second, epoch, *members):
    rest = ", ".join(f"{each}=MemberAssignment(partitions={{T=[0]}})" for each in members)
    words = f"Computed a new target assignment for epoch {epoch} with 'uniform' assignor in 1ms"
    return at(second, f"[GroupId billing] {words}: {{{rest}}}.")


def test_who_came_and_went_is_seen_in_the_assignments():
    lines = [target(1, 4, "m1", "m2"), target(2, 5, "m1"), target(3, 6, "m1", "m3"), target(4, 7, "m4", "m3")]
    found = why(lines, has_advice=False).rebalances
    assert [(each.cause, each.member) for each in found] == [
        ("unknown", None), ("member left", "m2"), ("member joined", "m3"), ("unknown", None),
    ]  # fmt: skip


def test_a_broker_that_was_started_is_no_other_broker():
    answer = why([at(1, "[GroupCoordinator 0]: Loading group metadata for billing with generation 1")])
    said = " ".join(str(answer).split())
    assert "it moved to this broker, or the broker was started" in said
    assert "another broker" not in said


@pytest.mark.parametrize("words", ["rebalanced: revoked:", "rebalancing", "is empty", "joins again"])
def test_a_word_behind_group_is_no_name(words):
    answer = why([f"2026-11-22 15:46:13,448 WARN Consumer group {words} rebalance in progress"], has_advice=False)
    assert {each.group for each in answer.groups} <= {None}


WORKER = (
    "[Worker clientId=w1, groupId=connect] Member w1-0b9f8b9e-6a47-4c2f-8d3c-2f6f0d1c9a11 sending LeaveGroup request "
)
POLL_EXPIRED = (
    "to coordinator kafka-1:9092 (id: 2147483646 rack: null) due to consumer poll timeout has expired. This means the "
    "time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically "
    "implies that the poll loop is spending too much time processing messages."
)


def test_a_worker_of_connect_is_given_settings_that_a_worker_has():
    answer = why([at(1, f"{WORKER}{POLL_EXPIRED}")])
    (one,), (said,) = answer.rebalances, answer.advice["connect"]
    assert one.cause == "poll interval exceeded"
    assert "rebalance.timeout.ms" in one.words
    assert "rebalance.timeout.ms of the worker" in str(said)
    assert "max.poll" not in str(said) + one.words
    consumer = why([at(1, f"{WORKER.replace('Worker', 'Consumer')}{POLL_EXPIRED}")])
    assert "max.poll.interval.ms" in str(consumer.advice["connect"][0])


def test_why_a_member_left_is_said_where_its_line_says_it():
    lines = [
        "15:46:13.448 [info] Group member (billing,coor=#PID<0.1.0>,cb=#PID<0.2.0>,generation=0):",
        "Leaving group, reason: {{:unsupported_vsn_range, :join_group, {0, 1}, {2, 6}},",
    ]
    said = " ".join(str(why(lines, has_advice=False)).split())
    assert "it is too old, or too new, for the broker, with no version of JoinGroup" in said
    assert "does not say why" not in said


def test_partitions_that_an_application_lost_are_no_silence():
    line = '{"timestamp":"2026-11-22T15:46:13Z","message":"Pre rebalance Revoke([Elem { topic: \\"orders\\" }])"}'
    answer = why([line], has_advice=False)
    assert answer.outcome == Outcome.CANNOT_TELL
    assert "1 line of 1 say which partitions an application was given or lost" in " ".join(str(answer).split())


def test_a_time_with_an_ordinal_is_read():
    (one,) = why(
        ["November 22nd 2026, 15:46:13.448 error Heartbeat session expired - marking coordinator dead"]
    ).rebalances
    assert one.started_ms == 1795362373448


T = "2026-11-22 15:46:13,448 "
TOO_SHORT = (
    "The session timeout is not within the range allowed by the broker (as configured by "
    "group.min.session.timeout.ms and group.max.session.timeout.ms)"
)
REFUSED = {
    "Java, classic": (
        f"{T}ERROR [Consumer clientId=c1, groupId=billing] JoinGroup failed due to fatal error: {TOO_SHORT}. (a.b.C)",
        "billing", "session timeout refused",
    ),
    "Java, an older broker": (
        f"{T}ERROR [Consumer clientId=c1, groupId=billing] JoinGroup failed due to unexpected error: The version of "
        "API is not supported. (a.b.C)",
        "billing", "version not supported",
    ),
    "Java, KIP-848": (
        f"{T}ERROR [Consumer clientId=c1, groupId=billing] ConsumerGroupHeartbeatRequest failed due to group "
        "authorization failure: Not authorized to access group: billing (a.b.C)",
        "billing", "not authorized",
    ),
    "Java, KIP-848 and an older broker": (
        "org.apache.kafka.common.errors.UnsupportedVersionException: The cluster does not support the new CONSUMER "
        "group protocol. Set group.protocol=classic on the consumer configs to revert to the CLASSIC protocol until "
        "the cluster is upgraded.",
        None, "version not supported",
    ),
    "Java, an exception alone": (
        "org.apache.kafka.common.errors.GroupAuthorizationException: Not authorized to access group: billing",
        "billing", "not authorized",
    ),
    "sarama": (
        "[sarama] 2026/11/22 15:46:13 client/consumer kafka server: The provided session timeout is outside the "
        "allowed range",
        None, "session timeout refused",
    ),
    "librdkafka": (
        '%ERROR: KafkaError{code=GROUP_AUTHORIZATION_FAILED,val=30,str="JoinGroup failed: Broker: Group authorization '
        'failed"}',
        None, "not authorized",
    ),
    "franz-go": (
        '{"level":"error","ts":"2026-11-22T15:46:13.448Z","msg":"join and sync loop errored","group":"billing",'
        '"err":"GROUP_AUTHORIZATION_FAILED: Not authorized to access group: Group authorization failed."}',
        "billing", "not authorized",
    ),
    "kafkajs": (
        '{"level":"ERROR","timestamp":"2026-11-22T15:46:13.448Z","logger":"kafkajs","message":"[Connection] Response '
        'JoinGroup(key: 11, version: 5)","broker":"k:9092","clientId":"c1","error":"' + TOO_SHORT + '","size":10}',
        None, "session timeout refused",
    ),
    "kafka-python": (
        "ERROR:kafka.coordinator:Attempt to join group billing failed due to fatal error: [Error 26] "
        "InvalidSessionTimeoutError: billing",
        "billing", "session timeout refused",
    ),
    "aiokafka": (
        f"{T}ERROR aiokafka.consumer.group_coordinator Attempt to join group billing failed due to fatal error: "
        "[Error 30] GroupAuthorizationFailedError: billing",
        "billing", "not authorized",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_client_that_was_refused_says_why(name):
    line, group, cause = REFUSED[name]
    answer = why([line])

    ((found,),) = (each.rebalances for each in answer.groups)
    assert (found.group, found.cause) == (group, cause)
    assert found.protocol == ("consumer" if name == "Java, KIP-848" else "classic")
    assert answer.outcome.name == "FOUND"


@pytest.mark.parametrize(
    "line",
    [
        f"{T}INFO [Consumer clientId=c1, groupId=billing] ConsumerConfig values: (a.b.C)",
        f"{T}WARN Client session timed out, have not heard from server in 4002ms for session id 0x1 (a.b.ClientCnxn)",
        f"{T}INFO zookeeper.session.timeout.ms = 18000 (a.b.KafkaConfig)",
        f"{T}ERROR [Producer clientId=p1] Uncaught error: UNSUPPORTED_VERSION (a.b.Sender)",
    ],
)
def test_other_timeouts_and_versions_are_no_refusal(line):
    assert read([line]).events == ()


def test_a_stale_epoch_is_no_rebalance():
    line = "org.apache.kafka.common.errors.StaleMemberEpochException: The member epoch is stale."
    (group,) = why([line], has_advice=False).groups
    assert (group.rebalances, group.is_whole) == ((), False)


@pytest.mark.parametrize(
    ("line", "group"),
    [
        (
            '{"level":"ERROR","timestamp":"2026-11-22T15:46:13.448Z","logger":"kafkajs","message":"[Consumer] Crash: '
            'KafkaJSNonRetriableError: Not authorized to access group: Group authorization failed",'
            '"groupId":"billing"}',
            "billing",
        ),
        ("E, [2026-11-22T15:46:13.4] ERROR -- : Failed to join group: Kafka::InconsistentGroupProtocol", None),
        ("2026/11/22 15:46:13 consumergroup/session/c1-7/3: kafka server: Not authorized to access this group", None),
        ("2026/11/22 15:46:13 consumergroup/billing: kafka server: Not authorized to access this group", "billing"),
    ],
)
def test_a_word_beside_an_error_is_no_group(line, group):
    (found,) = why([line], has_advice=False).groups
    assert found.group == group


def test_a_partition_of_the_offsets_topic_that_will_be_read_is_no_news_and_one_that_was_is():
    form = "[2026-11-22 15:46:13,448] INFO [{}] {} (a.B)"
    planned = [
        ("GroupCoordinator id=1", "Scheduling loading of metadata from __consumer_offsets-9 with epoch 0"),
        ("GroupCoordinator id=1", "Ignored unloading metadata for __consumer_offsets-9 in epoch OptionalInt[0]"),
        (
            "GroupMetadataManager brokerId=1",
            "Scheduling loading of offsets and group metadata from __consumer_offsets-9",
        ),
    ]
    done = ("GroupCoordinator id=1", "Finished unloading metadata for __consumer_offsets-9 with epoch OptionalInt[1]")
    found = read([form.format(*each) for each in (*planned, done)])
    assert ([each.kind for each in found.events], found.unknown_count) == (["CoordinatorUnloaded"], 0)
