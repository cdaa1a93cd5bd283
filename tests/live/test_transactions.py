"""Transactions: one broker and the simulator are asked the same requests, what users ask about, step by step."""

import pytest

from conformance.mechanisms.transactions import PARTITIONS, VERSION_2
from conformance.search import compare
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.transaction_log import encode_key, encode_value
from kafkalearn.live.errors import wait_for
from kafkalearn.live.request_values import elect, encode_batch, error_name, produce
from kafkalearn.releases.lines import at_least
from kafkalearn.transactions import (
    EndTxn,
    InitProducerId,
    LeaderCameBack,
    LeaderWentAway,
    Produce,
    Settings,
    start,
    step,
)
from kafkalearn.transactions.model import AddOffsetsToTxn, AskedElsewhere, CoordinatorElected, CoordinatorLoaded
from kafkalearn.transactions.simulator import settled
from tests.live.checked import holds
from tests.live.java import run_java_class

pytestmark = pytest.mark.live

NOW = {"id": 0, "who": "now"}
INIT = {"do": "InitProducerId", "v": 5, **NOW, "expects": False, "timeout": 60_000}
WRITE = {"do": "Produce", "v": 12, **NOW, "place": 0, "sequence": "next", "count": 2, "is_transactional": True}
OFFSETS = {
    "do": "TxnOffsetCommit",
    "v": 5,
    **NOW,
    "group": 0,
    "place": 1,
    "offset": 7,
    "member": "",
    "generation": None,
}
COMMIT, ABORT = ({"do": "EndTxn", "v": 5, **NOW, "commits": commits} for commits in (True, False))
ZOMBIE = {"who": "before"}

STORIES = {
    "records and offsets hold together": [INIT, WRITE, {**WRITE, "place": 1}, OFFSETS, COMMIT],
    "an aborted transaction leaves nothing": [INIT, WRITE, OFFSETS, ABORT, WRITE, COMMIT],
    "a second producer aborts what the first has open": [INIT, WRITE, INIT, INIT, {**WRITE, **ZOMBIE}, WRITE, COMMIT],
    "a retried commit is answered again": [INIT, WRITE, COMMIT, {**COMMIT, **ZOMBIE}, WRITE],
    "a reader waits behind what is open": [INIT, {**INIT, "id": 1}, WRITE, {**WRITE, "id": 1}, {**COMMIT, "id": 1}],
    "an older client adds its partitions first": [
        {**INIT, "v": 4},
        {"do": "AddPartitionsToTxn", "v": 3, **NOW, "places": [0], "verifies": False},
        {**WRITE, "v": 11},
        {**WRITE, "v": 11, "place": 1},
        {**COMMIT, "v": 4},
    ],
    "members of both protocols commit in a transaction": [
        *(
            each
            for group in (0, 1)
            for each in (
                {"do": "Join", "group": group},
                INIT,
                *({**OFFSETS, "group": group, "member": "own", "generation": above} for above in (0, 1)),
                {**OFFSETS, "group": group, "member": "wrong", "generation": 0},
                COMMIT,
            )
        )
    ],
}
"""What users ask about, as requests; each as a case of `make conform`."""


@holds(
    "requests about transactions: answers, states, markers, the last stable offset, offsets that wait",
    "transactions: what holds after every request",
)
def test_what_users_ask_about_is_answered_as_the_simulator_says(cluster, release, new_name):
    if not at_least("4.0", release):
        pytest.skip("transaction.version 2 came with 4.0")
    kafka = cluster(1, **VERSION_2.settings)
    found = {}
    for name, steps in STORIES.items():
        seen = VERSION_2.ask(kafka, {"steps": steps}, new_name)
        found[name] = compare(VERSION_2, release, {"steps": steps}, seen)
        stable = dict.fromkeys(PARTITIONS, 0)
        for _, now in seen["steps"]:
            for place in PARTITIONS:
                end, until = now.get(f"offsets {place}", (stable[place], stable[place]))
                assert stable[place] <= until <= end  # what a reader was given is never taken back
                stable[place] = until
    assert {name: each for name, each in found.items() if each is not None} == {}


RULE_OF_PARTITIONS = (
    "several partitions of __transaction_state, a failover of one; a commit to a partition without a leader; "
    "InitProducerId 6"
)
ENABLES = "transaction.two.phase.commit.enable"
METHODS = (
    "abortTransaction/0", "beginTransaction/0", "commitTransaction/0", "initTransactions/0",
    "sendOffsetsToTransaction/2",
)  # fmt: skip
EMPTY_ID = {
    "producerId": 10**6, "producerEpoch": 0, "transactionTimeoutMs": 60_000, "transactionStatus": 0,
    "transactionPartitions": None, "transactionLastUpdateTimestampMs": 0, "transactionStartTimestampMs": -1,
}  # fmt: skip


