"""What belongs to a share session, and to the connection over which it was opened; what no leader could do."""

import pytest

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.sharing import Settings, simulate
from kafkalearn.sharing.events import (
    Acknowledgement,
    ConnectionClosed,
    DeleteRecords,
    FetchAnswer,
    LeaderMoved,
    Produce,
    RecordsCompacted,
    ShareFetch,
    ShareGroupHeartbeat,
    TimePassed,
)

SETTINGS = Settings(group_configs={"g": {"share.auto.offset.reset": "earliest"}})
JOINED = (ShareGroupHeartbeat("g", "m", 0, ("t",)), Produce("t-0", 2))


def opened(*connections):
    """A member opens its session over these, one after the other."""
    return [ShareFetch("g", "m", 0, ("t-0",), connection=each, max_wait_ms=0) for each in connections]


def holders(*events):
    """Who has the two records; nobody, where the broker has forgotten all of the group."""
    share = simulate(SETTINGS, [*JOINED, *events])[-1].state.share_partition("g", "t-0")
    return [] if share is None else [share.held(offset).member for offset in (0, 1)]


def test_a_session_ends_with_the_connection_over_which_it_was_opened_last():
    assert holders(*opened("one")) == ["m", "m"]
    assert holders(*opened("one"), ConnectionClosed("one")) == []
    assert holders(*opened("one", "two"), ConnectionClosed("one")) == ["m", "m"]
    assert holders(*opened("one", "two"), ConnectionClosed("two")) == []
    assert holders(*opened("one", "two", "one"), ConnectionClosed("two")) == ["m", "m"]


def test_what_is_said_with_a_fetch_is_answered_to_who_said_it():
    beyond_the_end = (Acknowledgement("t-0", 7, 7, (1,)),)
    waits, says = ShareFetch("g", "other", 0, ("t-0",)), ShareFetch("g", "m", 1, acknowledgements=beyond_the_end)
    last = simulate(SETTINGS, [*JOINED, *opened("one"), waits, says, TimePassed(1000)])[-1].state
    answers = [each for each in last.effects if isinstance(each, FetchAnswer)]
    said = {each.member: [part.acknowledge_error for part in each.partitions] for each in answers}
    assert said == {"other": ["NONE"], "m": ["INVALID_REQUEST"]}


@pytest.mark.parametrize(
    "event",
    [Produce("x-0", 1), DeleteRecords("x-0", 1), LeaderMoved("x-0", 2), RecordsCompacted("x-0", (0,))],
    ids=lambda event: type(event).__name__,
)
def test_what_happens_to_a_partition_that_is_not_there_is_refused(event):
    with pytest.raises(IllegalEvent, match="there is no partition x-0; there are t-0"):
        simulate(SETTINGS, [event])
