"""What holds over any schedule of a group of old consumers, and what every schedule comes to in the end."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.assignors import OldConsumer, assign
from kafkalearn.base.errors import IllegalEvent
from kafkalearn.zookeeper.connector import (
    BrokerStarted,
    BrokerStopped,
    CommitOffsets,
    Crash,
    CreateMessageStreams,
    HandleEvent,
    Produce,
    Read,
    RebalanceStep,
    Reconnect,
    SessionExpired,
    Settings,
    Shutdown,
    TopicCreated,
    TopicGrown,
    WakeWatcher,
    check,
    start,
    step,
)
from kafkalearn.zookeeper.connector.simulator import owners
from kafkalearn.zookeeper.layout import consumer_of_thread, consumer_path, ids_path
from kafkalearn.zookeeper.schedules import possible_turns, settle
from kafkalearn.zookeeper.subscriptions import Filtered, Streams, TopicFilter, read_subscription, stream_counts

NAMES = ("c1", "c2", "c10")
WANTS = (
    Streams({"orders": 1}),
    Streams({"orders": 2, "mail": 1}),
    Streams({"mail": 3}),
    Filtered(TopicFilter("white_list", "orders|new"), 2),
    Filtered(TopicFilter("black_list", "mail")),
)
CLUSTER = (BrokerStarted(), TopicCreated("orders", 3), TopicCreated("mail", 2))
name = st.sampled_from(NAMES)
EVENTS = st.one_of(
    st.builds(CreateMessageStreams, name, st.sampled_from(WANTS)),
    *[st.builds(kind, name) for kind in (Shutdown, Crash, Reconnect, Read, CommitOffsets)],
    *[st.builds(kind, name) for kind in (HandleEvent, WakeWatcher, RebalanceStep, RebalanceStep, RebalanceStep)],
    st.builds(SessionExpired, st.sampled_from((*NAMES, "c1/2", "c2/2"))),
    st.builds(TopicGrown, st.sampled_from(("orders", "mail")), st.integers(4, 6)),
    st.builds(TopicCreated, st.just("new"), st.integers(1, 3)),
    st.builds(Produce, st.sampled_from(("orders", "mail")), st.integers(0, 2), st.integers(1, 5)),
    st.sampled_from((BrokerStopped(), BrokerStarted())),
)
SETTINGS = st.builds(
    Settings,
    partition_assignment_strategy=st.sampled_from(("range", "roundrobin")),
    auto_commit_enable=st.booleans(),
    auto_offset_reset=st.sampled_from(("smallest", "largest")),
)


def states(chosen, events):
    """The states of a run, each with the one before; events that make no sense are left out."""
    group = start(chosen)
    for event in (*CLUSTER, *events):
        try:
            before, group = group, step(chosen, group, event)
        except IllegalEvent:
            continue
        yield before, group


@settings(max_examples=150, deadline=None)
@given(SETTINGS, st.lists(EVENTS, max_size=60))
def test_invariants_hold_over_any_schedule(chosen, events):
    for before, group in states(chosen, events):
        check(chosen, group, before)


@settings(max_examples=60, deadline=None)
@given(SETTINGS, st.lists(EVENTS, max_size=40), st.randoms(use_true_random=False))
def test_in_the_end_each_partition_has_one_thread_or_somebody_has_given_up(chosen, events, random):
    *_, (_, group) = states(chosen, events)
    live = {each.session for each in group.connectors if each.is_running}
    for session in group.tree.sessions:  # those of processes that are gone expire at last
        if session.name.startswith("c") and session.name != "controller" and session.name not in live:
            group = step(chosen, group, SessionExpired(session.name))
    if not group.tree.children("/brokers/ids"):
        group = step(chosen, group, BrokerStarted())
    group = settle(chosen, group, random.choice)[-1].state
    assert group.is_quiet
    assert possible_turns(group) == ()
    if not any(each.has_given_up for each in group.connectors):
        assert {topic: owners(chosen.group, group.tree, topic) for topic in topics(group)} == expected(chosen, group)
        for each in group.connectors:
            assert each.reads == each.owned


def topics(group):
    """All topics."""
    return group.tree.children("/brokers/topics")


def expected(chosen, group):
    """Who owns what by the assignor alone, computed from the nodes that are there in the end."""
    ids = group.tree.children(ids_path(chosen.group))
    read = [read_subscription(group.tree.node(consumer_path(chosen.group, each)).data) for each in ids]
    consumers = [
        OldConsumer(each, stream_counts(want, lambda: topics(group))) for each, want in zip(ids, read, strict=True)
    ]
    counts = {topic: group.tree.node(f"/brokers/topics/{topic}").data.count("[0]") for topic in topics(group)}
    owned = {topic: {} for topic in topics(group)}
    answer = assign(chosen.partition_assignment_strategy, counts, consumers, side="old-consumer")
    for thread, partitions in answer.items():
        assert consumer_of_thread(thread) in ids
        for topic, number in partitions:
            owned[topic][number] = thread
    return owned


@settings(max_examples=60, deadline=None)
@given(SETTINGS, st.lists(EVENTS, max_size=60))
def test_no_partition_has_two_owners_in_zookeeper_and_each_owner_has_a_session(chosen, events):
    for _, group in states(chosen, events):
        sessions = {session.name for session in group.tree.sessions}
        for topic in topics(group):
            for number in owners(chosen.group, group.tree, topic):
                node = group.tree.node(f"/consumers/{chosen.group}/owners/{topic}/{number}")
                assert node.session in sessions
