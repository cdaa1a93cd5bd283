"""The rules of the fetch pipeline that no recording shows, one by one."""

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.zookeeper.fetching import (
    Append,
    Assigned,
    BrokerCrashed,
    BrokerRestarted,
    CommitOffsets,
    Fetch,
    FindLeaders,
    LeaderMoved,
    LogTruncated,
    Next,
    RecordsDeleted,
    Settings,
    Shutdown,
    StartConnections,
    StopConnections,
    broken,
    fetcher_id,
    simulate,
    start,
    step,
)
from kafkalearn.zookeeper.fetching.cluster import (
    Committed,
    Ended,
    FetcherDied,
    FinderBlocked,
    MetadataFailed,
    NothingFetched,
    OffsetReset,
    PartitionFailed,
    QueuesCleared,
    Raised,
    Read,
    Waited,
)
from kafkalearn.zookeeper.fetching.simulator import FINDER_FREE, NO_FETCHER_DEAD, NOBODY_STOPPED

SMALL = Settings(stream_count=2, fetch_message_max_bytes=100)
OWNS_BOTH = StartConnections([Assigned("orders", 0, 0, 0), Assigned("orders", 1, 1, 0)])


def effects_of(trace, kind):
    return [effect for frame in trace for effect in frame.state.effects if isinstance(effect, kind)]


def test_a_record_that_is_too_large_ends_the_stream_before_0_10_1_and_comes_whole_since():
    events = [Append("orders", 0, 1, 900), OWNS_BOTH, FindLeaders(), Fetch(1), Next(0), Next(0)]
    old = simulate(Settings(stream_count=2, fetch_message_max_bytes=100, release="0.10.0"), events)
    assert [each.exception for each in effects_of(old, Raised)] == [
        "MessageSizeTooLargeException",
        "IllegalStateException: Iterator is in failed state",
    ]
    assert old[4].state.registry[0].fetched_offset == 0  # the fetcher asks for the same offset again and again
    new = simulate(Settings(stream_count=2, fetch_message_max_bytes=100, release="0.10.1"), events)
    assert [each.offset for each in effects_of(new, Read)] == [0]


def test_without_a_time_out_a_stream_waits_and_with_one_it_can_be_asked_again():
    assert effects_of(simulate(SMALL, [Next(0)]), Waited)
    timed = Settings(consumer_timeout_ms=10)
    owns = StartConnections([Assigned("orders", 0, 0, 0)])
    trace = simulate(timed, [owns, FindLeaders(), Next(), Append("orders", 0), Fetch(1), Next()])
    assert [each.exception for each in effects_of(trace, Raised)] == ["ConsumerTimeoutException"]
    assert effects_of(trace, Read)


def test_a_rebalance_throws_away_what_was_fetched_and_commits_what_was_consumed():
    begin = [Append("orders", 0, 5), OWNS_BOTH, FindLeaders(), Fetch(1), Fetch(1), Fetch(1), Next(0), StopConnections()]
    end = simulate(SMALL, begin)[-1].state
    assert end.effects[0] == QueuesCleared(2)
    assert dict(end.effects[1].offsets)["orders", 0] == 1
    assert (end.registry, end.fetchers, end.leader_finder) == ((), (), None)
    without = simulate(Settings(stream_count=2, fetch_message_max_bytes=100, auto_commit_enable=False), begin)
    assert not effects_of(without, Committed)


def test_what_is_read_after_a_shutdown_is_not_in_its_commit():
    wide = Settings(stream_count=2)
    trace = simulate(
        wide, [Append("orders", 0, 3), OWNS_BOTH, FindLeaders(), Fetch(1), Next(0), Shutdown(), *[Next(0)] * 4]
    )
    assert [each.offset for each in effects_of(trace, Read)] == [0, 1, 2]
    assert dict(effects_of(trace, Committed)[0].offsets)["orders", 0] == 1
    assert effects_of(trace, Ended) == [Ended(0), Ended(0)]


def test_a_queue_that_is_full_holds_up_another_stream_and_the_leader_finder():
    full = [Append("orders", 0, 9), OWNS_BOTH, FindLeaders(), *[Fetch(1)] * 3]
    lost = [BrokerCrashed(2), Fetch(2), LeaderMoved("orders", 1, 1), FindLeaders()]
    end = simulate(SMALL, [*full, *lost, Append("orders", 1)])[-1].state
    assert FINDER_FREE in broken(SMALL, end)
    with pytest.raises(IllegalEvent, match="waits for the lock of fetcher 0 of broker 1"):
        step(SMALL, end, FindLeaders())
    free = step(SMALL, end, Next(0))
    assert FINDER_FREE not in broken(SMALL, free)
    assert effects_of(simulate(SMALL, [*full, *lost]), FinderBlocked) == [FinderBlocked(1, 0)]


def test_two_fetchers_help_only_where_their_ids_differ():
    assert [fetcher_id("orders", partition, 2) for partition in (0, 1)] == [1, 0]
    events = [Append("orders", 0, 9), Append("orders", 1, 9), OWNS_BOTH, FindLeaders()]
    one, two = (Settings(broker_ids=(1,), stream_count=2, num_consumer_fetchers=count) for count in (1, 2))
    assert len(simulate(one, events)[-1].state.fetchers) == 1
    assert len(simulate(two, events)[-1].state.fetchers) == 2


