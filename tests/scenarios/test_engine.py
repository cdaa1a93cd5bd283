"""What holds in every scenario: its tables agree, a group left alone comes to rest; and its world, part by part."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn import scenarios
from kafkalearn.scenarios.classic_client import ClassicProtocol
from kafkalearn.scenarios.consumers import (
    DOINGS,
    HEARTBEAT_THREAD,
    POLL_THREAD,
    SCENARIO,
    Clock,
    Consumer,
    GroupView,
    Network,
    Rebalance,
    Recorder,
    Threads,
)
from kafkalearn.scenarios.engine import Engine, new_world
from kafkalearn.scenarios.events import Settings
from kafkalearn.scenarios.playing import settings_of, simulate

NAMES = ("c1", "c2", "c3", "c4")
CALM_MS = 700_000  # longer than any session, poll interval and join phase together

seconds = st.integers(0, 300).map(lambda number: number * 1000 + 137)
lengths = st.sampled_from([300, 4000, 9000, 14_000, 47_000, 70_000])
others = st.one_of(
    *(
        st.builds(kind, seconds, st.sampled_from(NAMES[:3]), lengths)
        for kind in (scenarios.Pauses, scenarios.Processing, scenarios.Disconnected, scenarios.Restarts)
    ),
    st.builds(scenarios.CrashesAndReturns, seconds, st.sampled_from(NAMES[:3]), lengths),
    st.builds(scenarios.Leaves, seconds, st.just("c3")),
    st.builds(scenarios.Crashes, seconds, st.just("c3")),
    st.builds(scenarios.Joins, seconds.map(lambda ms: ms + 1), st.just("c4")),
)
topic_changes = st.lists(
    st.sampled_from(
        [
            scenarios.Grows(60_000, "orders", 9),
            scenarios.Created(90_000, "orders-eu", 3),
            scenarios.Deleted(200_000, "clicks"),
        ]
    ),
    max_size=3,
    unique=True,
)
subscriptions = st.sampled_from(
    [scenarios.Subscription(pattern="(orders|clicks).*"), scenarios.Subscription(("orders", "clicks"))]
)


@st.composite
def stories(draw, do_topics_change=False):
    """Three members and what happens to them, a fourth perhaps, and to their topics; and a long calm afterwards."""
    events, has_c4 = [scenarios.Joins(0, name) for name in NAMES[:3]], False
    for event in draw(st.lists(others, max_size=6)):
        if not (isinstance(event, scenarios.Joins) and has_c4):
            has_c4 = has_c4 or isinstance(event, scenarios.Joins)
            events.append(event)
    last_ms = max(event.at_ms for event in events)
    static = draw(st.sampled_from([(), ("c2",), ("c1", "c2", "c3")]))
    speed = draw(st.sampled_from([None, 600]))
    if not do_topics_change:
        return scenarios.Scenario(
            tuple(events), (("orders", 7),), read_per_second=speed, static=static, end_ms=last_ms + CALM_MS
        )
    wanted = draw(subscriptions)
    return scenarios.Scenario(
        (*events, *draw(topic_changes)),
        (("orders", 7), ("clicks", 2)),
        read_per_second=speed,
        static=static,
        subscriptions=[(name, wanted) for name in NAMES[: 3 + has_c4]],
        end_ms=max(last_ms, 200_000) + CALM_MS,
    )


options = st.fixed_dictionaries(
    {
        "assignor": st.sampled_from(["range", "sticky", "cooperative-sticky", None]),
        "session_timeout_ms": st.sampled_from([6000, 10_000, 45_000]),
        "heartbeat_interval_ms": st.sampled_from([1000, 3000]),
        "max_poll_interval_ms": st.sampled_from([30_000, 60_000]),
    }
)
some = settings(max_examples=25)


@some
@given(stories() | stories(do_topics_change=True), options)
def test_a_group_that_is_left_alone_comes_to_rest_and_reads_everything_once(story, chosen):
    end = simulate(story, **chosen).trace[-1].state
    running = [each for each in end.members if each.doing != "gone"]
    assert end.state == ("Stable" if running else "Empty")
    assert dict.fromkeys(end.partitions, 1) == end.readers()
    assert {each.doing for each in running} <= {"consuming", "idle"}


@some
@given(stories(), st.sampled_from(["2.4", "2.6.0", "2.8", "3.9"]))
def test_so_it_does_in_every_release(story, release):
    dynamic = replace(story, static=(), end_ms=story.end_ms + CALM_MS)
    end = simulate(dynamic, release=release).trace[-1].state
    running = [each for each in end.members if each.doing != "gone"]
    assert end.state in (("Stable",) if running else ("Empty", "Dead"))
    assert dict.fromkeys(end.partitions, 1) == end.readers()


@some
@given(stories(), options)
def test_the_states_and_the_activities_cover_the_whole_time_without_gaps(story, chosen):
    outcome = simulate(story, **chosen)
    tables = [outcome.timeline, *([row for row in outcome.activity if row["member"] == name] for name in story.members)]
    for rows in tables:
        assert (rows[0]["from_ms"], rows[-1]["to_ms"]) == (0, outcome.end_ms)
        assert all(one["to_ms"] == other["from_ms"] for one, other in pairwise(rows))
    assert {row["doing"] for row in outcome.activity} <= set(DOINGS)


@some
@given(stories(), options)
def test_the_time_a_partition_is_not_read_is_what_owners_at_work_leave_over(story, chosen):
    """Worked out again from the tables of ownership and activity, ms by ms of each partition's owners."""
    outcome = simulate(story, **chosen)
    consuming = {
        name: [(row["from_ms"], row["to_ms"]) for row in outcome.activity
               if row["member"] == name and row["doing"] == "consuming"]
        for name in story.members
    }  # fmt: skip
    unread_ms = 0
    for partition in range(7):
        stretches = [
            (max(row["from_ms"], start), min(row["to_ms"], end))
            for row in outcome.ownership
            if row["partition"] == partition
            for start, end in consuming[row["member"]]
        ]
        read_ms, reached_ms = 0, 0
        for start, end in sorted(each for each in stretches if each[0] < each[1]):
            read_ms += max(end - max(start, reached_ms), 0)
            reached_ms = max(reached_ms, end)
        unread_ms += outcome.end_ms - read_ms
    assert outcome.unread_partition_ms == unread_ms
    assert outcome.unread_partition_ms == sum(row["partition_ms"] for row in outcome.unread)
    assert outcome.records_not_read == round(unread_ms * story.records_per_second / 1000 / 7)
    assert abs(outcome.records_not_read - sum(row["records"] for row in outcome.unread)) <= len(outcome.unread)


