"""The coordinator of three brokers is killed: what the others answer, in which order, as the simulator says."""

import pytest

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups import classic
from kafkalearn.live.errors import NoAnswer, wait_for
from kafkalearn.live.request_values import (
    NEWEST_COMMIT_WITH_NAMES,
    commit,
    elect,
    error_name,
    heartbeat,
    join_group,
    leave_group,
    reassign,
    sync_group,
)
from kafkalearn.operations.coordinator_life import BrokerFenced, LoadRead, OrderCarriedOut, Request, Settings, simulate
from kafkalearn.operations.coordinator_life.model import COMMIT, FIND, HEARTBEAT, SYNC
from tests.live.checked import holds

pytestmark = pytest.mark.live

IDS = (1, 2, 3)
GROUP, NOBODY = "billing", "nobody"
ONE_PARTITION = {"offsets.topic.num.partitions": 1}
QUESTIONS = {
    FIND: ({"keyType": 0, "coordinatorKeys": [GROUP]}, 4),
    COMMIT: (commit(GROUP, {TopicPartition("orders", 0): 9}), NEWEST_COMMIT_WITH_NAMES),
    HEARTBEAT: (heartbeat(GROUP, NOBODY, 1), 3),
    SYNC: (sync_group(GROUP, NOBODY, 1), 4),
}


def answer(kafka, broker_id, api):
    values, version = QUESTIONS[api]
    try:
        fields = kafka.ask(broker_id, api, values, version)
    except NoAnswer:
        return "no connection"
    if api == FIND:
        (found,) = fields["coordinators"]
        return f"NONE {found['nodeId']}" if found["errorCode"] == 0 else error_name(found["errorCode"])
    if api == COMMIT:
        return error_name(fields["topics"][0]["partitions"][0]["errorCode"])
    return error_name(fields["errorCode"])


def heard(kafka, broker_ids, until):
    """Each change of an answer, by broker and API, until an answer to a commit is NONE."""
    found = {(broker_id, api): [] for broker_id in broker_ids for api in QUESTIONS}

    def ask_all():
        for (broker_id, api), said in found.items():
            said += [each for each in [answer(kafka, broker_id, api)] if said[-1:] != [each]]
        return until(found)

    wait_for(ask_all, True)
    return found


def expected(old, new, third, release):
    """The same of the simulator, each broker asked after every event."""
    asked = [
        Request(each, api, GROUP, "" if api == COMMIT else NOBODY, 9) for each in (new, third) for api in QUESTIONS
    ]
    events = [Request(old, COMMIT, GROUP, offset=9), *asked]
    for event in (BrokerFenced(old), OrderCarriedOut(new, 1), LoadRead(new)):
        events += [event, *asked]
    found = {}
    for frame in simulate(Settings(release, IDS, (old, new, third)), events)[2:]:
        for each in frame.state.effects:
            if isinstance(frame.event, Request):
                said = found.setdefault((each.broker_id, each.api), [])
                words = f"NONE {each.value}" if each.api == FIND and each.value is not None else each.error
                said += [words] if said[-1:] != [words] else []
    return found


@holds("a coordinator's life: orders, loads, answers")
def test_when_the_coordinator_is_killed_the_others_answer_in_the_order_of_the_simulator(cluster, release):
    kafka = cluster(3, config={**ONE_PARTITION, "broker.session.timeout.ms": 6000})  # who lives has time to say so
    kafka.create_topic("orders", 1, 3)
    old = kafka.coordinator(GROUP)
    wait_for(lambda: answer(kafka, old, COMMIT), "NONE")
    others = [each for each in IDS if each != old]
    wait_for(lambda: {answer(kafka, each, FIND) for each in others}, {f"NONE {old}"})

    kafka.kill(old)
    real = heard(
        kafka, others, lambda found: any(said[-1] == "NONE" for (_, api), said in found.items() if api == COMMIT)
    )

    new = next(each for each in others if real[each, COMMIT][-1] == "NONE")
    third = next(each for each in others if each != new)
    simulated = expected(old, new, third, release)
    for place, said in real.items():
        rest = iter(simulated[place])
        assert all(each in rest for each in said), (
            place,
            said,
            simulated[place],
        )  # in order; a short load may be missed
    assert real[new, COMMIT][0] == "NOT_COORDINATOR"
    assert real[third, COMMIT] == simulated[third, COMMIT] == ["NOT_COORDINATOR"]


