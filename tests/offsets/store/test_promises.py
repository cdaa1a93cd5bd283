import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.offsets.store import (
    Commit,
    DeleteTopic,
    Elect,
    Load,
    Produce,
    Resign,
    Settings,
    StoreGroup,
    Sweep,
    broken,
    simulate,
)
from kafkalearn.offsets.store.simulator import HANDOVER_SAFE, LOG_KNOWN, OFFSET_KEPT
from tests.offsets.store.events import ALICE, DAY_MS, any_event, releases

CONSUMING = (StoreGroup("g", 1, 1000, (ALICE,)), Commit("g", "orders", 0, 7, 1500, member_id="alice", generation=1))
GARBAGE = Produce(b"\x00", b"v", "__admin_client")


def breaks(*events, release="4.3"):
    """The promises that each step of a run breaks."""
    trace = simulate(Settings(release), events)
    pairs = zip((None, *trace), trace, strict=False)
    return [broken(Settings(release), frame.state, before and before.state) for before, frame in pairs]


@pytest.mark.parametrize(("release", "found"), [("0.9.0", True), ("2.0", True), ("2.1", False), ("4.3", False)])
def test_up_to_2_0_a_sweep_took_the_offset_of_a_consumer_that_was_there(release, found):
    assert breaks(*CONSUMING, Sweep(1500 + 30 * DAY_MS), release=release)[-1] == ((OFFSET_KEPT,) if found else ())


def test_a_deleted_topic_takes_the_offsets_of_those_who_consume_it():
    assert breaks(*CONSUMING, DeleteTopic("orders"))[-1] == (OFFSET_KEPT,)
    assert breaks(*CONSUMING, StoreGroup("g", 2, 2000), DeleteTopic("orders"))[-1] == ()


def test_a_record_that_cannot_be_read_does_its_harm_at_the_next_load():
    events = (*CONSUMING, GARBAGE, Resign(), Elect(), Load())
    assert breaks(*events)[-4:] == [(HANDOVER_SAFE,), (), (), (LOG_KNOWN,)]
    assert breaks(*events, release="3.9")[-4:] == [(HANDOVER_SAFE,), (), (), (LOG_KNOWN,)]


def test_a_record_of_somebody_else_that_can_be_read_is_not_known_until_the_next_load():
    entry = simulate(Settings(), [Commit("g", "orders", 0, 9, 2000)])[-1].state.log[0]
    found = breaks(*CONSUMING, Produce(entry.key, entry.value, "__admin_client"), Resign(), Elect(), Load())
    assert found[-4:] == [(LOG_KNOWN, HANDOVER_SAFE), (), (), ()]


@given(releases, st.lists(any_event, max_size=25))
def test_while_nobody_else_writes_the_log_is_known_and_can_be_handed_over(release, events):
    for frame in simulate(Settings(release), events):
        assert broken(Settings(release), frame.state, names=(LOG_KNOWN, HANDOVER_SAFE)) == ()
