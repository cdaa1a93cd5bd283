"""What holds in every schedule of the fetch pipeline that can be drawn."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.trace import run
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
    check,
    simulate,
    start,
    step,
)
from kafkalearn.zookeeper.fetching.cluster import OffsetReset, Read
from kafkalearn.zookeeper.fetching.simulator import FINDER_FREE, NO_FETCHER_DEAD, NOBODY_STOPPED
from tests.zookeeper.fetching.replay import settle

PARTITIONS, STREAMS = 3, 2


@st.composite
def all_settings(draw):
    return Settings(
        (("orders", PARTITIONS),),
        stream_count=STREAMS,
        num_consumer_fetchers=draw(st.integers(1, 3)),
        queued_max_message_chunks=draw(st.integers(1, 3)),
        fetch_message_max_bytes=draw(st.sampled_from([50, 100, 250])),
        auto_offset_reset=draw(st.sampled_from(["smallest", "largest"])),
        consumer_timeout_ms=draw(st.sampled_from([-1, 10])),
        release=draw(st.sampled_from(["0.9.0", "1.1"])),
    )


partitions, brokers = st.integers(0, PARTITIONS - 1), st.integers(1, 2)
assignments = st.tuples(*(st.integers(-1, 3) for _ in range(PARTITIONS))).map(
    lambda offsets: StartConnections([Assigned("orders", p, p % STREAMS, each) for p, each in enumerate(offsets)])
)
quiet = [
    st.builds(Append, st.just("orders"), partitions, st.integers(1, 6)),
    st.builds(Next, st.integers(0, STREAMS - 1)),
    st.builds(Next, st.integers(0, STREAMS - 1)),
    st.builds(Fetch, brokers, st.integers(0, 2)),
    st.builds(Fetch, brokers, st.integers(0, 2)),
    st.just(FindLeaders()),
    st.builds(LeaderMoved, st.just("orders"), partitions, brokers),
    st.builds(BrokerCrashed, brokers),
    st.builds(BrokerRestarted, brokers),
    st.just(CommitOffsets()),
]
rough = [
    *quiet,
    st.builds(RecordsDeleted, st.just("orders"), partitions, st.integers(0, 9)),
    st.builds(LogTruncated, st.just("orders"), partitions, st.integers(0, 9)),
    st.just(StopConnections()),
    st.just(Shutdown()),
    assignments,
]


def played(settings, events):
    """The run of those events that make sense when they come."""
    possible, state = [], start(settings)
    for event in events:
        try:
            state = step(settings, state, event)
        except IllegalEvent:
            continue
        possible.append(event)
    return run(step, settings, start(settings), possible)


@given(all_settings(), assignments, st.lists(st.one_of(rough), max_size=60))
def test_invariants_hold_whatever_happens(settings, owns, events):
    before = None
    for frame in played(settings, [owns, *events]):
        check(settings, frame.state, before)
        before = frame.state


@given(all_settings(), st.lists(st.one_of(quiet), max_size=60))
def test_records_come_once_and_in_order_while_nothing_is_out_of_range(settings, events):
    owns = StartConnections([Assigned("orders", p, p % STREAMS, 0) for p in range(PARTITIONS)])
    trace = played(settings, [owns, *events])
    read = [effect for frame in trace for effect in frame.state.effects if isinstance(effect, Read)]
    for partition in range(PARTITIONS):
        offsets = [each.offset for each in read if each.topic_partition.partition == partition]
        assert offsets == list(range(len(offsets)))
    assert not any(isinstance(effect, OffsetReset) for frame in trace for effect in frame.state.effects)


@given(all_settings(), assignments, st.lists(st.one_of(rough), max_size=60))
def test_the_check_on_enqueue_finds_nothing_while_every_broker_runs(settings, owns, events):
    for frame in played(settings, [owns, *(each for each in events if not isinstance(each, BrokerCrashed))]):
        assert NO_FETCHER_DEAD not in broken(settings, frame.state)


@given(all_settings(), assignments, st.lists(st.one_of(rough), max_size=40))
def test_only_a_read_moves_the_consumed_offset_unless_it_is_reset(settings, owns, events):
    for before, after in pairwise(played(settings, [owns, *events])):
        was = {each.topic_partition: each.consumed_offset for each in before.state.registry}
        told = {effect.topic_partition for effect in after.state.effects if isinstance(effect, Read | OffsetReset)}
        for info in after.state.registry:
            if info.topic_partition in was and info.topic_partition not in told:
                assert info.consumed_offset == was[info.topic_partition] or isinstance(after.event, Next)


@given(st.lists(st.one_of(quiet), max_size=40), st.integers(1, 3))
def test_who_reads_every_stream_stops_nobody(events, fetchers):
    """Once all streams are read to their end, no fetcher and no leader finder waits."""
    settings = Settings((("orders", PARTITIONS),), stream_count=STREAMS, num_consumer_fetchers=fetchers)
    owns = StartConnections([Assigned("orders", p, p % STREAMS, 0) for p in range(PARTITIONS)])
    state = played(settings, [owns, *events])[-1].state
    for _ in range(300):
        state = settle(settings, state)
        full = [number for number, each in enumerate(state.streams) if each.queue or each.chunk]
        if not full:
            break
        for number in full:
            state = step(settings, state, Next(number))
    assert not state.blocked
    assert not {FINDER_FREE, NOBODY_STOPPED} & set(broken(settings, state))


def test_a_run_can_go_on_after_a_rebalance_with_other_partitions():
    owns = StartConnections([Assigned("orders", 0, 0, 0)])
    begin = [Append("orders", 0, 4), owns, FindLeaders(), Fetch(1), Next(), StopConnections()]
    other = StartConnections([Assigned("orders", 1, 0, 0)])
    end = simulate(Settings(), [*begin, other])[-1].state
    assert [str(each.topic_partition) for each in end.registry] == ["orders-1"]
    assert end.streams[0].queue == ()
