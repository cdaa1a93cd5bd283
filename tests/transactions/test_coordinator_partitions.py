"""Several partitions of ``__transaction_state``, partitions without a leader, two-phase commit: as brokers answered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.transactions import (
    CoordinatorLoaded,
    EndTxn,
    InitProducerId,
    LeaderCameBack,
    LeaderWentAway,
    Produce,
    Settings,
    TimePassed,
    broken,
    start,
    step,
)
from kafkalearn.transactions.model import (
    AddOffsetsToTxn,
    AddPartitionsToTxn,
    AskedElsewhere,
    CoordinatorCrashed,
    CoordinatorElected,
    TxnOffsetCommit,
)
from kafkalearn.transactions.partition import committed_records
from kafkalearn.transactions.simulator import NOBODY_HELD_BACK, settled
from tests.every import every_case
from tests.recorded import recorded
from tests.transactions.test_laws import RUNS, run_through

REAL = recorded("coordinator-partitions")


def event_of(each):
    """The event of a recorded step."""
    match each["do"]:
        case "InitProducerId":
            return InitProducerId(each["id"])
        case "Produce":
            return Produce(each["id"], each["partition"], each["producer"], each["epoch"], each["sequence"])
        case "EndTxn":
            return EndTxn(each["id"], each["producer"], each["epoch"], each["commit"])
        case "LeaderWentAway":
            return LeaderWentAway((each["partition"],), is_known=True)
        case "LeaderCameBack":
            return LeaderCameBack((each["partition"],))
        case "CoordinatorLoaded":
            return CoordinatorLoaded(each["partition"])
    raise AssertionError(each)


def seen(cluster, name):
    """What DescribeTransactions says of an id, and DescribeProducers of a partition."""
    if name == "epochs":
        return list(cluster.coordinator_epochs[:2])
    if name.startswith("id-"):
        held = cluster.transaction(name)
        return [held.status, held.producer_id, held.epoch, sorted(held.partitions)]
    known = cluster.partition(name).producers
    return sorted([one.producer_id, one.epoch, one.coordinator_epoch, one.first_offset] for one in known)


def test_an_id_lies_where_a_group_of_its_name_would():
    count, places = REAL["partitions"]["count"], REAL["partitions"]["of"]
    settings = Settings(coordinator_partition_count=count)
    assert {each: settings.coordinator_partition(each) for each in places} == places
    assert {each: offsets_partition(each, count) for each in places} == places


@every_case("history", REAL["failovers"], ids=lambda each: each["release"])
def test_a_failover_in_the_middle_of_a_commit_is_as_the_brokers_had_it(history):
    settings = Settings(history["release"], coordinator_partition_count=history["partition_count"])
    cluster = start(settings)
    for each in history["steps"]:
        cluster = settled(settings, step(settings, cluster, event_of(each)))
        (answer,) = cluster.effects
        said = [answer.error, answer.producer_id, answer.epoch]
        assert said[: len(each.get("a", ()))] == each.get("a", []), each
        now = each.get("now", {})
        assert {name: seen(cluster, name) for name in now} == now, each


@given(requests=RUNS["requests"], markers=RUNS["markers"], partition=st.integers(0, 2))
def test_a_failover_of_one_partition_touches_its_ids_alone(requests, markers, partition):
    settings = Settings(coordinator_partition_count=3)
    requests = [each for each in requests if not isinstance(each, CoordinatorLoaded)]
    before = run_through(settings, requests, markers)[-1]
    after = step(settings, before, CoordinatorLoaded(partition))
    others = [each for each in before.transactions if settings.coordinator_partition(each.id) != partition]
    assert [after.transaction(each.id) for each in others] == others
    assert after.partitions == before.partitions
    passed = [new - old for old, new in zip(before.coordinator_epochs, after.coordinator_epochs, strict=True)]
    assert passed == [int(each == partition) for each in range(3)]


@pytest.mark.parametrize("event", [CoordinatorCrashed, CoordinatorElected, CoordinatorLoaded])
def test_a_partition_that_is_not_there_is_not_loaded(event):
    settings = Settings(coordinator_partition_count=3)
    with pytest.raises(IllegalEvent, match="0 to 2"):
        step(settings, start(settings), event(3))


ASKED = {
    "InitProducerId 5": InitProducerId("x"),
    "InitProducerId 5, a timeout that is too long": InitProducerId("x", timeout_ms=10**8),
    "InitProducerId 5, with an epoch": InitProducerId("x", producer_id=0, epoch=0),
    "InitProducerId 3": InitProducerId("x", 3),
    "InitProducerId 5, without an id": InitProducerId(None),
    "AddPartitionsToTxn 3": AddPartitionsToTxn("x", 0, 0, ("t-1",)),
    "AddPartitionsToTxn 5": AddPartitionsToTxn("x", 0, 0, ("t-1",), 5),
    "AddPartitionsToTxn 5, verifyOnly": AddPartitionsToTxn("x", 0, 0, ("t-1",), 5, verify_only=True),
    "AddOffsetsToTxn 4": AddOffsetsToTxn("x", 0, 0, "g", 4),
    "EndTxn 4": EndTxn("x", 0, 0, version=4),
    "EndTxn 5": EndTxn("x", 0, 0),
    "Produce 12, a partition that is in the transaction": Produce("x", "t-0", 0, 0, 1),
    "Produce 12, a partition to be added": Produce("x", "t-1", 0, 0, 0),
    "Produce 11, a partition to be verified": Produce("x", "t-1", 0, 0, 0, version=11),
    "Produce 10, a partition to be verified": Produce("x", "t-1", 0, 0, 0, version=10),
    **{f"TxnOffsetCommit {each}": TxnOffsetCommit("x", 0, 0, "g", (("t-0", 7),), each) for each in (3, 4, 5)},
}
"""The requests by their names in the recording; DescribeTransactions, by which a phase was known, is none of them."""


def answered(settings, cluster, event):
    """What a request is answered, as the recording has it: with Kafka's words where they come with it."""
    (answer,) = step(settings, cluster, event).effects
    if isinstance(event, Produce):
        return [answer.error, answer.message or None]
    return answer.error if not answer.partitions else answer.partitions[0][1]


