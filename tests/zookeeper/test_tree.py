"""A small ZooKeeper: its refusals, its watches, its sessions; and what holds over any schedule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.zookeeper.tree import (
    NO_REQUEST_REFUSED,
    NO_SESSION_EXPIRES,
    Answered,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Ping,
    SessionClosed,
    SessionEnded,
    SessionExpired,
    SessionOpened,
    SetData,
    Settings,
    TimePassed,
    WatchFired,
    broken,
    check,
    simulate,
    start,
    step,
)
from tests.schedules import sensible_steps

SETTINGS = Settings()
TWO = (SessionOpened("a"), SessionOpened("b"))


def after(*events):
    """The state after some events."""
    return simulate(SETTINGS, events)[-1].state


def result(*events):
    """How the last request was answered."""
    return next(effect.result for effect in after(*events).effects if isinstance(effect, Answered))


def fired(*events):
    """Who was notified of what by the last event."""
    return [(each.session, each.path, each.what) for each in after(*events).effects if isinstance(each, WatchFired)]


def test_requests_are_refused_as_zookeeper_refuses_them():
    made = (*TWO, Create("a", "/x"), Create("a", "/x/e", "1", is_ephemeral=True))
    assert result(*made, Create("b", "/x/e")) == "NodeExists"
    assert result(*made, Create("b", "/y/z")) == "NoNode"
    assert result(*made, Create("b", "/x/e/below")) == "NoChildrenForEphemerals"
    assert result(*made, Delete("b", "/x")) == "NotEmpty"
    assert result(*made, Delete("b", "/y")) == "NoNode"
    assert result(*made, Delete("b", "/x/e", version=1)) == "BadVersion"
    assert result(*made, SetData("b", "/x/e", "2", version=0)) == "OK"
    assert result(*made, GetChildren("b", "/y")) == "NoNode"
    assert result(*made, SessionExpired("a"), GetData("a", "/x")) == "SessionExpired"
    assert NO_REQUEST_REFUSED in broken(SETTINGS, after(*made, Delete("b", "/y")))


def test_a_version_counts_how_often_data_was_set():
    made = (*TWO, Create("a", "/x", "1"), SetData("a", "/x", "1"), SetData("b", "/x", "2", version=1))
    assert after(*made).node("/x").version == 2
    assert result(*made, SetData("a", "/x", "3", version=1)) == "BadVersion"


def test_a_watch_tells_once_and_has_to_be_left_again():
    watched = (*TWO, Create("a", "/x"), GetChildren("b", "/x", leaves_watch=True))
    assert fired(*watched, Create("a", "/x/1")) == [("b", "/x", "NodeChildrenChanged")]
    assert fired(*watched, Create("a", "/x/1"), Create("a", "/x/2")) == []


def test_a_child_watch_sees_no_grandchildren_and_no_data():
    watched = (*TWO, Create("a", "/x"), Create("a", "/x/1"), GetChildren("b", "/x", leaves_watch=True))
    assert fired(*watched, Create("a", "/x/1/2")) == []
    assert fired(*watched, SetData("a", "/x/1", "7")) == []


def test_who_asks_whether_a_node_exists_is_notified_when_it_comes():
    assert fired(*TWO, Exists("b", "/x", leaves_watch=True), Create("a", "/x")) == [("b", "/x", "NodeCreated")]
    assert fired(*TWO, GetData("b", "/x", leaves_watch=True), Create("a", "/x")) == []


def test_who_watches_data_and_children_of_a_node_is_notified_once_that_it_is_gone():
    both = (GetData("b", "/x", leaves_watch=True), GetChildren("b", "/x", leaves_watch=True))
    assert fired(*TWO, Create("a", "/x"), *both, Delete("a", "/x")) == [("b", "/x", "NodeDeleted")]


def test_who_watches_the_children_of_a_node_alone_is_notified_that_it_is_gone():
    watched = (*TWO, Create("a", "/x"), GetChildren("b", "/x", leaves_watch=True), Delete("a", "/x"))
    assert fired(*watched) == [("b", "/x", "NodeDeleted")]


def test_sessions_end_in_the_order_of_their_times_and_of_one_tick_in_that_of_their_opening():
    opened = (SessionOpened("slow", 20_000), SessionOpened("fast", 5000), SessionOpened("second", 5000))
    ends = [each.session for each in after(*opened, TimePassed(60_000)).effects if isinstance(each, SessionEnded)]
    assert ends == ["fast", "second", "slow"]


def test_the_end_of_a_session_takes_its_nodes_and_tells_the_others_only():
    made = (*TWO, Create("a", "/x"), Create("a", "/x/a", "", is_ephemeral=True))
    watched = (*made, GetChildren("b", "/x", leaves_watch=True), GetChildren("a", "/x", leaves_watch=True))
    for end in (SessionExpired("a"), SessionClosed("a")):
        ended = after(*watched, end)
        assert ended.node("/x/a") is None
        assert fired(*watched, end) == [("b", "/x", "NodeChildrenChanged")]
        assert ended.watches == ()
    assert NO_SESSION_EXPIRES in broken(SETTINGS, after(*watched, SessionExpired("a")))


def test_a_session_ends_at_the_first_whole_tick_after_its_timeout():
    opened = after(SessionOpened("a", 5000), TimePassed(1000), Ping("a"))
    assert opened.session("a").expires_ms == 8000
    assert step(SETTINGS, opened, TimePassed(6999)).session("a") is not None
    ended = step(SETTINGS, opened, TimePassed(7000))
    assert ended.effects == (SessionEnded("a", (), has_expired=True),)


def test_a_client_gets_no_less_than_two_ticks_and_no_more_than_twenty():
    granted = [after(SessionOpened("a", ms)).session("a").timeout_ms for ms in (1, 4000, 10_000, 90_000)]
    assert granted == [4000, 4000, 10_000, 40_000]


@pytest.mark.parametrize("path", ["", "x", "/x/", "//x", "/x/../y", "/x/."])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(KafkaLearnError, match="path must be like"):
        Create("a", path)


def test_a_session_is_opened_once():
    with pytest.raises(IllegalEvent, match="open already"):
        after(*TWO, SessionOpened("a"))


def test_who_is_notified_of_the_end_of_a_session_may_end_in_the_same_moment():
    """A watch fires for a session that expires a tick later: both in one `TimePassed`."""
    events = (SessionOpened("a", 4000), SessionOpened("b", 8000), Create("a", "/x", None, is_ephemeral=True))
    before = after(*events, Exists("b", "/x", leaves_watch=True))
    tree = step(SETTINGS, before, TimePassed(60_000))
    assert [type(each) for each in tree.effects] == [WatchFired, SessionEnded, SessionEnded]
    check(SETTINGS, tree, before)


PATHS = st.sampled_from(("/x", "/y", "/x/1", "/x/2", "/x/1/z"))
NAMES = st.sampled_from(("a", "b", "c"))
REQUESTS = st.one_of(
    st.builds(Create, NAMES, PATHS, st.sampled_from(("1", None)), st.booleans()),
    st.builds(Delete, NAMES, PATHS, st.integers(-1, 1)),
    st.builds(SetData, NAMES, PATHS, st.sampled_from("12"), st.integers(-1, 2)),
    st.builds(GetData, NAMES, PATHS, st.booleans()),
    st.builds(GetChildren, NAMES, PATHS, st.booleans()),
    st.builds(Exists, NAMES, PATHS, st.booleans()),
    st.builds(SessionOpened, NAMES, st.sampled_from((4000, 9000))),
    st.builds(SessionExpired, NAMES),
    st.builds(SessionClosed, NAMES),
    st.builds(TimePassed, st.sampled_from((500, 3000, 9000, 60_000))),
)


def states(events):
    """Each state of a run with the one before; events that make no sense are left out."""
    return sensible_steps(step, SETTINGS, start(SETTINGS), events)


@given(st.lists(REQUESTS, max_size=40))
def test_invariants_hold_over_any_schedule(events):
    for before, _, tree in states(events):
        check(SETTINGS, tree, before)


@given(st.lists(REQUESTS, max_size=40))
def test_ephemeral_nodes_go_with_their_session_and_with_nothing_else(events):
    for before, event, tree in states(events):
        ended = {effect.session: effect.removed for effect in tree.effects if isinstance(effect, SessionEnded)}
        gone = {path for path, node in before.nodes if tree.node(path) is None and node.is_ephemeral}
        by_request = {event.path} if isinstance(event, Delete) else set()
        assert gone - by_request == {path for paths in ended.values() for path in paths}


@given(st.lists(REQUESTS, max_size=40))
def test_a_watch_fires_at_most_once_for_each_time_it_was_left(events):
    left, notified = 0, 0
    for _, event, tree in states(events):
        left += getattr(event, "leaves_watch", False)
        notified += sum(isinstance(effect, WatchFired) for effect in tree.effects)
        assert notified <= left