OFFSETS = TopicPartition("__consumer_offsets", 0)


def move(kafka, to):
    """Another broker leads the one partition of the offsets topic, and the old one knows it."""
    old = kafka.coordinator(GROUP)
    kafka.ask(old, "AlterPartitionReassignments", {**reassign(OFFSETS, [to, old]), "timeoutMs": 10_000})

    def elected():
        kafka.ask(old, "ElectLeaders", {**elect(OFFSETS), "timeoutMs": 10_000})
        return kafka.coordinator(GROUP)

    wait_for(elected, to)
    wait_for(lambda: answer(kafka, old, COMMIT), "NOT_COORDINATOR")


@holds("the classic coordinator", "which commits a classic group takes")
def test_a_broker_that_has_lost_the_partition_is_the_coordinator_of_nobody_who_asks(cluster, release):
    kafka = cluster(2, config={**ONE_PARTITION, "broker.session.timeout.ms": 30_000})
    kafka.create_topic("orders", 1, 2)
    old = kafka.coordinator(GROUP)
    wait_for(lambda: answer(kafka, old, COMMIT), "NONE")
    protocols = {"range": b""}

    def joined(member_id, session_timeout_ms=60_000):
        return kafka.ask(old, "JoinGroup", join_group("shop", member_id, protocols, session_timeout_ms, 60_000), 7)

    member_id = joined("")["memberId"]
    generation = joined(member_id)["generationId"]
    kafka.ask(old, "SyncGroup", sync_group("shop", member_id, generation, {member_id: b""}), 4)
    move(kafka, next(each for each in kafka.broker_ids if each != old))
    wait_for(lambda: error_name(joined("")["errorCode"]), "NOT_COORDINATOR")  # once on a busy machine it came back

    settings = classic.Settings(release, group_initial_rebalance_delay_ms=0)
    before = [classic.JoinGroup("a", drawn_id=member_id), classic.JoinGroup("a", member_id), classic.TimePassed(0)]
    before += [classic.SyncGroup("a", member_id, 1), classic.PartitionMoved()]
    moved = classic.simulate(settings, before)[-1].state
    offsets = commit("shop", {TopicPartition("orders", 0): 1}, member_id, generation)
    committed = kafka.ask(old, COMMIT, offsets, NEWEST_COMMIT_WITH_NAMES)["topics"][0]["partitions"][0]
    told = [
        (classic.JoinGroup("a"), joined("")),
        (classic.JoinGroup("a", session_timeout_ms=1), joined("", 1)),
        (classic.JoinGroup("a", member_id), joined(member_id)),
        (classic.SyncGroup("a", member_id, 1), kafka.ask(old, SYNC, sync_group("shop", member_id, generation), 4)),
        (classic.Heartbeat("a", member_id, 1), kafka.ask(old, HEARTBEAT, heartbeat("shop", member_id, generation), 4)),
        (classic.LeaveGroup("a", member_id), kafka.ask(old, "LeaveGroup", leave_group("shop", {member_id: None}), 4)),
        (classic.OffsetCommit("a", member_id, 1), committed),
        (classic.GroupDeleted(), kafka.ask(old, "DeleteGroups", {"groupsNames": ["shop"]}, 2)["results"][0]),
    ]
    for event, said in told:
        assert classic.step(settings, moved, event).effects[0].error == error_name(said["errorCode"]), event