@every_case("case", REAL["unready"], ids=lambda each: each["release"])
def test_without_a_coordinator_and_while_one_loads_each_request_is_answered_as_the_brokers_did(case):
    settings = Settings(case["release"])
    cluster = start(settings)
    for event in (InitProducerId("x"), Produce("x", "t-0", 0, 0, 0)):
        cluster = step(settings, cluster, event)
    dead = step(settings, cluster, CoordinatorCrashed())
    loading = step(settings, dead, CoordinatorElected())
    elsewhere = {name: AskedElsewhere(ASKED[name]) for name in case["asked elsewhere"] if name in ASKED}
    for phase, state, asked in (
        ("asked elsewhere", cluster, elsewhere),
        ("dead", dead, ASKED),
        ("loading", loading, ASKED),
        ("resigned", step(settings, loading, CoordinatorLoaded()), elsewhere),
    ):
        seen = {name: each for name, each in case[phase].items() if name in asked}
        assert {name: answered(settings, state, asked[name]) for name in seen} == seen, phase
        assert len(seen) == len(asked)
    assert case["rounds"]["loading"] >= 20


@given(requests=RUNS["requests"], markers=RUNS["markers"], partition=st.integers(0, 2))
def test_a_failover_step_by_step_ends_as_one_at_once_and_nothing_happens_to_its_ids_meanwhile(
    requests, markers, partition
):
    settings = Settings(coordinator_partition_count=3)
    requests = [each for each in requests if not isinstance(each, CoordinatorLoaded)]
    before = run_through(settings, requests, markers)[-1]
    dead = step(settings, before, CoordinatorCrashed(partition))
    loading = step(settings, dead, CoordinatorElected(partition))
    assert step(settings, loading, CoordinatorLoaded(partition)) == step(settings, before, CoordinatorLoaded(partition))
    name = next(f"id-{number}" for number in range(9) if settings.coordinator_partition(f"id-{number}") == partition)
    for state in (dead, loading):
        for event in (InitProducerId(name), EndTxn(name, 0, 0), Produce(name, "t-1", 10**6, 0, 0)):
            after = step(settings, state, event)
            assert after.effects[0].error != "NONE"
            assert (after.transactions, after.rows) == (state.transactions, state.rows)
    with pytest.raises(IllegalEvent, match="CoordinatorLoaded comes first"):
        step(settings, loading, CoordinatorElected(partition))


def test_nobody_is_said_to_be_held_back_for_ever_while_the_coordinator_loads():
    settings = Settings()
    cluster = start(settings)
    for event in (InitProducerId("x"), Produce("x", "t-0", 0, 0, 0), CoordinatorCrashed(), CoordinatorElected()):
        cluster = step(settings, cluster, event)
        assert broken(settings, cluster) == ()
    assert cluster.transactions == ()


def test_what_no_coordinator_is_asked_does_not_reach_another_one():
    with pytest.raises(KafkaLearnError, match="request must be InitProducerId or"):
        AskedElsewhere(Produce("x", "t-0", 0, 0, 0))


@every_case("case", REAL["leaderless"], ids=lambda each: each["release"])
def test_a_commit_while_a_partition_has_no_leader_waits_or_since_4_3_leaves_it_open(case):
    settings = Settings(case["release"])
    cluster = start(settings)
    for event in (
        InitProducerId("x"),
        Produce("x", "t-0", 0, 0, 0),
        Produce("x", "t-1", 0, 0, 0),
        LeaderWentAway(("t-0",), is_known=True),
        EndTxn("x", 0, 0),
    ):
        cluster = settled(settings, step(settings, cluster, event))
    assert cluster.transaction("x").status == case["decided"]
    cluster = settled(settings, step(settings, cluster, LeaderCameBack(("t-0",))))
    partition = cluster.partition("t-0")
    assert cluster.transaction("x").status == case["back"]
    assert seen(cluster, "t-0") == case["producers t-0"]
    assert [partition.end_offset, partition.last_stable_offset] == case["offsets t-0"]
    hangs = partition.last_stable_offset < partition.end_offset
    assert broken(settings, cluster) == ((NOBODY_HELD_BACK,) if hangs else ())


