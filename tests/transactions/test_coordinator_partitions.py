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
    with pytest.raises(KafkaLearnError, match="coordinator_partition_count"):
        Settings(coordinator_partition_count=0)


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


def test_a_partition_that_is_not_there_is_not_loaded():
    settings = Settings(coordinator_partition_count=3)
    with pytest.raises(IllegalEvent, match="0 to 2"):
        step(settings, start(settings), CoordinatorLoaded(3))


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