@some
@given(stories(), options)
def test_a_member_runs_reads_idles_or_stands_still(story, chosen):
    outcome = simulate(story, **chosen)
    for row in outcome.standstill:
        assert row["ran_ms"] == row["read_ms"] + row["idle_ms"] + row["standstill_ms"]
    assert outcome.group_standstill_ms <= outcome.end_ms
    assert outcome.most_lag >= outcome.lag_at_end


class WatchfulRecorder(Recorder):
    """Looks at every moment: of those who have the same generation's assignment, no two have one partition."""

    def keep(self, view, consumers, topics):
        owners = {}
        for consumer in consumers:
            if consumer.is_running and consumer.client is not None:
                for partition in consumer.owned:
                    place = (consumer.client.last_generation, partition)
                    assert place not in owners, f"{place} belongs to {owners[place]} and {consumer.name}"
                    owners[place] = consumer.name
        super().keep(view, consumers, topics)


@some
@given(stories() | stories(do_topics_change=True), options)
def test_no_partition_has_two_owners_in_one_generation(story, chosen):
    clock = Clock()
    world = new_world(story, settings_of(story, **chosen), clock, WatchfulRecorder(clock))
    assert Engine(story, world, ClassicProtocol(world)).run().trace


@some
@given(stories(), options)
def test_a_generation_is_never_older_than_the_one_before(story, chosen):
    generations = [row["generation"] for row in simulate(story, **chosen).timeline]
    assert generations == sorted(generations)


@pytest.fixture
def clock():
    return Clock()


def running_consumer():
    subscription = scenarios.Subscription(("orders",))
    consumer = Consumer("c1", Settings().of("c1"), processing_ms=100, index=0, count=1, subscription=subscription)
    consumer.is_running, consumer.incarnation = True, 1
    return consumer


@pytest.fixture
def consumer():
    return running_consumer()


@pytest.fixture
def network(clock):
    return Network(clock, Threads(clock), latency_ms=5)


def played(clock):
    """Let all calls be made."""
    clock.run(10_000, lambda: None)