@every_case("case", REAL["after_a_lost_marker"], ids=lambda each: "commit" if each["commits"] else "abort")
def test_what_hangs_after_a_lost_marker_is_ended_by_its_producers_next_transaction_and_as_that_ends(case):
    settings = Settings(case["release"])
    cluster = start(settings)
    for event in (
        InitProducerId("x"),
        Produce("x", "t-0", 0, 0, 0, ("committed",)),
        LeaderWentAway(("t-0",), is_known=True),
        EndTxn("x", 0, 0),
        LeaderCameBack(("t-0",)),
    ):
        cluster = settled(settings, step(settings, cluster, event))
    for when, events in (
        ("before", ()),
        ("next", (Produce("x", "t-0", 0, 1, 0, ("next",)), EndTxn("x", 0, 1, case["commits"]))),
    ):
        for event in events:
            cluster = settled(settings, step(settings, cluster, event))
        partition = cluster.partition("t-0")
        found = {"producers t-0": seen(cluster, "t-0")}
        found["offsets t-0"] = [partition.end_offset, partition.last_stable_offset]
        assert {name: each for name, each in case[when].items() if name != "id"} == found
    assert cluster.transaction("x").status == case["next"]["id"]
    read = ("committed", "next") if case["commits"] else ()  # an abort takes with it what was committed before
    assert committed_records(partition) == read


def test_a_marker_that_waits_already_is_given_up_once_the_controller_knows():
    settings = Settings("4.4")
    cluster = start(settings)
    for event in (InitProducerId("x"), Produce("x", "t-0", 0, 0, 0), LeaderWentAway(("t-0",)), EndTxn("x", 0, 0)):
        cluster = settled(settings, step(settings, cluster, event))
    assert cluster.transaction("x").status == "PrepareCommit"
    cluster = step(settings, cluster, LeaderWentAway(("t-0",), is_known=True))
    assert cluster.transaction("x").status == "CompleteCommit"


@every_case("case", REAL["two_phase"], ids=lambda each: each["release"])
def test_two_phase_commit_is_answered_as_far_as_it_is_there(case):
    settings = Settings(
        case["release"],
        has_unstable_apis=True,
        allows_two_phase_commit=case["transaction.two.phase.commit.enable"],
    )
    assert settings.newest_init_producer_id == case["newest"]
    cluster, sequence = start(settings), 0
    producer_id = cluster.next_producer_id
    for each in case["steps"]:
        if each["do"] == "Produce":
            held = cluster.transaction("x")
            cluster = step(settings, cluster, Produce("x", "t-0", held.producer_id, held.epoch, sequence))
            assert (cluster.effects[0].error, cluster.transaction("x").status) == (each["error"], *each["now"])
            continue
        more = {"enables_two_phase_commit": each["enable2Pc"], "keeps_prepared": each["keepPreparedTxn"]}
        event = InitProducerId(each["id"], each["v"], each["timeout"], **more)
        cluster = settled(settings, step(settings, cluster, event))
        while cluster.effects[0].error == "CONCURRENT_TRANSACTIONS":  # as a client does
            cluster = settled(settings, step(settings, cluster, event))
        (answer,) = cluster.effects
        given_out = answer.producer_id if answer.producer_id < 0 else answer.producer_id - producer_id + 1
        assert [answer.error, given_out, answer.epoch] == each["a"][:3], each
        held = cluster.transaction("x")
        assert [held.status, held.producer_id + 1, held.epoch, held.timeout_ms] == each["now"], each


def test_without_the_setting_no_broker_takes_the_request_and_older_ones_have_no_place_for_it():
    for release, more in (("4.4", {}), ("4.0", {"has_unstable_apis": True})):
        settings = Settings(release, **more)
        with pytest.raises(IllegalEvent, match=r"up to version 5, and 6, of two-phase commit \(KIP-939\)"):
            step(settings, start(settings), InitProducerId("x", 6))
    with pytest.raises(IllegalEvent, match="from version 6 on"):
        step(Settings(), start(Settings()), InitProducerId("x", 5, enables_two_phase_commit=True))


def test_what_waits_for_a_second_phase_is_never_aborted_by_the_coordinator():
    settings = Settings("4.4", has_unstable_apis=True, allows_two_phase_commit=True)
    for is_two_phase in (False, True):
        cluster = start(settings)
        begun = InitProducerId("x", 6, enables_two_phase_commit=is_two_phase)
        for event in (begun, Produce("x", "t-0", 0, 0, 0), TimePassed(40 * 86_400_000)):
            cluster = settled(settings, step(settings, cluster, event))
        assert (cluster.transaction("x").status == "Ongoing") == is_two_phase