@pytest.mark.parametrize(("reset", "offset"), [("smallest", 1), ("largest", 3)])
def test_an_offset_beyond_the_end_is_reset_too(reset, offset):
    settings = Settings(auto_offset_reset=reset)
    owns = StartConnections([Assigned("orders", 0, 0, 0)])
    cut = [Append("orders", 0, 6), owns, FindLeaders(), Fetch(1), RecordsDeleted("orders", 0, 1)]
    trace = simulate(settings, [*cut, LogTruncated("orders", 0, 3), Fetch(1)])
    assert effects_of(trace, OffsetReset)[-1].offset == offset


def test_a_partition_whose_broker_is_gone_waits_for_a_leader_and_is_asked_for_again():
    owns = StartConnections([Assigned("orders", 1, 0, 0)])
    trace = simulate(Settings(), [owns, FindLeaders(), BrokerCrashed(2), Fetch(2), FindLeaders(), Fetch(2)])
    assert [each.error for each in effects_of(trace, PartitionFailed)] == ["no connection", "no connection"]
    nobody = simulate(Settings(), [owns, BrokerCrashed(1), BrokerCrashed(2), FindLeaders()])
    assert effects_of(nobody, MetadataFailed)
    assert nobody[-1].state.no_leader == (("orders", 1),)


def test_a_fetcher_without_partitions_is_stopped_in_the_next_round():
    owns = StartConnections([Assigned("orders", 0, 0, 0), Assigned("orders", 1, 0, 0)])
    trace = simulate(Settings(), [owns, FindLeaders(), LeaderMoved("orders", 1, 1), Fetch(2), Fetch(2), FindLeaders()])
    assert effects_of(trace, NothingFetched)
    assert [each.key for each in trace[-1].state.fetchers] == [(1, 0)]


def test_two_threads_can_come_to_one_partition_and_then_the_later_one_dies():
    """A round that fails gives back what it had added; the leader moves away and comes back between two fetches."""
    owns = StartConnections([Assigned("orders", 0, 0, 0), Assigned("orders", 1, 1, -1)])
    twice = [Append("orders", 0, 3), owns, BrokerCrashed(2), FindLeaders(), BrokerRestarted(2)]
    away = [LeaderMoved("orders", 0, 2), FindLeaders(), Fetch(2), LeaderMoved("orders", 0, 1), Fetch(1)]
    trace = simulate(Settings(stream_count=2), [*twice, *away])
    (died,) = effects_of(trace, FetcherDied)
    assert (died.broker_id, died.fetched_offset, died.fetch_offset) == (1, 3, 0)
    assert NO_FETCHER_DEAD in broken(Settings(stream_count=2), trace[-1].state)
    with pytest.raises(IllegalEvent, match="has ended"):
        step(Settings(stream_count=2), trace[-1].state, Fetch(1))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"release": "2.0"}, "2.0 removed this consumer"),
        ({"auto_offset_reset": "latest"}, "unknown auto_offset_reset"),
        ({"broker_ids": ()}, "each broker must be there once"),
        ({"topics": [("a", 1), ("a", 2)]}, "each topic must be there once"),
        ({"consumer_timeout_ms": -2}, "at least -1"),
        ({"stream_count": 0}, "at least 1"),
        ({"stream_count": 1_000_000}, "at most 10,000"),
    ],
)
def test_settings_that_make_no_consumer_are_refused(given, says):
    with pytest.raises(KafkaLearnError, match=says):
        Settings(**given)


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (FindLeaders(), "StartConnections first"),
        (Fetch(1), "there is no fetcher 0 of broker 1"),
        (Next(5), "there is no stream 5"),
        (StartConnections([Assigned("mail", 0)]), "there is no partition mail-0"),
        (StartConnections([Assigned("orders", 0, 7)]), "there is no stream 7"),
        (StartConnections([Assigned("orders", 0), Assigned("orders", 0)]), "belongs to one stream"),
        (LeaderMoved("orders", 0, 9), "there is no broker 9"),
        (RecordsDeleted("orders", 0, 5), "ends at 0"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(event, says):
    with pytest.raises(IllegalEvent, match=says):
        step(SMALL, start(SMALL), event)


def test_no_more_records_come_at_once_than_a_state_can_hold():
    with pytest.raises(KafkaLearnError, match="count must be at most 100,000, got 2147483647"):
        Append("orders", 0, count=2_147_483_647)


def test_nothing_but_the_streams_goes_on_after_a_shutdown():
    end = simulate(SMALL, [OWNS_BOTH, Shutdown()])[-1].state
    for event in (CommitOffsets(), StopConnections(), OWNS_BOTH, Shutdown()):
        with pytest.raises(IllegalEvent, match="shut down"):
            step(SMALL, end, event)
    assert NOBODY_STOPPED not in broken(SMALL, end)