@holds(RULE_OF_PARTITIONS)
def test_a_commit_to_a_partition_without_a_leader_and_a_request_of_two_phases(cluster, release):
    """The leader of one of two partitions is killed before the commit; what both say then, and once it is back."""
    if not at_least("4.0", release):
        pytest.skip("transaction.version 2 came with 4.0")
    unstable = {"unstable.api.versions.enable": True, "transaction.two.phase.commit.enable": True}
    kafka = cluster(2, config={"transaction.state.log.num.partitions": 1, **unstable})
    wait_for(lambda: kafka.ask(1, "FindCoordinator", {"key": "x", "keyType": 1}, 2)["errorCode"], 0, "coordinator:")
    wait_for(lambda: kafka.partition("__transaction_state", 0).leader in (1, 2), True, "leader:")
    here = kafka.partition("__transaction_state", 0).leader
    far = 3 - here
    kafka.create_topic("t", assignment=[[far], [here]])
    settings = Settings(release, has_unstable_apis=True, allows_two_phase_commit=True)
    said = start(settings)

    def asked(name, version, values):
        return wait_for(lambda: kafka.ask(here, name, values, version), lambda got: got["errorCode"] == 0, name)

    def state():
        (got,) = kafka.ask(here, "DescribeTransactions", {"transactionalIds": ["x"]}, 0)["transactionStates"]
        return got["transactionState"]

    def ours(*events):
        nonlocal said
        for event in events:
            said = settled(settings, step(settings, said, event))
        return said.transaction("x").status

    begun = asked("InitProducerId", 5, {"transactionalId": "x", "transactionTimeoutMs": 60_000})
    sender = {"producer_id": begun["producerId"], "producer_epoch": begun["producerEpoch"]}
    for number, broker in ((0, far), (1, here)):
        record = produce(
            TopicPartition("t", number), [(None, b"r", 0)], is_transactional=True, base_sequence=0, **sender
        )
        record["transactionalId"] = "x"

        def written(broker=broker, record=record):
            (topic,) = kafka.ask(broker, "Produce", record, 12)["responses"]
            return topic["partitionResponses"][0]["errorCode"]

        wait_for(written, 0, "written:")
    kafka.kill(far)
    wait_for(lambda: kafka.partition("t", 0, broker_id=here).leader, None, "leader of t-0:")
    ended = {"transactionalId": "x", "producerId": begun["producerId"], "producerEpoch": begun["producerEpoch"]}
    asked("EndTxn", 5, {**ended, "committed": True})
    expected = ours(
        InitProducerId("x"),
        Produce("x", "t-0", 0, 0, 0),
        Produce("x", "t-1", 0, 0, 0),
        LeaderWentAway(("t-0",), is_known=True),
        EndTxn("x", 0, 0),
    )
    wait_for(state, expected, "while it is away:")
    kafka.restart(far)
    wait_for(lambda: kafka.partition("t", 0, broker_id=here).leader, far, "back:")
    wait_for(state, ours(LeaderCameBack(("t-0",))), "once it is back:")
    partition = said.partition("t-0")
    wait_for(lambda: kafka.last_stable_offset("t", 0), partition.last_stable_offset, "LSO:")
    assert kafka.high_watermark("t", 0) == partition.end_offset

    assert kafka.version(here, "InitProducerId", 6) == settings.newest_init_producer_id
    if settings.newest_init_producer_id == 6:
        for more, ask in (
            ({"keepPreparedTxn": True}, InitProducerId("x", 6, keeps_prepared=True)),
            ({"enable2Pc": True}, InitProducerId("x", 6, enables_two_phase_commit=True)),
        ):
            got = kafka.ask(here, "InitProducerId", {"transactionalId": "x", "transactionTimeoutMs": 60_000, **more}, 6)
            ours(ask)
            assert (error_name(got["errorCode"]), got["producerEpoch"]) == (
                said.effects[0].error,
                said.effects[0].epoch,
            )


STATE = TopicPartition("__transaction_state", 0)
A_TOOL = "__admin_client"  # the one client from which a broker takes records for a topic of its own
LARGE = 60  # batches of 10,000 records: read in about a second


