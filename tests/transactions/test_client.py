"""A transactional producer's client: what it may do when, and which settings keep which promise."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.releases.lines import RELEASES
from kafkalearn.transactions import model, search
from kafkalearn.transactions.client import (
    ALL_OR_NOTHING,
    NO_ABORTED_READ,
    Arrived,
    Ended,
    GaveUp,
    Sent,
    Settings,
    Started,
    broken,
    check,
    simulate,
    start,
    step,
)
from kafkalearn.transactions.model import MarkerArrived
from kafkalearn.transactions.search import ONE_INSTANCE, TWO_INSTANCES, WITH_A_FAILOVER, WITH_A_TIMER, find
from kafkalearn.transactions.simulator import NO_ID_STUCK, NOBODY_HELD_BACK, settled
from kafkalearn.transactions.simulator import step as cluster_step
from tests.schedules import sensible_steps


def cluster(version, verification=True, release="4.3"):
    return model.Settings(release, transaction_version=version, verification=verification)


def kinds(found):
    return [type(frame.event).__name__ for frame in found.trace[1:]]


@pytest.mark.parametrize("version", [0, 1])
def test_without_verification_a_late_record_hangs_in_six_steps(version):
    found = find(Settings(cluster(version, verification=False)), promises=[NOBODY_HELD_BACK], depth=7)

    assert kinds(found) == ["Started", "Sent", "GaveUp", "Ended", "MarkerArrived", "Arrived"]


@pytest.mark.parametrize("version", [0, 1])
def test_with_verification_the_same_schedule_hangs_nobody(version):
    settings = Settings(cluster(version))
    found = find(Settings(cluster(version, verification=False)), promises=[NOBODY_HELD_BACK], depth=7)
    trace = simulate(settings, [frame.event for frame in found.trace[1:]])

    assert broken(settings, trace[-1].state) == ()
    assert find(settings, promises=[NOBODY_HELD_BACK], depth=9).trace is None


@pytest.mark.parametrize("version", [0, 1])
def test_verified_a_late_record_still_joins_the_next_transaction_of_a_client_that_keeps_its_epoch(version):
    found = find(
        Settings(cluster(version), bumps_epoch=False), promises=[NO_ABORTED_READ], at_most={Sent: 2, GaveUp: 1}
    )

    assert found.broken == (NO_ABORTED_READ,)
    assert [frame.event for frame in found.trace].count(Ended(commit=False)) == 1


@pytest.mark.parametrize("version", [0, 1])
def test_a_client_that_bumps_its_epoch_is_spared_that(version):
    found = find(Settings(cluster(version)), promises=[NO_ABORTED_READ], at_most={Sent: 2, GaveUp: 1}, depth=14)

    assert found.trace is None


@pytest.mark.parametrize("events", [ONE_INSTANCE, TWO_INSTANCES, WITH_A_TIMER], ids=["one", "two", "timer"])
def test_version_2_keeps_every_promise(events):
    assert find(Settings(cluster(2)), events, at_most={Sent: 2, Started: 3}, depth=9).trace is None


def test_version_2_keeps_them_even_where_brokers_do_not_verify():
    assert find(Settings(cluster(2, verification=False)), at_most={Sent: 2}, depth=11).trace is None


def test_a_marker_that_comes_a_second_time_is_refused_by_one_named_failure_alone():
    limits = {"at_most": {Sent: 2, Started: 1, model.CoordinatorLoaded: 1}, "depth": 9}
    broken_one = model.Settings(defects=("KAFKA-19999",))
    found = find(Settings(broken_one), WITH_A_FAILOVER, [NO_ID_STUCK], **limits)

    assert kinds(found)[-1] == "MarkerArrived"
    assert kinds(found).count("CoordinatorLoaded") == 1
    assert find(Settings(cluster(2)), WITH_A_FAILOVER, [NO_ID_STUCK], **limits).trace is None


def test_the_last_epoch_holds_an_id_for_ever_by_one_named_failure_alone():
    held = model.Transaction("x", 0, epoch=32766, status="Ongoing", partitions=frozenset({"t-0"}), started_ms=0)
    for defects, errors in (
        ((), ["CONCURRENT_TRANSACTIONS", "NONE"]),
        (("KAFKA-19367",), ["UNKNOWN_SERVER_ERROR"] * 2),
    ):
        settings = model.Settings(defects=defects)
        state = replace(model.start(settings).with_transaction(held), next_producer_id=1)
        seen = []
        for _ in range(2):
            state = settled(settings, cluster_step(settings, state, model.InitProducerId("x")))
            seen.append(state.effects[0].error)
        assert seen == errors


def test_a_commit_that_meets_the_coordinators_abort_is_refused_as_its_release_does():
    """Read for a release to come: a client can go on after PRODUCER_FENCED; recorded of 4.4.0: INVALID_TXN_STATE."""
    for release in RELEASES[RELEASES.index("4.0") :]:
        settings = model.Settings(release)
        state = model.start(settings)
        for event in (
            model.InitProducerId("x"),
            model.Produce("x", "t-0", 0, 0, 0),
            model.TimePassed(70_000),
            model.EndTxn("x", 0, 0),
        ):
            state = settled(settings, cluster_step(settings, state, event))
        assert state.effects[0].error == ("PRODUCER_FENCED" if settings.fences_a_late_commit else "INVALID_TXN_STATE")
        assert settings.fences_a_late_commit == (release not in ("4.0", "4.1", "4.2", "4.3", "4.4"))


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ((Sent(),), "was not started"),
        ((Started(), Arrived()), "0 requests are on their way"),
        ((Started(), GaveUp()), "waits for no request"),
        ((Started(), Ended()), "has no open transaction"),
        ((Started(), Sent(), Ended()), "is not acknowledged yet"),
        ((Started(), Sent(), GaveUp(), Ended()), "can only be aborted now"),
        ((Started(), Sent(), GaveUp(), Sent()), "can only be aborted now"),
        ((Started(), MarkerArrived("x", "t-0")), "no such marker is on its way"),
    ],
)
def test_what_a_client_cannot_do_is_refused_with_what_it_can(events, message):
    with pytest.raises(IllegalEvent, match=message):
        simulate(Settings(), events)


def test_an_instance_that_was_fenced_learns_it_from_its_commit():
    events = [Started(), Sent(), Arrived(), Started("b"), MarkerArrived("x", "t-0"), Started("b"), Ended()]
    trace = simulate(Settings(), events)

    assert [each.error for each in trace[-1].state.effects] == ["PRODUCER_FENCED"]
    assert trace[-1].state.instance("a").fatal_error == "PRODUCER_FENCED"


@given(st.lists(st.sampled_from(TWO_INSTANCES), max_size=40), st.integers(0, 2), st.booleans(), st.booleans())
@examples(max_examples=60)
def test_the_invariants_hold_and_a_committed_transaction_is_whole(events, version, verification, bumps):
    settings = Settings(cluster(version, verification), bumps)
    for before, _, after in sensible_steps(step, settings, start(settings), events):
        check(settings, after, before)
        assert broken(settings, after, names=[ALL_OR_NOTHING]) == ()


# What a transaction may keep for ever: each promise of progress kept where brokers verify, and broken once.
TWO_RECORDS = {**search.A_RECORD, Sent: 2}


def stuck(cluster, events=search.WITH_A_FAILOVER, promise=search.READ_ON):
    return search.find_stuck(Settings(cluster), events, promise, at_most=TWO_RECORDS)


@pytest.mark.parametrize("promise", search.PROGRESS)
@pytest.mark.parametrize("events", [search.WITH_A_TIMER, search.WITH_A_FAILOVER], ids=["timer", "failover"])
@pytest.mark.parametrize("version", [0, 1, 2])
def test_where_brokers_verify_all_ends(version, events, promise):
    assert stuck(model.Settings(transaction_version=version), events, promise).outcome == "nothing left"


@pytest.mark.parametrize("version", [0, 1])
def test_where_they_do_not_a_transaction_hangs(version):
    found = stuck(model.Settings(transaction_version=version, verification=False))
    partition = found.trace[-1].state.cluster.partitions[0]

    assert found.is_dead_end
    assert partition.last_stable_offset < partition.end_offset
    assert not any(each.is_open for each in found.trace[-1].state.cluster.transactions)


def test_a_marker_that_is_refused_for_good_keeps_its_id_by_one_named_failure():
    found = stuck(model.Settings(defects=("KAFKA-19999",)), promise=search.DECIDED_ENDS)

    assert [type(frame.event).__name__ for frame in found.trace[-2:]] == ["CoordinatorLoaded", "MarkerArrived"]
    assert found.trace[-1].state.cluster.transactions[0].is_refused


def test_what_is_not_there_is_refused():
    with pytest.raises(KafkaLearnError, match="no hope"):
        stuck(model.Settings(), promise="no hope")
