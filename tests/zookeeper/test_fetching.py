"""What holds in every schedule of the fetch pipeline that can be drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.zookeeper import fetching
from kafkalearn.zookeeper.fetching import (
    Append,
    Assigned,
    BrokerCrashed,
    BrokerStarted,
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
    cluster,
    fetcher_id,
    simulate,
    start,
    step,
)
from kafkalearn.zookeeper.fetching.cluster import Ended, Raised, Read
from kafkalearn.zookeeper.fetching.simulator import FINDER_FREE, NO_FETCHER_DEAD, NOBODY_STOPPED
from tests.every import every_case
from tests.recorded import recorded
from tests.schedules import sensible_run

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
    st.builds(BrokerStarted, brokers),
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
    return sensible_run(step, settings, start(settings), events)


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
    read = [effect for frame in trace for effect in frame.state.effects if isinstance(effect, cluster.Read)]
    for partition in range(PARTITIONS):
        offsets = [each.offset for each in read if each.topic_partition.partition == partition]
        assert offsets == list(range(len(offsets)))
    assert not any(isinstance(effect, cluster.OffsetReset) for frame in trace for effect in frame.state.effects)


@given(all_settings(), assignments, st.lists(st.one_of(rough), max_size=60))
def test_the_check_on_enqueue_finds_nothing_while_every_broker_runs(settings, owns, events):
    for frame in played(settings, [owns, *(each for each in events if not isinstance(each, BrokerCrashed))]):
        assert NO_FETCHER_DEAD not in broken(settings, frame.state)


@given(all_settings(), assignments, st.lists(st.one_of(rough), max_size=40))
def test_only_a_read_moves_the_consumed_offset_unless_it_is_reset(settings, owns, events):
    for before, after in pairwise(played(settings, [owns, *events])):
        was = {each.topic_partition: each.consumed_offset for each in before.state.registry}
        told = {
            effect.topic_partition
            for effect in after.state.effects
            if isinstance(effect, cluster.Read | cluster.OffsetReset)
        }
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


PIPELINE = recorded("fetch-pipeline")


def name_of(script):
    return script["name"]


def told_by(trace, step):
    """What the events of an operation told, without what threads did afterwards."""
    return [effect for frame in trace[step.begin + 1 : step.own_end + 1] for effect in frame.state.effects]


@every_case("script", PIPELINE["scripts"], ids=name_of)
def test_every_layer_holds_what_it_held_in_the_real_consumer(script):
    settings, events, steps = events_of(script)
    trace = simulate(settings, events)
    for before, frame in zip((None, *trace), trace, strict=False):
        check(settings, frame.state, before and before.state)
    for number, each in enumerate(steps):
        if "state" in each.recorded:
            assert seen(trace[each.end].state) == each.recorded["state"], (number, each.recorded["op"])


@every_case("script", PIPELINE["scripts"], ids=name_of)
def test_the_application_gets_the_same_records_and_exceptions(script):
    settings, events, steps = events_of(script)
    trace = simulate(settings, events)
    asked = [each for each in steps if each.recorded["op"]["op"] == "next"]
    assert [answer_of(told_by(trace, each)) for each in asked] == [each.recorded["answer"] for each in asked]


@every_case("script", PIPELINE["scripts"], ids=name_of)
def test_what_is_committed_is_what_was_consumed(script):
    settings, events, steps = events_of(script)
    trace = simulate(settings, events)
    stored = {}
    for number, one in enumerate(steps):
        for effect in told_by(trace, one):
            if isinstance(effect, cluster.Committed):
                stored |= {str(each.partition): str(offset) for each, offset in effect.offsets}
        op = one.recorded["op"]
        if op["op"] == "set_offset":
            stored[str(op["partition"])] = str(op["offset"])
        assert stored == one.recorded.get("offsets", {}), (number, op)


@every_case("script", PIPELINE["scripts"], ids=name_of)
def test_the_consumer_says_that_it_may_lose_data_where_the_real_one_logged_it(script):
    settings, events, _ = events_of(script)
    told = (effect for frame in simulate(settings, events) for effect in frame.state.effects)
    apart = [effect for effect in told if isinstance(effect, cluster.OffsetsApart)]
    assert len(apart) == len(script["errors_logged"])
    for each, line in zip(apart, script["errors_logged"], strict=True):
        said = f"consumed offset: {each.consumed_offset} doesn't match fetch offset: {each.fetch_offset} "
        assert line.startswith(said)


SMALL = Settings(stream_count=2, fetch_message_max_bytes=100)
OWNS_BOTH = StartConnections([Assigned("orders", 0, 0, 0), Assigned("orders", 1, 1, 0)])


def effects_of(trace, kind):
    return [effect for frame in trace for effect in frame.state.effects if isinstance(effect, kind)]


def test_a_record_that_is_too_large_ends_the_stream_before_0_10_1_and_comes_whole_since():
    events = [Append("orders", 0, 1, 900), OWNS_BOTH, FindLeaders(), Fetch(1), Next(0), Next(0)]
    old = simulate(Settings(stream_count=2, fetch_message_max_bytes=100, release="0.10.0"), events)
    assert [each.exception for each in effects_of(old, cluster.Raised)] == [
        "MessageSizeTooLargeException",
        "IllegalStateException: Iterator is in failed state",
    ]
    assert old[4].state.registry[0].fetched_offset == 0  # the fetcher asks for the same offset again and again
    new = simulate(Settings(stream_count=2, fetch_message_max_bytes=100, release="0.10.1"), events)
    assert [each.offset for each in effects_of(new, cluster.Read)] == [0]


def test_without_a_time_out_a_stream_waits_and_with_one_it_can_be_asked_again():
    assert effects_of(simulate(SMALL, [Next(0)]), cluster.Waited)
    timed = Settings(consumer_timeout_ms=10)
    owns = StartConnections([Assigned("orders", 0, 0, 0)])
    trace = simulate(timed, [owns, FindLeaders(), Next(), Append("orders", 0), Fetch(1), Next()])
    assert [each.exception for each in effects_of(trace, cluster.Raised)] == ["ConsumerTimeoutException"]
    assert effects_of(trace, cluster.Read)


def test_a_rebalance_throws_away_what_was_fetched_and_commits_what_was_consumed():
    begin = [Append("orders", 0, 5), OWNS_BOTH, FindLeaders(), Fetch(1), Fetch(1), Fetch(1), Next(0), StopConnections()]
    end = simulate(SMALL, begin)[-1].state
    assert end.effects[0] == cluster.QueuesCleared(2)
    assert dict(end.effects[1].offsets)["orders", 0] == 1
    assert (end.registry, end.fetchers, end.leader_finder) == ((), (), None)
    without = simulate(Settings(stream_count=2, fetch_message_max_bytes=100, auto_commit_enable=False), begin)
    assert not effects_of(without, cluster.Committed)


def test_what_is_read_after_a_shutdown_is_not_in_its_commit():
    wide = Settings(stream_count=2)
    trace = simulate(
        wide, [Append("orders", 0, 3), OWNS_BOTH, FindLeaders(), Fetch(1), Next(0), Shutdown(), *[Next(0)] * 4]
    )
    assert [each.offset for each in effects_of(trace, cluster.Read)] == [0, 1, 2]
    assert dict(effects_of(trace, cluster.Committed)[0].offsets)["orders", 0] == 1
    assert effects_of(trace, cluster.Ended) == [cluster.Ended(0), cluster.Ended(0)]


def test_a_queue_that_is_full_holds_up_another_stream_and_the_leader_finder():
    full = [Append("orders", 0, 9), OWNS_BOTH, FindLeaders(), *[Fetch(1)] * 3]
    lost = [BrokerCrashed(2), Fetch(2), LeaderMoved("orders", 1, 1), FindLeaders()]
    end = simulate(SMALL, [*full, *lost, Append("orders", 1)])[-1].state
    assert FINDER_FREE in broken(SMALL, end)
    with pytest.raises(IllegalEvent, match="waits for the lock of fetcher 0 of broker 1"):
        step(SMALL, end, FindLeaders())
    free = step(SMALL, end, Next(0))
    assert FINDER_FREE not in broken(SMALL, free)
    assert effects_of(simulate(SMALL, [*full, *lost]), cluster.FinderBlocked) == [cluster.FinderBlocked(1, 0)]


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
    assert effects_of(trace, cluster.OffsetReset)[-1].offset == offset


def test_after_a_reset_to_a_cut_end_the_queue_is_read_on_and_consumed_is_ahead_of_fetched():
    settings = Settings(auto_offset_reset="largest")
    owns = StartConnections([Assigned("orders", 0, 0, 0)])
    events = [Append("orders", 0, 9), owns, FindLeaders(), Fetch(1), LogTruncated("orders", 0, 3), Fetch(1), Next()]
    trace = simulate(settings, events)
    for before, frame in pairwise(trace):
        check(settings, frame.state, before.state)
    info = trace[-1].state.registry[0]
    assert (info.consumed_offset, info.fetched_offset) == (4, 3)
    ahead = replace(trace[-1].state, registry=(info._replace(consumed_offset=12),))
    with pytest.raises(AssertionError, match="nothing is consumed that was not fetched"):
        check(settings, ahead, trace[-2].state)


def test_a_partition_whose_broker_is_gone_waits_for_a_leader_and_is_asked_for_again():
    owns = StartConnections([Assigned("orders", 1, 0, 0)])
    trace = simulate(Settings(), [owns, FindLeaders(), BrokerCrashed(2), Fetch(2), FindLeaders(), Fetch(2)])
    assert [each.error for each in effects_of(trace, cluster.PartitionFailed)] == ["no connection", "no connection"]
    nobody = simulate(Settings(), [owns, BrokerCrashed(1), BrokerCrashed(2), FindLeaders()])
    assert effects_of(nobody, cluster.MetadataFailed)
    assert nobody[-1].state.no_leader == (("orders", 1),)


def test_a_fetcher_without_partitions_is_stopped_in_the_next_round():
    owns = StartConnections([Assigned("orders", 0, 0, 0), Assigned("orders", 1, 0, 0)])
    trace = simulate(Settings(), [owns, FindLeaders(), LeaderMoved("orders", 1, 1), Fetch(2), Fetch(2), FindLeaders()])
    assert effects_of(trace, cluster.NothingFetched)
    assert [each.key for each in trace[-1].state.fetchers] == [(1, 0)]


def test_two_threads_can_come_to_one_partition_and_then_the_later_one_dies():
    """A round that fails gives back what it had added; the leader moves away and comes back between two fetches."""
    owns = StartConnections([Assigned("orders", 0, 0, 0), Assigned("orders", 1, 1, -1)])
    twice = [Append("orders", 0, 3), owns, BrokerCrashed(2), FindLeaders(), BrokerStarted(2)]
    away = [LeaderMoved("orders", 0, 2), FindLeaders(), Fetch(2), LeaderMoved("orders", 0, 1), Fetch(1)]
    trace = simulate(Settings(stream_count=2), [*twice, *away])
    (died,) = effects_of(trace, cluster.FetcherDied)
    assert (died.broker_id, died.fetched_offset, died.fetch_offset) == (1, 3, 0)
    assert NO_FETCHER_DEAD in broken(Settings(stream_count=2), trace[-1].state)
    with pytest.raises(IllegalEvent, match="has ended"):
        step(Settings(stream_count=2), trace[-1].state, Fetch(1))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"release": "2.0"}, "2.0 removed the old consumer"),
        ({"auto_offset_reset": "latest"}, "unknown auto_offset_reset"),
        ({"broker_ids": ()}, "each broker must be there once"),
        ({"topics": [("a", 1), ("a", 2)]}, "each topic must be there once"),
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


def test_nothing_but_the_streams_goes_on_after_a_shutdown():
    end = simulate(SMALL, [OWNS_BOTH, Shutdown()])[-1].state
    for event in (CommitOffsets(), StopConnections(), OWNS_BOTH, Shutdown()):
        with pytest.raises(IllegalEvent, match="shut down"):
            step(SMALL, end, event)
    assert NOBODY_STOPPED not in broken(SMALL, end)


# A recorded script of an old consumer, played by the simulator: operation by operation, each until all stand still.
DEFAULTS = {"consumer.timeout.ms": "350", "auto.commit.enable": "false"}
ANSWERED = (Read, Raised, Ended)
WAITS_IN = {True: "addPartitions", False: "partitionCount"}


def settings_of(script: dict) -> fetching.Settings:
    """The settings of a script: its topic, two brokers, and what its consumer was configured with."""
    config = {**DEFAULTS, **script["config"]}
    joined = next(each["op"] for each in script["steps"] if each["op"]["op"] == "join")
    given = {name.replace(".", "_"): _value(value) for name, value in config.items()}
    created = script["steps"][0]["op"]["assignment"]
    return fetching.Settings(((script["topic"], len(created)),), stream_count=joined["streams"], **given)


def _value(text: str) -> int | bool | str:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdigit() else text


def settle(settings: fetching.Settings, state, events: list | None = None):
    """Let the leader finder and the fetchers go on until nothing changes; the events are added to a list."""

    def after(state, event):
        if events is not None:
            events.append(event)
        return fetching.step(settings, state, event)

    while True:
        before = state
        finder = state.leader_finder
        if finder and state.no_leader and finder.waits_for is None:
            state = after(state, fetching.FindLeaders())
        for fetcher in state.fetchers:
            if not state.fetcher(fetcher.key).in_hand:
                state = after(state, fetching.Fetch(*fetcher.key))
        if state == before:
            return state


class Step(NamedTuple):
    """A recorded step, and where its events are in the run: its own from `begin`, all to `end`."""

    recorded: dict
    begin: int
    own_end: int
    end: int


def events_of(script: dict):
    """The settings of a script, all its events, and its steps."""
    settings = settings_of(script)
    topic, state, events, steps = script["topic"], fetching.start(settings), [], []
    leaders, stored = None, {}
    for each in script["steps"]:
        begin = len(events)
        for event in _events(topic, each, stored):
            events.append(event)
            state = fetching.step(settings, state, event)
            if isinstance(event, fetching.Append):
                state = settle(settings, state, events)  # the producer waited for each record, and the fetcher did not
        own_end = len(events)
        for partition, leader in enumerate(each.get("leaders", ())):
            if leaders is None or leaders[partition] != leader:
                events.append(fetching.LeaderMoved(topic, partition, leader))
                state = fetching.step(settings, state, events[-1])
        leaders = each.get("leaders", leaders)
        stored = {int(partition): int(offset) for partition, offset in each.get("offsets", {}).items()}
        state = settle(settings, state, events)
        steps.append(Step(each, begin, own_end, len(events)))
    return settings, events, steps


def _events(topic: str, each: dict, stored: dict) -> list:
    op = each["op"]
    match op["op"]:
        case "produce":
            return [fetching.Append(topic, op["partition"], 1, op.get("size", 100))] * op["each"]
        case "delete_records":
            return [fetching.RecordsDeleted(topic, op["partition"], op["before"])]
        case "join":
            streams = {int(name): info["stream"] for name, info in each["state"]["registry"].items()}
            return [
                fetching.StartConnections([fetching.Assigned(topic, p, streams[p], stored.get(p, -1)) for p in streams])
            ]
        case "next":
            return [fetching.Next(op["stream"])]
        case "commit":
            return [fetching.CommitOffsets()]
        case "shutdown":
            return [fetching.Shutdown()]
        case "stop_broker":
            return [fetching.BrokerCrashed(op["broker"])]
        case "start_broker":
            return [fetching.BrokerStarted(op["broker"])]
    return []


def seen(state) -> dict:
    """A state in the words of the recordings."""
    finder = state.leader_finder
    return {
        "registry": {
            str(info.topic_partition.partition): {
                "consumed": info.consumed_offset,
                "fetched": info.fetched_offset,
                "stream": info.stream,
            }
            for info in sorted(state.registry)
        },
        "queues": [
            [
                {
                    "partition": chunk.topic_partition.partition,
                    "fetch_offset": chunk.fetch_offset,
                    "offsets": list(chunk.offsets),
                }
                for chunk in stream.queue
            ]
            for stream in state.streams
        ],
        "fetchers": [
            {
                "broker": fetcher.key.broker_id,
                "fetcher": fetcher.key.fetcher_id,
                "is_blocked": bool(fetcher.in_hand),
                "asks": [[each.partition, offset] for each, offset in fetcher.offsets],
            }
            for fetcher in sorted(state.fetchers)
        ],
        "no_leader": [each.partition for each in state.no_leader],
        "finder_waits_in": WAITS_IN[bool(finder.to_add)] if finder and finder.waits_for else None,
    }


def answer_of(said: tuple) -> str:
    """What a step told the application, in the recorder's words."""
    effect = next(each for each in said if isinstance(each, ANSWERED))
    match effect:
        case Read(_, topic_partition, offset):
            return f"R {topic_partition.topic} {topic_partition.partition} {offset}"
        case Raised(_, exception):
            return f"X kafka.consumer.{exception} null"
    return "DONE"
