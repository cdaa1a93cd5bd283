"""What holds in every scenario: the tables agree with each other, and a group that is left alone comes to rest."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.scenarios import (
    Crashes,
    CrashesAndReturns,
    Created,
    Deleted,
    Disconnected,
    Grows,
    Joins,
    Leaves,
    Pauses,
    Processing,
    Restarts,
    Scenario,
    Subscription,
)
from kafkalearn.scenarios.classic_client import ClassicProtocol
from kafkalearn.scenarios.consumers import DOINGS, Clock, Recorder
from kafkalearn.scenarios.engine import Engine, new_world
from kafkalearn.scenarios.playing import settings_of, simulate

NAMES = ("c1", "c2", "c3", "c4")
CALM_MS = 700_000  # longer than any session, poll interval and join phase together

seconds = st.integers(0, 300).map(lambda number: number * 1000 + 137)
lengths = st.sampled_from([300, 4000, 9000, 14_000, 47_000, 70_000])
others = st.one_of(
    *(
        st.builds(kind, seconds, st.sampled_from(NAMES[:3]), lengths)
        for kind in (Pauses, Processing, Disconnected, Restarts)
    ),
    st.builds(CrashesAndReturns, seconds, st.sampled_from(NAMES[:3]), lengths),
    st.builds(Leaves, seconds, st.just("c3")),
    st.builds(Crashes, seconds, st.just("c3")),
    st.builds(Joins, seconds.map(lambda ms: ms + 1), st.just("c4")),
)
topic_changes = st.lists(
    st.sampled_from([Grows(60_000, "orders", 9), Created(90_000, "orders-eu", 3), Deleted(200_000, "clicks")]),
    max_size=3,
    unique=True,
)
subscriptions = st.sampled_from([Subscription(pattern="(orders|clicks).*"), Subscription(("orders", "clicks"))])


@st.composite
def stories(draw, do_topics_change=False):
    """Three members and what happens to them, a fourth perhaps, and to their topics; and a long calm afterwards."""
    events, has_c4 = [Joins(0, name) for name in NAMES[:3]], False
    for event in draw(st.lists(others, max_size=6)):
        if not (isinstance(event, Joins) and has_c4):
            has_c4 = has_c4 or isinstance(event, Joins)
            events.append(event)
    last_ms = max(event.at_ms for event in events)
    static = draw(st.sampled_from([(), ("c2",), ("c1", "c2", "c3")]))
    speed = draw(st.sampled_from([None, 600]))
    if not do_topics_change:
        return Scenario(tuple(events), (("orders", 7),), read_per_second=speed, static=static, end_ms=last_ms + CALM_MS)
    wanted = draw(subscriptions)
    return Scenario(
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
@given(stories(), st.sampled_from(["0.9.0", "0.10.0", "0.10.2", "2.1", "2.6.0", "2.8", "3.9"]))
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