def test_a_request_and_its_answer_take_the_latency_each(clock, consumer, network):
    heard = []

    def receive(word):
        heard.append((clock.now_ms, word))
        network.answer(consumer, 1, lambda: heard.append((clock.now_ms, "answer")))

    network.send(consumer, receive, "request")
    played(clock)
    assert heard == [(5, "request"), (10, "answer")]


def test_what_a_disconnected_consumer_sends_arrives_when_it_is_back(clock, consumer, network):
    heard = []
    consumer.disconnected_until_ms = 100
    network.send(consumer, lambda: heard.append(clock.now_ms))
    played(clock)
    assert heard == [105]


def test_a_request_under_way_waits_as_well_when_the_connection_is_lost(clock, consumer, network):
    heard = []
    network.send(consumer, lambda: heard.append(clock.now_ms))
    consumer.disconnected_until_ms = 100
    played(clock)
    assert heard == [100]


def test_an_answer_to_a_process_that_has_ended_is_never_heard(clock, consumer, network):
    heard = []
    network.answer(consumer, 1, lambda: heard.append(clock.now_ms))
    consumer.incarnation = 2
    played(clock)
    assert heard == []


QUIET = GroupView("Stable", 1)


def test_what_happens_in_one_ms_shares_a_frame_and_nothing_is_noted_twice():
    recorder = Recorder(Clock())
    recorder.keep(QUIET, (), {"orders": 1})
    for what in ("c1 leaves", "", "c2 leaves", "c1 leaves"):
        recorder.note(what)
    assert recorder.has_notes
    recorder.keep(QUIET, (), {"orders": 1})
    assert not recorder.has_notes
    assert [frame.event for frame in recorder.trace] == [None, "c1 leaves; c2 leaves"]


def test_a_note_without_words_makes_a_frame_only_if_something_looks_different():
    recorder = Recorder(Clock())
    recorder.keep(QUIET, (), {"orders": 1})
    for view in (QUIET, GroupView("Stable", 2)):
        recorder.note("")
        recorder.keep(view, (), {"orders": 1})
    assert [frame.state.generation for frame in recorder.trace] == [1, 2]


def test_a_rebalance_has_each_of_its_causes_once_and_an_end():
    clock = Clock()
    recorder = Recorder(clock)
    recorder.rebalance_ends(0)  # none is going on
    for cause in ("one", "another", "one"):
        clock.at(10, SCENARIO, recorder.rebalance_starts, cause)
    clock.at(30, SCENARIO, recorder.rebalance_ends, 7)
    clock.at(50, SCENARIO, recorder.rebalance_starts, "later")
    clock.run(100, lambda: None)
    assert recorder.rebalances == [Rebalance(10, 30, ("one", "another"), 7), Rebalance(50, None, ("later",), None)]


def made_at(thread, **changes):
    """When a call for the moment 10 is made, in a consumer with some attributes changed."""
    clock, moments, consumer = Clock(), [], running_consumer()
    for name, value in changes.items():
        setattr(consumer, name, value)
    Threads(clock).after(10, consumer, thread, lambda: moments.append(clock.now_ms))
    consumer.incarnation += changes.get("restarts", 0)
    clock.run(10_000, lambda: None)
    return moments


@pytest.mark.parametrize("thread", [HEARTBEAT_THREAD, POLL_THREAD])
def test_a_call_is_made_in_time_after_a_pause_and_never_in_another_process(thread):
    assert made_at(thread) == [10]
    assert made_at(thread, paused_until_ms=500) == [500]
    assert made_at(thread, restarts=1) == []
    assert made_at(thread, is_running=False) == []


@pytest.mark.parametrize(("thread", "moment"), [(HEARTBEAT_THREAD, 10), (POLL_THREAD, 700)])
def test_work_on_one_poll_delays_the_poll_thread_only(thread, moment):
    assert made_at(thread, working_until_ms=700, poll_distance_ms=700) == [moment]


def test_the_poll_thread_is_woken_once(clock, consumer):
    polls = []
    consumer.owned = ("orders-0",)

    class Client:
        def poll(self):
            polls.append(clock.now_ms)

    consumer.client, consumer.polled_ms = Client(), -30  # so the next poll is at 70
    threads = Threads(clock)
    threads.wake_poll(consumer)
    threads.wake_poll(consumer)
    clock.run(1000, lambda: None)
    assert polls == [70]