@holds(RULE_OF_PARTITIONS)
def test_while_a_coordinator_loads_and_at_a_broker_that_is_none_requests_are_refused_as_the_simulator_says(
    cluster, release
):
    """Broker 2 coordinates, and 1 once it is elected; its partition is large, and it is asked while it reads it."""
    kafka = cluster(2, config={"transaction.state.log.num.partitions": 1})
    compacted = {"cleanup.policy": "compact", "min.insync.replicas": 1}
    kafka.create_topic(STATE.topic, assignment=[[2, 1]], config=compacted)
    words = {"transactionalId": "x", "transactionTimeoutMs": 60_000}
    begun = wait_for(lambda: kafka.ask(2, "InitProducerId", words, 5), lambda got: got["errorCode"] == 0, "an id:")
    sender = {"transactionalId": "x", "producerId": begun["producerId"], "producerEpoch": begun["producerEpoch"]}
    settings = Settings(release)
    ours = step(settings, start(settings), InitProducerId("x"))
    questions = (
        ("EndTxn", {**sender, "committed": True}, 5, EndTxn("x", 0, 0)),
        ("AddOffsetsToTxn", {**sender, "groupId": "g"}, 4, AddOffsetsToTxn("x", 0, 0, "g", 4)),
        ("InitProducerId", {**words, "transactionTimeoutMs": 10**8}, 5, InitProducerId("x", timeout_ms=10**8)),
        ("InitProducerId", words, 5, InitProducerId("x")),
    )

    def answers(asked=questions):
        return [error_name(kafka.ask(1, name, values, version)["errorCode"]) for name, values, version, _ in asked]

    def said(cluster, event=lambda each: each):
        return [step(settings, cluster, event(each)).effects[0].error for _, _, _, each in questions]

    elsewhere = said(ours, AskedElsewhere)
    assert answers() == elsewhere

    filler = encode_batch([(encode_key("other"), encode_value(0, EMPTY_ID), 0)] * 10_000)
    batch = {"index": STATE.partition, "records": filler}
    topic = {"name": STATE.topic, "partitionData": [batch]}
    with kafka.connection(2, A_TOOL) as tool:
        for _ in range(LARGE):
            values = {"transactionalId": None, "acks": 1, "timeoutMs": 60_000, "topicData": [topic]}
            (written,) = tool.call("Produce", values, 11)["responses"]
            assert written["partitionResponses"][0]["errorCode"] == 0
    wait_for(lambda: len(kafka.partition(*STATE).isr), 2, "in sync:")
    kafka.kill(2)

    def state():
        (got,) = kafka.ask(1, "DescribeTransactions", {"transactionalIds": ["x"]}, 0)["transactionStates"]
        return error_name(got["errorCode"])

    loading = said(step(settings, ours, CoordinatorElected()))
    seen = []

    def look():
        phase = state()
        found = answers(questions[:3]) if phase != "NONE" else None
        if phase == state() != "NONE":  # nothing has changed meanwhile
            seen.append((phase, found))
        return phase

    wait_for(look, "NONE", "loaded:")
    expected = {"NOT_COORDINATOR": elsewhere[:3], "COORDINATOR_LOAD_IN_PROGRESS": loading[:3]}
    assert all(found == expected[phase] for phase, found in seen), seen
    assert "COORDINATOR_LOAD_IN_PROGRESS" in {phase for phase, _ in seen}

    kafka.restart(2)
    wait_for(lambda: len(kafka.partition(*STATE).isr), 2, "in sync again:")
    kafka.ask(1, "ElectLeaders", {**elect(STATE), "timeoutMs": 10_000}, 2)
    wait_for(state, "NOT_COORDINATOR", "resigned:")
    for event in (CoordinatorElected(), CoordinatorLoaded()):
        ours = step(settings, ours, event)
    assert answers() == said(ours, AskedElsewhere)


@holds(RULE_OF_PARTITIONS)
def test_a_java_producer_has_of_two_phase_commit_a_setting_alone_which_changes_nothing(cluster, release):
    """Brokers have it from 4.1 on; a producer up to 4.4 cannot prepare, and its coordinator aborts it as any other."""
    if not at_least("4.1", release):
        pytest.skip("the setting came with 4.1")
    kafka = cluster(config={"unstable.api.versions.enable": True, ENABLES: True}, brokers=1)
    kafka.create_topic("t", 1)
    said = run_java_class(
        kafka.release,
        "TwoPhase",
        kafka.bootstrap,
        "t",
        f"{ENABLES}=true",
        f"{ENABLES}=true,transaction.timeout.ms=1000",
    )
    methods, sent, refused = said.splitlines()
    assert methods == f"[{', '.join(METHODS)}]"
    assert sent == "sent"
    assert refused.startswith("ConfigException: Cannot set transaction.timeout.ms when ")

    settings = Settings(release, has_unstable_apis=True, allows_two_phase_commit=True)
    ours = step(settings, start(settings), InitProducerId("x"))
    asked = step(settings, start(settings), InitProducerId("x", 6, enables_two_phase_commit=True))
    (got,) = kafka.ask(1, "DescribeTransactions", {"transactionalIds": ["x"]}, 0)["transactionStates"]
    assert got["transactionState"] == "Ongoing"
    assert got["transactionTimeoutMs"] == ours.transaction("x").timeout_ms != asked.transaction("x").timeout_ms
